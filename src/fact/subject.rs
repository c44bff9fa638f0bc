//! The subjects of a judgement: a commit that is pushed or checked out, or the working tree.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fact::commits::NewCommits;
use crate::fact::evidence::RunFact;
pub use crate::git::DefaultBranch;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// One subject of a judgement, with all known facts about it.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Subject {
    /// The name for people: a branch, `HEAD`, `working tree`. It is unique among the subjects of one judgement.
    pub name: String,
    /// The kind.
    pub role: SubjectKind,
    /// The commit, or `None` for a working tree, a deletion, and a tag of something other than a commit.
    pub commit: Option<Oid>,
    /// The content, or `None` for a deletion and for a working tree that differs from every known tree.
    pub tree: Option<Oid>,
    /// The base that it is compared with to find the changes.
    pub base: Base,
    /// The paths that differ from the base, or `None` if they are unknown, so that everything counts.
    pub changed: Option<Vec<RepoPath>>,
    /// The paths whose content a tree cannot express; see [`crate::snapshot::Snapshot::opaque`].
    pub opaque: Vec<RepoPath>,
    /// The update of the remote's ref, at a push.
    pub update: Option<RefUpdate>,
    /// The new commits.
    #[serde(default, skip_serializing_if = "NewCommits::is_empty")]
    pub commits: NewCommits,
    /// The runs of each declared command, newest first, each compared with this content.
    pub runs: BTreeMap<String, Vec<RunFact>>,
    /// The earlier command line of each declared command whose line was changed.
    pub former_lines: BTreeMap<String, String>,
    /// The local branch of which it is the tip.
    pub branch: Option<String>,
    /// The name of that branch is the name of a tag as well, so that a push of it must say which is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_named_like_tag: bool,
    /// The default branch of another remote that has the commits already by which this push moves the one it goes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synced_from: Option<String>,
    /// `true` if it is the commit that is checked out, or the working tree itself; `None` if that is unknown.
    pub checked_out: Option<bool>,
}

impl Subject {
    /// Creates a commit of which nothing is known, and that changes nothing.
    pub fn empty(name: &str) -> Self {
        Self { name: name.to_owned(), changed: Some(Vec::new()), ..Self::default() }
    }
}

/// The kind of a subject.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A commit.
    #[default]
    Commit,
    /// Uncommitted content.
    WorkingTree,
}

/// The base that a subject is compared with to find the changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The commit where its history leaves the default branch.
    MergeBase {
        /// The commit.
        commit: Oid,
        /// The branch that it was found on.
        branch: String,
    },
    /// There is no base: everything is new.
    #[default]
    Nothing,
    /// The base is unknown, for this reason: everything counts.
    Unknown(String),
}

/// One line of the input of `pre-push` or `pre-receive`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RefUpdate {
    /// The local ref. Empty at a `pre-receive`, `(delete)` at a deletion.
    pub local_ref: String,
    /// The object that is pushed, or `None` if the ref is deleted.
    pub new: Option<Oid>,
    /// The full name of the ref on the remote.
    pub remote_ref: String,
    /// The object that the ref pointed to, or `None` if it is created.
    pub old: Option<Oid>,
    /// The name of the remote, or its URL if it has no name. Empty at a `pre-receive`.
    pub remote: String,
    /// The default branch of the remote.
    pub default_branch: DefaultBranch,
}
