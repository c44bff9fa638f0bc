//! Runs in which fewer tests ran than in an earlier one on the way to the same commit: settings can leave tests out without a
//! trace in their files.

use crate::event::{Grade, RunReport};
use crate::fact::{Note, Subject};
use crate::git::Repo;
use crate::journal::{JournalState, RecordedRun};
use crate::oid::Oid;
use crate::plural::counted;
use crate::policy::{Command, Policy};

/// The number of earlier runs of a command that are compared.
const MAX_EARLIER: usize = 8;

/// Returns a note for each command of tests whose latest pass on the content of a subject ran fewer tests than the last run on
/// an earlier commit of its history, or none that its output shows.
pub fn notes(repo: &Repo, state: &JournalState, policy: &Policy, subjects: &[Subject]) -> Vec<Note> {
    let commands = policy.commands.iter().filter(|command| command.gate == "tests");
    let of_command = |command| subjects.iter().filter_map(move |subject| note(repo, state, command, subject));
    let mut found: Vec<Note> = commands.flat_map(of_command).collect();
    found.dedup();
    found
}

fn note(repo: &Repo, state: &JournalState, command: &Command, subject: &Subject) -> Option<Note> {
    let (commit, tree) = (subject.commit.as_ref()?, subject.tree.as_ref()?);
    let mut runs = state.runs(&command.reference().key).iter().filter(|run| run.run.masked.is_none());
    let now = runs.by_ref().find(|run| run.run.end.tree == *tree && run.run.shows_pass())?;
    let is_before = |head: &Oid| head != commit && repo.is_ancestor(head, commit).unwrap_or(false);
    let earlier = runs.filter(|run| run.run.end.tree != *tree).take(MAX_EARLIER).find_map(|run| {
        let head = run.run.end.head.as_ref().filter(|head| is_before(head))?;
        // A run with uncommitted changes says nothing about the commit.
        repo.tree_of(head).ok().filter(|tree| *tree == run.run.end.tree)?;
        Some((head, run.run.report.as_ref().filter(|before| is_alike(before, now))?))
    });
    let (head, before) = earlier?;
    let now = now.run.report.as_ref();
    (executed(before) > now.map_or(0, executed)).then(|| Note::new("fewer-tests", sentence(command, now, before, head)))
}

/// Returns `true` if the runner of a run is that of an earlier one, or if gate saw all of its output and no runner in it.
fn is_alike(before: &RunReport, now: &RecordedRun) -> bool {
    match &now.run.report {
        Some(report) => report.runner == before.runner,
        None => now.origin.grade == Grade::Observed && now.run.verbatim,
    }
}

const fn executed(report: &RunReport) -> u64 {
    report.passed + report.failed
}

fn sentence(command: &Command, now: Option<&RunReport>, before: &RunReport, head: &Oid) -> String {
    let tests = |count: u64| counted(usize::try_from(count).unwrap_or(usize::MAX), "test");
    let (line, earlier) = (&command.run, executed(before));
    match now {
        Some(now) => format!("`{line}` ran {}; it ran {earlier} on {}", tests(executed(now)), head.short()),
        None => format!("the output of `{line}` shows no test; it ran {} on {}", tests(earlier), head.short()),
    }
}
