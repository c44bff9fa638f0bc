//! A case: what happened in a session, written down so that it can be judged anywhere. `docs/cases.md` has the format.
//!
//! Keys that are not known are ignored, and an event of a kind that is not known says nothing: cases come from several
//! recorders. What is known has its type: a case that is misread would be judged wrongly.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::event::Grade;

/// A recorded session with the policy it is judged by.
#[derive(Clone, Debug, Deserialize)]
pub struct Case {
    /// What it is called.
    #[serde(default)]
    pub id: String,
    /// What it is about, in a sentence.
    #[serde(default)]
    pub title: String,
    /// What is asked for.
    #[serde(default)]
    pub policy: Wanted,
    /// The repository at the beginning.
    #[serde(default)]
    pub start: Start,
    /// What happened, in order; each with its kind in `t` and its number in `seq`.
    pub events: Vec<Map<String, Value>>,
    /// What the gates should answer, by name.
    #[serde(default)]
    pub expect: BTreeMap<String, Expected>,
}

/// What a gate should answer.
#[derive(Clone, Debug, Deserialize)]
pub struct Expected {
    /// The verdict: `pass`, `block`, `warn` or `na`.
    pub verdict: String,
    /// Why.
    #[serde(default)]
    pub why: String,
}

/// What is asked for.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Wanted {
    /// Patterns for the branches that nobody may push to.
    #[serde(default)]
    pub protected_branches: Vec<String>,
    /// Whether documentation may change without a test run, and what else is said of tests.
    #[serde(default)]
    pub tests: Option<Tests>,
    /// Whether a build is asked for wherever its inputs changed.
    #[serde(default)]
    pub build: Option<Required>,
    /// Whether a pull request with green checks is asked for.
    #[serde(default, alias = "pull_request")]
    pub pr: Option<Required>,
    /// Whether green checks of the forge on the commit stand for a test run.
    #[serde(default)]
    pub ci_counts_as_tests: bool,
    /// The parts of the program: name, and the globs of its files.
    #[serde(default)]
    pub scopes: BTreeMap<String, Globs>,
    /// A whole `gate.toml`, which then counts instead of everything above.
    #[serde(default)]
    pub gate_toml: Option<String>,
}

/// What is said of tests.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Tests {
    /// `false`, or in words what is asked for; anything but `false` asks for a full run.
    #[serde(default)]
    pub required: Value,
    /// Whether documentation may change without one.
    #[serde(default = "yes")]
    pub docs_only_exempt: bool,
}

/// Whether something is asked for.
#[derive(Clone, Debug, Deserialize)]
pub struct Required {
    /// `false`, or in words what is asked for.
    #[serde(default)]
    pub required: Value,
}

impl Required {
    /// Whether it is asked for.
    pub fn is_asked(&self) -> bool {
        !matches!(self.required, Value::Null | Value::Bool(false))
    }
}

const fn yes() -> bool {
    true
}

/// One glob or several.
#[derive(Clone, Debug)]
pub struct Globs(pub Vec<String>);

impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match Value::deserialize(deserializer)? {
            Value::String(one) => Ok(Self(vec![one])),
            Value::Array(all) => Ok(Self(all.iter().filter_map(text).collect())),
            Value::Object(table) => {
                let paths = table.get("paths").and_then(Value::as_array).cloned().unwrap_or_default();
                Ok(Self(paths.iter().filter_map(text).collect()))
            }
            _ => Err(serde::de::Error::custom("a glob or a list of globs is expected")),
        }
    }
}

/// The repository at the beginning.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Start {
    /// The branch that is checked out.
    #[serde(default)]
    pub branch: String,
    /// Its commit, which is taken for the place where it leaves the default branch.
    #[serde(default)]
    pub head: String,
    /// The default branch of the other side, where it is known.
    #[serde(default)]
    pub default_branch: Option<String>,
    /// The id of its content.
    #[serde(default)]
    pub tree: Option<String>,
    /// Its files that matter.
    #[serde(default)]
    pub files: BTreeMap<String, Option<String>>,
}

/// Something that happened.
#[derive(Clone, Debug)]
pub enum Act {
    /// A person wrote to the agent.
    Prompt(Text),
    /// The agent wrote.
    Say(Text),
    /// The agent asked a person and waits.
    Ask(Text),
    /// The agent wrote down its plan.
    Plan(Text),
    /// A tool that changes nothing.
    Tool(Tool),
    /// A file holds something now.
    Edit(Edit),
    /// A file is gone.
    Delete(Edit),
    /// A command line.
    Command(Command),
    /// The end of an earlier command line.
    CommandEnd(CommandEnd),
    /// A commit was made.
    Commit(Commit),
    /// Commits were made anew.
    Rewrite(Rewrite),
    /// Something else was checked out.
    Switch(Switch),
    /// Somebody else pushed.
    RemoteMoved(RemoteMoved),
    /// Refs were pushed.
    Push(Push),
    /// What the forge says of a pull request.
    Pull(Pull),
    /// What the forge says of its checks.
    Checks(Checks),
    /// The context was replaced by a summary.
    Compaction,
    /// The agent ended its turn.
    Stop(Stop),
    /// Something else.
    Unknown,
}

/// A text.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Text {
    /// The text.
    #[serde(default)]
    pub text: String,
}

/// A use of a tool.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Tool {
    /// Its name.
    #[serde(default)]
    pub tool: String,
    /// Its argument.
    #[serde(default)]
    pub arg: Value,
}

/// A change of one file.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Edit {
    /// The file.
    pub path: String,
    /// What it holds now.
    #[serde(default)]
    pub content: Option<String>,
    /// Who changed it: a tool of the client (`Edit`, `Write`), or what was found to have changed after a command.
    #[serde(default)]
    pub via: String,
    /// git ignores it.
    #[serde(default)]
    pub ignored: bool,
    /// The content of the working tree afterwards.
    #[serde(default)]
    pub wt: Option<String>,
}

/// A command line.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Command {
    /// The line.
    pub command: String,
    /// Where it was started: relative to the root of the working tree, or absolute.
    #[serde(default)]
    pub cwd: String,
    /// Its exit status, where one was recorded.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Its output, or what is left of it.
    #[serde(default)]
    pub output: Option<String>,
    /// `not_executed`, `still_running`, or anything else.
    #[serde(default)]
    pub status: Option<String>,
    /// It went on beside the session.
    #[serde(default)]
    pub background: bool,
    /// A sub-agent ran it.
    #[serde(default)]
    pub sidechain: bool,
    /// Which sub-agent.
    #[serde(default)]
    pub agent_id: Option<String>,
    /// The content of the working tree that it saw.
    #[serde(default)]
    pub wt: Option<String>,
    /// The commit that was checked out.
    #[serde(default)]
    pub head: Option<String>,
    /// The branch that was checked out.
    #[serde(default)]
    pub branch: Option<String>,
    /// What its record is worth; without it: what a hook reports.
    #[serde(default)]
    pub grade: Option<Grade>,
}

/// The end of an earlier command line.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CommandEnd {
    /// The number of that command.
    pub for_seq: u64,
    /// Its exit status.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Its output.
    #[serde(default)]
    pub output: Option<String>,
}

/// A commit.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Commit {
    /// How it was made.
    #[serde(default)]
    pub command: String,
    /// Its id.
    #[serde(default)]
    pub sha: String,
    /// Its parents.
    #[serde(default)]
    pub parents: Vec<String>,
    /// The branch it is on.
    #[serde(default)]
    pub branch: Option<String>,
    /// The id of its content.
    #[serde(default)]
    pub tree: Option<String>,
    /// Its message.
    #[serde(default)]
    pub message: String,
    /// What it changes; `None`: everything that the working tree has.
    #[serde(default)]
    pub files: Option<Vec<CommitFile>>,
    /// What was printed, also by hooks.
    #[serde(default)]
    pub output: Option<String>,
    /// The status, where it is not 0.
    #[serde(default)]
    pub exit: Option<i32>,
}

/// A file of a commit.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CommitFile {
    /// Where it is.
    pub path: String,
    /// Where it was.
    #[serde(default, alias = "old_path")]
    pub from: Option<String>,
    /// `A`, `M`, `D`, `R087`, …
    #[serde(default)]
    pub status: String,
    /// Lines added.
    #[serde(default)]
    pub add: Option<u32>,
    /// Lines removed.
    #[serde(default)]
    pub del: Option<u32>,
}

/// Commits made anew.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Rewrite {
    /// How.
    #[serde(default)]
    pub command: String,
    /// `rebase`, `squash`, `reword`, …
    #[serde(default)]
    pub kind: String,
    /// The tip before.
    #[serde(default)]
    pub old: String,
    /// The tip now.
    #[serde(default)]
    pub new: String,
    /// What it stands on now.
    #[serde(default)]
    pub onto: Option<String>,
    /// The branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// The id of its content.
    #[serde(default)]
    pub tree: Option<String>,
    /// The message of the one commit that is left.
    #[serde(default)]
    pub message: Option<String>,
}

/// Something else is checked out.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Switch {
    /// How.
    #[serde(default)]
    pub command: String,
    /// The branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// Its commit.
    #[serde(default)]
    pub head: Option<String>,
    /// The content of the working tree now.
    #[serde(default)]
    pub wt: Option<String>,
}

/// Somebody else pushed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RemoteMoved {
    /// The ref.
    #[serde(rename = "ref", default)]
    pub reference: String,
    /// Its new commit.
    #[serde(default)]
    pub sha: String,
    /// The files that it changes; without content: gone.
    #[serde(default)]
    pub files: Vec<MovedFile>,
    /// Its message.
    #[serde(default)]
    pub message: String,
}

/// A file that somebody else changed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MovedFile {
    /// The file.
    pub path: String,
    /// What it holds now; `None`: it is gone.
    #[serde(default)]
    pub content: Option<String>,
}

/// A push.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Push {
    /// How.
    #[serde(default)]
    pub command: String,
    /// The remote.
    #[serde(default)]
    pub remote: String,
    /// Its address.
    #[serde(default)]
    pub url: String,
    /// What git handed to the hook.
    #[serde(default)]
    pub refs: Option<Vec<PushedRef>>,
    /// Its status.
    #[serde(default)]
    pub exit: Option<i32>,
    /// What was printed.
    #[serde(default)]
    pub output: Option<String>,
    /// Nothing was sent.
    #[serde(default)]
    pub dry_run: bool,
}

/// One ref of a push.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct PushedRef {
    /// The ref here.
    #[serde(default)]
    pub local_ref: String,
    /// What is sent.
    #[serde(default)]
    pub local_sha: String,
    /// The ref there.
    #[serde(default)]
    pub remote_ref: String,
    /// What it held.
    #[serde(default)]
    pub remote_sha: String,
}

/// A pull request.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Pull {
    /// Its number.
    #[serde(default)]
    pub number: u64,
    /// `open`, `closed` or `merged`.
    #[serde(default)]
    pub state: String,
    /// Whether it was merged.
    #[serde(default)]
    pub merged: bool,
    /// Whether it waits to be made ready.
    #[serde(default)]
    pub draft: bool,
    /// The commit at its head.
    #[serde(default)]
    pub head_sha: String,
    /// The branch it is for.
    #[serde(default)]
    pub base: String,
    /// It comes from another repository.
    #[serde(default)]
    pub cross_repo: bool,
    /// Which.
    #[serde(default)]
    pub head_repo: Option<String>,
}

/// The checks of a commit.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Checks {
    /// The commit.
    #[serde(default)]
    pub head_sha: String,
    /// What they come to, where it is said.
    #[serde(default)]
    pub conclusion: Option<String>,
    /// The names of those that must be green; `None`: not known.
    #[serde(default)]
    pub required: Option<Vec<String>>,
    /// By name: a conclusion, or a state of one that is not done.
    #[serde(default)]
    pub checks: BTreeMap<String, Value>,
}

/// The end of a turn.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Stop {
    /// The agent's last words.
    #[serde(default)]
    pub text: String,
    /// The commit that is checked out.
    #[serde(default)]
    pub head: Option<String>,
    /// The branch.
    #[serde(default)]
    pub branch: Option<String>,
    /// The content of that commit.
    #[serde(default)]
    pub head_tree: Option<String>,
    /// The content of the working tree.
    #[serde(default)]
    pub wt: Option<String>,
}

/// A case that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// It is no JSON of this shape.
    #[error("not a case: {0}")]
    Json(#[from] serde_json::Error),
    /// An event lacks what its kind needs.
    #[error("event {seq} (`{t}`): {error}")]
    Event {
        /// Its number.
        seq: u64,
        /// Its kind.
        t: String,
        /// What is wrong.
        error: serde_json::Error,
    },
    /// Its policy is malformed.
    #[error("the policy of the case: {0}")]
    Policy(String),
}

impl Case {
    /// Reads a case.
    pub fn read(bytes: &[u8]) -> Result<Self, CaseError> {
        Ok(serde_json::from_slice(bytes)?)
    }

    /// What happened, in order.
    pub fn acts(&self) -> Result<Vec<(u64, Act)>, CaseError> {
        let number = |event: &Map<String, Value>| event.get("seq").and_then(Value::as_u64);
        let numbered =
            self.events.iter().enumerate().map(|(at, event)| (number(event).unwrap_or(at as u64 + 1), event));
        numbered.map(|(seq, event)| Ok((seq, act(seq, event)?))).collect()
    }
}

fn act(seq: u64, event: &Map<String, Value>) -> Result<Act, CaseError> {
    let kind = event.get("t").and_then(Value::as_str).unwrap_or_default();
    let act = match kind {
        "prompt" => read(event).map(Act::Prompt),
        "say" => read(event).map(Act::Say),
        "ask_user" => read(event).map(Act::Ask),
        "plan_update" => read(event).map(Act::Plan),
        "tool" => read(event).map(Act::Tool),
        "edit" => read(event).map(Act::Edit),
        "delete" => read(event).map(Act::Delete),
        "cmd" => read(event).map(Act::Command),
        "cmd_result" => read(event).map(Act::CommandEnd),
        "commit" => read(event).map(Act::Commit),
        "rewrite" => read(event).map(Act::Rewrite),
        "switch" => read(event).map(Act::Switch),
        "remote_moved" => read(event).map(Act::RemoteMoved),
        "push" => read(event).map(Act::Push),
        "pr" => read(event).map(Act::Pull),
        "ci" => read(event).map(Act::Checks),
        "compaction" => Ok(Act::Compaction),
        "stop" => read(event).map(Act::Stop),
        _ => Ok(Act::Unknown),
    };
    act.map_err(|error| CaseError::Event { seq, t: kind.to_owned(), error })
}

fn read<T: serde::de::DeserializeOwned>(event: &Map<String, Value>) -> Result<T, serde_json::Error> {
    // A key that is there without a value is one that is not there.
    let given = event.iter().filter(|(_, value)| !value.is_null());
    T::deserialize(Value::Object(given.map(|(key, value)| (key.clone(), value.clone())).collect()))
}

/// What a gate answers to a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Word {
    /// The gate is not concerned.
    Na,
    /// Proven, or nothing is wrong.
    Pass,
    /// It needs a person or better evidence.
    Warn,
    /// It stops.
    Block,
}

impl Word {
    /// The word.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Na => "na",
            Self::Pass => "pass",
            Self::Warn => "warn",
            Self::Block => "block",
        }
    }

    /// Whether it is what a case expects. Where a gate is not concerned, any answer but a block is right.
    pub fn agrees(self, expected: &str) -> bool {
        match expected {
            "na" => self != Self::Block,
            "pass" => self == Self::Pass,
            "warn" => self == Self::Warn,
            "block" => self == Self::Block,
            _ => false,
        }
    }
}
