//! What is judged: a commit that is pushed or checked out, or the working tree.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::fact::commits::NewCommits;
use crate::fact::evidence::RunFact;
pub use crate::git::DefaultBranch;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// One thing that is judged, with all that is known about it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Subject {
    /// How people call it: a branch, `HEAD`, `working tree`. Unique among the subjects of one judgement.
    pub name: String,
    /// Which kind of thing it is.
    pub role: SubjectKind,
    /// The commit; `None` for a working tree, a deletion, and a tag of something else than a commit.
    pub commit: Option<Oid>,
    /// The content; `None` for a working tree that differs from every tree that is known, and for a deletion.
    pub tree: Option<Oid>,
    /// What it is compared with to see what changed.
    pub base: Base,
    /// The paths that differ from the base; `None` when that cannot be told, so that everything counts.
    pub changed: Option<Vec<RepoPath>>,
    /// Paths whose content no tree can express; see [`crate::snapshot::Snapshot::opaque`].
    pub opaque: Vec<RepoPath>,
    /// The update of the remote's ref, at a push.
    pub update: Option<RefUpdate>,
    /// The commits that are new here.
    #[serde(default, skip_serializing_if = "NewCommits::is_empty")]
    pub commits: NewCommits,
    /// By name of the declared command: its runs, newest first, each compared with this content.
    pub runs: BTreeMap<String, Vec<RunFact>>,
    /// By name of the declared command: the command line under which it ran before it was changed.
    pub former_lines: BTreeMap<String, String>,
    /// The local branch it is the tip of.
    pub branch: Option<String>,
    /// Whether it is the commit that is checked out, or the working tree itself; `None` where nobody looked.
    pub checked_out: Option<bool>,
}

impl Subject {
    /// A commit of which nothing is known, and that changes nothing.
    pub fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            role: SubjectKind::Commit,
            commit: None,
            tree: None,
            base: Base::Nothing,
            changed: Some(Vec::new()),
            opaque: Vec::new(),
            update: None,
            commits: NewCommits::default(),
            runs: BTreeMap::new(),
            former_lines: BTreeMap::new(),
            branch: None,
            checked_out: None,
        }
    }
}

/// Which kind of thing is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SubjectKind {
    /// A commit.
    Commit,
    /// Uncommitted content.
    WorkingTree,
}

/// What a subject is compared with to see what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Base {
    /// The commit where its history leaves the default branch.
    MergeBase {
        /// The commit.
        commit: Oid,
        /// The branch it was found on.
        branch: String,
    },
    /// There is nothing to compare with: everything is new.
    Nothing,
    /// It cannot be told, for this reason; everything counts.
    Unknown(String),
}

/// One line of what git hands to `pre-push` or `pre-receive`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RefUpdate {
    /// The ref on this side; empty at a `pre-receive`, `(delete)` at a deletion.
    pub local_ref: String,
    /// The object that is pushed; `None`: the ref is deleted.
    pub new: Option<Oid>,
    /// The full name of the ref on the other side.
    pub remote_ref: String,
    /// Where that ref stands; `None`: it is created.
    pub old: Option<Oid>,
    /// The remote, as git calls it; its URL where it has no name; empty at a `pre-receive`.
    pub remote: String,
    /// The default branch of the other side.
    pub default_branch: DefaultBranch,
}
