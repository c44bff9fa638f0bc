//! The tasks of each session, as the record shows them: the outcome, the attempts, what failed and what cleared it.
//!
//! A task begins with a person's words, or, where no client reports any, with the first refusal after a pass. It is over
//! once a stop, a push or a job passes, or once it was handed to somebody else.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::{Act, AgentWork, Event, EventKind, Judged, Prompt, Rescue, Run, Speaker, Waived};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::verdict::assemble::ESCALATES_AT;

/// The longest description of a task, in characters.
const MAX_TASK: usize = 120;

/// The outcome of a task.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum TaskOutcome {
    /// The last verdict let everything pass, and nothing that failed before is open.
    Success,
    /// Something passed or was cleared, and something else was not.
    Partial,
    /// The last verdict refused the work, or a person had to take over.
    Blocked,
    /// The record holds no verdict.
    #[default]
    Unknown,
}

as_str!(TaskOutcome);

/// A gate that failed during a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateFailure {
    /// The id of the gate.
    pub gate: String,
    /// The number of verdicts that it blocked.
    pub times: u32,
    /// The run, or else the change, after which it no longer failed. Missing if it is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cleared_by: Option<String>,
    /// The time from its first failure to the verdict without it, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<i64>,
}

/// A task, as the record shows it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TaskRecord {
    pub session: String,
    /// The client that reported its acts, if one did.
    pub client: Option<String>,
    /// The role of the agent, if one was named.
    pub role: Option<String>,
    /// The time of its first event.
    pub began: Timestamp,
    /// The time of its last verdict, or else of its last event.
    pub ended: Timestamp,
    /// The beginning of the person's words.
    pub task: String,
    /// The outcome so far.
    pub outcome: TaskOutcome,
    /// The number of refused claims.
    pub attempts: u32,
    /// The gates that failed, in the order of their first failure.
    pub failures: Vec<GateFailure>,
    /// The gates that a person waived.
    pub waived: Vec<String>,
    /// `true` if it passed, or was handed over.
    pub is_over: bool,
    /// The commits of its last verdict.
    pub commits: Vec<Oid>,
    /// The commits of all its verdicts, in their order.
    pub judged_commits: Vec<Oid>,
    /// The contents of its last verdict, as far as they were stored.
    pub trees: Vec<Oid>,
    /// `true` if its last verdict was about changes that are in no commit.
    pub uncommitted: bool,
    /// The branches of its last verdict.
    pub branches: Vec<String>,
    /// The ids of the runs that passed before its last verdict.
    pub passed_runs: Vec<String>,
}

impl TaskRecord {
    /// Returns a name that stays the same when the task is read again.
    pub fn id(&self) -> String {
        let parts = [self.session.as_bytes(), self.began.to_string().as_bytes()].map(<[u8]>::to_vec);
        crate::digest::hex_digest(&[&parts[0], &parts[1]])[..16].to_owned()
    }
}

/// Returns the tasks in events of the journal, in the order of their beginnings.
pub fn tasks(events: &[Event]) -> Vec<TaskRecord> {
    let mut sessions: BTreeMap<&str, SessionReader> = BTreeMap::new();
    // A person waives in a session of their own.
    let mut waivers: Vec<&Waived> = Vec::new();
    for event in events {
        if let EventKind::Waived(waived) = &event.kind {
            waivers.push(waived);
        }
        if let Some(session) = event.session.as_deref() {
            let new = || SessionReader { session: session.to_owned(), ..SessionReader::default() };
            sessions.entry(session).or_insert_with(new).read(event, &waivers);
        }
    }
    let mut tasks: Vec<TaskRecord> = sessions.into_values().flat_map(SessionReader::finish).collect();
    tasks.sort_by_key(|task| task.began);
    tasks
}

/// A failure that no verdict has cleared yet.
struct OpenGate {
    since: Timestamp,
    moment: Moment,
    /// The run that passed last since it failed.
    passed: Option<String>,
}

/// The task that a session is at.
#[derive(Default)]
struct OpenTask {
    record: TaskRecord,
    open: BTreeMap<String, OpenGate>,
    /// `true` if the last verdict let the work pass; `None` before the first.
    passes: Option<bool>,
    handed_over: bool,
    /// The ids of the runs that passed since the last verdict.
    passed_runs: Vec<String>,
    /// The undeclared commands that failed: only they can have been what a gate refused.
    failed_keys: BTreeSet<String>,
}

#[derive(Default)]
struct SessionReader {
    session: String,
    client: Option<String>,
    role: Option<String>,
    hears_people: bool,
    open: Option<OpenTask>,
    done: Vec<TaskRecord>,
}

impl SessionReader {
    fn read(&mut self, event: &Event, waivers: &[&Waived]) {
        match &event.kind {
            EventKind::Settings(settings) => self.role.clone_from(&settings.role),
            EventKind::Work(work) => self.work(event, work),
            EventKind::Run(run) => self.ran(&event.id, run),
            EventKind::Judged(judged) => self.judged(event.at, judged, waivers),
            EventKind::Waived(waived) => {
                if let Some(task) = &mut self.open {
                    task.record.waived.push(waived.gate.clone());
                }
            }
            EventKind::Rescue(Rescue::HandedOver(_) | Rescue::GivenUp(_)) => {
                if let Some(task) = &mut self.open {
                    task.handed_over = true;
                    task.record.is_over = true;
                }
            }
            _ => {}
        }
    }

    fn work(&mut self, event: &Event, work: &AgentWork) {
        self.client.get_or_insert_with(|| event.origin.by.clone());
        if let (Act::Prompt(Prompt { from: Speaker::Person, text }), None) = (&work.act, &work.actor) {
            self.hears_people = true;
            if self.open.as_ref().is_none_or(|task| task.record.is_over) {
                self.begin(event.at, text);
            }
        }
    }

    fn begin(&mut self, at: Timestamp, text: &str) {
        self.close();
        let line = text.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
        let task = line.chars().take(MAX_TASK).collect();
        let record = TaskRecord { session: self.session.clone(), began: at, ended: at, task, ..TaskRecord::default() };
        self.open = Some(OpenTask { record, ..OpenTask::default() });
    }

    fn ran(&mut self, id: &str, run: &Run) {
        if let Some(task) = &mut self.open {
            task.ran(id, run);
        }
    }

    fn judged(&mut self, at: Timestamp, judged: &Judged, waivers: &[&Waived]) {
        if !matches!(judged.moment, Moment::Commit | Moment::Push | Moment::Stop | Moment::Ci) {
            return;
        }
        let is_new = !self.hears_people && judged.blocked;
        if self.open.as_ref().is_none_or(|task| task.record.is_over && is_new) {
            self.begin(at, "");
        }
        if let Some(task) = &mut self.open {
            task.judged(at, judged, waivers);
        }
    }

    fn close(&mut self) {
        if let Some(task) = self.open.take() {
            self.done.push(task.finish(self.client.as_ref(), self.role.as_ref()));
        }
    }

    fn finish(mut self) -> Vec<TaskRecord> {
        self.close();
        self.done
    }
}

impl OpenTask {
    fn judged(&mut self, at: Timestamp, judged: &Judged, waivers: &[&Waived]) {
        self.record.ended = at;
        let failing = || judged.failing.iter().filter(|failing| failing.blocks);
        for waived in waivers.iter().filter(|waived| judged.trees.contains(&waived.tree)) {
            let fails = failing().any(|failing| failing.gate == waived.gate);
            if self.open.contains_key(&waived.gate) && !fails && !self.record.waived.contains(&waived.gate) {
                self.record.waived.push(waived.gate.clone());
            }
        }
        for failing in failing() {
            self.failed(at, judged.moment, &failing.gate);
        }
        let clears = |gate: &str, open: &OpenGate| {
            (open.moment == judged.moment || judged.moment == Moment::Push)
                && !failing().any(|failing| failing.gate == gate)
                && !judged.idle.iter().any(|idle| idle == gate)
                && !self.record.waived.iter().any(|waived| waived == gate)
        };
        let cleared: Vec<String> =
            self.open.iter().filter(|(gate, open)| clears(gate, open)).map(|(gate, _)| gate.clone()).collect();
        for gate in cleared {
            self.clear(at, &gate);
        }
        if judged.blocked && judged.attempt > 0 {
            self.record.attempts += 1;
            self.handed_over |= judged.attempt >= ESCALATES_AT;
        }
        if judged.moment == Moment::Commit && !judged.blocked {
            return;
        }
        self.record.passed_runs.append(&mut self.passed_runs);
        self.passes = Some(!judged.blocked);
        self.handed_over &= judged.blocked;
        self.record.is_over = !judged.blocked || self.handed_over;
        self.record.commits.clone_from(&judged.commits);
        let is_new = |commit: &&Oid| !self.record.judged_commits.contains(commit);
        let new: Vec<Oid> = judged.commits.iter().filter(is_new).cloned().collect();
        self.record.judged_commits.extend(new);
        self.record.trees.clone_from(&judged.trees);
        self.record.uncommitted = judged.uncommitted;
        self.record.branches.clone_from(&judged.branches);
    }

    fn ran(&mut self, id: &str, run: &Run) {
        let is_declared = run.command.name.is_some();
        if !run.ended.success() || run.masked.is_some() {
            if !is_declared {
                self.failed_keys.insert(run.command.key.clone());
            }
            return;
        }
        self.passed_runs.push(id.to_owned());
        // A command that nobody declared proves nothing, so that it cleared nothing either.
        if is_declared || self.failed_keys.contains(&run.command.key) {
            for gate in self.open.values_mut() {
                gate.passed = Some(run.command.line.clone());
            }
        }
    }

    fn failed(&mut self, at: Timestamp, moment: Moment, gate: &str) {
        let open = self.open.entry(gate.to_owned()).or_insert(OpenGate { since: at, moment, passed: None });
        (open.moment, open.passed) = (moment, None);
        match self.record.failures.iter_mut().find(|failure| failure.gate == gate) {
            Some(failure) => {
                failure.times += 1;
                (failure.cleared_by, failure.seconds) = (None, None);
            }
            None => self.record.failures.push(GateFailure {
                gate: gate.to_owned(),
                times: 1,
                cleared_by: None,
                seconds: None,
            }),
        }
    }

    fn clear(&mut self, at: Timestamp, gate: &str) {
        let Some(open) = self.open.remove(gate) else { return };
        if let Some(failure) = self.record.failures.iter_mut().find(|failure| failure.gate == gate) {
            let by_run = open.passed.filter(|_| is_cleared_by_runs(gate));
            failure.cleared_by = Some(by_run.map_or_else(|| "a change".to_owned(), |line| format!("`{line}`")));
            failure.seconds = Some(at.duration_since(open.since).as_secs().max(0));
        }
    }

    fn finish(mut self, client: Option<&String>, role: Option<&String>) -> TaskRecord {
        let cleared = self.record.failures.iter().any(|failure| failure.cleared_by.is_some());
        self.record.outcome = match self.passes {
            None => TaskOutcome::Unknown,
            Some(true) if self.open.is_empty() && self.record.waived.is_empty() => TaskOutcome::Success,
            Some(true) => TaskOutcome::Partial,
            Some(false) if cleared && !self.handed_over => TaskOutcome::Partial,
            Some(false) => TaskOutcome::Blocked,
        };
        self.record.client = client.cloned();
        self.record.role = role.cloned();
        self.record
    }
}

/// Returns `true` if a run that passes can clear this gate. A run changes no commit, branch or pull request. Nothing is
/// known of a gate of the repository's own.
fn is_cleared_by_runs(gate: &str) -> bool {
    const NOT_ABOUT_RUNS: [&str; 8] =
        ["atomic", "ci-green", "decisions", "guarded", "protected-branch", "pull-request", "review", "roles"];
    !NOT_ABOUT_RUNS.contains(&gate)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::event::{FailingGate, Origin};
    use crate::learn::reward_gaming_tests::{run, undeclared};

    pub(crate) fn event(second: i64, session: &str, kind: EventKind) -> Event {
        let at = Timestamp::from_second(1_000 + second).unwrap();
        Event { id: second.to_string(), at, session: Some(session.to_owned()), origin: Origin::observed(), kind }
    }

    pub(crate) fn prompt(text: &str) -> EventKind {
        let act = Act::Prompt(Prompt { from: Speaker::Person, text: text.to_owned() });
        EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act }))
    }

    pub(crate) fn judged(moment: Moment, failing: &[&str], attempt: u32) -> EventKind {
        let gate = |gate: &&str| FailingGate { gate: (*gate).to_owned(), fingerprint: String::new(), blocks: true };
        EventKind::Judged(Judged {
            failing: failing.iter().map(gate).collect(),
            blocked: !failing.is_empty(),
            attempt,
            ..Judged::at(moment)
        })
    }

    fn idle(kind: EventKind, gate: &str) -> EventKind {
        match kind {
            EventKind::Judged(judged) => EventKind::Judged(Judged { idle: vec![gate.to_owned()], ..judged }),
            other => other,
        }
    }

    fn outcomes(kinds: Vec<EventKind>) -> Vec<(TaskOutcome, u32, bool)> {
        let events: Vec<Event> = (0..).zip(kinds).map(|(second, kind)| event(second, "s", kind)).collect();
        tasks(&events).iter().map(|task| (task.outcome, task.attempts, task.is_over)).collect()
    }

    #[test]
    fn outcomes_come_from_verdicts() {
        use Moment::{Commit, Push, Stop};
        use TaskOutcome::{Blocked, Partial, Success, Unknown};
        let refused = |attempt| judged(Stop, &["tests"], attempt);
        let passed = || judged(Stop, &[], 0);
        for (kinds, expected) in [
            (vec![prompt("x")], vec![(Unknown, 0, false)]),
            (vec![prompt("x"), passed()], vec![(Success, 0, true)]),
            (vec![prompt("x"), refused(1), refused(2), passed()], vec![(Success, 2, true)]),
            (vec![prompt("x"), refused(1)], vec![(Blocked, 1, false)]),
            (vec![prompt("x"), judged(Stop, &["tests", "build"], 1), refused(2)], vec![(Partial, 2, false)]),
            (vec![prompt("x"), judged(Stop, &["tests", "build"], 1), refused(4)], vec![(Blocked, 2, true)]),
            (vec![prompt("x"), refused(1), idle(passed(), "tests")], vec![(Partial, 1, true)]),
            (vec![prompt("x"), judged(Push, &["protected-branch"], 1), passed()], vec![(Partial, 1, true)]),
            (vec![prompt("x"), refused(1), judged(Push, &[], 0)], vec![(Success, 1, true)]),
            (
                vec![prompt("x"), judged(Commit, &["atomic"], 1), judged(Commit, &[], 0), passed()],
                vec![(Success, 1, true)],
            ),
            // A refusal after a pass reopens the task; a person's words after a pass begin the next.
            (vec![prompt("x"), passed(), refused(1), passed()], vec![(Success, 1, true)]),
            (vec![prompt("x"), passed(), prompt("y"), refused(1)], vec![(Success, 0, true), (Blocked, 1, false)]),
            // Where no client reports words, a refusal after a pass begins the next.
            (vec![refused(1), passed(), refused(1)], vec![(Success, 1, true), (Blocked, 1, false)]),
            // Only to look is not an attempt.
            (vec![prompt("x"), judged(Stop, &["tests"], 0), passed()], vec![(Success, 0, true)]),
        ] {
            let shown = format!("{kinds:?}");
            assert_eq!(outcomes(kinds), expected, "{shown}");
        }
    }

    #[test]
    fn a_run_clears_no_gate_on_commits() {
        let events = [
            event(0, "s", prompt("Fix the parser")),
            event(10, "s", judged(Moment::Stop, &["atomic", "tests", "own"], 1)),
            event(20, "s", run(0, '1')),
            event(30, "s", judged(Moment::Stop, &[], 0)),
        ];
        let failures = tasks(&events).remove(0).failures;
        let cleared: Vec<_> =
            failures.iter().map(|one| (one.gate.as_str(), one.cleared_by.as_deref().unwrap())).collect();
        assert_eq!(cleared, [("atomic", "a change"), ("tests", "`cargo test`"), ("own", "`cargo test`")]);
    }

    #[test]
    fn what_a_person_waived_in_another_session_is_not_cleared() {
        let tree: Oid = "1".repeat(40).parse().unwrap();
        let on_tree = |kind: EventKind| match kind {
            EventKind::Judged(judged) => EventKind::Judged(Judged { trees: vec![tree.clone()], ..judged }),
            other => other,
        };
        let waived = |tree: &Oid| {
            let (gate, reason, by) = ("tests".to_owned(), "x".to_owned(), "me".to_owned());
            EventKind::Waived(Waived { gate, tree: tree.clone(), reason, by })
        };
        let outcome = |waiver: EventKind| {
            let events = [
                event(0, "s", prompt("x")),
                event(1, "s", on_tree(judged(Moment::Stop, &["tests"], 1))),
                event(2, "local-1", waiver),
                event(3, "s", on_tree(judged(Moment::Stop, &[], 0))),
            ];
            tasks(&events)[0].outcome
        };
        assert_eq!(outcome(waived(&tree)), TaskOutcome::Partial);
        assert_eq!(outcome(waived(&"2".repeat(40).parse().unwrap())), TaskOutcome::Success);
    }

    #[test]
    fn a_command_that_nobody_declared_clears_nothing() {
        let cleared_by = |runs: Vec<EventKind>| {
            let mut kinds = vec![prompt("x"), judged(Moment::Stop, &["tests"], 1)];
            kinds.extend(runs);
            kinds.push(judged(Moment::Stop, &[], 0));
            let events: Vec<Event> = (0..).zip(kinds).map(|(second, kind)| event(second, "s", kind)).collect();
            tasks(&events).remove(0).failures.remove(0).cleared_by.unwrap()
        };
        assert_eq!(cleared_by(vec![undeclared("true", 0)]), "a change");
        assert_eq!(cleared_by(vec![run(0, '1'), undeclared("true", 0)]), "`cargo test`");
        assert_eq!(cleared_by(vec![undeclared("sh x.sh", 1), undeclared("sh x.sh", 0)]), "`sh x.sh`");
    }

    #[test]
    fn what_cleared_a_failure_and_how_long_it_took_are_named() {
        let events = [
            event(0, "s", prompt("\n  Fix the parser\nplease")),
            event(10, "s", judged(Moment::Stop, &["tests"], 1)),
            event(20, "s", judged(Moment::Stop, &["tests"], 2)),
            event(40, "s", judged(Moment::Stop, &[], 0)),
            event(50, "other", judged(Moment::Stop, &["build"], 1)),
        ];
        let tasks = tasks(&events);
        assert_eq!(tasks[0].task, "Fix the parser");
        let cleared = GateFailure {
            gate: "tests".to_owned(),
            times: 2,
            cleared_by: Some("a change".to_owned()),
            seconds: Some(30),
        };
        assert_eq!(tasks[0].failures, [cleared]);
        assert_eq!((tasks[1].session.as_str(), tasks[1].failures[0].cleared_by.as_deref()), ("other", None));
        assert_ne!(tasks[0].id(), tasks[1].id());
    }
}
