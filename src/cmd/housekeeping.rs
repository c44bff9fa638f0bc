//! Cleans up after commands. Hooks never do this: its cost grows with the amount of data.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use jiff::Timestamp;

use crate::contract_shelf::ContractShelf;
use crate::engine::{Workplace, escalation_path};
use crate::git::{RetentionLimits, remove_leftovers};
use crate::journal::{JournalRetention, JournalState};
use crate::oid::Oid;
use crate::policy::Policy;
use crate::render::ui::Ui;
use crate::verdict::verdict_files;

/// The number of the newest runs of a command that keep their content at any age: those that are compared.
const PROVING: usize = 32;
/// The number of them that keep it even if the store is too large.
const NEWEST: usize = 2;
/// The largest number of records of contracts that ended.
const MAX_ENDED_CONTRACTS: usize = 64;
/// The size of the old part of the journal from which on it is pruned, in bytes.
const MIN_OLD: u64 = 1024 * 1024;
/// The age from which on entries leave a journal that is too large.
const MIN_AGE: Duration = Duration::from_hours(7 * 24);

/// Removes old verdicts, contents that no longer prove anything, and the files of killed processes.
pub(super) fn tidy(place: &Workplace, policy: &Policy, ui: &mut Ui) {
    let (gate_dir, retention) = (place.repo.gate_dir(), policy.retention);
    let age = Duration::from_hours(24).saturating_mul(retention.days);
    remove_leftovers();
    if let Err(error) = place.repo.mark_journal() {
        ui.say(format_args!("gate: the journal could not be marked: {error}"));
    }
    let state = place.state();
    let removed = verdict_files::prune(&gate_dir, age).and_then(|()| match &state {
        Ok(state) => remove_old(&gate_dir, state, age).and_then(|()| remove_ended_contracts(&gate_dir, age)),
        Err(_) => Ok(()),
    });
    if let Err(error) = removed {
        ui.say(format_args!("gate: old files could not be removed: {error}"));
    }
    let Ok(state) = state else { return };
    let payloads = state.refused().map(|(session, _)| escalation_path(&gate_dir, session));
    let waiting: Vec<String> = payloads.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let is_packet = |id: &str| gate_dir.join("handoffs").join(format!("{id}.json")).exists();
    let pruned = place.repo.prune_handoffs(is_packet).and_then(|()| place.repo.prune_aside(&waiting, age));
    if let Err(error) = pruned {
        ui.say(format_args!("gate: old escalated contents could not be removed: {error}"));
    }
    let trees = |most: usize| -> Vec<Oid> {
        let keys = policy.commands.iter().map(|command| command.reference().key);
        let runs = keys.flat_map(|key| state.runs(&key).iter().take(most).cloned().collect::<Vec<_>>());
        runs.flat_map(|recorded| [recorded.run.start.tree.clone(), recorded.run.end.tree.clone()]).collect()
    };
    let limits = RetentionLimits { age, bytes: u64::from(retention.megabytes).saturating_mul(1024 * 1024) };
    place.repo.prune_kept(&trees(PROVING), &trees(NEWEST), limits);
    if let Err(error) = prune_journal(place, limits) {
        ui.say(format_args!("gate: old entries of the journal could not be removed or compressed: {error}"));
    }
}

/// Removes entries of the journal that are older than the limits allow and prove nothing any more, and compresses old
/// ones. Beyond the size, a week is old.
fn prune_journal(place: &Workplace, limits: RetentionLimits) -> anyhow::Result<()> {
    let is_too_large = place.journal.size()? > limits.bytes;
    let age = if is_too_large { limits.age.min(MIN_AGE) } else { limits.age };
    let since = Timestamp::now().checked_sub(age).unwrap_or(Timestamp::MIN);
    if place.journal.has_old(since, MIN_OLD)? {
        let live = place.repo.live_contents()?;
        place.journal.prune(JournalRetention { since, live: &live })?;
    }
    place.journal.compress()?;
    Ok(())
}

/// A folder whose old files nobody needs.
struct Shelf {
    folder: &'static str,
    /// The beginning of the names of these files.
    start: &'static str,
    /// The largest number of them.
    most: usize,
    /// They go by age, too.
    ages: bool,
}

/// Payloads; packets and replies; problems after writes; late answers of judges; and what reviewers said, which holds as
/// long as the change is there.
const SHELVES: [Shelf; 5] = [
    Shelf { folder: "verdicts", start: "escalation_", most: 256, ages: true },
    Shelf { folder: "handoffs", start: "", most: 256, ages: true },
    Shelf { folder: "after-write", start: "", most: 1024, ages: true },
    Shelf { folder: "judgements", start: "", most: 256, ages: true },
    Shelf { folder: "reviews", start: "", most: 32_768, ages: false },
];

/// Removes old files from the shelves, but none of a session that is still refused, or of its rescue.
fn remove_old(gate_dir: &Path, state: &JournalState, age: Duration) -> io::Result<()> {
    let mut waiting: Vec<String> = Vec::new();
    for (session, refused) in state.refused() {
        waiting.push(format!("escalation_{}.", verdict_files::file_stem(session)));
        waiting.extend(refused.rescue.packets.iter().map(|packet| format!("{packet}.")));
    }
    for shelf in &SHELVES {
        let mut files = files_of(&gate_dir.join(shelf.folder), shelf.start)?;
        files.sort_unstable();
        let mut surplus = files.len().saturating_sub(shelf.most);
        for (modified, path) in files {
            let old = shelf.ages && modified.elapsed().is_ok_and(|since| since > age);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if (surplus > 0 || old) && !waiting.iter().any(|start| name.starts_with(start)) {
                fs::remove_file(&path)?;
                surplus = surplus.saturating_sub(1);
            }
        }
    }
    Ok(())
}

/// Removes the records of contracts that ended long ago.
fn remove_ended_contracts(gate_dir: &Path, age: Duration) -> io::Result<()> {
    let ended = ContractShelf::of(gate_dir).all()?.into_iter().filter(|contract| contract.end.is_some());
    let names: Vec<String> = ended.map(|contract| format!("{}.json", contract.name)).collect();
    let mut files = files_of(&gate_dir.join("contracts"), "")?;
    files.retain(|(_, path)| path.file_name().is_some_and(|name| names.iter().any(|ended| **ended == *name)));
    files.sort_unstable();
    let surplus = files.len().saturating_sub(MAX_ENDED_CONTRACTS);
    for (at, (modified, path)) in files.into_iter().enumerate() {
        if at < surplus || modified.elapsed().is_ok_and(|since| since > age) {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

/// Returns the files of a folder whose names begin with `start`, with the times of their last change.
fn files_of(folder: &Path, start: &str) -> io::Result<Vec<(SystemTime, PathBuf)>> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries?,
    };
    let named = entries.flatten().filter(|entry| entry.file_name().to_string_lossy().starts_with(start));
    let dated = named.filter_map(|entry| Some((entry.metadata().ok()?, entry.path())));
    Ok(dated
        .filter(|(meta, _)| meta.is_file())
        .filter_map(|(meta, path)| Some((meta.modified().ok()?, path)))
        .collect())
}
