//! Everything that is observed from outside, in one binary: one link, and shared support.

#![allow(clippy::print_stdout, missing_docs, unreachable_pub, reason = "tests are read, not published")]

mod hidden_edits;
mod repositories;
mod runner_catalogue;
mod support;

//! The tests of `gate` as a whole: one binary, one module for each subject.

#![allow(missing_docs)]

