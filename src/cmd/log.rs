//! `gate log`: what happened, as one timeline out of the journal and git.

use std::process::Command;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::Journal;
use crate::render;
use crate::render::ui::{Ui, WARN};
use crate::source;
use crate::timeline::{self, Entry};

/// How many movements of refs are read.
const MOVEMENTS: usize = 5_000;

/// Arguments of `gate log`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Show the last N events; 0 shows all
    #[arg(short = 'n', long = "max-count", value_name = "N", default_value_t = 40)]
    max_count: usize,
    /// One JSON object a line
    #[arg(long)]
    json: bool,
    /// Only what came after the event with this id
    #[arg(long, value_name = "ID")]
    since: Option<String>,
    /// Only events of this session
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Prints the timeline of the repository of the current directory.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    show(args, &place.journal, || place.repo.command(), ui)
}

/// Prints the timeline of `journal` and of the repository that `git` prepares a git for.
fn show(args: &Args, journal: &Journal, git: impl FnOnce() -> Command, ui: &mut Ui) -> anyhow::Result<Exit> {
    let mut sources = vec![source::journal::read(journal)?];
    match source::git::read(git, MOVEMENTS) {
        Ok(logs) => sources.extend(logs.into_iter().map(|log| log.events)),
        // What the journal holds is worth showing without it.
        Err(error) => ui.say(format_args!("{WARN}warning:{WARN:#} {error}")),
    }
    for entry in select(timeline::merge(sources), args)? {
        if args.json { ui.line(render::timeline::json(&entry)?) } else { ui.line(render::timeline::human(&entry)) }
    }
    Ok(Exit::Pass)
}

/// What the arguments ask for, newest last.
fn select(mut entries: Vec<Entry>, args: &Args) -> Result<Vec<Entry>, Failure> {
    if let Some(id) = &args.since {
        let named =
            |entry: &Entry| entry.event.id == *id || entry.started.as_ref().is_some_and(|(started, _)| started == id);
        let at = entries.iter().position(named).ok_or_else(|| {
            Failure::new(Exit::BadInput, format_args!("no event has the id `{id}`"))
                .remedy("`gate log --json -n 0` shows all ids")
        })?;
        entries.drain(..=at);
    }
    if args.session.is_some() {
        entries.retain(|entry| entry.event.session == args.session);
    }
    if args.max_count > 0 {
        entries.drain(..entries.len().saturating_sub(args.max_count));
    }
    Ok(entries)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Damage, Event, EventKind, Origin};

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
            let ids: String = select(entries(), &args).unwrap().into_iter().map(|entry| entry.event.id).collect();
            assert_eq!(ids, expected, "{args:?}");
        }
        let unknown = select(entries(), &args(0, Some("9"), None)).unwrap_err();
        assert_eq!(unknown.exit, Exit::BadInput);
    }
}
