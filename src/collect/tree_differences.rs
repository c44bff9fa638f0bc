//! Compares trees with a working tree, which is a tree and the paths that differ from it.

use std::collections::{BTreeMap, BTreeSet};

use crate::git::PathChange;
use crate::repo_path::RepoPath;
use crate::snapshot::{DirtyPath, SnapshotEntry};

/// Returns the paths on which a tree differs from a working tree. `changes` leads from that tree to the base of the
/// working tree (`HEAD`'s tree); `dirty` holds the changes of the working tree. No tree has to be written for it.
pub(super) fn differing(changes: &[PathChange], dirty: &[DirtyPath]) -> Vec<RepoPath> {
    let there: BTreeMap<&RepoPath, Option<&SnapshotEntry>> =
        changes.iter().map(|change| (&change.path, change.before.as_ref())).collect();
    let mut paths: BTreeSet<&RepoPath> = there.keys().copied().collect();
    let mut commits: BTreeSet<&RepoPath> =
        changes.iter().filter(|change| is_commit(change)).map(|change| &change.path).collect();
    for path in dirty {
        if [&path.base, &path.now].into_iter().flatten().any(SnapshotEntry::is_commit) {
            commits.insert(&path.path);
        }
        let other = there.get(&path.path).copied().unwrap_or(path.base.as_ref());
        if other == path.now.as_ref() {
            paths.remove(&path.path);
        } else {
            paths.insert(&path.path);
        }
    }
    paths.into_iter().map(|path| if commits.contains(path) { as_folder(path) } else { path.clone() }).collect()
}

/// Returns the paths of `changes`. The path of a nested repository ends in `/`, since everything in it may have
/// changed.
pub(super) fn listed(changes: &[PathChange]) -> Vec<RepoPath> {
    changes.iter().map(|change| if is_commit(change) { as_folder(&change.path) } else { change.path.clone() }).collect()
}

fn is_commit(change: &PathChange) -> bool {
    [&change.before, &change.after].into_iter().flatten().any(SnapshotEntry::is_commit)
}

fn as_folder(path: &RepoPath) -> RepoPath {
    RepoPath::new([path.as_bytes(), b"/"].concat())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::snapshot::Presence;

    fn entry(digit: char) -> Option<SnapshotEntry> {
        (digit != '-').then(|| SnapshotEntry { mode: 0o100_644, oid: digit.to_string().repeat(40).parse().unwrap() })
    }

    /// Compares, by path, the content in the other tree, in `HEAD`, and in the working tree (`-`: absent).
    fn differing_paths(paths: &[(&str, &str)]) -> Vec<String> {
        let state = |text: &str, at: usize| text.chars().nth(at).unwrap();
        let changes: Vec<_> = paths
            .iter()
            .filter(|(_, text)| state(text, 0) != state(text, 1))
            .map(|(path, text)| PathChange {
                path: RepoPath::from(*path),
                before: entry(state(text, 0)),
                after: entry(state(text, 1)),
            })
            .collect();
        let dirty: Vec<_> = paths
            .iter()
            .filter(|(_, text)| state(text, 1) != state(text, 2))
            .map(|(path, text)| DirtyPath {
                path: RepoPath::from(*path),
                base: entry(state(text, 1)),
                now: entry(state(text, 2)),
                presence: Presence::Tracked,
            })
            .collect();
        differing(&changes, &dirty).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn every_combination_of_three_states() {
        let states = ['-', '1', '2', '3'];
        for a in states {
            for b in states {
                for c in states {
                    let text = format!("{a}{b}{c}");
                    let expected: &[&str] = if a == c { &[] } else { &["f"] };
                    assert_eq!(differing_paths(&[("f", &text)]), expected, "{text}");
                }
            }
        }
    }
}
