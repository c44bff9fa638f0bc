//! `gate replay`: judges a record again.

use std::collections::HashMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::engine::Workplace;
use crate::event::{Event, EventKind};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::render::ui::Ui;
use crate::replay::anonymize::Neutral;
use crate::replay::log_answers::LogJudge;
use crate::replay::rejudge::{self, AgainError};
use crate::replay::session_answers::{self, StopError, UnreadRecords};
use crate::replay::session_case::{self, RecordedSession, SessionDetails};
use crate::replay::{Case, CaseError, SessionAnswers, answer};
use crate::source::sessions::{self, Roots, SessionLog};
use crate::verdict::Verdict;

/// Arguments of `gate replay`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A case file (docs/cases.md), a verdict (its id, or the path of its record), or a session (its id, or its client's
    /// log), which is judged at each stop; `-` reads a case from standard input
    #[arg(value_name = "VERDICT|SESSION|CASE")]
    what: String,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `gate replay`.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let path = Path::new(&args.what);
    if args.what == "-" {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(Failure::of_file(Exit::Usage, path))?;
        return case(args, &bytes, ui);
    }
    if !path.is_file() {
        return recorded(args, ui);
    }
    if let Some(client) = sessions::recognise(path).map_err(Failure::of_file(Exit::Usage, path))? {
        return log(args, &SessionLog::new(client, path.to_owned()), ui);
    }
    let bytes = fs::read(path).map_err(Failure::of_file(Exit::Usage, path))?;
    let value: Option<Value> = serde_json::from_slice(&bytes).ok();
    let has = |key: &str| value.as_ref().is_some_and(|value| value.get(key).is_some());
    if has("gates") || has("record") {
        let place = Workplace::here()?;
        return again(args, &place, &super::explain::read(path)?, ui);
    }
    case(args, &bytes, ui)
}

/// Judges a case.
fn case(args: &Args, bytes: &[u8], ui: &mut Ui) -> anyhow::Result<Exit> {
    let wrong = |error: CaseError| Failure::new(Exit::BadInput, format!("{}: {error}", args.what));
    let case = Case::read(bytes).map_err(wrong)?;
    let answers = answer(&case).map_err(wrong)?;
    ui.show(args.json, &answers, render::replay::lines(&case, &answers))?;
    Ok(Exit::Pass)
}

/// Judges the record that has this id here.
fn recorded(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    if let Some((_, verdict)) = super::explain::find(&place, Some(&args.what))? {
        return again(args, &place, &verdict, ui);
    }
    let (id, logs) = super::log::logs(&place, &args.what, ui)?;
    let mut journal = rejudge::events(&place);
    let mut verdicts = HashMap::new();
    for (stop, given) in session_case::verdicts_on_stops(&journal, &id) {
        verdicts.extend(super::explain::find(&place, Some(&given))?.map(|(_, verdict)| (stop, verdict)));
    }
    // Evidence counts whoever's session it is of.
    let its = |event: &Event| event.session.as_ref() == Some(&id);
    if journal.iter().any(its) {
        journal.retain(|event| its(event) || matches!(event.kind, EventKind::Run(_)));
    } else {
        journal.clear();
    }
    let unread = logs.iter().filter_map(|log| UnreadRecords::of(&log.file, &log.summary.counts)).collect();
    let logs = logs.into_iter().map(|log| log.events).collect();
    let told = SessionDetails { id, journal, logs, verdicts };
    let neutral = neutral(Some(&place));
    match RecordedSession::of(&place, told, &neutral) {
        Some(session) => judged(args, &session, unread, ui),
        None => Err(Failure::new(
            Exit::Usage,
            format!("`{}` is not a file, a verdict or a session of this repository", args.what),
        )
        .remedy("to list verdicts: gate log; to list sessions: gate sessions")
        .into()),
    }
}

/// Judges the session of a log, with the contents of this repository if it took place here.
fn log(args: &Args, log: &SessionLog, ui: &mut Ui) -> anyhow::Result<Exit> {
    let bad = |error: sessions::Error| Failure::new(Exit::BadInput, error);
    let mut common = None;
    let summary = sessions::read_each(log, &Roots::new([]), &mut |event| session_case::widen(&mut common, &event));
    let summary = summary.map_err(bad)?;
    let dir = summary.dir.map(PathBuf::from).or(common);
    let log = &SessionLog { dir: dir.as_ref().map(|dir| dir.display().to_string()), ..log.clone() };
    let id = summary.session.unwrap_or_else(|| args.what.clone());
    let here = Workplace::here().ok();
    let roots = here.as_ref().map(|place| super::sessions::roots(&place.repo));
    if let (Some(place), Some(roots)) = (&here, roots)
        && dir.as_ref().is_some_and(|dir| roots.contain(dir))
    {
        let sessions::LogContents { summary, events } = sessions::read(log, &roots).map_err(bad)?;
        let unread = UnreadRecords::of(&name_of(&log.path), &summary.counts);
        let told = SessionDetails { id, journal: Vec::new(), logs: vec![events], verdicts: HashMap::new() };
        let neutral = neutral(Some(place));
        let Some(session) = RecordedSession::of(place, told, &neutral) else { return Err(empty(args, unread)) };
        return judged(args, &session, unread.into_iter().collect(), ui);
    }
    let neutral = Neutral::new(dir.as_deref(), None);
    let mut judge = LogJudge::new(id, &neutral).map_err(|error| stopped(args, error))?;
    let mut so_far = Ok(());
    let mut next = |event| {
        if so_far.is_ok() {
            so_far = judge.event(event);
        }
    };
    let summary = sessions::read_each(log, &Roots::new(dir.clone()), &mut next).map_err(bad)?;
    let unread = UnreadRecords::of(&name_of(&log.path), &summary.counts);
    let answers = so_far.and_then(|()| judge.finish(unread.clone().into_iter().collect()));
    match answers.map_err(|error| stopped(args, error))? {
        Some(answers) => shown(args, &answers, ui),
        None => Err(empty(args, unread)),
    }
}

/// Returns the failure for a log in which nothing happens.
fn empty(args: &Args, unread: Option<UnreadRecords>) -> anyhow::Error {
    let unread = unread.map(|unread| format!(" ({})", render::sessions::unread(&unread))).unwrap_or_default();
    Failure::new(Exit::BadInput, format!("{}: this log has no prompt, command or edit{unread}", args.what)).into()
}

fn name_of(path: &Path) -> String {
    path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// Judges each stop of a session.
fn judged(args: &Args, session: &RecordedSession<'_>, unread: Vec<UnreadRecords>, ui: &mut Ui) -> anyhow::Result<Exit> {
    shown(args, &session_answers::judge(session, unread).map_err(|error| stopped(args, error))?, ui)
}

/// Returns the failure for a session that cannot be judged.
fn stopped(args: &Args, error: StopError) -> anyhow::Error {
    match error {
        StopError::Case(error) => Failure::new(Exit::BadInput, format!("{}: {error}", args.what)).into(),
        StopError::Git(error) => error.into(),
    }
}

fn shown(args: &Args, answers: &SessionAnswers, ui: &mut Ui) -> anyhow::Result<Exit> {
    if args.json {
        ui.json(answers)?;
    } else {
        ui.raw(render::replay::session(answers));
    }
    Ok(Exit::Pass)
}

/// Returns the places of this machine, which a case does not name.
pub(super) fn neutral(place: Option<&Workplace>) -> Neutral {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Neutral::new(place.and_then(|place| place.repo.root()), home.as_deref())
}

/// Judges a verdict again.
fn again(args: &Args, place: &Workplace, verdict: &Verdict, ui: &mut Ui) -> anyhow::Result<Exit> {
    let again = rejudge::again(place, verdict).map_err(|error| cannot(&verdict.id, error))?;
    ui.show(args.json, &again, render::replay::again(&again))?;
    Ok(Exit::Pass)
}

/// Returns the failure for a verdict that cannot be judged again.
pub(super) fn cannot(id: &str, error: AgainError) -> Failure {
    match error {
        AgainError::Policy(failure) => failure,
        AgainError::Gone(_) | AgainError::NotKept(_) => {
            Failure::new(Exit::CannotJudge, format!("verdict {id} cannot be judged again: {error}"))
        }
        AgainError::Facts(_) | AgainError::Git(_) => {
            Failure::new(Exit::Internal, format!("verdict {id} cannot be judged again: {error}"))
        }
    }
}
