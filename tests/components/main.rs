//! What needs programs that not every machine has: `cargo test --test components` is asked for by name.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    reason = "tests are read, not published"
)]

mod attest;
#[path = "../integration/project.rs"]
mod project;
#[path = "../integration/support.rs"]
mod support;
