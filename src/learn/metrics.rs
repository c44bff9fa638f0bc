//! Measures over tasks, by role, client, model and repository, with counts and confidence intervals.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::Serialize;

use crate::event::{Event, EventKind};
use crate::learn::DEFAULT_ROLE;
use crate::learn::interval::{self, Interval};
use crate::learn::task_record::{TaskOutcome, TaskRecord};
use crate::moment::Moment;

/// The number of tasks that each side of a comparison needs.
pub const MIN_COMPARED: usize = 10;

/// A task, with the facts that its record does not hold.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredTask {
    pub record: TaskRecord,
    /// The model, if a log names it.
    pub model: Option<String>,
    /// `true` if its commit is on the default branch of a remote.
    pub is_merged: bool,
    /// Its pull request, if a forge was asked and knows one.
    pub pull: Option<TaskPull>,
}

/// The pull request of a task, as its forge knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPull {
    /// `true` if it was merged, also squashed or rebased.
    pub is_merged: bool,
    /// The number of commits of the task on which a check ended.
    pub checked: usize,
    /// The number of those on which a check failed.
    pub failed: usize,
}

/// One measure of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Measure {
    /// Its name.
    pub name: String,
    /// The number of things that it was taken of.
    pub count: usize,
    /// The share, mean or number. Missing if there is nothing to take it of, or if it is not recorded.
    pub value: Option<f64>,
    /// Its interval, of a share or a mean.
    pub interval: Option<Interval>,
}

/// The measures of one group of tasks.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct MetricGroup {
    /// The property: `repository`, `role`, `client` or `model`.
    pub by: &'static str,
    /// Its value.
    pub name: String,
    /// The measures.
    pub measures: Vec<Measure>,
}

/// A mistake, as the share of tasks in which its gate failed.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Mistake {
    /// The gate.
    pub gate: String,
    /// The measure over all tasks.
    pub all: Measure,
    /// The same before, if there are enough tasks on both sides.
    pub before: Option<Measure>,
    /// The same after.
    pub after: Option<Measure>,
    /// `fewer`, `more`, `no difference is shown`, or `not enough data`.
    pub trend: &'static str,
}

/// The metrics of a repository.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Metrics {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The time at which `before` ends, if one was named.
    #[cfg_attr(test, schemars(with = "Option<String>"))]
    pub since: Option<Timestamp>,
    /// The groups.
    pub groups: Vec<MetricGroup>,
    /// The mistakes, the most frequent first.
    pub mistakes: Vec<Mistake>,
    /// The measures that no record holds.
    pub missing: Vec<&'static str>,
}

impl Metrics {
    /// Returns the metrics of tasks and events. With `since`, the groups hold what came after it, and mistakes are
    /// compared before and after it; without, between the earlier and the later half. `is_forge_asked`: pull requests
    /// that are missing are not known to the forge either.
    pub fn of(
        repository: &str,
        tasks: &[MeasuredTask],
        events: &[Event],
        since: Option<Timestamp>,
        is_forge_asked: bool,
    ) -> Self {
        let is_after = |at: Timestamp| since.is_none_or(|since| at >= since);
        let counted: Vec<&MeasuredTask> = tasks.iter().filter(|task| is_after(task.record.began)).collect();
        let later: Vec<&Event> = events.iter().filter(|event| is_after(event.at)).collect();
        let appeals = appealed_verdicts(events);
        let mut groups = vec![group("repository", repository, &counted, &later, &appeals)];
        for (by, key) in [
            (
                "role",
                (|task| Some(task.record.role.as_deref().unwrap_or(DEFAULT_ROLE))) as fn(&MeasuredTask) -> Option<&str>,
            ),
            ("client", |task| task.record.client.as_deref()),
            ("model", |task| task.model.as_deref()),
        ] {
            groups.extend(grouped(by, &counted, &later, &appeals, key));
        }
        let mut missing = Vec::new();
        if tasks.iter().all(|task| task.pull.is_none()) {
            missing.push(if is_forge_asked {
                "pull requests: none is known for these tasks"
            } else {
                "pull requests: none is known; `gate metrics --forge` asks the forge for them"
            });
        }
        Self { schema_version: 1, since, groups, mistakes: mistakes(tasks, since), missing }
    }
}

fn grouped(
    by: &'static str,
    tasks: &[&MeasuredTask],
    events: &[&Event],
    appeals: &BTreeSet<&str>,
    key: fn(&MeasuredTask) -> Option<&str>,
) -> Vec<MetricGroup> {
    let mut by_name: BTreeMap<&str, Vec<&MeasuredTask>> = BTreeMap::new();
    for task in tasks {
        by_name.entry(key(task).unwrap_or("unknown")).or_default().push(task);
    }
    let of = |(name, tasks): (&str, Vec<&MeasuredTask>)| {
        let sessions: BTreeSet<&str> = tasks.iter().map(|task| task.record.session.as_str()).collect();
        let is_its = |event: &&&Event| event.session.as_deref().is_some_and(|session| sessions.contains(session));
        let events: Vec<&Event> = events.iter().filter(is_its).copied().collect();
        group(by, name, &tasks, &events, appeals)
    };
    by_name.into_iter().map(of).collect()
}

fn share(name: &str, part: usize, whole: usize) -> Measure {
    let value = (whole > 0).then(|| interval::number(part) / interval::number(whole));
    Measure { name: name.to_owned(), count: whole, value, interval: interval::of_share(part, whole) }
}

/// Returns the mean of values of which none can be smaller than `least`.
fn mean(name: &str, values: &[f64], least: f64) -> Measure {
    let within = |interval: Interval| Interval { low: interval.low.max(least), ..interval };
    let (value, interval) = (interval::mean(values), interval::of_mean(values).map(within));
    Measure { name: name.to_owned(), count: values.len(), value, interval }
}

/// Returns `true` if a task is over, or was refused: an agent may have given it up.
fn is_judged(task: &MeasuredTask) -> bool {
    task.record.is_over || task.record.attempts > 0
}

fn group(
    by: &'static str,
    name: &str,
    tasks: &[&MeasuredTask],
    events: &[&Event],
    appeals: &BTreeSet<&str>,
) -> MetricGroup {
    let over: Vec<&MeasuredTask> = tasks.iter().filter(|task| is_judged(task)).copied().collect();
    let open = over.iter().filter(|task| !task.record.is_over).count();
    let closed: Vec<&MeasuredTask> =
        over.iter().filter(|task| task.record.outcome == TaskOutcome::Success).copied().collect();
    let merged: Vec<&MeasuredTask> =
        tasks.iter().filter(|task| task.is_merged && task.record.is_over).copied().collect();
    let at_once = |tasks: &[&MeasuredTask]| tasks.iter().filter(|task| task.record.attempts == 0).count();
    let attempts =
        |tasks: &[&MeasuredTask]| -> Vec<f64> { tasks.iter().map(|task| f64::from(task.record.attempts)).collect() };
    let cycles: Vec<f64> = attempts(&closed).into_iter().map(|refused| refused + 1.0).collect();
    let seconds = over.iter().flat_map(|task| &task.record.failures).filter_map(|failure| failure.seconds);
    let seconds: Vec<f64> = seconds.map(|seconds| f64::from(i32::try_from(seconds).unwrap_or(i32::MAX))).collect();
    let ci = events.iter().filter_map(|event| match &event.kind {
        EventKind::Judged(judged) if judged.moment == Moment::Ci => Some(judged.blocked),
        _ => None,
    });
    let ci: Vec<bool> = ci.collect();
    let (refused, appealed) = refused_and_appealed(events, appeals);
    let mut measures = vec![
        share("closed at the first attempt", at_once(&closed), over.len()),
        share("refused and not closed", open, over.len()),
        share("merged at the first attempt", at_once(&merged), merged.len()),
        share("ci failures", ci.iter().filter(|blocked| **blocked).count(), ci.len()),
        share("refusals that were appealed", appealed, refused),
        mean("cycles to close", &cycles, 1.0),
        mean("attempts per task", &attempts(&over), 0.0),
        mean("seconds from the first block to green", &seconds, 0.0),
    ];
    measures.extend(of_pulls(tasks));
    let mut grades: BTreeMap<&str, usize> = BTreeMap::new();
    for event in events.iter().filter(|event| matches!(event.kind, EventKind::Run(_))) {
        *grades.entry(event.origin.grade.as_str()).or_default() += 1;
    }
    measures.extend(grades.into_iter().map(|(grade, count)| Measure {
        name: format!("evidence {grade}"),
        count,
        value: Some(interval::number(count)),
        interval: None,
    }));
    MetricGroup { by, name: name.to_owned(), measures }
}

/// Returns the number of refusals, and of those of them that somebody appealed against.
fn refused_and_appealed(events: &[&Event], appeals: &BTreeSet<&str>) -> (usize, usize) {
    let refused = events.iter().filter_map(|event| match &event.kind {
        EventKind::Judged(judged) if judged.blocked => Some(judged.verdict.as_str()),
        _ => None,
    });
    let refused: BTreeSet<&str> = refused.collect();
    (refused.len(), refused.intersection(appeals).count())
}

/// Returns the verdicts that somebody appealed against, whenever that was.
fn appealed_verdicts(events: &[Event]) -> BTreeSet<&str> {
    let verdicts = events.iter().filter_map(|event| match &event.kind {
        EventKind::Appealed(appealed) => Some(appealed.verdict.as_str()),
        _ => None,
    });
    verdicts.collect()
}

/// Returns the measures of pull requests; none if no forge was asked.
fn of_pulls(tasks: &[&MeasuredTask]) -> Vec<Measure> {
    let pulls: Vec<TaskPull> = tasks.iter().filter_map(|task| task.pull).collect();
    if pulls.is_empty() {
        return Vec::new();
    }
    let merged: Vec<&TaskPull> = pulls.iter().filter(|pull| pull.is_merged).collect();
    let at_once = merged.iter().filter(|pull| pull.failed == 0).count();
    let sum = |of: fn(&TaskPull) -> usize| pulls.iter().map(of).sum();
    vec![
        share("pull requests merged", merged.len(), pulls.len()),
        share("pull requests merged at the first attempt", at_once, merged.len()),
        share("commits with a failed check", sum(|pull| pull.failed), sum(|pull| pull.checked)),
    ]
}

fn mistakes(tasks: &[MeasuredTask], since: Option<Timestamp>) -> Vec<Mistake> {
    let over: Vec<&MeasuredTask> = tasks.iter().filter(|task| is_judged(task)).collect();
    let middle = since.map_or(over.len() / 2, |since| over.partition_point(|task| task.record.began < since));
    let (before, after) = over.split_at(middle);
    let counted = if since.is_some() { after } else { &over };
    let gates: BTreeSet<&str> =
        over.iter().flat_map(|task| &task.record.failures).map(|failure| failure.gate.as_str()).collect();
    let of = |gate: &str, tasks: &[&MeasuredTask]| {
        let fails = |task: &&&MeasuredTask| task.record.failures.iter().any(|failure| failure.gate == gate);
        share(gate, tasks.iter().filter(fails).count(), tasks.len())
    };
    let mut mistakes: Vec<Mistake> = gates
        .into_iter()
        .map(|gate| {
            let enough = before.len() >= MIN_COMPARED && after.len() >= MIN_COMPARED;
            let sides = enough.then(|| (of(gate, before), of(gate, after)));
            let trend = trend(sides.as_ref());
            let (before, after) = sides.unzip();
            Mistake { gate: gate.to_owned(), all: of(gate, counted), before, after, trend }
        })
        .collect();
    mistakes.sort_by(|a, b| b.all.value.unwrap_or(0.0).total_cmp(&a.all.value.unwrap_or(0.0)));
    mistakes
}

/// Returns the difference between two shares in a word. Intervals that meet show none.
fn trend(sides: Option<&(Measure, Measure)>) -> &'static str {
    let Some((before, after)) = sides else { return "not enough data" };
    match (before.interval, after.interval) {
        (Some(before), Some(after)) if after.high < before.low => "fewer",
        (Some(before), Some(after)) if after.low > before.high => "more",
        _ => "no difference is shown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Appealed;
    use crate::learn::task_record::tasks;
    use crate::learn::task_record::tests::{event, judged, prompt};

    /// Returns tasks of sessions, of which the named ones are refused once.
    fn measured(count: i64, refused: impl Fn(i64) -> bool) -> (Vec<MeasuredTask>, Vec<Event>) {
        let mut events = Vec::new();
        for number in 0..count {
            let session = format!("s{number}");
            let mut kinds = vec![prompt("x")];
            if refused(number) {
                kinds.push(judged(Moment::Stop, &["tests"], 1));
            }
            kinds.push(judged(Moment::Stop, &[], 0));
            events.extend((0..).zip(kinds).map(|(at, kind)| event(number * 100 + at * 10, &session, kind)));
        }
        let all = tasks(&events).into_iter();
        (all.map(|record| MeasuredTask { record, model: None, is_merged: false, pull: None }).collect(), events)
    }

    fn value(metrics: &Metrics, name: &str) -> (usize, Option<f64>) {
        let measure = metrics.groups[0].measures.iter().find(|measure| measure.name == name).unwrap();
        (measure.count, measure.value)
    }

    #[test]
    fn measures_are_counted_and_what_is_not_there_is_missing() {
        let (tasks, events) = measured(8, |number| number < 2);
        let metrics = Metrics::of("repo", &tasks, &events, None, false);
        assert_eq!(value(&metrics, "closed at the first attempt"), (8, Some(0.75)));
        assert_eq!(value(&metrics, "attempts per task"), (8, Some(0.25)));
        assert_eq!(value(&metrics, "cycles to close"), (8, Some(1.25)));
        assert_eq!(value(&metrics, "seconds from the first block to green"), (2, Some(10.0)));
        assert_eq!(value(&metrics, "merged at the first attempt"), (0, None));
        assert_eq!(value(&metrics, "ci failures"), (0, None));
        let groups: Vec<(&str, &str)> = metrics.groups.iter().map(|group| (group.by, group.name.as_str())).collect();
        assert_eq!(groups, [("repository", "repo"), ("role", "agent"), ("client", "gate"), ("model", "unknown")]);
        assert_eq!(metrics.mistakes[0].trend, "not enough data");
        let nothing = Metrics::of("repo", &[], &[], None, false);
        assert!(nothing.groups[0].measures.iter().all(|measure| measure.value.is_none()));
    }

    #[test]
    fn a_refusal_that_was_appealed_twice_counts_once() {
        let (tasks, mut events) = measured(8, |number| number < 2);
        let refused = events.iter().find_map(|event| match &event.kind {
            EventKind::Judged(judged) if judged.blocked => Some(judged.verdict.clone()),
            _ => None,
        });
        let verdict = refused.unwrap();
        let blocked = events.iter_mut().filter_map(|event| match &mut event.kind {
            EventKind::Judged(judged) if judged.blocked => Some(judged),
            _ => None,
        });
        (0..).zip(blocked).for_each(|(number, judged)| judged.verdict = format!("{verdict}{number}"));
        for id in [format!("{verdict}1"), format!("{verdict}1"), "of-another-clone".to_owned()] {
            events.push(event(9_000, "reader", EventKind::Appealed(Appealed { verdict: id, blocked: true })));
        }
        let metrics = Metrics::of("repo", &tasks, &events, None, false);
        assert_eq!(value(&metrics, "refusals that were appealed"), (2, Some(0.5)));
    }

    #[test]
    fn pull_requests_are_counted_where_a_forge_knows_them() {
        let (mut tasks, events) = measured(4, |_| false);
        let shown = |tasks: &[MeasuredTask]| Metrics::of("repo", tasks, &events, None, false);
        let asks = |metrics: &Metrics| metrics.missing.iter().any(|text| text.contains("--forge"));
        assert!(asks(&shown(&tasks)));
        let pulls = [(true, 0), (true, 1), (false, 2)];
        for (task, (is_merged, failed)) in tasks.iter_mut().zip(pulls) {
            task.pull = Some(TaskPull { is_merged, checked: 2, failed });
        }
        let metrics = shown(&tasks);
        assert!(!asks(&metrics));
        assert_eq!(value(&metrics, "pull requests merged"), (3, Some(2.0 / 3.0)));
        assert_eq!(value(&metrics, "pull requests merged at the first attempt"), (2, Some(0.5)));
        assert_eq!(value(&metrics, "commits with a failed check"), (6, Some(0.5)));
    }

    #[test]
    fn a_task_that_was_given_up_counts() {
        let (mut tasks, events) = measured(12, |number| number < 3);
        for task in &mut tasks[..2] {
            (task.record.is_over, task.record.outcome) = (false, TaskOutcome::Blocked);
        }
        let metrics = Metrics::of("repo", &tasks, &events, None, false);
        assert_eq!(value(&metrics, "closed at the first attempt"), (12, Some(0.75)));
        assert_eq!(value(&metrics, "refused and not closed").0, 12);
        assert_eq!(value(&metrics, "attempts per task"), (12, Some(0.25)));
        let later = Metrics::of("repo", &tasks, &events, Some(tasks[3].record.began), false);
        assert_eq!((later.mistakes[0].all.count, later.mistakes[0].all.value), (9, Some(0.0)));
    }

    #[test]
    fn mistakes_are_compared_only_with_enough_tasks() {
        for (count, refused, expected) in [
            (40, (|number| number < 20) as fn(i64) -> bool, "fewer"),
            (40, |number| number >= 20, "more"),
            (40, |number| number % 2 == 0, "no difference is shown"),
            (19, |number| number < 9, "not enough data"),
        ] {
            let (tasks, events) = measured(count, refused);
            assert_eq!(Metrics::of("repo", &tasks, &events, None, false).mistakes[0].trend, expected, "{count}");
        }
        let (tasks, events) = measured(40, |number| number < 10);
        let since = tasks[10].record.began;
        let metrics = Metrics::of("repo", &tasks, &events, Some(since), false);
        assert_eq!((metrics.mistakes[0].trend, value(&metrics, "attempts per task")), ("fewer", (30, Some(0.0))));
    }
}
