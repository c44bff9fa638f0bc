//! The reasons why something could not be recorded or read.

use std::io;
use std::path::{Path, PathBuf};

use super::{MAX_LINE, private_files};

/// The reason why something could not be recorded or read.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The disk is full; the journal keeps its length.
    #[error("no room to write {}: {source}", path.display())]
    Full {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// Another process has held the lock for ten seconds.
    #[error("another process holds {}", path.display())]
    Busy {
        /// The lock.
        path: PathBuf,
    },
    /// Neither the journal nor the spool can be written.
    #[error("nothing could be recorded: {journal}; {spool}")]
    Unavailable {
        /// The error of the journal.
        journal: Box<JournalError>,
        /// The problem with the spool.
        spool: String,
    },
    /// One event is longer than a line may be.
    #[error("an event of {length} bytes is too long for the journal (at most {MAX_LINE})")]
    TooLong {
        /// Its length.
        length: usize,
    },
    /// An event has no JSON form.
    #[error("an event cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

impl JournalError {
    /// Returns the error of a file that could not be read.
    pub(super) fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Read { path, source }
    }

    /// Returns the error of a file that could not be written.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| {
            if private_files::is_full(&source) { Self::Full { path, source } } else { Self::Write { path, source } }
        }
    }

    /// Returns `true` if the journal cannot be written from here, but another place may be.
    pub(super) fn is_refused(&self) -> bool {
        match self {
            Self::Write { source, .. } => private_files::is_refused(source),
            Self::Busy { .. } => true,
            _ => false,
        }
    }
}
