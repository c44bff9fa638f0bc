//! What the forge says of the judged commit: its pull requests, its checks, and which of those are required.

use serde::{Deserialize, Serialize};

pub use crate::event::hosting::{
    Check, CheckKind, Checks, ForgeAnswer, Pull, PullState, RequiredStatus, Trouble, TroubleKind,
};
use crate::oid::Oid;

/// The answers of a forge about one commit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Hosting {
    /// The repository that pull requests go to, `owner/name`.
    pub repository: String,
    /// What was asked about.
    pub head: HostedHead,
    /// The branch that pull requests go to when nobody says otherwise.
    #[serde(default)]
    pub default_branch: Option<String>,
    /// The pull requests from this branch: the open ones, and where there is none those that were.
    pub pulls: ForgeAnswer<Vec<Pull>>,
    /// What reports on the commit.
    pub checks: ForgeAnswer<Checks>,
    /// What the forge requires before a merge into the base.
    pub required: ForgeAnswer<Vec<RequiredStatus>>,
    /// The pull request that a job was started for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_for: Option<StartedFor>,
    /// What is known of the branch that the open pull request goes to, where that is not the default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<OtherBase>,
    /// The commits that landed on a branch, each with the pull requests it is known to belong to; empty: nobody asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub landed: Vec<Landed>,
}

/// A pull request as the event of a job has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartedFor {
    /// Its number.
    pub number: u64,
    /// The branch it went to then, whose policy counts.
    pub base_branch: String,
}

/// A branch that a pull request goes to and that is not the default branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherBase {
    /// The forge lets nothing into it that was not reviewed or checked.
    pub protected: bool,
    /// A pull request from it is open itself: this one is stacked upon that.
    pub proposed: bool,
}

/// A commit that is where it stays.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Landed {
    /// The commit.
    pub commit: Oid,
    /// The pull requests that brought it.
    pub pulls: ForgeAnswer<Vec<Pull>>,
}

/// The commit that was asked about, and where it was pushed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostedHead {
    /// The commit.
    pub commit: Oid,
    /// How it came to be judged.
    pub via: Via,
    /// The branch, as it is called where it was pushed; `None`: no branch is checked out.
    pub branch: Option<String>,
    /// The repository it was pushed to, `owner/name`: a fork where that differs from [`Hosting::repository`].
    pub repository: Option<String>,
    /// Where that branch stands on the forge, as far as it is known; `None`: it was not pushed.
    pub pushed: Option<Oid>,
}

/// How a commit came to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// It is a branch that is worked on, or that a pull request proposes.
    Branch,
    /// A merge queue made it from a base and one or several pull requests.
    MergeQueue,
    /// It was pushed to the branch it is on, and that is where it stays.
    Landed,
}
