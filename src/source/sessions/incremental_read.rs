//! Reads the new part of a log.
//!
//! The state after the last reading lies in a file for each log under `<git common dir>/gate/sessions`: the place that
//! was reached, the marks of the file, and the facts of earlier lines that later ones need. It is a cache: if it is
//! missing, or the log is another file now, or does not have the same bytes before that place, the log is read anew.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::event_builder::{Transcript, TranscriptState};
use super::repository_paths::Roots;
use super::{Client, Error, SessionLog, SessionSummary, opencode_error, read_lines, reader};
use crate::digest::hex_digest;
use crate::event::Event;

/// The version of the format. Another one is not read.
const VERSION: u32 = 2;
/// The number of bytes before the reached place that must be the same.
const CHECKED: u64 = 512;

/// The end of a reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cursor {
    version: u32,
    client: Client,
    path: PathBuf,
    session: Option<String>,
    /// The identity of the file in its file system.
    identity: (u64, u64),
    offset: u64,
    /// The digest of the bytes before the offset.
    before: String,
    memory: TranscriptState,
}

/// The new part.
#[derive(Debug)]
pub struct Newer {
    /// The whole session so far.
    pub summary: SessionSummary,
    /// The place where the next reading begins.
    pub cursor: Cursor,
}

/// The folder of cursors.
#[derive(Clone, Debug)]
pub struct Cursors(PathBuf);

impl Cursors {
    /// Returns the cursors of a repository. Nothing is created.
    pub fn of(gate_dir: &Path) -> Self {
        Self(gate_dir.join("sessions"))
    }

    fn path(&self, source: &SessionLog) -> PathBuf {
        let session = source.session.as_deref().unwrap_or_default();
        let digest = hex_digest(&[source.path.as_os_str().as_encoded_bytes(), session.as_bytes()]);
        self.0.join(format!("{}.json", &digest[..20]))
    }

    /// Returns the place where the last reading of a log ended; `None` if it is unknown.
    pub fn load(&self, source: &SessionLog) -> Option<Cursor> {
        let bytes = fs::read(self.path(source)).ok()?;
        let cursor: Cursor = serde_json::from_slice(&bytes).ok()?;
        let is_its = cursor.client == source.client && cursor.path == source.path && cursor.session == source.session;
        (cursor.version == VERSION && is_its).then_some(cursor)
    }

    /// Keeps a cursor. It is replaced at once, so that no other process sees half of it.
    pub fn save(&self, cursor: &Cursor) -> io::Result<()> {
        fs::create_dir_all(&self.0)?;
        let source =
            SessionLog { client: cursor.client, path: cursor.path.clone(), session: cursor.session.clone(), dir: None };
        let mut file = tempfile::NamedTempFile::new_in(&self.0)?;
        file.write_all(&serde_json::to_vec(cursor)?)?;
        file.persist(self.path(&source)).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Reads the new part since `cursor`, giving each event to `sink`. Open records stay open: a command without its
/// result, and words that may be the last of a turn, are recorded by a later reading, or by [`super::read`].
pub fn newer(
    cursor: Option<Cursor>,
    source: &SessionLog,
    roots: &Roots,
    sink: &mut dyn FnMut(Event),
) -> Result<Newer, Error> {
    if let Some(text) = super::document::of(source)? {
        let mut log = Transcript::new(source.client, source.memory(), roots, sink);
        super::document::read(&text, &mut log);
        return Ok(log.newer(source, (0, 0), 0, String::new()));
    }
    if source.client == Client::Opencode {
        return newer_rows(cursor, source, roots, sink);
    }
    let mut file = super::line_reader::open(&source.path).map_err(Error::read(&source.path))?;
    let fail = || Error::read(&source.path);
    let identity = identity(&file).map_err(fail())?;
    let known = match cursor {
        Some(cursor) if cursor.identity == identity && stands(&mut file, &cursor).map_err(fail())? => Some(cursor),
        _ => None,
    };
    let (from, memory) = known.map_or_else(|| (0, source.memory()), |cursor| (cursor.offset, cursor.memory));
    file.seek(SeekFrom::Start(from)).map_err(fail())?;
    let mut log = Transcript::new(source.client, memory, roots, sink);
    let offset = read_lines(&file, from, reader(source.client), false, &mut log).map_err(fail())?;
    let before = before(&mut file, offset).map_err(fail())?;
    Ok(log.newer(source, identity, offset, before))
}

fn newer_rows(
    cursor: Option<Cursor>,
    source: &SessionLog,
    roots: &Roots,
    sink: &mut dyn FnMut(Event),
) -> Result<Newer, Error> {
    let memory = cursor.map_or_else(|| source.memory(), |cursor| cursor.memory);
    let mut log = Transcript::new(source.client, memory, roots, sink);
    super::read_rows(source, &mut log).map_err(opencode_error(&source.path))?;
    Ok(log.newer(source, (0, 0), 0, String::new()))
}

impl Transcript<'_> {
    fn newer(self, source: &SessionLog, identity: (u64, u64), offset: u64, before: String) -> Newer {
        let memory = self.memory;
        let summary = SessionSummary::of(&memory);
        let SessionLog { client, path, session, .. } = source.clone();
        Newer { summary, cursor: Cursor { version: VERSION, client, path, session, identity, offset, before, memory } }
    }
}

/// Returns `true` if the file still has the bytes that were read before.
fn stands(file: &mut File, cursor: &Cursor) -> io::Result<bool> {
    Ok(file.metadata()?.len() >= cursor.offset && before(file, cursor.offset)? == cursor.before)
}

fn before(file: &mut File, offset: u64) -> io::Result<String> {
    let length = offset.min(CHECKED);
    file.seek(SeekFrom::Start(offset - length))?;
    let mut bytes = Vec::new();
    file.take(length).read_to_end(&mut bytes)?;
    Ok(hex_digest(&[&bytes])[..16].to_owned())
}

#[cfg(unix)]
fn identity(file: &File) -> io::Result<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let metadata = file.metadata()?;
    Ok((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(_: &File) -> io::Result<(u64, u64)> {
    Ok((0, 0))
}
