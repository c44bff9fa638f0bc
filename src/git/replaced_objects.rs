//! Objects that `refs/replace/` shows in place of others, and what they leave in the index.

use std::collections::{BTreeMap, BTreeSet};

use super::status::WorkingTreeStatus;
use super::{GitError, Repo};
use crate::repo_path::RepoPath;

impl Repo {
    /// Returns `true` if git shows some objects in place of others.
    pub(super) fn has_replacements(&self) -> Result<bool, GitError> {
        self.library(|library| Ok(library.references_glob("refs/replace/*")?.next().is_some())).map_or_else(
            || self.git(["for-each-ref", "--count=1", "refs/replace/"]).map(|printed| !printed.is_empty()),
            Ok,
        )
    }

    /// Fails if the index has other entries than `HEAD` in a folder that git takes for equal. Git compares whole folders by
    /// the ids that the index keeps for them, and these are wrong where the index was read from a replaced tree.
    pub(super) fn check_index(&self, status: &WorkingTreeStatus) -> Result<(), GitError> {
        // Git leaves the empty folder where all replacements were removed.
        let may_be_wrong = self.common_dir().join("refs/replace").is_dir() || self.has_replacements()?;
        let Some(head) = status.head.as_ref().filter(|_| may_be_wrong) else { return Ok(()) };
        let listed = self.git(["ls-files", "--stage", "-z"])?;
        let committed = self.git(["ls-tree", "-r", "-z", "--full-tree", head.as_str()])?;
        let (index, tree) = (entries(&listed), entries(&committed));
        let reported: BTreeSet<&[u8]> = status.paths.iter().map(|one| one.path.as_bytes()).collect();
        let differs = |path: &&&[u8]| index.get(**path) != tree.get(**path) && !reported.contains(**path);
        match index.keys().chain(tree.keys()).find(differs) {
            Some(path) => Err(GitError::ReplacedTree { path: RepoPath::new(*path) }),
            None => Ok(()),
        }
    }
}

/// The mode and the id of an entry, as git prints them.
type ModeAndId<'a> = (&'a [u8], &'a [u8]);

/// Returns the mode and the id of each path that `git ls-files --stage -z` or `git ls-tree -r -z` printed.
fn entries(printed: &[u8]) -> BTreeMap<&[u8], ModeAndId<'_>> {
    printed.split(|&byte| byte == 0).filter_map(entry).collect()
}

/// Reads one record: the mode, in a tree the kind, the id, in an index the stage, and behind a tab the path.
fn entry(record: &[u8]) -> Option<(&[u8], ModeAndId<'_>)> {
    let tab = memchr::memchr(b'\t', record)?;
    let mut fields = record[..tab].split(|&byte| byte == b' ');
    let mode = fields.next()?;
    let id = fields.find(|field| field.len() >= 40)?;
    Some((&record[tab + 1..], (mode, id)))
}
