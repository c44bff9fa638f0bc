//! A file that takes the place of the journal: a new beginning, and what the journal has from some position on.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::PathBuf;

use super::journal_file::JournalFile;
use super::{Journal, JournalError, private_files};

/// The new file. It is removed if it does not take its place.
pub(super) struct NewJournal {
    path: PathBuf,
    file: File,
    /// The position up to which the journal was copied.
    copied: u64,
}

impl NewJournal {
    /// Returns the path of the new file.
    pub(super) fn path(journal: &Journal) -> PathBuf {
        journal.dir.join("journal.jsonl.new")
    }

    /// Makes a file whose beginning stands for all that is before a position.
    pub(super) fn begin(journal: &Journal, beginning: &[u8], from: u64) -> Result<Self, JournalError> {
        let path = Self::path(journal);
        let file = private_files::open(&path, OpenOptions::new().write(true).create(true).truncate(true))
            .map_err(JournalError::write(&path))?;
        let mut new = Self { path, file, copied: from };
        new.file.write_all(beginning).map_err(JournalError::write(&new.path))?;
        Ok(new)
    }

    /// Copies the journal up to a position.
    pub(super) fn copy(&mut self, journal: &mut JournalFile, to: u64) -> Result<(), JournalError> {
        journal.seek_to(self.copied);
        let copied = io::copy(&mut journal.take(to.saturating_sub(self.copied)), &mut self.file);
        // Without it, a power cut could take the whole journal and not only its end.
        copied.and_then(|_| self.file.sync_all()).map_err(JournalError::write(&self.path))?;
        self.copied = to;
        Ok(())
    }

    /// Adds a line.
    pub(super) fn add(&mut self, line: &[u8]) -> Result<(), JournalError> {
        self.file.write_all(line).and_then(|()| self.file.sync_all()).map_err(JournalError::write(&self.path))
    }

    /// Takes the place of the journal. The caller holds the lock of the writers.
    pub(super) fn take_place(self, journal: &Journal) -> Result<(), JournalError> {
        let place = journal.journal_path();
        fs::rename(&self.path, &place).map_err(JournalError::write(&place))
    }
}

impl Drop for NewJournal {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}
