//! The state at some place of the journal, so that only the rest is read.
//!
//! It is a cache. If it is missing, unreadable, of another version, or about another journal, the whole journal is
//! read.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::hash_chain::{ChainMark, Holds};
use super::journal_file::JournalFile;
use super::read::RawLines;
use super::state::JournalState;
use super::{Journal, JournalError, private_files};

/// The version of [`JournalState`]'s form. It changes whenever the same lines would add up to something else.
const FORMAT: u32 = 9;
/// The number of bytes after the checkpoint from which a new checkpoint is written.
const DUE_BYTES: u64 = 96 * 1024;
const DUE_LINES: u64 = 128;

#[derive(Deserialize)]
struct Checkpoint {
    format: u32,
    /// The position at which the file began: the entries before its rest have other positions in another file.
    base: u64,
    mark: ChainMark,
    state: JournalState,
}

#[derive(Serialize)]
struct CheckpointRef<'a> {
    format: u32,
    base: u64,
    mark: &'a ChainMark,
    state: &'a JournalState,
}

/// The state of the whole lines of a journal.
pub(super) struct Loaded {
    pub(super) state: JournalState,
    /// The number of bytes that are missing at the end.
    pub(super) gap: Option<u64>,
    base: u64,
    /// The number of bytes that were read after the checkpoint.
    rest_bytes: u64,
    rest_lines: u64,
}

fn path(dir: &Path) -> PathBuf {
    dir.join("state.json")
}

fn read(dir: &Path) -> Option<Checkpoint> {
    let bytes = private_files::read(&path(dir)).ok()?;
    serde_json::from_slice(&bytes).ok().filter(|checkpoint: &Checkpoint| checkpoint.format == FORMAT)
}

/// Returns the place that the checkpoint is about.
pub(super) fn mark(dir: &Path) -> Option<ChainMark> {
    read(dir).map(|checkpoint| checkpoint.mark)
}

/// Returns the number of bytes missing from a journal in which `known` was once seen.
pub(super) fn gap(journal: &Path, known: Option<&ChainMark>) -> Result<Option<u64>, JournalError> {
    let Some(known) = known else { return Ok(None) };
    match JournalFile::open(journal).map_err(JournalError::read(journal))? {
        None => Ok(Some(known.end)),
        Some(mut file) => holds(known, &mut file, journal).map(Holds::lost),
    }
}

fn holds(mark: &ChainMark, file: &mut JournalFile, path: &Path) -> Result<Holds, JournalError> {
    mark.holds(file).map_err(JournalError::read(path))
}

/// Reads the checkpoint and the lines after it.
pub(super) fn load(journal: &Journal) -> Result<Loaded, JournalError> {
    // The anchor first: whatever it is about was in the journal when it was written.
    let anchor = read_anchor(&journal.lock_path());
    let checkpoint = read(&journal.dir);
    let path = journal.journal_path();
    let known = anchor.as_ref().or(checkpoint.as_ref().map(|checkpoint| &checkpoint.mark));
    let gap = gap(&path, known)?;
    let mut loaded = Loaded { state: JournalState::default(), gap, base: 0, rest_bytes: 0, rest_lines: 0 };
    let Some(mut file) = journal.file()? else { return Ok(loaded) };
    let checkpoint = checkpoint.filter(|checkpoint| checkpoint.base == file.base());
    let checkpoint = match checkpoint {
        Some(checkpoint) if holds(&checkpoint.mark, &mut file, &path)? == Holds::Yes => Some(checkpoint),
        _ => None,
    };
    if let Some(checkpoint) = checkpoint {
        file.seek_to(checkpoint.mark.end);
        loaded.state = checkpoint.state;
        loaded.state.until = Some(checkpoint.mark);
    } else if let Some(whole) = journal.file_at(0)? {
        file = whole;
    }
    loaded.base = file.base();
    let mut lines = RawLines::from(file).map_err(JournalError::read(&path))?;
    while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
        // A line without its end may still be growing; the next writer sees to it.
        if !line.terminated {
            break;
        }
        let digest = line.digest();
        loaded.state.follow(line.decode().ok().as_ref(), digest.clone(), line.start);
        loaded.rest_bytes += line.end - line.start;
        loaded.rest_lines += 1;
        loaded.state.until = Some(ChainMark { start: line.start, end: line.end, digest });
    }
    Ok(loaded)
}

/// Returns `true` if `state` equals the state that reading the journal now would give.
pub(super) fn is_current(journal: &Journal, state: &JournalState) -> Result<bool, JournalError> {
    let anchor = read_anchor(&journal.lock_path());
    let path = journal.journal_path();
    let (Some(until), Some(mut file)) = (&state.until, journal.file()?) else { return Ok(false) };
    let end = file.end().map_err(JournalError::read(&path))?;
    // Without an anchor, or with one elsewhere, there is more to find out.
    Ok(anchor.as_ref() == Some(until) && end == until.end && holds(until, &mut file, &path)? == Holds::Yes)
}

impl Loaded {
    /// Writes a new checkpoint when much was read beyond the old one and no writer is at work. A failure costs
    /// time at the next reading and nothing else.
    pub(super) fn store_if_due(&self, journal: &Journal) {
        if self.rest_bytes <= DUE_BYTES && self.rest_lines <= DUE_LINES {
            return;
        }
        let Ok(lock) = private_files::reader(&journal.lock_path()) else { return };
        // Under the lock, what was read can no longer be taken back by a writer that ran out of room.
        if lock.try_lock().is_ok() && matches!(gap(&journal.journal_path(), self.state.until.as_ref()), Ok(None)) {
            self.store(journal);
        }
    }

    fn store(&self, journal: &Journal) {
        let Some(mark) = &self.state.until else { return };
        let Ok(bytes) =
            serde_json::to_vec(&CheckpointRef { format: FORMAT, base: self.base, mark, state: &self.state })
        else {
            return;
        };
        let temporary = journal.dir.join("state.json.tmp");
        let written = private_files::open(&temporary, OpenOptions::new().write(true).create(true).truncate(true))
            .and_then(|mut file| file.write_all(&bytes));
        match written {
            Ok(()) => drop(fs::rename(&temporary, path(&journal.dir))),
            // Half a checkpoint on a full disk only takes room.
            Err(_) => drop(fs::remove_file(&temporary)),
        }
    }
}

/// Brings the checkpoint up to date. The caller holds the lock.
pub(super) fn refresh(journal: &Journal) {
    if let Ok(loaded) = load(journal) {
        loaded.store(journal);
    }
}

/// Removes the checkpoint. The caller holds the lock.
pub(super) fn discard(dir: &Path) {
    let _ = fs::remove_file(path(dir));
}

/// Returns the last place that a writer left intact.
pub(super) fn read_anchor(lock_path: &Path) -> Option<ChainMark> {
    ChainMark::from_text(&String::from_utf8(private_files::read(lock_path).ok()?).ok()?)
}
