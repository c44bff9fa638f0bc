//! The files of a verdict: `verdict_<session>.json`, small, always the newest, for other programs, and
//! `<session>_<timestamp>.json`, the full record. Both are written atomically. If a session continues without a
//! judgement, the small one is no longer `complete`.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::{Deserialize, Serialize};

use crate::gates::finding::stopping;
use crate::redact::redact_tokens;
use crate::verdict::{Outcome, Verdict};

/// The maximum number of full records that are kept.
const KEPT: usize = 256;
/// The number of the newest records that are kept at any age.
const NEWEST: usize = 32;

/// The part of a verdict that other programs need.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct VerdictSummary<'a> {
    schema_version: u32,
    id: &'a str,
    at: String,
    moment: crate::moment::Moment,
    outcome: Outcome,
    complete: bool,
    severity: crate::policy::Severity,
    session: &'a str,
    attempt: u32,
    blocking: Vec<Blocking<'a>>,
    requires_human_action: bool,
    next_actions: &'a [String],
    record: &'a Path,
    #[serde(skip_serializing_if = "Option::is_none")]
    escalation: Option<&'a Path>,
    /// `true` if the session continued without a judgement since. Missing otherwise.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    outdated: bool,
}

#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct Blocking<'a> {
    gate: &'a str,
    reasons: Vec<&'a str>,
}

/// Returns the folder of the verdicts below the gate directory.
pub fn folder(gate_dir: &Path) -> PathBuf {
    gate_dir.join("verdicts")
}

/// Returns the session as part of a file name. Characters that could leave the folder or end the name are replaced; a
/// digest then keeps it distinct from a session whose name looks the same.
pub fn file_stem(session: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '_' { c } else { '-' };
    let stem: String = session.chars().map(safe).take(80).collect();
    if stem == session && is_record(&stem) {
        return stem;
    }
    format!("session-{stem}-{}", &crate::digest::hex_digest(&[session.as_bytes()])[..8])
}

fn summary(gate_dir: &Path, session: &str) -> PathBuf {
    folder(gate_dir).join(format!("verdict_{}.json", file_stem(session)))
}

/// Marks the work of a session as incomplete: it continued since, and its current content was not judged.
pub fn outdate(gate_dir: &Path, session: &str) -> io::Result<()> {
    let path = summary(gate_dir, session);
    let bytes = match fs::read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        bytes => bytes?,
    };
    let mut said: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(&bytes)?;
    if said.get("complete") != Some(&true.into()) {
        return Ok(());
    }
    said.insert("complete".to_owned(), false.into());
    said.insert("outdated".to_owned(), true.into());
    write_json(&path, &said)
}

/// Writes both files. `escalation` is the payload of the verdict, if there is one.
pub fn write(gate_dir: &Path, verdict: &Verdict, escalation: Option<&Path>) -> io::Result<PathBuf> {
    let folder = folder(gate_dir);
    fs::create_dir_all(&folder)?;
    let stem = file_stem(&verdict.session);
    let stamp = verdict.at.strftime("%Y%m%dT%H%M%S%9fZ").to_string();
    let record = folder.join(format!("{stem}_{stamp}.json"));
    let summary = summary(gate_dir, &verdict.session);
    // Nobody reads the lines of so many files: without the spaces, a record takes a third less.
    write_bytes(&record, redact_tokens(&(serde_json::to_string(verdict)? + "\n")).as_bytes())?;
    let blocking = stopping(&verdict.gates);
    let small = VerdictSummary {
        schema_version: verdict.schema_version,
        id: &verdict.id,
        at: verdict.at.to_string(),
        moment: verdict.moment,
        outcome: verdict.outcome,
        complete: verdict.complete,
        severity: verdict.severity,
        session: &verdict.session,
        attempt: verdict.attempt,
        blocking: blocking
            .map(|result| Blocking {
                gate: &result.gate,
                reasons: result.decisive().map(|finding| finding.reason.as_str()).collect(),
            })
            .collect(),
        requires_human_action: verdict.requires_human_action,
        next_actions: &verdict.next_actions,
        record: &record,
        escalation,
        outdated: false,
    };
    write_json(&summary, &small)?;
    Ok(record)
}

/// Returns the newest full record of a session, or `None` if there is none.
pub fn newest(gate_dir: &Path, session: &str) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Newest {
        record: PathBuf,
    }
    let summary = fs::read(summary(gate_dir, session)).ok()?;
    serde_json::from_slice::<Newest>(&summary).ok().map(|newest| newest.record)
}

/// Writes a value as JSON under a temporary name and renames it.
pub fn write_json(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value)? + "\n";
    write_bytes(path, redact_tokens(&text).as_bytes())
}

/// Writes a file under a temporary name and renames it, so that a reader sees either the old or the new one in full.
pub fn write_bytes(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(bytes)?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// Removes the full records that are above the maximum or older than `age`, the oldest first, and the summaries of
/// sessions that have none newer. Hooks do not call it: its cost grows with the folder.
pub fn prune(gate_dir: &Path, age: Duration) -> io::Result<()> {
    remove_unfinished(gate_dir);
    let records = files(gate_dir, is_record)?;
    let is_old = |modified: &Option<SystemTime>| modified.is_some_and(|at| at.elapsed().is_ok_and(|since| since > age));
    let old = records.iter().take_while(|(modified, _)| is_old(modified)).count();
    let surplus = records.len().saturating_sub(KEPT).max(old.min(records.len().saturating_sub(NEWEST)));
    if surplus == 0 {
        return Ok(());
    }
    let summaries = files(gate_dir, |stem| stem.starts_with("verdict_"))?;
    // A summary is written after its record.
    let outlived = summaries.iter().take_while(|(modified, _)| *modified < records[surplus].0);
    outlived.chain(&records[..surplus]).try_for_each(|(_, path)| fs::remove_file(path))
}

/// Removes the temporary files that a killed process left. A process writes such a file at once, so an older one is
/// abandoned.
fn remove_unfinished(gate_dir: &Path) {
    const LEFT_AFTER: Duration = Duration::from_secs(10);
    for entry in fs::read_dir(folder(gate_dir)).into_iter().flatten().flatten() {
        let temporary = entry.file_name().to_str().is_some_and(|name| name.starts_with(".tmp"));
        let modified = entry.metadata().and_then(|meta| meta.modified()).ok();
        let old = modified.and_then(|modified| modified.elapsed().ok()).is_some_and(|age| age > LEFT_AFTER);
        if temporary && old {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns the full records, oldest first.
pub fn records(gate_dir: &Path) -> io::Result<Vec<PathBuf>> {
    Ok(files(gate_dir, is_record)?.into_iter().map(|(_, path)| path).collect())
}

/// Returns the JSON files whose stem is `wanted`, with the times of their last change, oldest first.
fn files(gate_dir: &Path, wanted: fn(&str) -> bool) -> io::Result<Vec<(Option<SystemTime>, PathBuf)>> {
    let entries = match fs::read_dir(folder(gate_dir)) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let mut files: Vec<_> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "json"))
        .filter(|path| path.file_stem().and_then(|stem| stem.to_str()).is_some_and(wanted))
        .map(|path| (fs::metadata(&path).and_then(|meta| meta.modified()).ok(), path))
        .collect();
    files.sort();
    Ok(files)
}

fn is_record(stem: &str) -> bool {
    !stem.starts_with("verdict_") && !stem.starts_with("escalation_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_goes_with_the_last_record_of_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        fs::create_dir_all(&folder).unwrap();
        let make = |name: String, second: u64| {
            let file = fs::File::create(folder.join(name)).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(second)).unwrap();
        };
        let age = Duration::MAX;
        let sessions = KEPT as u64 + 40;
        for number in 0..sessions {
            make(format!("s{number:03}_1.json"), number);
            make(format!("verdict_s{number:03}.json"), number);
        }
        // The first session was judged again, at last.
        make("s000_2.json".to_owned(), sessions);
        make("verdict_s000.json".to_owned(), sessions);
        prune(dir.path(), age).unwrap();
        let there = |name: &str| folder.join(name).exists();
        assert!(there("s000_2.json") && there("verdict_s000.json") && !there("s000_1.json"));
        assert!(!there("s040_1.json") && !there("verdict_s040.json"));
        assert!(there("s041_1.json") && there("verdict_s041.json"));
        assert_eq!(records(dir.path()).unwrap().len(), KEPT);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 * KEPT);
        // With nothing above the maximum, nothing goes.
        prune(dir.path(), age).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 * KEPT);
        // By age, all but the newest go.
        prune(dir.path(), Duration::from_hours(24)).unwrap();
        assert_eq!(records(dir.path()).unwrap().len(), NEWEST);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2 * NEWEST);
        assert!(there("s000_2.json") && there("verdict_s000.json"));
    }
}
