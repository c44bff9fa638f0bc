//! Reads a runner's own closing lines.
//!
//! A result is a pass only if a line shows it: a summary without failures and with at least one test, or a line that
//! the runner prints on success only. A lack of visible failures proves nothing.

use super::output_tally::OutputOutcome;
use crate::event::RunReport;
use crate::runner::catalogue::{Catalogue, Texts};
use crate::runner::command_kind::CommandKind;
use crate::runner::output_line::{LineRule, output_lines, without_prefix};
use crate::runner::output_rules::Summaries;
use crate::runner::output_tally::RunnerTally;
use crate::runner::runner_definition::Runner;

/// The result of an output, all runners in it taken together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputReading {
    /// The counts, one report for each runner whose summaries were found.
    pub reports: Vec<RunReport>,
    /// The outcome.
    pub says: OutputOutcome,
    /// `true` if a closing line is there, so that the counts are those of the end of the run.
    pub complete: bool,
    /// `true` if `Passed` or `NothingRan` holds only if nothing after the last line was cut off (by `head`, by a
    /// limit): these runners prove a failure by a line at the end, and a pass by its absence.
    pub needs_end: bool,
    /// `true` if the counts are those of the whole run, and not of its visible part.
    pub counts_whole: bool,
    /// The line that decides, without colours, at most 200 characters.
    pub line: Option<String>,
}

/// Reads the output of a command line that started `runners`; if empty, any test runner. Task runners (`npm run`,
/// `make`) may be among them; if only task runners are named, they may have started any test runner. If test runners
/// are named, the lines of builders and linters are ignored, and a pass requires that each of the test runners shows
/// one.
pub fn read_output_of(catalogue: &Catalogue, runners: &[&Runner], output: &str) -> OutputReading {
    read_output_as(catalogue, runners, CommandKind::Test, output)
}

/// Returns the reason why nothing was executed, if a line of the output names it.
pub fn why_nothing_ran(catalogue: &Catalogue, output: &str) -> Option<String> {
    let runners: Vec<&Runner> = catalogue.runners_within(Some(output), true).collect();
    output_lines(output).find_map(|line| {
        let mut rules = runners.iter().flat_map(|runner| &runner.output.line);
        rules.find_map(|rule| {
            let because = rule.because.as_ref()?;
            Some(because.replace("{task}", &rule.read(&line)?.task.unwrap_or_default()))
        })
    })
}

/// Reads it as [`read_output_of`] does, for task runners that start another kind of check than tests.
pub fn read_output_as(catalogue: &Catalogue, runners: &[&Runner], kind: CommandKind, output: &str) -> OutputReading {
    let tests = |runner: &Runner| runner.kinds.contains(&CommandKind::Test);
    let fitting = |runner: &Runner| runner.kinds.contains(&kind);
    let mut named: Vec<&Runner> = runners.iter().copied().filter(|runner| runner.task.is_none()).collect();
    named.sort_unstable_by(|a, b| a.id.cmp(&b.id));
    named.dedup_by(|a, b| a.id == b.id);
    if named.iter().any(|runner| tests(runner)) {
        named.retain(|runner| tests(runner));
    }
    let any = named.is_empty();
    // Escape sequences may stand between the letters of a text.
    let seen = catalogue.is_short(output).then(|| output_lines(output).collect::<Vec<_>>().join("\n"));
    let workers: Vec<&Runner> = if any {
        // What reads like another runner is read as that one.
        let all = catalogue.runners_within(seen.as_deref(), false);
        all.filter(|runner| fitting(runner) && runner.output.like.is_none()).collect()
    } else {
        named
    };
    let tasks = catalogue.runners_within(seen.as_deref(), true);
    let tally = |runner| RunnerTally::new(catalogue, runner, kind);
    let mut tallies: Vec<RunnerTally<'_>> = workers.into_iter().chain(tasks).map(tally).collect();
    if any {
        for tally in &mut tallies {
            tally.rules.retain(|rule| !rule.only_named);
        }
    }
    let rules: Vec<RuleInTally<'_>> = tallies.iter().enumerate().flat_map(rules_of).collect();
    let asking = if seen.is_some() { Asking::Each(rules) } else { Asking::by_text(catalogue.texts(), &rules) };
    let mut candidates: Vec<(usize, usize)> = Vec::new();
    for (index, line) in output_lines(output).enumerate() {
        candidates.clear();
        asking.about(&line, &mut candidates);
        for of_one in candidates.chunk_by(|a, b| a.0 == b.0) {
            let Some(tally) = of_one.first().and_then(|(tally, _)| tallies.get_mut(*tally)) else { continue };
            let rules = || of_one.iter().map(|(_, rule)| *rule);
            let known = tally.take(&line, rules(), index, catalogue);
            if !known && let Some(bare) = without_prefix(&line) {
                tally.take(bare, rules(), index, catalogue);
            }
        }
    }
    combine(tallies, !any)
}

/// A rule, with the places of its tally and of itself in that.
type RuleInTally<'a> = ((usize, usize), &'a LineRule);

fn rules_of<'a>((at, tally): (usize, &RunnerTally<'a>)) -> Vec<RuleInTally<'a>> {
    tally.rules.iter().enumerate().map(|(rule, text)| ((at, rule), *text)).collect()
}

/// The rules that ask for each text.
enum Asking<'a> {
    /// Few lines are read: each rule looks for its own texts.
    Each(Vec<RuleInTally<'a>>),
    /// All texts are sought at once, whatever the number of rules.
    ByText(&'a Texts, Vec<Vec<(usize, usize)>>),
}

impl<'a> Asking<'a> {
    fn by_text(texts: &'a Texts, rules: &[RuleInTally<'a>]) -> Self {
        let mut asking = vec![Vec::new(); texts.count()];
        for (place, text) in rules.iter().flat_map(|(place, rule)| rule.has.iter().map(move |text| (*place, text))) {
            if let Some(askers) = texts.id(text).and_then(|id| asking.get_mut(id)) {
                askers.push(place);
            }
        }
        Self::ByText(texts, asking)
    }

    /// Adds the rules that may read a line, in their order, each once.
    fn about(&self, line: &str, candidates: &mut Vec<(usize, usize)>) {
        match self {
            Self::Each(rules) => {
                candidates.extend(rules.iter().filter(|(_, rule)| rule.has_text_in(line)).map(|(place, _)| *place));
            }
            Self::ByText(texts, asking) => {
                candidates.extend(texts.within(line).filter_map(|id| asking.get(id)).flatten());
                candidates.sort_unstable();
                candidates.dedup();
            }
        }
    }
}

/// Combines the results of all runners; `named`: each of them was started.
fn combine(tallies: Vec<RunnerTally<'_>>, named: bool) -> OutputReading {
    let mut reading = OutputReading { counts_whole: true, ..OutputReading::default() };
    let (tasks, workers): (Vec<_>, Vec<_>) = tallies.into_iter().partition(RunnerTally::is_task);
    let passed_at = workers.iter().map(|tally| tally.passed_at).max().unwrap_or(0);
    let mut rank = 0;
    let mut one_is_silent = false;
    for tally in &workers {
        // Trouble that another runner's pass follows was printed by what that one ran.
        if tally.is_only_trouble() && tally.trouble.as_ref().is_some_and(|(at, _)| *at < passed_at) {
            continue;
        }
        let (says, line) = tally.says();
        reading.reports.extend(tally.report());
        reading.complete |= tally.is_complete();
        reading.needs_end |= matches!(says, OutputOutcome::Passed | OutputOutcome::NothingRan) && tally.needs_end();
        reading.counts_whole &= tally.summaries != Summaries::Each || tally.start || tally.report().is_none();
        // One failure among several runners is a failure; one that ran nothing is hidden by one that ran.
        let weight = match says {
            OutputOutcome::Failed => 3,
            OutputOutcome::Passed => 2,
            OutputOutcome::NothingRan => 1,
            OutputOutcome::Silent => 0,
        };
        one_is_silent |= says == OutputOutcome::Silent;
        if weight > rank || reading.line.is_none() {
            reading.line = line.or(reading.line.take());
        }
        if weight > rank {
            (rank, reading.says) = (weight, says);
        }
    }
    if named && one_is_silent && reading.says == OutputOutcome::Passed {
        reading.says = OutputOutcome::Silent;
    }
    // Another one did run something, and how that ended is not shown.
    if reading.says == OutputOutcome::NothingRan && reading.reports.iter().any(|report| report.passed > 0) {
        reading.says = OutputOutcome::Silent;
    }
    if reading.says != OutputOutcome::Failed
        && let Some(line) = tasks.iter().find_map(|task| task.failed.clone())
    {
        (reading.says, reading.line) = (OutputOutcome::Failed, Some(line));
    }
    // What a task runner says of all its tasks, or of one that had nothing to run, stands for theirs where nothing of them
    // is visible.
    for outcome in [OutputOutcome::Passed, OutputOutcome::NothingRan] {
        if reading.says == OutputOutcome::Silent
            && reading.reports.is_empty()
            && let Some(task) = tasks.iter().find(|task| task.says().0 == outcome)
        {
            (reading.says, reading.line) = task.says();
            reading.complete = true;
            reading.needs_end |= outcome == OutputOutcome::Passed && task.needs_end();
        }
    }
    reading.needs_end &= matches!(reading.says, OutputOutcome::Passed | OutputOutcome::NothingRan);
    reading
}
