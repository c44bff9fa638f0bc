//! Compresses the old part of the journal.

use std::fs;
use std::io::Read as _;
use std::path::PathBuf;

use super::append::JournalWriter;
use super::compressed_parts::PartsHead;
use super::journal_file::JournalFile;
use super::new_journal::NewJournal;
use super::new_parts::NewParts;
use super::prune::{MAX_AT_ONCE, TURN_TIMEOUT};
use super::{Journal, JournalError, private_files, state_cache};

/// The end of the journal that is never compressed, in bytes: hooks and pushes read it.
const KEPT: u64 = 256 * 1024;
/// Nothing is done for fewer bytes than this.
const WORTHWHILE: u64 = 128 * 1024;

impl Journal {
    /// Moves old entries into compressed parts, if that saves enough. It does nothing if the journal has faults, which are for
    /// a person to look at first, and if other processes are at work on it.
    pub fn compress(&self) -> Result<(), JournalError> {
        let path = self.journal_path();
        let Some(file) = self.file()? else { return Ok(()) };
        let length = file.end().map_err(JournalError::read(&path))? - file.plain();
        if length <= KEPT + WORTHWHILE && self.stale_files(&file).is_empty() {
            return Ok(());
        }
        let Some(_lock) = self.lock_run_index()? else { return Ok(()) };
        if !self.state()?.integrity().is_intact() {
            return Ok(());
        }
        self.remove_stale_files()?;
        // Another process may have been faster.
        let Some(mut file) = self.file()? else { return Ok(()) };
        // Behind parts that are missing, nothing could be read.
        if !file.parts().map_err(JournalError::read(&path))?.are_complete() {
            return Ok(());
        }
        // What lies after it may still be taken back.
        let Some(written) = state_cache::read_anchor(&self.lock_path()).map(|mark| mark.end) else { return Ok(()) };
        let most = written.saturating_sub(KEPT).min(file.plain().saturating_add(MAX_AT_ONCE));
        if most < file.plain() + WORTHWHILE {
            return Ok(());
        }
        let Some(mut lines) = self.raw_lines(most)? else { return Ok(()) };
        let line = lines.next_line().map_err(JournalError::read(&path))?;
        let Some(begin) = line.map(|line| line.end).filter(|end| *end <= written) else { return Ok(()) };
        let head = self.compress_up_to(begin, &mut file)?;
        let mut new = NewJournal::begin(self, &head.to_line(), begin)?;
        new.copy(&mut file, written)?;
        let writer = match JournalWriter::begin(self, TURN_TIMEOUT) {
            Err(JournalError::Busy { .. }) => return Ok(()),
            writer => writer?,
        };
        let Some(end) = writer.settled_end() else { return Ok(()) };
        new.copy(&mut file, end)?;
        new.take_place(self)
    }

    fn compress_up_to(&self, begin: u64, file: &mut JournalFile) -> Result<PartsHead, JournalError> {
        let (base, rest, from) = (file.base(), file.rest(), file.plain());
        let known = file.compressed().map_or(0, |head| head.bytes);
        let folder = self.parts_folder();
        file.seek_to(from);
        let added = NewParts::after(&folder, base, known).and_then(|mut parts| parts.add(file.take(begin - from)));
        let bytes = added.map_err(JournalError::write(&folder))?;
        Ok(PartsHead { base, rest, begin, bytes })
    }

    /// Returns the files of processes that were killed, and the parts of a journal that was replaced.
    fn stale_files(&self, file: &JournalFile) -> Vec<PathBuf> {
        let current = file.compressed().map(|head| head.base.to_string());
        let parts = fs::read_dir(self.parts_folder()).into_iter().flatten().flatten();
        let parts = parts.filter(|part| current.as_ref().is_none_or(|name| part.file_name() != **name));
        let made = Some(NewJournal::path(self)).filter(|made| made.exists());
        parts.map(|part| part.path()).chain(made).collect()
    }

    /// Removes the files that are not in use. The caller holds the lock of the index of runs.
    pub(super) fn remove_stale_files(&self) -> Result<(), JournalError> {
        let Some(file) = self.file()? else { return Ok(()) };
        for left in self.stale_files(&file) {
            private_files::found(fs::remove_file(&left)).map_err(JournalError::write(&left))?;
        }
        Ok(())
    }

    /// Makes the parts of a journal that has `beginning` instead of all that is before `cut`. Returns what its first line says;
    /// `None` if nothing after `cut` is compressed.
    pub(super) fn parts_after(
        &self,
        file: &mut JournalFile,
        cut: u64,
        beginning: &[u8],
    ) -> Result<Option<PartsHead>, JournalError> {
        if cut >= file.plain() {
            return Ok(None);
        }
        let (base, begin) = (cut.saturating_sub(beginning.len() as u64), file.plain());
        let folder = self.parts_folder();
        let bytes = NewParts::replacing(&folder, beginning, file, cut).map_err(JournalError::write(&folder))?;
        Ok(Some(PartsHead { base, rest: cut, begin, bytes }))
    }

    fn parts_folder(&self) -> PathBuf {
        self.dir.join(PartsHead::FOLDER)
    }
}
