//! Makes evidence from a command that the agent ran: two snapshots by gate, and the status that its client reports.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use super::changes;
use super::command_weight::{self, Weight};
use super::hook_context::{Desk, clean};
use super::hook_event::{self, HookEvent, ReportedEnding};
use super::session_state::{PendingCommand, StartingPoint};
use crate::command_line::{self, Purpose, Understood, Witnessed};
use crate::engine::{Workplace, earlier_lines, test_results};
use crate::event::agent_work::{Act, CommandEnd, ShellCommand};
use crate::event::{CommandRef, Ended, EventKind, Run};
use crate::hook::unix_millis::millis_since_1970;
use crate::parent_processes::{ParentProcess, processes_above};
use crate::policy::{Command, Policy};
use crate::repo_path::RepoPath;
use crate::run::{self, KeptOutput};
use crate::runner::{NamedTests, Project};
use crate::shell::expanded_program::Leaf;
use crate::shell_kind::Shell;
use crate::snapshot::KeptSnapshot;
use crate::source::project_files::DiskDirectory;
use crate::source::sessions::Client;

/// The length of the end of an output that is kept, in bytes.
const TAIL: usize = 8 * 1024;
/// The length of the kept end, in bytes, if only people read the output: see [`is_only_for_people`].
const SHORT_TAIL: usize = 256;
/// The length of the end of an output that is read, in bytes.
const READ: usize = 64 * 1024;
/// The maximum number of paths in an event.
const PATHS: usize = 256;
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
        if let Some(start) = look(desk, &root) {
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
    let is_of_hook = |process: &ParentProcess| process.words.join(" ").contains(" hook ");
    above.into_iter().find(|process| !is_of_hook(process)).map(|process| process.id)
}

/// Takes a snapshot of a working tree.
fn look(desk: &mut Desk, root: &Path) -> Option<KeptSnapshot> {
    let looked = if root == desk.root { desk.place.repo.keep_now() } else { desk.place_at(root)?.repo.keep_now() };
    looked.inspect_err(|error| desk.said.push(format!("gate: the working tree could not be read: {error}"))).ok()
}

fn look_again(desk: &mut Desk, pending: &mut PendingCommand) {
    for ground in &mut pending.grounds {
        ground.end = look(desk, &ground.root);
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

/// Returns the commands of a line that do more than read.
pub(in crate::hook) fn heavy(line: &Understood) -> impl Iterator<Item = (&Leaf, &Purpose)> {
    line.program
        .leaves
        .iter()
        .zip(&line.purposes)
        .filter(|(leaf, one)| !leaf.remote && !command_weight::is_light(leaf, one))
}

/// Returns the directory in which a command runs, as far as the line shows it.
pub(in crate::hook) fn place_of(leaf: &Leaf, at: &Path) -> Option<PathBuf> {
    let Some(directory) = &leaf.directory else { return Some(at.to_owned()) };
    let path = directory.path.as_deref()?;
    (!path.starts_with('~')).then(|| at.join(path))
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

/// The end of a line, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(in crate::hook) struct LineEnd<'a> {
    /// The shell that ran it, or `None` if it is unknown.
    pub(in crate::hook) shell: Option<Shell>,
    /// Its status.
    pub(in crate::hook) ended: Ended,
    /// Its output, or `None` if it is unknown.
    pub(in crate::hook) output: Option<&'a str>,
    /// A phrase that names what in the environment weakens the check.
    pub(in crate::hook) narrowed: Option<&'a str>,
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

/// Returns the runs of declared commands that a line made, in the working tree of `place`. An error says why they are
/// lost.
pub(in crate::hook) fn runs_of(
    place: &Workplace,
    pending: &PendingCommand,
    ground: &StartingPoint,
    line_end: LineEnd<'_>,
) -> Result<Vec<EventKind>, String> {
    let Some(end) = &ground.end else { return Ok(Vec::new()) };
    let policy = policy_here(place)?;
    let mut served = served(&policy, pending, ground, line_end);
    let narrowed = |witnessed: &Witnessed| witnessed.ended.success() && witnessed.masked.is_none();
    for witnessed in served.iter_mut().filter(|witnessed| narrowed(witnessed)) {
        witnessed.masked = line_end.narrowed.map(str::to_owned);
    }
    mark_stale(place, &policy, pending, ground, line_end.output.unwrap_or_default(), &mut served);
    if served.iter().any(|witnessed| witnessed.masked.is_some()) {
        // A line whose status is another's shows nothing: it is kept to be told where nothing else is known of this
        // content, and takes the place of no run that showed something.
        let state = place.state().map_err(|failure| format!("gate: {failure}"))?;
        let known = |key: &str| state.runs(key).iter().any(|run| run.run.start.tree == ground.start.tree);
        served.retain(|witnessed| witnessed.masked.is_none() || !known(&witnessed.command.key));
    }
    let together =
        if line_end.narrowed.is_none() { together(place, &policy, pending, ground, line_end)? } else { Vec::new() };
    if served.is_empty() && together.is_empty() {
        return Ok(Vec::new());
    }
    let mut changed = place
        .repo
        .changed_between(&ground.start, end)
        .map_err(|error| format!("gate: two snapshots could not be compared: {error}"))?;
    let files = DiskDirectory(ground.root.clone());
    let project = policy.project(&files);
    let logs = command_line::own_logs(&told_of(pending, ground, line_end), project);
    changed.retain(|path| !(logs.contains(path) && end.untracked.contains(path)));
    let told = told_of(pending, ground, line_end);
    if changed.is_empty() && pending.began > 0 && command_line::may_change_after_checks(&told, project) {
        let is_input = |path: &RepoPath| policy.commands.iter().any(|command| command.inputs.matches(path));
        changed = place
            .rewritten_files(&ground.start, pending.began, &is_input)
            .map_err(|error| format!("gate: the files of a snapshot could not be listed: {error}"))?;
    }
    let mut start = &ground.start;
    if command_line::changed_before_checks(&changed, &told, project) {
        // The checks ran on what the line had written before them.
        (start, changed) = (end, Vec::new());
    }
    changed.truncate(PATHS);
    let output = line_end.output.unwrap_or_default();
    let tail = tail_of(output);
    let ids = served.iter().filter_map(|served| served.report.as_ref());
    let runners: Vec<_> = ids.filter_map(|report| policy.runners.runner(&report.runner)).collect();
    let tests = NamedTests::of_runners(output, !pending.cut && output.len() < READ, &runners);
    // What failed before matters only where this run names tests.
    let state =
        if tests.is_empty() { None } else { Some(place.state().map_err(|failure| format!("gate: {failure}"))?) };
    // Lines that prove a command together name its tests in parts.
    let unnamed = NamedTests::default();
    let named = |served: Witnessed| {
        let tests = command_line::names_seen_from(&served.command.dir, tests.clone(), &told, project);
        (served, tests)
    };
    let served = served.into_iter().map(named);
    let runs =
        served.chain(together.into_iter().map(|served| (served, unnamed.clone()))).flat_map(|(served, tests)| {
            let verbatim = is_verbatim(&policy, &served.command, pending, ground);
            let run = Run {
                command: served.command,
                call: Some(pending.call.clone()),
                start: start.clone(),
                end: end.clone(),
                changed: changed.clone(),
                logs: logs.clone(),
                verbatim,
                ended: served.ended,
                over_time: Ended::is_over_time(Some(served.ended), &tail),
                millis: pending.millis,
                report: served.report,
                named: tests.named_part(),
                masked: served.masked,
                tail: tail.clone(),
                policy: policy.digest.clone(),
            };
            let named = state.as_ref().and_then(|state| test_results(&run, &tests, state));
            [Some(EventKind::Run(Box::new(run))), named.map(Box::new).map(EventKind::Tests)].into_iter().flatten()
        });
    Ok(runs.collect())
}

/// Marks the proofs of runs that may have used what was built from other content.
fn mark_stale(
    place: &Workplace,
    policy: &Policy,
    pending: &PendingCommand,
    ground: &StartingPoint,
    output: &str,
    served: &mut [Witnessed],
) {
    let passed = |witnessed: &&mut Witnessed| witnessed.ended.success() && witnessed.masked.is_none();
    let mut served = served.iter_mut().filter(passed).peekable();
    if served.peek().is_none() {
        return;
    }
    let dir = ground.root.join(ground.dir.to_os());
    let files = DiskDirectory(dir.clone());
    let Ok(line) = command_line::understand(&pending.line, policy.project(&files)) else { return };
    let ids = line.purposes.iter().flat_map(Purpose::runs);
    let runners: Vec<_> = ids.filter_map(|id| policy.runners.runner(id)).collect();
    for witnessed in served {
        let declared = policy.commands.iter().find(|command| Some(&command.name) == witnessed.command.name.as_ref());
        let is_input = |path: &RepoPath| declared.is_none_or(|command| command.inputs.matches(path));
        witnessed.masked = place.stale_build(&witnessed.command, &runners, &is_input, &ground.start, output);
    }
}

/// Returns the proofs that a line gives together with those that ran before it on the same content.
fn together(
    place: &Workplace,
    policy: &Policy,
    pending: &PendingCommand,
    ground: &StartingPoint,
    line_end: LineEnd<'_>,
) -> Result<Vec<Witnessed>, String> {
    let (files, told) = (DiskDirectory(ground.root.clone()), told_of(pending, ground, line_end));
    let project = policy.project(&files);
    let in_part = command_line::proven_in_part(&policy.commands, &told, project);
    if !line_end.ended.success() || in_part.is_empty() || ground.end.as_ref() != Some(&ground.start) {
        return Ok(Vec::new());
    }
    let state = place.state().map_err(|failure| format!("gate: {failure}"))?;
    let earlier = earlier_lines(&place.journal, &state, &ground.start, Some(&pending.call))
        .map_err(|error| format!("gate: the journal could not be read: {error}"))?;
    let earlier: Vec<_> = earlier.iter().map(|line| line.observed(ground.root.to_str())).collect();
    Ok(command_line::witness_together(&in_part, &earlier, &told, project))
}

/// Returns the policy for the content that is checked out.
pub(in crate::hook) fn policy_here(place: &Workplace) -> Result<Policy, String> {
    let repo = &place.repo;
    let lineage = repo
        .head()
        .and_then(|head| {
            head.commit
                .map(|commit| crate::collect::lineage(repo, &commit, crate::collect::BaseOf::AnyRemote))
                .transpose()
        })
        .map_err(|error| format!("gate: git could not be run: {error}"))?;
    let (policy, _) = place.policy(lineage.as_ref()).map_err(|failure| format!("gate: {failure}"))?;
    Ok(policy)
}

/// Returns `true` if a line is the declared command itself.
fn is_verbatim(policy: &Policy, proven: &CommandRef, pending: &PendingCommand, ground: &StartingPoint) -> bool {
    let is_it = |command: &&Command| Some(&command.name) == proven.name.as_ref();
    let declared = policy.commands.iter().find(is_it);
    declared.is_some_and(|command| command.run.trim() == pending.line.trim() && command.dir == ground.dir)
}

/// Returns the proofs that a line gives for the declared commands of the working tree that it ran on.
fn served(policy: &Policy, pending: &PendingCommand, ground: &StartingPoint, line_end: LineEnd<'_>) -> Vec<Witnessed> {
    let told = told_of(pending, ground, line_end);
    command_line::witness(&policy.commands, &told, policy.project(&DiskDirectory(ground.root.clone())))
}

fn told_of<'a>(
    pending: &'a PendingCommand,
    ground: &'a StartingPoint,
    line_end: LineEnd<'a>,
) -> command_line::ObservedLine<'a> {
    command_line::ObservedLine {
        line: &pending.line,
        dir: &ground.dir,
        root: ground.root.to_str(),
        ended: Some(line_end.ended),
        output: line_end.output,
        cut: pending.cut,
        background: false,
        shell: line_end.shell,
    }
}

/// Returns the directory in which the line of a call starts.
fn start_of(desk: &Desk, told: &HookEvent, dir: Option<&Path>) -> PathBuf {
    let base = told.dir.clone().unwrap_or_else(|| desk.root.clone());
    dir.map_or(base.clone(), |dir| base.join(dir))
}

/// Returns a path relative to a root.
pub(in crate::hook) fn relative(path: &Path, root: &Path) -> Option<RepoPath> {
    let (path, root) = (path.canonicalize().ok()?, root.canonicalize().ok()?);
    path.strip_prefix(root).ok().map(|inner| RepoPath::from_os(inner.as_os_str()))
}

fn output_of(text: &str) -> KeptOutput {
    let bytes = text.as_bytes();
    let cut = bytes.len() > READ;
    let tail = bytes[bytes.len() - bytes.len().min(READ)..].to_vec();
    KeptOutput { head: Vec::new(), tail, total: bytes.len() as u64, cut, whole: None }
}

fn tail_of(text: &str) -> String {
    run::clean_tail(&output_of(text), TAIL)
}

fn short_tail_of(text: &str) -> String {
    run::clean_tail(&output_of(text), SHORT_TAIL)
}

fn plain(text: &str) -> String {
    run::plain_text(&output_of(text).end())
}

fn end_of_file(path: &Path) -> String {
    super::log_tail::end(path, READ as u64)
        .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        .unwrap_or_default()
}
