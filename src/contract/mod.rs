//! Task contracts: what must hold before a task begins, and what must hold for it to be done.
//!
//! A contract is read as a whole before anything is run. Reading touches nothing but its text.

mod file;
mod sentence;
mod yaml;

use serde::Serialize;

pub use file::{ContractError, MAX_CONTRACT, read};

/// A contract, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// What is to be done, for people.
    pub task: String,
    /// What must hold for the task to begin.
    pub preconditions: Vec<ContractCondition>,
    /// What must hold for it to be done.
    pub postconditions: Vec<ContractCondition>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractCondition {
    /// As it is written.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// What it says: all of this must hold.
    pub asks: Vec<Ask>,
}

/// A number that something is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    /// How.
    pub comparison: Comparison,
    /// With what.
    pub number: usize,
}

/// How two numbers compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// Equal.
    Exactly,
    /// At most.
    AtMost,
    /// At least.
    AtLeast,
}

impl Limit {
    /// Whether a number is within the limit.
    pub const fn allows(self, number: usize) -> bool {
        match self.comparison {
            Comparison::Exactly => number == self.number,
            Comparison::AtMost => number <= self.number,
            Comparison::AtLeast => number >= self.number,
        }
    }
}

/// One thing that a condition asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A command succeeds on this content.
    Command(String),
    /// A file or folder is there.
    Exists(String),
    /// It is not there.
    Gone(String),
    /// The number of lines of a file.
    Lines(String, Limit),
    /// The number of files in a folder.
    Files(String, Limit),
    /// No file that matches has more lines; without a glob, no file that the task changed.
    MaxLines(Option<String>, usize),
    /// Every function is still there.
    FunctionsPreserved,
    /// No manifest names a dependency that it did not name.
    NoNewDependency,
    /// Nothing else changed.
    OnlyChanged(Vec<String>),
    /// A pattern occurs in files that match, or does not.
    Pattern {
        /// A regular expression.
        pattern: String,
        /// The files.
        glob: String,
        /// It shall occur.
        occurs: bool,
    },
    /// Two files are equal.
    Equal(String, String),
    /// An import map still verifies.
    ImportMap(String),
}

/// What became of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ConditionOutcome {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// Nobody looked.
    NotRun,
    /// It cannot be judged.
    Unreadable,
}
