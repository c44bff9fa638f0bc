//! `gate` beside programs that nobody here wrote: what they make of the same states, and what they say of what is
//! shipped. `tests/components/run` installs them; one that is missing fails its tests.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests are read, not published"
)]

mod act;
mod attest;
#[allow(dead_code, reason = "each test binary uses its part")]
#[path = "../integration/forge/clone.rs"]
mod clone;
#[allow(dead_code, reason = "each test binary uses its part")]
#[path = "../integration/differential.rs"]
mod differential;
mod disk;
mod forms;
mod gh;
mod gitlab;
mod graphql;
mod installed;
mod lint;
mod managers;
mod models;
mod oracle;
#[path = "../integration/project.rs"]
mod project;
mod pytest;
#[path = "../integration/record_samples.rs"]
mod record_samples;
mod release;
mod schemas;
#[allow(dead_code, reason = "each test binary uses its part")]
#[path = "../integration/forge/server.rs"]
mod server;
mod shells;
mod silenced_tests;
#[allow(dead_code, reason = "each test binary uses its part")]
#[path = "../integration/silencing.rs"]
mod silencing;
#[path = "../integration/stored_journal.rs"]
mod stored_journal;
#[path = "../integration/support.rs"]
mod support;
#[path = "../integration/terminal.rs"]
mod terminal;
mod test_names;
mod typed_lines;
#[path = "../integration/typing.rs"]
mod typing;
mod webhooks;
