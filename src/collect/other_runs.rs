//! Runs of tests that are not those of a declared command. A person may take one of them for it.

use crate::command_line::{Purpose, understand};
use crate::event::Ended;
use crate::fact::evidence::OtherRun;
use crate::fact::subject::Subject;
use crate::journal::{JournalState, RecordedRun};
use crate::runner::{CommandKind, Project};

/// The largest number of runs that are looked at.
const MAX_RUNS: usize = 8;

/// Returns the newest such runs that passed on the content of one of `subjects` and changed nothing, the latest first.
pub fn read(state: &JournalState, project: Project<'_>, subjects: &[Subject]) -> Vec<OtherRun> {
    let passed = |recorded: &&RecordedRun| {
        let run = &recorded.run;
        let is_of_subject = || subjects.iter().any(|subject| subject.tree.as_ref() == Some(&run.end.tree));
        run.ended == Ended::Exited(0) && run.masked.is_none() && run.start.tree == run.end.tree && is_of_subject()
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
