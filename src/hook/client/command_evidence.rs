//! Makes evidence from a command that the agent ran: two snapshots by gate, and the status that its client reports.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::changes;
use super::command_weight::{self, Weight};
use super::hook_context::{Desk, clean};
use super::hook_event::{self, HookEvent, ReportedEnding};
use super::line_runs::{LineEnd, heavy, place_of, relative, runs_of};
use super::output_tail::{end_of_file, plain, short_tail_of, tail_of};
use super::session_state::{PendingCommand, StartingPoint};
use crate::command_line::{self, Understood};
use crate::engine::Workplace;
use crate::event::{Act, CommandEnd, Ended, EventKind, ShellCommand};
use crate::git::{GitError, Repo};
use crate::hook::unix_millis::millis_since_1970;
use crate::parent_processes::processes_above;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::snapshot::KeptSnapshot;
use crate::source::project_files::DiskDirectory;
use crate::source::sessions::Client;

/// The maximum number of working trees that are examined for one line.
const MAX_GROUNDS: usize = 3;
/// The number of processes above a hook among which its client is looked for.
const MAX_HOOK_DEPTH: usize = 6;

/// Takes snapshots of the working trees that a command runs on, before it runs.
pub(super) fn begin(
    desk: &mut Desk,
    told: &HookEvent,
    call: &str,
    line: &str,
    dir: Option<&Path>,
    understood: Option<&Understood>,
) {
    let at = start_of(desk, told, dir);
    let mut grounds = Vec::new();
    for root in works_in(desk, understood, &at) {
        let dir = if root == desk.root { desk.inside(&at) } else { relative(&at, &root) };
        let dir = dir.unwrap_or_else(|| RepoPath::from_os(at.as_os_str()));
        if let Some(start) = look(desk, &root, Repo::keep_start) {
            grounds.push(StartingPoint { root, dir, start, end: None });
        }
    }
    if grounds.is_empty() {
        return;
    }
    let (call, line) = (call.to_owned(), clean(line));
    let is_unnamed = !crate::session::names_sessions(desk.client.as_str());
    let process = if is_unnamed || understood.is_some_and(may_push) { client_process() } else { None };
    let started_by = process.filter(|_| understood.is_some_and(may_push));
    let pending = PendingCommand {
        call,
        line,
        grounds,
        began: millis_since_1970(),
        started_by,
        session: is_unnamed.then(|| desk.place.session.id.clone()),
        client_process: process.filter(|_| is_unnamed),
        ..PendingCommand::default()
    };
    if let Err(error) = desk.store.put(&pending) {
        desk.said.push(format!("gate: the content that this command runs on could not be stored: {error}"));
    }
}

/// Returns `true` if a line pushes, or runs a program that may.
fn may_push(line: &Understood) -> bool {
    line.program.truncated || line.purposes.iter().any(|one| one.is_unknown || !one.pushes.is_empty())
}

/// Returns the process of the client that calls this hook: the nearest one above that is not a shell of the hook.
fn client_process() -> Option<u32> {
    let above = processes_above(MAX_HOOK_DEPTH).into_iter();
    above.into_iter().find(|process| !process.words.join(" ").contains(" hook ")).map(|process| process.id)
}

/// Takes a snapshot of a working tree.
fn look(desk: &mut Desk, root: &Path, keep: impl Fn(&Repo) -> Result<KeptSnapshot, GitError>) -> Option<KeptSnapshot> {
    let looked = if root == desk.root { keep(&desk.place.repo) } else { keep(&desk.place_at(root)?.repo) };
    looked.inspect_err(|error| desk.said.push(format!("gate: the working tree could not be read: {error}"))).ok()
}

fn look_again(desk: &mut Desk, pending: &mut PendingCommand) {
    for ground in &mut pending.grounds {
        ground.end = look(desk, &ground.root, Repo::keep_now);
    }
}

/// Returns the working trees of the repository in which a line does more than read: that of its start, and those that
/// it changes to.
fn works_in(desk: &Desk, line: Option<&Understood>, at: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for (leaf, _) in line.into_iter().flat_map(heavy) {
        let place = place_of(leaf, at);
        if let Some(root) = place.and_then(|place| desk.work_tree_of(&place)).filter(|root| !found.contains(root)) {
            found.push(root);
        }
    }
    if found.is_empty() {
        found.extend(desk.work_tree_of(at));
    }
    found.truncate(MAX_GROUNDS);
    found
}

/// Records a command that ended, and the proof that it gives.
pub(super) fn end(
    desk: &mut Desk,
    told: &HookEvent,
    call: &str,
    line: &str,
    dir: Option<&Path>,
    ending: &ReportedEnding,
) {
    let pending = desk.store.take(call);
    let understood = changes::note(desk, call, line, &start_of(desk, told, dir));
    let weight = command_weight::weigh_output(understood.as_ref());
    let output = ending.whole.as_deref().map_or(Cow::Borrowed(&*ending.output), |file| Cow::Owned(end_of_file(file)));
    let tail = tail_of(&output);
    let mut command = ShellCommand {
        line: clean(line),
        dir: desk.inside(&start_of(desk, told, dir)),
        ended: ending.ended,
        tail: tail.clone(),
        background: ending.background,
        start: pending.as_ref().and_then(|pending| Some(pending.grounds.first()?.start.clone())),
        end: None,
        shell: desk.shell(),
    };
    let Some(mut pending) = pending else {
        if !ending.background && is_only_for_people(ending.ended, weight, &[]) {
            command.tail = short_tail_of(&output);
        }
        desk.record(Some(call), Act::Command(Box::new(command)));
        return;
    };
    // Another hook may have put another command in its place.
    if !line.trim().is_empty() {
        pending.line.clone_from(&command.line);
    }
    if ending.background {
        desk.record(Some(call), Act::Command(Box::new(command)));
        let _ = desk.store.put_as(ending.left_as.as_deref().unwrap_or(call), &pending);
        return;
    }
    look_again(desk, &mut pending);
    command.end = pending.grounds.first().and_then(|ground| ground.end.clone());
    let from_log = || super::log_tail::status(desk.client, told.log.as_deref()?, call);
    let ended = ending.ended.or_else(|| if ending.in_log { from_log() } else { None });
    command.ended = ended;
    pending.millis = ending.millis;
    let proofs = ended.map_or_else(Vec::new, |ended| proofs(desk, &pending, ended, &plain(&output)));
    if is_only_for_people(ended, weight, &proofs) {
        command.tail = short_tail_of(&output);
    }
    desk.record(Some(call), Act::Command(Box::new(command)));
    keep(desk, proofs);
    if ended.is_none() && ending.in_log {
        pending.tail = tail;
        pending.cut = true;
        let _ = desk.store.put(&pending);
    }
}

/// Returns `true` if no gate needs the output of a line, so that only its end is kept.
///
/// This is so if the line succeeded or only reads files, and if it checks nothing or its recorded runs already contain
/// the results of its checks.
fn is_only_for_people(ended: Option<Ended>, weight: Weight, proofs: &[Proof]) -> bool {
    let mut runs = proofs.iter().flat_map(|proof| &proof.runs).flatten().filter_map(|kind| match kind {
        EventKind::Run(run) => Some(run),
        _ => None,
    });
    ended.map_or(weight == Weight::Light, Ended::success)
        && match runs.next() {
            None => weight != Weight::Checks && proofs.iter().all(|proof| proof.runs.is_ok()),
            Some(first) => first.shows_pass() && runs.all(|run| run.shows_pass()),
        }
}

/// Records the end of a command that was left in the background.
pub(super) fn end_of_background(
    desk: &mut Desk,
    left_as: &str,
    ended: Option<Ended>,
    output: &hook_event::BackgroundOutput,
) {
    let text = match output {
        hook_event::BackgroundOutput::File(path) => end_of_file(path),
        hook_event::BackgroundOutput::Shown(text) => text.clone(),
        hook_event::BackgroundOutput::Unknown => String::new(),
    };
    let pending = desk.store.take(left_as);
    let call = pending.as_ref().map_or(left_as, |pending| &pending.call).to_owned();
    let proofs = match (pending, ended) {
        (Some(mut pending), Some(ended)) => {
            look_again(desk, &mut pending);
            proofs(desk, &pending, ended, &plain(&text))
        }
        _ => Vec::new(),
    };
    let is_for_people = is_only_for_people(ended, Weight::Checks, &proofs);
    let tail = if is_for_people { short_tail_of(&text) } else { tail_of(&text) };
    desk.record(Some(&call), Act::CommandEnded(CommandEnd { ended, tail }));
    keep(desk, proofs);
}

/// Reads from the client's log the ends of commands whose status its hook did not report.
pub(super) fn settle(desk: &mut Desk, log: Option<&Path>) {
    let Some(log) = log else { return };
    for pending in desk.store.ended() {
        let Some(ended) = super::log_tail::status(desk.client, log, &pending.call) else { continue };
        desk.store.take(&pending.call);
        let end = CommandEnd { ended: Some(ended), tail: String::new() };
        let proofs = proofs(desk, &pending, ended, &pending.tail);
        desk.record(Some(&pending.call), Act::CommandEnded(end));
        keep(desk, proofs);
    }
}

/// Records, once, the commands that the agent left running: Codex calls no hook for a command before it ends.
pub(super) fn note_left_running(desk: &mut Desk, log: Option<&Path>) {
    let Some(log) = log.filter(|_| desk.client == Client::Codex) else { return };
    for pending in desk.store.begun().into_iter().filter(|pending| !pending.left_running) {
        if !super::log_tail::was_left_running(desk.client, log, &pending.call) {
            continue;
        }
        let ground = pending.grounds.first();
        let command = ShellCommand {
            line: pending.line.clone(),
            dir: ground.map(|ground| ground.dir.clone()),
            ended: None,
            tail: String::new(),
            background: true,
            start: ground.map(|ground| ground.start.clone()),
            end: None,
            shell: desk.shell(),
        };
        desk.record(Some(&pending.call), Act::Command(Box::new(command)));
        // Where that is forgotten, it is written down again.
        let _ = desk.store.put(&PendingCommand { left_running: true, ..pending });
    }
}

/// The proof that a line gives in one working tree.
struct Proof {
    root: PathBuf,
    /// The place of another working tree than the session's.
    place: Option<Workplace>,
    success: bool,
    /// The runs of declared commands; an error says why they are lost.
    runs: Result<Vec<EventKind>, String>,
}

/// Returns the proofs of a line that ended, without any output: the entry of the call has it.
fn proofs(desk: &mut Desk, pending: &PendingCommand, ended: Ended, output: &str) -> Vec<Proof> {
    let mut proofs = Vec::new();
    for ground in &pending.grounds {
        let is_other = ground.root != desk.root;
        let place = if is_other { desk.place_at(&ground.root) } else { None };
        if is_other && place.is_none() {
            continue;
        }
        // The shell of the agent has the environment of its client, as this process has.
        let files = DiskDirectory(ground.root.join(ground.dir.to_os()));
        let project = Project::without_runners(&files);
        let narrowed = command_line::inherited(&pending.line, project, &command_line::environment());
        let line_end = LineEnd { shell: desk.shell(), ended, output: Some(output), narrowed: narrowed.as_deref() };
        let mut runs = runs_of(place.as_ref().unwrap_or(&desk.place), pending, ground, line_end);
        for kind in runs.iter_mut().flatten() {
            if let EventKind::Run(run) = kind {
                run.tail = String::new();
            }
        }
        proofs.push(Proof { root: ground.root.clone(), place, success: ended.success(), runs });
    }
    proofs
}

/// Records the runs of the declared commands that a line ran.
fn keep(desk: &mut Desk, proofs: Vec<Proof>) {
    for Proof { root, place, success, runs } in proofs {
        match runs {
            Ok(runs) if runs.is_empty() => {}
            Ok(runs) => {
                desk.append(runs);
                // Of several working trees, the refused one has to be fixed.
                let refused = desk.memory.refused_at.as_ref().unwrap_or(&desk.root);
                if success && root == *refused {
                    let anew = place.as_ref().unwrap_or(&desk.place).reset_attempts_if_proven();
                    desk.said.extend(anew.err().map(|failure| format!("gate: {failure}")));
                }
            }
            Err(said) => desk.said.push(said),
        }
    }
}

/// Returns the directory in which the line of a call starts.
fn start_of(desk: &Desk, told: &HookEvent, dir: Option<&Path>) -> PathBuf {
    let base = told.dir.clone().unwrap_or_else(|| desk.root.clone());
    dir.map_or(base.clone(), |dir| base.join(dir))
}
