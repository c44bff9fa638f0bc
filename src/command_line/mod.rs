//! The proof that a command line gives: the checks that it runs, the meaning of its status, and the evidence in its
//! record.
//!
//! ```text
//! line  →  shell::Program  →  purpose of each command  →  fate under the status  →  views of the output  →  Judgement
//! ```
//!
//! Pure: the input is lines, texts and project files, the output is a judgement.

use serde::{Deserialize, Serialize};

use crate::runner::CommandKind;
use crate::shell_kind::Shell;

mod check_outcome;
mod colour_removal;
mod command_table;
mod compose;
mod contradiction;
pub(crate) mod coverage;
mod current_branch_push;
mod endless_line;
mod environment;
mod filter_programs;
mod forged_output;
mod generated_programs;
mod git_hook_checks;
mod idle_line;
mod inherited_environment;
mod judge;
mod late_failures;
mod log_file;
mod masked_failure;
mod output_evidence;
mod output_filters;
mod output_knowledge;
mod passed_by_order;
mod passed_by_silence;
mod purpose;
mod push_target;
mod remedy;
mod reviewed_line;
pub(crate) mod rewritten_files;
mod run_result;
mod run_settings;
mod setting_effect;
mod shown_output;
mod task_variables;
mod understanding;
mod unsealed_part;
mod working_directory;
mod written_files;

pub use contradiction::tells;
pub use coverage::{
    CommonGround, Deeds, ObservedLine, PartlyRun, Witnessed, between_stash_and_pop, changed_before_checks,
    interfering_command, may_change_after_checks, moves_before_checks, names_seen_from, own_logs, partly_run,
    proven_in_part, runs_alone, witness, witness_together,
};
pub use endless_line::may_be_endless;
pub use idle_line::{is_idle, only_builds};
pub use inherited_environment::{environment, inherited, withheld};
pub use judge::{judge, judge_kinds};
pub use masked_failure::unseen_failure;
pub use output_knowledge::OutputKnowledge;
pub use purpose::{Purpose, Understood};
pub use run_result::{RunResult, said, sum};
pub use understanding::{chosen_part, understand, understand_in};
pub use written_files::{WrittenFile, written_files};

/// Returns the first line of an output that says that there is no such program, subcommand, script or task.
pub fn missing_command(output: &str) -> Option<&str> {
    command_table::table().missing(output)
}

/// The record of a command line.
#[derive(Clone, Copy, Debug, Default)]
pub struct LineRecord<'a> {
    /// The exit status, if one was recorded.
    pub status: Option<i32>,
    /// The output, or the rest of it, if it was recorded.
    pub output: Option<&'a str>,
    /// `true` if the record says that the command was still running.
    pub background: bool,
    /// The shell that ran the line, or `None` if it is unknown.
    pub shell: Option<Shell>,
}

/// The answer to the question if exit status 0 of the line implies that every check of the decisive kind ran and
/// succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ExitDecides {
    /// Status 0 implies it.
    Yes,
    /// Status 0 does not imply it: another command gives the status, or the tool succeeds with any finding.
    NoMasked,
    /// The line may not have ended, or cannot be followed.
    Unknown,
}

/// The result of the checks of the decisive kind, as far as status and output show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum CheckOutcome {
    /// The checks passed.
    Pass,
    /// The checks failed, for any reason.
    Fail,
    /// No test was executed.
    NoTests,
    /// The result is not shown.
    Unknown,
}

/// The part of the tests that a line executes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// All tests of the package or workspace that the line starts in.
    Full,
    /// A part of the tests.
    Filtered,
    /// No tests.
    NoneExecuted,
}

/// The proof that the recorded line gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Proves {
    /// A full run of the tests passed.
    FullPass,
    /// Less than that passed: a part of the tests, or a build, type check or lint.
    PartialPass,
    /// A check failed.
    Fail,
    /// The line proves nothing.
    Nothing,
}

/// The meaning of a command line, and the proof that its record gives.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LineJudgement {
    /// The kinds of the commands that the line executes.
    pub kind: Vec<String>,
    /// The runner of the decisive checks.
    pub runner: Option<String>,
    /// The part of the tests that is executed, if any.
    pub scope: Option<Extent>,
    /// Shows if the status decides; `None` if the line checks nothing.
    pub exit_decides: Option<ExitDecides>,
    /// The result of the decisive checks, or `None` if the line checks nothing.
    pub result: Option<CheckOutcome>,
    /// `yes` if the line itself can change files of the working tree, else `no`.
    #[serde(serialize_with = "yes_or_no")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub edits_files: bool,
    /// The branches that it pushes to, as far as the text shows them.
    pub pushes_to: Option<String>,
    /// The kind that decides: test, build, type check or lint.
    pub decisive_kind: Option<CommandKind>,
    /// The proof.
    pub proves: Proves,
    /// The reason, in one sentence.
    pub reason: String,
    /// The command that would prove the rest, if something is missing and such a command is known.
    pub would_prove: Option<String>,
}

/// Writes `yes` or `no`, as the other answers are words, too.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature that serde asks for")]
fn yes_or_no<S: serde::Serializer>(value: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if *value { "yes" } else { "no" })
}
