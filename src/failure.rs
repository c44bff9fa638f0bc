//! How a command that could not do its work says so: what, where, and what to do.

use std::fmt;

use crate::exit::Exit;
use crate::repo_path::RepoPath;

/// An error for people, with the exit code it ends the process with.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// What went wrong, and where: a fragment without a capital letter or a full stop.
    pub what: String,
    /// What to do about it; empty where nothing is known to help.
    pub remedy: String,
    /// The file and the line (from 1) that it is about, where it is about one.
    pub at: Option<(RepoPath, Option<u32>)>,
}

impl Failure {
    /// A failure with nothing to suggest.
    pub fn new(exit: Exit, what: impl fmt::Display) -> Self {
        Self { exit, what: what.to_string(), remedy: String::new(), at: None }
    }

    /// The same failure with what to do about it.
    #[must_use]
    pub fn remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = remedy.to_string();
        self
    }

    /// The same failure with the place that it is about.
    #[must_use]
    pub fn at(mut self, path: RepoPath, line: Option<u32>) -> Self {
        self.at = Some((path, line));
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.what)
    }
}

impl std::error::Error for Failure {}
