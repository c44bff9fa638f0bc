//! The acts of a session since its first refusal in a row: the part of the record that a payload is derived from.

use std::collections::{BTreeSet, HashMap};

use minijinja::context;

use super::clean_checkout::Clean;
use crate::event::agent_work::{Act, AgentWork, EditKind, Prompt, Speaker};
use crate::event::rescue::{self, Rescue, Trial};
use crate::event::{Ended, Event, EventKind, Run, forwarded_text};
use crate::fact::output_patterns;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::command_key;
use crate::repo_path::RepoPath;
use crate::templates::sentences::say;

/// The maximum number of failures, and of trials, that are kept.
const KEPT: usize = 64;

/// The acts of a session.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    /// The acts, oldest first.
    pub acts: Vec<SessionAct>,
    /// The runs that failed, oldest first (the latest 64), without those of commands that pass by now.
    pub failures: Vec<FailedRun>,
    /// The commands that were tried on clean checkouts, in any session, oldest first (the latest 64).
    pub trials: Vec<Trial>,
    /// The latest task from a person in the session: the event, and the beginning of its text.
    pub task: Option<(String, String)>,
    /// The branches on which something failed since everything last passed.
    failing_on: BTreeSet<String>,
}

/// One act.
#[derive(Clone, Debug, PartialEq)]
pub enum SessionAct {
    /// A command line was run, with this end, or `None` if it was not recorded.
    Ran(String, Option<Ended>),
    /// These files were changed.
    Edited(Vec<RepoPath>),
    /// A verdict refused the work, at this attempt.
    Refused(u32),
}

/// A run that failed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailedRun {
    /// The digest of command line and directory.
    pub key: String,
    /// The name of the declared command.
    pub name: Option<String>,
    /// The number of tests that it ran, and of those that failed, if it reported them.
    pub tests: Option<(u64, u64)>,
    /// The content it ran on.
    pub tree: Oid,
    /// The command line, secrets removed.
    pub line: String,
    /// The directory it ran in.
    pub dir: RepoPath,
    /// The end of its process.
    pub ended: Ended,
    /// The lines of its output that describe the failure.
    pub signature: Vec<String>,
    /// The runner that reported its tests.
    pub runner: Option<String>,
    /// The first of the tests that failed, if they are known by name.
    pub failed_test: Option<String>,
    /// The command line that runs this test alone.
    pub alone: Option<String>,
}

impl FailedRun {
    /// `told` is the end of the output in the entry of its call, if there is one.
    fn of(run: &Run, told: Option<&str>) -> Self {
        Self {
            key: run.command.key.clone(),
            name: run.command.name.clone(),
            tests: run.report.as_ref().map(|report| (report.passed.saturating_add(report.failed), report.failed)),
            tree: run.start.tree.clone(),
            line: run.command.line.clone(),
            dir: run.command.dir.clone(),
            ended: run.ended,
            signature: output_patterns::signature(run.output(told)),
            runner: run.report.as_ref().map(|report| report.runner.clone()),
            failed_test: None,
            alone: None,
        }
    }

    /// Returns the same failure, shown by the failed test alone.
    pub fn of_one_test(&self) -> Option<Self> {
        let line = self.alone.clone()?;
        let key = command_key(&line, &self.dir);
        Some(Self { key, line, tests: Some((1, 1)), alone: None, ..self.clone() })
    }
}

impl History {
    /// Returns the history of `session` from `events`, which are in order.
    pub fn of<'a>(events: impl Iterator<Item = &'a Event>, session: &str) -> Self {
        let mut history = Self::default();
        let mut tasks = RequestedTasks::default();
        let mut outputs = CallOutputs::default();
        for event in events {
            outputs.follow(event);
            tasks.follow(event);
            if let EventKind::Trial(trial) = &event.kind {
                push(&mut history.trials, trial.clone());
            } else if event.session.as_deref() == Some(session) {
                history.take(event, &outputs);
            }
        }
        history.task = tasks.of.remove(session);
        history
    }

    fn take(&mut self, event: &Event, outputs: &CallOutputs<'_>) {
        match &event.kind {
            EventKind::Run(run) => {
                self.ran(&run.command.line, Some(run.ended));
                self.failures.retain(|failure| !run.ended.success() || failure.key != run.command.key);
                if !run.ended.success() {
                    push(&mut self.failures, FailedRun::of(run, outputs.of(run)));
                }
            }
            // Looking is not an attempt.
            EventKind::Judged(judged) if judged.blocked && judged.attempt == 0 => {}
            EventKind::Judged(judged) => {
                let full = matches!(judged.moment, Moment::Stop | Moment::Push) && judged.idle.is_empty();
                if judged.blocked {
                    self.failing_on.extend(judged.branches.iter().cloned());
                } else if full {
                    self.failing_on.retain(|branch| !judged.branches.contains(branch));
                }
                if !judged.blocked && full && self.failing_on.is_empty() {
                    self.acts.clear();
                    self.failures.clear();
                } else if judged.attempt == 1 {
                    self.acts.clear();
                }
                if judged.blocked {
                    self.acts.push(SessionAct::Refused(judged.attempt));
                }
            }
            EventKind::Tests(results) => {
                let newest = self.failures.last_mut().filter(|failure| failure.key == results.key);
                if let Some(failure) = newest {
                    failure.failed_test = results.failed.first().cloned();
                }
            }
            EventKind::Work(work) => self.worked(work),
            _ => {}
        }
    }

    fn worked(&mut self, work: &AgentWork) {
        match &work.act {
            Act::Command(command) => self.ran(&command.line, command.ended),
            Act::Edited(edits) => {
                let changed = edits.iter().filter(|edit| matches!(edit.how, EditKind::Written | EditKind::Deleted));
                self.edited(changed.map(|edit| edit.path.clone()).collect());
            }
            _ => {}
        }
    }

    /// Returns the failure that best shows what does not pass. Of the declared commands called `wanted` and of runs
    /// that name failed tests, on the content that failed last, it is the one with the fewest tests, or the latest of
    /// those.
    pub fn smallest_failure(&self, wanted: &[&str]) -> Option<&FailedRun> {
        let shows = |failure: &&FailedRun| match &failure.name {
            Some(name) => wanted.contains(&name.as_str()),
            None => failure.tests.is_some_and(|(_, failed)| failed > 0),
        };
        let tree = &self.failures.iter().rev().find(shows)?.tree;
        let here = self.failures.iter().rev().filter(shows).filter(|failure| failure.tree == *tree);
        here.min_by_key(|failure| failure.tests.map_or(u64::MAX, |(ran, _)| ran))
    }

    /// Returns the failed test of `failure` alone, if it is known to fail on a clean checkout of `tree`.
    pub fn alone(&self, failure: &FailedRun, tree: &Oid) -> Option<FailedRun> {
        let alone = failure.of_one_test()?;
        let trial = self.trials.iter().rev().find(|trial| trial.key == alone.key && trial.tree == *tree)?;
        let test = failure.failed_test.as_deref()?;
        let own = test.rsplit([':', ' ', '/']).next().unwrap_or(test);
        let is_it = trial.ended == failure.ended && trial.signature.iter().any(|line| line.contains(own));
        is_it.then(|| FailedRun { signature: trial.signature.clone(), ..alone })
    }

    /// Returns `true` if the failed test of `failure` can be run alone, and that was not tried on a clean checkout of `tree`.
    pub fn can_be_tried_alone(&self, failure: &FailedRun, tree: &Oid) -> bool {
        let is_tried =
            |alone: &FailedRun| self.trials.iter().any(|trial| trial.key == alone.key && trial.tree == *tree);
        failure.of_one_test().is_some_and(|alone| !is_tried(&alone))
    }

    /// Returns the result of `failure` if the command was tried on a clean checkout of `tree`.
    pub fn on_clean_checkout(&self, failure: &FailedRun, tree: &Oid) -> Clean {
        match self.trials.iter().rev().find(|trial| trial.key == failure.key && trial.tree == *tree) {
            None => Clean::NotTried,
            Some(trial) if trial.ended.success() => Clean::Passes,
            Some(trial)
                if trial.ended == failure.ended && output_patterns::is_same(&trial.signature, &failure.signature) =>
            {
                Clean::SameFailure
            }
            Some(_) => Clean::OtherFailure,
        }
    }

    /// Adds a command line. A command that an agent's client reports and `gate run` observed is one act.
    fn ran(&mut self, line: &str, ended: Option<Ended>) {
        let act = SessionAct::Ran(line.to_owned(), ended);
        if self.acts.last() != Some(&act) {
            self.acts.push(act);
        }
    }

    fn edited(&mut self, paths: Vec<RepoPath>) {
        match self.acts.last_mut() {
            Some(SessionAct::Edited(before)) => {
                for path in paths {
                    if !before.contains(&path) {
                        before.push(path);
                    }
                }
            }
            _ => self.acts.push(SessionAct::Edited(paths)),
        }
    }
}

/// The ends of the outputs of calls, which their runs do not repeat.
#[derive(Default)]
struct CallOutputs<'a>(HashMap<&'a str, &'a str>);

impl<'a> CallOutputs<'a> {
    fn follow(&mut self, event: &'a Event) {
        let EventKind::Work(work) = &event.kind else { return };
        let tail = match &work.act {
            Act::Command(command) => &command.tail,
            Act::CommandEnded(end) => &end.tail,
            _ => return,
        };
        if let Some(call) = work.call.as_deref().filter(|_| !tail.is_empty()) {
            self.0.insert(call, tail);
        }
    }

    fn of(&self, run: &Run) -> Option<&'a str> {
        run.call.as_deref().and_then(|call| self.0.get(call)).copied()
    }
}

/// The tasks that persons requested, by session. A packet of gate is not such a task: its receiver works on the task
/// that it is about.
#[derive(Default)]
struct RequestedTasks<'a> {
    /// The event of the latest task, and the beginning of its text, by session.
    of: HashMap<&'a str, (String, String)>,
    /// The session that a packet is about, by the name of the packet.
    packets: HashMap<&'a str, &'a str>,
    /// The session that a reply is about, by its hypothesis.
    hypotheses: HashMap<String, &'a str>,
}

impl<'a> RequestedTasks<'a> {
    fn follow(&mut self, event: &'a Event) {
        let Some(session) = event.session.as_deref() else { return };
        match &event.kind {
            EventKind::Rescue(Rescue::HandedOver(handed)) => {
                self.packets.insert(&handed.id, session);
            }
            EventKind::Rescue(Rescue::Replied(reply)) => {
                self.hypotheses.insert(reply.hypothesis.clone(), session);
            }
            EventKind::Work(work) if work.actor.is_none() => {
                let Act::Prompt(Prompt { from: Speaker::Person, text }) = &work.act else { return };
                if !forwarded_text::says_something(text) {
                    return;
                }
                let named = rescue::carried(text).find_map(|carried| self.packets.get(carried.name).copied());
                let stated = || {
                    let all = self.hypotheses.keys();
                    forwarded_text::states(text, all).and_then(|hypothesis| self.hypotheses.get(hypothesis).copied())
                };
                let payload = || Some(session).filter(|_| forwarded_text::has_payload(text));
                let task = match named.or_else(stated).or_else(payload) {
                    Some(owner) => self.of.get(owner).cloned(),
                    None => Some((event.id.clone(), text.clone())),
                };
                if let Some(task) = task {
                    self.of.insert(session, task);
                }
            }
            _ => {}
        }
    }
}

fn push<T>(list: &mut Vec<T>, new: T) {
    if list.len() == KEPT {
        list.remove(0);
    }
    list.push(new);
}

/// Returns one line for a payload.
pub(super) fn tell(act: &SessionAct) -> String {
    match act {
        SessionAct::Ran(line, None) => say("tried", "ran", &context! { line }),
        SessionAct::Ran(line, Some(ended)) => {
            let (status, signal) = match ended {
                Ended::Exited(status) => (Some(status), None),
                Ended::Signalled(signal) => (None, Some(signal)),
                Ended::NotStarted => (None, None),
            };
            say("tried", "ran_to", &context! { line, status, signal })
        }
        SessionAct::Edited(paths) => {
            let shown: Vec<_> = paths.iter().take(4).map(ToString::to_string).collect();
            let more = paths.len().saturating_sub(shown.len());
            say("tried", "edited", &context! { paths => shown.join(", "), more })
        }
        SessionAct::Refused(attempt) => say("tried", "asked_again", &context! { attempt }),
    }
}
