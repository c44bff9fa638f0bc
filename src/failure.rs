//! The error of a command: what failed, where, and the remedy.

use std::fmt;
use std::path::Path;

use crate::exit::Exit;
use crate::repo_path::RepoPath;

/// An error for people, with the exit code it ends the process with.
#[derive(Debug)]
pub struct Failure {
    /// The exit code.
    pub exit: Exit,
    /// The error and its place: a fragment without a capital letter or a full stop.
    pub what: String,
    /// The remedy. Empty if none is known.
    pub remedy: String,
    /// The file and the line (from 1) that it is about, if any.
    pub at: Option<(RepoPath, Option<u32>)>,
}

impl Failure {
    /// Creates a failure without a remedy.
    pub fn new(exit: Exit, what: impl fmt::Display) -> Self {
        Self { exit, what: what.to_string(), remedy: String::new(), at: None }
    }

    /// Returns the function that makes an error a failure with this exit code.
    pub fn with<E: fmt::Display>(exit: Exit) -> impl Fn(E) -> Self {
        move |error| Self::new(exit, error)
    }

    /// Returns the function that makes an error about a file a failure with this exit code.
    pub fn of_file<E: fmt::Display>(exit: Exit, path: &Path) -> impl Fn(E) -> Self {
        move |error| Self::new(exit, format!("{}: {error}", path.display()))
    }

    /// Returns the same failure with a remedy.
    #[must_use]
    pub fn remedy(mut self, remedy: impl fmt::Display) -> Self {
        self.remedy = remedy.to_string();
        self
    }

    /// Returns the same failure with its place.
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
