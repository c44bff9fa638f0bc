//! A test that failed on the way to the judged content.

use serde::{Deserialize, Serialize};

use crate::event::test_results::{NamedPart, TestResult};
use crate::repo_path::RepoPath;

/// A test that failed, and the latest run of its command that passed since.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedTest {
    /// Its name.
    pub test: String,
    /// The declared command it failed in.
    pub command: String,
    /// The id of the event that reported the failure.
    pub event: String,
    /// Its result in the run that passed; `None` if that run says nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<TestResult>,
    /// The part of its tests that this run named.
    #[serde(default, skip_serializing_if = "NamedPart::is_none")]
    pub named: NamedPart,
    /// The number of tests in this run, compared with the run in which the test failed.
    #[serde(default)]
    pub count: CountedTests,
    /// The degree to which a change between both runs can keep it from running.
    #[serde(default)]
    pub suspicion: Obstacle,
    /// The file that declared it, or that was changed so that it may not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// A file of tests, if nothing but such files changed between both runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub only_tests: Option<RepoPath>,
    /// The file in which code that runs with the test was changed between both runs. The test is older than the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rewritten: Option<RepoPath>,
    /// The file in which the test itself was changed between both runs, while code changed, too. The test is older than
    /// the work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edited: Option<RepoPath>,
    /// The name under which the same test passes now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed_to: Option<String>,
    /// The name of the test that passes in its place now, and differs from it in what [`Self::differs_in`] says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_place: Option<String>,
    /// The difference between it and the test in its place.
    #[serde(default)]
    pub differs_in: TestDifference,
    /// `true` if it was in a commit, or another session saw it fail: it is not a draft of the current session.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub established: bool,
    /// It is gone, together with the work it came with.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dropped: bool,
    /// A command that would name it, if one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub naming: Option<String>,
}

/// The difference between a test and the one that takes its place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TestDifference {
    /// The values that it expects.
    #[default]
    Values,
    /// It had parameters, and goes through these values itself now.
    Loop,
    /// The code that it calls has another name and other lines.
    Code,
    /// It makes other assertions, too: a table has a row with its values, or two tests became one.
    Within,
    /// It makes the same assertions, but the rest of it or the code around it differs.
    Context,
    /// It calls the same code with the same values, in other words.
    Words,
}

/// The number of tests in a run, compared with an earlier one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum CountedTests {
    /// One of both did not count its tests.
    #[default]
    Unknown,
    /// Fewer tests ran, or more were skipped.
    Fewer,
    /// As many tests ran, or more, and no more were skipped.
    AsMany,
}

impl CountedTests {
    /// Compares the tests that ran and those that were skipped, each before and now.
    pub const fn compare(ran: (u64, u64), skipped: (u64, u64)) -> Self {
        if ran.1 < ran.0 || skipped.1 > skipped.0 { Self::Fewer } else { Self::AsMany }
    }
}

/// The degree to which a change can keep a test from running, as far as texts show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Obstacle {
    /// The test is declared as before, and nothing else shows that it may not run.
    #[default]
    None,
    /// It was moved to another place, or a file next to it can keep it from running.
    Weak,
    /// It is gone or skipped, or a file that decides which tests run can keep it from running.
    Strong,
}

#[cfg(test)]
mod tests {
    use super::CountedTests::{AsMany, Fewer};
    use super::*;

    #[test]
    fn as_many_tests_ran_and_no_more_were_skipped() {
        for (ran, skipped, expected) in [
            ((3, 3), (0, 0), AsMany),
            ((3, 5), (2, 2), AsMany),
            ((3, 3), (2, 1), AsMany),
            ((3, 2), (0, 0), Fewer),
            ((3, 2), (0, 1), Fewer),
            ((3, 9), (0, 1), Fewer),
        ] {
            assert_eq!(CountedTests::compare(ran, skipped), expected, "{ran:?} {skipped:?}");
        }
    }
}
