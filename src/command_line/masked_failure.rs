//! Checks whose failure a status of 0 does not show: in a line of unknown programs, or in the lines of a task.

use super::purpose::{MaskedFailure, Purpose, seen_by, sees_other_files};
use super::understanding::{CHECKS, understand_at};
use super::{Understood, contradiction, understand};
use crate::foreign_text::beginning;
use crate::runner::{Catalogue, CommandKind, ExitMeaning, InDirectory, Project, TaskRun, TaskScript, resolve};
use crate::shell::command_outcome::{CommandOutcome, ObservedEnding};
use crate::shell::exit_status;
use crate::shell::expanded_program::{InputSource, Leaf, LeafId, Program, Sink};

/// The largest depth of tasks that call tasks.
const MAX_DEPTH: u8 = 3;

/// The maximum number of commands of a line that may be the check.
const MAX_CHECKS: usize = 24;

/// Returns the reason why status 0 of a line without any known check does not prove that its programs succeeded:
/// `./t.sh || true`, `./t.sh | tail`. Returns `None` if it does.
pub fn unseen_failure(line: &str, output: Option<&str>, project: Project<'_>) -> Option<String> {
    let mut understood = understand(line, project).ok()?;
    settle(&mut understood, output, project.runners);
    understood.purposes.iter().find_map(|purpose| purpose.masked.clone()).map(|masked| masked.why).or_else(|| {
        let lines = [understood];
        hidden(&Lines { understood: &lines, counts: CheckedPrograms::Last, project })
    })
}

/// Removes the failures that the task runner would have printed, if the whole output is known and has no such line.
pub(super) fn settle(understood: &mut Understood, output: Option<&str>, catalogue: &Catalogue) {
    let Some(output) = output.filter(|output| contradiction::is_all_there(output)) else { return };
    for (leaf, purpose) in understood.program.leaves.iter().zip(&mut understood.purposes) {
        if !purpose.masked.as_ref().is_some_and(|masked| masked.is_printed) || !contradiction::prints_to_record(leaf) {
            continue;
        }
        let ends: Vec<&String> = purpose.runners(catalogue).flat_map(|runner| &runner.output.ignored).collect();
        if ends.is_empty() || output.lines().any(|line| ends.iter().any(|end| line.trim_end().ends_with(end.as_str())))
        {
            continue;
        }
        purpose.masked = None;
        // Each line of the task is one whose failure is ignored, and none failed.
        if let Some(invocation) = purpose.invocation.as_mut().filter(|invocation| invocation.order.opaque) {
            invocation.exit = ExitMeaning::Decides;
        }
    }
}

/// Marks the commands that call tasks whose failure status 0 does not show. `depth`: the number of tasks that call the line.
pub(super) fn mark(program: &Program, purposes: &mut [Purpose], project: Project<'_>, depth: u8) {
    for (leaf, purpose) in program.leaves.iter().zip(purposes).filter(|(leaf, _)| leaf.name().is_some()) {
        let within = seen_by(leaf, project.files);
        let project = project.with_files(if sees_other_files(leaf) { &() } else { &within });
        let tasks = resolve(project.runners, &leaf.words(), project.files);
        if let Some(masked) = in_tasks(&tasks, project, depth) {
            purpose.masked = Some(masked);
        }
    }
}

/// Returns the failure that status 0 of one of these tasks does not show.
fn in_tasks(tasks: &[TaskRun], project: Project<'_>, depth: u8) -> Option<MaskedFailure> {
    tasks.iter().filter(|_| depth < MAX_DEPTH).find_map(|task| in_task(task, project, depth + 1))
}

fn in_task(task: &TaskRun, project: Project<'_>, depth: u8) -> Option<MaskedFailure> {
    if let Some(why) = &task.doubt {
        return Some(MaskedFailure { why: why.clone(), is_printed: false });
    }
    if task.exit_zero && task.unless_ignored.is_none() {
        let why = format!("`{}` is called with an option that ignores failures", task.label);
        return Some(MaskedFailure { why, is_printed: false });
    }
    let here = InDirectory { files: project.files, directory: task.directory.as_deref() };
    let project = project.with_files(&here);
    let lines = task.script.as_ref()?;
    let (has_checks, found) = in_lines(task, lines, project, depth);
    if let Some(found) = found {
        let unless =
            || task.unless_ignored.as_ref().is_some_and(|lines| in_lines(task, lines, project, depth).1.is_none());
        let is_printed = found.is_printed || unless();
        return Some(MaskedFailure { is_printed, ..found });
    }
    let is_empty = lines.iter().all(|line| matches!(line.trim(), ":" | "true"));
    let differs = |variant: &TaskScript| {
        let (checks, found) = in_lines(task, &variant.lines, project, depth);
        found.is_some() || has_checks && !checks || checks && is_empty
    };
    let is_test = kinds_of(task, project.runners).contains(&CommandKind::Test);
    (is_test && task.variants.iter().any(differs)).then(|| MaskedFailure {
        why: format!("a condition in the file of `{}` may leave out what it checks", task.label),
        is_printed: false,
    })
}

/// Returns `true` if the lines of a task check anything, and the failure that they hide.
fn in_lines(task: &TaskRun, lines: &[String], project: Project<'_>, depth: u8) -> (bool, Option<MaskedFailure>) {
    let says_itself = |line: &str| line.contains("false") || line.contains("exit 1");
    let hides = |line: &str| line.contains(['|', ';', '&', '\n']) && !says_itself(line);
    let is_test = kinds_of(task, project.runners).contains(&CommandKind::Test);
    let mut understood = Vec::with_capacity(lines.len());
    for line in lines {
        match understand_at(line, project, depth) {
            Ok(line) => understood.push(line),
            Err(_) if is_test && hides(line) => {
                let why = format!("gate cannot follow `{}`", beginning(line.trim(), 60));
                return (true, Some(MaskedFailure { why, is_printed: false }));
            }
            Err(_) => {}
        }
    }
    let nested = understood.iter().flat_map(|line| &line.purposes).find_map(|purpose| purpose.masked.clone());
    let is_known = |kind: &CommandKind| {
        let mut purposes = understood.iter().flat_map(|line| &line.purposes);
        purposes.any(|purpose| purpose.invocation.is_some() && purpose.is(*kind))
    };
    let known = if is_test { is_known(&CommandKind::Test) } else { CHECKS.iter().any(is_known) };
    let counts = if known { CheckedPrograms::Named } else { CheckedPrograms::All };
    let view = Lines { understood: &understood, counts, project };
    let checks = known || !view.candidates().is_empty();
    let found = nested.or_else(|| hidden(&view).map(|why| MaskedFailure { why, is_printed: false }));
    (checks, found)
}

fn kinds_of(task: &TaskRun, catalogue: &Catalogue) -> Vec<CommandKind> {
    let rules = catalogue.runner(&task.runner).and_then(|runner| runner.task.as_ref());
    rules.map(|rules| catalogue.names().kinds(rules, &task.task)).unwrap_or_default()
}

/// The programs that may be the check.
#[derive(Clone, Copy, PartialEq, Eq)]
enum CheckedPrograms {
    /// Scripts of the project, and whatever nobody knows at the end of the lines.
    All,
    /// The same of a line that is no task.
    Last,
    /// Programs whose names say so, since another command is the check.
    Named,
}

/// Lines that run one after the other.
struct Lines<'a> {
    understood: &'a [Understood],
    counts: CheckedPrograms,
    project: Project<'a>,
}

impl Lines<'_> {
    /// Returns the commands that may be the check, with their lines.
    fn candidates(&self) -> Vec<(usize, LeafId)> {
        let names = self.project.runners.names();
        let all = || {
            let ids =
                |(at, line): (usize, &Understood)| (0..line.purposes.len()).map(move |id| (at, id)).collect::<Vec<_>>();
            self.understood.iter().enumerate().flat_map(ids)
        };
        let unknown = |(at, id): &(usize, LeafId)| {
            let leaf = &self.understood[*at].program.leaves[*id];
            // A word that stands for other words is no check, unless it runs a script.
            let is_word = matches!(leaf.stdout, Sink::Captured(_)) && !is_script(leaf, names);
            may_check(&self.understood[*at].purposes[*id]) && !is_word && !self.feeds_script(*at, leaf)
        };
        let leaf = |(at, id): (usize, LeafId)| &self.understood[at].program.leaves[id];
        let last = all().rfind(unknown).filter(|_| self.counts != CheckedPrograms::Named);
        let counts = |place: &(usize, LeafId)| {
            let words = words(leaf(*place));
            let is_any = |list: &[String]| words.iter().any(|word| list.contains(word));
            let is_named = is_any(&names.checks) && !is_any(&names.preparing);
            // What is ended by the line, or serves the tests, is no test.
            let is_ended = || {
                self.understood[place.0]
                    .program
                    .leaves
                    .iter()
                    .any(|leaf| leaf.name().is_some_and(|name| name.ends_with("kill")))
            };
            let in_background = leaf(*place).background && (is_ended() || is_any(&names.serving));
            Some(*place) == last
                || is_named
                || self.counts != CheckedPrograms::Named
                    && !in_background
                    && is_script(leaf(*place), names)
                    && !is_any(&names.preparing)
        };
        all().filter(unknown).filter(counts).take(MAX_CHECKS).collect()
    }
}

impl Lines<'_> {
    /// Returns `true` if a command makes the input of a script of the project: `./datagen | ./lz4 -t`.
    fn feeds_script(&self, at: usize, leaf: &Leaf) -> bool {
        let Sink::Pipe(pipe) = leaf.stdout else { return false };
        let line = &self.understood[at];
        let names = self.project.runners.names();
        let reads = |(reader, purpose): (&Leaf, &Purpose)| {
            reader.stdin == InputSource::Pipe(pipe) && may_check(purpose) && is_script(reader, names)
        };
        line.program.leaves.iter().zip(&line.purposes).any(reads)
    }
}

/// Returns the reason why a check among these lines may have failed, or may not have run, although all lines end with 0.
fn hidden(lines: &Lines<'_>) -> Option<String> {
    let candidates = lines.candidates();
    for (at, line) in lines.understood.iter().enumerate() {
        let mine: Vec<LeafId> = candidates.iter().filter(|(of, _)| *of == at).map(|(_, id)| *id).collect();
        let program = &line.program;
        let name =
            |id: LeafId| program.leaves[id].name().map_or_else(|| program.leaves[id].text.clone(), str::to_owned);
        for &id in &mine {
            let fate = exit_status::fate(program, id);
            if !fate.complete {
                return Some(format!("the line with `{}` is too complex to follow", name(id)));
            }
            let is_replaced = |other: &&LeafId| {
                let after = |succeeded| exit_status::fate_seen(program, **other, &[ObservedEnding::end(id, succeeded)]);
                **other > id && after(false).decides() && after(true).given(None).only(CommandOutcome::NotRun)
            };
            if fate.on_zero.failed && !mine.iter().any(|other| is_replaced(&other)) {
                return Some(format!("`{}` may have failed although the line ends with 0", name(id)));
            }
        }
    }
    let may_be_left_out = |(at, id): &(usize, LeafId)| {
        let (program, leaf) = (&lines.understood[*at].program, &lines.understood[*at].program.leaves[*id]);
        let others = candidates.iter().filter(|(of, other)| of == at && other != id);
        let seen: Vec<ObservedEnding> = others.map(|(_, other)| ObservedEnding::not_run(*other)).collect();
        !leaf.repeated && exit_status::fate_seen(program, *id, &seen).on_zero.not_run
    };
    let (at, id) = candidates
        .first()
        .filter(|_| lines.counts == CheckedPrograms::All && candidates.iter().all(may_be_left_out))?;
    let leaf = &lines.understood[*at].program.leaves[*id];
    Some(format!("the line can end with 0 without `{}`", beginning(leaf.text.trim(), 60)))
}

/// Returns `true` for a program that nobody knows, which may be the check.
fn may_check(purpose: &Purpose) -> bool {
    purpose.kinds.contains(&"other") && !purpose.elsewhere
}

/// Returns `true` for a file that is run: `./t.sh`, `python3 t.py`.
fn is_script(leaf: &Leaf, names: &crate::runner::task::TaskNames) -> bool {
    let program = leaf.argv.first().map(|arg| arg.text.as_str()).unwrap_or_default();
    program.contains('/')
        || leaf.name().is_some_and(|name| names.interpreters.iter().any(|one| name.starts_with(one.as_str())))
}

/// Returns the words of the program and its arguments: `tests/run_all.sh` has `tests`, `run`, `all` and `sh`.
fn words(leaf: &Leaf) -> Vec<String> {
    let texts = leaf.argv.iter().filter(|arg| !arg.text.starts_with('-')).map(|arg| arg.text.to_ascii_lowercase());
    texts.flat_map(|text| text.split(|c: char| !c.is_alphanumeric()).map(str::to_owned).collect::<Vec<_>>()).collect()
}

#[cfg(test)]
mod tests;
