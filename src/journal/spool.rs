//! The spool: events wait there when the journal cannot be written, because an agent's sandbox may allow the working
//! tree alone.
//!
//! `<root>/.gate/spool/<id>.jsonl`, one file for each writing, invisible to git. Nothing in a working tree is evidence
//! by itself, so its first line is a signature that needs the key of this repository. The key is random and lies in the
//! gate directory, where no checkout puts a file. Without a key, there is no spool.

use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::path::{Component, Path, PathBuf};

use ring::hmac;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::new_event::event;
use super::read::JournalLine;
use super::{Journal, JournalError, NewEvent, line_format, private_files};
use crate::digest::hex;
use crate::event::Event;

/// The longest spool file that is read, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// The length of the key, in bytes.
const KEY_LENGTH: usize = 32;

/// The events that wait in the spool, in order.
#[derive(Default)]
pub(super) struct SpooledEvents {
    /// The files with their lines.
    pub(super) files: Vec<SpoolFile>,
    /// A sentence for each file that the journal does not accept.
    pub(super) refused: Vec<String>,
}

#[derive(PartialEq)]
pub(super) struct SpoolFile {
    path: PathBuf,
    /// The length of the journal when the file was written, in bytes.
    journal_length: u64,
    /// Without their newlines.
    pub(super) lines: Vec<Vec<u8>>,
}

fn folder(root: &Path) -> PathBuf {
    root.join(".gate").join("spool")
}

/// Returns `true` if the spool is a real folder. A symbolic link could lead anywhere.
fn is_ours(root: &Path) -> bool {
    let is_dir = |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir());
    is_dir(&root.join(".gate")) && is_dir(&folder(root))
}

/// Keeps events in the spool.
pub(super) fn write(root: &Path, journal: &Journal, new: Vec<NewEvent>) -> Result<Vec<Event>, JournalError> {
    let folder = folder(root);
    let unwritable = JournalError::write(&folder);
    let Some(key) = key(&journal.dir, root) else {
        let why =
            "it needs the key of this repository, which is made when gate can write the journal for the first time";
        return Err(unwritable(io::Error::new(io::ErrorKind::PermissionDenied, why)));
    };
    private_files::create_dir(&folder).map_err(unwritable)?;
    if !is_ours(root) {
        let source = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(JournalError::Write { path: folder, source });
    }
    let ignore = root.join(".gate").join(".gitignore");
    if let Ok(mut file) = private_files::open(&ignore, OpenOptions::new().write(true).create_new(true)) {
        file.write_all(b"*\n").map_err(JournalError::write(&ignore))?;
    }
    let events: Vec<Event> = new.into_iter().map(event).collect();
    let Some(first) = events.first() else { return Ok(events) };
    let mut signed = format!("{}\n", journal_length(journal)).into_bytes();
    for event in &events {
        let line = line_format::encode(event, "", None)?;
        if line.len() > line_format::MAX_LINE {
            return Err(JournalError::TooLong { length: line.len() });
        }
        signed.extend(line);
    }
    let mut bytes = format!("{}\n", hex(hmac::sign(&key, &signed).as_ref())).into_bytes();
    bytes.extend(signed);
    let (temporary, path) = (folder.join(format!("{}.tmp", first.id)), folder.join(format!("{}.jsonl", first.id)));
    // Under its own name only when it is whole, so that nobody takes up half of it.
    let written = private_files::open(&temporary, OpenOptions::new().write(true).create_new(true))
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(JournalError::write(&path)(error));
    }
    Ok(events)
}

fn journal_length(journal: &Journal) -> u64 {
    journal.end().unwrap_or(0)
}

/// Returns the events that wait in the spool of `root`.
pub(super) fn pending(root: &Path, journal: &Journal) -> SpooledEvents {
    let mut pending = SpooledEvents::default();
    // No spool is the ordinary case.
    let Ok(entries) = fs::read_dir(folder(root)) else { return pending };
    if !is_ours(root) {
        return pending;
    }
    let mut paths: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    if paths.is_empty() {
        return pending;
    }
    // The names begin with the time.
    paths.sort();
    let key = key(&journal.dir, root);
    for path in paths {
        match private_files::found(read_bounded(&path)) {
            // Another process has taken it up meanwhile.
            Ok(None) => {}
            Ok(Some(bytes)) => match key.as_ref().and_then(|key| opened(&path, &bytes, key)) {
                Some(file) if file.journal_length <= journal_length(journal) => pending.files.push(file),
                _ => pending.refused.push(format!(
                    "{} was not written by the gate of this repository and is ignored; remove it",
                    path.display()
                )),
            },
            Err(error) => pending.refused.push(format!("{} cannot be read: {error}", path.display())),
        }
    }
    pending.forget_taken(journal);
    pending
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    private_files::reader(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns a file whose signature was made with `key`.
fn opened(path: &Path, bytes: &[u8], key: &hmac::Key) -> Option<SpoolFile> {
    let (signature, signed) = bytes.split_at_checked(memchr::memchr(b'\n', bytes)?)?;
    let signed = signed.get(1..)?;
    hmac::verify(key, signed, &unhex(signature)?).ok()?;
    let mut lines = signed.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    let journal_length = std::str::from_utf8(lines.next()?).ok()?.parse().ok()?;
    Some(SpoolFile { path: path.to_owned(), journal_length, lines: lines.map(<[u8]>::to_vec).collect() })
}

impl SpooledEvents {
    /// Returns the spooled events, for readers.
    pub(super) fn lines(&self) -> Vec<JournalLine> {
        let lines = self.files.iter().flat_map(|file| &file.lines);
        lines
            .map(|line| match line_format::decode(line) {
                Ok(decoded) => JournalLine::Event(decoded.event),
                Err(reason) => JournalLine::Damaged { number: 0, reason },
            })
            .collect()
    }

    /// Removes the files, which are in the journal now.
    pub(super) fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(&file.path);
        }
    }

    /// Leaves out the events that are already in the journal. This happens if the process that moved them died before
    /// it removed the file, could not remove it, or if somebody restored the file.
    fn forget_taken(&mut self, journal: &Journal) {
        let Some(from) = self.files.iter().map(|file| file.journal_length).min() else { return };
        let Ok(Some(mut lines)) = journal.raw_lines(from) else { return };
        let id = |line: &[u8]| line_format::decode(line).ok().map(|decoded| decoded.event.id);
        let mut taken = Vec::new();
        while let Ok(Some(line)) = lines.next_line() {
            taken.extend(line.decode().ok().map(|decoded| decoded.event.id));
        }
        for file in &mut self.files {
            file.lines.retain(|line| id(line).is_none_or(|id| !taken.contains(&id)));
        }
        let (left, taken): (Vec<SpoolFile>, Vec<SpoolFile>) =
            std::mem::take(&mut self.files).into_iter().partition(|file| !file.lines.is_empty());
        Self { files: taken, refused: Vec::new() }.remove();
        self.files = left;
    }
}

fn key_path(dir: &Path) -> PathBuf {
    dir.join("token")
}

/// Makes the key of this repository, unless there is one.
pub(super) fn make_key(dir: &Path) {
    let mut key = [0; KEY_LENGTH];
    if SystemRandom::new().fill(&mut key).is_ok() {
        // Without it, there is no spool.
        let _ = private_files::open(&key_path(dir), OpenOptions::new().write(true).create_new(true))
            .and_then(|mut file| file.write_all(hex(&key).as_bytes()));
    }
}

/// Returns the key of this repository, or `None` if it was never made, or it lies at a place where a checkout can put a
/// file.
fn key(dir: &Path, root: &Path) -> Option<hmac::Key> {
    let first = dir.strip_prefix(root).ok().and_then(|below| below.components().next());
    if first.is_some_and(|first| first != Component::Normal(".git".as_ref())) {
        return None;
    }
    let key = unhex(&private_files::read(&key_path(dir)).ok()?)?;
    (key.len() == KEY_LENGTH).then(|| hmac::Key::new(hmac::HMAC_SHA256, &key))
}

fn unhex(text: &[u8]) -> Option<Vec<u8>> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    text.len().is_multiple_of(2).then(|| text.chunks_exact(2).map(pair).collect())?
}
