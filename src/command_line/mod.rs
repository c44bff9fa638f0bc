//! What a command line proves: which checks it runs, whether its status is theirs, and what the record of it shows.
//!
//! ```text
//! line  →  shell::Program  →  purpose of each command  →  fate under the status  →  views of the output  →  Judgement
//! ```
//!
//! Pure: lines, texts and project files come in, a judgement goes out.

use serde::{Deserialize, Serialize};

use crate::runner::CommandKind;
use crate::shell::dialect::Shell;

mod check_outcome;
mod command_table;
mod compose;
mod contradiction;
pub mod coverage;
mod environment;
mod forged_output;
mod generated_programs;
mod git_hook_checks;
mod judge;
mod log_file;
mod masked_failure;
mod output_evidence;
mod output_filters;
mod purpose;
mod push_target;
mod remedy;
mod run_result;
mod run_settings;
mod working_directory;

pub use coverage::{CommonGround, Deeds, ObservedLine, Witnessed, own_logs, witness};
pub use environment::inherited;
pub use judge::{judge, judge_kinds, understand, understand_in};
pub use masked_failure::unseen_failure;
pub use purpose::{Purpose, Understood};
pub use run_result::{OutputKnowledge, RunResult, said, sum};

/// What was recorded of a command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineRecord<'a> {
    /// The exit status, where one was recorded.
    pub status: Option<i32>,
    /// The output, or what is left of it, where it was recorded.
    pub output: Option<&'a str>,
    /// Whether the record says that the command was still running.
    pub background: bool,
    /// The shell that ran the line; `None`: nothing says which.
    pub shell: Option<Shell>,
}

/// Whether exit status 0 of the line implies that every check of the decisive kind ran and succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExitDecides {
    /// It does.
    Yes,
    /// It does not: something else gives the status, or the tool succeeds whatever it finds.
    NoMasked,
    /// The line may not have ended, or cannot be followed.
    Unknown,
}

/// How the checks of the decisive kind ended, as far as status and output show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// They passed.
    Pass,
    /// They ended badly, for any reason.
    Fail,
    /// No test was executed.
    NoTests,
    /// It is not shown.
    Unknown,
}

/// How much of the tests a line executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All of the package or workspace it is started in.
    Full,
    /// A part.
    Filtered,
    /// Nothing.
    NoneExecuted,
}

/// What the recorded line proves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Proves {
    /// A full run of the tests passed.
    FullPass,
    /// Something passed that is less than that: a part of the tests, or a build, type check or lint.
    PartialPass,
    /// A check failed.
    Fail,
    /// Nothing.
    Nothing,
}

/// What a command line means, and what its record proves.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineJudgement {
    /// What the line executes, in the words of the labelling guide.
    pub kind: Vec<String>,
    /// The runner of the decisive checks.
    pub runner: Option<String>,
    /// How much of the tests is executed, if any.
    pub scope: Option<Extent>,
    /// Whether the status decides; `None` when the line checks nothing.
    pub exit_decides: Option<ExitDecides>,
    /// How the decisive checks ended; `None` when the line checks nothing.
    pub result: Option<CheckOutcome>,
    /// Whether the line itself can change files of the working tree.
    #[serde(serialize_with = "yes_or_no")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub edits_files: bool,
    /// Where it pushes, as far as the text shows it.
    pub pushes_to: Option<String>,
    /// The kind that decides: test, build, type check or lint.
    pub decisive_kind: Option<CommandKind>,
    /// What is proven.
    pub proves: Proves,
    /// Why, in one sentence.
    pub reason: String,
    /// The command that would prove it, if something is missing and one is known.
    pub would_prove: Option<String>,
}

/// `yes` and `no`, as the other answers are words too.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn yes_or_no<S: serde::Serializer>(value: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *value { "yes" } else { "no" })
}
