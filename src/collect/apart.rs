//! Content that has nothing to do with the code that declared commands test, such as a website on a branch of its own.

use std::collections::BTreeSet;

use crate::git::{GitError, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// Returns `true` if a tree that shares no history with `base` shares nothing else with it: no path, no content, and no
/// kind of file. It then holds neither the policy nor anything that a declared command could run. Code of the base that was
/// moved or edited keeps its ending, and is judged.
pub(super) fn is_apart(repo: &Repo, tree: &Oid, base: &Oid) -> Result<bool, GitError> {
    let (here, there) = (repo.tree_entries(tree)?, repo.tree_entries(base)?);
    let paths: BTreeSet<&RepoPath> = there.iter().map(|(path, _)| path).collect();
    let contents: BTreeSet<&Oid> = there.iter().map(|(_, entry)| &entry.oid).collect();
    let kinds: BTreeSet<&[u8]> = there.iter().map(|(path, _)| kind(path)).collect();
    let is_shared = |(path, entry): &(RepoPath, SnapshotEntry)| {
        paths.contains(path) || contents.contains(&entry.oid) || kinds.contains(kind(path))
    };
    Ok(!there.is_empty() && !here.is_empty() && !here.iter().any(is_shared))
}

/// The ending of a file's name; the whole name where it has none.
fn kind(path: &RepoPath) -> &[u8] {
    let name = path.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    match name.iter().rposition(|&byte| byte == b'.') {
        Some(dot) if dot > 0 => &name[dot..],
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_file_is_its_ending_or_its_name() {
        for (path, expected) in
            [("a/b.sh", ".sh"), (".nojekyll", ".nojekyll"), ("x/Makefile", "Makefile"), ("a.b/c", "c")]
        {
            assert_eq!(kind(&RepoPath::from(path)), expected.as_bytes(), "{path}");
        }
    }
}
