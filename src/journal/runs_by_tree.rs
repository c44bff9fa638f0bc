//! The runs on one tree: a small file for each tree, so that a push of old content finds them in a journal of any
//! length.
//!
//! It is a cache and proves nothing: it gives only the places of runs in the journal, and the runs are read there. A missing
//! index is built from it ([`super::build_run_index`]).

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::recorded_run::RecordedRun;
use super::{JournalError, latest_runs, private_files};
use crate::event::Event;
use crate::oid::Oid;

/// A file longer than this, in bytes, is cut down to the latest runs of each key.
const MAX_FILE: u64 = 128 * 1024;

/// The place of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RunPlace {
    /// The id of its event.
    pub(super) id: String,
    /// The key of its command.
    pub(super) key: String,
    /// The place where its line begins in the journal, in bytes.
    pub(super) offset: u64,
}

/// Returns the part of an event that is indexed: a run that began and ended on the same tree.
pub(super) fn indexed(event: &Event, offset: Option<u64>) -> Option<RecordedRun> {
    RecordedRun::of(event, offset).filter(|run| run.run.start.tree == run.run.end.tree)
}

/// Returns the folder of the index.
pub(super) fn folder(dir: &Path) -> PathBuf {
    dir.join("run-places")
}

fn file(folder: &Path, tree: &Oid) -> PathBuf {
    let (first, rest) = tree.as_str().split_at(2);
    folder.join(first).join(format!("{rest}.jsonl"))
}

/// Returns `true` if an index exists.
pub(super) fn exists(dir: &Path) -> bool {
    folder(dir).is_dir()
}

/// Creates an empty index of an empty journal.
pub(super) fn create(dir: &Path) -> io::Result<()> {
    private_files::create_dir(&folder(dir))
}

/// Takes away an index that may lack runs. It is gone at once, even if its files are not.
pub(super) fn discard(dir: &Path) {
    let old = dir.join("run-index.old");
    let _ = fs::remove_dir_all(&old);
    if fs::rename(folder(dir), &old).is_ok() {
        let _ = fs::remove_dir_all(&old);
    }
}

/// Returns the places of the runs on a tree, oldest first; `None` if there is no index. Lines that cannot be read are skipped.
pub(super) fn read(dir: &Path, tree: &Oid) -> Result<Option<Vec<RunPlace>>, JournalError> {
    let path = file(&folder(dir), tree);
    let read = || private_files::found(private_files::read(&path)).map_err(JournalError::read(&path));
    if let Some(bytes) = read()? {
        return Ok(Some(parse(&bytes)));
    }
    if !exists(dir) {
        return Ok(None);
    }
    // The index may have come to its place after the file was looked for.
    Ok(Some(read()?.map(|bytes| parse(&bytes)).unwrap_or_default()))
}

fn parse(bytes: &[u8]) -> Vec<RunPlace> {
    bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok()).collect()
}

/// Adds a run; `unless_known`: only if its event is not there yet. The caller holds the lock.
pub(super) fn insert(dir: &Path, run: &RecordedRun, unless_known: bool) -> io::Result<()> {
    let (folder, tree) = (folder(dir), &run.run.start.tree);
    if unless_known {
        let there = private_files::found(private_files::read(&file(&folder, tree)))?.unwrap_or_default();
        if parse(&there).iter().any(|known| known.id == run.id) {
            return Ok(());
        }
    }
    add(&folder, tree, line(run)?)
}

/// Returns the line of a run in the file of its tree; it is empty for a run that is in no journal.
pub(super) fn line(run: &RecordedRun) -> io::Result<Vec<u8>> {
    let Some(offset) = run.offset else { return Ok(Vec::new()) };
    let place = RunPlace { id: run.id.clone(), key: run.run.command.key.clone(), offset };
    let mut line = serde_json::to_vec(&place)?;
    line.push(b'\n');
    Ok(line)
}

/// Adds lines to the file of a tree.
pub(super) fn add(folder: &Path, tree: &Oid, mut lines: Vec<u8>) -> io::Result<()> {
    let path = file(folder, tree);
    if let Some(parent) = path.parent() {
        private_files::create_dir(parent)?;
    }
    let mut file = private_files::open(&path, OpenOptions::new().read(true).append(true).create(true))?;
    let length = file.metadata()?.len();
    if length > 0 && last_byte(&mut file)? != b'\n' {
        lines.insert(0, b'\n');
    }
    file.write_all(&lines)?;
    if length + lines.len() as u64 > MAX_FILE { compact(&path) } else { Ok(()) }
}

fn last_byte(file: &mut File) -> io::Result<u8> {
    let mut byte = [0];
    file.seek(SeekFrom::End(-1))?;
    file.read_exact(&mut byte)?;
    Ok(byte[0])
}

fn compact(path: &Path) -> io::Result<()> {
    let mut kept: Vec<RunPlace> = Vec::new();
    for run in parse(&private_files::read(path)?).into_iter().rev() {
        let same = kept.iter().filter(|known| known.key == run.key).count();
        if same < latest_runs::MAX_RUNS_OF_PAIR && kept.len() < latest_runs::MAX_KEYS {
            kept.push(run);
        }
    }
    let mut bytes = Vec::new();
    for run in kept.iter().rev() {
        serde_json::to_writer(&mut bytes, run)?;
        bytes.push(b'\n');
    }
    let temporary = path.with_extension("tmp");
    private_files::open(&temporary, OpenOptions::new().write(true).create(true).truncate(true))?.write_all(&bytes)?;
    fs::rename(&temporary, path)
}
