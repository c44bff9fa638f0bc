//! The differences between trees, for many pairs in one process.

use std::fmt::Write as _;

use super::command::{failed, run_any};
use super::{GitError, Repo, WantedFile, inprocess_tree_diff};
use crate::git::refs_and_objects::octal;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// A path that differs between two trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathChange {
    /// The path.
    pub path: RepoPath,
    /// The entry in the first tree; `None` if it has none.
    pub before: Option<SnapshotEntry>,
    /// The entry in the second tree; `None` if it has none.
    pub after: Option<SnapshotEntry>,
}

impl PathChange {
    /// Returns the contents before and after.
    pub fn sides(&self) -> [WantedFile; 2] {
        [&self.before, &self.after].map(|entry| WantedFile::of(entry.as_ref()))
    }
}

/// The answer for one pair of trees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TreeDiff {
    /// The paths that differ, in git's order; empty for equal trees.
    Changes(Vec<PathChange>),
    /// One of the trees, or a tree inside, is not here.
    Unreadable,
}

const COMMAND: &str = "diff-tree --stdin";

impl Repo {
    /// Returns the differences of all `pairs` of trees (not commits), in their order, renames as deletion and addition.
    ///
    /// One process answers all; after an unreadable pair another one is started for the rest. Trees of kept snapshots
    /// are readable. Earlier answers are remembered: a tree never changes.
    pub fn diff_trees(&self, pairs: &[(Oid, Oid)]) -> Result<Vec<TreeDiff>, GitError> {
        let known = self.known_diffs();
        // Equal ids are equal trees, whether or not the objects are here.
        let answer = |pair: &(Oid, Oid)| {
            if pair.0 == pair.1 { Some(TreeDiff::Changes(Vec::new())) } else { known.get(pair).cloned() }
        };
        let mut answers: Vec<Option<TreeDiff>> = pairs.iter().map(answer).collect();
        drop(known);
        let mut asked: Vec<(Oid, Oid)> =
            pairs.iter().zip(&answers).filter(|(_, known)| known.is_none()).map(|(pair, _)| pair.clone()).collect();
        asked.sort_unstable();
        asked.dedup();
        if !asked.is_empty() {
            let mut told =
                self.library(|library| Ok(inprocess_tree_diff::compare(library, &asked))).unwrap_or_default();
            asked.retain(|pair| !told.contains_key(pair));
            if !asked.is_empty() {
                told.extend(asked.iter().cloned().zip(self.ask_diffs(&asked)?));
            }
            for (pair, answer) in pairs.iter().zip(&mut answers).filter(|(_, answer)| answer.is_none()) {
                *answer = told.get(pair).cloned();
            }
            // What cannot be read now may be fetched or kept later.
            self.known_diffs().extend(told.into_iter().filter(|(_, diff)| *diff != TreeDiff::Unreadable));
        }
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(TreeDiff::Unreadable)).collect())
    }

    /// Asks git about pairs of different trees.
    fn ask_diffs(&self, pairs: &[(Oid, Oid)]) -> Result<Vec<TreeDiff>, GitError> {
        let mut answers: Vec<Option<TreeDiff>> = vec![None; pairs.len()];
        let mut open: Vec<usize> = (0..pairs.len()).collect();
        while !open.is_empty() {
            let mut command = self.command();
            command.args(["diff-tree", "--stdin", "-r", "--raw", "-z", "--no-renames", "--no-abbrev"]);
            // It would read the whole index first, which trees have no use for and which grows with the repository.
            command.env("GIT_INDEX_FILE", self.git_dir().join("no-index"));
            let mut input = String::new();
            for &i in &open {
                let _ = writeln!(input, "{} {}", pairs[i].0, pairs[i].1);
            }
            let output = run_any(&mut command, Some(input.as_bytes()))?;
            let mut answered = parse(&output.stdout)?;
            if output.status.success() {
                // Git is silent about pairs it cannot read; what it answers comes in the order of the questions.
                let mut answered = answered.into_iter().peekable();
                for i in open.drain(..) {
                    let mine = answered.next_if(|(pair, _)| *pair == pairs[i]);
                    answers[i] = Some(mine.map_or(TreeDiff::Unreadable, |(_, changes)| TreeDiff::Changes(changes)));
                }
                break;
            }
            if output.status.code() != Some(128) {
                return Err(failed(&command, &output));
            }
            if open.len() == 1 {
                answers[open[0]] = Some(TreeDiff::Unreadable);
                break;
            }
            // It died over some pair: the last one it announced, or one after that. The announced one may have been
            // cut short, so it is asked again, and alone once it is the first.
            answered.pop();
            let mut rest = Vec::new();
            let mut answered = answered.into_iter().peekable();
            for i in open.drain(..) {
                match answered.next_if(|(pair, _)| *pair == pairs[i]) {
                    Some((_, changes)) => answers[i] = Some(TreeDiff::Changes(changes)),
                    None => rest.push(i),
                }
            }
            // Its first pair is settled alone, so that every round shortens the list.
            let first = rest.remove(0);
            answers[first] = self.ask_diffs(&pairs[first..=first])?.pop();
            open = rest;
        }
        Ok(answers.into_iter().map(|answer| answer.unwrap_or(TreeDiff::Unreadable)).collect())
    }
}

type Answered = Vec<((Oid, Oid), Vec<PathChange>)>;

fn parse(output: &[u8]) -> Result<Answered, GitError> {
    let malformed = |bytes: &[u8]| GitError::Malformed {
        command: COMMAND.to_owned(),
        what: String::from_utf8_lossy(&bytes[..bytes.len().min(120)]).into_owned(),
    };
    let mut answered = Answered::new();
    let mut rest = output;
    while let Some(&first) = rest.first() {
        // A pair is announced by a line; a change is two NUL-terminated fields, the first of which begins with `:`.
        let end = memchr::memchr(if first == b':' { 0 } else { b'\n' }, rest).ok_or_else(|| malformed(rest))?;
        let (field, after) = (&rest[..end], &rest[end + 1..]);
        let text = std::str::from_utf8(field).map_err(|_| malformed(field))?;
        let words: Vec<&str> = text.split(' ').collect();
        rest = match (words.as_slice(), answered.last_mut()) {
            ([a, b], _) => {
                let oid = |word: &str| word.parse::<Oid>().map_err(|_| malformed(field));
                answered.push(((oid(a)?, oid(b)?), Vec::new()));
                after
            }
            ([mode_a, mode_b, a, b, _status], Some((_, changes))) => {
                let end = memchr::memchr(0, after).ok_or_else(|| malformed(after))?;
                let entry = |mode: &str, oid: &str| match octal(mode.trim_start_matches(':').as_bytes()) {
                    0 => Ok(None),
                    mode => oid.parse().map(|oid| Some(SnapshotEntry { mode, oid })).map_err(|_| malformed(field)),
                };
                changes.push(PathChange {
                    path: RepoPath::new(&after[..end]),
                    before: entry(mode_a, a)?,
                    after: entry(mode_b, b)?,
                });
                &after[end + 1..]
            }
            _ => return Err(malformed(field)),
        };
    }
    Ok(answered)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_look_like_git_output() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let output = format!(
            "{a} {b}\n:100644 100755 {a} {b} M\0x\n{a} {b}\n\0:000000 120000 {zero} {b} A\0:\0{b} {a}\n",
            zero = "0".repeat(40)
        );
        let answered = parse(output.as_bytes()).unwrap();
        assert_eq!(answered.len(), 2);
        assert_eq!(answered[0].1[0].path, RepoPath::new(format!("x\n{a} {b}\n")));
        assert_eq!(answered[0].1[0].after.as_ref().map(|entry| entry.mode), Some(0o100_755));
        assert_eq!(answered[0].1[1].before, None);
        assert!(answered[1].1.is_empty());
        for broken in ["x", ":100644 ", "a b\n", ":1 2 3 4 M\0p\0"] {
            assert!(parse(broken.as_bytes()).is_err(), "{broken:?}");
        }
    }
}
