//! The file of the journal, read by position. Positions stay what they were when old entries are removed or compressed: the
//! file then begins at a later one.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use super::compressed_parts::{CompressedParts, PartsHead};
use super::{line_format, private_files};
use crate::event::{EventKind, JournalHead};

/// The longest head, in bytes.
const MAX_HEAD: u64 = 64 * 1024;
/// The part of a line in which its kind stands, and which a [`PartsHead`] does not exceed.
const KIND_WITHIN: u64 = 256;
/// The kind of a head, which no text inside of a line can spell.
const HEAD: &[u8] = br#""kind":"head""#;

/// The journal, whose old part may lie in compressed parts.
pub(super) struct JournalFile {
    file: File,
    path: PathBuf,
    /// The position at which the journal begins.
    base: u64,
    /// The position from which on no entry was looked at when old ones were removed.
    rest: u64,
    /// The position from which on the entries lie in the file itself, and their place there.
    plain: (u64, u64),
    compressed: Option<PartsHead>,
    /// They are opened when somebody reads them.
    parts: Option<CompressedParts>,
    /// The position that is read next.
    position: u64,
}

impl JournalFile {
    /// Opens the journal; `None` if there is none.
    pub(super) fn open(path: &Path) -> io::Result<Option<Self>> {
        let file = private_files::found(private_files::reader(path))?;
        file.map(|file| Self::of(file, path)).transpose()
    }

    /// Opens the journal to read it from a position on; `None` if there is none.
    pub(super) fn open_at(path: &Path, from: u64) -> io::Result<Option<Self>> {
        let mut left = 3;
        loop {
            let Some(mut journal) = Self::open(path)? else { return Ok(None) };
            journal.seek_to(from.max(journal.base));
            left -= 1;
            // Another process may have replaced both since the one was opened.
            if journal.position >= journal.plain.0 || left == 0 || journal.parts()?.are_there() {
                return Ok(Some(journal));
            }
        }
    }

    /// Returns the journal in an open file at `path`.
    pub(super) fn of(mut file: File, path: &Path) -> io::Result<Self> {
        let mut line = Vec::new();
        file.seek(SeekFrom::Start(0))?;
        Read::by_ref(&mut file).take(KIND_WITHIN).read_to_end(&mut line)?;
        let compressed = PartsHead::from_line(&line);
        let (base, rest, plain) = match &compressed {
            Some((head, length)) => (head.base, head.rest, (head.begin, *length)),
            None => {
                let (base, rest) = pruned(&mut file, line)?;
                (base, rest, (base, 0))
            }
        };
        let (path, compressed) = (path.to_owned(), compressed.map(|(head, _)| head));
        Ok(Self { file, path, base, rest, plain, compressed, parts: None, position: base })
    }

    /// Returns the position at which the journal begins.
    pub(super) fn base(&self) -> u64 {
        self.base
    }

    /// Returns the position from which on no entry was looked at when old ones were removed.
    pub(super) fn rest(&self) -> u64 {
        self.rest
    }

    /// Returns the position from which on the entries are not compressed.
    pub(super) fn plain(&self) -> u64 {
        self.plain.0
    }

    /// Returns the position at which the journal ends.
    pub(super) fn end(&self) -> io::Result<u64> {
        Ok(self.plain.0 + self.file.metadata()?.len().saturating_sub(self.plain.1))
    }

    /// Returns the size on disk, in bytes.
    pub(super) fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len() + self.compressed.as_ref().map_or(0, |head| head.bytes))
    }

    /// Returns what the file says about its compressed parts.
    pub(super) fn compressed(&self) -> Option<&PartsHead> {
        self.compressed.as_ref()
    }

    /// Returns the compressed parts, which are empty if there are none.
    pub(super) fn parts(&mut self) -> io::Result<&mut CompressedParts> {
        if self.parts.is_none() {
            let head = self.compressed.clone().unwrap_or_default();
            self.parts = Some(CompressedParts::open(&self.path.with_file_name(PartsHead::FOLDER), &head)?);
        }
        self.parts.as_mut().ok_or(io::ErrorKind::NotFound.into())
    }

    /// Goes to the position that is read next.
    pub(super) fn seek_to(&mut self, position: u64) {
        self.position = position;
    }

    /// Returns the position that is read next.
    pub(super) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the bytes between two positions, or those of them that are there.
    pub(super) fn between(&mut self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.seek_to(from);
        self.take(to.saturating_sub(from)).read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Writes at the end, and returns the number of bytes that found room. The file was opened for that.
    pub(super) fn append(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    /// Takes back what was written from a position on.
    pub(super) fn cut_off(&mut self, position: u64) -> io::Result<()> {
        self.file.set_len(position.saturating_sub(self.plain.0) + self.plain.1)
    }
}

impl Read for JournalFile {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let position = self.position;
        let read = if let Some(after) = position.checked_sub(self.plain.0) {
            self.file.seek(SeekFrom::Start(after + self.plain.1))?;
            self.file.read(buffer)?
        } else {
            self.parts()?.read_at(position, buffer)
        };
        self.position += read as u64;
        Ok(read)
    }
}

/// Returns the base and the rest of a journal without compressed parts. `line` is the beginning of the file.
fn pruned(file: &mut File, mut line: Vec<u8>) -> io::Result<(u64, u64)> {
    if memchr::memmem::find(&line, HEAD).is_none() {
        return Ok((0, 0));
    }
    Read::by_ref(file).take(MAX_HEAD).read_to_end(&mut line)?;
    let Some(end) = memchr::memchr(b'\n', &line) else { return Ok((0, 0)) };
    Ok(match line_format::decode(&line[..end]).map(|line| line.event.kind) {
        Ok(EventKind::Head(head)) => {
            let JournalHead { cut, carried, .. } = *head;
            (cut.saturating_sub(carried.1 + end as u64 + 1), cut)
        }
        _ => (0, 0),
    })
}
