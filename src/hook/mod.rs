//! What hooks ask, answered.

mod amend;
pub mod client;
pub mod message;
pub mod missing_runs;
pub mod protected_push;
pub mod push;

use std::ffi::OsString;

/// A git hook as git called it.
#[derive(Clone, Copy, Debug)]
pub struct GitHook<'a> {
    /// Its name.
    pub name: &'a str,
    /// Its arguments.
    pub args: &'a [OsString],
    /// Everything git wrote to it.
    pub stdin: &'a [u8],
}
