//! Where events wait when the journal cannot be written: an agent's sandbox may allow the working tree alone.
//!
//! `<root>/.gate/spool/<id>.jsonl`, one file for each writing, invisible to git. Its first line is a seal that
//! only who could read the gate directory of this very repository can make: a file that came with a checkout is
//! not taken for evidence.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::append::{event, random};
use super::line;
use super::read::Line;
use super::{Journal, JournalError, NewEvent, files};
use crate::digest::hex_digest;
use crate::event::Event;

/// The longest spool file that is read, in bytes.
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// Says that files of the spool are being taken up, and how long the journal was before.
const TAKING: &str = "taking";

/// What waits in the spool, in order.
#[derive(Default)]
pub(super) struct Pending {
    folder: PathBuf,
    /// The files with their lines; those that are in the journal already have none.
    pub(super) files: Vec<SpoolFile>,
    /// Files that are not taken up, as sentences.
    pub(super) refused: Vec<String>,
}

#[derive(PartialEq)]
pub(super) struct SpoolFile {
    path: PathBuf,
    /// Without their newlines.
    pub(super) lines: Vec<Vec<u8>>,
}

fn folder(root: &Path) -> PathBuf {
    root.join(".gate").join("spool")
}

/// Whether the spool is a place of our own: a link could lead anywhere.
fn is_ours(root: &Path) -> bool {
    let is_dir = |path: &Path| fs::symlink_metadata(path).is_ok_and(|data| data.is_dir());
    is_dir(&root.join(".gate")) && is_dir(&folder(root))
}

/// Keeps events in the spool.
pub(super) fn write(root: &Path, dir: &Path, new: Vec<NewEvent>) -> Result<Vec<Event>, JournalError> {
    let folder = folder(root);
    files::create_dir(&folder).map_err(JournalError::write(&folder))?;
    if !is_ours(root) {
        let source = io::Error::from(io::ErrorKind::NotADirectory);
        return Err(JournalError::Write { path: folder, source });
    }
    let ignore = root.join(".gate").join(".gitignore");
    if let Ok(mut file) = files::open(&ignore, OpenOptions::new().write(true).create_new(true)) {
        file.write_all(b"*\n").map_err(JournalError::write(&ignore))?;
    }
    let events: Vec<Event> = new.into_iter().map(event).collect();
    let Some(first) = events.first() else { return Ok(events) };
    let mut body = Vec::new();
    for event in &events {
        let line = line::encode(event, "", None)?;
        if line.len() > line::MAX_LINE {
            return Err(JournalError::TooLong { length: line.len() });
        }
        body.extend(line);
    }
    let mut bytes = seal(&secrets(dir).remove(0), &body).into_bytes();
    bytes.push(b'\n');
    bytes.extend(body);
    let (temporary, path) = (folder.join(format!("{}.tmp", first.id)), folder.join(format!("{}.jsonl", first.id)));
    // Under its own name only when it is whole, so that nobody takes up half of it.
    let written = files::open(&temporary, OpenOptions::new().write(true).create_new(true))
        .and_then(|mut file| file.write_all(&bytes))
        .and_then(|()| fs::rename(&temporary, &path));
    if let Err(error) = written {
        let _ = fs::remove_file(&temporary);
        return Err(JournalError::write(&path)(error));
    }
    Ok(events)
}

/// What waits in the spool of `root`.
pub(super) fn pending(root: &Path, journal: &Journal) -> Pending {
    let folder = folder(root);
    let mut pending = Pending { folder: folder.clone(), ..Pending::default() };
    // No spool is the ordinary case.
    let Ok(entries) = fs::read_dir(&folder) else { return pending };
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
    let secrets = secrets(&journal.dir);
    for path in paths {
        match files::found(read_bounded(&path)).map(|bytes| bytes.map(|bytes| opened(&bytes, &secrets))) {
            Ok(Some(Some(lines))) => pending.files.push(SpoolFile { path, lines }),
            // Another process has taken it up meanwhile.
            Ok(None) => {}
            Ok(Some(None)) => pending.refused.push(format!(
                "{} was not written by the gate of this repository and is not taken up; remove it",
                path.display()
            )),
            Err(error) => pending.refused.push(format!("{} cannot be read: {error}", path.display())),
        }
    }
    pending.forget_taken(journal);
    pending
}

fn read_bounded(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let mut bytes = Vec::new();
    fs::File::open(path)?.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The lines of a file whose seal is ours.
fn opened(bytes: &[u8], secrets: &[String]) -> Option<Vec<Vec<u8>>> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (head, body) = (&bytes[..end], &bytes[end + 1..]);
    let sealed = secrets.iter().any(|secret| seal(secret, body).as_bytes() == head);
    let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    sealed.then(|| lines.map(<[u8]>::to_vec).collect())
}

impl Pending {
    /// The spooled events, for readers.
    pub(super) fn lines(&self) -> Vec<Line> {
        let lines = self.files.iter().flat_map(|file| &file.lines);
        lines
            .map(|line| match line::decode(line) {
                Ok(decoded) => Line::Event(decoded.event),
                Err(reason) => Line::Damaged { number: 0, reason },
            })
            .collect()
    }

    /// Says that the files are about to be taken up. `false`: the spool cannot be written, so they could not be
    /// removed afterwards, and would be taken up for ever.
    pub(super) fn begin_taking(&self, length: u64) -> bool {
        let path = self.folder.join(TAKING);
        // A mark that is there was left by one who died; it lies further back, and both are covered by it.
        path.exists()
            || files::open(&path, OpenOptions::new().write(true).create_new(true))
                .and_then(|mut file| file.write_all(length.to_string().as_bytes()))
                .is_ok()
    }

    /// Removes the files, which are in the journal now.
    pub(super) fn end_taking(&self) {
        let removed: Vec<io::Result<()>> = self.files.iter().map(|file| fs::remove_file(&file.path)).collect();
        if removed.iter().all(Result::is_ok) {
            let _ = fs::remove_file(self.folder.join(TAKING));
        }
    }

    /// Leaves out the events that one who died while taking them up has written to the journal already.
    fn forget_taken(&mut self, journal: &Journal) {
        let Ok(text) = fs::read_to_string(self.folder.join(TAKING)) else { return };
        let Ok(Some(mut lines)) = journal.raw_lines(text.parse().unwrap_or(0)) else { return };
        let id = |line: &[u8]| line::decode(line).ok().map(|decoded| decoded.event.id);
        let mut taken = Vec::new();
        while let Ok(Some(line)) = lines.next_line() {
            taken.extend(line.decode().ok().map(|decoded| decoded.event.id));
        }
        for file in &mut self.files {
            file.lines.retain(|line| id(line).is_none_or(|id| !taken.contains(&id)));
        }
    }
}

fn seal(secret: &str, body: &[u8]) -> String {
    hex_digest(&[b"gate spool", secret.as_bytes(), body])
}

fn token_path(dir: &Path) -> PathBuf {
    dir.join("token")
}

/// Makes the secret of this repository, unless there is one.
pub(super) fn make_token(dir: &Path) {
    let words: Vec<[u8; 8]> = (0..4).map(|_| random().to_be_bytes()).collect();
    let parts: Vec<&[u8]> = words.iter().map(<[u8; 8]>::as_slice).collect();
    // Without it, the identity of the directory has to do.
    let _ = files::open(&token_path(dir), OpenOptions::new().write(true).create_new(true))
        .and_then(|mut file| file.write_all(hex_digest(&parts).as_bytes()));
}

/// What seals the spool: the token; and, for when the gate directory never could be created, the identity of the
/// git directory on this machine. At least one.
fn secrets(dir: &Path) -> Vec<String> {
    let token = fs::read_to_string(token_path(dir)).ok().filter(|token| !token.is_empty());
    token.into_iter().chain([identity(dir)]).collect()
}

fn identity(dir: &Path) -> String {
    let parent = dir.parent().unwrap_or(dir);
    let path = parent.canonicalize().unwrap_or_else(|_| parent.to_owned());
    #[cfg(unix)]
    let place = {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(&path).map_or((0, 0), |data| (data.dev(), data.ino()))
    };
    #[cfg(not(unix))]
    let place = (0u64, 0u64);
    let (device, inode) = place;
    hex_digest(&[path.as_os_str().as_encoded_bytes(), &device.to_be_bytes(), &inode.to_be_bytes()])
}
