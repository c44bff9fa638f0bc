//! Tests that failed, and their results since.

use serde::{Deserialize, Serialize};

use crate::event::test_results::{TestResult, TestResults};
use crate::oid::Oid;

/// The number of tests that are remembered, those that failed last.
pub const MAX_OPEN_FAILURES: usize = 512;
/// The number of failures of one run that are remembered by name.
const MAX_NAMED: usize = 32;

/// A test that failed in a run of a declared command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenFailure {
    /// Its name.
    pub test: String,
    /// The key of the command.
    pub key: String,
    /// The id of the event that reported the failure.
    pub event: String,
    /// The session it failed in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// `true` if it failed in other sessions, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_several_sessions: bool,
    /// `true` if that was a run of a part of the command's tests.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub in_part: bool,
    /// The commit that was checked out when it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
    /// The content on which it failed.
    pub tree: Oid,
    /// Its result in the latest run that says anything about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<TestResult>,
    /// The content of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_tree: Option<Oid>,
    /// The id of the event that reported it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_event: Option<String>,
    /// The number of tests that differed only in their parameters when it failed, and of those that passed in the run of
    /// `since`; 0 if it has no parameters.
    #[serde(default)]
    pub family: (u64, u64),
    /// The tests that may be the same one, if it is missing there: [`EarlierFailure::candidates`].
    ///
    /// [`EarlierFailure::candidates`]: crate::event::test_results::EarlierFailure::candidates
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

/// The tests that failed in one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedFailures {
    /// The id of the run's event.
    pub run: String,
    /// Their names, sorted (the first 32).
    pub tests: Vec<String>,
    /// `true` if the runner named every test, and these are all that failed.
    pub all: bool,
}

impl NamedFailures {
    /// Returns the failures in the run with this id, if there are any.
    pub(super) fn of(run: &str, results: &TestResults) -> Option<Self> {
        let tests: Vec<String> = results.failed.iter().take(MAX_NAMED).cloned().collect();
        let all = results.complete && tests.len() == results.failed.len();
        (!tests.is_empty()).then(|| Self { run: run.to_owned(), tests, all })
    }
}

/// Takes up the results of one more run.
pub(super) fn follow(open: &mut Vec<OpenFailure>, event: &str, session: Option<&str>, results: &TestResults) {
    for earlier in &results.earlier {
        for one in open.iter_mut().filter(|one| one.key == results.key && one.test == earlier.test) {
            one.since = Some(earlier.result);
            one.since_tree = Some(results.tree.clone());
            one.since_event = Some(event.to_owned());
            one.family.1 = earlier.family;
            one.candidates.clone_from(&earlier.candidates);
        }
    }
    for test in &results.failed {
        let known = open.iter().position(|one| one.key == results.key && one.test == *test).map(|at| open.remove(at));
        let elsewhere = known.is_some_and(|one| one.in_several_sessions || one.session.as_deref() != session);
        let failure = OpenFailure {
            test: test.clone(),
            key: results.key.clone(),
            event: event.to_owned(),
            session: session.map(str::to_owned),
            in_several_sessions: elsewhere,
            in_part: results.part,
            head: results.head.clone(),
            tree: results.tree.clone(),
            since: None,
            since_tree: None,
            since_event: None,
            family: (results.families.get(test).copied().unwrap_or(0), 0),
            candidates: Vec::new(),
        };
        open.insert(0, failure);
    }
    open.truncate(MAX_OPEN_FAILURES);
}
