//! Writes the journal: one writer at a time, one `write` for whole lines, and repairs after a writer that died.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Seek, SeekFrom, Write};
use std::time::Duration;

use super::hash_chain::{ChainMark, GENESIS, line_digest};
use super::journal_file::JournalFile;
use super::line_format::{self, MAX_LINE};
use super::new_journal::NewJournal;
use super::read::{self, Tail};
use super::recorded_run::RecordedRun;
use super::{Journal, JournalError, NewEvent, private_files, runs_by_tree, spool, state_cache};
use crate::event::{Damage, Event, EventKind, Origin};
use crate::file_lock;
use crate::journal::new_event::{event, event_after};
use crate::journal::state_cache::read_anchor;
use crate::plural::counted;

/// Each time the journal grows past a multiple of this, in bytes, the writer sees to the checkpoint: then a reader
/// never has more than about this to catch up, even where none can write.
const STRIDE: u64 = 64 * 1024;

/// The one who may write, as long as this lives.
pub(super) struct JournalWriter<'a> {
    journal: &'a Journal,
    lock: File,
    file: JournalFile,
    /// The position at which it ends.
    length: u64,
    /// Its last line.
    tail: Option<Tail>,
    /// The number of missing bytes; see [`ChainMark::holds`].
    gap: Option<u64>,
    /// The damage that was found, for people.
    pub(super) damage: Vec<String>,
}

/// Lines that will be written at once.
struct Batch {
    bytes: Vec<u8>,
    /// The place in the journal where it begins, in bytes.
    base: u64,
    last: Option<ChainMark>,
    runs: Vec<RecordedRun>,
}

impl Batch {
    fn prev(&self) -> &str {
        self.last.as_ref().map_or(GENESIS, |mark| &mark.digest)
    }

    fn push(&mut self, event: &Event, lost: Option<u64>) -> Result<(), JournalError> {
        let line = line_format::encode(event, self.prev(), lost)?;
        self.runs.extend(runs_by_tree::indexed(event, Some(self.end())));
        self.push_line(&line)
    }

    /// Returns the place in the journal where the next line begins, in bytes.
    fn end(&self) -> u64 {
        self.base + self.bytes.len() as u64
    }

    fn push_line(&mut self, line: &[u8]) -> Result<(), JournalError> {
        if line.len() > MAX_LINE {
            return Err(JournalError::TooLong { length: line.len() });
        }
        let start = self.end();
        self.bytes.extend_from_slice(line);
        let digest = line_digest(&line[..line.len() - 1]);
        self.last = Some(ChainMark { start, end: start + line.len() as u64, digest });
        Ok(())
    }
}

impl<'a> JournalWriter<'a> {
    /// Waits for its turn, at most `patience`; then reads the lines that the last writer left.
    pub(super) fn begin(journal: &'a Journal, patience: Duration) -> Result<Self, JournalError> {
        private_files::create_dir(&journal.dir).map_err(JournalError::write(&journal.dir))?;
        let lock_path = journal.lock_path();
        let lock =
            private_files::open(&lock_path, OpenOptions::new().read(true).write(true).create(true).truncate(false))
                .map_err(JournalError::write(&lock_path))?;
        if !file_lock::take(&lock, patience).map_err(JournalError::write(&lock_path))? {
            return Err(JournalError::Busy { path: lock_path });
        }
        let path = journal.journal_path();
        let file = private_files::open(&path, OpenOptions::new().read(true).append(true).create(true))
            .map_err(JournalError::write(&path))?;
        let mut file = JournalFile::of(file, &path).map_err(JournalError::read(&path))?;
        let length = file.end().map_err(JournalError::read(&path))?;
        let tail = read::tail(&mut file).map_err(JournalError::read(&path))?;
        let anchor = read_anchor(&lock_path);
        let known = anchor.clone().or_else(|| state_cache::mark(&journal.dir));
        let gap = state_cache::gap(&path, known.as_ref())?;
        if length == 0 {
            spool::make_key(&journal.dir);
        }
        let writer = Self { journal, lock, file, length, tail, gap, damage: Vec::new() };
        writer.index_rest(anchor.as_ref());
        Ok(writer)
    }

    /// Indexes the lines of a writer that died before it could. The index is a cache: if it cannot be written, nothing
    /// is lost. One that would have to be made anew is left to whoever needs it, because others wait for the lock.
    fn index_rest(&self, anchor: Option<&ChainMark>) {
        let dir = &self.journal.dir;
        let from = match anchor {
            _ if self.length == 0 => return drop(runs_by_tree::create(dir)),
            Some(anchor) if self.gap.is_none() => anchor.end,
            _ => return runs_by_tree::discard(dir),
        };
        if from >= self.length || !runs_by_tree::exists(dir) {
            return;
        }
        let Ok(Some(mut lines)) = self.journal.raw_lines(from) else { return };
        while let Ok(Some(line)) = lines.next_line() {
            if let Ok(decoded) = line.decode()
                && let Some(run) = runs_by_tree::indexed(&decoded.event, Some(line.start))
            {
                let _ = runs_by_tree::insert(dir, &run, true);
            }
        }
    }

    fn batch(&self) -> Batch {
        Batch {
            bytes: Vec::new(),
            base: self.length,
            last: self.tail.as_ref().map(|tail| tail.mark.clone()),
            runs: Vec::new(),
        }
    }

    /// Sets a torn last line aside, records missing lines, and moves spooled events into the journal.
    pub(super) fn settle(&mut self) -> Result<(), JournalError> {
        let mut batch = self.batch();
        let mut damage = Vec::new();
        if let Some(torn) = self.tail.as_ref().filter(|tail| !tail.terminated).map(|tail| tail.mark.clone()) {
            batch.bytes.push(b'\n');
            let size = torn.end - torn.start;
            // It may be complete but for its newline.
            if self.decoded(&torn).is_none() {
                damage.push(format!(
                    "the last line of {} is torn ({}): its writer died; everything before it is whole",
                    self.journal.journal_path().display(),
                    counted(size, "byte")
                ));
            }
        }
        let lost = self.gap.take();
        if let Some(bytes) = lost {
            let path = self.journal.journal_path();
            damage.push(match bytes {
                0 => format!("the end of {} is not what was written there", path.display()),
                _ => format!("the end of {} is missing ({})", path.display(), counted(bytes, "byte")),
            });
        }
        for (number, what) in damage.iter().enumerate() {
            let lost = lost.filter(|_| number + 1 == damage.len());
            batch.push(&damage_event(what.clone()), lost)?;
        }
        let pending = match &self.journal.root {
            Some(root) => spool::pending(root, self.journal),
            None => spool::SpooledEvents::default(),
        };
        for spooled in pending.files.iter().flat_map(|file| &file.lines) {
            match (line_format::decode(spooled), line_format::relink(spooled, batch.prev())) {
                (Ok(decoded), Ok(line)) => {
                    batch.runs.extend(runs_by_tree::indexed(&decoded.event, Some(batch.end())));
                    batch.push_line(&line)?;
                }
                (Err(reason), _) => {
                    let what = format!("a spooled event could not be read and was dropped: {reason}");
                    batch.push(&damage_event(what.clone()), None)?;
                    damage.push(what);
                }
                (_, Err(error)) => return Err(error.into()),
            }
        }
        self.commit(batch)?;
        pending.remove();
        self.damage.extend(damage);
        self.damage.extend(pending.refused);
        Ok(())
    }

    /// Returns the id of the last event that can be read.
    fn last_id(&mut self) -> Option<String> {
        let last = self.tail.as_ref()?.mark.clone();
        Some(self.decoded(&last)?.event.id)
    }

    fn decoded(&mut self, line: &ChainMark) -> Option<line_format::Decoded> {
        if line.end - line.start > MAX_LINE as u64 {
            return None;
        }
        let bytes = self.file.between(line.start, line.end).ok()?;
        line_format::decode(bytes.strip_suffix(b"\n").unwrap_or(&bytes)).ok()
    }

    /// Writes events, giving them their ids and times.
    pub(super) fn write(&mut self, new: Vec<NewEvent>) -> Result<Vec<Event>, JournalError> {
        let mut batch = self.batch();
        let mut last = self.last_id();
        let mut events = Vec::with_capacity(new.len());
        for new in new {
            let event = event_after(new, last.as_deref());
            batch.push(&event, None)?;
            last = Some(event.id.clone());
            events.push(event);
        }
        self.commit(batch)?;
        Ok(events)
    }

    /// Writes a batch at once. If it does not fit, the journal stays as it was.
    fn commit(&mut self, batch: Batch) -> Result<(), JournalError> {
        if batch.bytes.is_empty() {
            return Ok(());
        }
        let path = self.journal.journal_path();
        let outcome = loop {
            match self.file.append(&batch.bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(written) if written < batch.bytes.len() => break Err(ErrorKind::StorageFull.into()),
                outcome => break outcome,
            }
        };
        if let Err(error) = outcome {
            // A part that cannot be taken back is a torn line, which the next writer sets aside.
            let _ = self.file.cut_off(self.length);
            return Err(JournalError::write(&path)(error));
        }
        let before = self.length;
        self.length += batch.bytes.len() as u64;
        self.tail = batch.last.map(|mark| Tail { mark, terminated: true });
        // A torn line that proved whole got only its newline.
        if let Some(tail) = &mut self.tail
            && tail.mark.end == before
        {
            tail.mark.end = self.length;
        }
        let indexes = runs_by_tree::exists(&self.journal.dir);
        for run in batch.runs.iter().filter(|_| indexes) {
            if let Err(error) = runs_by_tree::insert(&self.journal.dir, run, false) {
                self.damage.push(format!("the index of runs could not be written: {error}"));
            }
        }
        self.write_anchor();
        if before / STRIDE != self.length / STRIDE {
            state_cache::refresh(self.journal);
        }
        Ok(())
    }

    /// Returns the position at which the journal ends, if there is nothing to settle.
    pub(super) fn settled_end(&self) -> Option<u64> {
        self.tail.as_ref().filter(|tail| self.gap.is_none() && tail.terminated).map(|tail| tail.mark.end)
    }

    /// Lets another file take the place of a settled journal. Its last line is about `new`.
    pub(super) fn replace(&mut self, mut made: NewJournal, new: NewEvent) -> Result<(), JournalError> {
        let mut batch = self.batch();
        let last = self.last_id();
        batch.push(&event_after(new, last.as_deref()), None)?;
        self.write_anchor();
        made.add(&batch.bytes)?;
        // Both give positions that the entries which stay do not have there.
        runs_by_tree::discard(&self.journal.dir);
        state_cache::discard(&self.journal.dir);
        made.take_place(self.journal)?;
        self.tail = batch.last.map(|mark| Tail { mark, terminated: true });
        self.write_anchor();
        Ok(())
    }

    /// Notes that an index was made of the whole journal, unless the next writer has something to settle.
    pub(super) fn note_indexed(&mut self) {
        if self.gap.is_none() && self.tail.as_ref().is_some_and(|tail| tail.terminated) {
            self.write_anchor();
        }
    }

    /// Notes that everything up to here is written and indexed. Without it, the next writer looks again.
    fn write_anchor(&mut self) {
        if let Some(tail) = &self.tail {
            let text = tail.mark.to_text();
            let _ = self
                .lock
                .seek(SeekFrom::Start(0))
                .and_then(|_| self.lock.write_all(text.as_bytes()))
                // Whatever else was there, it may not stay behind and make the next writer read everything.
                .and_then(|()| self.lock.set_len(text.len() as u64));
        }
    }
}

fn damage_event(what: String) -> Event {
    event(NewEvent { session: None, origin: Origin::observed(), kind: EventKind::Damage(Damage { what }) })
}
