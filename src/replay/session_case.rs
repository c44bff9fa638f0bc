//! A session of an agent's client, written down as cases: one for each stop, with all that happened before it.

use std::collections::HashMap;
use std::path::PathBuf;

use jiff::Timestamp;
use serde_json::Value;

use crate::engine::Workplace;
use crate::event::{Act, Event, EventKind};
use crate::fact::subject::Base;
use crate::git::GitError;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::ref_names;
use crate::replay::anonymize::Neutral;
use crate::replay::compose::{CaseEnd, CaseSources, compose};
use crate::replay::turn_end::{is_stop, stop_of};
use crate::source;
use crate::source::sessions::is_absolute;
use crate::timeline::{self, Entry};
use crate::verdict::Verdict;

/// The largest number of movements of refs that are read.
const MOVEMENTS: usize = 5_000;

/// The records of a session.
#[derive(Debug, Default)]
pub struct SessionDetails {
    pub id: String,
    /// The events of the journal, oldest first.
    pub journal: Vec<Event>,
    /// The events of its logs, each oldest first.
    pub logs: Vec<Vec<Event>>,
    /// The verdicts on its stops, by the id of the event of the stop.
    pub verdicts: HashMap<String, Verdict>,
}

/// The ids of the verdicts on the stops of a session, by the id of the event of the stop.
pub fn verdicts_on_stops(journal: &[Event], id: &str) -> HashMap<String, String> {
    let mut found = HashMap::new();
    let mut stop = None;
    for event in journal.iter().filter(|event| event.session.as_deref() == Some(id)) {
        match &event.kind {
            EventKind::Judged(judged) if judged.moment == Moment::Stop => {
                if let Some(stop) = stop.take() {
                    found.insert(stop, judged.verdict.clone());
                }
            }
            _ if is_stop(event) => stop = Some(event.id.clone()),
            _ => {}
        }
    }
    found
}

/// A session whose stops are to be judged.
pub struct RecordedSession<'a> {
    pub id: String,
    place: &'a Workplace,
    neutral: &'a Neutral,
    entries: Vec<Entry>,
    verdicts: HashMap<String, Verdict>,
}

impl<'a> RecordedSession<'a> {
    /// Puts together what is known of a session. Returns `None` if nothing is known.
    pub fn of(place: &'a Workplace, told: SessionDetails, neutral: &'a Neutral) -> Option<Self> {
        let mut sources: Vec<Vec<Event>> = vec![told.journal];
        sources.extend(told.logs);
        if sources.iter().all(Vec::is_empty) {
            return None;
        }
        let of_others = |event: &&Event| event.session.as_ref().is_some_and(|session| *session != told.id);
        let its = sources.iter().flatten().filter(|event| !of_others(event)).map(|event| event.at);
        let (first, last) = (its.clone().min(), its.max());
        let moved = source::git::read(|| place.repo.command(), MOVEMENTS).unwrap_or_default();
        let meanwhile = |event: &Event| Some(event.at) >= first && Some(event.at) <= last;
        sources.extend(moved.into_iter().map(|log| log.events.into_iter().filter(meanwhile).collect()));
        let entries = timeline::merge(sources);
        Some(Self { id: told.id, place, neutral, entries, verdicts: told.verdicts })
    }

    /// The places of its stops: turns that the agent itself ended.
    pub fn stops(&self) -> Vec<usize> {
        let stops = self.entries.iter().enumerate().filter(|(_, entry)| is_stop(&entry.event));
        stops.map(|(at, _)| at).collect()
    }

    /// The number of turns that a person or an error interrupted.
    pub fn interrupted(&self) -> usize {
        self.entries.iter().filter(|entry| stop_of(&entry.event).is_some() && !is_stop(&entry.event)).count()
    }

    /// Whether acts of the agent follow its last stop.
    pub fn continues(&self) -> bool {
        let from = self.stops().last().map_or(0, |at| at + 1);
        self.entries[from..].iter().any(|entry| is_deed(&entry.event))
    }

    /// When a stop was, and the words it ended with.
    pub fn told_at(&self, stop: usize) -> Option<(Timestamp, String)> {
        let event = &self.entries.get(stop)?.event;
        Some((event.at, self.neutral.text(&stop_of(event)?.text)))
    }

    /// Writes down what happened up to a stop as a case; without a stop, all that happened.
    pub fn case(&self, stop: Option<usize>) -> Result<Value, GitError> {
        let entries = &self.entries[..stop.map_or(self.entries.len(), |at| at + 1)];
        let place = self.place;
        let given = stop.and_then(|at| self.verdicts.get(&self.entries[at].event.id));
        // What a verdict judged is what is judged again, as far as it is still there.
        let judged = given.and_then(|given| Some((given, super::rejudge::judged(place, given).ok()?)));
        let head = match &judged {
            Some((_, judged)) => judged.iter().find_map(|one| one.commit.clone()),
            None => head_of(place, entries)?,
        };
        let lineage = place.lineage(head.as_ref())?;
        let base = match (&judged, lineage.as_ref().map(|lineage| &lineage.base)) {
            (Some((_, judged)), _) => judged.iter().find_map(|one| one.base.clone()),
            (None, Some(Base::MergeBase { commit, .. })) => Some(commit.clone()),
            (None, _) => None,
        };
        let commits = super::compose::commits(place, head.as_ref(), base.as_ref())?;
        let mut record = record(self.id.clone(), entries, base, head.clone(), commits);
        record.policy = match &judged {
            Some((given, _)) => super::rejudge::policy_text(place, given),
            // Which policy counts is a question of now; a broken one is none.
            None => {
                let policy = place.policy(lineage.as_ref()).ok();
                policy.and_then(|(policy, _)| super::rejudge::text_of(place, &policy.source))
            }
        };
        if let Some((given, judged)) = &judged {
            record.end = CaseEnd::Stop { head, work: judged.iter().find_map(|one| one.work.clone()) };
            record.hosting = given.hosting.as_ref();
        }
        let branch = place.repo.head()?.branch;
        record.branch = branch.map(|name| ref_names::short(&name).to_owned());
        compose(Some(&place.repo), self.neutral, &record)
    }
}

/// Widens a folder until it holds all files that an event edited by an absolute path: after all events, the root of a log
/// that does not say where it was.
pub fn widen(common: &mut Option<PathBuf>, event: &Event) {
    let EventKind::Work(work) = &event.kind else { return };
    let Act::Edited(edits) = &work.act else { return };
    let paths = edits.iter().map(|edit| edit.path.to_string());
    // The client's own notes lie elsewhere.
    for path in paths.filter(|path| is_absolute(path) && !path.contains("/.gemini/")).map(PathBuf::from) {
        let folder = common.take().or_else(|| path.parent().map(PathBuf::from));
        *common = folder.and_then(|folder| folder.ancestors().find(|one| path.starts_with(one)).map(PathBuf::from));
    }
}

pub(super) fn record(
    id: String,
    entries: &[Entry],
    base: Option<Oid>,
    head: Option<Oid>,
    commits: Vec<crate::commit::change::Commit>,
) -> CaseSources<'_> {
    let work = last_tree(entries);
    let end = CaseEnd::Stop { head, work };
    CaseSources {
        title: format!("session {id}"),
        id,
        policy: None,
        base,
        branch: None,
        entries,
        commits,
        hosting: None,
        end,
    }
}

/// Returns `true` for an edit or a command.
pub(super) fn is_deed(event: &Event) -> bool {
    matches!(&event.kind, EventKind::Work(work) if matches!(work.act, Act::Edited(_) | Act::Command(_)))
}

/// Returns the commit that was checked out last, as far as it is recorded and still exists.
fn head_of(place: &Workplace, entries: &[Entry]) -> Result<Option<Oid>, GitError> {
    for head in entries.iter().rev().filter_map(|entry| match &entry.event.kind {
        EventKind::Run(run) => run.start.head.clone(),
        EventKind::Judged(judged) => judged.commits.first().cloned(),
        EventKind::Git(movement) if movement.action != "push" => movement.new.clone(),
        EventKind::Work(work) => match &work.act {
            Act::Command(command) => command.end.as_ref().or(command.start.as_ref()).and_then(|kept| kept.head.clone()),
            _ => None,
        }
        .or_else(|| work.head.clone()),
        _ => None,
    }) {
        if place.repo.commit(head.as_str())?.is_some() {
            return Ok(Some(head));
        }
    }
    Ok(None)
}

/// Returns the content that was kept last, if no later act may have changed it.
fn last_tree(entries: &[Entry]) -> Option<Oid> {
    for entry in entries.iter().rev() {
        match &entry.event.kind {
            EventKind::Run(run) => return Some(run.end.tree.clone()),
            EventKind::Work(work) => match &work.act {
                Act::Command(command) => return command.end.as_ref().map(|kept| kept.tree.clone()),
                Act::Edited(_) => return None,
                _ => {}
            },
            EventKind::Git(_) => return None,
            _ => {}
        }
    }
    None
}
