//! The errors between `gate` and git.

use std::io;
use std::path::PathBuf;

use crate::repo_path::RepoPath;

/// An answer git did not give.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// No repository exists at or above the directory.
    #[error("{} is not inside a git repository", .dir.display())]
    NotARepository {
        /// The directory where the search began.
        dir: PathBuf,
    },
    /// There is a repository, and git refuses to open it: another owner, an unknown format.
    #[error("git refuses the repository at {}: {reason}", .dir.display())]
    Refused {
        /// The directory where the search began.
        dir: PathBuf,
        /// Git's own words.
        reason: String,
    },
    /// The question is about a working tree, and the repository is bare.
    #[error("{} is a bare repository and has no working tree", .git_dir.display())]
    Bare {
        /// The repository.
        git_dir: PathBuf,
    },
    /// A requested object does not exist.
    #[error("the repository has no {0}")]
    Missing(String),
    /// A short name that can be taken for something else than what git would take it for.
    #[error("`{name}` can mean {found}, or {meant}: type the full name of the one that is meant")]
    Ambiguous {
        /// The name.
        name: String,
        /// The full name of what git finds under it.
        found: String,
        /// The full names of what it can be taken for.
        meant: String,
    },
    /// Git could not be started.
    #[error("cannot run `git {command}`: {source}")]
    NotStarted {
        /// The arguments.
        command: String,
        /// The cause.
        source: io::Error,
    },
    /// Git ended with an error.
    #[error("`git {command}` failed: {stderr}")]
    Failed {
        /// The arguments.
        command: String,
        /// The exit status; `None` where a signal ended it.
        status: Option<i32>,
        /// The last lines of its message.
        stderr: String,
    },
    /// The disk is full, or a quota is used up.
    #[error("no room left on the disk for `git {command}`: {stderr}; free some space, then try again")]
    NoRoom {
        /// The arguments.
        command: String,
        /// The last lines of its message.
        stderr: String,
    },
    /// A clean filter of the repository failed.
    #[error("a clean filter failed: {stderr}; `git config --get-regexp '^filter'` lists the filters")]
    FilterFailed {
        /// The last lines of git's message.
        stderr: String,
    },
    /// Another git holds a lock, or left it when it was killed.
    #[error("another git holds a lock: {stderr}")]
    Locked {
        /// The last lines of git's message.
        stderr: String,
    },
    /// Git printed something this version of `gate` does not understand.
    #[error("`git {command}` printed something unexpected: {what}")]
    Malformed {
        /// The arguments.
        command: String,
        /// The part that is not understood.
        what: String,
    },
    /// The index was read while git showed a tree in place of another one, so that git takes different folders for equal.
    #[error(
        "git does not report that {path} differs from HEAD: the index was written while `git replace` showed other objects; \
         to fix it: git replace -l | xargs -r git replace -d; git read-tree --empty && git reset -q"
    )]
    ReplacedTree {
        /// The first such path.
        path: RepoPath,
    },
    /// A file has changed since the snapshot was taken.
    #[error("{path} changed while the snapshot was being kept")]
    ChangedUnderneath {
        /// The first such file.
        path: RepoPath,
    },
    /// A file or directory of our own could not be written or read.
    #[error("cannot {action} {}: {source}", .path.display())]
    Io {
        /// The action that was tried.
        action: &'static str,
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}
