//! A test that failed on the way to the judged content.

use serde::{Deserialize, Serialize};

use crate::event::test_results::TestResult;
use crate::repo_path::RepoPath;

/// A test that failed and is not known to have passed since.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedTest {
    /// Its name.
    pub test: String,
    /// The declared command it failed in.
    pub command: String,
    /// The id of the event that reported the failure.
    pub event: String,
    /// The result in the latest run that names tests, or `None` if no run named it since.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<TestResult>,
    /// The file that declared it, or that was changed so that it may not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The name under which the same test passes now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
    /// `true` if it was in a commit, or another session saw it fail: it is not a draft of the current session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub established: bool,
    /// It is gone, together with the work it came with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// `true` if `gate run` would name it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub nameable: bool,
}
