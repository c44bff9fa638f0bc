//! Tracked files that are not on disk and that git does not miss: a sparse checkout leaves them out, or a bit in the index
//! says so.

use std::collections::BTreeSet;
use std::path::Path;

use super::command::run;
use super::index::Marked;
use super::{GitError, Repo};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The most paths that stand for absent files. Where there are more, the folders above them stand for them.
pub(super) const MAX_ABSENT: usize = 1024;

impl Repo {
    /// The files of a tree that are one of `paths`, or lie below one of them.
    pub fn files_below(&self, tree: &Oid, paths: &[RepoPath]) -> Result<Vec<RepoPath>, GitError> {
        if paths.is_empty() {
            return Ok(Vec::new());
        }
        let mut command = self.command();
        command.args(["ls-tree", "-r", "-z", "--name-only", "--full-tree", tree.as_str(), "--"]);
        command.args(paths.iter().map(|path| path.to_os().into_os_string()));
        let listed = run(&mut command, None)?;
        Ok(listed.split(|&byte| byte == 0).filter(|path| !path.is_empty()).map(RepoPath::new).collect())
    }
}

/// Tells which marked entries have to be looked at, without asking for every file of a directory that is not there:
/// a sparse checkout marks most of the repository.
pub(super) struct Present<'r> {
    root: &'r Path,
    /// The highest missing directory above the last absent file, with a slash at its end.
    missing: Vec<u8>,
    absent: BTreeSet<RepoPath>,
}

impl<'r> Present<'r> {
    pub(super) fn new(root: &'r Path) -> Self {
        Self { root, missing: Vec::new(), absent: BTreeSet::new() }
    }

    /// Returns those on disk, with those that should be: only `skip-worktree` says that a missing file is meant to be
    /// missing. Behind them stands what is meant to be missing: files, and directories for all files in them.
    pub(super) fn split(mut self, marked: &[Marked]) -> (Vec<&Marked>, Vec<RepoPath>) {
        let there = marked.iter().filter(|one| !one.skip_worktree || self.is_there(&one.path)).collect();
        (there, within_limit(self.absent))
    }

    fn is_there(&mut self, path: &RepoPath) -> bool {
        let bytes = path.as_bytes();
        if !self.missing.is_empty() && bytes.starts_with(&self.missing) {
            return false;
        }
        if exists(self.root, path) {
            return true;
        }
        // Remember the highest missing directory; its entries follow one another.
        for (at, _) in bytes.iter().enumerate().filter(|&(_, &byte)| byte == b'/') {
            let folder = RepoPath::new(&bytes[..at]);
            if !exists(self.root, &folder) {
                self.missing = bytes[..=at].to_vec();
                self.absent.insert(folder);
                return false;
            }
        }
        self.absent.insert(path.clone());
        false
    }
}

/// Paths that stand for all of `absent`, few enough to be recorded.
fn within_limit(mut absent: BTreeSet<RepoPath>) -> Vec<RepoPath> {
    while absent.len() > MAX_ABSENT {
        let depth = |path: &RepoPath| path.as_bytes().split(|&byte| byte == b'/').count() - 1;
        let deepest = absent.iter().map(depth).max().unwrap_or(0);
        if deepest == 0 {
            // Nothing is above them: all of the repository stands for them.
            return vec![RepoPath::from(".")];
        }
        absent = absent.into_iter().map(|path| if depth(&path) == deepest { folder_of(&path) } else { path }).collect();
    }
    absent.into_iter().collect()
}

fn folder_of(path: &RepoPath) -> RepoPath {
    let bytes = path.as_bytes();
    let end = bytes.iter().rposition(|&byte| byte == b'/').unwrap_or(0);
    RepoPath::new(&bytes[..end])
}

pub(super) fn exists(root: &Path, path: &RepoPath) -> bool {
    std::fs::symlink_metadata(root.join(path.to_os())).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_absent_files_are_told_by_their_folders() {
        let few = BTreeSet::from([RepoPath::from("a/b"), RepoPath::from("c")]);
        assert_eq!(within_limit(few.clone()), few.into_iter().collect::<Vec<_>>());
        let many = (0..=MAX_ABSENT).map(|number| RepoPath::from(format!("a/{number}/x").as_str()));
        assert_eq!(within_limit(many.collect()), [RepoPath::from("a")]);
        let many = (0..=MAX_ABSENT).map(|number| RepoPath::from(number.to_string().as_str()));
        assert_eq!(within_limit(many.collect()), [RepoPath::from(".")]);
    }
}
