//! What happened: one type for what is observed live, lies in the journal, and is replayed.
//!
//! Written by one version and read by another: never `flatten`, never `untagged`; a field that is added has a
//! default; a kind that is not known is kept as [`EventKind::Unknown`], never dropped.

pub mod agent_work;
pub mod forwarded_text;
pub mod hosting;
pub mod pushes;
pub mod rescue;
pub mod test_results;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::agent_work::AgentWork;
use crate::event::pushes::PushedRef;
use crate::event::rescue::{Rescue, Trial};
use crate::event::test_results::TestResults;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// The format version written in every journal line. It grows when a field changes its meaning.
pub const FORMAT: u32 = 1;

/// Something that happened, and who says so.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Unique within the journal, and sortable by creation: see [`crate::journal`].
    pub id: String,
    /// When it was recorded. For people and for display; no judgement rests on it.
    pub at: Timestamp,
    /// The session it belongs to, where one is known.
    pub session: Option<String>,
    /// How it became known.
    pub origin: Origin,
    /// What it was.
    pub kind: EventKind,
}

/// How an event became known. The order is that of trust, lowest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// The agent says so.
    Claimed,
    /// Read back from a session log.
    Transcribed,
    /// An agent client reported it through its hook.
    Hooked,
    /// `gate` started the process, or made the change, itself.
    Observed,
    /// A signed statement, its signer allowed by the policy of the target branch.
    Attested,
    /// A check run of the forge on the commit itself.
    Ci,
}

impl Grade {
    /// The word used in the journal, in policies and in verdicts.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Claimed => "claimed",
            Self::Transcribed => "transcribed",
            Self::Hooked => "hooked",
            Self::Observed => "observed",
            Self::Attested => "attested",
            Self::Ci => "ci",
        }
    }
}

/// Where an event comes from, and what it is worth.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Origin {
    /// The reporter: `gate`, `git`, or the name of an agent client.
    pub by: String,
    /// What its word is worth.
    pub grade: Grade,
}

impl Origin {
    /// `gate` itself, which watched.
    pub fn observed() -> Self {
        Self { by: "gate".to_owned(), grade: Grade::Observed }
    }
}

/// The vocabulary of events.
#[derive(Clone, Debug, PartialEq)]
pub enum EventKind {
    /// A command was started. Without its [`EventKind::Run`], it never ended as far as is known.
    RunStarted(RunStarted),
    /// A command ran to its end.
    Run(Box<Run>),
    /// The tests of the run before it, by name.
    Tests(Box<TestResults>),
    /// A verdict was given.
    Judged(Judged),
    /// A person waived a gate for one content.
    Waived(Waived),
    /// A commit, rewrite, ref update or push, read from git.
    Git(GitEvent),
    /// An act in an agent's session, as its client tells it.
    Work(Box<AgentWork>),
    /// A step of the rescue of a session that used up its attempts.
    Rescue(Rescue),
    /// A command was tried on a clean checkout.
    Trial(Trial),
    /// Something was found to be lost or damaged, and set aside.
    Damage(Damage),
    /// A person took note of the faults of the journal.
    Repaired(Repaired),
    /// Written by a later version.
    Unknown {
        /// Its name there.
        kind: String,
        /// Its data, kept as it is.
        data: serde_json::Value,
    },
}

impl EventKind {
    /// The name of the kind in the journal.
    pub fn as_str(&self) -> &str {
        match self {
            Self::RunStarted(_) => "run-started",
            Self::Run(_) => "run",
            Self::Tests(_) => "tests",
            Self::Judged(_) => "judged",
            Self::Waived(_) => "waived",
            Self::Git(_) => "git",
            Self::Work(_) => "work",
            Self::Rescue(_) => "rescue",
            Self::Trial(_) => "trial",
            Self::Damage(_) => "damage",
            Self::Repaired(_) => "repaired",
            Self::Unknown { kind, .. } => kind,
        }
    }
}

/// A command is about to run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunStarted {
    /// What is run.
    pub command: CommandRef,
}

/// What was run, as far as it decides what a run can prove.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandRef {
    /// The name in `gate.toml`; `None` for a command that is not declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The command line, as it is given to the shell, secrets removed.
    pub line: String,
    /// The directory, relative to the root of the working tree; empty for the root.
    pub dir: RepoPath,
    /// The digest of command line and directory. Evidence serves only the same key.
    pub key: String,
}

/// A command that ended, with the content it ran on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Run {
    /// What was run.
    pub command: CommandRef,
    /// The client's id of the tool call that it was, where an agent ran it and its client told so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The working tree before.
    pub start: KeptSnapshot,
    /// The working tree after.
    pub end: KeptSnapshot,
    /// The paths that differ between the two (the first 256).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<RepoPath>,
    /// The files into which the line wrote what its checks print, and nothing else (`| tee test.log`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub logs: Vec<RepoPath>,
    /// How the process ended.
    pub ended: Ended,
    /// A time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_time: bool,
    /// How long it took, in milliseconds.
    pub millis: u64,
    /// What the runner's own closing lines say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub report: Option<RunReport>,
    /// Why status 0 of the line says nothing about its checks, where that is so and the output does not show it either.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub masked: Option<String>,
    /// The last lines of the output, redacted and bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// The digest of the policy that was in force.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub policy: String,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// With this exit status.
    Exited(i32),
    /// Killed by this signal.
    Signalled(i32),
    /// It could not be started.
    NotStarted,
}

impl Ended {
    /// Whether the process itself says that all went well.
    pub const fn success(self) -> bool {
        matches!(self, Self::Exited(0))
    }

    /// The signal with which somebody ended it: SIGHUP, SIGINT, SIGKILL or SIGTERM. A shell passes it on as `128 +` its
    /// number. The signals of a crash are the program's own failure.
    pub const fn killed_by(self) -> Option<i32> {
        let signal = match self {
            Self::Exited(code) => code.saturating_sub(128),
            Self::Signalled(signal) => signal,
            Self::NotStarted => return None,
        };
        match signal {
            1 | 2 | 9 | 15 => Some(signal),
            _ => None,
        }
    }

    /// Whether a time limit ended it. `timeout` answers 124 then; a client kills the command, or tells no status, and says
    /// so in the output.
    pub fn is_over_time(ended: Option<Self>, output: &str) -> bool {
        const SAID: [&str; 4] = ["timed out after", "exceeding timeout", "exceeded the timeout", "time limit exceeded"];
        match ended {
            Some(Self::Exited(124)) => true,
            Some(ended) if ended.killed_by().is_none() => false,
            _ => output.lines().any(|line| SAID.iter().any(|said| line.to_ascii_lowercase().contains(said))),
        }
    }
}

/// What a runner said of itself in its closing lines or its report file.
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

/// A verdict, as the journal keeps it; the record itself is a file beside it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Judged {
    /// The id of the verdict.
    pub verdict: String,
    /// When it was asked for.
    pub moment: Moment,
    /// The commit or snapshot tree judged, one for each subject.
    pub trees: Vec<Oid>,
    /// The commits judged, one for each subject that is one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commits: Vec<Oid>,
    /// The gates that failed, whatever their mode.
    pub failing: Vec<FailingGate>,
    /// The gates that ask for runs and for which nothing was to be run here: that it passed does not show that what they
    /// refused is mended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle: Vec<String>,
    /// The branches that it is about, and those whose content what it judged goes on from; empty where none is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub branches: Vec<String>,
    /// The refs of a push.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pushed: Vec<PushedRef>,
    /// The pushes without a verdict that it mentioned, in its words: none is mentioned twice in a session.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mentioned: Vec<String>,
    /// Whether anything was blocked.
    pub blocked: bool,
    /// The attempt, counted from 1; 0 when nothing was blocked.
    pub attempt: u32,
}

/// A gate that failed in a verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailingGate {
    /// The id of the gate.
    pub gate: String,
    /// The digest of what failed and how, without the content: equal for the same failure on other content.
    pub fingerprint: String,
    /// Whether its mode let it block.
    pub blocks: bool,
}

/// A person let one gate pass for one content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Waived {
    /// The id of the gate.
    pub gate: String,
    /// The tree it is waived for.
    pub tree: Oid,
    /// Why, in the person's words.
    pub reason: String,
    /// Who, as git names the committer.
    pub by: String,
}

/// Something git recorded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GitEvent {
    /// What git calls it: `commit`, `commit (amend)`, `rebase (finish)`, `reset`, `checkout`, `push`, …
    pub action: String,
    /// The ref that moved.
    pub reference: String,
    /// Where it stood.
    pub old: Option<Oid>,
    /// Where it stands.
    pub new: Option<Oid>,
    /// git's own words.
    pub message: String,
}

/// Something lost or damaged, set aside.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Damage {
    /// What, where, and what remains.
    pub what: String,
}

/// Faults of the journal that a person took note of: verdicts mention them no more. The lines stay as they are and prove
/// nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Repaired {
    /// Lines before which something is missing, counted from 1.
    pub cut: Vec<u64>,
    /// Lines that are not what the next line saw.
    pub edited: Vec<u64>,
    /// Lines that cannot be read.
    pub damaged: Vec<u64>,
    /// All faults, those that are not listed included.
    pub faults: u64,
}
