//! The changes of a commit.

use serde::{Deserialize, Serialize};

use super::change_class::Texture;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// A commit as it is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Commit {
    /// Its id, or `None` if it is not made yet.
    pub id: Option<Oid>,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// The author.
    pub author: Person,
    /// The committer.
    pub committer: Person,
    /// The whole message, in UTF-8 as far as it can be.
    pub message: String,
    /// The changes against its parent. Empty for a merge, because the commits of its sides are judged one by one.
    pub files: Vec<FileChange>,
    /// The agent that took part in it, if its marks are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// `true` if the changed lines of all files that count were read; see [`FileChange::texture`]. The lines of a file
    /// that may accompany any scope count if a rule needs them.
    #[serde(default)]
    pub looked_into: bool,
}

/// A name and an address.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Person {
    /// The name.
    pub name: String,
    /// The address.
    pub email: String,
}

/// One path that a commit changes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileChange {
    /// The present path of the file; for a deletion, its last one.
    pub path: RepoPath,
    /// The path before it was renamed or copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RepoPath>,
    /// The kind of change.
    pub status: PathStatus,
    /// The texture of its changed lines, or `None` if nothing read them, or the file is not text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture: Option<Texture>,
}

/// The kind of change to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PathStatus {
    /// It is new.
    Added,
    /// It was deleted.
    Deleted,
    /// Its content changed.
    Modified,
    /// Its mode or kind changed.
    TypeChanged,
    /// It has another name; the similarity of old and new content in percent.
    Renamed(u8),
    /// It is a copy; the similarity in percent.
    Copied(u8),
}

impl Commit {
    /// Returns the first seven digits of its id; `new` for one that is not made yet.
    pub fn short(&self) -> &str {
        self.id.as_ref().map_or("new", Oid::short)
    }

    /// Returns the first line of its message.
    pub fn subject(&self) -> &str {
        self.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
    }
}

impl FileChange {
    /// Returns a change whose lines were not read.
    pub fn new(path: impl Into<RepoPath>, status: PathStatus) -> Self {
        Self { path: path.into(), from: None, status, texture: None }
    }

    /// Returns `true` if the file was moved without an edit.
    pub fn is_pure_rename(&self) -> bool {
        self.status == PathStatus::Renamed(100)
    }

    /// Returns `true` if the file was moved.
    pub fn is_rename(&self) -> bool {
        matches!(self.status, PathStatus::Renamed(_))
    }
}
