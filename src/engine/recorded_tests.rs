//! The tests that a run named: in the record, and in the ledger of tests.

use jiff::Timestamp;

use super::Workplace;
use crate::event::{CommandRef, EventKind, Origin, Run, RunReport, TestResult, TestResults};
use crate::journal::{JournalError, JournalState, LedgerRun, NewEvent, OpenFailure, RecordedRun, TestLedger};
use crate::repo_path::RepoPath;
use crate::runner::NamedTests;
use crate::snapshot::KeptSnapshot;

/// The number of failed tests that a run records by name.
const MAX_FAILED_TESTS: usize = 256;

impl Workplace {
    /// Records a run and, if they say something about a failure, its tests by name.
    pub fn append_run(&self, run: Run, tests: &NamedTests) -> Result<(), JournalError> {
        let append = |state: &JournalState| {
            let named = test_results(&run, tests, state);
            let kinds = [Some(EventKind::Run(Box::new(run))), named.map(Box::new).map(EventKind::Tests)];
            let session = Some(self.session.id.clone());
            let event = |kind| NewEvent { session: session.clone(), origin: Origin::observed(), kind };
            (kinds.into_iter().flatten().map(event).collect(), ())
        };
        self.journal.append_with(append).1.map(drop)
    }

    /// Records what a run of a part of the tests of declared commands says of them by name.
    ///
    /// `alone` is as in [`results_in_part`].
    pub fn append_part(
        &self,
        parts: &[(CommandRef, NamedTests)],
        end: &KeptSnapshot,
        alone: bool,
    ) -> Result<(), JournalError> {
        if parts.iter().all(|(_, tests)| tests.is_empty()) {
            return Ok(());
        }
        let append = |state: &JournalState| {
            let named =
                parts.iter().filter_map(|(command, tests)| results_in_part(command, end, (tests, alone), state));
            let session = Some(self.session.id.clone());
            let event = |results| NewEvent {
                session: session.clone(),
                origin: Origin::observed(),
                kind: EventKind::Tests(Box::new(results)),
            };
            (named.map(event).collect(), ())
        };
        self.journal.append_with(append).1.map(drop)
    }

    /// Adds the tests that a run named to the ledger.
    pub fn note_tests(&self, run: &Run, tests: &NamedTests) -> Result<(), JournalError> {
        if tests.is_empty() {
            return Ok(());
        }
        let command = run.command.name.clone().unwrap_or_else(|| run.command.line.clone());
        let mut entry = LedgerRun::new(Timestamp::now(), run.command.key.clone(), command, run.end.tree.clone());
        entry.session = Some(self.session.id.clone());
        entry.head.clone_from(&run.end.head);
        entry.complete = tests.is_complete();
        self.test_ledger().append(entry, tests.results())
    }

    /// Returns the number of tests that the latest run of a command named, if it named all of them and one that failed has not
    /// passed since.
    pub fn tests_named_at_failure(&self, key: &str) -> usize {
        let Ok(state) = self.state() else { return 0 };
        let is_open = |open: &OpenFailure| open.key == key && !open.in_part && open.since != Some(TestResult::Passed);
        if !state.open_failures().iter().any(is_open) {
            return 0;
        }
        let history = self.test_ledger().read().unwrap_or_default();
        let latest = history.latest().into_iter().find(|latest| latest.run.key == key && latest.run.complete);
        latest.map_or(0, |latest| latest.results.len())
    }

    /// Returns the number of tests that earlier runs of a command named.
    pub fn tests_named_before(&self, key: &str) -> usize {
        let history = self.test_ledger().read().unwrap_or_default();
        history.latest().iter().find(|latest| latest.run.key == key).map_or(0, |latest| latest.results.len())
    }

    /// Returns what the latest run of a command that passed and counted tests reported, unless settings or scripts have
    /// changed since: they may have changed what it prints.
    pub fn counted_before(&self, command: &CommandRef, on: &KeptSnapshot) -> Option<RunReport> {
        let state = self.state().ok()?;
        let passes = |run: &&RecordedRun| {
            let run = &run.run;
            run.command.key == command.key && run.ended.success() && run.masked.is_none()
        };
        let last = state.all_runs().filter(passes).max_by(|a, b| a.id.cmp(&b.id))?;
        let report = last.run.report.clone().filter(|report| report.passed > 0)?;
        let changed = self.repo.changed_between(&last.run.end, on).ok()?;
        let is_named = |path: &RepoPath| {
            path.to_os().file_name().is_some_and(|name| command.line.contains(&*name.to_string_lossy()))
        };
        (!changed.iter().any(|path| is_setting(path) || is_named(path))).then_some(report)
    }

    /// Returns the ledger of the tests by name.
    pub fn test_ledger(&self) -> TestLedger {
        TestLedger::of(&self.repo.gate_dir())
    }
}

/// Returns `true` for a file that may say what a command prints: no source of a program.
fn is_setting(path: &RepoPath) -> bool {
    const SETTINGS: [&str; 19] = [
        "toml", "json", "jsonc", "ini", "cfg", "yml", "yaml", "sh", "bash", "mk", "xml", "gradle", "kts", "cmake",
        "properties", "conf", "lock", "mod", "txt",
    ];
    let path = path.to_os();
    let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let end = path.extension().and_then(|end| end.to_str());
    end.is_none_or(|end| SETTINGS.contains(&end)) || name.starts_with('.') || name.contains("config")
}

/// Returns the tests of a run of a part of a declared command's tests for the record, or `None` if none failed and none that
/// failed before passed. That others are missing or skipped says nothing, and neither does a pass if the runner was not
/// `alone`: something else may have printed it.
pub fn results_in_part(
    command: &CommandRef,
    end: &KeptSnapshot,
    (tests, alone): (&NamedTests, bool),
    state: &JournalState,
) -> Option<TestResults> {
    let mut results = results_of(command, end, tests, state);
    results.earlier.retain(|earlier| alone && earlier.result == TestResult::Passed);
    results.complete = false;
    results.part = true;
    (!results.failed.is_empty() || !results.earlier.is_empty()).then_some(results)
}

/// Returns the tests of a run for the record, or `None` if none failed and none that failed before is among them.
pub fn test_results(run: &Run, tests: &NamedTests, state: &JournalState) -> Option<TestResults> {
    let results = results_of(&run.command, &run.end, tests, state);
    (!results.failed.is_empty() || !results.earlier.is_empty()).then_some(results)
}

fn results_of(command: &CommandRef, end: &KeptSnapshot, tests: &NamedTests, state: &JournalState) -> TestResults {
    let unsettled = |open: &&OpenFailure| open.key == command.key && open.since != Some(TestResult::Passed);
    let open = state.open_failures().iter().filter(unsettled);
    TestResults {
        key: command.key.clone(),
        head: end.head.clone(),
        tree: end.tree.clone(),
        named: tests.len() as u64,
        complete: tests.is_complete(),
        part: false,
        failed: tests.failed().take(MAX_FAILED_TESTS).map(str::to_owned).collect(),
        families: tests.families(MAX_FAILED_TESTS),
        earlier: tests.earlier(open.map(|open| open.test.as_str())),
    }
}
