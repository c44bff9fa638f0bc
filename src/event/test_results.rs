//! The tests of a run by name, as the runner itself reports them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::oid::Oid;

/// The result of one test in one run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum TestResult {
    /// The test ran and passed.
    Passed,
    /// The test ran and failed, or its set-up or tear-down did.
    Failed,
    /// The runner knows the test and did not run it.
    Skipped,
    /// The test failed, as the runner expected.
    ExpectedFailure,
    /// The runner named all of its tests, and this one was not among them.
    Missing,
}

as_str!(TestResult);

impl TestResult {
    /// Returns the result of a test that a word in a report stands for.
    pub fn named(word: &str) -> Option<Self> {
        [Self::Passed, Self::Failed, Self::Skipped, Self::ExpectedFailure].into_iter().find(|one| one.as_str() == word)
    }
}

/// The part of its tests that a run named.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum NamedPart {
    /// It named no test.
    #[default]
    None,
    /// It named tests that failed, and no others.
    Failures,
    /// It named tests, and there may be others.
    Some,
    /// It named every test that it ran or skipped.
    All,
}

impl NamedPart {
    /// Returns `true` if it named no test.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// The tests of a declared command that one run named. Recorded right after the [`super::Run`], if it is one of that command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestResults {
    /// The key of the command: [`super::CommandRef::key`].
    pub key: String,
    /// The commit that was checked out; `None` on an unborn branch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
    /// The content it ran on, as a tree.
    pub tree: Oid,
    /// The number of tests that were named.
    pub named: u64,
    /// `true` if the runner named every test that it ran or skipped.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// `true` if the run was not one of the command itself and may have left tests of it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub part: bool,
    /// The tests that failed, sorted (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<String>,
    /// Of tests that failed and have parameters: the number of tests with the same name and other parameters, and of
    /// themselves.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub families: BTreeMap<String, u64>,
    /// The results of tests that had failed in an earlier run of this command and had not passed since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<EarlierFailure>,
}

/// The result of a test that failed earlier.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EarlierFailure {
    /// Its name.
    pub test: String,
    /// Its result in this run.
    pub result: TestResult,
    /// For a missing test, those that passed in its file or with the same last part of the name (the first 64): it may
    /// have been renamed or moved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
    /// For a missing test with parameters, the number of those that passed with the same name and other parameters.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub family: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}
