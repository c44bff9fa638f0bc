//! What a commit touches.

use serde::{Deserialize, Serialize};

use super::change_class::Texture;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// A commit as it is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Commit {
    /// Its id; `None`: it is not made yet.
    pub id: Option<Oid>,
    /// Its parents.
    pub parents: Vec<Oid>,
    /// Who wrote it.
    pub author: Person,
    /// Who made it a commit.
    pub committer: Person,
    /// The whole message, in UTF-8 as far as it can be.
    pub message: String,
    /// What it changes against its parent; empty for a merge, whose sides were judged each.
    pub files: Vec<FileChange>,
    /// The agent that had a hand in it, where its marks are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// Whether the changed lines of all files that count were looked at; see [`FileChange::texture`]. Those of a file that
    /// goes along with any scope count where a rule asks for them.
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
    /// Where the file is now; where it was, for a deletion.
    pub path: RepoPath,
    /// Where it was before it was renamed or copied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<RepoPath>,
    /// What happened to it.
    pub status: PathStatus,
    /// What its changed lines are like. `None`: nobody looked, or there is no text to look at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub texture: Option<Texture>,
}

/// What happened to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PathStatus {
    /// It is new.
    Added,
    /// It is gone.
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
    /// The first seven digits of its id; `new` for one that is not made yet.
    pub fn short(&self) -> &str {
        self.id.as_ref().map_or("new", Oid::short)
    }

    /// The first line of its message.
    pub fn subject(&self) -> &str {
        self.message.lines().find(|line| !line.trim().is_empty()).unwrap_or_default()
    }
}

impl FileChange {
    /// A change whose lines nobody looked at.
    pub fn new(path: impl Into<RepoPath>, status: PathStatus) -> Self {
        Self { path: path.into(), from: None, status, texture: None }
    }

    /// Whether the file was moved without an edit.
    pub fn is_pure_rename(&self) -> bool {
        self.status == PathStatus::Renamed(100)
    }

    /// Whether the file was moved.
    pub fn is_rename(&self) -> bool {
        matches!(self.status, PathStatus::Renamed(_))
    }
}
