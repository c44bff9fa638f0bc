//! Judges records again: a case is a session and its repository, written down.
//!
//! ```text
//! case  →  world: contents, commits, runs, pushes  →  facts  →  gates  →  one word for each question
//! ```
//!
//! The facts and the gates are those of every other judgement; only where facts come from differs. A case is also written
//! from what is recorded: of a session ([`session_case`]), of a verdict that its reader contradicts ([`appeal`]). A verdict
//! itself is judged again from the repository and the journal ([`rejudge`]).

pub mod anonymize;
pub mod appeal;
pub mod case;
pub mod case_commits;
pub mod case_events;
pub mod case_facts;
pub mod case_policy;
pub mod command_effects;
pub mod compose;
pub mod forge_state;
pub mod gate_answers;
pub mod log_answers;
pub mod packages;
pub mod proofs_by_package;
pub mod rejudge;
pub mod remote_effects;
pub mod session_answers;
pub mod session_case;
pub mod simulated_repository;
pub mod simulated_run;
pub mod tree_content;
mod turn_end;

pub use case::{AnswerWord, Case, CaseError};
pub use gate_answers::{Answers, GateAnswer, answer};
pub use session_answers::{SessionAnswers, StopAnswers, UnreadRecords};
