//! Task contracts: the conditions before a task begins, and those for its completion.
//!
//! A contract is read as a whole before anything is run. The reader only uses its text.

mod contract_error;
mod file;
mod sentence;
mod wordings;
mod yaml;

use serde::{Deserialize, Serialize};

pub use contract_error::ContractError;
pub use file::{MAX_CONTRACT, read};

/// A contract, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contract {
    /// The work to do, for people.
    pub task: String,
    /// The conditions that must hold for the task to begin.
    pub preconditions: Vec<ContractCondition>,
    /// The conditions that must hold for the task to be done.
    pub postconditions: Vec<ContractCondition>,
}

/// One condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContractCondition {
    /// As it is written.
    pub text: String,
    /// Its line, from 1.
    pub line: usize,
    /// The requirements: all of them must hold.
    pub asks: Vec<Ask>,
}

/// A number that something is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limit {
    pub comparison: Comparison,
    /// The number to compare with.
    pub number: usize,
}

/// A comparison of two numbers.
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
    /// Returns `true` if a number is within the limit.
    pub const fn allows(self, number: usize) -> bool {
        match self.comparison {
            Comparison::Exactly => number == self.number,
            Comparison::AtMost => number <= self.number,
            Comparison::AtLeast => number >= self.number,
        }
    }
}

/// One requirement of a condition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ask {
    /// A command succeeds on this content.
    Command {
        /// The command line.
        line: String,
        /// `true` if its tests must pass, so that it must run some.
        tests: bool,
    },
    /// A file or folder is there.
    Exists(String),
    /// A file, and no folder, is there.
    IsFile(String),
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

impl Ask {
    /// Returns the path of one file or folder that is written as a glob.
    pub(super) fn globbed(&self) -> Option<&str> {
        let paths = match self {
            Self::Exists(_) | Self::IsFile(_) | Self::Gone(_) | Self::Lines(..) | Self::Files(..) | Self::Equal(..) => {
                self.paths()
            }
            _ => Vec::new(),
        };
        paths.into_iter().find(|path| path.contains(['*', '?']))
    }

    /// Returns the paths and globs that must lie in the repository.
    pub fn paths(&self) -> Vec<&str> {
        match self {
            Self::Exists(path)
            | Self::IsFile(path)
            | Self::Gone(path)
            | Self::Lines(path, _)
            | Self::Files(path, _) => {
                vec![path]
            }
            Self::MaxLines(Some(glob), _) | Self::Pattern { glob, .. } => vec![glob],
            Self::OnlyChanged(globs) => globs.iter().map(String::as_str).collect(),
            Self::Equal(a, b) => vec![a, b],
            // A map may lie anywhere.
            Self::ImportMap(_)
            | Self::MaxLines(None, _)
            | Self::Command { .. }
            | Self::FunctionsPreserved
            | Self::NoNewDependency => Vec::new(),
        }
    }
}

/// The result of one condition.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ConditionResult {
    /// The condition as it is written.
    pub text: String,
    /// The outcome.
    pub outcome: ConditionOutcome,
    /// The reason, in one sentence. Empty if there is nothing to add.
    pub detail: String,
    /// The files that were read, or the commands that were run.
    pub evidence: Vec<String>,
}

/// The outcome of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum ConditionOutcome {
    /// It holds.
    Holds,
    /// It does not.
    Fails,
    /// It was not checked.
    NotRun,
    /// It cannot be judged.
    Unreadable,
}
