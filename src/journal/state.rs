//! The sum of the events: a fold over the lines, bounded in size whatever the length of the journal.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::attempts::SessionState;
use super::counted_sessions::Sessions;
use super::hash_chain::{Chain, ChainMark, Integrity};
use super::latest_runs::Runs;
use super::line_format::Decoded;
use super::open_failures::{self, NamedFailures, OpenFailure};
use crate::digest::hex_digest;
use crate::event::{
    AcceptedPlan, Act, EditKind, FileEdit, Prompt, PushVerdict, RedGreenProof, Speaker, TaskContext, TestResults,
};
use crate::event::{Event, EventKind, Grade, Judged, Run, RunStarted, Waived, forwarded_text};
use crate::journal::recorded_run::RecordedRun;
use crate::repo_path::RepoPath;
use crate::tool_folder::{is_dependency_path, is_marker_path};

/// The largest number of waivers that are kept.
pub const MAX_WAIVERS: usize = 256;
/// The largest number of runs whose failed tests are kept by name.
const MAX_NAMED_RUNS: usize = 64;
/// The largest number of red–green proofs that are kept.
const MAX_PROOFS: usize = 16;
/// The largest number of events without proof that are kept.
const MAX_DOUBTED: usize = 256;
/// The largest number of started and never ended commands that are kept.
pub const MAX_UNFINISHED: usize = 64;
/// The largest number of failures of gates that do not block that are remembered, so that each counts once.
const MAX_SEEN: usize = 512;
/// The largest number of sessions with reports of an agent's client that are kept.
pub const MAX_WORKS: usize = 64;
/// The largest number of markers of tool folders that are remembered.
const MAX_MARKERS: usize = 256;
/// The largest number of edited files of installed packages that are remembered.
const MAX_DEPENDENCIES: usize = 64;
/// The largest number of allowed pushes that are kept.
const MAX_PUSHES: usize = 256;
/// The largest number of mentions of pushes without a verdict that are kept.
const MAX_MENTIONED: usize = 128;
/// The largest number of sessions whose plan is kept.
const MAX_PLANS: usize = 16;
/// The largest number of gates that do not block that are counted.
const MAX_COUNTED: usize = 256;

/// The state of the journal. It depends on the lines alone, not on the time of reading.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct JournalState {
    pub(super) chain: Chain,
    runs: Runs,
    waivers: Vec<(String, Waived)>,
    sessions: Sessions,
    would_block: BTreeMap<String, u64>,
    /// Short digests of (gate, trees) that are in `would_block`, newest first.
    seen: Vec<String>,
    unfinished: Vec<Unfinished>,
    /// Tests that failed, the latest first.
    #[serde(default)]
    open_failures: Vec<OpenFailure>,
    /// The tests that failed in the latest runs, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    named_failures: Vec<NamedFailures>,
    /// The red–green proofs with the ids of their events, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    proofs: Vec<(String, RedGreenProof)>,
    /// By session, the latest to begin first: where in the journal its first act of an agent lies, in bytes.
    #[serde(default)]
    works: Vec<(String, u64)>,
    /// Markers of tool folders that an edit wrote, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edited_markers: Vec<RepoPath>,
    /// Files of installed packages that an edit wrote, with the time of the latest edit, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    edited_dependencies: Vec<(RepoPath, Timestamp)>,
    /// The pushes that passed, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    push_verdicts: Vec<PushVerdict>,
    /// The pushes without a verdict that were mentioned, with the session, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    mentioned: Vec<(String, String)>,
    /// By session, the newest first: the last plan that a person accepted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    plans: Vec<(String, AcceptedPlan)>,
    /// By session, the newest first: the context of its task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tasks: Vec<(String, TaskContext)>,
    /// The event of the last line that was followed.
    last_event: Option<String>,
    /// Events whose line differs from the one that the next line saw, newest first: they prove nothing.
    #[serde(default)]
    doubted: Vec<String>,
    /// The last line that is part of the state; `None` if it has other events, too, such as those in the spool.
    #[serde(skip)]
    pub(super) until: Option<ChainMark>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Unfinished {
    session: Option<String>,
    run: (String, RunStarted),
}

/// Makes `value` the one of the session, and the newest.
fn note_latest<T: Clone>(known: &mut Vec<(String, T)>, session: Option<&str>, value: &T) {
    let session = session.unwrap_or_default();
    known.retain(|(other, _)| other != session);
    known.insert(0, (session.to_owned(), value.clone()));
    known.truncate(MAX_PLANS);
}

impl JournalState {
    /// Returns the runs of a command key, newest first: of the latest 128 pairs of start and end tree, the latest 8
    /// each.
    pub fn runs(&self, key: &str) -> &[RecordedRun] {
        self.runs.of(key)
    }

    /// Returns the runs of all keys, those of a key newest first.
    pub fn all_runs(&self) -> impl Iterator<Item = &RecordedRun> {
        self.runs.all()
    }

    /// Returns the keys under which a declared command of this name ran, the latest first. It has several if its line
    /// or its directory was changed.
    pub fn keys_for_name(&self, name: &str) -> impl Iterator<Item = &str> {
        self.runs.keys_for_name(name)
    }

    /// Returns the newest run of each line that is not a declared command, the latest line first.
    pub fn undeclared_runs(&self) -> impl Iterator<Item = &RecordedRun> {
        self.runs.undeclared()
    }

    /// Returns the waivers with the ids of their events, newest first (the latest 256).
    pub fn waivers(&self) -> &[(String, Waived)] {
        &self.waivers
    }

    /// Returns the sum of the verdicts of a session; the empty name stands for "no session known".
    pub fn judged(&self, session: &str) -> &SessionState {
        self.sessions.of(session)
    }

    /// Returns the last plan that a person accepted in a session.
    pub fn plan(&self, session: &str) -> Option<&AcceptedPlan> {
        self.plans.iter().find(|(known, _)| known == session).map(|(_, plan)| plan)
    }

    /// Returns the last plan that a person accepted in any session.
    pub fn latest_plan(&self) -> Option<&AcceptedPlan> {
        self.plans.first().map(|(_, plan)| plan)
    }

    /// Returns the context of the task of a session.
    pub fn task(&self, session: &str) -> Option<&TaskContext> {
        self.tasks.iter().find(|(known, _)| known == session).map(|(_, task)| task)
    }

    /// Returns the session that was refused last and has not passed since.
    pub fn latest_refused(&self) -> Option<&str> {
        self.sessions.latest_refused()
    }

    /// Returns the sessions that were refused and have not passed since, or whose rescue goes on.
    pub fn refused(&self) -> impl Iterator<Item = (&str, &SessionState)> {
        self.sessions.refused()
    }

    /// Returns the session and the name of a packet that was handed over and not answered: the one called `id`, else
    /// the latest.
    pub fn waiting(&self, id: Option<&str>) -> Option<(&str, &str)> {
        self.sessions.waiting(id)
    }

    /// Returns the pushes that passed, newest first (the latest 256).
    pub fn push_verdicts(&self) -> &[PushVerdict] {
        &self.push_verdicts
    }

    /// Returns `true` if a push without a verdict was mentioned in a session, in these words (the latest 128).
    pub fn was_mentioned(&self, session: &str, text: &str) -> bool {
        self.mentioned.iter().any(|(known, said)| known == session && said == text)
    }

    /// Returns the number of failures that did not block, by gate, each (gate, trees) counted once.
    pub fn would_block(&self) -> &BTreeMap<String, u64> {
        &self.would_block
    }

    /// Commands that were started and, as far as is known, never ended: event id and start, newest first (the
    /// latest 64).
    pub fn unfinished(&self) -> impl Iterator<Item = &(String, RunStarted)> {
        self.unfinished.iter().map(|unfinished| &unfinished.run)
    }

    /// Tests that failed in a run of a declared command, with their results since; the latest first.
    pub fn open_failures(&self) -> &[OpenFailure] {
        &self.open_failures
    }

    /// Returns the tests that failed in the run with this id, if the runner named them (the latest 64 such runs).
    pub fn failed_in(&self, run: &str) -> Option<&NamedFailures> {
        self.named_failures.iter().find(|failures| failures.run == run)
    }

    /// Returns the red–green proofs with the ids of their events, newest first (the latest 16).
    pub fn proofs(&self) -> &[(String, RedGreenProof)] {
        &self.proofs
    }

    /// Returns the place in the journal where the first act of an agent in this session lies, in bytes, or `None` if
    /// the journal has none, or it is older than those of the 64 sessions that began last. Spooled acts do not count.
    pub fn work_begins(&self, session: &str) -> Option<u64> {
        self.works.iter().find(|(known, _)| known == session).map(|(_, start)| *start)
    }

    /// Returns the faults of the journal, as far as it was read. The digest of the checkpoint vouches for the lines
    /// before it; [`super::Journal::verify`] reads all of them.
    pub fn integrity(&self) -> Integrity {
        self.chain.integrity()
    }

    /// Returns the ids of the events that this state rests on, verdicts left out.
    pub(super) fn needed(&self) -> HashSet<&str> {
        let failed = self.open_failures.iter().flat_map(|one| [Some(&one.event), one.since_event.as_ref()]).flatten();
        let mut ids: HashSet<&str> = self.runs.all().map(|run| run.id.as_str()).collect();
        ids.extend(self.waivers.iter().map(|(id, _)| id.as_str()));
        ids.extend(self.proofs.iter().map(|(id, _)| id.as_str()));
        ids.extend(self.unfinished.iter().map(|one| one.run.0.as_str()));
        ids.extend(self.named_failures.iter().map(|failures| failures.run.as_str()));
        ids.extend(failed.map(String::as_str));
        ids
    }

    /// Returns `true` if this state rests on a verdict for something else than attempts.
    pub(super) fn rests_on_verdict(&self, event: &Event, judged: &Judged) -> bool {
        let session = event.session.as_deref().unwrap_or_default();
        PushVerdict::of(event).is_some_and(|verdict| self.push_verdicts.contains(&verdict))
            || judged.mentioned.iter().any(|text| self.was_mentioned(session, text))
    }

    /// Returns `true` if a test that is remembered as failed also failed in other sessions than the one it failed in last,
    /// and `session` is one of these.
    pub(super) fn failed_elsewhere(&self, key: &str, test: &str, session: Option<&str>) -> bool {
        let is_meant = |one: &&OpenFailure| one.in_several_sessions && one.key == key && one.test == test;
        self.open_failures.iter().find(is_meant).is_some_and(|one| one.session.as_deref() != session)
    }

    /// Takes up one more line of the journal, which begins at the byte `start`; `None` for one that cannot be read.
    pub(super) fn follow(&mut self, line: Option<&Decoded>, digest: String, start: u64) {
        let seen = line.is_none_or(|line| line.prev == self.chain.last);
        let before = std::mem::replace(&mut self.last_event, line.map(|line| line.event.id.clone()));
        if let Some(before) = before.filter(|_| !seen) {
            self.doubt(before);
        }
        let is_whole = self.chain.follow(line, digest);
        if let Some(line) = line {
            self.apply_at(&line.event, Some(start));
            if !is_whole {
                self.doubt(line.event.id.clone());
            }
            if let (EventKind::Work(_), Some(session)) = (&line.event.kind, &line.event.session) {
                self.note_work(session, start);
            }
        }
    }

    /// Withdraws the effect of an event: its line was changed since, or the one after it.
    fn doubt(&mut self, event: String) {
        self.runs.remove(&event);
        self.named_failures.retain(|failures| failures.run != event);
        self.waivers.retain(|(id, _)| *id != event);
        self.proofs.retain(|(id, _)| *id != event);
        self.doubted.insert(0, event);
        self.doubted.truncate(MAX_DOUBTED);
    }

    /// Returns `true` if an event proves nothing, because its line differs from the one that the next line saw (the
    /// latest 256).
    pub fn doubts(&self, event: &str) -> bool {
        self.doubted.iter().any(|known| known == event)
    }

    /// Returns the markers of tool folders that an edit wrote, newest first (the latest 256).
    pub fn edited_markers(&self) -> &[RepoPath] {
        &self.edited_markers
    }

    fn note_markers(&mut self, edits: &[FileEdit]) {
        let written = edits.iter().filter(|edit| edit.how == EditKind::Written && is_marker_path(&edit.path));
        for edit in written {
            if !self.edited_markers.contains(&edit.path) {
                self.edited_markers.insert(0, edit.path.clone());
            }
        }
        self.edited_markers.truncate(MAX_MARKERS);
    }

    /// Returns the files of installed packages that an edit wrote, with the time of the latest edit, newest first (the
    /// latest 64).
    pub fn edited_dependencies(&self) -> &[(RepoPath, Timestamp)] {
        &self.edited_dependencies
    }

    fn note_dependencies(&mut self, edits: &[FileEdit], at: Timestamp) {
        for edit in edits.iter().filter(|edit| is_dependency_path(&edit.path)) {
            self.edited_dependencies.retain(|(path, _)| *path != edit.path);
            self.edited_dependencies.insert(0, (edit.path.clone(), at));
        }
        self.edited_dependencies.truncate(MAX_DEPENDENCIES);
    }

    fn note_work(&mut self, session: &str, start: u64) {
        if self.work_begins(session).is_none() {
            self.works.insert(0, (session.to_owned(), start));
            self.works.truncate(MAX_WORKS);
        }
    }

    /// Takes up an event that is in no journal yet.
    pub(super) fn apply(&mut self, event: &Event) {
        self.apply_at(event, None);
    }

    fn apply_at(&mut self, event: &Event, offset: Option<u64>) {
        self.until = None;
        match &event.kind {
            EventKind::RunStarted(started) => {
                let run = (event.id.clone(), started.clone());
                self.unfinished.insert(0, Unfinished { session: event.session.clone(), run });
                self.unfinished.truncate(MAX_UNFINISHED);
            }
            EventKind::Run(run) => {
                self.finish(event.session.as_deref(), run);
                if let Some(run) = RecordedRun::of(event, offset) {
                    self.runs.insert(run);
                }
            }
            EventKind::Tests(results) => {
                if !results.part {
                    self.name_failures(results);
                }
                open_failures::follow(&mut self.open_failures, &event.id, event.session.as_deref(), results);
            }
            EventKind::Judged(judged) => {
                self.count_would_block(judged);
                self.note_pushes(event, judged);
                self.sessions.count(event.session.as_deref().unwrap_or_default(), judged);
            }
            EventKind::Waived(waived) => {
                self.waivers.insert(0, (event.id.clone(), waived.clone()));
                self.waivers.truncate(MAX_WAIVERS);
            }
            EventKind::Proof(proof) if event.origin.grade == Grade::Observed => {
                self.proofs.insert(0, (event.id.clone(), (**proof).clone()));
                self.proofs.truncate(MAX_PROOFS);
            }
            EventKind::Plan(plan) => note_latest(&mut self.plans, event.session.as_deref(), plan),
            EventKind::Task(task) => note_latest(&mut self.tasks, event.session.as_deref(), task),
            EventKind::Rescue(rescue) => {
                self.sessions.rescue(event.session.as_deref().unwrap_or_default(), &event.id, rescue);
            }
            EventKind::Work(work) => {
                if let Act::Edited(edits) = &work.act {
                    self.note_markers(edits);
                    self.note_dependencies(edits, event.at);
                }
                // What is read back from a log tells of a task that had begun before.
                if let (Act::Prompt(Prompt { from: Speaker::Person, text }), None, Some(session)) =
                    (&work.act, &work.actor, &event.session)
                    && event.origin.grade >= Grade::Hooked
                    && forwarded_text::says_something(text)
                {
                    self.sessions.prompted(session, text);
                }
            }
            EventKind::Git(_)
            | EventKind::Trial(_)
            | EventKind::Proof(_)
            | EventKind::Posted(_)
            | EventKind::Appealed(_)
            | EventKind::Model(_)
            | EventKind::Damage(_)
            | EventKind::Settings(_)
            | EventKind::Repaired(_)
            | EventKind::Pruned(_)
            | EventKind::Unknown { .. } => {}
            EventKind::Head(head) => {
                for (gate, count) in &head.would_block {
                    *self.would_block.entry(gate.clone()).or_default() += count;
                }
            }
        }
    }

    /// Keeps the failed tests of the run that was recorded right before.
    fn name_failures(&mut self, results: &TestResults) {
        let newest = self.runs.of(&results.key).first().filter(|run| run.run.end.tree == results.tree);
        if let Some(failures) = newest.and_then(|run| NamedFailures::of(&run.id, results)) {
            self.named_failures.insert(0, failures);
            self.named_failures.truncate(MAX_NAMED_RUNS);
        }
    }

    /// Ends a started command. A run does not name its start: the latest with the same key and session counts, since
    /// one that was killed never ends and stays.
    fn finish(&mut self, session: Option<&str>, run: &Run) {
        let same = |unfinished: &Unfinished| {
            unfinished.run.1.command.key == run.command.key && unfinished.session.as_deref() == session
        };
        if let Some(at) = self.unfinished.iter().position(same) {
            self.unfinished.remove(at);
        }
    }

    fn note_pushes(&mut self, event: &Event, judged: &Judged) {
        if let Some(verdict) = PushVerdict::of(event) {
            self.push_verdicts.insert(0, verdict);
            self.push_verdicts.truncate(MAX_PUSHES);
        }
        let session = event.session.as_deref().unwrap_or_default();
        for text in &judged.mentioned {
            self.mentioned.insert(0, (session.to_owned(), text.clone()));
        }
        self.mentioned.truncate(MAX_MENTIONED);
    }

    pub(super) fn count_would_block(&mut self, judged: &Judged) {
        for failing in judged.failing.iter().filter(|failing| !failing.blocks) {
            let mut parts = vec![failing.gate.as_bytes()];
            parts.extend(judged.trees.iter().map(|tree| tree.as_str().as_bytes()));
            let mut digest = hex_digest(&parts);
            digest.truncate(16);
            if self.seen.contains(&digest) {
                continue;
            }
            self.seen.insert(0, digest);
            self.seen.truncate(MAX_SEEN);
            if let Some(count) = self.would_block.get_mut(&failing.gate) {
                *count += 1;
            } else if self.would_block.len() < MAX_COUNTED {
                self.would_block.insert(failing.gate.clone(), 1);
            }
        }
    }
}
