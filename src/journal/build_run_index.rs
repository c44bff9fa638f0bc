//! Builds the index of runs from the whole journal, while others write it.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions};
use std::path::PathBuf;
use std::time::Duration;

use super::append::JournalWriter;
use super::hash_chain::ChainMark;
use super::{Journal, JournalError, private_files, runs_by_tree, state_cache};
use crate::file_lock;
use crate::oid::Oid;

/// The largest number of bytes that wait to be written: each file is then written a few times, and not once for each run.
const MAX_WAITING: usize = 16 * 1024 * 1024;

/// The longest wait for the writers' lock, once the index is there.
const TURN_TIMEOUT: Duration = Duration::from_secs(2);

/// An index that is not in use yet.
pub(super) struct NewIndex {
    folder: PathBuf,
    /// The lines that are not written yet.
    waiting: HashMap<Oid, Vec<u8>>,
    /// Their length, in bytes.
    bytes: usize,
    /// The last line that was read.
    read: Option<ChainMark>,
}

impl Journal {
    /// Builds the index of runs. The writers' lock is held only for the lines that were written meanwhile. Returns
    /// `false` if another process is building it, or if the journal was replaced.
    pub(super) fn build_run_index(&self) -> Result<bool, JournalError> {
        if let Some(_lock) = self.lock_run_index()? { NewIndex::of(self)?.take_place(self) } else { Ok(false) }
    }

    /// Takes the lock of the index of runs; `None` if another process has it.
    pub(super) fn lock_run_index(&self) -> Result<Option<File>, JournalError> {
        let path = self.dir.join("run-index.lock");
        let lock = private_files::open(&path, OpenOptions::new().read(true).write(true).create(true).truncate(false));
        let lock = lock.map_err(JournalError::write(&path))?;
        let taken = file_lock::take(&lock, Duration::ZERO).map_err(JournalError::write(&path))?;
        Ok(taken.then_some(lock))
    }
}

impl NewIndex {
    /// Makes the index of the present journal, whatever a process that was killed has left.
    pub(super) fn of(journal: &Journal) -> Result<Self, JournalError> {
        let folder = journal.dir.join("run-index.new");
        // Earlier versions had other indexes.
        let earlier = ["runs", "run-index"].map(|name| journal.dir.join(name));
        for left in [&folder, &journal.dir.join("run-index.old")].into_iter().chain(&earlier) {
            private_files::found(fs::remove_dir_all(left)).map_err(JournalError::write(left))?;
        }
        private_files::create_dir(&folder).map_err(JournalError::write(&folder))?;
        let mut new = Self { folder, waiting: HashMap::new(), bytes: 0, read: None };
        new.read(journal, false)?;
        Ok(new)
    }

    /// Adds what was written meanwhile, and becomes the index. Returns `false` if the journal was replaced.
    pub(super) fn take_place(mut self, journal: &Journal) -> Result<bool, JournalError> {
        let mut writer = JournalWriter::begin(journal, TURN_TIMEOUT)?;
        if state_cache::gap(&journal.journal_path(), self.read.as_ref())?.is_some() {
            return Ok(false);
        }
        self.read(journal, true)?;
        self.write()?;
        let folder = runs_by_tree::folder(&journal.dir);
        runs_by_tree::discard(&journal.dir);
        fs::rename(&self.folder, &folder).map_err(JournalError::write(&folder))?;
        writer.note_indexed();
        Ok(true)
    }

    /// Reads the lines after the last one; a line without its end only if this process is `alone`.
    fn read(&mut self, journal: &Journal, alone: bool) -> Result<(), JournalError> {
        let path = journal.journal_path();
        let from = self.read.as_ref().map_or(0, |mark| mark.end);
        let Some(mut lines) = journal.raw_lines(from)? else { return Ok(()) };
        while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
            if !line.terminated && !alone {
                break;
            }
            let (start, end) = (line.start, line.end);
            if let Ok(decoded) = line.decode()
                && let Some(run) = runs_by_tree::indexed(&decoded.event, Some(start))
            {
                let text = runs_by_tree::line(&run).map_err(JournalError::write(&self.folder))?;
                self.bytes += text.len();
                self.waiting.entry(run.run.start.tree.clone()).or_default().extend(text);
            }
            self.read = Some(ChainMark { start, end, digest: line.digest() });
            if self.bytes > MAX_WAITING {
                self.write()?;
            }
        }
        Ok(())
    }

    fn write(&mut self) -> Result<(), JournalError> {
        for (tree, lines) in self.waiting.drain() {
            runs_by_tree::add(&self.folder, &tree, lines).map_err(JournalError::write(&self.folder))?;
        }
        self.bytes = 0;
        Ok(())
    }
}
