//! Reads the journal: forward line by line, and backward to the last line.

use std::io::{self, BufRead, BufReader, Read};

use super::hash_chain::{self, ChainMark};
use super::journal_file::JournalFile;
use super::line_format::{self, MAX_LINE};
use crate::event::{Event, EventKind};

/// One line of the journal.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::large_enum_variant, reason = "nearly every line is an event")]
pub enum JournalLine {
    /// It could be read.
    Event(Event),
    /// It could not, and is left as it is.
    Damaged {
        /// The number of the line, counted from 1; 0 for a spooled one.
        number: u64,
        /// The problem with the line.
        reason: String,
    },
}

/// A line as it lies in the file.
pub(super) struct RawLine<'a> {
    /// The place where it begins, in bytes.
    pub(super) start: u64,
    /// The place where it ends, including its newline.
    pub(super) end: u64,
    /// Its bytes, without the newline; the digest alone if it is too long to be a line of the journal.
    pub(super) bytes: Result<&'a [u8], String>,
    /// `true` if it has its newline.
    pub(super) terminated: bool,
}

impl RawLine<'_> {
    /// Returns the line as an event, or its problem.
    pub(super) fn decode(&self) -> Result<line_format::Decoded, String> {
        match self.bytes {
            Ok(bytes @ [b' ', ..]) if bytes.trim_ascii().is_empty() => Err("its compressed part is damaged".to_owned()),
            Ok(bytes) => line_format::decode(bytes),
            Err(_) => Err(format!("longer than {MAX_LINE} bytes")),
        }
    }

    /// Returns the digest of its bytes.
    pub(super) fn digest(&self) -> String {
        match &self.bytes {
            Ok(bytes) => hash_chain::line_digest(bytes),
            Err(digest) => digest.clone(),
        }
    }
}

/// Reads lines forward. A line longer than [`MAX_LINE`] is skipped in bounded memory.
pub(super) struct RawLines {
    reader: BufReader<io::Take<JournalFile>>,
    offset: u64,
    buffer: Vec<u8>,
}

impl RawLines {
    /// Returns the lines of a journal from its present position on, up to its present end.
    pub(super) fn from(file: JournalFile) -> io::Result<Self> {
        let (offset, end) = (file.position(), file.end()?);
        let reader = BufReader::with_capacity(64 * 1024, file.take(end.saturating_sub(offset)));
        Ok(Self { reader, offset, buffer: Vec::new() })
    }

    /// Returns the next line; `None` at the end.
    pub(super) fn next_line(&mut self) -> io::Result<Option<RawLine<'_>>> {
        self.buffer.clear();
        let start = self.offset;
        let read = self.reader.by_ref().take(MAX_LINE as u64 + 1).read_until(b'\n', &mut self.buffer)?;
        if read == 0 {
            return Ok(None);
        }
        self.offset += read as u64;
        let mut terminated = self.buffer.pop_if(|byte| *byte == b'\n').is_some();
        if !terminated && read > MAX_LINE {
            terminated = self.skip_line()?;
            let text_end = self.offset - u64::from(terminated);
            let file = self.reader.get_mut().get_mut();
            let ahead = file.position();
            let digest = hash_chain::range_digest(file, start, text_end)?;
            file.seek_to(ahead);
            return Ok(Some(RawLine { start, end: self.offset, bytes: Err(digest), terminated }));
        }
        Ok(Some(RawLine { start, end: self.offset, bytes: Ok(&self.buffer), terminated }))
    }

    fn skip_line(&mut self) -> io::Result<bool> {
        loop {
            let piece = self.reader.fill_buf()?;
            if piece.is_empty() {
                return Ok(false);
            }
            let (used, found) =
                if let Some(at) = memchr::memchr(b'\n', piece) { (at + 1, true) } else { (piece.len(), false) };
            self.reader.consume(used);
            self.offset += used as u64;
            if found {
                return Ok(true);
            }
        }
    }
}

/// All lines of a journal, read on demand.
pub(super) struct JournalLines {
    /// `None` once it ended.
    pub(super) raw: Option<RawLines>,
    pub(super) number: u64,
}

impl Iterator for JournalLines {
    type Item = JournalLine;

    fn next(&mut self) -> Option<JournalLine> {
        let raw = self.raw.as_mut()?;
        self.number += 1;
        let number = self.number;
        let reason = match raw.next_line() {
            Ok(Some(line)) => match line.decode() {
                Ok(decoded) => {
                    if let (EventKind::Head(head), 1) = (&decoded.event.kind, number) {
                        self.number = head.number();
                    }
                    return Some(JournalLine::Event(decoded.event));
                }
                Err(reason) if line.terminated => reason,
                Err(_) => "it has no end: its writer died, or is still writing".to_owned(),
            },
            Ok(None) => {
                self.raw = None;
                return None;
            }
            Err(error) => {
                self.raw = None;
                error.to_string()
            }
        };
        Some(JournalLine::Damaged { number, reason })
    }
}

/// The last line of a journal.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Tail {
    /// The places where it begins and ends (including its newline, if it has one), and its digest.
    pub(super) mark: ChainMark,
    /// `true` if it has its newline.
    pub(super) terminated: bool,
}

/// Returns the position where the last `count` lines of a journal begin, by reading backward; 0 if it has no more.
pub(super) fn start_of_last(file: &mut JournalFile, count: usize) -> io::Result<u64> {
    const STEP: u64 = 64 * 1024;
    let (base, end) = (file.base(), file.end()?);
    // The newline of the last line begins no further one.
    let (mut to, mut left) = (end.saturating_sub(1), count);
    while to > base && left > 0 {
        let from = to.saturating_sub(STEP).max(base);
        let piece = file.between(from, to)?;
        for at in memchr::memrchr_iter(b'\n', &piece) {
            left -= 1;
            if left == 0 {
                return Ok(from + at as u64 + 1);
            }
        }
        to = from;
    }
    Ok(if left == 0 { end } else { 0 })
}

/// Finds the last line of a journal by reading backward; `None` when it is empty.
pub(super) fn tail(file: &mut JournalFile) -> io::Result<Option<Tail>> {
    const STEP: u64 = 16 * 1024;
    let (base, length) = (file.base(), file.end()?);
    if length == base {
        return Ok(None);
    }
    let terminated = file.between(length - 1, length)? == b"\n";
    let end = if terminated { length - 1 } else { length };
    let (mut start, mut to) = (base, end);
    while to > base {
        let from = to.saturating_sub(STEP).max(base);
        if let Some(at) = memchr::memrchr(b'\n', &file.between(from, to)?) {
            start = from + at as u64 + 1;
            break;
        }
        to = from;
    }
    let digest = hash_chain::range_digest(file, start, end)?;
    Ok(Some(Tail { mark: ChainMark { start, end: length, digest }, terminated }))
}
