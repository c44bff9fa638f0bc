//! The terms for a command: its kind, the scope of its work, and the meaning of its exit status.

use serde::{Deserialize, Serialize};

/// The purpose of a simple command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CommandKind {
    /// Executes tests.
    Test,
    /// Compiles or bundles.
    Build,
    /// Checks types and nothing else.
    Typecheck,
    /// Looks for faults without executing the program; checking the format is part of it.
    Lint,
    /// Rewrites files into a format.
    Format,
    /// Fetches or installs dependencies or tools.
    Install,
    /// Writes source files from other files.
    Codegen,
    /// Changes or reads the repository.
    Vcs,
    /// Sends refs to a remote.
    Push,
    /// Works on a pull request.
    Pr,
    /// Asks for the state of CI.
    CiQuery,
    /// Reads files or prints text.
    Read,
    /// Changes files by shell means.
    Edit,
    /// Anything else.
    Other,
}

/// The part of the existing checks that a command executes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum RunScope {
    /// All of the package or workspace that it is started in.
    Full,
    /// A part, chosen by this argument.
    Filtered {
        /// The argument, or the name of the task.
        by: String,
    },
    /// Nothing: it compiles, lists, or prints its help.
    NoneExecuted {
        /// The argument that makes it so.
        why: String,
    },
    /// The question does not arise for this kind of command.
    NotApplicable,
}

/// The meaning of exit status 0 of a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ExitMeaning {
    /// It did its work and found nothing wrong.
    #[default]
    Decides,
    /// It is 0 in spite of findings (`gofmt -l`, `eslint … --exit-zero`).
    ZeroOnFindings,
}
