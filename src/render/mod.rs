//! Turns results into bytes; no other module does. Renderers never decide.

pub mod board;
pub mod ci;
pub mod commits;
pub mod contracts;
pub mod debug_log;
pub mod doctor;
pub mod eval;
pub mod explain;
pub mod explained_command;
pub mod gate_docs;
mod gate_params;
pub mod install_plan;
pub mod learning;
pub mod named_tests;
pub mod observe_mode;
pub mod prompt_evaluation;
pub mod reflections;
pub mod replay;
pub mod review;
pub mod sessions;
pub mod status;
pub mod strategy_report;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod timeline;
pub mod ui;
pub mod verdict;
