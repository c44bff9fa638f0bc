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

pub mod attest;
pub mod board;
pub mod check_after_write;
pub mod ci;
pub mod cli;
pub mod client_definition;
pub mod cmd;
pub mod collect;
pub mod command_line;
pub mod commit;
pub mod config;
pub mod contract;
pub mod contract_check;
pub mod contract_shelf;
pub mod decision;
pub mod diagnostics;
pub mod digest;
pub mod doctor;
pub mod embedded;
pub mod engine;
pub mod escalation;
pub mod eval;
pub mod event;
pub mod exit;
pub mod fact;
pub mod failure;
pub mod file_lock;
pub mod foreign_text;
pub mod gates;
pub mod git;
pub mod globs;
pub mod hook;
pub mod install;
pub mod journal;
pub mod judge;
pub mod lazy_patterns;
pub mod learn;
pub mod local_file;
pub mod model;
pub mod moment;
pub mod oid;
pub mod parallel_map;
pub mod parent_processes;
pub mod plural;
pub mod policy;
pub mod prompt;
pub mod prompt_history;
pub mod prompt_lookup;
pub mod recorded_run;
pub mod red_green;
pub mod redact;
pub mod ref_names;
pub mod regular_file;
pub mod render;
pub mod replay;
pub mod repo_path;
pub mod review;
pub mod routing;
pub mod run;
pub mod runner;
pub mod session;
pub mod shell;
pub mod shell_kind;
pub mod shell_quote;
pub mod snapshot;
pub mod source;
pub mod ssh;
pub mod stack;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod templates;
pub mod timeline;
pub mod tool_folder;
pub mod user_folders;
pub mod verdict;
pub mod virtual_environment;
