//! The old part of a journal, in compressed parts.
//!
//! The journal then begins with one line ([`PartsHead`]), which is no entry: its other lines follow those that lie in
//! `journal.parts/BASE`. This file is one part after the other: the length of its text and that of its compressed bytes (both as
//! 32 bits, big-endian), and these bytes, as zlib writes them. Only ordinary commands add parts; entries keep their positions and
//! their bytes. A part that cannot be read counts as a line that cannot be read.
//!
//! New parts are written behind those that count and synced; then the journal is replaced. A process that is killed before leaves
//! bytes that do not count, and the next one removes them. When old entries are removed, a file with another name is made.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::ZlibDecoder;
use serde::Deserialize;

use super::private_files;

/// The text of a part has at most so many bytes.
pub(super) const MAX_PART: u64 = 256 * 1024;
/// The lengths before a part.
pub(super) const LENGTHS: u64 = 8;
/// The largest position that is believed.
const MAX_POSITION: u64 = 1 << 60;
/// The beginning of the first line, which no entry has.
const BEGINS: &str = r#"{"schema_version":1,"kind":"compressed","#;

/// The first line of a journal with compressed parts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) struct PartsHead {
    /// The position at which the journal begins.
    pub(super) base: u64,
    /// The position from which on no entry was looked at when old ones were removed.
    pub(super) rest: u64,
    /// The position at which the parts end: the line after this one is there.
    pub(super) begin: u64,
    /// The number of bytes of the file that count.
    pub(super) bytes: u64,
}

impl PartsHead {
    /// The folder of the parts, next to the journal.
    pub(super) const FOLDER: &'static str = "journal.parts";

    /// Returns what the first line of a journal says, and its length; `None` if it is an entry.
    pub(super) fn from_line(text: &[u8]) -> Option<(Self, u64)> {
        let end = memchr::memchr(b'\n', text).filter(|_| text.starts_with(BEGINS.as_bytes()))?;
        let head: Self = serde_json::from_slice(&text[..end]).ok()?;
        let is_possible = head.base <= head.begin && head.begin < MAX_POSITION && head.bytes < MAX_POSITION;
        is_possible.then_some((head, end as u64 + 1))
    }

    /// Returns the line.
    pub(super) fn to_line(&self) -> Vec<u8> {
        let Self { base, rest, begin, bytes } = self;
        format!("{BEGINS}\"base\":{base},\"rest\":{rest},\"begin\":{begin},\"bytes\":{bytes}}}\n").into_bytes()
    }
}

/// The place of a part.
struct Part {
    /// The positions of its text.
    start: u64,
    end: u64,
    /// The place of its lengths in the file.
    at: u64,
    /// The number of its compressed bytes; `None` if they are missing.
    bytes: Option<u64>,
}

/// Compressed parts that can be read.
pub(super) struct CompressedParts {
    file: Option<File>,
    parts: Vec<Part>,
    /// The number of the part that was read last, and its text; `None` if it is damaged.
    text: Option<(usize, Option<Vec<u8>>)>,
}

impl CompressedParts {
    /// Looks up the parts in `folder`. If the file is missing or ends early, the rest counts as damaged.
    pub(super) fn open(folder: &Path, head: &PartsHead) -> io::Result<Self> {
        let mut file = private_files::found(private_files::reader(&folder.join(head.base.to_string())))?;
        let bytes = file.as_ref().map_or(Ok(0), |file| file.metadata().map(|meta| meta.len()))?.min(head.bytes);
        let (mut parts, mut start, mut at) = (Vec::new(), head.base, 0);
        while let Some(part) = file.as_mut().and_then(|file| Part::at(file, at, start))
            && part.end <= head.begin
            && part.next() <= bytes
        {
            (start, at) = (part.end, part.next());
            parts.push(part);
        }
        if start < head.begin {
            parts.push(Part { start, end: head.begin, at, bytes: None });
        }
        Ok(Self { file, parts, text: None })
    }

    /// Returns `true` if the file of the parts exists.
    pub(super) fn are_there(&self) -> bool {
        self.file.is_some()
    }

    /// Returns `true` if no part is missing.
    pub(super) fn are_complete(&self) -> bool {
        self.parts.iter().all(|part| part.bytes.is_some())
    }

    /// Returns the position of the first part that begins at `position` or later, and its place in the file.
    pub(super) fn first_from(&self, position: u64) -> Option<(u64, u64)> {
        self.parts.iter().find(|part| part.start >= position).map(|part| (part.start, part.at))
    }

    /// Copies the bytes between two places in the file, and returns their number.
    pub(super) fn copy(&mut self, (from, to): (u64, u64), into: &mut File) -> io::Result<u64> {
        let Some(file) = &mut self.file else { return Ok(0) };
        file.seek(SeekFrom::Start(from))?;
        io::copy(&mut file.take(to.saturating_sub(from)), into)
    }

    /// Reads from a position on, at most to the end of the part. What is damaged reads as blank lines.
    pub(super) fn read_at(&mut self, position: u64, buffer: &mut [u8]) -> usize {
        let number = self.parts.partition_point(|part| part.end <= position);
        let Some(part) = self.parts.get(number) else { return 0 };
        if self.text.as_ref().is_none_or(|(read, _)| *read != number) {
            self.text = Some((number, self.file.as_mut().and_then(|file| part.text(file))));
        }
        let from = position - part.start;
        if let Some((_, Some(text))) = &self.text {
            let text = &text[usize::try_from(from).unwrap_or(text.len())..];
            let read = text.len().min(buffer.len());
            buffer[..read].copy_from_slice(&text[..read]);
            return read;
        }
        let line = (MAX_PART - from % MAX_PART).min(part.end - position);
        let read = usize::try_from(line).unwrap_or(usize::MAX).min(buffer.len());
        buffer[..read].fill(b' ');
        if read as u64 == line {
            buffer[read - 1] = b'\n';
        }
        read
    }
}

impl Part {
    fn at(file: &mut File, at: u64, start: u64) -> Option<Self> {
        let mut lengths = [0; 4 * 2];
        file.seek(SeekFrom::Start(at)).ok()?;
        file.read_exact(&mut lengths).ok()?;
        let (text, bytes) = (u64::from_be_bytes(lengths) >> 32, u64::from_be_bytes(lengths) & u64::from(u32::MAX));
        (1..=MAX_PART).contains(&text).then_some(Self { start, end: start + text, at, bytes: Some(bytes) })
    }

    /// Returns the place of the next part in the file.
    fn next(&self) -> u64 {
        self.at + LENGTHS + self.bytes.unwrap_or_default()
    }

    fn text(&self, file: &mut File) -> Option<Vec<u8>> {
        let mut text = Vec::new();
        file.seek(SeekFrom::Start(self.at + LENGTHS)).ok()?;
        let length = self.end - self.start;
        ZlibDecoder::new(file.take(self.bytes?)).take(length + 1).read_to_end(&mut text).ok()?;
        (text.len() as u64 == length).then_some(text)
    }
}
