//! Logs from other places: CI artifacts, another machine.
//!
//! The import keeps the events and not the log itself, bounded and without secrets, with paths relative to the
//! directory of the session: a file for each log under `<git common dir>/gate/sessions/imported`.

use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader, BufWriter, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::line_reader::open;
use super::{Client, Error, Roots, SessionCounts, SessionLog, SessionSummary, opencode, opencode_error, read_each};
use crate::digest::hex_digest;
use crate::event::{AgentWork, Event, EventKind, Grade, Origin};

/// The version of the format. A later one is not read.
const FORMAT: u32 = 1;
/// The largest number of logs that are kept, and of their bytes in all: beyond it those go that were written first.
const MAX_LOGS: usize = 256;
const MAX_BYTES: u64 = 1 << 30;

/// The first line of a kept log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ImportedHead {
    format: u32,
    client: Client,
    session: Option<String>,
    actor: Option<String>,
    dir: Option<String>,
    began: Option<Timestamp>,
    last: Option<Timestamp>,
    counts: SessionCounts,
    /// The place it was imported from, for people.
    from: String,
}

/// Any further line.
#[derive(Serialize, Deserialize)]
struct ImportedLine {
    id: String,
    at: Timestamp,
    session: Option<String>,
    work: AgentWork,
}

/// A log that was imported.
#[derive(Clone, Debug, PartialEq)]
pub struct Imported {
    /// The client that wrote it.
    pub client: Client,
    /// The file that holds its events.
    pub path: PathBuf,
    /// The summary of its session.
    pub summary: SessionSummary,
}

/// The result of an import.
#[derive(Clone, Debug, PartialEq)]
pub struct Import {
    /// The log as it is kept now.
    pub imported: Imported,
    /// Nothing of it is new.
    pub known: bool,
}

/// Returns the folder of imported logs.
fn folder(gate_dir: &Path) -> PathBuf {
    gate_dir.join("sessions").join("imported")
}

/// Imports a file. The same log twice, or grown, is one log.
pub fn import(gate_dir: &Path, client: Client, path: &Path) -> Result<Vec<Import>, Error> {
    let mut sources = vec![SessionLog::new(client, path.to_owned())];
    if client == Client::Opencode && super::document::of(&sources[0])?.is_none() {
        let sessions = opencode::open(path).and_then(|connection| opencode::sessions(&connection));
        let sessions = sessions.map_err(opencode_error(path))?;
        sources = sessions
            .into_iter()
            .map(|session| SessionLog { session: Some(session.id), ..SessionLog::new(client, path.to_owned()) })
            .collect();
    }
    let mut done = Vec::new();
    for source in sources {
        done.extend(keep(gate_dir, &source)?);
    }
    Ok(done)
}

/// Keeps the events of one session, one after the other; `None` if there are none.
fn keep(gate_dir: &Path, source: &SessionLog) -> Result<Option<Import>, Error> {
    let folder = folder(gate_dir);
    let cannot = |error: io::Error| Error::Write { path: folder.clone(), source: error };
    fs::create_dir_all(&folder).map_err(cannot)?;
    let mut body = BufWriter::new(tempfile::NamedTempFile::new_in(&folder).map_err(cannot)?);
    let (mut first, mut written) = (None, Ok(()));
    let summary = read_each(source, &Roots::of_the_log(), &mut |event| {
        first.get_or_insert_with(|| event.id.clone());
        if written.is_ok() {
            written = write_event(&mut body, event);
        }
    })?;
    written.map_err(cannot)?;
    let Some(first) = first else { return Ok(None) };
    let body = body.into_inner().map_err(|error| cannot(error.into_error()))?;
    // A log without a name of its session has that of its first event.
    let session = summary.session.clone().unwrap_or(first);
    let actor = summary.actor.clone().unwrap_or_default();
    let digest = hex_digest(&[source.client.as_str().as_bytes(), session.as_bytes(), actor.as_bytes()]);
    let path = folder.join(format!("{}-{}.jsonl", source.client, &digest[..20]));
    let name = source.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let head = ImportedHead {
        format: FORMAT,
        client: source.client,
        session: Some(session),
        actor: summary.actor.clone(),
        dir: summary.dir.clone(),
        began: summary.began,
        last: summary.last,
        counts: summary.counts.clone(),
        from: name,
    };
    let earlier = ids(&path, 1).unwrap_or_default();
    let known = !earlier.is_empty() && ids(body.path(), 0).is_ok_and(|ids| ids.is_subset(&earlier));
    if !known {
        write(&folder, &path, &head, body.path()).map_err(cannot)?;
        drop(body);
        remove_surplus(&folder, &path, (MAX_LOGS, MAX_BYTES)).map_err(cannot)?;
    }
    Ok(Some(Import { imported: Imported { client: source.client, path, summary }, known }))
}

fn write_event(file: &mut impl Write, event: Event) -> io::Result<()> {
    let EventKind::Work(work) = event.kind else { return Ok(()) };
    let Event { id, at, session, .. } = event;
    serde_json::to_writer(&mut *file, &ImportedLine { id, at, session, work: *work })?;
    file.write_all(b"\n")
}

/// Writes the head and the lines of `body` into a new file that replaces the old one at once.
fn write(folder: &Path, path: &Path, head: &ImportedHead, body: &Path) -> io::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    let mut line = serde_json::to_vec(head)?;
    line.push(b'\n');
    file.write_all(&line)?;
    io::copy(&mut fs::File::open(body)?, file.as_file_mut())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Removes the logs that were written first, but never `newest`, while there are more logs or bytes than `most`.
fn remove_surplus(folder: &Path, newest: &Path, most: (usize, u64)) -> io::Result<()> {
    let mut logs = Vec::new();
    for entry in fs::read_dir(folder)? {
        let (path, meta) = entry.and_then(|entry| Ok((entry.path(), entry.metadata()?)))?;
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            logs.push((path != *newest, meta.modified()?, path, meta.len()));
        }
    }
    // The newest one is first, then the others, the latest of them first.
    logs.sort_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)));
    let mut bytes = 0;
    for (at, (is_other, _, path, size)) in logs.into_iter().enumerate() {
        bytes += size;
        if is_other && (at >= most.0 || bytes > most.1) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns the ids of the events of a file, without its first lines.
fn ids(path: &Path, skipped: usize) -> io::Result<HashSet<String>> {
    #[derive(Deserialize)]
    struct OnlyId {
        id: String,
    }
    let lines = BufReader::new(open(path)?).lines().skip(skipped);
    let id = |line: String| Some(serde_json::from_str::<OnlyId>(&line).ok()?.id);
    lines.filter_map(|line| line.map(id).transpose()).collect()
}

/// Returns the imported logs, by name of their files. Unreadable ones are skipped.
pub fn list(gate_dir: &Path) -> Vec<Imported> {
    let Ok(entries) = fs::read_dir(folder(gate_dir)) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    let imported = |path: PathBuf| {
        let mut line = String::new();
        BufReader::new(open(&path).ok()?).read_line(&mut line).ok()?;
        let head: ImportedHead =
            serde_json::from_str(&line).ok().filter(|head: &ImportedHead| head.format <= FORMAT)?;
        let ImportedHead { client, session, actor, dir, began, last, counts, .. } = head;
        Some(Imported { client, path, summary: SessionSummary { session, actor, dir, began, last, counts } })
    };
    paths.into_iter().filter_map(imported).collect()
}

/// Returns the events of an imported log.
pub fn events(imported: &Imported) -> Result<Vec<Event>, Error> {
    of(&imported.path).map_err(Error::read(&imported.path))
}

fn of(path: &Path) -> io::Result<Vec<Event>> {
    let mut lines = BufReader::new(open(path)?).lines();
    let head: ImportedHead = serde_json::from_str(&lines.next().transpose()?.unwrap_or_default())?;
    let mut events = Vec::new();
    for line in lines {
        let Ok(ImportedLine { id, at, session, work }) = serde_json::from_str(&line?) else { continue };
        events.push(Event {
            id,
            at,
            session,
            origin: Origin { by: head.client.as_str().to_owned(), grade: Grade::Transcribed },
            kind: EventKind::Work(Box::new(work)),
        });
    }
    Ok(events)
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, SystemTime};

    use super::*;

    #[test]
    fn the_logs_that_were_written_first_go_and_the_newest_stays() {
        let left_of = |most| {
            let dir = tempfile::tempdir().unwrap();
            for number in 0..4_u64 {
                let file = fs::File::create(dir.path().join(format!("{number}.jsonl"))).unwrap();
                file.set_len(10).unwrap();
                // The clock may go back: 3 is the newest whatever it says.
                let at = if number == 3 { 0 } else { number + 1 };
                file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(at)).unwrap();
            }
            remove_surplus(dir.path(), &dir.path().join("3.jsonl"), most).unwrap();
            (0..4).filter(|number| dir.path().join(format!("{number}.jsonl")).exists()).collect::<Vec<_>>()
        };
        assert_eq!(left_of((4, 40)), [0, 1, 2, 3]);
        assert_eq!(left_of((3, 40)), [1, 2, 3]);
        assert_eq!(left_of((4, 25)), [2, 3]);
        assert_eq!(left_of((1, 5)), [3]);
    }
}
