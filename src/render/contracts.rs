//! The answers of `gate contract`, for programs.

use std::path::Path;

use serde::Serialize;

use crate::contract::{ConditionResult, ContractError};
use crate::contract_shelf::{BegunContract, ContractEnd};

/// The answer of `gate contract begin`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractBegin<'a> {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The permission for the task to begin.
    pub begin: ContractStart,
    /// The name of the contract; not with an `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<&'a str>,
    /// The task; not with an `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<&'a str>,
    /// The preconditions; not with an `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conditions: Option<&'a [ConditionResult]>,
    /// The reason why the file is not a contract.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ContractFault>,
}

impl ContractBegin<'_> {
    /// Returns the answer to a file that is not a contract.
    pub fn to_wrong_file(file: &Path, error: &ContractError) -> Self {
        let fault = ContractFault {
            kind: error.kind,
            file: file.display().to_string(),
            line: error.line,
            message: error.what.clone(),
            remedy: error.remedy(),
        };
        let begin = ContractStart::Error;
        Self { schema_version: 1, begin, name: None, task: None, conditions: None, error: Some(fault) }
    }
}

/// The permission for a task to begin under its contract.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContractStart {
    /// All preconditions hold.
    Accepted,
    /// A precondition does not hold.
    Refused,
    /// The file is not a contract.
    Error,
}

/// The problem with the file of a contract.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractFault {
    /// A stable word.
    kind: &'static str,
    file: String,
    /// The line, from 1.
    line: usize,
    message: String,
    remedy: &'static str,
}

/// The answer of `gate contract check`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractReport<'a> {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The state of the contract.
    pub check: ContractState,
    /// The name of the contract.
    pub name: &'a str,
    /// The task.
    pub task: &'a str,
    /// The postconditions.
    pub conditions: &'a [ConditionResult],
    /// `true` if the file has changed since the task began.
    pub changed: bool,
    /// The change of the file, if it changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub change: Option<&'a str>,
}

/// The state of a contract.
#[derive(Clone, Copy, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ContractState {
    /// All postconditions held when they were last checked.
    Met,
    /// Some did not, or nothing checked them yet.
    Open,
    /// A person ended it.
    Dropped,
}

impl ContractState {
    /// Returns the state of a contract that is met, or not.
    pub const fn of(met: bool) -> Self {
        if met { Self::Met } else { Self::Open }
    }
}

/// The answer of `gate contract list`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ContractList<'a> {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The contracts, by name.
    pub contracts: Vec<ListedContract<'a>>,
}

/// One contract of a list.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ListedContract<'a> {
    name: &'a str,
    state: ContractState,
    file: &'a Path,
    /// `true` if the file has changed since the task began.
    changed: bool,
}

impl<'a> ListedContract<'a> {
    /// Returns the entry for a contract.
    pub fn of(begun: &'a BegunContract) -> Self {
        let dropped = begun.end == Some(ContractEnd::Dropped);
        let state = if dropped { ContractState::Dropped } else { ContractState::of(begun.met) };
        Self { name: &begun.name, state, file: &begun.file, changed: begun.change().is_some() }
    }
}
