//! Runs of one runner in one line, such as those in the rounds of a loop, or one test and then all of them.

use crate::command_line::Extent;
use crate::command_line::command_table::table;
use crate::command_line::purpose::{Purpose, Understood};
use crate::command_line::shown_output::may_show;
use crate::runner::output_line::{LineRule, Means};
use crate::runner::output_rules::Summaries;
use crate::runner::{Catalogue, OutputOutcome, Runner, output_lines, read_output_of};
use crate::shell::command_outcome::{CommandOutcome, ObservedEnding};
use crate::shell::exit_status::{fate, fate_seen};
use crate::shell::expanded_program::{Leaf, LeafId, Program};

/// Returns the checks of a line that print something when they pass, if all of them are of one runner, and the output has a
/// closing line of a pass for each of them.
pub(super) fn all_passed(catalogue: &Catalogue, understood: &Understood, output: &str) -> Vec<LeafId> {
    let runs = printing_checks(catalogue, understood);
    if are_passed(catalogue, understood, &runs, output) { runs } else { Vec::new() }
}

fn printing_checks(catalogue: &Catalogue, understood: &Understood) -> Vec<LeafId> {
    let program = &understood.program;
    let checks = |purpose: &Purpose| purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
    let is_run = |purpose: &Purpose| checks(purpose) && purpose.extent != Some(Extent::NoneExecuted);
    // `go build` prints what fails, and nothing else.
    let is_silent = |id: LeafId| {
        let mut workers = workers(understood.purposes[id].runs().filter_map(|id| catalogue.runner(id))).into_iter();
        workers.len() > 0 && workers.all(|worker| table().record.silent.contains(&worker.id))
    };
    let shown =
        |other: &LeafId| is_run(&understood.purposes[*other]) && may_show(program, *other) && !is_silent(*other);
    (0..program.leaves.len()).filter(shown).collect()
}

fn are_passed(catalogue: &Catalogue, understood: &Understood, runs: &[LeafId], output: &str) -> bool {
    let program = &understood.program;
    let Some(&id) = runs.first() else { return false };
    let runners: Vec<&Runner> = understood.purposes[id].runs().filter_map(|id| catalogue.runner(id)).collect();
    if runs.iter().all(|other| is_same(&program.leaves[id], &program.leaves[*other])) {
        return are_passes(catalogue, &runners, output, runs.len());
    }
    let each_once = |other: &LeafId| !program.leaves[*other].repeated && !program.leaves[*other].background;
    let workers = |id: LeafId| workers(understood.purposes[id].runs().filter_map(|id| catalogue.runner(id)));
    let [worker] = workers(id)[..] else { return false };
    let is_of_it = |other: &LeafId| matches!(workers(*other)[..], [one] if one.id == worker.id);
    let is_timed = |other: &LeafId| program.leaves[*other].wrappers.iter().any(|name| name.ends_with("timeout"));
    runs.iter().all(|other| each_once(other) && is_of_it(other))
        && (has_passes(catalogue, worker, output, runs.len())
            // What is ended by a time limit may have printed nothing.
            || !runs.iter().any(is_timed) && ends_with_passes(catalogue, worker, output, runs.len()))
}

fn workers<'c>(runners: impl Iterator<Item = &'c Runner>) -> Vec<&'c Runner> {
    runners.filter(|runner| runner.task.is_none()).collect()
}

/// Returns `true` if a runner that prints one closing line at the end of each run has printed those of so many passes, and
/// nothing of a failure.
fn has_passes(catalogue: &Catalogue, worker: &Runner, output: &str, runs: usize) -> bool {
    let (summaries, rules) = catalogue.output_rules(worker);
    if summaries != Summaries::One || read_output_of(catalogue, &[worker], output).says != OutputOutcome::Passed {
        return false;
    }
    let closes = |means| matches!(means, Means::Counts | Means::Passed | Means::NothingRan | Means::Failed);
    let is_closing = |line: &&str| rules.iter().any(|rule| closes(rule.means) && rule.read(line).is_some());
    let lines: Vec<_> = output_lines(output).collect();
    let closing: Vec<&str> = lines.iter().map(|line| &**line).filter(is_closing).collect();
    let passed = |text: &str| read_output_of(catalogue, &[worker], text).says == OutputOutcome::Passed;
    if closing.len() == runs {
        return closing.iter().all(|line| passed(line));
    }
    // The summary of one run is several lines, of which each run prints one of a kind.
    let has_kind = |rule: &&&LineRule| closing.iter().filter(|line| rule.read(line).is_some()).count() == runs;
    let Some(kind) = rules.iter().filter(|rule| rule.joins).find(has_kind) else { return false };
    let mut ends = lines.iter().enumerate().filter(|(_, line)| kind.read(line).is_some()).map(|(at, _)| at);
    let Some(before_last) = ends.nth(runs.saturating_sub(2)) else { return false };
    passed(&lines[before_last + 1..].join("\n"))
}

/// Returns `true` if a runner that prints closing lines for each part of a run has printed at least one for each run, the
/// last of them at the end, and nothing of a failure.
fn ends_with_passes(catalogue: &Catalogue, worker: &Runner, output: &str, runs: usize) -> bool {
    let (summaries, rules) = catalogue.output_rules(worker);
    let is_closing = |line: &str| {
        let rule = rules.iter().find(|rule| rule.read(line).is_some());
        rule.is_some_and(|rule| match rule.means {
            Means::PartPassed | Means::PartEmpty => true,
            Means::Counts => summaries == Summaries::Each,
            _ => false,
        })
    };
    let is_end = |line: &&str| !line.trim().is_empty();
    let ends = output_lines(output).filter(|line| is_closing(line)).count();
    ends >= runs
        && output.lines().rev().find(is_end).is_some_and(is_closing)
        && !["Killed", "Terminated"].iter().any(|word| output.contains(word))
        && read_output_of(catalogue, &[worker], output).says == OutputOutcome::Passed
}

fn is_same(one: &Leaf, other: &Leaf) -> bool {
    one.argv == other.argv
        && one.environment == other.environment
        && one.given == other.given
        && one.withheld == other.withheld
        && one.directory == other.directory
        && one.inside == other.inside
        && !other.repeated
        && !other.background
}

/// Returns `true` if a line that ended with 0 repeats an earlier command in case it failed, as in `pytest || pytest`: one of
/// the two passed.
pub(super) fn is_passed_retry(program: &Program, id: LeafId) -> bool {
    let retried = |first: LeafId| {
        let failed = ObservedEnding::end(first, false);
        is_same(&program.leaves[first], &program.leaves[id])
            && !fate(program, first).on_zero.has(CommandOutcome::NotRun)
            && fate_seen(program, id, &[failed]).decides()
    };
    (0..id).any(retried)
}

/// Returns `true` if the closing lines are those of as many passes: the same ones, over and over.
fn are_passes(catalogue: &Catalogue, runners: &[&Runner], output: &str, runs: usize) -> bool {
    let workers = workers(runners.iter().copied());
    let [worker] = workers[..] else { return false };
    let (summaries, rules) = catalogue.output_rules(worker);
    let all: Vec<_> = output_lines(output).collect();
    let closes = |means| matches!(means, Means::Counts | Means::Passed | Means::PartPassed);
    let reads = |line: &str| rules.iter().find(|rule| closes(rule.means) && rule.read(line).is_some());
    let Some(rule) = all.iter().rev().find_map(|line| reads(line)) else { return false };
    let lines: Vec<_> = all.iter().filter(|line| rule.read(line).is_some()).collect();
    let of_part = rule.means == Means::PartPassed;
    let is_pass = of_part || rule.means == Means::Passed;
    let passed = |line| is_pass || read_output_of(catalogue, &workers, line).says == OutputOutcome::Passed;
    if lines.is_empty() || !lines.iter().all(|line| passed(line)) {
        return false;
    }
    match summaries {
        Summaries::One if !of_part => lines.len() == runs,
        Summaries::One | Summaries::Each if lines.len().is_multiple_of(runs) => {
            let lines: Vec<String> = lines.iter().map(|line| without_times(line)).collect();
            let (first, _) = lines.split_at(lines.len() / runs);
            lines.chunks(first.len()).all(|round| round == first)
        }
        _ => false,
    }
}

/// Returns a closing line without durations and the mark of a cached result, which differ from run to run.
fn without_times(line: &str) -> String {
    let is_time = |word: &str| word.ends_with('s') && word.starts_with(|c: char| c.is_ascii_digit());
    line.split_whitespace().filter(|word| !is_time(word) && *word != "(cached)").collect::<Vec<_>>().join(" ")
}
