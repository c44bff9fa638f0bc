//! The events of client hooks, in one vocabulary for all clients.

use std::path::PathBuf;

use crate::event::{Ended, FileEdit, Phase, PlanItem, Speaker, StopKind};

/// One hook call, parsed.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookEvent {
    /// The client's id of the session.
    pub session: String,
    /// The directory of the agent.
    pub dir: Option<PathBuf>,
    /// The log that the client keeps of the session.
    pub log: Option<PathBuf>,
    /// The sub-agent that acts, or `None` for the agent of the session.
    pub actor: Option<String>,
    /// The type of that sub-agent, if the client names it.
    pub actor_type: Option<String>,
    /// `true` if the client is in plan mode, so that the agent may change nothing; `None` if the call does not say.
    pub planning: Option<bool>,
    /// The event.
    pub what: HookEventKind,
}

/// The events that matter to gate.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HookEventKind {
    /// An event that is neither recorded nor judged.
    Nothing,
    /// The session began, continued, was compacted or ended.
    Session(Phase),
    /// A text was written to the agent.
    Prompt {
        /// The sender, as far as the client shows it: in some clients, feedback of gate looks like a person's words.
        from: Speaker,
        text: String,
    },
    /// A tool is about to run.
    Before(StartedTool),
    /// A tool ran.
    After(StartedTool, ReportedEnding),
    /// A tool call failed or was refused before it did anything.
    Failed(StartedTool, String),
    /// A command that was left in the background ended.
    BackgroundEnded {
        /// Its tool call.
        call: String,
        /// The end of its process.
        ended: Option<Ended>,
        output: BackgroundOutput,
    },
    /// A tool of the agent began or ended the plan mode.
    PlanMode(bool),
    /// A sub-agent started.
    SubagentStarted(String),
    /// A sub-agent ended.
    SubagentEnded(String),
    /// The agent ended its turn.
    Stop(Stopping),
}

/// The output of a command in the background.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BackgroundOutput {
    /// The output is in this file.
    File(PathBuf),
    /// The output, as far as the client shows it.
    Shown(String),
    /// The output is unknown.
    Unknown,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StartedTool {
    /// The client's id of the call, or one made of its content if the client gives none.
    pub id: String,
    /// The client's name of the tool.
    pub name: String,
    /// The action of the tool.
    pub does: ToolAction,
}

/// The actions of tools.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ToolAction {
    /// The tool only reads.
    Reads,
    /// The tool runs a command line.
    Shell {
        line: String,
        /// The directory that it starts in, if the call names one.
        dir: Option<PathBuf>,
        /// `true` if the agent requested that it run in the background.
        background: bool,
    },
    /// The tool changes files.
    Edits(Vec<FileEdit>),
    /// The tool writes down a plan.
    Plans(Vec<PlanItem>),
    /// The tool asks the person a question.
    Asks(String),
    /// Any other action, on this target.
    Other(String),
}

/// The end of a tool call.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReportedEnding {
    /// The status of a command, or `None` if the hook does not report it.
    pub ended: Option<Ended>,
    /// `true` if the hook never reports it, but the client's log does.
    pub in_log: bool,
    /// `true` if the command continues in the background.
    pub background: bool,
    /// The client's name of the command from then on, if that is not the call.
    pub left_as: Option<String>,
    pub output: String,
    /// The file with all of the output, if `output` is only its beginning.
    pub whole: Option<PathBuf>,
    /// The duration in milliseconds, if the client reports it.
    pub millis: u64,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stopping {
    /// The way in which the turn ended.
    pub how: StopKind,
    /// The agent's final message.
    pub words: String,
    /// The number of commands that are still running in the background.
    pub running: u32,
    /// Their lines, as far as the client reports them.
    pub commands: Vec<String>,
    /// The client's id of the final message, if stops with the same message can be reported twice.
    pub message: Option<String>,
}
