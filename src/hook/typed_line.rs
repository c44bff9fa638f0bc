//! Makes evidence from a line that a person types in a shell: two snapshots and its status, as for an agent's line.
//!
//! `hooks/shell/` calls this for lines that start a runner. A line that is not a run of a declared command leaves no
//! record, and errors are not printed: a prompt is not the place for them. Lines of an agent are recorded by the hooks
//! of its client, so nothing is recorded in its session, or without a terminal.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::client::command_weight::{self, Weight};
use super::client::hook_context::clean;
use super::client::line_runs::{self, LineEnd};
use super::client::session_state::{PendingCommand, StartingPoint, Store};
use super::in_time;
use super::unix_millis::millis_since_1970;
use crate::command_line::{self, Understood};
use crate::digest::hex_digest;
use crate::engine::Workplace;
use crate::event::{Ended, EventKind, Grade, Origin};
use crate::journal::NewEvent;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::session::Session;
use crate::shell_kind::Shell;
use crate::source::project_files::DiskDirectory;

/// The reporter of these runs, and the name under which a started line is kept.
pub(super) const REPORTER: &str = "shell";
/// The time limit after which the prompt returns in any case.
const PROMPT_TIMEOUT: Duration = Duration::from_secs(10);
/// The maximum length of a line that is read, in bytes.
const MAX_LINE: usize = 16 * 1024;
/// The maximum number of working trees that one line may run on.
const MAX_GROUNDS: usize = 3;

/// A started line, as it is kept until it ends.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TypedLine {
    pub(super) pending: PendingCommand,
    pub(super) shell: Shell,
    /// A phrase for the part of the environment that narrowed it when it began.
    pub(super) narrowed: Option<String>,
    /// The time at which it began, in milliseconds since 1970, for display.
    began: u64,
    /// The process session of the terminal: another one cannot end it.
    terminal: i32,
}

/// Takes snapshots for a line that is about to begin in `dir`, in the shell with this process number. Returns the token that identifies it to [`end`], or
/// `None` if it is not a run of a command that a `gate.toml` declares, or if nothing is recorded here.
pub fn begin(shell: Shell, line: String, dir: PathBuf, process: Option<u32>) -> Option<String> {
    in_time(PROMPT_TIMEOUT, move || begun(shell, &line, &dir, process)).flatten()
}

/// Records the end of the line of a token.
pub fn end(token: String, status: i32) {
    let _ = in_time(PROMPT_TIMEOUT, move || ended(&token, status));
}

fn begun(shell: Shell, line: &str, dir: &Path, process: Option<u32>) -> Option<String> {
    let terminal = terminal()?;
    if line.len() > MAX_LINE || Session::current(dir).agent.is_some() {
        return None;
    }
    let understood = command_weight::understand(line, dir)?;
    let in_background = understood.program.leaves.iter().any(|leaf| leaf.background || leaf.late);
    if in_background || understood.program.truncated || command_weight::weigh(Some(&understood)) != Weight::Checks {
        return None;
    }
    let began = millis_since_1970();
    let id = hex_digest(&[&std::process::id().to_be_bytes(), &began.to_be_bytes(), line.as_bytes()])[..16].to_owned();
    let (call, line_kept) = (id.clone(), clean(line));
    let pending = PendingCommand { call, line: line_kept, started_by: process, ..PendingCommand::default() };
    let (first, grounds) = grounds(shell, &pending, &understood, dir)?;
    let project = DiskDirectory(dir.to_owned());
    let narrowed = command_line::inherited(line, Project::without_runners(&project), &command_line::environment());
    let token = format!("{id}:{}", grounds.first()?.root.to_str()?);
    let store = Store::of(&first.repo.gate_dir(), REPORTER);
    store.forget_old();
    let typed = TypedLine { pending: PendingCommand { grounds, ..pending }, shell, narrowed, began, terminal };
    store.put_value(&id, &typed).ok()?;
    Some(token)
}

/// Returns the working trees in which a line may be a run of a declared command, and the place of the first of them.
fn grounds(
    shell: Shell,
    pending: &PendingCommand,
    line: &Understood,
    dir: &Path,
) -> Option<(Workplace, Vec<StartingPoint>)> {
    let mut first = None;
    let mut found: Vec<StartingPoint> = Vec::new();
    let places = line_runs::heavy(line).filter_map(|(leaf, _)| line_runs::place_of(leaf, dir));
    for place in places.filter_map(|place| workplace(&place)) {
        let Some(root) = place.repo.root().map(Path::to_owned) else { continue };
        if found.len() >= MAX_GROUNDS || found.iter().any(|ground| ground.root == root) {
            continue;
        }
        if let Some(ground) = ground(shell, pending, &place, root, dir) {
            found.push(ground);
            first.get_or_insert(place);
        }
    }
    Some((first?, found))
}

fn workplace(dir: &Path) -> Option<Workplace> {
    let mut place = Workplace::of_session(dir, Session::current(dir)).ok()?;
    place.session = Session::current(place.repo.root()?);
    Some(place)
}

/// Returns a working tree before the line, if the line may be a run of a command that is declared for it.
fn ground(
    shell: Shell,
    pending: &PendingCommand,
    place: &Workplace,
    root: PathBuf,
    dir: &Path,
) -> Option<StartingPoint> {
    let policy = line_runs::policy_here(place).ok()?;
    let at = line_runs::relative(dir, &root).unwrap_or_else(|| RepoPath::from_os(dir.as_os_str()));
    let told = |ended| command_line::ObservedLine {
        line: &pending.line,
        dir: &at,
        root: root.to_str(),
        ended: Some(ended),
        output: None,
        cut: false,
        background: false,
        shell: Some(shell),
    };
    let files = DiskDirectory(root.clone());
    let serves = |ended| !command_line::witness(&policy.commands, &told(ended), policy.project(&files)).is_empty();
    if ![0, 1].into_iter().map(Ended::Exited).any(serves) {
        return None;
    }
    let start = place.repo.keep_start().ok()?;
    Some(StartingPoint { root, dir: at, start, end: None })
}

fn ended(token: &str, status: i32) -> Option<()> {
    let (id, root) = token.split_once(':')?;
    let first = workplace(Path::new(root))?;
    let typed: TypedLine = Store::of(&first.repo.gate_dir(), REPORTER).take_value(id)?;
    let other = terminal() != Some(typed.terminal) || first.session.agent.is_some();
    if other || is_stopped(status) {
        return None;
    }
    let mut pending = typed.pending;
    pending.millis = millis_since_1970().saturating_sub(typed.began);
    let line_end = LineEnd {
        shell: Some(typed.shell),
        ended: Ended::Exited(status),
        output: None,
        narrowed: typed.narrowed.as_deref(),
    };
    for mut ground in std::mem::take(&mut pending.grounds) {
        let Some(place) = workplace(&ground.root) else { continue };
        ground.end = place.repo.keep_now().ok();
        record(&place, &pending, &ground, line_end);
    }
    Some(())
}

/// Records the runs of a line in one working tree. If that fails, the line proves nothing.
fn record(place: &Workplace, pending: &PendingCommand, ground: &StartingPoint, line_end: LineEnd<'_>) {
    let runs = line_runs::runs_of(place, pending, ground, line_end).unwrap_or_default();
    if runs.is_empty() {
        return;
    }
    let event = |kind: EventKind| NewEvent {
        session: Some(place.session.id.clone()),
        origin: Origin { by: REPORTER.to_owned(), grade: Grade::Hooked },
        kind,
    };
    let recorded = runs.into_iter().map(event).try_for_each(|event| place.journal.append(event).map(drop));
    if recorded.is_ok() && line_end.ended.success() {
        let _ = place.reset_attempts_if_proven();
    }
}

/// Returns `true` if a status means that the line was stopped (Ctrl-Z): it has not ended.
fn is_stopped(status: i32) -> bool {
    // SIGSTOP, SIGTSTP, SIGTTIN and SIGTTOU have numbers from 17 to 22, depending on the system.
    (128 + 17..=128 + 22).contains(&status)
}

/// Returns the process session of this process, if it has a terminal.
#[cfg(unix)]
fn terminal() -> Option<i32> {
    File::open("/dev/tty").ok()?;
    rustix::process::getsid(None).ok().map(|session| session.as_raw_nonzero().get())
}

/// Returns the process session of this process, if it has a terminal.
#[cfg(not(unix))]
fn terminal() -> Option<i32> {
    File::open("CONIN$").ok().map(|_| 0)
}
