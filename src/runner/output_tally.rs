//! The lines of one runner in an output: its summaries, its parts, its other lines.

use crate::event::RunReport;
use crate::foreign_text::beginning;
use crate::runner::catalogue::Catalogue;
use crate::runner::command_kind::CommandKind;
use crate::runner::output_line::{CountField, LineMeaning, LineRule, Means};
use crate::runner::output_rules::Summaries;
use crate::runner::runner_definition::Runner;

/// A summary, as far as it was seen.
#[derive(Debug, Default)]
struct RunSummary {
    said: LineMeaning,
    complete: bool,
    needs_end: bool,
    /// `true` if what is in the total and did not pass failed.
    rest_fails: bool,
    line: String,
}

impl RunSummary {
    fn failed(&self) -> u64 {
        let rest = || Some(self.said.total?.saturating_sub(self.said.passed?)).filter(|_| self.rest_fails);
        self.said.failed.or_else(rest).unwrap_or(0)
    }

    fn skipped(&self) -> u64 {
        self.said.skipped.unwrap_or(0)
    }

    /// Returns the number of passed tests: the printed number, or the rest of the total.
    fn passed(&self) -> Option<u64> {
        let rest = |total: u64| total.saturating_sub(self.failed()).saturating_sub(self.skipped());
        // A closing line that counts only what was skipped says that nothing passed.
        let none = (self.complete && self.said.skipped.is_some()).then_some(0);
        self.said.passed.or(self.said.total.map(rest)).or(none)
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.complete || (self.said.passed.is_some() && self.said.failed.is_some())
    }

    fn is_bad(&self) -> bool {
        self.said.bad || self.failed() > 0
    }
}

/// The collected lines of one runner.
#[expect(clippy::struct_excessive_bools, reason = "independent signs")]
pub(crate) struct RunnerTally<'a> {
    runner: &'a Runner,
    /// The kind of check that is of interest.
    kind: CommandKind,
    pub(crate) summaries: Summaries,
    pub(crate) rules: Vec<&'a LineRule>,
    found: Vec<RunSummary>,
    parts: Parts,
    /// The number of lines that were about it.
    matched: usize,
    pub(crate) start: bool,
    passed: Option<String>,
    pub(crate) failed: Option<String>,
    pub(crate) trouble: Option<(usize, String)>,
    /// The number of the last line that shows a pass.
    pub(crate) passed_at: usize,
    passed_needs_end: bool,
    /// A list of which the heading is cut off, so that it may be one of failures.
    unclear: bool,
    /// A part that began and of whose end nothing was seen since.
    begun: bool,
    nothing: Option<String>,
}

#[derive(Default)]
struct Parts {
    passed: u64,
    failed: u64,
    empty: u64,
    line: String,
}

impl<'a> RunnerTally<'a> {
    pub(crate) fn new(catalogue: &'a Catalogue, runner: &'a Runner, kind: CommandKind) -> Self {
        let (summaries, rules) = catalogue.output_rules(runner);
        Self {
            runner,
            kind,
            summaries,
            rules,
            found: Vec::new(),
            parts: Parts::default(),
            matched: 0,
            start: false,
            passed: None,
            failed: None,
            trouble: None,
            passed_at: 0,
            passed_needs_end: false,
            unclear: false,
            begun: false,
            nothing: None,
        }
    }

    /// Takes in a line that one of these rules may match; `false` when none does.
    pub(crate) fn take(
        &mut self,
        line: &str,
        mut rules: impl Iterator<Item = usize>,
        index: usize,
        catalogue: &Catalogue,
    ) -> bool {
        let Some((rule, said)) =
            rules.find_map(|at| self.rules.get(at).and_then(|rule| Some((*rule, rule.read(line)?))))
        else {
            return false;
        };
        self.start |= rule.whole;
        match rule.means {
            Means::PartStart => self.begun = true,
            Means::Progress if rule.completes => self.begun = false,
            Means::Start | Means::Progress | Means::Listed | Means::Trouble => {}
            _ => self.begun = false,
        }
        match rule.means {
            Means::Counts if rule.one.is_some() => self.count_one(rule, line, index),
            Means::Counts => self.counts(rule, said, line, index),
            Means::Passed => {
                self.passed = Some(shown_line(line));
                self.passed_needs_end = rule.needs_end;
                self.shows_pass(index);
                self.found.last_mut().into_iter().for_each(|summary| summary.complete = true);
            }
            // A task runner tells which task failed. That lint failed says nothing about the tests.
            Means::Failed if said.task.as_deref().is_some_and(|task| catalogue.names().is_no(self.kind, task)) => {}
            Means::Failed => {
                self.failed.get_or_insert_with(|| shown_line(line));
            }
            Means::Trouble => {
                self.trouble.get_or_insert_with(|| (index, shown_line(line)));
            }
            // That nothing was to be done for another task says nothing about the checks.
            Means::NothingRan if said.task.as_deref().is_some_and(|task| !self.checks(task, catalogue)) => {}
            Means::NothingRan => self.nothing = Some(shown_line(line)),
            Means::Start => self.start = true,
            // It says nothing of how it ends.
            Means::PartStart | Means::Progress => return false,
            Means::Listed => self.unclear |= self.found.is_empty(),
            Means::PartPassed | Means::PartFailed | Means::PartEmpty => {
                match rule.means {
                    Means::PartPassed => {
                        self.parts.passed += 1;
                        self.shows_pass(index);
                    }
                    Means::PartFailed => self.parts.failed += 1,
                    _ => self.parts.empty += 1,
                }
                if rule.means != Means::PartEmpty || self.parts.line.is_empty() {
                    self.parts.line = shown_line(line);
                }
            }
        }
        self.matched += 1;
        true
    }

    /// Returns `true` if a task of this name runs checks of the kind of interest.
    fn checks(&self, task: &str, catalogue: &Catalogue) -> bool {
        let rules = self.runner.task.as_ref();
        rules.is_some_and(|rules| catalogue.names().kinds(rules, task).contains(&self.kind))
    }

    fn counts(&mut self, rule: &LineRule, said: LineMeaning, line: &str, index: usize) {
        let fits = |now: &RunSummary| {
            [(now.said.passed, said.passed), (now.said.failed, said.failed), (now.said.total, said.total)]
                .iter()
                .all(|(old, new)| old.is_none() || new.is_none())
        };
        if self.summaries == Summaries::Growing && !rule.joins {
            self.found.clear();
        }
        match self.found.last_mut().filter(|now| rule.joins && fits(now)) {
            Some(now) => {
                now.said.passed = now.said.passed.or(said.passed);
                now.said.failed = now.said.failed.or(said.failed);
                now.said.skipped = match (now.said.skipped, said.skipped) {
                    (Some(old), Some(new)) => Some(old.saturating_add(new)),
                    (old, new) => old.or(new),
                };
                now.said.total = now.said.total.or(said.total);
                now.said.bad |= said.bad;
                now.complete |= rule.completes;
                now.needs_end |= rule.needs_end;
                now.line = shown_line(line);
            }
            None => self.found.push(RunSummary {
                said,
                complete: !rule.joins && !rule.partial && (!rule.needs_before || index > self.matched),
                needs_end: rule.needs_end,
                rest_fails: self.runner.output.rest_fails,
                line: shown_line(line),
            }),
        }
        let passes =
            |now: &RunSummary| now.is_complete() && !now.is_bad() && now.passed().is_some_and(|passed| passed > 0);
        if self.found.last().is_some_and(passes) {
            self.shows_pass(index);
        }
    }

    /// Counts the line of one test. All lines from the total to the last test are visible if there are as many.
    fn count_one(&mut self, rule: &LineRule, line: &str, index: usize) {
        let Some(now) = self.found.last_mut().filter(|now| !now.complete) else { return };
        match rule.one {
            Some(CountField::Skipped) => now.said.skipped = Some(now.skipped() + 1),
            _ => now.said.passed = Some(now.said.passed.unwrap_or(0) + 1),
        }
        now.line = shown_line(line);
        now.complete = now.said.total == Some(now.said.passed.unwrap_or(0) + now.skipped());
        if now.complete {
            self.start = true;
            self.shows_pass(index);
        }
    }

    /// Records a pass. Apparent trouble before it was a test's own output.
    fn shows_pass(&mut self, index: usize) {
        self.passed_at = index;
        self.trouble = None;
    }

    pub(crate) fn is_task(&self) -> bool {
        self.runner.task.is_some()
    }

    /// Returns the counts, if there is a summary, else the parts.
    pub(crate) fn report(&self) -> Option<RunReport> {
        let known: Vec<&RunSummary> =
            self.found.iter().filter(|summary| summary.is_complete() || summary.is_bad()).collect();
        let id = self.runner.id.clone();
        if known.is_empty() {
            let Parts { passed, failed, empty, .. } = self.parts;
            return (passed + failed + empty > 0).then_some(RunReport { runner: id, passed, failed, skipped: 0 });
        }
        let sum =
            |count: fn(&RunSummary) -> u64| known.iter().map(|summary| count(summary)).fold(0, u64::saturating_add);
        Some(RunReport {
            runner: id,
            passed: sum(|summary| summary.passed().unwrap_or(0)),
            failed: sum(RunSummary::failed),
            skipped: sum(RunSummary::skipped),
        })
    }

    /// Returns the result of the runner, and the line that shows it.
    pub(crate) fn says(&self) -> (OutputOutcome, Option<String>) {
        if let Some(bad) = self.found.iter().rev().find(|summary| summary.is_bad()) {
            return (OutputOutcome::Failed, Some(bad.line.clone()));
        }
        if let Some(line) = self.failed.as_ref().or(self.trouble.as_ref().map(|(_, line)| line)) {
            return (OutputOutcome::Failed, Some(line.clone()));
        }
        if self.parts.failed > 0 {
            return (OutputOutcome::Failed, Some(self.parts.line.clone()));
        }
        // Where nothing at the end tells of a failure before, a pass is shown only by what is there from the start.
        let whole = (self.runner.output.failure_ends || self.start) && !self.unclear;
        // The last part that began never said how it ended.
        if self.begun {
            return (OutputOutcome::Silent, None);
        }
        if self.report().is_some_and(|report| report.passed > 0) {
            let line = self.found.iter().rev().find(|summary| summary.passed().is_some_and(|n| n > 0));
            let line = line.map_or(&self.parts.line, |summary| &summary.line).clone();
            return (if whole { OutputOutcome::Passed } else { OutputOutcome::Silent }, Some(line));
        }
        if let Some(line) = &self.nothing {
            return (OutputOutcome::NothingRan, Some(line.clone()));
        }
        if self.found.is_empty() && self.parts.empty > 0 {
            return (OutputOutcome::NothingRan, Some(self.parts.line.clone()));
        }
        let counted = self.found.iter().rev().find(|summary| summary.is_complete() && summary.passed().is_some());
        match (counted, &self.passed) {
            // The last binary had no test. What the ones before it did cannot be seen.
            (Some(last), _) if self.summaries == Summaries::Each && !self.start => {
                (OutputOutcome::Silent, Some(last.line.clone()))
            }
            (Some(last), _) => (OutputOutcome::NothingRan, Some(last.line.clone())),
            (None, Some(line)) if whole => (OutputOutcome::Passed, Some(line.clone())),
            _ => (OutputOutcome::Silent, None),
        }
    }

    /// Returns `true` if the only signs of a failure are lines that tests print as well.
    pub(crate) fn is_only_trouble(&self) -> bool {
        self.trouble.is_some() && self.failed.is_none() && self.parts.failed == 0 && self.found.is_empty()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.found.iter().any(RunSummary::is_complete)
            || self.passed.is_some()
            || self.nothing.is_some()
            || self.has_parts()
    }

    fn has_parts(&self) -> bool {
        self.parts.passed + self.parts.failed + self.parts.empty > 0
    }

    pub(crate) fn needs_end(&self) -> bool {
        let parts_only = self.found.is_empty() && self.passed.is_none();
        self.found.iter().any(|summary| summary.needs_end)
            || self.passed_needs_end
            || self.summaries == Summaries::Each
            || (parts_only && self.has_parts())
    }
}

/// Returns a line as a reading of an output has it: its beginning.
pub(crate) fn shown_line(line: &str) -> String {
    beginning(line, 200)
}

/// The outcome, as closing lines show it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OutputOutcome {
    /// All that was executed passed, and something was executed.
    Passed,
    /// Something failed, or the run broke.
    Failed,
    /// It ended, and no test was executed.
    NothingRan,
    /// Nothing that decides is visible.
    #[default]
    Silent,
}
