//! Turns results into bytes; no other module does. Renderers never decide.

pub(crate) mod board;
pub mod ci;
pub(crate) mod commits;
pub(crate) mod contracts;
pub(crate) mod debug_log;
pub(crate) mod doctor;
pub(crate) mod eval;
pub(crate) mod explain;
pub(crate) mod explained_command;
#[cfg(test)]
mod gate_docs;
mod gate_params;
pub(crate) mod install_plan;
pub(crate) mod learning;
pub(crate) mod named_tests;
pub(crate) mod observe_mode;
pub(crate) mod prompt_evaluation;
pub(crate) mod reflections;
pub(crate) mod replay;
pub(crate) mod review;
pub(crate) mod sessions;
pub(crate) mod status;
pub(crate) mod strategy_report;
#[cfg(feature = "symbols")]
pub(crate) mod symbols;
pub mod timeline;
pub mod ui;
pub(crate) mod verdict;
