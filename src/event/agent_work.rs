//! The acts of an agent, as its client reports them live or its log records them afterwards.
//!
//! All clients share one vocabulary; only the reader of each client knows the names of its tools. The maker of an event
//! bounds and redacts its texts.

use serde::{Deserialize, Serialize};

use crate::event::Ended;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::shell_kind::Shell;
use crate::snapshot::KeptSnapshot;

/// One act of an agent, of a person or program that writes to it, or of its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentWork {
    /// The sub-agent that acted, by its client's id, or `None` for the agent of the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The client's id of the tool call. A hook's report and the log's line of the same call have the same id. If hooks
    /// get no id, it begins with [`MADE_UP`] and is a digest of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The commit that was checked out, if the reporter knew it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
    /// The act.
    pub act: Act,
}

/// The prefix of the id of a call that was made of its content.
pub const MADE_UP: &str = "content-";

impl AgentWork {
    /// Returns `true` if the id of the call is not its client's.
    pub fn has_made_up_call(&self) -> bool {
        self.call.as_deref().is_some_and(|call| call.starts_with(MADE_UP))
    }
}

/// The vocabulary of acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// The session began, continued, was compacted or ended.
    Session(Phase),
    /// A person or a program wrote to the agent.
    Prompt(Prompt),
    /// The agent wrote.
    Said(String),
    /// The agent asked the person a question and waits.
    Asked(String),
    /// The agent wrote down or changed its plan.
    Planned(Vec<PlanItem>),
    /// A shell command was started, and ended if `ended` says so.
    Command(Box<ShellCommand>),
    /// A command of an earlier call, which had gone to the background, ended.
    CommandEnded(CommandEnd),
    /// A tool of the client changed files. Changes by shell commands are not included.
    Edited(Vec<FileEdit>),
    /// A tool was used that neither runs a command nor changes a file.
    Used(ToolUse),
    /// A tool call was refused before it ran.
    Denied(Denial),
    /// A sub-agent started.
    SubagentStarted(String),
    /// A sub-agent ended.
    SubagentEnded(String),
    /// The agent ended its turn.
    Stopped(TurnEnd),
}

/// The state of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Phase {
    /// The session is new.
    Started,
    /// The session continues after its end.
    Resumed,
    /// The session is a copy of another one, whose acts it repeats.
    Forked,
    /// The context was replaced by a summary.
    Compacted,
    /// The session ended.
    Ended,
}

as_str!(Phase);

/// A text written to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Prompt {
    /// The sender.
    pub from: Speaker,
    /// The text.
    pub text: String,
}

/// The senders of prompts. Only a person's words are a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// A person.
    Person,
    /// The client itself: notifications, summaries, reminders, environment.
    Client,
    /// `gate`, or another hook that did not let the agent stop.
    Hook,
    /// The agent above a sub-agent.
    Agent,
}

/// A line of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanItem {
    /// The task.
    pub text: String,
    /// `true` if the agent calls it done.
    pub done: bool,
}

/// A command line that an agent ran in its own shell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShellCommand {
    /// The line, secrets removed.
    pub line: String,
    /// The directory that it was started in, relative to the root of the working tree, or `None` if it is outside of it
    /// or unknown.
    pub dir: Option<RepoPath>,
    /// The end of its process, or `None` if no status was recorded.
    pub ended: Option<Ended>,
    /// The last lines of its output, bounded: few of them if it succeeded and either checks nothing, or its runs hold what
    /// its checks have shown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// `true` if it was left running in the background, or moved there.
    #[serde(default)]
    pub background: bool,
    /// The shell that ran it, or `None` if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Shell>,
    /// The working tree before, if a snapshot was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<KeptSnapshot>,
    /// The working tree after, if a snapshot was taken.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<KeptSnapshot>,
}

/// The end of a command that was in the background. Its call is that of the [`AgentWork`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandEnd {
    /// The end of its process, or `None` if no status was recorded.
    pub ended: Option<Ended>,
    /// The last lines of its output, bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// A change of one file by a tool of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileEdit {
    /// The file, relative to the root of the working tree, or an absolute path outside of it.
    pub path: RepoPath,
    /// The kind of the edit.
    pub how: EditKind,
    /// The lines that the tool removed, bounded. Empty if the reporter does not give them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub removed: String,
    /// The lines that the tool added, bounded. Empty if the reporter does not give them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub added: String,
}

/// The effect of an edit on a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// The file was created or changed.
    Written,
    /// The file was deleted.
    Deleted,
}

/// A use of a tool that changes no files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolUse {
    /// The client's name of the tool.
    pub tool: String,
    /// `true` if it only reads: files, listings, searches, pages. An unknown tool does not.
    pub reads: bool,
    /// The target that it was used on: a path, a pattern, a URL; bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// `true` if it failed.
    #[serde(default)]
    pub failed: bool,
}

/// A refused tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Denial {
    /// The client's name of the tool.
    pub tool: String,
    /// The command line, or the path that was to be changed.
    pub what: String,
    /// The reason.
    pub reason: String,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TurnEnd {
    /// The way in which the turn ended.
    pub how: StopKind,
    /// The agent's final message.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// The number of commands that were still running in the background.
    #[serde(default)]
    pub running: u32,
    /// The reason why the turn was not judged, if something that is still running is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<String>,
}

/// The ways in which a turn ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// The agent ended the turn itself.
    Completed,
    /// A person interrupted the turn.
    Aborted,
    /// The client or the model failed.
    Failed,
}
