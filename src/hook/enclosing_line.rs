//! The line that contains the push: the tests before the push are evidence although the line still runs.
//!
//! In `npm test && git commit -m one && git push`, git calls the hook before the client or the shell reports how the line
//! ended. The push is reached only if the tests passed. To find that out, the line is read with the push replaced by
//! its end.

use std::path::Path;

use super::client::command_weight;
use super::client::line_runs::{self, LineEnd};
use super::client::session_state::{PendingCommand, StartingPoint, begun_lines, kept_values, unquoted};
use super::typed_line::{self, TypedLine};
use crate::command_line::{Purpose, Understood};
use crate::engine::Workplace;
use crate::event::{Ended, EventKind, Grade, Origin};
use crate::git::push_options;
use crate::journal::NewEvent;
use crate::parent_processes::{ParentProcess, processes_above};
use crate::shell::expanded_program::Leaf;
use crate::shell_kind::Shell;

/// The number of processes above the hook among which the push and the shell of the line are looked for.
const MAX_DEPTH: usize = 12;

/// A line that contains this push.
struct EnclosingLine {
    pending: PendingCommand,
    /// The shell that runs it, or `None` if it is unknown.
    shell: Option<Shell>,
    narrowed: Option<String>,
    /// `true` if a person typed it.
    is_typed: bool,
}

/// Records the runs that the line which contains this push has shown so far. A line that shows nothing, or an error,
/// changes nothing: the push is judged by what is on record.
pub(super) fn record_before_push(place: &Workplace) {
    let Some(root) = place.repo.root() else { return };
    let gate_dir = place.repo.gate_dir();
    let lines = begun_lines(&gate_dir);
    let typed: Vec<TypedLine> = if lines.is_empty() { kept_values(&gate_dir) } else { Vec::new() };
    if lines.is_empty() && typed.is_empty() {
        return;
    }
    let above = processes_above(MAX_DEPTH);
    let Some(push) = RunningPush::of(&above) else { return };
    let Some(line) = of_agent(&lines, &push).or_else(|| of_person(typed, &push)) else { return };
    if let Some(ground) = line.pending.grounds.iter().find(|ground| ground.root == root) {
        record(place, &line, ground, &push);
    }
}

/// The `git push` that started this hook.
struct RunningPush<'a> {
    words: &'a [String],
    /// The process that started it, or that started the shell whose place it took. Wrappers such as `timeout` are
    /// skipped.
    started_by: &'a ParentProcess,
}

impl<'a> RunningPush<'a> {
    fn of(above: &'a [ParentProcess]) -> Option<Self> {
        let at = above.iter().position(|process| push_options(&process.words).is_some())?;
        let words = &above[at].words;
        let started_by = above[at + 1..].iter().find(|process| !process.words.ends_with(words))?;
        Some(Self { words, started_by })
    }

    /// Returns `true` if a command of a line is this push, as far as its words are known.
    fn is(&self, leaf: &Leaf, purpose: &Purpose) -> bool {
        let (Some(known), Some(words)) = (leaf.argv.get(1..), self.words.get(1..)) else { return false };
        if purpose.pushes.is_empty() {
            return false;
        }
        if known.iter().all(|arg| arg.literal().is_some()) {
            return known.iter().filter_map(|arg| arg.literal()).eq(words.iter().map(String::as_str));
        }
        let mut words = words.iter();
        known.iter().filter_map(|arg| arg.literal()).all(|text| words.any(|word| word == text))
    }
}

/// Returns the line of an agent that contains the push: its shell started the push, or the push took its place. A push
/// that another program of the line starts may come before its tests.
fn of_agent(lines: &[PendingCommand], push: &RunningPush<'_>) -> Option<EnclosingLine> {
    let shell = unquoted(&push.started_by.words.join(" "));
    let is_running = |pending: &&PendingCommand| shell.contains(&unquoted(&pending.line));
    // An older line whose end nobody reported may have the same words.
    let (pending, shell) = match lines.iter().find(is_running) {
        Some(pending) => (pending, push.started_by.words.first().and_then(|program| Shell::of_path(program))),
        None => (replaced_by(lines, push.started_by.id)?, None),
    };
    Some(EnclosingLine { pending: pending.clone(), shell, narrowed: None, is_typed: false })
}

/// Returns the line whose shell ended in this push: a shell that has one command left becomes that command. It is known
/// only if no other line of the same client that may push has begun.
fn replaced_by(lines: &[PendingCommand], started_by: u32) -> Option<&PendingCommand> {
    let mut of_client = lines.iter().filter(|pending| pending.started_by == Some(started_by));
    let newest = of_client.next()?;
    of_client.all(|other| is_same(newest, other)).then_some(newest)
}

/// Returns `true` if two lines have the same words and began on the same content.
fn is_same(one: &PendingCommand, other: &PendingCommand) -> bool {
    one.line == other.line && one.grounds == other.grounds
}

/// Returns the line that a person typed in the shell that started the push.
fn of_person(typed: Vec<TypedLine>, push: &RunningPush<'_>) -> Option<EnclosingLine> {
    let TypedLine { pending, shell, narrowed, .. } =
        typed.into_iter().find(|typed| typed.pending.started_by == Some(push.started_by.id))?;
    Some(EnclosingLine { pending, shell: Some(shell), narrowed, is_typed: true })
}

fn record(place: &Workplace, line: &EnclosingLine, ground: &StartingPoint, push: &RunningPush<'_>) {
    let Some(before) = before_push(&line.pending.line, &ground.root, push) else { return };
    // Any command before the push, or somebody else, may have changed files since the line began.
    let ground = StartingPoint { end: place.repo.keep_now().ok(), ..ground.clone() };
    let pending = PendingCommand { line: before, ..line.pending.clone() };
    let narrowed = line.narrowed.as_deref();
    let line_end = LineEnd { shell: line.shell, ended: Ended::Exited(0), output: None, narrowed };
    let runs = line_runs::runs_of(place, &pending, &ground, line_end).unwrap_or_default();
    let client = place.session.agent.as_deref().unwrap_or("agent");
    let reporter = if line.is_typed { typed_line::REPORTER } else { client };
    let event = |kind: EventKind| NewEvent {
        session: Some(place.session.id.clone()),
        origin: Origin { by: reporter.to_owned(), grade: Grade::Hooked },
        kind,
    };
    // Without the record the push is refused, as it was before.
    let runs = runs.into_iter().map(of_open_line);
    let _ = runs.map(event).try_for_each(|event| place.journal.append(event).map(drop));
}

/// Returns a run with the reason that clears up: the line has not ended, so its output is not on record.
fn of_open_line(mut kind: EventKind) -> EventKind {
    if let EventKind::Run(run) = &mut kind
        && let Some(why) = &mut run.masked
    {
        OPEN_LINE.clone_into(why);
    }
    kind
}

/// The reason why a run in the line of the push does not show that it passed.
const OPEN_LINE: &str =
    "the push stands in the same line, whose output is on record only when it ends (push in a line of its own)";

/// Returns a line that ends with status 0 exactly if `line` reaches this push. Returns `None` if that cannot be told.
fn before_push(line: &str, root: &Path, push: &RunningPush<'_>) -> Option<String> {
    let whole = command_weight::understand(line, root)?;
    let mut commands = whole.steps().enumerate();
    // Of several pushes with the same words it may be the first.
    let (index, (leaf, _)) = commands.find(|(_, (leaf, purpose))| push.is(leaf, purpose))?;
    let found = line.match_indices(&leaf.text).map(|(at, _)| &line[..at]);
    let mut ends = found.flat_map(|before| CLOSINGS.map(|closing| format!("{before}{REACHED}{closing}")));
    ends.find(|end| is_cut_before(&whole, index, end, root))
}

/// The commands in place of the push. `true` stands for the push.
const REACHED: &str = "true && exit 0\nexit 9";

/// The ends of a quotation or group that contains the push. After an `if` or a group, the line fails: an `if` whose condition
/// fails has status 0. A subshell needs nothing more, because `exit` leaves only the subshell.
const CLOSINGS: [&str; 6] = ["", "'", "\"", "\nfi\nexit 9", "\n}\nexit 9", "\n)"];

/// Returns `true` if `end` is the line `whole` up to its command `index`, followed by [`REACHED`]: the words of the push
/// may also stand in a message or in a here-document.
fn is_cut_before(whole: &Understood, index: usize, end: &str, root: &Path) -> bool {
    let Some(cut) = command_weight::understand(end, root) else { return false };
    let texts = |line: &Understood| line.program.leaves.iter().map(|leaf| leaf.text.clone()).collect::<Vec<_>>();
    let (whole, cut) = (texts(whole), texts(&cut));
    let before = cut.get(..index).is_some_and(|before| before == &whole[..index]);
    before && cut.get(index).is_some_and(|text| text == "true")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    fn before(line: &str, push: &str) -> Option<String> {
        let shell = ParentProcess { id: 1, words: Vec::new() };
        let push = RunningPush { words: &words(push), started_by: &shell };
        before_push(line, Path::new("/"), &push)
    }

    #[test]
    fn the_push_becomes_the_end_of_the_line() {
        for (line, push, end) in [
            ("make test && git push -q origin f", "git push -q origin f", "make test && "),
            ("make test; git push | tail -3", "git push", "make test; "),
            (
                "git commit -m 'fix: git push' && make test && git push",
                "git push",
                "git commit -m 'fix: git push' && make test && ",
            ),
            ("cat <<E && make test && git push\ngit push\nE", "git push", "cat <<E && make test && "),
        ] {
            assert_eq!(before(line, push), Some(format!("{end}{REACHED}")), "{line}");
        }
        for (line, closing) in [
            ("if make test; then git push; fi", "\nfi\nexit 9"),
            ("make test && { git commit -qm x; git push; }", "\n}\nexit 9"),
            ("make test && (git commit -qm x; git push)", "\n)"),
        ] {
            let (start, _) = line.split_once("git push").unwrap();
            assert_eq!(before(line, "git push"), Some(format!("{start}{REACHED}{closing}")), "{line}");
        }
        assert_eq!(
            before("bash -c 'make test && git push'", "git push"),
            Some(format!("bash -c 'make test && {REACHED}'"))
        );
        for line in ["make test && git commit -qm one", "make test && cat <<E\ngit push\nE"] {
            assert_eq!(before(line, "git push"), None, "{line}");
        }
    }

    #[test]
    fn the_end_is_this_push_and_no_other() {
        let line = "git push a && make test && git push b; git push $c x";
        assert_eq!(before(line, "git push a").as_deref(), Some(REACHED));
        assert_eq!(before(line, "git push b"), Some(format!("git push a && make test && {REACHED}")));
        assert_eq!(before(line, "git push some x"), Some(format!("git push a && make test && git push b; {REACHED}")));
        let twice = "git push a || make test && git push a";
        assert_eq!(before(twice, "git push a").as_deref(), Some(REACHED), "it may be the first");
        let document = "make test && cat <<E\ngit push a\nE\ngit push a";
        let end = "make test && cat <<E\ngit push a\nE\n";
        assert_eq!(before(document, "git push a"), Some(format!("{end}{REACHED}")));
    }

    fn pending(line: &str, started_by: u32) -> PendingCommand {
        let (call, line) = (line.to_owned(), line.to_owned());
        PendingCommand { call, line, started_by: Some(started_by), ..PendingCommand::default() }
    }

    #[test]
    fn a_push_takes_the_place_of_the_only_line_of_its_client() {
        let line =
            |lines: &[PendingCommand], started_by| replaced_by(lines, started_by).map(|pending| pending.line.clone());
        let (one, other) = (pending("make test && git push", 7), pending("./release", 7));
        assert_eq!(line(std::slice::from_ref(&one), 7), Some(one.line.clone()));
        assert_eq!(line(&[one.clone(), one.clone()], 7), Some(one.line.clone()));
        assert_eq!(line(&[pending("git push", 8), one.clone()], 7), Some(one.line.clone()), "of another client");
        assert_eq!(line(&[one.clone(), other.clone()], 7), None, "it may be the push of the other line");
        assert_eq!(line(&[other, one.clone()], 7), None);
        assert_eq!(line(&[one], 9), None, "a program in between");
    }
}
