//! The tests that are known by name: those of each command, and the history of one.

use std::fmt::Write as _;

use jiff::Timestamp;
use serde::Serialize;

use crate::event::test_results::TestResult;
use crate::journal::{LatestTests, LedgerRun, TestMoment};
use crate::oid::Oid;
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::verdict::SCHEMA_VERSION;

/// The maximum number of names under one heading for people.
const MAX_LISTED: usize = 20;

/// The tests of `gate status --tests`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestsByCommand<'a> {
    schema_version: u32,
    commands: Vec<CommandTests<'a>>,
    /// The declared commands of which no run named a test.
    unknown: Vec<&'a str>,
}

/// The tests of one command after its latest run.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct CommandTests<'a> {
    command: &'a str,
    at: Timestamp,
    tree: &'a Oid,
    head: Option<&'a Oid>,
    /// `true` if the runner named every test.
    complete: bool,
    passed: usize,
    failed: Vec<&'a str>,
    skipped: Vec<&'a str>,
    expected_failures: Vec<&'a str>,
    /// The tests that passed and failed on the same content.
    flaky: Vec<&'a str>,
}

impl<'a> TestsByCommand<'a> {
    /// Returns the view of these commands.
    pub fn of(latest: &[LatestTests<'a>], unknown: Vec<&'a str>) -> Self {
        Self { schema_version: SCHEMA_VERSION, commands: latest.iter().map(CommandTests::of).collect(), unknown }
    }

    /// Returns the tests for programs.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// Returns the tests for people.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        for tests in &self.commands {
            tests.lines(&mut text);
        }
        for command in &self.unknown {
            let _ = writeln!(text, "{STRONG}{command}{STRONG:#}: its tests are not known by name");
        }
        if text.is_empty() {
            text.push_str("no command is declared, and no run has named its tests\n");
        }
        text
    }
}

impl<'a> CommandTests<'a> {
    fn of(latest: &LatestTests<'a>) -> Self {
        let with = |wanted: TestResult| {
            let found = latest.results.iter().filter(|(_, result)| **result == wanted);
            found.map(|(name, _)| *name).collect::<Vec<_>>()
        };
        Self {
            command: &latest.run.command,
            at: latest.run.at,
            tree: &latest.run.tree,
            head: latest.run.head.as_ref(),
            complete: latest.run.complete,
            passed: with(TestResult::Passed).len(),
            failed: with(TestResult::Failed),
            skipped: with(TestResult::Skipped),
            expected_failures: with(TestResult::ExpectedFailure),
            flaky: latest.flaky.iter().copied().collect(),
        }
    }

    fn lines(&self, text: &mut String) {
        let all = self.passed + self.failed.len() + self.skipped.len() + self.expected_failures.len();
        let known = if self.complete { "" } else { "; there may be others" };
        let counts = format!(
            "{all} by name, {} passed, {} failed, {} skipped",
            self.passed,
            self.failed.len(),
            self.skipped.len()
        );
        let at = time(self.at);
        let _ = writeln!(text, "{STRONG}{}{STRONG:#}: {counts}{known}  {DIM}{at}{DIM:#}", self.command);
        listed(text, "failed", BAD, &self.failed);
        listed(text, "skipped", WARN, &self.skipped);
        listed(text, "expected to fail", WARN, &self.expected_failures);
        listed(text, "passes and fails on the same content", WARN, &self.flaky);
    }
}

fn listed(text: &mut String, title: &str, style: anstyle::Style, names: &[&str]) {
    for name in names.iter().take(MAX_LISTED) {
        let _ = writeln!(text, "  {style}{title}{style:#}  {name}");
    }
    if let Some(more) = names.len().checked_sub(MAX_LISTED).filter(|more| *more > 0) {
        let _ = writeln!(text, "  {style}{title}{style:#}  and {more} more");
    }
}

fn time(at: Timestamp) -> String {
    at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()
}

/// The history of one test, of `gate log --test`.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TestHistoryView<'a> {
    schema_version: u32,
    test: &'a str,
    first_seen: Option<Timestamp>,
    last_failed: Option<Timestamp>,
    /// The contents on which it passed and failed, as trees.
    flaky_on: Vec<&'a Oid>,
    /// The runs in which its result changed, oldest first.
    changes: Vec<TestChange<'a>>,
}

/// A run in which the result of a test changed.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct TestChange<'a> {
    at: Timestamp,
    command: &'a str,
    result: TestResult,
    tree: &'a Oid,
    head: Option<&'a Oid>,
    session: Option<&'a str>,
    /// The subject and author of the commit that was checked out.
    subject: Option<String>,
    author: Option<String>,
}

impl<'a> TestHistoryView<'a> {
    /// Returns the history of `test`, which passed and failed on the contents `flaky_on`. `commit_of` returns the subject and author of a commit.
    pub fn of(
        test: &'a str,
        moments: &[TestMoment<'a>],
        last_failed: Option<&LedgerRun>,
        flaky_on: Vec<&'a Oid>,
        commit_of: impl Fn(&Oid) -> Option<(String, String)>,
    ) -> Self {
        let change = |moment: &TestMoment<'a>| {
            let run = moment.run;
            let (subject, author) = run.head.as_ref().and_then(&commit_of).unzip();
            TestChange {
                at: run.at,
                command: &run.command,
                result: moment.result,
                tree: &run.tree,
                head: run.head.as_ref(),
                session: run.session.as_deref(),
                subject,
                author,
            }
        };
        Self {
            schema_version: SCHEMA_VERSION,
            test,
            first_seen: moments.first().map(|moment| moment.run.at),
            last_failed: last_failed.map(|run| run.at),
            flaky_on,
            changes: moments.iter().map(change).collect(),
        }
    }

    /// Returns the history for programs.
    pub fn json(&self) -> serde_json::Result<String> {
        serde_json::to_string_pretty(self)
    }

    /// Returns the history for people.
    pub fn lines(&self) -> String {
        let mut text = String::new();
        let or_never = |at: Option<Timestamp>| at.map_or_else(|| "never".to_owned(), time);
        let (first, last) = (or_never(self.first_seen), or_never(self.last_failed));
        let _ = writeln!(text, "{STRONG}{}{STRONG:#}\n  first seen {first}, last failed {last}", self.test);
        for tree in &self.flaky_on {
            let _ = writeln!(text, "  {WARN}passed and failed on the same content{WARN:#}, tree {}", tree.short());
        }
        for change in &self.changes {
            change.line(&mut text);
        }
        text
    }
}

impl TestChange<'_> {
    fn line(&self, text: &mut String) {
        let (style, word) = match self.result {
            TestResult::Passed => (GOOD, "passed"),
            TestResult::Failed => (BAD, "failed"),
            TestResult::Skipped => (WARN, "skipped"),
            TestResult::ExpectedFailure => (WARN, "failed as expected"),
            TestResult::Missing => (WARN, "did not run"),
        };
        let at = time(self.at);
        let on = match (self.head, &self.subject, &self.author) {
            (Some(head), Some(subject), Some(author)) => format!("on {} ({author}: {subject})", head.short()),
            (Some(head), ..) => format!("on {}", head.short()),
            (None, ..) => format!("on tree {}", self.tree.short()),
        };
        let session = self.session.map(|session| format!(", session {session}")).unwrap_or_default();
        let _ = writeln!(text, "  {DIM}{at}{DIM:#}  {style}{word}{style:#} in {} {on}{session}", self.command);
    }
}
