//! The files of code that differ between two contents.

use super::text;
use crate::decision::is_same_code;
use crate::fact::weakening::{defined_names, is_code_file};
use crate::git::{GitError, PathChange, Repo, TreeDiff, WantedFile};
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The number of changed files that are read.
const MAX_FILES: usize = 200;

/// A file of code before and after, empty where it does not exist.
#[derive(Debug)]
pub(super) struct CodeChange {
    pub(super) path: RepoPath,
    pub(super) old: String,
    pub(super) new: String,
}

impl CodeChange {
    /// Returns `true` if more than comments and blank lines differ.
    pub(super) fn changes_behaviour(&self) -> bool {
        !is_same_code(&self.path, &self.old, &self.new)
    }

    /// Returns the names that it defined and does not define any more.
    pub(super) fn lost_names(&self) -> Vec<String> {
        let now = defined_names(&self.path, &self.new);
        let mut lost = defined_names(&self.path, &self.old);
        lost.retain(|name| !now.contains(name));
        lost
    }
}

/// Returns the files of code that differ between two trees.
pub(super) fn between(repo: &Repo, before: &Oid, after: &Oid) -> Result<Vec<CodeChange>, GitError> {
    let Some(TreeDiff::Changes(mut changes)) = repo.diff_trees(&[(before.clone(), after.clone())])?.pop() else {
        return Ok(Vec::new());
    };
    changes.retain(|change| is_code_file(&change.path));
    changes.truncate(MAX_FILES);
    let wanted: Vec<WantedFile> = changes.iter().flat_map(PathChange::sides).collect();
    let mut texts = repo.blobs(&wanted)?.into_iter().map(|bytes| text(bytes).unwrap_or_default());
    let mut next = || texts.next().unwrap_or_default();
    Ok(changes.into_iter().map(|change| CodeChange { path: change.path, old: next(), new: next() }).collect())
}
