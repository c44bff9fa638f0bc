//! `gate log`: shows one timeline from the journal, git and, for one session, the log of its client.

use std::env;
use std::time::{Duration, SystemTime};

use crate::cmd::named_tests;
use crate::engine::Workplace;
use crate::event::{Act, Ended, Event, EventKind, SeenPush};
use crate::exit::Exit;
use crate::fact::intent;
use crate::failure::Failure;
use crate::render::ui::{Ui, WARN};
use crate::runner::Project;
use crate::source::remote_reflogs::pushes_since;
use crate::source::sessions::{self, SessionLog};
use crate::timeline::{self, Entry};
use crate::{command_line, render, source};

/// The maximum number of movements of refs that are read.
const MOVEMENTS: usize = 5_000;

/// Arguments of `gate log`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the last N events; 0 shows all
    #[arg(short = 'n', long = "max-count", value_name = "N", default_value_t = 40)]
    max_count: usize,
    /// Print one JSON object per line
    #[arg(long)]
    json: bool,
    /// Show only the events after the one with this id
    #[arg(long, value_name = "ID")]
    since: Option<String>,
    /// Show only this session (its id or the start of it), with its client's log and what git did at the same time
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
    /// Show the history of one test (its name or a part of it): when its result changed, and on which content
    #[arg(long, value_name = "NAME", conflicts_with_all = ["since", "session"])]
    test: Option<String>,
}

/// Prints the timeline of the repository of the current directory.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    if let Some(test) = &args.test {
        return named_tests::of_one(&place, test, args.json, ui);
    }
    match &args.session {
        Some(session) => {
            let (session, logs) = logs(&place, session, ui)?;
            show(args, Some(&session), logs.into_iter().map(|log| log.events).collect(), &place, ui)
        }
        None => show(args, None, Vec::new(), &place, ui),
    }
}

/// Returns the full id of a session and the events in its logs and those of its sub-agents.
pub(super) fn logs(place: &Workplace, named: &str, ui: &mut Ui) -> anyhow::Result<(String, Vec<ReadLog>)> {
    let repo = &place.repo;
    let roots = super::sessions::roots(repo);
    let mut found = sessions::find(&roots, &|name| env::var_os(name));
    let mut imported = sessions::imported(&repo.gate_dir());
    let ids = found.iter().map(|found| found.id.as_str());
    let ids = ids.chain(imported.iter().filter_map(|imported| imported.summary.session.as_deref()));
    let mut meant: Vec<&str> = ids.filter(|id| id.starts_with(named)).collect();
    meant.sort_unstable();
    meant.dedup();
    let session = match meant.as_slice() {
        _ if meant.contains(&named) => named.to_owned(),
        [] => named.to_owned(),
        [one] => (*one).to_owned(),
        several => {
            let failure = format!("`{named}` is the beginning of {} sessions: {}", several.len(), several.join(", "));
            return Err(Failure::new(Exit::BadInput, failure).remedy("type more of it").into());
        }
    };
    found.retain(|found| found.id == session);
    imported.retain(|imported| imported.summary.session.as_ref() == Some(&session));
    let logs: Vec<SessionLog> =
        found.into_iter().flat_map(|found| std::iter::once(found.log).chain(found.subagents)).collect();
    let own = logs.iter().map(|log| (&log.path, sessions::read(log, &roots)));
    let of_others = imported.iter().map(|log| {
        let read = sessions::imported_events(log);
        (&log.path, read.map(|events| sessions::LogContents { summary: log.summary.clone(), events }))
    });
    let mut read = Vec::new();
    for (path, log) in own.chain(of_others) {
        match log {
            Ok(sessions::LogContents { summary, events }) => {
                let file = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
                read.push(ReadLog { file, summary, events });
            }
            Err(error) => ui.say(format_args!("{WARN}warning:{WARN:#} {error}")),
        }
    }
    Ok((session, read))
}

/// A log of a session, as it was read.
pub(super) struct ReadLog {
    /// The name of its file.
    pub(super) file: String,
    /// What is known of it without its events.
    pub(super) summary: sessions::SessionSummary,
    /// What happened.
    pub(super) events: Vec<Event>,
}

/// Prints the timeline of the journal, of git, and of logs.
fn show(
    args: &Args,
    session: Option<&str>,
    logs: Vec<Vec<Event>>,
    place: &Workplace,
    ui: &mut Ui,
) -> anyhow::Result<Exit> {
    let (journal, more) = journal(args, session, place)?;
    // What git did before the first of these events is not among the last entries.
    let from = journal.first().filter(|_| more).map(|event| event.at);
    let mut sources = vec![journal];
    sources.extend(logs);
    match source::git::read(|| place.repo.command(), MOVEMENTS) {
        Ok(logs) => {
            let shown = |event: &Event| from.is_none_or(|from| event.at >= from);
            sources.extend(logs.into_iter().map(|log| log.events.into_iter().filter(shown).collect()));
        }
        // What the journal holds is worth showing without it.
        Err(error) => ui.say(format_args!("{WARN}warning:{WARN:#} {error}")),
    }
    let judged_since = place.judged_since();
    let mut entries = timeline::merge_since(sources, judged_since.and_then(|since| since.try_into().ok()));
    let precede = judged_since.map(|since| pushes_in_second_before(place, since)).unwrap_or_default();
    for entry in &mut entries {
        entry.unjudged |= is_push_past_hooks(&entry.event.kind);
        entry.unjudged &= !precede.iter().any(|push| is_of(push, &entry.event.kind));
    }
    for entry in select(entries, args, session)? {
        if args.json { ui.line(render::timeline::json(&entry)?) } else { ui.line(render::timeline::human(&entry)) }
    }
    Ok(Exit::Pass)
}

/// Returns the events of the journal that the arguments may select, and `true` if there are earlier ones. Starts of commands
/// and verdicts on pushes, which belong to later entries, lie a little before these.
fn journal(args: &Args, session: Option<&str>, place: &Workplace) -> anyhow::Result<(Vec<Event>, bool)> {
    const BEFORE: usize = 1_000;
    if args.max_count == 0 || args.since.is_some() || session.is_some() {
        return Ok((source::journal::read(&place.journal)?, false));
    }
    Ok(source::journal::read_last(&place.journal, args.max_count.saturating_mul(2).saturating_add(BEFORE))?)
}

/// Returns the pushes in the second in which gate was installed, before it was.
fn pushes_in_second_before(place: &Workplace, since: SystemTime) -> Vec<SeenPush> {
    let second = since.checked_sub(Duration::from_secs(1)).unwrap_or(since);
    let mut pushes = pushes_since(place.repo.common_dir(), second);
    pushes.retain(|push| SystemTime::from(push.at) < since);
    pushes
}

fn is_of(push: &SeenPush, kind: &EventKind) -> bool {
    matches!(kind, EventKind::Git(seen) if seen.reference == push.tracking && seen.new.as_ref() == Some(&push.new))
}

/// Returns `true` if an agent's command line pushed without the hooks.
fn is_push_past_hooks(kind: &EventKind) -> bool {
    let EventKind::Work(work) = kind else { return false };
    let Act::Command(command) = &work.act else { return false };
    let understood = command_line::understand_in(&command.line, command.shell, Project::without_runners(&()));
    command.ended.is_some_and(Ended::success) && understood.is_ok_and(|line| intent::pushes_past_hooks(&line))
}

/// Returns the entries that the arguments select, newest last.
fn select(mut entries: Vec<Entry>, args: &Args, session: Option<&str>) -> Result<Vec<Entry>, Failure> {
    if let Some(id) = &args.since {
        let named =
            |entry: &Entry| entry.event.id == *id || entry.started.as_ref().is_some_and(|(started, _)| started == id);
        let at = entries.iter().position(named).ok_or_else(|| {
            Failure::new(Exit::BadInput, format_args!("no event has the id `{id}`"))
                .remedy("`gate log --json -n 0` shows all ids")
        })?;
        entries.drain(..=at);
    }
    if let Some(session) = session {
        let is_its = |entry: &Entry| entry.event.session.as_deref() == Some(session);
        if !entries.iter().any(is_its) {
            let failure = format_args!("no session here is called `{}`", session.escape_debug());
            return Err(Failure::new(Exit::BadInput, failure).remedy("`gate sessions` lists them"));
        }
        // git knows of no sessions: what it did between the first and the last act is shown.
        let first = entries.iter().position(is_its).unwrap_or(entries.len());
        let last = entries.iter().rposition(is_its).unwrap_or_default();
        let mut at = 0;
        entries.retain(|entry| {
            let inside = (first..=last).contains(&at);
            at += 1;
            is_its(entry) || inside && matches!(entry.event.kind, EventKind::Git(_))
        });
    }
    if args.max_count > 0 {
        entries.drain(..entries.len().saturating_sub(args.max_count));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Damage, Origin};

    fn entries() -> Vec<Entry> {
        let event = |id: &str, session: Option<&str>| Event {
            id: id.to_owned(),
            at: jiff::Timestamp::UNIX_EPOCH,
            session: session.map(str::to_owned),
            origin: Origin::observed(),
            kind: EventKind::Damage(Damage { what: "x".to_owned() }),
        };
        let events = vec![event("1", None), event("2", Some("s")), event("3", None), event("4", Some("s"))];
        timeline::merge(vec![events])
    }

    #[test]
    fn arguments_select() {
        let args = |max_count, since: Option<&str>, session: Option<&str>| Args {
            max_count,
            json: false,
            since: since.map(str::to_owned),
            session: session.map(str::to_owned),
            test: None,
        };
        for (args, expected) in [
            (args(0, None, None), "1234"),
            (args(40, None, None), "1234"),
            (args(2, None, None), "34"),
            (args(0, Some("2"), None), "34"),
            (args(0, Some("4"), None), ""),
            (args(1, None, Some("s")), "4"),
            (args(0, Some("2"), Some("s")), "4"),
        ] {
            let session = args.session.as_deref();
            let ids: String =
                select(entries(), &args, session).unwrap().into_iter().map(|entry| entry.event.id).collect();
            assert_eq!(ids, expected, "{args:?}");
        }
        let unknown = select(entries(), &args(0, Some("9"), None), None).unwrap_err();
        assert_eq!(unknown.exit, Exit::BadInput);
    }
}
