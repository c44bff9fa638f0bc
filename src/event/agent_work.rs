//! What an agent does, as its client reports it while it happens or its log tells afterwards.
//!
//! One vocabulary for all clients; what one of them calls its tools ends at its reader. Texts are bounded and
//! redacted by whoever makes the event.

use serde::{Deserialize, Serialize};

use crate::event::Ended;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::shell_kind::Shell;
use crate::snapshot::KeptSnapshot;

/// One act of an agent, of somebody who speaks to it, or of its client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AgentWork {
    /// The sub-agent that acted, by its client's id; `None`: the agent of the session itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The client's id of the tool call. A hook's report and the log's line of the same call have the same; where hooks
    /// are told no id, theirs begins with [`MADE_UP`] and says what the call was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The commit that was checked out, where the reporter knew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
    /// The act.
    pub act: Act,
}

/// How the id of a call begins that was made of its content.
pub const MADE_UP: &str = "content-";

impl AgentWork {
    /// Whether the id of the call is not its client's.
    pub fn has_made_up_call(&self) -> bool {
        self.call.as_deref().is_some_and(|call| call.starts_with(MADE_UP))
    }
}

/// The vocabulary of acts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Act {
    /// The session began, went on, was shortened or ended.
    Session(Phase),
    /// Somebody or something wrote to the agent.
    Prompt(Prompt),
    /// The agent wrote.
    Said(String),
    /// The agent asked the person something and waits.
    Asked(String),
    /// The agent wrote down or changed its plan.
    Planned(Vec<PlanItem>),
    /// A shell command was started, and ended where `ended` says so.
    Command(Box<ShellCommand>),
    /// A command of an earlier call, which had gone to the background, ended.
    CommandEnded(CommandEnd),
    /// Files were changed by a tool of the client. Changes by shell commands are not among these.
    Edited(Vec<FileEdit>),
    /// A tool that neither runs a command nor changes a file.
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

/// Where a session stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It is new.
    Started,
    /// It goes on after having ended.
    Resumed,
    /// It is a copy of another one, whose acts it repeats.
    Forked,
    /// Its context was replaced by a summary.
    Compacted,
    /// It ended.
    Ended,
}

impl Phase {
    /// The name, as it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Resumed => "resumed",
            Self::Forked => "forked",
            Self::Compacted => "compacted",
            Self::Ended => "ended",
        }
    }
}

/// Something written to the agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Prompt {
    /// Who wrote it.
    pub from: Speaker,
    /// What.
    pub text: String,
}

/// Who writes to an agent. Only a person's words are a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Speaker {
    /// A person.
    Person,
    /// The client itself: notifications, summaries, reminders, environment.
    Client,
    /// `gate`, or another hook that kept the agent from stopping.
    Hook,
    /// The agent above a sub-agent.
    Agent,
}

/// A line of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanItem {
    /// What is to be done.
    pub text: String,
    /// Whether the agent calls it done.
    pub done: bool,
}

/// A command line that an agent ran in its own shell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ShellCommand {
    /// The line, secrets removed.
    pub line: String,
    /// The directory it was started in: relative to the root of the working tree; `None`: outside of it, or not known.
    pub dir: Option<RepoPath>,
    /// How it ended; `None`: no status was recorded.
    pub ended: Option<Ended>,
    /// The last lines of its output, bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// It was left running in the background, or moved there.
    #[serde(default)]
    pub background: bool,
    /// The shell that ran it; `None`: nothing says which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shell: Option<Shell>,
    /// The working tree before, where somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<KeptSnapshot>,
    /// The working tree after, where somebody looked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<KeptSnapshot>,
}

/// The end of a command that was in the background; its call is that of the [`AgentWork`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct CommandEnd {
    /// How it ended; `None`: it did, and nobody says how.
    pub ended: Option<Ended>,
    /// The last lines of its output, bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
}

/// A change of one file by a tool of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FileEdit {
    /// The file, relative to the root of the working tree; absolute where it lies outside of it.
    pub path: RepoPath,
    /// What was done.
    pub how: EditKind,
    /// Lines that the tool removed, bounded; empty where the reporter does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub removed: String,
    /// Lines that the tool added, bounded; empty where the reporter does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub added: String,
}

/// What an edit does to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// It is there now, or holds something else.
    Written,
    /// It is gone.
    Deleted,
}

/// A use of a tool that changes nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolUse {
    /// The client's name of it.
    pub tool: String,
    /// Whether it only reads: files, listings, searches, pages. What is not known does not.
    pub reads: bool,
    /// What it was used on: a path, a pattern, an address; bounded.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
    /// Whether it failed.
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
    /// Why.
    pub reason: String,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TurnEnd {
    /// How it came to end.
    pub how: StopKind,
    /// The agent's last words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Commands that were still running in the background.
    #[serde(default)]
    pub running: u32,
    /// Why it was not judged, where something that still runs is the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_alone: Option<String>,
}

/// How a turn came to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum StopKind {
    /// The agent says no more.
    Completed,
    /// A person broke it off.
    Aborted,
    /// The client or the model failed.
    Failed,
}
