//! Removes old entries that prove nothing any more.
//!
//! The file is replaced by one that begins with a head ([`JournalHead`]), then holds the old entries that stay, and then
//! the rest, whose bytes and positions are the same. The entries that stay keep their text and get new links of the chain.
//! The head holds the digest of the last of them, and the last line of the file that of the head: a head that no later
//! line names is a fault like any cut. Writers wait only while the file is replaced.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::time::Duration;

use jiff::Timestamp;
use serde::Deserialize;

use super::append::JournalWriter;
use super::build_run_index::NewIndex;
use super::hash_chain::{Chain, ChainMark, GENESIS, line_digest};
use super::journal_file::JournalFile;
use super::new_event::event;
use super::new_journal::NewJournal;
use super::old_entries::OldEntries;
use super::{Journal, JournalError, JournalState, NewEvent, line_format, state_cache};
use crate::event::{EventKind, JournalHead, Origin, Pruned};
use crate::oid::Oid;

/// The largest part that is looked at for the first time at once, in bytes.
pub(super) const MAX_AT_ONCE: u64 = 64 * 1024 * 1024;
/// The longest wait for the writers' lock.
pub(super) const TURN_TIMEOUT: Duration = Duration::from_secs(2);

/// The entries that stay in any case.
#[derive(Clone, Copy, Debug)]
pub struct JournalRetention<'a> {
    /// Entries of this time and later ones stay.
    pub since: Timestamp,
    /// The trees and commits whose runs and verdicts stay.
    pub live: &'a HashSet<Oid>,
}

/// The part of a journal from before some time.
struct OldPart<'s> {
    entries: OldEntries<'s>,
    /// The chain at its end.
    chain: Chain,
    cut: u64,
    /// The failures that did not block and whose verdicts went earlier.
    would_block: BTreeMap<String, u64>,
}

/// The part after it, as far as it was read.
#[derive(Default)]
struct LaterPart {
    sessions: HashSet<String>,
    read: Option<ChainMark>,
}

/// The session of a line.
#[derive(Deserialize)]
struct LineSession {
    session: Option<String>,
}

impl Journal {
    /// Returns `true` if at least `size` bytes that were never looked at are from before `since`. It reads two lines.
    pub fn has_old(&self, since: Timestamp, size: u64) -> Result<bool, JournalError> {
        let path = self.journal_path();
        let Some(mut lines) = self.raw_lines(self.rest()? + size)? else { return Ok(false) };
        // The first may be the end of one.
        lines.next_line().map_err(JournalError::read(&path))?;
        let next = lines.next_line().map_err(JournalError::read(&path))?;
        Ok(next.and_then(|line| line.decode().ok()).is_some_and(|line| line.event.at < since))
    }

    /// Returns the size of the journal on disk, in bytes.
    pub fn size(&self) -> Result<u64, JournalError> {
        self.file()?.map_or(Ok(0), |file| file.size()).map_err(JournalError::read(&self.journal_path()))
    }

    /// Returns the position from which on no entry was looked at.
    fn rest(&self) -> Result<u64, JournalError> {
        Ok(self.file()?.map_or(0, |file| file.rest()))
    }

    /// Removes old entries that prove nothing any more, and returns their number. It is 0 if the journal has faults, which
    /// are for a person to look at first, and if other processes are at work on it.
    pub fn prune(&self, retention: JournalRetention<'_>) -> Result<u64, JournalError> {
        // An index that is being made has the positions of the present file.
        let Some(_lock) = self.lock_run_index()? else { return Ok(0) };
        let state = self.state()?;
        if !state.integrity().is_intact() {
            return Ok(0);
        }
        let gone = self.old_part(&state, retention)?.map_or(Ok(0), |old| self.replace_old(&old));
        self.remove_stale_files()?;
        if !matches!(gone, Ok(1..)) {
            return gone;
        }
        // Otherwise a hook would have to build both again.
        let _ = NewIndex::of(self)?.take_place(self);
        let _ = self.state();
        gone
    }

    /// Reads the old part; never the last line, at which other writers go on.
    fn old_part<'s>(
        &self,
        state: &'s JournalState,
        retention: JournalRetention<'s>,
    ) -> Result<Option<OldPart<'s>>, JournalError> {
        let path = self.journal_path();
        let until = self.rest()?.saturating_add(MAX_AT_ONCE);
        let last = state.until.as_ref().map_or(0, |mark| mark.start);
        let Some(mut lines) = self.raw_lines(0)? else { return Ok(None) };
        let (entries, chain) = (OldEntries::new(state, retention.live), Chain::default());
        let mut old = OldPart { entries, chain, cut: 0, would_block: BTreeMap::new() };
        while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
            let decoded = line.decode().ok();
            let is_young = decoded.as_ref().is_some_and(|line| line.event.at >= retention.since);
            if is_young || line.start >= last || line.start > until {
                break;
            }
            if let (0, Some(EventKind::Head(head))) = (old.entries.len(), decoded.as_ref().map(|line| &line.event.kind))
            {
                old.would_block.clone_from(&head.would_block);
            }
            if decoded.as_ref().is_some_and(|line| line.prev != old.chain.last) {
                old.entries.forget_last();
            }
            let is_whole = old.chain.follow(decoded.as_ref(), line.digest());
            let event = decoded.as_ref().map(|line| &line.event).filter(|_| is_whole);
            old.entries.add(event, (line.start, line.end));
            old.cut = line.end;
        }
        Ok(Some(old).filter(|old| old.cut > 0))
    }

    /// Makes the new file, and lets it take the place of the journal.
    fn replace_old(&self, old: &OldPart<'_>) -> Result<u64, JournalError> {
        let path = self.journal_path();
        let mut later = LaterPart::default();
        later.follow(self, old.cut)?;
        let Some(mut file) = self.file()? else { return Ok(0) };
        // What is missing cannot be taken over.
        if !file.parts().map_err(JournalError::read(&path))?.are_complete() {
            return Ok(0);
        }
        let (stays, lost) = old.entries.staying(&later.sessions);
        let begin = old.beginning(&mut file, &stays, lost).map_err(JournalError::read(&path))?;
        let (gone, length) = (old.entries.len() - stays.len() as u64, begin.bytes.len() as u64);
        let Some(bytes) = (old.cut - file.base()).checked_sub(length).filter(|bytes| *bytes > 0 && gone > 0) else {
            return Ok(0);
        };
        let Some(mark) = later.read.clone() else { return Ok(0) };
        let parts = self.parts_after(&mut file, old.cut, &begin.bytes)?;
        let line = parts.map_or(begin.bytes, |parts| parts.to_line());
        let mut new = NewJournal::begin(self, &line, old.cut.max(file.plain()))?;
        new.copy(&mut file, mark.end)?;
        let mut writer = match JournalWriter::begin(self, TURN_TIMEOUT) {
            Err(JournalError::Busy { .. }) => return Ok(0),
            writer => writer?,
        };
        let known = later.sessions.clone();
        let Some(end) = writer.settled_end() else { return Ok(0) };
        if state_cache::gap(&path, Some(&mark))?.is_some() {
            return Ok(0);
        }
        later.follow(self, mark.end)?;
        // A session that went on meanwhile may need what would go.
        if later.sessions != known {
            return Ok(0);
        }
        new.copy(&mut file, end)?;
        let kind = EventKind::Pruned(Pruned { head: begin.head, entries: gone, bytes });
        writer.replace(new, NewEvent { session: None, origin: Origin::observed(), kind })?;
        Ok(gone)
    }
}

/// The beginning of the new file.
struct NewBeginning {
    /// The digest of the head.
    head: String,
    bytes: Vec<u8>,
}

impl OldPart<'_> {
    /// Returns the head and the entries that stay.
    fn beginning(
        &self,
        file: &mut JournalFile,
        stays: &[(u64, u64)],
        mut would_block: BTreeMap<String, u64>,
    ) -> io::Result<NewBeginning> {
        let (mut carried, mut ends) = (Vec::new(), String::new());
        for (start, end) in stays {
            let line = file.between(*start, *end)?;
            let prev = if ends.is_empty() { GENESIS } else { &ends };
            let line = line_format::relink(&line, prev)?;
            ends = line_digest(&line[..line.len() - 1]);
            carried.extend(line);
        }
        for (gate, count) in &self.would_block {
            *would_block.entry(gate.clone()).or_default() += count;
        }
        let counts = (stays.len() as u64, carried.len() as u64);
        let head = JournalHead { carried: counts, ends, would_block, ..self.chain.to_head(self.cut) };
        let kind = EventKind::Head(Box::new(head));
        let head = event(NewEvent { session: None, origin: Origin::observed(), kind });
        let mut bytes = line_format::encode(&head, GENESIS, None)?;
        let head = line_digest(&bytes[..bytes.len() - 1]);
        bytes.extend(carried);
        Ok(NewBeginning { head, bytes })
    }
}

impl LaterPart {
    /// Reads the whole lines from a position on.
    fn follow(&mut self, journal: &Journal, from: u64) -> Result<(), JournalError> {
        let path = journal.journal_path();
        let Some(mut lines) = journal.raw_lines(from)? else { return Ok(()) };
        while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
            if !line.terminated {
                break;
            }
            let session = line.bytes.as_ref().ok().and_then(|bytes| serde_json::from_slice(bytes).ok());
            self.sessions.extend(session.and_then(|line: LineSession| line.session));
            self.read = Some(ChainMark { start: line.start, end: line.end, digest: line.digest() });
        }
        Ok(())
    }
}
