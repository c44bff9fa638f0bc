//! The errors of the installation.

use std::io;
use std::path::{Path, PathBuf};

/// The reason why a plan could not be made or carried out.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// No repository was found.
    #[error("{} is not inside a git repository", dir.display())]
    NotARepository {
        /// The directory where the search began.
        dir: PathBuf,
    },
    /// The directory of a repository, but not of its working tree.
    #[error("{} is inside the git directory and not in the working tree", dir.display())]
    InsideGitDir {
        /// The current directory.
        dir: PathBuf,
    },
    /// git refused.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// The arguments.
        command: String,
        /// The message of git.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A `gate.toml` that cannot be added to.
    #[error("{}: {message}", path.display())]
    Policy {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        message: String,
    },
    /// The record of the installation cannot be read.
    #[error("{}: the record of the installation is malformed: {message}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        message: String,
    },
    /// Something changed between the plan and its execution.
    #[error("{} changed after the plan was made", path.display())]
    Changed {
        /// The file.
        path: PathBuf,
    },
}

impl InstallError {
    /// Returns a closure for `map_err` on file operations.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
