//! `gate` stands between a coding agent and the words "it is done".
//!
//! A claim does not count; evidence does, and evidence is about content. Data flows one way:
//!
//! ```text
//! source  →  event, timeline  →  fact  →  gates  →  verdict  →  render
//! ```
//!
//! Sources read and never judge; gates judge and never read; renderers never decide. `ARCHITECTURE.md` has a drawing,
//! and says where a new gate, runner, client or renderer goes.

/// Gives an enum the method `as_str`. Its words are those that `strum::IntoStaticStr` derives.
macro_rules! as_str {
    ($name:ident) => {
        impl $name {
            /// Returns the word for it in policies, records and messages.
            pub fn as_str(self) -> &'static str {
                self.into()
            }
        }
    };
}

mod attest;
mod board;
mod check_after_write;
mod ci;
pub mod cli;
mod client_definition;
mod cmd;
pub mod collect;
pub mod command_line;
pub mod commit;
pub mod config;
mod contract;
mod contract_check;
mod contract_shelf;
mod decision;
mod diagnostics;
pub mod digest;
mod doctor;
pub mod embedded;
mod engine;
mod escalation;
mod eval;
pub mod event;
pub mod exit;
pub mod fact;
mod failure;
mod file_lock;
mod foreign_text;
pub mod gates;
pub mod git;
mod globs;
mod hook;
mod install;
pub mod journal;
mod judge;
mod lazy_patterns;
mod learn;
mod linked_packages;
mod local_file;
mod model;
pub mod moment;
pub mod oid;
mod parallel_map;
mod parent_processes;
mod plural;
pub mod policy;
pub mod prompt;
mod prompt_history;
pub mod prompt_lookup;
mod recorded_run;
mod red_green;
mod redact;
mod ref_names;
mod regular_file;
pub mod render;
pub mod replay;
pub mod repo_path;
mod review;
mod routing;
pub mod run;
pub mod runner;
mod session;
pub mod shell;
pub mod shell_kind;
mod shell_quote;
pub mod snapshot;
pub mod source;
mod ssh;
mod stack;
mod surroundings;
#[cfg(feature = "symbols")]
mod symbols;
mod templates;
pub mod timeline;
mod tool_folder;
mod user_folders;
pub mod verdict;
mod virtual_environment;
