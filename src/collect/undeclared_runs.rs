//! Runs of tests that are not those of a declared command. A person may take one of them for it.

use crate::command_line::{CheckOutcome, LineRecord, Purpose, judge, understand};
use crate::event::{Act, Ended, Event, EventKind, ShellCommand};
use crate::fact::{OtherRun, Subject};
use crate::journal::{Journal, JournalLine, JournalState, RecordedRun};
use crate::oid::Oid;
use crate::policy::Command;
use crate::runner::{CommandKind, Project};

/// The largest number of runs that are looked at.
const MAX_RUNS: usize = 8;
/// The largest number of events among which the lines of an agent are looked for.
const MAX_EVENTS: usize = 64;

/// Returns the newest such runs that gate started, passed on the content of one of `subjects` and changed nothing, the latest
/// first.
pub fn read(state: &JournalState, project: Project<'_>, subjects: &[Subject]) -> Vec<OtherRun> {
    let passed = |recorded: &&RecordedRun| {
        let run = &recorded.run;
        let unchanged = run.start.tree == run.end.tree && is_of(subjects, &run.end.tree);
        run.ended == Ended::Exited(0) && run.masked.is_none() && unchanged
    };
    let is_test = |run: &OtherRun| {
        understand(&run.line, project)
            .is_ok_and(|line| line.purposes.iter().any(|purpose: &Purpose| purpose.is(CommandKind::Test)))
    };
    let other = |recorded: &RecordedRun| {
        let run = &recorded.run;
        OtherRun { line: run.command.line.clone(), tree: run.end.tree.clone() }
    };
    let runs = state.undeclared_runs().take(MAX_RUNS).filter(passed).map(other);
    runs.filter(is_test).collect()
}

/// Returns `true` if one of the commands has no run on the content of one of `subjects`.
pub fn is_any_missing(state: &JournalState, commands: &[Command], subjects: &[Subject]) -> bool {
    let has_run = |key: &str, tree: &Oid| state.runs(key).iter().any(|run| run.run.end.tree == *tree);
    let trees = || subjects.iter().filter_map(|subject| subject.tree.as_ref());
    commands.iter().any(|command| trees().any(|tree| !has_run(&command.reference().key, tree)))
}

/// Returns the newest such runs that agents made in their own shells, passed on the content of one of `subjects` and changed
/// nothing, the latest first. Where they cannot be read, no message names them.
pub fn of_agents(journal: &Journal, project: Project<'_>, subjects: &[Subject]) -> Vec<OtherRun> {
    let (events, _) = journal.last_events(MAX_EVENTS).unwrap_or_default();
    events.into_iter().rev().filter_map(|line| agent_run(line, project, subjects)).take(MAX_RUNS).collect()
}

fn is_of(subjects: &[Subject], tree: &Oid) -> bool {
    subjects.iter().any(|subject| subject.tree.as_ref() == Some(tree))
}

/// Returns the run of tests that an agent made in its own shell, if it passed and changed nothing.
fn agent_run(line: JournalLine, project: Project<'_>, subjects: &[Subject]) -> Option<OtherRun> {
    let JournalLine::Event(Event { kind: EventKind::Work(work), .. }) = line else { return None };
    let Act::Command(command) = work.act else { return None };
    let ShellCommand { line, ended, tail, background, shell, start, end, .. } = *command;
    let tree = end.as_ref().filter(|end| start.as_ref().is_some_and(|start| start.tree == end.tree))?.tree.clone();
    if !is_of(subjects, &tree) {
        return None;
    }
    let status = match ended? {
        Ended::Exited(status) => Some(status),
        Ended::Signalled(_) | Ended::NotStarted => None,
    };
    let judged = judge(&line, &LineRecord { status, output: Some(&tail), background, shell }, project);
    let is_test = judged.kind.iter().any(|kind| kind == "test");
    (judged.result == Some(CheckOutcome::Pass) && is_test).then_some(OtherRun { line, tree })
}
