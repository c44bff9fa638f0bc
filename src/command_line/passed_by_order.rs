//! Commands that run in order: if one starts only after the others succeeded, its pass shows that they passed.

use crate::runner::{CommandKind, OutputOutcome, OutputReading, Runner, read_output_as};
use crate::shell::command_outcome::ObservedEnding;
use crate::shell::exit_status;
use crate::shell::expanded_program::LeafId;

use super::CheckOutcome;
use super::check_outcome::CheckView;
use super::command_table::table;
use super::forged_output::alone;
use super::output_filters::OutputPath;
use super::understanding::CHECKS;

/// The largest number of commands of a line in which a later one is looked for: each of them is judged again.
const MAX_COMMANDS: usize = 24;

impl<'a> CheckView<'a> {
    /// Returns the runners of the last command of a task, if its pass shows that the other ones passed.
    pub(super) fn last_runners(&self) -> Option<Vec<&'a Runner>> {
        let invocation = self.judge.purpose(self.leaf).invocation.as_ref()?;
        let last = invocation.order.last.iter().filter_map(|id| self.catalogue().runner(id)).collect::<Vec<_>>();
        let is_other = |runner: &&Runner| runner.task.is_none() && !invocation.order.last.contains(&runner.id);
        (!last.is_empty() && self.runners().iter().any(is_other)).then_some(last)
    }

    /// Returns what the last command of a task says, if that shows a pass and nothing in the `whole` output a failure.
    pub(super) fn read_last(&self, text: &str, whole: &OutputReading) -> Option<OutputReading> {
        let runners = self.last_runners()?;
        let reading = read_output_as(self.catalogue(), &runners, self.kind(), text);
        let fits = matches!(whole.says, OutputOutcome::Passed | OutputOutcome::Silent);
        // The counts are those of all its parts, or none.
        let reports = if whole.says == OutputOutcome::Passed { whole.reports.clone() } else { Vec::new() };
        (fits && reading.says == OutputOutcome::Passed).then_some(OutputReading { reports, ..reading })
    }

    /// Returns `true` if the reading is a pass that the last command of a task shows.
    pub(super) fn passed_last(&self, reading: &OutputReading) -> bool {
        let output = self.judge.record.output.unwrap_or_default();
        let told = |runners: Vec<&Runner>| {
            read_output_as(self.catalogue(), &runners, self.kind(), output).says == OutputOutcome::Passed
        };
        reading.says == OutputOutcome::Passed && self.last_runners().is_some_and(told)
    }

    /// Returns `true` if the task runs something after or beside the check that passed, and it is not visible that this
    /// passed, too.
    pub(super) fn leaves_open(&self, view: &OutputPath, reading: &OutputReading, output: &str) -> bool {
        let Some(invocation) = &self.judge.purpose(self.leaf).invocation else { return false };
        let fine = |id: &String| {
            self.catalogue().runner(id).is_some_and(|runner| {
                let kind = runner.kinds.first().copied().unwrap_or(CommandKind::Test);
                match read_output_as(self.catalogue(), &[runner], kind, output).says {
                    OutputOutcome::Passed => true,
                    OutputOutcome::Failed => false,
                    OutputOutcome::NothingRan | OutputOutcome::Silent => {
                        !self.catalogue().failure_lines(runner).is_empty()
                            && !view.cuts_end(table().visible_lines(output))
                    }
                }
            })
        };
        !self.passed_last(reading) && (invocation.order.goes_on || !invocation.order.others.iter().all(fine))
    }

    /// Returns a later check of the line that shows by its pass that this command succeeded, since it starts only then.
    pub(super) fn follower(&self) -> Option<LeafId> {
        let (program, purposes) = (self.judge.program(), &self.judge.understood.purposes);
        let (leaf, purpose) = (&program.leaves[self.leaf], &purposes[self.leaf]);
        let has_output = self.judge.record.output.is_some_and(|output| !output.trim().is_empty());
        if !has_output || purposes.len() > MAX_COMMANDS {
            return None;
        }
        let is_runner = purpose.runners(self.catalogue()).any(|runner| runner.task.is_none());
        let is_followed = purpose.invocation.as_ref().is_some_and(|invocation| !invocation.order.opaque);
        // What a test of no known runner did, its status does not show.
        let is_told = is_runner && is_followed || !purpose.is(CommandKind::Test) && purpose.invocation.is_some();
        if !is_told || !purpose.honest() || purpose.replaced.is_some() || leaf.shadowed || leaf.repeated {
            return None;
        }
        (self.leaf + 1..purposes.len()).find(|&later| self.is_followed_by(later))
    }

    fn is_followed_by(&self, later: LeafId) -> bool {
        let (program, purposes) = (self.judge.program(), &self.judge.understood.purposes);
        let Some(kind) = CHECKS.into_iter().find(|kind| purposes[later].is(*kind)) else { return false };
        let mut seen: Vec<_> = self.judge.seen.iter().filter(|seen| seen.leaf != self.leaf).copied().collect();
        seen.push(ObservedEnding::end(later, true));
        if !exit_status::fate_seen(program, self.leaf, &seen).always_succeeded() {
            return false;
        }
        let ids: Vec<LeafId> = (0..purposes.len()).filter(|id| purposes[*id].is(kind)).collect();
        let view = CheckView { judge: self.judge, leaf: later, fate: exit_status::fate(program, later), ids: &ids };
        let ending = view.own_ending();
        ending.outcome == CheckOutcome::Pass
            && ending.by_output
            && ending.reading.says == OutputOutcome::Passed
            && alone(self.catalogue(), program, purposes, later)
    }
}
