//! The files that differ between a tree and a state, read from git or from the working tree.

use std::collections::BTreeMap;

use crate::git::{GitError, PathChange, Repo, TreeDiff, WantedFile};
use crate::oid::Oid;
use crate::regular_file;
use crate::repo_path::RepoPath;
use crate::snapshot::{Snapshot, SnapshotEntry};

/// A state of the files.
#[derive(Clone, Copy, Debug)]
pub enum FilesOf<'a> {
    /// A commit or a tree.
    Tree(&'a Oid),
    /// The working tree.
    WorkTree(&'a Snapshot),
}

/// A file that differs, and its contents.
#[derive(Debug)]
pub struct ChangedFile {
    pub path: RepoPath,
    /// The contents before, or `None` if the file did not exist.
    pub before: Option<Vec<u8>>,
    /// The contents now, or `None` if the file does not exist.
    pub after: Option<Vec<u8>>,
}

/// Returns the paths that differ between a tree and a state, with their entries.
pub fn changed_paths(repo: &Repo, base: &Oid, state: FilesOf<'_>) -> Result<Vec<PathChange>, GitError> {
    let (tree, dirty) = match state {
        FilesOf::Tree(tree) => (repo.tree_of(tree)?, [].as_slice()),
        FilesOf::WorkTree(snapshot) => (snapshot.base.clone(), snapshot.dirty.as_slice()),
    };
    let base = repo.tree_of(base)?;
    let mut changes: BTreeMap<RepoPath, PathChange> = match repo.diff_trees(&[(base.clone(), tree)])?.pop() {
        Some(TreeDiff::Changes(changes)) => changes.into_iter().map(|change| (change.path.clone(), change)).collect(),
        _ => return Err(GitError::Missing(format!("tree {base}"))),
    };
    for path in dirty {
        let change = changes.entry(path.path.clone()).or_insert_with(|| PathChange {
            path: path.path.clone(),
            before: path.base.clone(),
            after: None,
        });
        change.after.clone_from(&path.now);
    }
    changes.retain(|_, change| change.before != change.after);
    Ok(changes.into_values().collect())
}

/// Returns the files that differ and that `counts` accepts, with their contents. Links and nested repositories are not
/// files.
pub fn changed_files(
    repo: &Repo,
    base: &Oid,
    state: FilesOf<'_>,
    counts: impl Fn(&RepoPath) -> bool,
) -> Result<Vec<ChangedFile>, GitError> {
    let mut changes = changed_paths(repo, base, state)?;
    changes.retain(|change| counts(&change.path));
    let is_file = |entry: &&SnapshotEntry| entry.mode != 0o120_000 && !entry.is_commit();
    let wanted = |entry: Option<&SnapshotEntry>| WantedFile::of(entry.filter(is_file));
    let before: Vec<WantedFile> = changes.iter().map(|change| wanted(change.before.as_ref())).collect();
    let before = repo.blobs(&before)?;
    let dirty = |path: &RepoPath| match state {
        FilesOf::Tree(_) => false,
        FilesOf::WorkTree(snapshot) => snapshot.dirty.binary_search_by(|dirty| dirty.path.cmp(path)).is_ok(),
    };
    let after: Vec<WantedFile> = changes
        .iter()
        .map(|change| if dirty(&change.path) { WantedFile::Nowhere } else { wanted(change.after.as_ref()) })
        .collect();
    let after = repo.blobs(&after)?;
    let read = |change: &PathChange| {
        change.after.as_ref().filter(is_file)?;
        regular_file::read(&repo.root()?.join(change.path.to_os())).ok()
    };
    let files = changes.iter().zip(before).zip(after).map(|((change, before), after)| ChangedFile {
        after: if dirty(&change.path) { read(change) } else { after },
        path: change.path.clone(),
        before,
    });
    Ok(files.collect())
}
