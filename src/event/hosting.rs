//! The data of a forge about pull requests and checks, in its own words and not judged.
//!
//! All forges share one vocabulary. The words for states and conclusions are those of GitHub's REST API
//! (<https://docs.github.com/en/rest/checks/runs>), lowercase; readers of other forges translate into them. Numbers
//! that order things (runs, suites) are the forge's own and increase; times are never compared.

use serde::{Deserialize, Serialize};

use crate::oid::Oid;

/// An answer, or the reason why there is none. An empty answer is an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Reading"))]
#[serde(rename_all = "kebab-case")]
pub enum ForgeAnswer<T> {
    /// The complete answer.
    Known(T),
    /// The answer could not be read.
    Unreadable(Trouble),
}

impl<T> ForgeAnswer<T> {
    /// Returns the answer, if there is one.
    pub const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Unreadable(_) => None,
        }
    }

    /// Returns the reason why there is no answer.
    pub const fn trouble(&self) -> Option<&Trouble> {
        match self {
            Self::Known(_) => None,
            Self::Unreadable(trouble) => Some(trouble),
        }
    }
}

/// The reason why a forge gave no answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Trouble {
    /// The kind.
    pub kind: TroubleKind,
    /// A fragment of a sentence for people.
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
    /// The forge could not be reached: no network, no such host, connection refused, TLS.
    Offline,
    /// The forge did not answer in time.
    Timeout,
    /// The forge does not accept the token (401), or it needs one and there is none.
    Unauthorized,
    /// The token lacks a permission (403).
    Forbidden,
    /// There were too many requests (403 or 429 with a time to wait).
    RateLimited,
    /// The object does not exist (404), or the token may not see it.
    NotFound,
    /// The forge failed (5xx).
    Server,
    /// The answer is malformed: HTML, an incomplete answer, a list that is shorter than it says.
    Malformed,
    /// The head moved during the queries.
    Moved,
}

impl TroubleKind {
    /// Returns `true` if the cause is the connection or the forge, not the request.
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
    /// The URL for people, or an empty text if it is unknown.
    #[serde(default)]
    pub url: String,
    /// The state.
    pub state: PullState,
    /// `true` if it is a draft.
    #[serde(default)]
    pub draft: bool,
    /// Its last commit.
    pub head: Oid,
    /// The branch it comes from.
    pub head_branch: String,
    /// The repository of that branch, `owner/name`, or `None` if it was deleted.
    pub head_repository: Option<String>,
    /// The branch it goes to.
    pub base_branch: String,
}

/// The states of a pull request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PullState {
    /// The pull request is open.
    Open,
    /// The pull request was merged.
    Merged,
    /// The pull request was closed without being merged.
    Closed,
}

/// The reports on one commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Checks {
    /// The reports, in any order.
    pub list: Vec<Check>,
    /// The errors because of which reports may be missing from the list. Empty if it is complete.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Trouble>,
}

/// One report on a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Check {
    /// The name of a job, or the context of a commit status.
    pub name: String,
    /// The kind of report.
    #[serde(default)]
    pub kind: CheckKind,
    /// The id of the app that reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub app: Option<u64>,
    /// The workflow that it is a job of, in the forge's own terms, such as its path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<String>,
    /// The event that started the workflow: `push`, `pull_request`, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The branch that the run was for, `owner/name:branch`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The number of the run of the workflow, or of the suite. A later one is greater.
    #[serde(default)]
    pub run: u64,
    /// The number of the report. A later one of the same name is greater.
    #[serde(default)]
    pub id: u64,
    /// The progress: `queued`, `in_progress`, `completed`, …
    #[serde(default)]
    pub status: String,
    /// The conclusion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conclusion: Option<String>,
    /// The URL for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// `true` if it is the current job.
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
    /// A run of a workflow that has no job yet, so that it has no check run.
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
