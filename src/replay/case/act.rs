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
pub struct CaseEdit {
    /// The file.
    pub path: String,
    /// The present content.
    #[serde(default)]
    pub content: Option<String>,
    /// The origin of the change: a tool of the client (`Edit`, `Write`), or a change found after a command.
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
pub struct RecordedCommand {
    /// The line.
    pub command: String,
    /// The directory in which it was started: relative to the root of the working tree, or absolute.
    #[serde(default)]
    pub cwd: String,
    /// Its exit status, if it was recorded.
    #[serde(default)]
    pub exit: Option<i32>,
    /// Its output, or the kept part of it.
    #[serde(default)]
    pub output: Option<String>,
    /// `not_executed`, `still_running`, or anything else.
    #[serde(default)]
    pub status: Option<String>,
    /// `true` if it ran in the background.
    #[serde(default)]
    pub background: bool,
    /// A sub-agent ran it.
    #[serde(default)]
    pub sidechain: bool,
    /// The id of the sub-agent.
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
    /// The grade of its record; without it: that of a hook's report.
    #[serde(default)]
    pub grade: Option<Grade>,
}

/// The end of an earlier command line.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseCommandEnd {
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
pub struct CommitAct {
    /// The command that made it.
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
    /// The changes; `None`: everything that the working tree has.
    #[serde(default)]
    pub files: Option<Vec<CommitFile>>,
    /// The output, including that of hooks.
    #[serde(default)]
    pub output: Option<String>,
    /// The status, if it is not 0.
    #[serde(default)]
    pub exit: Option<i32>,
}

/// A file of a commit.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CommitFile {
    /// The path.
    pub path: String,
    /// The path before.
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
pub struct HistoryRewrite {
    /// The command.
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
    /// The new base.
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
pub struct CaseCheckout {
    /// The command.
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
    /// The files that it changes; those without content were deleted.
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
    /// The present content; `None`: it was deleted.
    #[serde(default)]
    pub content: Option<String>,
}

/// A push.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Push {
    /// The command.
    #[serde(default)]
    pub command: String,
    /// The remote.
    #[serde(default)]
    pub remote: String,
    /// Its address.
    #[serde(default)]
    pub url: String,
    /// The refs that git passed to the hook.
    #[serde(default)]
    pub refs: Option<Vec<CasePushedRef>>,
    /// Its status.
    #[serde(default)]
    pub exit: Option<i32>,
    /// The output.
    #[serde(default)]
    pub output: Option<String>,
    /// Nothing was sent.
    #[serde(default)]
    pub dry_run: bool,
}

/// One ref of a push.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CasePushedRef {
    /// The ref here.
    #[serde(default)]
    pub local_ref: String,
    /// The commit that is sent.
    #[serde(default)]
    pub local_sha: String,
    /// The ref there.
    #[serde(default)]
    pub remote_ref: String,
    /// The commit that it held.
    #[serde(default)]
    pub remote_sha: String,
}

/// A pull request.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CasePull {
    /// Its number.
    #[serde(default)]
    pub number: u64,
    /// `open`, `closed` or `merged`.
    #[serde(default)]
    pub state: String,
    /// `true` if it was merged.
    #[serde(default)]
    pub merged: bool,
    /// `true` if it is a draft.
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
    /// The other repository.
    #[serde(default)]
    pub head_repo: Option<String>,
}

/// The checks of a commit.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct CaseChecks {
    /// The commit.
    #[serde(default)]
    pub head_sha: String,
    /// The common result, if it is recorded.
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
pub struct CaseStop {
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
