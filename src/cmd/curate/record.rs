//! The record that the proposals are made of: the journal, and the logs of clients.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{env, fs};

use anyhow::Result;
use jiff::Timestamp;

use crate::command_line::{self, LineRecord};
use crate::engine::Workplace;
use crate::event::{Act, Event, EventKind};
use crate::fact::session_steps::Story;
use crate::learn::curator::RunDetails;
use crate::learn::memory_file;
use crate::learn::task_record::{self, TaskRecord};
use crate::render::ui::{Ui, WARN};
use crate::runner::Project;
use crate::source::project_files::DiskDirectory;
use crate::source::sessions::{self, Roots, SessionLog};
use crate::timeline;

/// The largest number of sessions whose logs are read, the latest ones.
const MAX_LOGS: usize = 50;

/// The record of the sessions.
pub(super) struct CuratedRecord {
    /// The steps of each session.
    pub(super) stories: Vec<Story>,
    /// The details of commands, by the id of the event.
    pub(super) details: BTreeMap<String, RunDetails>,
    /// The tasks in the journal.
    pub(super) tasks: Vec<TaskRecord>,
    /// The kinds of checks that the memory file names commands for.
    pub(super) named_checks: BTreeSet<String>,
    /// The time of the first event of a session.
    pub(super) since: Option<Timestamp>,
    /// The evaluations of prompts, as evidence.
    pub(super) evaluations: Vec<String>,
}

/// The logs of one session.
#[derive(Default)]
struct SessionLogs {
    last: Timestamp,
    own: Vec<SessionLog>,
    imported: Vec<sessions::Imported>,
}

/// Reads the record. A log that cannot be read is reported and left out.
pub(super) fn read(place: &Workplace, root: &Path, memory: &str, ui: &mut Ui) -> Result<CuratedRecord> {
    let files = DiskDirectory(root.to_owned());
    let policy = place.policy(None).ok();
    let project =
        policy.as_ref().map_or_else(|| Project::without_runners(&files), |(policy, _)| policy.project(&files));
    let events = place.journal.latest_events()?;
    let tasks = task_record::tasks(&events);
    let evaluations = events.iter().filter_map(evaluation).collect();
    let mut by_session: BTreeMap<String, Vec<Vec<Event>>> = BTreeMap::new();
    for event in events {
        if let Some(session) = event.session.clone() {
            let own = by_session.entry(session).or_insert_with(|| vec![Vec::new()]);
            own[0].push(event);
        }
    }
    let roots = super::super::sessions::roots(&place.repo);
    for (session, logs) in latest_logs(place, &roots) {
        let events = events_of(&logs, &roots, ui);
        by_session.entry(session).or_default().push(events);
    }
    let details = by_session.values().flatten().flatten().filter_map(details).collect();
    let since = by_session.values().flatten().flatten().map(|event| event.at).min();
    let mut by_session: Vec<(String, Vec<Vec<Event>>)> = by_session.into_iter().collect();
    by_session.sort_by_key(|(_, sources)| sources.iter().flatten().map(|event| event.at).max());
    let story =
        |(session, sources): (String, Vec<Vec<Event>>)| Story::of(&timeline::merge(sources), Some(&session), project);
    let stories = by_session.into_iter().map(story).collect();
    let named_checks = memory_file::commands(memory).into_iter().flat_map(|line| kinds(line, project));
    let named_checks = named_checks.chain(memory_file::spoken_checks(memory)).collect();
    Ok(CuratedRecord { stories, details, tasks, named_checks, since, evaluations })
}

/// Returns the evaluation of a prompt as a line of evidence.
fn evaluation(event: &Event) -> Option<String> {
    let EventKind::Task(task) = &event.kind else { return None };
    let session = event.session.as_deref()?;
    Some(format!("session {session}, evaluation {}: {}", event.id, task.lines().first()?))
}

/// Returns the kinds of commands that a line runs.
fn kinds(line: &str, project: Project<'_>) -> Vec<String> {
    command_line::judge(line, &LineRecord::default(), project).kind
}

/// Returns the logs of the latest sessions.
fn latest_logs(place: &Workplace, roots: &Roots) -> Vec<(String, SessionLogs)> {
    let mut all: BTreeMap<String, SessionLogs> = BTreeMap::new();
    for found in sessions::find(roots, &|name| env::var_os(name)) {
        let logs = all.entry(found.id).or_default();
        logs.last = logs.last.max(written(&found.log.path));
        logs.own.extend(std::iter::once(found.log).chain(found.subagents));
    }
    for imported in sessions::imported(&place.repo.gate_dir()) {
        let Some(session) = imported.summary.session.clone() else { continue };
        let logs = all.entry(session).or_default();
        logs.last = logs.last.max(imported.summary.last.unwrap_or_default());
        logs.imported.push(imported);
    }
    let mut all: Vec<(String, SessionLogs)> = all.into_iter().collect();
    all.sort_by_key(|(_, logs)| std::cmp::Reverse(logs.last));
    all.truncate(MAX_LOGS);
    all
}

/// Returns the time at which a file was written last.
fn written(path: &Path) -> Timestamp {
    let modified = fs::metadata(path).and_then(|meta| meta.modified()).ok();
    modified.and_then(|at| Timestamp::try_from(at).ok()).unwrap_or_default()
}

/// Returns the events of a session's logs, in order of time.
fn events_of(logs: &SessionLogs, roots: &Roots, ui: &mut Ui) -> Vec<Event> {
    let own = logs.own.iter().map(|log| sessions::read(log, roots).map(|read| read.events));
    let imported = logs.imported.iter().map(sessions::imported_events);
    let mut events = Vec::new();
    for read in own.chain(imported) {
        match read {
            Ok(read) => events.extend(read),
            Err(error) => ui.say(format_args!("{WARN}warning:{WARN:#} {error}")),
        }
    }
    events.sort_by_key(|event| event.at);
    events
}

/// Returns the id of a command's event, and what is known of the command besides its line.
fn details(event: &Event) -> Option<(String, RunDetails)> {
    let (tail, dir) = match &event.kind {
        EventKind::Run(run) => (&run.tail, Some(run.command.dir.clone())),
        EventKind::Work(work) => match &work.act {
            Act::Command(command) => (&command.tail, command.dir.clone()),
            _ => return None,
        },
        _ => return None,
    };
    Some((event.id.clone(), RunDetails { output: tail.clone(), dir }))
}
