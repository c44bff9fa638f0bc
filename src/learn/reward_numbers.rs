//! Takes the numbers of a reward out of the events of a session.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::command_line::Proves;
use crate::event::{Act, Event, EventKind, Judged, Run, Speaker, TestResult, TestResults};
use crate::learn::reward::RewardNumbers;
use crate::learn::task_record::{self, TaskOutcome};
use crate::moment::Moment;
use crate::oid::Oid;

/// The longest pause that counts as work, in seconds.
const MAX_PAUSE: i64 = 300;
/// The health that a failing gate costs.
const COST_OF_FAILURE: f64 = 25.0;
/// The health that a failing gate costs if it does not block.
const COST_OF_REMARK: f64 = 10.0;

/// The sources of the numbers.
pub struct RewardSources<'s> {
    /// The events of the session, in order, with the waivers of a person for what was judged in it.
    pub events: &'s [Event],
    /// The last verdict before the session.
    pub before: Option<&'s Judged>,
    /// The commit on which the session began to commit, if it did so before its first run.
    pub base: Option<&'s Oid>,
    /// The reverts that git recorded during the session.
    pub reverts: u32,
    /// The tokens that the client counted.
    pub tokens: Option<u64>,
    /// Returns the paths that differ between two trees, if both are known.
    pub changed: &'s dyn Fn(&Oid, &Oid) -> Option<Vec<String>>,
    /// Returns `true` if a run is one of a check.
    pub is_check: &'s dyn Fn(&Run) -> bool,
}

/// Returns `true` if a run is one of a check: the repository declares it, or its line `proves` something.
pub fn is_check(run: &Run, proves: Proves) -> bool {
    run.command.name.is_some() || matches!(proves, Proves::FullPass | Proves::PartialPass)
}

/// Returns the numbers of a session.
pub fn numbers(sources: &RewardSources<'_>) -> RewardNumbers {
    let events = sources.events;
    let works = || events.iter().filter_map(|event| work_of(event));
    let verdicts: Vec<&Judged> = events.iter().filter_map(counted_verdict).collect();
    let runs: Vec<&Run> = events.iter().filter_map(run_of).collect();
    let waived = events.iter().filter(|event| matches!(event.kind, EventKind::Waived(_))).count();
    let of_subagents: BTreeSet<&str> =
        works().filter(|work| work.actor.is_some()).filter_map(|work| work.call.as_deref()).collect();
    let failed = |run: &&&Run| !run.ended.success();
    let is_subagents = |run: &&Run| run.call.as_deref().is_some_and(|call| of_subagents.contains(call));
    let failed_runs = runs.iter().filter(failed).count();
    let subagent_errors = runs.iter().filter(failed).filter(|run| is_subagents(run)).count();
    let refused: Vec<&&Judged> = verdicts.iter().filter(|judged| judged.blocked && judged.attempt > 0).collect();
    let refusing: usize = refused.iter().map(|judged| judged.failing.iter().filter(|gate| gate.blocks).count()).sum();
    let has_work = works().next().is_some();
    let after = verdicts.last().map(|judged| (health(judged) - COST_OF_FAILURE * small(waived)).max(0.0));
    RewardNumbers {
        proven_tasks: proven_tasks(sources),
        reverts: sources.reverts,
        tokens: sources.tokens,
        errors: count(failed_runs + refusing),
        health_before: sources.before.map(health),
        health_after: after,
        tests_proven: tests_proven(sources),
        failed_calls: has_work.then(|| count(works().filter(|work| failed_call(&work.act)).count())),
        repeated_calls: has_work.then(|| repeated_calls(events)),
        refused_claims: count(refused.len()),
        minutes: minutes(events),
        subagent_errors: count(subagent_errors),
    }
}

fn count(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

fn small(count: usize) -> f64 {
    super::interval::number(count)
}

fn work_of(event: &Event) -> Option<&crate::event::agent_work::AgentWork> {
    if let EventKind::Work(work) = &event.kind { Some(work) } else { None }
}

fn run_of(event: &Event) -> Option<&Run> {
    if let EventKind::Run(run) = &event.kind { Some(run) } else { None }
}

/// Returns the verdict of an event, if it judges whole work.
pub fn counted_verdict(event: &Event) -> Option<&Judged> {
    let EventKind::Judged(judged) = &event.kind else { return None };
    matches!(judged.moment, Moment::Stop | Moment::Push | Moment::Ci).then_some(judged)
}

/// Returns the health of judged content, from 0 to 100.
fn health(judged: &Judged) -> f64 {
    let costs = judged.failing.iter().map(|gate| if gate.blocks { COST_OF_FAILURE } else { COST_OF_REMARK });
    (100.0 - costs.sum::<f64>()).max(0.0)
}

/// Returns the number of successful tasks in which a check passed: where nothing had to be proven, nothing was. Where no
/// person's words begin tasks, the whole session is one.
fn proven_tasks(sources: &RewardSources<'_>) -> u32 {
    let events = sources.events;
    let passed = |run: &Run| run.ended.success() && run.masked.is_none() && (sources.is_check)(run);
    let checks: BTreeSet<&str> =
        events.iter().filter(|event| run_of(event).is_some_and(passed)).map(|event| event.id.as_str()).collect();
    let tasks = task_record::tasks(events);
    let successes = || tasks.iter().filter(|task| task.outcome == TaskOutcome::Success);
    let is_persons = |act: &Act| matches!(act, Act::Prompt(prompt) if prompt.from == Speaker::Person);
    let hears_people = events.iter().filter_map(work_of).any(|work| work.actor.is_none() && is_persons(&work.act));
    if hears_people {
        count(successes().filter(|task| task.passed_runs.iter().any(|run| checks.contains(run.as_str()))).count())
    } else {
        u32::from(successes().next().is_some() && !checks.is_empty())
    }
}

fn failed_call(act: &Act) -> bool {
    match act {
        Act::Denied(_) => true,
        Act::Used(used) => used.failed,
        _ => false,
    }
}

/// Returns the number of failing command lines that were run again although no file was edited.
fn repeated_calls(events: &[Event]) -> u32 {
    let mut failed: BTreeSet<&str> = BTreeSet::new();
    let mut repeated = 0;
    for work in events.iter().filter_map(work_of) {
        match &work.act {
            Act::Edited(_) => failed.clear(),
            Act::Command(command) if command.ended.is_some_and(|ended| !ended.success()) => {
                repeated += u32::from(!failed.insert(command.line.as_str()));
            }
            _ => {}
        }
    }
    repeated
}

/// Returns the minutes between the first and the last event, with short pauses only. A waiver is the act of a person.
fn minutes(events: &[Event]) -> Option<f64> {
    let events: Vec<&Event> = events.iter().filter(|event| !matches!(event.kind, EventKind::Waived(_))).collect();
    let seconds = |pair: &[&Event]| {
        let gap = pair[1].at.duration_since(pair[0].at).as_secs().max(0);
        let ran = run_of(pair[1]).map_or(0, |run| i64::try_from(run.millis / 1000).unwrap_or(i64::MAX));
        gap.min(MAX_PAUSE.max(ran))
    };
    let total: i64 = (events.len() >= 2).then(|| events.windows(2).map(seconds).sum())?;
    Some(f64::from(i32::try_from(total).unwrap_or(i32::MAX)) / 60.0)
}

/// A test that failed first in this session.
struct RedTest {
    tree: Oid,
}

/// Returns the content at the beginning of a session: what was judged last on the same commit, or else that commit or the one
/// on which the session began to commit, or else what the first run saw.
fn beginning<'s>(sources: &'s RewardSources<'_>) -> Option<&'s Oid> {
    let start = &sources.events.iter().find_map(run_of)?.start;
    let Some(head) = &start.head else { return Some(&start.tree) };
    let before = sources.before.filter(|before| before.commits.last() == Some(head));
    before.and_then(|before| before.trees.last()).or(sources.base).or(Some(head))
}

/// Returns the number of tests that can fail: a test file changed, the test failed, files other than tests changed, and
/// then it passed. `None` if no run names its tests.
fn tests_proven(sources: &RewardSources<'_>) -> Option<u32> {
    let (events, changed) = (sources.events, sources.changed);
    let first = beginning(sources)?;
    let results =
        || events.iter().filter_map(|event| if let EventKind::Tests(tests) = &event.kind { Some(tests) } else { None });
    results().find(|tests| tests.named > 0)?;
    let mut red: BTreeMap<&str, RedTest> = BTreeMap::new();
    let mut proven: BTreeSet<&str> = BTreeSet::new();
    for tests in results() {
        for name in passed_now(tests) {
            if let Some(was) = red.remove(name)
                && can_fail(first, &was.tree, &tests.tree, changed) == Some(true)
            {
                proven.insert(name);
            }
        }
        for name in &tests.failed {
            red.entry(name).or_insert_with(|| RedTest { tree: tests.tree.clone() });
        }
    }
    Some(count(proven.len()))
}

fn passed_now(tests: &TestResults) -> impl Iterator<Item = &str> {
    tests.earlier.iter().filter(|one| one.result == TestResult::Passed).map(|one| one.test.as_str())
}

fn can_fail(first: &Oid, red: &Oid, green: &Oid, changed: &dyn Fn(&Oid, &Oid) -> Option<Vec<String>>) -> Option<bool> {
    let wrote_test = changed(first, red)?.iter().any(|path| is_test_path(path));
    let made_pass = changed(red, green)?;
    let in_all = changed(first, green)?;
    // Code that was broken and restored is the same at both ends.
    let is_new = made_pass.iter().any(|path| in_all.contains(path));
    Some(wrote_test && is_new && !made_pass.iter().any(|path| is_test_path(path)))
}

/// Returns `true` if a path looks like that of a test.
fn is_test_path(path: &str) -> bool {
    let is_word = |word: &str| ["test", "tests", "spec", "specs"].contains(&word.to_ascii_lowercase().as_str());
    path.split(|c: char| !c.is_ascii_alphanumeric()).any(is_word) || path.contains("Test")
}

/// Returns the times of the first and the last event.
pub fn span(events: &[Event]) -> Option<(Timestamp, Timestamp)> {
    Some((events.first()?.at, events.last()?.at))
}
