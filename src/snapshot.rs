//! What a working tree would be as a tree: the content that evidence is bound to.
//!
//! These are plain values. Taking one is the work of [`crate::git`].

use serde::{Deserialize, Serialize};

use crate::local_file::LocalFile;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::tool_folder::ToolFolder;

/// A file as a tree entry holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SnapshotEntry {
    /// The mode: `0o100644`, `0o100755`, `0o120000` (symbolic link) or `0o160000` (commit of another repository).
    pub mode: u32,
    /// The id of the blob, or of the commit.
    pub oid: Oid,
}

impl SnapshotEntry {
    /// A commit of another repository, which stands for all that lies there.
    pub const fn is_commit(&self) -> bool {
        self.mode == 0o160_000
    }
}

/// How a path of the working tree came to differ from `HEAD`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// In the index.
    Tracked,
    /// Not in the index and not ignored: a commit without `git add` would miss it.
    Untracked,
    /// Edited behind an index bit (`assume-unchanged`, `skip-worktree`), so that `git status` is silent.
    Hidden,
}

/// A path whose content differs from [`Snapshot::base`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirtyPath {
    /// Where.
    pub path: RepoPath,
    /// What the base tree holds; `None`: nothing.
    pub base: Option<SnapshotEntry>,
    /// What the working tree holds; `None`: deleted.
    pub now: Option<SnapshotEntry>,
    /// How it came to differ.
    pub presence: Presence,
}

/// The working tree at one instant, as a difference to the tree of `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snapshot {
    /// The commit that is checked out; `None` on an unborn branch.
    pub head: Option<Oid>,
    /// The tree of `head`, or the empty tree.
    pub base: Oid,
    /// What differs from `base`, sorted by path, each path once.
    pub dirty: Vec<DirtyPath>,
    /// Paths whose content no tree can express: a submodule with uncommitted changes, an embedded repository
    /// without a commit, an unresolved conflict, an unreadable file. No commit ever equals such a snapshot there.
    pub opaque: Vec<RepoPath>,
    /// Untracked folders that tools fill. What lies in them is no content.
    pub tool_folders: Vec<ToolFolder>,
    /// Files that a checkout elsewhere does not have as they are here, sorted by cause and path.
    pub local_files: Vec<LocalFile>,
}

impl Snapshot {
    /// Nothing differs from `HEAD`.
    pub fn is_clean(&self) -> bool {
        self.dirty.is_empty() && self.opaque.is_empty()
    }
}

/// A snapshot that was kept: what the journal holds of it. The objects behind `tree` are readable through
/// [`crate::git`] as long as the gate directory exists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct KeptSnapshot {
    /// The commit that was checked out.
    pub head: Option<Oid>,
    /// The working tree as a tree, untracked files included.
    pub tree: Oid,
    /// Which paths of `tree` were untracked (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untracked: Vec<RepoPath>,
    /// Which paths were edited behind an index bit (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<RepoPath>,
    /// See [`Snapshot::opaque`] (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub opaque: Vec<RepoPath>,
    /// Which files of code the work took out of git and left on disk, ignored, so that they are not in `tree` (the first
    /// 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<RepoPath>,
    /// See [`Snapshot::tool_folders`] (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_folders: Vec<ToolFolder>,
    /// See [`Snapshot::local_files`] (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_files: Vec<LocalFile>,
}
