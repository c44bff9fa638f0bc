//! What the place that hosts a repository says about pull requests and checks: its own words, not judged.
//!
//! One vocabulary for all forges. The words for states and conclusions are those of GitHub's REST API
//! (<https://docs.github.com/en/rest/checks/runs>), lowercase; readers of other forges translate into them. Numbers that
//! order things (runs, suites) are the forge's own and grow; no time is compared.

use serde::{Deserialize, Serialize};

use crate::oid::Oid;

/// An answer, or why there is none. An empty answer is one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Reading"))]
#[serde(rename_all = "kebab-case")]
pub enum ForgeAnswer<T> {
    /// What was said, in full.
    Known(T),
    /// It could not be had.
    Unreadable(Trouble),
}

impl<T> ForgeAnswer<T> {
    /// The answer, where there is one.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unreadable(_) => None,
        }
    }

    /// Why there is no answer.
    pub const fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Known(_) => None,
            Self::Unreadable(trouble) => Some(trouble),
        }
    }
}

/// Why a forge gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trouble {
    /// Which kind.
    pub kind: TroubleKind,
    /// A fragment for people.
    pub what: String,
    /// The permission that the token lacks, as the forge calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub needs: Option<String>,
}

/// The kinds of trouble.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TroubleKind {
    /// It could not be reached: no network, no such host, refused, TLS.
    Offline,
    /// It did not answer in time.
    Timeout,
    /// It does not know the token (401), or there is none where one is needed.
    Unauthorized,
    /// The token may not (403).
    Forbidden,
    /// Too many questions (403 or 429 with a time to wait).
    RateLimited,
    /// It says there is no such thing (404), which it also says of what the token may not see.
    NotFound,
    /// It failed (5xx).
    Server,
    /// It answered what cannot be understood: HTML, half an answer, a list that is shorter than it says.
    Malformed,
    /// The head moved while it was asked.
    Moved,
}

impl TroubleKind {
    /// The word used in verdicts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Offline => "offline",
            Self::Timeout => "timeout",
            Self::Unauthorized => "unauthorized",
            Self::Forbidden => "forbidden",
            Self::RateLimited => "rate-limited",
            Self::NotFound => "not-found",
            Self::Server => "server",
            Self::Malformed => "malformed",
            Self::Moved => "moved",
        }
    }

    /// Whether it lies on the way to the forge, or in the forge, and not in what it was asked with.
    pub const fn is_outage(self) -> bool {
        matches!(self, Self::Offline | Self::Timeout | Self::RateLimited | Self::Server)
    }
}

/// A pull request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Pull {
    /// Its number.
    pub number: u64,
    /// Where people see it; empty where that is not known.
    #[serde(default)]
    pub url: String,
    /// Whether it is open.
    pub state: PullState,
    /// It is a draft.
    #[serde(default)]
    pub draft: bool,
    /// The last commit of it.
    pub head: Oid,
    /// The branch it comes from.
    pub head_branch: String,
    /// The repository that branch is in, `owner/name`; `None`: that was deleted.
    pub head_repository: Option<String>,
    /// The branch it goes to.
    pub base_branch: String,
}

/// What became of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PullState {
    /// It waits.
    Open,
    /// It was merged.
    Merged,
    /// It was closed without being merged.
    Closed,
}

/// Everything that reports on one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checks {
    /// The reports, in any order.
    pub list: Vec<Check>,
    /// What could not be read, so that something may be missing from the list; empty: it is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Trouble>,
}

/// One report on a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// What it is called: the name of a job, or the context of a commit status.
    pub name: String,
    /// Which kind of report it is.
    #[serde(default)]
    pub kind: CheckKind,
    /// Who reports: the id of the app.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<u64>,
    /// The workflow it is a job of: what the forge knows it by, such as its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// What started that workflow: `push`, `pull_request`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The branch that run was for, `owner/name:branch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Which run of the workflow, or which suite: a later one has the greater number.
    #[serde(default)]
    pub run: u64,
    /// Which report of its name: a later one has the greater number.
    #[serde(default)]
    pub id: u64,
    /// How far it is: `queued`, `in_progress`, `completed`, …
    #[serde(default)]
    pub status: String,
    /// What came out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<String>,
    /// Where people see it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// It is the job that asks.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// The kinds of reports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CheckKind {
    /// A check run: a job of a workflow, or of another app.
    #[default]
    Run,
    /// A commit status.
    Status,
    /// A run of a workflow that has no job yet, so that no check run stands for it.
    Workflow,
}

/// A check that must pass before anything is merged into a branch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Required"))]
pub struct RequiredStatus {
    /// Its name.
    pub name: String,
    /// The only app whose report counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<u64>,
}
