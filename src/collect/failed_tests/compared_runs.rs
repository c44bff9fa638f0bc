//! The run in which a test failed, and the latest one of the same command that passed.

use crate::event::{Grade, NamedPart, RunReport, TestResult};
use crate::fact::failed_test::CountedTests;
use crate::journal::{JournalState, OpenFailure, RecordedRun};
use crate::policy::Command;
use crate::runner::Catalogue;
use crate::shell_quote::shell_word;

/// Endings of files of tests.
const ENDINGS: [&str; 9] = [".py", ".js", ".ts", ".tsx", ".jsx", ".mjs", ".cjs", ".rb", ".php"];

/// Both runs.
pub(super) struct ComparedRuns<'a> {
    runners: &'a Catalogue,
    red: Option<&'a RecordedRun>,
    /// The one that passed.
    pub(super) green: &'a RecordedRun,
}

impl<'a> ComparedRuns<'a> {
    /// Returns both, if a run passed after the test had failed. Without such a run, the gate that requires the run
    /// reports that.
    pub(super) fn of(runners: &'a Catalogue, state: &'a JournalState, open: &OpenFailure) -> Option<Self> {
        let runs = state.runs(&open.key);
        let failed = runs.iter().position(|run| run.run.end.tree == open.tree && !run.run.ended.success());
        let later = &runs[..failed.unwrap_or(runs.len())];
        let is_green = |run: &&RecordedRun| run.run.ended.success() && run.run.masked.is_none() && run.id > open.event;
        let green = later.iter().find(is_green)?;
        Some(Self { runners, red: failed.map(|at| &runs[at]), green })
    }

    /// Returns the result of the test in the run that passed. A pass in an earlier run settles the failure; other results
    /// of earlier runs say nothing of this one.
    pub(super) fn result(&self, open: &OpenFailure) -> Option<TestResult> {
        let is_of_green = open.since_event.as_ref().is_none_or(|event| *event > self.green.id);
        open.since.filter(|result| is_of_green || *result == TestResult::Passed)
    }

    /// Compares the numbers of tests in both runs. A run in which a whole file failed because it could not be read counts too
    /// few tests.
    pub(super) fn count(&self, failed: &str) -> CountedTests {
        if is_file(failed) {
            return CountedTests::Unknown;
        }
        let counted = |run: &'a RecordedRun| run.run.report.as_ref().filter(|report| self.counts_tests(report));
        match (self.red.and_then(counted), counted(self.green)) {
            (Some(red), Some(green)) if red.runner == green.runner => CountedTests::compare(
                (red.passed + red.failed, green.passed + green.failed),
                (red.skipped, green.skipped),
            ),
            _ => CountedTests::Unknown,
        }
    }

    /// Returns `true` if the run that failed named all its tests, and the one that passed named none.
    pub(super) fn names_no_more(&self) -> bool {
        self.red.is_some_and(|red| red.run.named == NamedPart::All) && self.green.run.named == NamedPart::None
    }

    /// Returns a command line that names the tests, as far as the record shows one.
    pub(super) fn naming(&self, command: &Command) -> Option<String> {
        let green = &self.green.run;
        let by_gate = self.green.origin.grade == Grade::Observed;
        if by_gate && (green.named == NamedPart::All || !green.verbatim) {
            // It named all that there is, or it was asked for in this way already.
            return None;
        }
        let runner = self.runners.runner(&green.report.as_ref()?.runner)?;
        let names = runner.names.as_ref()?;
        // gate's own run of the same words names what it named when the test failed.
        let named_before = self.red.is_some_and(|red| red.run.named == NamedPart::All);
        if !by_gate && (names.names(&command.run) || named_before) {
            return Some(format!("gate run {}", shell_word(&command.name)));
        }
        let line = names.naming_line(&runner.id, &command.run)?;
        let folder = command.dir.to_string();
        let enter = if folder.is_empty() { String::new() } else { format!("cd {} && ", shell_word(&folder)) };
        Some(format!("{enter}gate run -- {line}"))
    }

    fn counts_tests(&self, report: &RunReport) -> bool {
        self.runners.runner(&report.runner).is_none_or(crate::runner::Runner::counts_tests)
    }
}

/// Returns `true` if a name is that of a file: `tests/test_a.py`.
fn is_file(test: &str) -> bool {
    let name = test.rsplit('/').next().unwrap_or(test);
    !test.contains("::") && !test.contains(' ') && ENDINGS.iter().any(|ending| name.ends_with(ending))
}
