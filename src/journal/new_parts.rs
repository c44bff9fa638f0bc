//! Adds compressed parts.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::read::ZlibEncoder;

use super::compressed_parts::{LENGTHS, MAX_PART};
use super::journal_file::JournalFile;
use super::private_files;

/// A file to which parts are added.
pub(super) struct NewParts {
    folder: PathBuf,
    file: File,
    /// The number of bytes that were written.
    bytes: u64,
}

impl NewParts {
    /// Goes on after the parts that count, or begins with none.
    pub(super) fn after(folder: &Path, base: u64, bytes: u64) -> io::Result<Self> {
        private_files::create_dir(folder)?;
        let path = folder.join(base.to_string());
        let mut file =
            private_files::open(&path, OpenOptions::new().read(true).write(true).create(true).truncate(false))?;
        file.set_len(bytes)?;
        file.seek(SeekFrom::Start(bytes))?;
        Ok(Self { folder: folder.to_owned(), file, bytes })
    }

    /// Adds all of a text, and makes sure that it outlasts a power cut. Returns the number of bytes that count then.
    pub(super) fn add(&mut self, from: impl Read) -> io::Result<u64> {
        let known = self.bytes;
        self.compress(from).and_then(|()| self.finish()).inspect_err(|_| {
            // On a full disk, what does not count only takes room.
            let _ = self.file.set_len(known);
        })
    }

    /// Compresses all of a text. A part ends where a line ends, if the line is not longer than a part.
    fn compress(&mut self, mut from: impl Read) -> io::Result<()> {
        let mut text = Vec::new();
        loop {
            let room = MAX_PART - text.len() as u64;
            let is_end = (from.by_ref().take(room).read_to_end(&mut text)? as u64) < room;
            if text.is_empty() {
                return Ok(());
            }
            let line_end = memchr::memrchr(b'\n', &text).filter(|_| !is_end).map_or(text.len(), |at| at + 1);
            let mut part = Vec::new();
            ZlibEncoder::new(&text[..line_end], Compression::default()).read_to_end(&mut part)?;
            let lengths = (line_end as u64) << 32 | part.len() as u64;
            self.file.write_all(&lengths.to_be_bytes())?;
            self.file.write_all(&part)?;
            self.bytes += LENGTHS + part.len() as u64;
            text.drain(..line_end);
        }
    }

    /// Makes the parts of a journal that has `beginning` instead of all that is before `cut`, and returns the number of their
    /// bytes.
    pub(super) fn replacing(folder: &Path, beginning: &[u8], journal: &mut JournalFile, cut: u64) -> io::Result<u64> {
        let mut parts = Self::after(folder, cut.saturating_sub(beginning.len() as u64), 0)?;
        parts.compress(beginning)?;
        parts.take_over(journal, cut)?;
        parts.finish()
    }

    /// Adds what a journal has compressed from `cut` on: whole parts as they are.
    fn take_over(&mut self, journal: &mut JournalFile, cut: u64) -> io::Result<()> {
        let counting = journal.compressed().map_or(0, |head| head.bytes);
        let (start, at) = journal.parts()?.first_from(cut).unwrap_or((journal.plain(), counting));
        let text = journal.between(cut, start)?;
        self.compress(&*text)?;
        self.bytes += journal.parts()?.copy((at, counting), &mut self.file)?;
        Ok(())
    }

    /// Makes sure that the parts outlast a power cut, and returns the number of their bytes.
    fn finish(&self) -> io::Result<u64> {
        self.file.sync_all()?;
        #[cfg(unix)]
        File::open(&self.folder)?.sync_all()?;
        Ok(self.bytes)
    }
}
