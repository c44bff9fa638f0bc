//! The acts of a case, each kind with its recorded data.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value};

use super::CaseError;
use crate::event::Grade;

/// Something that happened.
#[derive(Clone, Debug)]
pub enum CaseAct {
    /// A person wrote to the agent.
    Prompt(CaseText),
    /// The agent wrote.
    Say(CaseText),
    /// The agent asked a person and waits.
    Ask(CaseText),
    /// The agent wrote down its plan.
    Plan(CaseText),
    /// A tool that changes nothing.
    Tool(Tool),
    /// A file holds something now.
    Edit(CaseEdit),
    /// A file was deleted.
    Delete(CaseEdit),
    /// A command line.
    Command(RecordedCommand),
    /// The end of an earlier command line.
    CommandEnd(CaseCommandEnd),
    /// A commit was made.
    Commit(CommitAct),
    /// Commits were made anew.
    Rewrite(HistoryRewrite),
    /// Something else was checked out.
    Switch(CaseCheckout),
    /// Somebody else pushed.
    RemoteMoved(RemoteMoved),
    /// Refs were pushed.
    Push(Push),
    /// The forge's answer about a pull request.
    Pull(CasePull),
    /// The forge's answer about its checks.
    Checks(CaseChecks),
    /// The context was replaced by a summary.
    Compaction,
    /// The agent ended its turn.
    Stop(CaseStop),
    /// Something else.
    Unknown,
}

/// A text.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseText {
    #[serde(default)]
    pub text: String,
}

/// A use of a tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Tool {
    /// Its name.
    pub tool: String,
    /// Its argument.
    pub arg: Value,
}

/// A change of one file.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseEdit {
    /// The file.
    pub path: String,
    /// The present content.
    pub content: Option<String>,
    /// The origin of the change: a tool of the client (`Edit`, `Write`), or a change found after a command.
    #[serde(default)]
    pub via: String,
    /// git ignores it.
    #[serde(default)]
    pub ignored: bool,
    /// The content of the working tree afterwards.
    pub wt: Option<String>,
}

/// A command line.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct RecordedCommand {
    /// The line.
    pub command: String,
    /// The directory in which it was started: relative to the root of the working tree, or absolute.
    #[serde(default)]
    pub cwd: String,
    /// Its exit status, if it was recorded.
    pub exit: Option<i32>,
    /// Its output, or the kept part of it.
    pub output: Option<String>,
    /// `not_executed`, `still_running`, or anything else.
    pub status: Option<String>,
    /// `true` if it ran in the background.
    #[serde(default)]
    pub background: bool,
    /// A sub-agent ran it.
    #[serde(default)]
    pub sidechain: bool,
    /// The id of the sub-agent.
    pub agent_id: Option<String>,
    /// The content of the working tree that it saw.
    pub wt: Option<String>,
    /// The commit that was checked out.
    pub head: Option<String>,
    /// The branch that was checked out.
    pub branch: Option<String>,
    /// The grade of its record; without it: that of a hook's report.
    pub grade: Option<Grade>,
}

/// The end of an earlier command line.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseCommandEnd {
    /// The number of that command.
    pub for_seq: u64,
    /// Its exit status.
    pub exit: Option<i32>,
    pub output: Option<String>,
}

/// A commit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CommitAct {
    /// The command that made it.
    pub command: String,
    /// Its id.
    pub sha: String,
    pub parents: Vec<String>,
    /// The branch it is on.
    pub branch: Option<String>,
    /// The id of its content.
    pub tree: Option<String>,
    pub message: String,
    /// The changes, or `None` for everything that the working tree has.
    pub files: Option<Vec<CommitFile>>,
    /// The output, including that of hooks.
    pub output: Option<String>,
    /// The status, if it is not 0.
    pub exit: Option<i32>,
}

/// A file of a commit.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CommitFile {
    pub path: String,
    /// The path before.
    #[serde(default, alias = "old_path")]
    pub from: Option<String>,
    /// `A`, `M`, `D`, `R087`, …
    #[serde(default)]
    pub status: String,
    /// Lines added.
    pub add: Option<u32>,
    /// Lines removed.
    pub del: Option<u32>,
}

/// Commits made anew.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct HistoryRewrite {
    pub command: String,
    /// `rebase`, `squash`, `reword`, …
    pub kind: String,
    /// The tip before.
    pub old: String,
    /// The tip now.
    pub new: String,
    /// The new base.
    pub onto: Option<String>,
    pub branch: Option<String>,
    /// The id of its content.
    pub tree: Option<String>,
    /// The message of the one commit that is left.
    pub message: Option<String>,
}

/// Something else is checked out.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CaseCheckout {
    pub command: String,
    pub branch: Option<String>,
    /// Its commit.
    pub head: Option<String>,
    /// The content of the working tree now.
    pub wt: Option<String>,
}

/// Somebody else pushed.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RemoteMoved {
    /// Its new commit.
    pub sha: String,
    /// The files that it changes; those without content were deleted.
    pub files: Vec<MovedFile>,
}

/// A file that somebody else changed.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct MovedFile {
    /// The file.
    pub path: String,
    /// The present content, or `None` if it was deleted.
    pub content: Option<String>,
}

/// A push.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct Push {
    pub command: String,
    pub remote: String,
    /// Its address.
    pub url: String,
    /// The refs that git passed to the hook.
    pub refs: Option<Vec<CasePushedRef>>,
    /// Its status.
    pub exit: Option<i32>,
    pub output: Option<String>,
    /// Nothing was sent.
    pub dry_run: bool,
}

/// One ref of a push.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CasePushedRef {
    /// The ref here.
    pub local_ref: String,
    /// The commit that is sent.
    pub local_sha: String,
    /// The ref there.
    pub remote_ref: String,
    /// The commit that it held.
    pub remote_sha: String,
}

/// A pull request.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CasePull {
    pub number: u64,
    /// `open`, `closed` or `merged`.
    pub state: String,
    /// `true` if it was merged.
    pub merged: bool,
    /// `true` if it is a draft.
    pub draft: bool,
    /// The commit at its head.
    pub head_sha: String,
    /// The branch it is for.
    pub base: String,
    /// It comes from another repository.
    pub cross_repo: bool,
    /// The other repository.
    pub head_repo: Option<String>,
}

/// The checks of a commit.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CaseChecks {
    /// The commit.
    pub head_sha: String,
    /// The common result, if it is recorded.
    pub conclusion: Option<String>,
    /// The names of those that must be green, or `None` if they are not known.
    pub required: Option<Vec<String>>,
    /// By name: a conclusion, or a state of one that is not done.
    pub checks: BTreeMap<String, Value>,
}

/// The end of a turn.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CaseStop {
    /// The agent's last message.
    pub text: String,
    /// The commit that is checked out.
    pub head: Option<String>,
    pub branch: Option<String>,
    /// The content of the working tree.
    pub wt: Option<String>,
}

/// Reads an event.
pub(super) fn act(seq: u64, event: &Map<String, Value>) -> Result<CaseAct, CaseError> {
    let kind = event.get("t").and_then(Value::as_str).unwrap_or_default();
    let act = match kind {
        "prompt" => read(event).map(CaseAct::Prompt),
        "say" => read(event).map(CaseAct::Say),
        "ask_user" => read(event).map(CaseAct::Ask),
        "plan_update" => read(event).map(CaseAct::Plan),
        "tool" => read(event).map(CaseAct::Tool),
        "edit" => read(event).map(CaseAct::Edit),
        "delete" => read(event).map(CaseAct::Delete),
        "cmd" => read(event).map(CaseAct::Command),
        "cmd_result" => read(event).map(CaseAct::CommandEnd),
        "commit" => read(event).map(CaseAct::Commit),
        "rewrite" => read(event).map(CaseAct::Rewrite),
        "switch" => read(event).map(CaseAct::Switch),
        "remote_moved" => read(event).map(CaseAct::RemoteMoved),
        "push" => read(event).map(CaseAct::Push),
        "pr" => read(event).map(CaseAct::Pull),
        "ci" => read(event).map(CaseAct::Checks),
        "compaction" => Ok(CaseAct::Compaction),
        "stop" => read(event).map(CaseAct::Stop),
        _ => Ok(CaseAct::Unknown),
    };
    act.map_err(|error| CaseError::Event { seq, t: kind.to_owned(), error })
}

fn read<T: serde::de::DeserializeOwned>(event: &Map<String, Value>) -> Result<T, serde_json::Error> {
    // A key that is there without a value is one that is not there.
    let given = event.iter().filter(|(_, value)| !value.is_null());
    T::deserialize(Value::Object(given.map(|(key, value)| (key.clone(), value.clone())).collect()))
}
