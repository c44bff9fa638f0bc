//! Everything that is observed from outside, in one binary: one link, and shared support.

#![allow(clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests are read, not published")]

mod edits;
mod git_reads;
mod hidden_edits;
mod journal;
mod oracle;
mod repositories;
mod run_process;
mod runner_catalogue;
mod schema;
mod support;
//! The behaviour of `gate` as it is seen from outside, with the real binary.

#![allow(clippy::unwrap_used)]

//! What `gate` does as seen from outside: one binary, one module for each subject.

#![allow(clippy::unwrap_used)]

//! Behaviour seen from outside: one binary for all of it, so that linking is paid for once.

