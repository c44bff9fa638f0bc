//! How a command that could not do its work says so: what, where, and what to do.

use std::fmt;

use crate::exit::Exit;

/// An error for people, with the exit code it ends the process with.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What went wrong, and where: a fragment without a capital letter or a full stop.
    pub what: String,
    /// What to do about it; empty where nothing is known to help.
    pub remedy: String,
}

impl Failure {
    /// A failure with nothing to suggest.
    pub fn new(exit: Exit, what: impl fmt::Display) -> Self {
        Self { exit, what: what.to_string(), remedy: String::new() }
    }

    /// The same failure with what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = remedy.to_string();
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}
