//! Judges records again: a case is a session and its repository, written down.
//!
//! ```text
//! case  →  world: contents, commits, runs, pushes  →  facts  →  gates  →  one word for each question
//! ```
//!
//! The facts and the gates are those of every other judgement; only where facts come from differs. A case is also written
//! from what is recorded: of a session ([`session_case`]), of a verdict that its reader contradicts ([`appeal`]). A verdict
//! itself is judged again from the repository and the journal ([`rejudge`]).

pub(crate) mod anonymize;
pub(crate) mod appeal;
pub(crate) mod case;
pub(crate) mod case_commits;
pub(crate) mod case_events;
pub(crate) mod case_facts;
pub(crate) mod case_policy;
pub(crate) mod command_effects;
pub(crate) mod compose;
pub(crate) mod forge_state;
pub(crate) mod gate_answers;
pub(crate) mod log_answers;
pub(crate) mod packages;
pub(crate) mod proofs_by_package;
pub(crate) mod rejudge;
pub(crate) mod remote_effects;
pub(crate) mod session_answers;
pub(crate) mod session_case;
pub(crate) mod simulated_repository;
pub(crate) mod simulated_run;
pub(crate) mod tree_content;
mod turn_end;

pub use case::{AnswerWord, Case, CaseError};
pub use gate_answers::{Answers, GateAnswer, answer};
pub use session_answers::{SessionAnswers, StopAnswers, UnreadRecords};
