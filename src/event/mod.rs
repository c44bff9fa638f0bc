//! Events: one type for what is observed live, stored in the journal, and replayed.
//!
//! One version writes them and another one reads them, so types never use `flatten` or `untagged`, a new field has a
//! default, and an unknown kind is kept as [`EventKind::Unknown`], never dropped.

pub(crate) mod accepted_plan;
pub mod agent_work;
pub(crate) mod appealed;
pub(crate) mod forwarded_text;
pub(crate) mod hosting;
pub(crate) mod model_call;
pub(crate) mod posted;
pub(crate) mod pruning;
pub(crate) mod pushes;
pub(crate) mod red_green;
pub(crate) mod rescue;
pub(crate) mod settings;
pub(crate) mod task_context;
pub(crate) mod test_results;

pub use accepted_plan::{AcceptedPlan, PlannedTask};
pub use agent_work::{
    Act, AgentWork, CommandEnd, Denial, EditKind, FileEdit, Phase, PlanItem, Prompt, ShellCommand, Speaker, StopKind,
    ToolUse, TurnEnd,
};
pub use appealed::Appealed;
pub use model_call::ModelCall;
pub use posted::Posted;
pub use pruning::{JournalHead, Pruned};
pub use pushes::{PushVerdict, PushedRef, SeenPush};
pub use red_green::{RedGreen, RedGreenProof};
pub use rescue::{GivenUp, HandedOver, Replied, Rescue, Trial, Withdrawn};
pub use settings::SessionSettings;
pub use task_context::TaskContext;
pub use test_results::{EarlierFailure, NamedPart, TestResult, TestResults};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// The format version in every journal line. It increases when a field changes its meaning.
pub const FORMAT: u32 = 1;

/// An event, and its reporter.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unique within the journal, and sortable by creation: see [`crate::journal`].
    pub id: String,
    /// The time of the record, for display only: no judgement depends on it.
    pub at: Timestamp,
    /// The session that it belongs to, if it is known.
    pub session: Option<String>,
    /// The origin of the record.
    pub origin: Origin,
    /// The kind of event.
    pub kind: EventKind,
}

/// The level of trust in an event, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Grade {
    /// The agent claims it.
    Claimed,
    /// It was read from a session log.
    Transcribed,
    /// An agent client reported it through its hook.
    Hooked,
    /// `gate` started the process, or made the change, itself.
    Observed,
    /// It is a signed statement whose signer the policy of the target branch allows.
    Attested,
    /// It is a check run of the forge on the commit itself.
    Ci,
}

as_str!(Grade);

/// The origin of an event, and its level of trust.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// The reporter: `gate`, `git`, or the name of an agent client.
    pub by: String,
    /// The level of trust.
    pub grade: Grade,
}

impl Origin {
    /// Returns the origin of an event that `gate` itself observed.
    pub fn observed() -> Self {
        Self { by: "gate".to_owned(), grade: Grade::Observed }
    }
}

/// The vocabulary of events.
#[derive(Clone, Debug, PartialEq, Serialize, strum::IntoStaticStr)]
#[serde(untagged)]
#[strum(serialize_all = "kebab-case")]
pub enum EventKind {
    /// A command was started. Without its [`EventKind::Run`], it is not known to have ended.
    RunStarted(RunStarted),
    /// A command ran to its end.
    Run(Box<Run>),
    /// The tests of the run before it, by name.
    Tests(Box<TestResults>),
    /// A verdict was given.
    Judged(Judged),
    /// A person waived a gate for one content.
    Waived(Waived),
    /// A verdict was disputed.
    Appealed(Appealed),
    /// A commit, rewrite, ref update or push, read from git.
    Git(GitEvent),
    /// An act in an agent's session, as its client reported it.
    Work(Box<AgentWork>),
    /// A step of the rescue of a session that used up its attempts.
    Rescue(Rescue),
    /// A command was tried on a clean checkout.
    Trial(Trial),
    /// The tests of a change ran without it and with it.
    Proof(Box<RedGreenProof>),
    /// An entry was put on the board.
    Posted(Posted),
    /// The settings under which a session works.
    Settings(SessionSettings),
    /// A person chose the order of several tasks.
    Plan(AcceptedPlan),
    /// A person's request, or the answer to a question about it, changed the context of the task.
    Task(TaskContext),
    /// A model of the user was asked.
    Model(ModelCall),
    /// Lost or damaged data was found, and set aside.
    Damage(Damage),
    /// A person acknowledged the faults of the journal.
    Repaired(Repaired),
    /// The first line of a journal from which entries were removed.
    Head(Box<JournalHead>),
    /// Old entries were removed from the journal.
    Pruned(Pruned),
    /// An event of a later version.
    Unknown {
        /// Its name there.
        kind: String,
        /// Its data, kept as it is.
        data: serde_json::Value,
    },
}

impl EventKind {
    /// Returns the name of the kind in the journal.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Unknown { kind, .. } => kind,
            known => known.into(),
        }
    }
}

/// A command is about to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunStarted {
    /// The command.
    pub command: CommandRef,
}

/// The identity of a command, as far as it decides what a run can prove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandRef {
    /// The name in `gate.toml`; `None` for a command that is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command line for the shell, with secrets removed.
    pub line: String,
    /// The directory, relative to the root of the working tree; empty for the root.
    pub dir: RepoPath,
    /// The digest of command line and directory. Evidence counts only for the same key.
    pub key: String,
}

/// A command that ended, with the content it ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// The command.
    pub command: CommandRef,
    /// The client's id of the tool call, if an agent ran the command and its client reported the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The working tree before.
    pub start: KeptSnapshot,
    /// The working tree after.
    pub end: KeptSnapshot,
    /// The paths that differ between both (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<RepoPath>,
    /// The files into which the line wrote only the output of its checks (`| tee test.log`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<RepoPath>,
    /// `true` if the line was the declared command word for word, so that nothing else ran before it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verbatim: bool,
    /// The untracked programs that were written while only this command ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub built: Vec<RepoPath>,
    /// The end of the process.
    pub ended: Ended,
    /// `true` if a time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_time: bool,
    /// The duration, in milliseconds.
    pub millis: u64,
    /// The report in the runner's closing lines.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<RunReport>,
    /// The part of its tests that it named.
    #[serde(default, skip_serializing_if = "NamedPart::is_none")]
    pub named: NamedPart,
    /// The reason why status 0 of the line proves nothing about its checks, if it does not and the output does not
    /// either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<String>,
    /// The last lines of the output, redacted and bounded. Empty for the `call` of an agent: the entry of the call has them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// The digest of the policy that was in force.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy: String,
}

impl Run {
    /// Returns the untracked files at the top of the working tree that were there before the run and that it read, as far as the
    /// file system tells, without those that it wrote.
    pub fn read_files(&self) -> impl Iterator<Item = &RepoPath> {
        let is_own = |path: &RepoPath| self.changed.contains(path) || self.logs.contains(path);
        self.end.read.iter().filter(move |path| self.start.untracked.contains(path) && !is_own(path))
    }

    /// Returns a run that passed, changed nothing and printed nothing.
    pub fn passed(command: CommandRef, on: KeptSnapshot) -> Self {
        Self {
            command,
            call: None,
            start: on.clone(),
            end: on,
            changed: Vec::new(),
            logs: Vec::new(),
            verbatim: false,
            built: Vec::new(),
            ended: Ended::Exited(0),
            over_time: false,
            millis: 0,
            report: None,
            named: NamedPart::None,
            masked: None,
            tail: String::new(),
            policy: String::new(),
        }
    }

    /// Returns `true` if it shows that its command passed, whatever it printed.
    pub fn shows_pass(&self) -> bool {
        let passed = self.report.as_ref().is_none_or(|report| report.failed == 0 && report.passed > 0);
        self.ended.success() && self.masked.is_none() && passed
    }

    /// Returns the last lines of the output. `told` is the end of the output in the entry of its call, if there is one.
    pub fn output<'a>(&'a self, told: Option<&'a str>) -> &'a str {
        if self.tail.is_empty() { told.unwrap_or_default() } else { &self.tail }
    }
}

/// The end of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It exited with this status.
    Exited(i32),
    /// This signal killed it.
    Signalled(i32),
    /// It could not be started.
    NotStarted,
}

impl Ended {
    /// Returns `true` if the process exited with status 0.
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }

    /// Returns the signal that ended it from outside: SIGHUP, SIGINT, SIGKILL or SIGTERM. A shell reports it as `128 +`
    /// its number. The signals of a crash are the program's own failure.
    pub const fn killed_by(self) -> Option<i32> {
        let signal = match self {
            Self::Exited(code) => code.saturating_sub(128),
            Self::Signalled(signal) => signal,
            Self::NotStarted => return None,
        };
        if matches!(signal, 1 | 2 | 9 | 15) { Some(signal) } else { None }
    }

    /// Returns `true` if a time limit ended it. `timeout` exits with 124 then. A client kills the command, or reports
    /// no status, and says so in the output.
    pub fn is_over_time(ended: Option<Self>, output: &str) -> bool {
        const SAID: [&str; 4] = ["timed out after", "exceeding timeout", "exceeded the timeout", "time limit exceeded"];
        match ended {
            Some(Self::Exited(124)) => true,
            Some(ended) if ended.killed_by().is_none() => false,
            _ => output.lines().any(|line| SAID.iter().any(|said| line.to_ascii_lowercase().contains(said))),
        }
    }
}

/// The report of a runner in its closing lines or its report file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunReport {
    /// The id of the runner in `gates/runners/`.
    pub runner: String,
    /// Tests that were executed and passed.
    pub passed: u64,
    /// Tests that were executed and failed, errors included.
    pub failed: u64,
    /// Tests that were not executed: skipped, ignored, pending, filtered out.
    pub skipped: u64,
}

/// A verdict in the journal. The full record is a separate file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The id of the verdict.
    pub verdict: String,
    /// The moment of the judgement.
    pub moment: Moment,
    /// The judged commit or snapshot tree of each subject.
    pub trees: Vec<Oid>,
    /// The judged commit of each subject that is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Oid>,
    /// `true` if changes were judged that are in no commit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub uncommitted: bool,
    /// The gates that failed, in any mode.
    pub failing: Vec<FailingGate>,
    /// The gates that require runs and had nothing to require here. Such a pass does not show that an earlier failure
    /// is fixed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<String>,
    /// The branches of the judged content, and those that it continues. Empty if none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// The refs of a push.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed: Vec<PushedRef>,
    /// The pushes without a verdict that it mentioned, in its words. Each is mentioned once in a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentioned: Vec<String>,
    /// `true` if anything was blocked.
    pub blocked: bool,
    /// The attempt, counted from 1; 0 when nothing was blocked.
    pub attempt: u32,
}

impl Judged {
    /// Returns a verdict about nothing.
    pub fn at(moment: Moment) -> Self {
        Self { moment, ..Self::default() }
    }
}

/// A gate that failed in a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailingGate {
    /// The id of the gate.
    pub gate: String,
    /// The digest of the failure without the content: it is equal for the same failure on other content.
    pub fingerprint: String,
    /// `true` if its mode made it block.
    pub blocks: bool,
}

/// A person waived one gate for one content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waived {
    /// The id of the gate.
    pub gate: String,
    /// The tree it is waived for.
    pub tree: Oid,
    /// The reason, in the person's words.
    pub reason: String,
    /// The person, as git names the committer.
    pub by: String,
}

/// An event that git recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GitEvent {
    /// The name of the action in git: `commit`, `commit (amend)`, `rebase (finish)`, `reset`, `checkout`, `push`, …
    pub action: String,
    /// The ref that moved.
    pub reference: String,
    /// The object before.
    pub old: Option<Oid>,
    /// The object after.
    pub new: Option<Oid>,
    /// The message of git.
    pub message: String,
}

/// Lost or damaged data that was set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Damage {
    /// The damage, its place, and the rest.
    pub what: String,
}

/// Faults of the journal that a person acknowledged: verdicts no longer mention them. The lines stay as they are and
/// prove nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Repaired {
    /// Lines before which something is missing, counted from 1.
    pub cut: Vec<u64>,
    /// Lines that differ from what the next line recorded of them.
    pub edited: Vec<u64>,
    /// Lines that cannot be read.
    pub damaged: Vec<u64>,
    /// The number of all faults, including those that are not listed.
    pub faults: u64,
}
