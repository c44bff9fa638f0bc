//! Runs in which fewer tests ran than in an earlier one on the way to the same commit: settings can leave tests out without a
//! trace in their files.

use crate::event::RunReport;
use crate::fact::{Note, Subject};
use crate::git::Repo;
use crate::journal::{JournalState, RecordedRun};
use crate::oid::Oid;
use crate::plural::counted;
use crate::policy::{Command, Policy};

/// The number of earlier runs of a command that are compared.
const MAX_EARLIER: usize = 8;

/// Returns a note for each command of tests whose latest pass on the content of a subject ran fewer tests than the last pass on
/// an earlier commit of its history.
pub fn notes(repo: &Repo, state: &JournalState, policy: &Policy, subjects: &[Subject]) -> Vec<Note> {
    let commands = policy.commands.iter().filter(|command| command.gate == "tests");
    let of_command = |command| subjects.iter().filter_map(move |subject| note(repo, state, command, subject));
    let mut found: Vec<Note> = commands.flat_map(of_command).collect();
    found.dedup();
    found
}

fn note(repo: &Repo, state: &JournalState, command: &Command, subject: &Subject) -> Option<Note> {
    let (commit, tree) = (subject.commit.as_ref()?, subject.tree.as_ref()?);
    let mut passes = state.runs(&command.reference().key).iter().filter(|run| run.run.shows_pass());
    let now = report(passes.by_ref().find(|run| run.run.end.tree == *tree)?)?;
    let is_before = |head: &Oid| head != commit && repo.is_ancestor(head, commit).unwrap_or(false);
    let earlier = passes.filter(|run| run.run.end.tree != *tree).take(MAX_EARLIER).find_map(|run| {
        let head = run.run.end.head.as_ref().filter(|head| is_before(head))?;
        // A run with uncommitted changes says nothing about the commit.
        repo.tree_of(head).ok().filter(|tree| *tree == run.run.end.tree)?;
        Some((head, report(run).filter(|before| before.runner == now.runner)?))
    });
    let (head, before) = earlier?;
    (executed(before) > executed(now)).then(|| Note::new("fewer-tests", sentence(command, now, before, head)))
}

fn report(run: &RecordedRun) -> Option<&RunReport> {
    run.run.report.as_ref()
}

const fn executed(report: &RunReport) -> u64 {
    report.passed + report.failed
}

fn sentence(command: &Command, now: &RunReport, before: &RunReport, head: &Oid) -> String {
    let tests = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "test");
    format!("`{}` ran {}; it ran {} on {}", command.run, tests(executed(now)), executed(before), head.short())
}
