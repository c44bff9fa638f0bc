//! Everything that is observed from outside, in one binary: one link, and shared support.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    reason = "tests are read, not published"
)]

mod attacks;
mod bash_differential;
mod command_corpus;
mod commit_scenarios;
mod commit_split;
mod commits;
mod doctor;
mod edits;
mod explain_command;
mod git_reads;
mod hidden_edits;
mod install;
mod install_places;
mod journal;
mod oracle;
mod readme;
mod repositories;
mod run_process;
mod runner_catalogue;
mod runner_output;
mod sandbox;
mod schema;
mod shell_lines;
mod support;
mod timeline;
mod working_trees;
