//! The working tree as a tree: the content that evidence is bound to.
//!
//! These are plain values; [`crate::git`] takes snapshots.

use serde::{Deserialize, Serialize};

use crate::local_file::LocalFile;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::tool_folder::ToolFolder;

/// A file, as in a tree entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SnapshotEntry {
    /// The mode: `0o100644`, `0o100755`, `0o120000` (symbolic link) or `0o160000` (commit of another repository).
    pub mode: u32,
    /// The id of the blob, or of the commit.
    pub oid: Oid,
}

impl SnapshotEntry {
    /// Returns `true` for a commit of another repository, which stands for everything in it.
    pub const fn is_commit(&self) -> bool {
        self.mode == 0o160_000
    }
}

/// The state of a path of the working tree that differs from `HEAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// The path is in the index.
    Tracked,
    /// The path is neither in the index nor ignored: a commit without `git add` would miss it.
    Untracked,
    /// The path was edited behind an index bit (`assume-unchanged`, `skip-worktree`), so that `git status` does not
    /// show it.
    Hidden,
}

/// A path whose content differs from [`Snapshot::base`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirtyPath {
    /// The path.
    pub path: RepoPath,
    /// The entry in the base tree, or `None` if there is none.
    pub base: Option<SnapshotEntry>,
    /// The entry in the working tree, or `None` if the file was deleted.
    pub now: Option<SnapshotEntry>,
    /// The state of the path.
    pub presence: Presence,
}

/// The working tree at one instant, as a difference from the tree of `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that is checked out, or `None` on an unborn branch.
    pub head: Option<Oid>,
    /// The tree of `head`, or the empty tree.
    pub base: Oid,
    /// The paths that differ from `base`, sorted, each once.
    pub dirty: Vec<DirtyPath>,
    /// Paths whose content a tree cannot express: a submodule with uncommitted changes, an embedded repository without
    /// a commit, a submodule in conflict, an unreadable file. No commit ever equals such a snapshot there.
    pub opaque: Vec<RepoPath>,
    /// Untracked folders that tools fill. Their files are not content.
    pub tool_folders: Vec<ToolFolder>,
    /// Files that a checkout elsewhere does not have as they are here, sorted by cause and path.
    pub local_files: Vec<LocalFile>,
    /// Tracked files that are not on disk and that git does not miss (a sparse checkout, the bit `skip-worktree`), sorted;
    /// a folder stands for all files in it.
    pub absent: Vec<RepoPath>,
    /// Untracked files at the top that something has read since they were written, as far as the file system tells.
    pub read: Vec<RepoPath>,
}

impl Snapshot {
    /// Returns `true` if nothing differs from `HEAD`.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.opaque.is_empty()
    }
}

/// A kept snapshot, as in the journal. The objects of `tree` are readable through [`crate::git`] as long as the gate
/// directory exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KeptSnapshot {
    /// The commit that was checked out.
    pub head: Option<Oid>,
    /// The working tree as a tree, untracked files included.
    pub tree: Oid,
    /// The paths of `tree` that were untracked (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untracked: Vec<RepoPath>,
    /// The paths that were edited behind an index bit (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<RepoPath>,
    /// See [`Snapshot::opaque`] (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<RepoPath>,
    /// The source files that the work removed from git and left on disk, ignored, so that they are not in `tree` (the
    /// first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<RepoPath>,
    /// See [`Snapshot::tool_folders`] (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_folders: Vec<ToolFolder>,
    /// See [`Snapshot::local_files`] (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_files: Vec<LocalFile>,
    /// See [`Snapshot::absent`]. They are in `tree`, and what ran there did not find them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<RepoPath>,
    /// At the end of a run, the untracked files at the top that something read while it ran, as far as the file system tells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub read: Vec<RepoPath>,
}

impl KeptSnapshot {
    /// Returns `true` if both are the same working tree, whatever was read in it.
    pub fn is_same(&self, other: &Self) -> bool {
        let unread = |kept: &Self| Self { read: Vec::new(), ..kept.clone() };
        unread(self) == unread(other)
    }

    /// Returns a working tree without peculiarities that is this tree.
    pub const fn of_tree(tree: Oid) -> Self {
        Self {
            head: None,
            tree,
            untracked: Vec::new(),
            hidden: Vec::new(),
            opaque: Vec::new(),
            left_behind: Vec::new(),
            tool_folders: Vec::new(),
            local_files: Vec::new(),
            absent: Vec::new(),
            read: Vec::new(),
        }
    }
}
