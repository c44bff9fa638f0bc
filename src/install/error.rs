//! What can go wrong while installing.

use std::io;
use std::path::{Path, PathBuf};

/// Why a plan could not be made or carried out.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// There is no repository.
    #[error("{} is not inside a git repository", dir.display())]
    NotARepository {
        /// Where one was looked for.
        dir: PathBuf,
    },
    /// The directory of a repository, but not of its working tree.
    #[error("{} is inside the git directory and not in the working tree", dir.display())]
    InsideGitDir {
        /// Where we are.
        dir: PathBuf,
    },
    /// git said no.
    #[error("`git {command}` failed: {message}")]
    Git {
        /// The arguments.
        command: String,
        /// What git said.
        message: String,
    },
    /// A file could not be read or written.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A `gate.toml` that cannot be added to.
    #[error("{}: {message}", path.display())]
    Policy {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// What was recorded at installation cannot be read.
    #[error("{}: the record of the installation is malformed: {message}", path.display())]
    Record {
        /// Which.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// Something changed between the plan and its execution.
    #[error("{} changed after the plan was made", path.display())]
    Changed {
        /// What.
        path: PathBuf,
    },
}

impl InstallError {
    /// For `map_err` on file operations.
    pub(super) fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }
}
