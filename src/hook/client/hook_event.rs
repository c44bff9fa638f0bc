//! What a client tells through its hook, in one vocabulary for all of them.

use std::path::PathBuf;

use crate::event::Ended;
use crate::event::agent_work::{FileEdit, Phase, PlanItem, Speaker, StopKind};

/// One call of a hook, read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct HookEvent {
    /// The client's id of the session.
    pub session: String,
    /// Where the agent is at work.
    pub dir: Option<PathBuf>,
    /// The log that the client keeps of the session.
    pub log: Option<PathBuf>,
    /// The sub-agent that acts; `None`: the agent of the session.
    pub actor: Option<String>,
    /// Whether the client holds the agent to planning, so that it may change nothing; `None`: the call does not tell.
    pub planning: Option<bool>,
    /// What happened.
    pub what: HookEventKind,
}

/// What happened, as far as it matters here.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum HookEventKind {
    /// Nothing that is kept or judged.
    Nothing,
    /// The session began, went on, was shortened or ended.
    Session(Phase),
    /// Something was written to the agent.
    Prompt {
        /// By whom, as far as the client shows it: feedback of ours looks like a person's words in some of them.
        from: Speaker,
        /// What.
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
        /// How it ended.
        ended: Option<Ended>,
        /// What it printed.
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

/// What a command in the background printed.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum BackgroundOutput {
    /// It lies in this file.
    File(PathBuf),
    /// This, as far as the client shows it.
    Shown(String),
    /// The client does not say.
    Unknown,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StartedTool {
    /// The client's id of it, or one made of its content where the client gives none.
    pub id: String,
    /// The client's name of the tool.
    pub name: String,
    /// What the tool does.
    pub does: ToolAction,
}

/// What a tool does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum ToolAction {
    /// It only reads.
    Reads,
    /// It runs a command line.
    Shell {
        /// The line.
        line: String,
        /// The directory it starts in, where the call names one.
        dir: Option<PathBuf>,
        /// The agent asked for it to be left in the background.
        background: bool,
    },
    /// It changes files.
    Edits(Vec<FileEdit>),
    /// It writes down a plan.
    Plans(Vec<PlanItem>),
    /// It asks the person.
    Asks(String),
    /// Something else, on this.
    Other(String),
}

/// How a tool call ended.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReportedEnding {
    /// The status of a command; `None`: the hook does not say.
    pub ended: Option<Ended>,
    /// The hook never says, and the client's log does.
    pub in_log: bool,
    /// The command goes on in the background.
    pub background: bool,
    /// What the client calls it from then on, where that is not the call.
    pub left_as: Option<String>,
    /// What was printed.
    pub output: String,
    /// How long it took, in milliseconds, where the client says so.
    pub millis: u64,
}

/// The end of a turn.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stopping {
    /// How it came to end.
    pub how: StopKind,
    /// The agent's last words.
    pub words: String,
    /// How many commands still run in the background.
    pub running: u32,
    /// Their lines, as far as the client tells them.
    pub commands: Vec<String>,
    /// The client's name of what was said last, where stops of the same words can be told twice.
    pub message: Option<String>,
}
