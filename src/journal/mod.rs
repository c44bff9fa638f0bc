//! The journal: JSON lines under `<git common dir>/gate`, shared by all worktrees.
//!
//! | file | content |
//! | --- | --- |
//! | `journal.jsonl` | the events, one line each ([`line_format`]), chained ([`hash_chain`]); appended to, and [pruned](prune) |
//! | `journal.parts/…` | the old part of the journal, [compressed](compressed_parts) |
//! | `journal.lock` | the lock of writers, and the place up to which the journal is known to be intact |
//! | `state.json` | the sum of the lines up to some place: a cache, see [`state_cache`] |
//! | `run-index/ab/cdef….jsonl` | the places of the runs on one tree: a cache, see [`runs_by_tree`] |
//! | `tests/names.jsonl`, `tests/runs.jsonl` | the tests of every run by name, see [`TestLedger`] |
//! | `token` | the key that signs the spool, see [`spool`] |
//!
//! A writer holds the lock for one `write` of whole lines. Nothing is synced to the disk for an event: a power cut
//! may lose the last ones, a crash of the process loses none. Readers take no lock and see whole lines only.
//! A line that cannot be read stays where it is; it is reported once, and nothing else is lost.

mod append;
mod attempts;
mod build_run_index;
mod compact_runs;
mod compress;
mod compressed_parts;
mod counted_sessions;
mod hash_chain;
mod journal_error;
mod journal_file;
mod kept_runs;
mod latest_runs;
mod line_format;
mod new_event;
mod new_journal;
mod new_parts;
mod old_entries;
mod open_failures;
mod private_files;
mod prune;
mod read;
mod recorded_run;
mod rescue_state;
mod result_deltas;
mod runs_by_tree;
mod session_events;
mod spool;
mod state;
mod state_cache;
mod test_ledger;

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use self::attempts::SessionState;
pub use self::counted_sessions::MAX_SESSIONS;
pub use self::hash_chain::Integrity;
pub use self::journal_error::JournalError;
pub use self::latest_runs::{MAX_KEYS, MAX_PAIRS, MAX_RUNS, MAX_RUNS_OF_PAIR};
#[cfg(test)]
pub(crate) use self::line_format::StoredLine;
pub use self::line_format::{MAX_LINE, data};
pub use self::new_event::{NewEvent, is_recorded_before, recorded_second};
pub use self::open_failures::{MAX_OPEN_FAILURES, NamedFailures, OpenFailure};
pub use self::prune::JournalRetention;
pub use self::read::JournalLine;
pub use self::recorded_run::{MAX_PATHS, RecordedRun};
pub use self::rescue_state::RescueState;
pub use self::session_events::{MAX_STORY, SessionEvents};
pub use self::state::{JournalState, MAX_UNFINISHED, MAX_WAIVERS, MAX_WORKS};
pub use self::test_ledger::{LatestTests, LedgerRun, TestHistory, TestLedger, TestMoment};

use self::append::JournalWriter;
use self::hash_chain::Chain;
use self::journal_file::JournalFile;
use self::read::{JournalLines, RawLines};
use crate::event::Event;

/// The time that a writer waits for the others before it writes to the spool.
const LOCK_TIMEOUT: Duration = Duration::from_secs(10);
/// The time that a reader waits for the lock before it leaves repairs to the next writer.
const REPAIR_TIMEOUT: Duration = Duration::from_millis(50);

/// The result of one [`Journal::append`].
#[derive(Clone, Debug, PartialEq)]
pub struct Appended {
    /// The event with its id and time.
    pub event: Event,
    /// It lies in the spool of the working tree, since the journal could not be written.
    pub spooled: bool,
    /// The loss or damage that was found on this occasion, as sentences for people. Damage in the journal is reported
    /// once, and a file of the spool that is refused is reported each time until it is removed.
    pub damage: Vec<String>,
}

/// The result of one [`Journal::append_with`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AppendResult {
    /// The events with their ids and times.
    pub events: Vec<Event>,
    /// See [`Appended::spooled`].
    pub spooled: bool,
    /// See [`Appended::damage`].
    pub damage: Vec<String>,
}

/// The journal of one repository.
#[derive(Clone, Debug)]
pub struct Journal {
    dir: PathBuf,
    root: Option<PathBuf>,
}

impl Journal {
    /// Opens the journal in `gate_dir` (`<git common dir>/gate`), its spool in the working tree `root` (`None`: a bare
    /// repository has none). Creates nothing.
    pub fn open(gate_dir: &Path, root: Option<&Path>) -> Self {
        Self { dir: gate_dir.to_owned(), root: root.map(Path::to_owned) }
    }

    /// Checks that an event could be recorded in the journal itself now; records nothing.
    pub fn probe(&self) -> Result<(), JournalError> {
        JournalWriter::begin(self, LOCK_TIMEOUT).map(drop)
    }

    /// Records one event.
    pub fn append(&self, new: NewEvent) -> Result<Appended, JournalError> {
        let ((), recorded) = self.append_with_state(|_| Ok(Cow::Owned(JournalState::default())), |_| (vec![new], ()));
        let AppendResult { mut events, spooled, damage } = recorded?;
        // One event was given, so one was recorded.
        events
            .pop()
            .map(|event| Appended { event, spooled, damage })
            .ok_or(JournalError::Encode(serde::ser::Error::custom("it was not written")))
    }

    /// Decides what to record while no other writer can: the closure sees the present state. Its own answer is returned
    /// even if nothing could be recorded; if the state cannot be read either, it sees an empty one. If the journal is
    /// unavailable, it sees the readable part, unprotected against others, and the spool is used.
    pub fn append_with<R>(
        &self,
        decide: impl FnOnce(&JournalState) -> (Vec<NewEvent>, R),
    ) -> (R, Result<AppendResult, JournalError>) {
        self.append_with_state(|journal| journal.state_unlocked().map(Cow::Owned), decide)
    }

    /// Appends like [`Journal::append_with`] for a caller that has read the state already: if it is still true, which
    /// is nearly always, it is not read again.
    pub fn append_after<R>(
        &self,
        known: &JournalState,
        decide: impl FnOnce(&JournalState) -> (Vec<NewEvent>, R),
    ) -> (R, Result<AppendResult, JournalError>) {
        self.append_with_state(|journal| journal.state_after(known), decide)
    }

    fn append_with_state<'s, R>(
        &self,
        read: impl Fn(&Self) -> Result<Cow<'s, JournalState>, JournalError>,
        decide: impl FnOnce(&JournalState) -> (Vec<NewEvent>, R),
    ) -> (R, Result<AppendResult, JournalError>) {
        let mut writer = JournalWriter::begin(self, LOCK_TIMEOUT);
        if let Ok(open) = &mut writer
            && let Err(error) = open.settle()
        {
            writer = Err(error);
        }
        let state = read(self).unwrap_or_default();
        let (new, answer) = decide(&state);
        let recorded = match writer {
            Ok(mut writer) => writer.write(new).map(|events| AppendResult {
                events,
                spooled: false,
                damage: std::mem::take(&mut writer.damage),
            }),
            Err(error) if error.is_refused() => self.spool(new, error),
            Err(error) => Err(error),
        };
        (answer, recorded)
    }

    fn spool(&self, new: Vec<NewEvent>, error: JournalError) -> Result<AppendResult, JournalError> {
        let Some(root) = &self.root else {
            let spool = "a bare repository has no working tree to keep it in".to_owned();
            return Err(JournalError::Unavailable { journal: Box::new(error), spool });
        };
        match spool::write(root, self, new) {
            Ok(events) => Ok(AppendResult { events, spooled: true, damage: Vec::new() }),
            Err(spool) => Err(JournalError::Unavailable { journal: Box::new(error), spool: spool.to_string() }),
        }
    }

    /// Returns the present state. It reads the part after the checkpoint; if it can write, it moves spooled events into
    /// the journal and renews the checkpoint.
    pub fn state(&self) -> Result<JournalState, JournalError> {
        let (loaded, spooled) = self.with_spool(|| state_cache::load(self))?;
        if loaded.gap.is_none() && spooled.files.is_empty() {
            loaded.store_if_due(self);
            return Ok(loaded.state);
        }
        if let Ok(mut writer) = JournalWriter::begin(self, REPAIR_TIMEOUT) {
            // Where this fails, what is pending is shown without being taken up.
            let _ = writer.settle();
        }
        self.state_unlocked()
    }

    fn state_after<'s>(&self, known: &'s JournalState) -> Result<Cow<'s, JournalState>, JournalError> {
        let (current, spooled) = self.with_spool(|| state_cache::is_current(self, known))?;
        if current && spooled.files.is_empty() {
            return Ok(Cow::Borrowed(known));
        }
        self.state_unlocked().map(Cow::Owned)
    }

    /// Returns the state, with the events that could not be written yet; writes nothing.
    fn state_unlocked(&self) -> Result<JournalState, JournalError> {
        let (mut loaded, spooled) = self.with_spool(|| state_cache::load(self))?;
        if loaded.gap.is_some() {
            loaded.state.chain.note_cut();
            loaded.state.until = None;
        }
        for line in spooled.lines() {
            if let JournalLine::Event(event) = line {
                loaded.state.apply(&event);
            }
        }
        Ok(loaded.state)
    }

    /// Returns every event in order, then the spooled ones. A line that cannot be read is an item of its own.
    pub fn events(&self) -> Result<impl Iterator<Item = JournalLine>, JournalError> {
        let (raw, spooled) = self.with_spool(|| self.raw_lines(0))?;
        Ok(JournalLines { raw, number: 0 }.chain(spooled.lines()))
    }

    /// Returns the last `count` events, or all events if there are no more or one of these cannot be read, and the spooled
    /// ones. The second value is `true` if there are earlier events.
    pub fn last_events(&self, count: usize) -> Result<(Vec<JournalLine>, bool), JournalError> {
        let (from, spooled) = self.with_spool(|| self.start_of_last(count))?;
        let lines: Vec<JournalLine> = JournalLines { raw: self.raw_lines(from)?, number: 0 }.collect();
        // The number of a line, by which damage is named, is known only from the beginning.
        if from > 0 && lines.iter().any(|line| matches!(line, JournalLine::Damaged { .. })) {
            return Ok((self.events()?.collect(), false));
        }
        Ok((lines.into_iter().chain(spooled.lines()).collect(), from > 0))
    }

    fn start_of_last(&self, count: usize) -> Result<u64, JournalError> {
        let path = self.journal_path();
        self.file_at(0)?
            .map_or(Ok(0), |mut file| read::start_of_last(&mut file, count))
            .map_err(JournalError::read(&path))
    }

    /// Returns the id of the newest event that can be read; `None` if the journal is empty.
    pub fn newest_id(&self) -> Result<Option<String>, JournalError> {
        let path = self.journal_path();
        let Some(mut file) = self.file()? else { return Ok(None) };
        let tail = read::tail(&mut file).map_err(JournalError::read(&path))?;
        let last = tail.map_or(0, |tail| tail.mark.start);
        // The last line may be damaged.
        if let Some(id) = self.last_id_from(last)? { Ok(Some(id)) } else { self.last_id_from(0) }
    }

    fn last_id_from(&self, offset: u64) -> Result<Option<String>, JournalError> {
        let path = self.journal_path();
        let mut last = None;
        if let Some(mut lines) = self.raw_lines(offset)? {
            while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
                last = line.decode().ok().map(|decoded| decoded.event.id).or(last);
            }
        }
        Ok(last)
    }

    /// Follows the whole chain.
    pub fn verify(&self) -> Result<Integrity, JournalError> {
        let path = self.journal_path();
        let anchor = state_cache::read_anchor(&self.lock_path());
        let mut chain = Chain::default();
        if let Some(mut lines) = self.raw_lines(0)? {
            while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
                chain.follow(line.decode().ok().as_ref(), line.digest());
            }
        }
        if state_cache::gap(&path, anchor.as_ref())?.is_some() {
            chain.note_cut();
        }
        Ok(chain.integrity())
    }

    /// Returns the result of `read`, and the events that wait in the spool. While another process moves events out of
    /// the spool, an event could be in neither or in both; then it reads again.
    fn with_spool<T>(
        &self,
        read: impl Fn() -> Result<T, JournalError>,
    ) -> Result<(T, spool::SpooledEvents), JournalError> {
        let Some(root) = &self.root else { return Ok((read()?, spool::SpooledEvents::default())) };
        let mut before = spool::pending(root, self);
        for _ in 0..3 {
            let value = read()?;
            let after = spool::pending(root, self);
            if before.files == after.files {
                return Ok((value, after));
            }
            before = after;
        }
        // Somebody is taking it up all the time: then it will be in the journal.
        Ok((read()?, spool::SpooledEvents::default()))
    }

    /// Returns the position at which the journal ends; 0 if there is none.
    fn end(&self) -> Result<u64, JournalError> {
        self.file()?.map_or(Ok(0), |file| file.end()).map_err(JournalError::read(&self.journal_path()))
    }

    /// Returns the lines from a position on, up to the present end; `None` if there is no journal.
    fn raw_lines(&self, offset: u64) -> Result<Option<RawLines>, JournalError> {
        self.file_at(offset)?.map(RawLines::from).transpose().map_err(JournalError::read(&self.journal_path()))
    }

    fn file(&self) -> Result<Option<JournalFile>, JournalError> {
        let path = self.journal_path();
        JournalFile::open(&path).map_err(JournalError::read(&path))
    }

    fn file_at(&self, offset: u64) -> Result<Option<JournalFile>, JournalError> {
        let path = self.journal_path();
        JournalFile::open_at(&path, offset).map_err(JournalError::read(&path))
    }

    fn journal_path(&self) -> PathBuf {
        self.dir.join("journal.jsonl")
    }

    fn lock_path(&self) -> PathBuf {
        self.dir.join("journal.lock")
    }
}

#[cfg(test)]
mod tests;
