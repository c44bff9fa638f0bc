//! Everything that is observed from outside, in one binary: one link, and shared support.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    reason = "tests are read, not published"
)]

mod after_write;
mod appeals;
mod architecture;
mod assessing;
mod attacks;
mod attempts;
mod attested;
mod attesting;
mod bad_input;
mod bash_differential;
mod board;
mod cases;
mod client_dialects;
mod client_hooks;
mod client_session;
mod client_stops;
mod client_work_trees;
mod command_corpus;
mod commit_scenarios;
mod commit_split;
mod commits;
mod committing;
mod components;
mod compressed_journal;
mod conflicts;
mod contract_gate;
mod contracts;
mod curating;
mod debug_log;
mod decisions;
mod default_ignore;
mod dependencies;
mod differential;
mod doctor;
mod edits;
mod escalation_payloads;
mod evals;
mod explain_command;
mod failed_tests;
mod forge;
mod gate_push;
mod git_reads;
mod hidden_edits;
mod hooks_off;
mod import_maps;
mod inprocess_log;
mod install;
mod install_clients;
mod install_instructions;
mod install_places;
mod install_shell;
mod install_try;
mod journal;
mod learning;
mod local_files;
mod log_fields;
#[cfg(feature = "mcp")]
mod mcp;
mod model_endpoints;
mod mutations;
mod named_texts;
mod names;
mod names_of_refs;
mod note_history;
mod one_line;
mod opencode_log;
mod oracle;
mod other_trees;
mod own_logs;
mod own_runners;
mod partial_trees;
mod patched_results;
mod people;
mod project;
mod prompt_hooks;
mod prompts;
mod proving;
mod pruned_journal;
mod pushes;
mod put_aside;
mod quarantine;
mod readme;
mod receive;
mod recent_log;
mod record_samples;
mod records;
mod replayed_sessions;
mod repositories;
mod rescue;
mod review_holds;
mod reviews;
mod roles;
mod run_process;
mod run_terminal;
mod runner_catalogue;
mod runner_output;
mod running;
mod sandbox;
mod schema;
mod scratch_files;
mod session_commands;
mod session_logs;
mod session_work;
mod shell_lines;
mod signed;
mod silenced_tests;
mod silencing;
mod snapshots;
mod spawned_processes;
#[cfg(unix)]
mod stale_builds;
mod stored_contents;
mod stored_journal;
mod story;
mod support;
mod symbols;
mod tables_read;
mod terminal;
mod test_names;
mod timeline;
mod tool_folders;
mod typed_lines;
mod typing;
mod unblocking;
mod unjudged_pushes;
mod word_judges;
mod working_trees;
