//! The tests that a change adds or changes, and the proofs that they show what it does.

use serde::{Deserialize, Serialize};

use crate::event::{Grade, RedGreen};
use crate::fact::weakening::{is_file_of, is_same_test};
use crate::repo_path::RepoPath;

/// The kind of the gate that needs these facts.
pub const GATE: &str = "regression";

/// A subject that changes tests.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestedChange {
    /// The name of the subject.
    pub subject: String,
    /// The tests that are new or changed, by file.
    pub tests: Vec<ChangedTest>,
    /// `true` if nothing else changed that the commands of the tests read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub only_tests: bool,
    /// The proofs of this change, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<ProofFact>,
}

/// A test that is new or changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChangedTest {
    /// The file that declares it.
    pub path: RepoPath,
    /// Its name there.
    pub name: String,
    /// The declared commands that read the file, by name.
    pub commands: Vec<String>,
}

impl ChangedTest {
    /// Returns `true` if a runner may call the test by this name.
    pub fn is_called(&self, name: &str) -> bool {
        is_file_of(name, &self.path) && is_same_test(name, &self.name)
    }
}

/// A proof whose contents are those of the change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ProofFact {
    /// The id of its event.
    pub id: String,
    /// The level of trust.
    pub grade: Grade,
    /// The declared command, by name.
    pub command: String,
    /// The fate of the tests.
    pub results: RedGreen,
}
