//! A contract, with its conditions checked on one subject.

use serde::{Deserialize, Serialize};

use crate::contract::ConditionOutcome;
use crate::repo_path::RepoPath;

/// A contract, checked on one subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractFact {
    /// The name of the contract.
    pub name: String,
    /// The name of the subject.
    pub subject: String,
    /// `true` if its task was begun here; `false` if it is a file of the repository.
    pub begun: bool,
    /// The reason why it cannot be read, or `None` if it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<ContractProblem>,
    /// Its postconditions, in their order.
    pub conditions: Vec<ConditionFact>,
}

/// The reason why a contract of the repository cannot be read.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractProblem {
    /// The file.
    pub file: RepoPath,
    /// The line, from 1.
    pub line: usize,
    /// The problem.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

/// A condition, checked on one subject.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConditionFact {
    /// The condition as it is written.
    pub text: String,
    /// The outcome; `not_run` for a command.
    pub outcome: ConditionOutcome,
    /// The reason, in one sentence. Empty if there is nothing to add.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
    /// The command that must have passed on this content, by its name in the policy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// `true` if the command is not a test run, so that its status is enough.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub untested: bool,
}
