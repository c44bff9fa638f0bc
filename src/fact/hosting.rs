//! The forge's answers about the judged commit: its pull requests, its checks, and the required ones.

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
    /// The commit that the answers are about.
    pub head: HostedHead,
    /// The default target of pull requests.
    #[serde(default)]
    pub default_branch: Option<String>,
    /// The pull requests from this branch: the open ones, or the closed ones if none is open.
    pub pulls: ForgeAnswer<Vec<Pull>>,
    /// The checks of the commit.
    pub checks: ForgeAnswer<Checks>,
    /// The checks that the forge requires before a merge into the base.
    pub required: ForgeAnswer<Vec<RequiredStatus>>,
    /// The pull request that a job was started for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_for: Option<StartedFor>,
    /// The branch that the open pull request goes to, if that is not the default branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<OtherBase>,
    /// The commits that landed on a branch, each with its known pull requests. Empty if the forge was not asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub landed: Vec<Landed>,
}

/// A pull request, from the event of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct StartedFor {
    /// Its number.
    pub number: u64,
    /// The branch that it went to then, whose policy counts.
    pub base_branch: String,
}

/// A branch that a pull request goes to and that is not the default branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherBase {
    /// `true` if the forge requires reviews or checks before a merge into it.
    pub protected: bool,
    /// `true` if a pull request from it is open: this one is stacked on that.
    pub proposed: bool,
}

/// A commit that landed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Landed {
    /// The commit.
    pub commit: Oid,
    /// The pull requests that brought it.
    pub pulls: ForgeAnswer<Vec<Pull>>,
}

/// The commit that the answers are about, and the branch that it was pushed to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct HostedHead {
    /// The commit.
    pub commit: Oid,
    /// The reason why it is judged.
    pub via: Via,
    /// The name of the branch in the repository that it was pushed to, or `None` if no branch is checked out.
    pub branch: Option<String>,
    /// The repository that it was pushed to, `owner/name`: a fork if it differs from [`Hosting::repository`].
    pub repository: Option<String>,
    /// The commit of that branch on the forge, as far as it is known, or `None` if it was not pushed.
    pub pushed: Option<Oid>,
}

/// The reason why a commit is judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Via {
    /// The commit is on a branch of work, or on one that a pull request proposes.
    Branch,
    /// A merge queue made the commit from a base and one or several pull requests.
    MergeQueue,
    /// The commit was pushed to the branch that it stays on.
    Landed,
}
