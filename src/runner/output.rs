//! What a runner's own closing lines say.
//!
//! A pass is said only where a line shows it: a summary without failures and with at least one test, or a line
//! that the runner prints on success only. That no failure is to be seen proves nothing.

use crate::event::RunReport;
use crate::runner::catalogue::{Catalogue, Runner, Summaries};
use crate::runner::kind::CommandKind;
use crate::runner::lines::{LineRule, Means, Said, lines, without_prefix};

/// What an output says, all runners in it taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputReading {
    /// The counts, one report for each runner whose summaries were found.
    pub reports: Vec<RunReport>,
    /// The outcome.
    pub says: Says,
    /// Whether a closing line is there, so that the counts are those of the end of the run.
    pub complete: bool,
    /// Whether `Passed` or `NothingRan` holds only if nothing after the last line was cut off (by `head`, by a limit):
    /// these runners prove a failure by a line at the end, and a pass by its absence.
    pub needs_end: bool,
    /// Whether the counts are those of the whole run, and not of the part of it that is visible.
    pub counts_whole: bool,
    /// The line that decides, without colours, at most 200 characters.
    pub line: Option<String>,
}

/// The outcome, as closing lines tell it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Says {
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

/// Reads the output of `runner`, or of whatever runner's closing lines are found where it is not known.
pub fn read_output(runner: Option<&Runner>, output: &str) -> OutputReading {
    match runner {
        Some(runner) => read_output_of(Catalogue::embedded(), &[runner], output),
        None => read_output_of(Catalogue::embedded(), &[], output),
    }
}

/// Reads the output of a command line that started `runners`; none: any test runner. Task runners (`npm run`,
/// `make`) may be among them; if only task runners are named, any test runner may be behind them.
pub fn read_output_of(catalogue: &Catalogue, runners: &[&Runner], output: &str) -> OutputReading {
    let named: Vec<&Runner> = runners.iter().copied().filter(|runner| runner.task.is_none()).collect();
    let tasks = catalogue.runners().filter(|runner| runner.task.is_some());
    let any_tests = named.is_empty();
    let workers: Vec<&Runner> = if any_tests {
        // What reads like another runner is read as that one.
        let distinct = |runner: &&Runner| runner.kinds.contains(&CommandKind::Test) && runner.output.like.is_none();
        catalogue.runners().filter(distinct).collect()
    } else {
        named
    };
    let mut tallies: Vec<Tally<'_>> = workers.into_iter().chain(tasks).map(|r| Tally::new(catalogue, r)).collect();
    if any_tests {
        for tally in &mut tallies {
            tally.rules.retain(|rule| !rule.only_named);
        }
    }
    // Which rules, of which tally, ask for each text.
    let texts = catalogue.texts();
    let mut asking: Vec<Vec<(usize, usize)>> = vec![Vec::new(); texts.count()];
    for (tally, rules) in tallies.iter().map(|tally| &tally.rules).enumerate() {
        for (rule, text) in rules.iter().enumerate().flat_map(|(at, rule)| rule.has.iter().map(move |text| (at, text)))
        {
            if let Some(askers) = texts.id(text).and_then(|id| asking.get_mut(id)) {
                askers.push((tally, rule));
            }
        }
    }
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    for (index, line) in lines(output).enumerate() {
        let Some(found) = texts.within(&line) else { continue };
        candidates.clear();
        candidates.extend(found.iter().filter_map(|id| asking.get(id)).flatten());
        candidates.sort_unstable();
        candidates.dedup();
        let bare = without_prefix(&line);
        for of_one in candidates.chunk_by(|a, b| a.0 == b.0) {
            let Some(tally) = of_one.first().and_then(|(tally, _)| tallies.get_mut(*tally)) else { continue };
            let rules = || of_one.iter().map(|(_, rule)| *rule);
            let known = tally.take(&line, rules(), index, catalogue);
            if !known && let Some(bare) = bare {
                tally.take(bare, rules(), index, catalogue);
            }
        }
    }
    combine(tallies)
}

/// A summary, as far as it was seen.
#[derive(Debug, Default)]
struct Summary {
    said: Said,
    complete: bool,
    needs_end: bool,
    line: String,
}

impl Summary {
    fn failed(&self) -> u64 {
        self.said.failed.unwrap_or(0)
    }

    fn skipped(&self) -> u64 {
        self.said.skipped.unwrap_or(0)
    }

    /// How many passed: said, or what is left of the total.
    fn passed(&self) -> Option<u64> {
        let rest = |total: u64| total.saturating_sub(self.failed()).saturating_sub(self.skipped());
        // A closing line that counts only what was skipped says that nothing passed.
        let none = (self.complete && self.said.skipped.is_some()).then_some(0);
        self.said.passed.or(self.said.total.map(rest)).or(none)
    }

    fn is_complete(&self) -> bool {
        self.complete || (self.said.passed.is_some() && self.said.failed.is_some())
    }

    fn is_bad(&self) -> bool {
        self.said.bad || self.failed() > 0
    }
}

/// What was seen of one runner.
struct Tally<'a> {
    runner: &'a Runner,
    summaries: Summaries,
    rules: Vec<&'a LineRule>,
    found: Vec<Summary>,
    parts: Parts,
    /// How many lines were about it.
    matched: usize,
    start: bool,
    passed: Option<String>,
    failed: Option<String>,
    trouble: Option<(usize, String)>,
    /// The number of the last line that shows a pass.
    passed_at: usize,
    passed_needs_end: bool,
    /// A list of which the heading is cut off, so that it may be one of failures.
    unclear: bool,
    nothing: Option<String>,
}

#[derive(Default)]
struct Parts {
    passed: u64,
    failed: u64,
    empty: u64,
    line: String,
}

impl<'a> Tally<'a> {
    fn new(catalogue: &'a Catalogue, runner: &'a Runner) -> Self {
        let (summaries, rules) = catalogue.output_rules(runner);
        Self {
            runner,
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
            nothing: None,
        }
    }

    /// Takes in a line that one of these rules may match; `false` when none does.
    fn take(
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
            Means::Counts => self.counts(rule, said, line, index),
            Means::Passed => {
                self.passed = Some(shown(line));
                self.passed_needs_end = rule.needs_end;
                self.shows_pass(index);
                self.found.last_mut().into_iter().for_each(|summary| summary.complete = true);
            }
            // A task runner tells which task failed. That lint failed says nothing about the tests.
            Means::Failed if said.task.as_deref().is_some_and(|task| catalogue.names.is_no_test(task)) => {}
            Means::Failed => {
                self.failed.get_or_insert_with(|| shown(line));
            }
            Means::Trouble => {
                self.trouble.get_or_insert_with(|| (index, shown(line)));
            }
            Means::NothingRan => self.nothing = Some(shown(line)),
            Means::Start => self.start = true,
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
                    self.parts.line = shown(line);
                }
            }
        }
        self.matched += 1;
        true
    }

    fn counts(&mut self, rule: &LineRule, said: Said, line: &str, index: usize) {
        let fits = |now: &Summary| {
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
                now.line = shown(line);
            }
            None => self.found.push(Summary {
                said,
                complete: !rule.joins && !rule.partial && (!rule.needs_before || index > self.matched),
                needs_end: rule.needs_end,
                line: shown(line),
            }),
        }
        let passes =
            |now: &Summary| now.is_complete() && !now.is_bad() && now.passed().is_some_and(|passed| passed > 0);
        if self.found.last().is_some_and(passes) {
            self.shows_pass(index);
        }
    }

    /// What looked like trouble before was a test's own output.
    fn shows_pass(&mut self, index: usize) {
        self.passed_at = index;
        self.trouble = None;
    }

    fn is_task(&self) -> bool {
        self.runner.task.is_some()
    }

    /// The counts, if there is a summary, else the parts.
    fn report(&self) -> Option<RunReport> {
        let known: Vec<&Summary> =
            self.found.iter().filter(|summary| summary.is_complete() || summary.is_bad()).collect();
        let id = self.runner.id.clone();
        if known.is_empty() {
            let Parts { passed, failed, empty, .. } = self.parts;
            return (passed + failed + empty > 0).then_some(RunReport { runner: id, passed, failed, skipped: 0 });
        }
        let sum = |count: fn(&Summary) -> u64| known.iter().map(|summary| count(summary)).fold(0, u64::saturating_add);
        Some(RunReport {
            runner: id,
            passed: sum(|summary| summary.passed().unwrap_or(0)),
            failed: sum(Summary::failed),
            skipped: sum(Summary::skipped),
        })
    }

    /// What the runner says, and the line that says it.
    fn says(&self) -> (Says, Option<String>) {
        if let Some(bad) = self.found.iter().rev().find(|summary| summary.is_bad()) {
            return (Says::Failed, Some(bad.line.clone()));
        }
        if let Some(line) = self.failed.as_ref().or(self.trouble.as_ref().map(|(_, line)| line)) {
            return (Says::Failed, Some(line.clone()));
        }
        if self.parts.failed > 0 {
            return (Says::Failed, Some(self.parts.line.clone()));
        }
        // Where nothing at the end tells of a failure before, a pass is shown only by what is there from the start.
        let whole = (self.runner.output.failure_ends || self.start) && !self.unclear;
        if self.report().is_some_and(|report| report.passed > 0) {
            let line = self.found.iter().rev().find(|summary| summary.passed().is_some_and(|n| n > 0));
            let line = line.map_or(&self.parts.line, |summary| &summary.line).clone();
            return (if whole { Says::Passed } else { Says::Silent }, Some(line));
        }
        if let Some(line) = &self.nothing {
            return (Says::NothingRan, Some(line.clone()));
        }
        if self.found.is_empty() && self.parts.empty > 0 {
            return (Says::NothingRan, Some(self.parts.line.clone()));
        }
        let counted = self.found.iter().rev().find(|summary| summary.is_complete() && summary.passed().is_some());
        match (counted, &self.passed) {
            // The last binary had no test. What the ones before it did cannot be seen.
            (Some(last), _) if self.summaries == Summaries::Each && !self.start => {
                (Says::Silent, Some(last.line.clone()))
            }
            (Some(last), _) => (Says::NothingRan, Some(last.line.clone())),
            (None, Some(line)) if whole => (Says::Passed, Some(line.clone())),
            _ => (Says::Silent, None),
        }
    }

    /// Whether lines that tests print as well are all that speaks for a failure.
    fn is_only_trouble(&self) -> bool {
        self.trouble.is_some() && self.failed.is_none() && self.parts.failed == 0 && self.found.is_empty()
    }

    fn is_complete(&self) -> bool {
        self.found.iter().any(Summary::is_complete)
            || self.passed.is_some()
            || self.nothing.is_some()
            || self.has_parts()
    }

    fn has_parts(&self) -> bool {
        self.parts.passed + self.parts.failed + self.parts.empty > 0
    }

    fn needs_end(&self) -> bool {
        let parts_only = self.found.is_empty() && self.passed.is_none();
        self.found.iter().any(|summary| summary.needs_end)
            || self.passed_needs_end
            || self.summaries == Summaries::Each
            || (parts_only && self.has_parts())
    }
}

fn combine(tallies: Vec<Tally<'_>>) -> OutputReading {
    let mut reading = OutputReading { counts_whole: true, ..OutputReading::default() };
    let (tasks, workers): (Vec<_>, Vec<_>) = tallies.into_iter().partition(Tally::is_task);
    let passed_at = workers.iter().map(|tally| tally.passed_at).max().unwrap_or(0);
    let mut rank = 0;
    for tally in &workers {
        // Trouble that another runner's pass follows was printed by what that one ran.
        if tally.is_only_trouble() && tally.trouble.as_ref().is_some_and(|(at, _)| *at < passed_at) {
            continue;
        }
        let (says, line) = tally.says();
        reading.reports.extend(tally.report());
        reading.complete |= tally.is_complete();
        reading.needs_end |= matches!(says, Says::Passed | Says::NothingRan) && tally.needs_end();
        reading.counts_whole &= tally.summaries != Summaries::Each || tally.start || tally.report().is_none();
        // One failure among several runners is a failure; one that ran nothing is hidden by one that ran.
        let weight = match says {
            Says::Failed => 3,
            Says::Passed => 2,
            Says::NothingRan => 1,
            Says::Silent => 0,
        };
        if weight > rank || reading.line.is_none() {
            reading.line = line.or(reading.line.take());
        }
        if weight > rank {
            (rank, reading.says) = (weight, says);
        }
    }
    if reading.says != Says::Failed
        && let Some(line) = tasks.iter().find_map(|task| task.failed.clone())
    {
        (reading.says, reading.line) = (Says::Failed, Some(line));
    }
    reading.needs_end &= matches!(reading.says, Says::Passed | Says::NothingRan);
    reading
}

fn shown(line: &str) -> String {
    line.trim().chars().take(200).collect()
}
