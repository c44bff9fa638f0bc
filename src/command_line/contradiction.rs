//! Contradictions between a status of success and the output of the runner, or its silence.

use crate::foreign_text::beginning;
use crate::runner::output_line::{LineRule, Means, output_lines};
use crate::runner::{Catalogue, CommandKind, OutputOutcome, Project, Runner, read_output_of};
use crate::shell::expanded_program::{Leaf, LeafId, Sink};
use crate::shell::hides_success;

use super::command_table::table;
use super::output_evidence::MUTE;
use super::output_knowledge::OutputKnowledge;
use super::purpose::{Purpose, Understood};
use super::shown_output::may_show;
use super::understanding::understand;
use super::unsealed_part::unsealed_part;

/// Returns the reason why the output of a line contradicts the status 0 of its runner, or `None` if it does not, as far
/// as it shows.
pub(super) fn of_success(
    line: &str,
    runners: &[&Runner],
    output: &str,
    output_known: OutputKnowledge,
    project: Project<'_>,
) -> Option<String> {
    let understood = understand(line, project).ok()?;
    let whole = output_known == OutputKnowledge::ToItsEnd;
    if let Some(runner) = unshown(project.runners, &understood, output).filter(|_| whole || is_all_there(output)) {
        return Some(format!("{runner} always reports what it ran, and its output shows no test"));
    }
    if let Some(part) = unsealed_part(&understood.program, runners, output) {
        return Some(format!(
            "its output says that a part passed (\"{part}\"), but not that its tests came to their end"
        ));
    }
    let known = |(id, leaf): (LeafId, &Leaf)| {
        let purpose = &understood.purposes[id];
        let quiet = leaf.name().is_some_and(|name| MUTE.contains(&name) || matches!(name, "echo" | "printf"));
        let checks = purpose.invocation.as_ref().is_some_and(|found| !found.kinds.is_empty());
        quiet || checks || !may_show(&understood.program, id)
    };
    if !understood.program.leaves.iter().enumerate().all(known) {
        return None;
    }
    let catalogue = project.runners;
    let tests = |runner: &&&Runner| runner.task.is_none() && runner.kinds.contains(&CommandKind::Test);
    let rules: Vec<_> = runners.iter().filter(tests).flat_map(|runner| rules_on_tests(catalogue, runner)).collect();
    let is_behind_tasks = rules.is_empty();
    let parts = if is_behind_tasks { behind_tasks(catalogue, output) } else { runners.to_vec() };
    let speaks = |id: &String| {
        let mut found = understood.purposes.iter().filter_map(|purpose| purpose.invocation.as_ref());
        found.any(|invocation| invocation.speaks && invocation.runs.contains(id))
    };
    let shows_parts = |runner: &&&Runner| runner.output.expects.is_none() || speaks(&runner.id);
    let mut begun = parts.iter().filter(tests).filter(shows_parts);
    let broken = begun.find_map(|runner| broken_off(&rules_on_tests(catalogue, runner), output));
    if let Some(begun) = broken.filter(|_| whole || is_all_there(output)) {
        return Some(format!("its output begins (\"{begun}\") but does not say how the run ended"));
    }
    // Of a script behind a task nobody knows what it starts, so that its last line may be that of any runner.
    let rules = if is_behind_tasks { closing_rules(catalogue) } else { rules };
    let last = ends_in_failure(&rules, output, |_| false)?;
    Some(format!("the last line of the runner reports a failure (\"{last}\")"))
}

/// Returns `true` if a recorded output exists and nothing in it is omitted. One that is known to be empty is a blank line.
pub(super) fn is_all_there(output: &str) -> bool {
    !output.is_empty() && table().visible_lines(output).is_some() && !output.starts_with('…')
}

/// Returns the runner whose output shows no test although it always names one, if nothing could hide its lines.
fn unshown(catalogue: &Catalogue, understood: &Understood, output: &str) -> Option<String> {
    let speaks = |(leaf, purpose): (&Leaf, &Purpose)| {
        let invocation = purpose.invocation.as_ref().filter(|invocation| invocation.speaks)?;
        (prints_to_record(leaf) && !tells_of_tests(catalogue, purpose, output))
            .then(|| invocation.runner.clone().unwrap_or_default())
    };
    understood.steps().find_map(speaks)
}

/// Returns `true` if all that a command prints is in the record, also when it passes.
pub(super) fn prints_to_record(leaf: &Leaf) -> bool {
    let hushed = leaf.wrappers.iter().any(|name| hides_success(name));
    leaf.stdout == Sink::Terminal && leaf.stderr == Sink::Terminal && !hushed
}

/// Returns `true` if any line of an output is one that the runners of a check print about tests, or one that any other
/// test runner prints at its end.
pub(super) fn tells_of_tests(catalogue: &Catalogue, purpose: &Purpose, output: &str) -> bool {
    let workers = purpose.runs().filter_map(|id| catalogue.runner(id)).filter(|runner| runner.task.is_none());
    let workers: Vec<&Runner> = workers.collect();
    if tells(catalogue, &workers, output) {
        return true;
    }
    // That all is well is no line about tests where another runner has them.
    let own: Vec<&LineRule> =
        workers.iter().filter(|runner| runner.output.like.is_some()).flat_map(|runner| &runner.output.line).collect();
    let others: Vec<_> =
        output_lines(output).filter(|line| !own.iter().any(|rule| rule.read(line).is_some())).collect();
    let other = read_output_of(catalogue, &[], &others.join("\n"));
    other.says != OutputOutcome::Silent || !other.reports.is_empty()
}

/// Returns `true` if any line of an output is one that these runners print about tests.
pub fn tells<'a>(catalogue: &'a Catalogue, runners: &[&'a Runner], output: &str) -> bool {
    let on_tests = |runner: &&'a Runner| {
        // That a task runner starts another one says nothing of its tests.
        let is_announced = runner.output.expects.is_some();
        let rules = rules_on_tests(catalogue, runner).into_iter();
        rules.filter(move |rule| !is_announced || rule.means != Means::PartStart).collect::<Vec<_>>()
    };
    let rules: Vec<_> = runners.iter().flat_map(on_tests).collect();
    output_lines(output).any(|line| rules.iter().any(|rule| rule.read(&line).is_some()))
}

/// The runners that announce each of their parts and whose counts are in an output: any of them may be behind a task.
fn behind_tasks<'a>(catalogue: &'a Catalogue, output: &str) -> Vec<&'a Runner> {
    let counts =
        |rule: &LineRule| rule.means == Means::Counts && output_lines(output).any(|line| rule.read(&line).is_some());
    let is_there = |runner: &&Runner| {
        let rules = catalogue.output_rules(runner).1;
        rules.iter().any(|rule| rule.means == Means::PartStart) && rules.iter().any(|rule| counts(rule))
    };
    catalogue.runners().filter(is_there).collect()
}

/// Returns the lines of a runner that speak of tests. Where another runner does the work, its own line of success does
/// not.
fn rules_on_tests<'a>(catalogue: &'a Catalogue, runner: &'a Runner) -> Vec<&'a LineRule> {
    let is_own_success = |rule: &LineRule| runner.output.like.is_some() && rule.means == Means::Passed;
    catalogue.output_rules(runner).1.into_iter().filter(|rule| !is_own_success(rule)).collect()
}

/// Returns the lines with which test runners end, as far as no other program prints them.
fn closing_rules(catalogue: &Catalogue) -> Vec<&LineRule> {
    let tests = catalogue.runners().filter(|runner| runner.kinds.contains(&CommandKind::Test));
    tests.flat_map(|runner| &runner.output.line).filter(|rule| !rule.only_named).collect()
}

/// The line with which a part of a run began that always ends with another one, where that is missing: its process ended
/// in the middle. Each beginning needs an end of its own; a test may print a whole run, from its beginning to its end.
fn broken_off(rules: &[&LineRule], output: &str) -> Option<String> {
    let mut open: Vec<String> = Vec::new();
    // The last tests of a part ended, and its summary may follow or not.
    let mut is_told = false;
    for line in output_lines(output) {
        for rule in rules.iter().filter(|rule| rule.read(&line).is_some()) {
            match rule.means {
                Means::PartStart => open.push(shown(&line)),
                Means::Progress if rule.completes => drop(open.pop()),
                Means::Start | Means::Progress | Means::Listed | Means::Trouble => continue,
                _ if is_told => {}
                _ => drop(open.pop()),
            }
            is_told = rule.completes && rule.means == Means::Progress;
        }
    }
    open.pop()
}

fn shown(line: &str) -> String {
    beginning(line, 80)
}

/// Returns the last closing line of an output if it counts failures, or is a failure in `other` words. The tests of a
/// runner may print such lines as well, but before the runner's own.
pub(super) fn ends_in_failure(rules: &[&LineRule], output: &str, other: impl Fn(Means) -> bool) -> Option<String> {
    /// The maximum number of lines between two that belong together.
    const APART: usize = 2;
    /// The maximum number of lines at the end of an output that are read.
    const MAX_LINES: usize = 2000;
    let all: Vec<_> = output_lines(output).collect();
    let mut apart: Option<usize> = None;
    for line in all.iter().rev().take(MAX_LINES) {
        let found = rules.iter().find_map(|rule| Some((rule, rule.read(line)?)));
        let Some((rule, said)) = found else {
            apart = apart.map(|lines| lines + usize::from(!line.trim().is_empty()));
            if apart.is_some_and(|lines| lines > APART) {
                return None;
            }
            continue;
        };
        match rule.means {
            Means::Counts if said.bad || said.failed.unwrap_or(0) > 0 => {
                return Some(shown(line));
            }
            means if other(means) && said.task.is_none() => return Some(shown(line)),
            // What joins may be the rest of a summary that counts failures in another line.
            Means::Counts if rule.joins => apart = Some(0),
            Means::Start | Means::PartStart | Means::Progress | Means::Listed | Means::Trouble => {}
            _ => return None,
        }
    }
    None
}
