//! Positions in the journal. They stay what they were when old entries are removed: the file then begins at a later one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use super::line_format;
use crate::event::EventKind;
use crate::event::pruning::JournalHead;

/// The longest head, in bytes.
const MAX_HEAD: u64 = 64 * 1024;
/// The part of a line in which its kind stands.
const KIND_WITHIN: usize = 256;
/// The kind of a head, which no text inside of a line can spell.
const HEAD: &[u8] = br#""kind":"head""#;

/// Returns the head of a journal from which entries were removed, and the length of its line, in bytes.
pub(super) fn head(file: &mut File) -> io::Result<Option<(JournalHead, u64)>> {
    let mut line = Vec::new();
    file.seek(SeekFrom::Start(0))?;
    file.by_ref().take(KIND_WITHIN as u64).read_to_end(&mut line)?;
    if memchr::memmem::find(&line, HEAD).is_none() {
        return Ok(None);
    }
    file.by_ref().take(MAX_HEAD).read_to_end(&mut line)?;
    let Some(end) = memchr::memchr(b'\n', &line) else { return Ok(None) };
    Ok(match line_format::decode(&line[..end]).map(|line| line.event.kind) {
        Ok(EventKind::Head(head)) => Some((*head, end as u64 + 1)),
        _ => None,
    })
}

/// Returns the position at which the file begins.
pub(super) fn base(file: &mut File) -> io::Result<u64> {
    Ok(head(file)?.map_or(0, |(head, length)| head.cut.saturating_sub(head.carried.1 + length)))
}

/// Returns the position at which the file ends.
pub(super) fn end(file: &mut File) -> io::Result<u64> {
    Ok(base(file)? + file.metadata()?.len())
}
