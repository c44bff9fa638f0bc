//! The common part of all readers: it makes the events, and keeps the facts of earlier lines that a later line needs.

mod turn;
mod unread;

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub(super) use self::turn::Closing;
use super::client::{Client, ToolRole};
use super::kept_text;
use super::lazy_json::BrokenJson;
use super::repository_paths::{self, Roots};
use crate::digest::hex_digest;
use crate::event::{
    Act, AgentWork, CommandEnd, Denial, Ended, Event, EventKind, FileEdit, Grade, Origin, Phase, PlanItem, Prompt,
    ShellCommand, Speaker, ToolUse,
};
use crate::repo_path::RepoPath;

/// The largest number of calls without a result that are remembered. Clients run a handful at once; more of them are
/// lost ones.
const MAX_PENDING: usize = 256;

/// The sub-agents that a client tells of in the log of the session, without a name.
pub(super) const INLINE: &str = "sidechain";

/// The numbers of records in a session so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SessionCounts {
    /// Prompts by a person.
    pub prompts: u64,
    /// Commands that were started.
    pub commands: u64,
    /// Tool calls that changed files.
    pub edits: u64,
    /// Turns that ended.
    pub stops: u64,
    /// Lines that cannot be read.
    pub broken: u64,
    /// The first of them.
    pub first_broken: Option<u64>,
    /// What is not understood, by kind.
    #[serde(default)]
    pub unknown: BTreeMap<String, u64>,
}

/// The state of a session after some of its lines. It is kept between two readings of a growing log.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TranscriptState {
    pub(super) session: Option<String>,
    pub(super) actor: Option<String>,
    /// The directory it began in.
    pub(super) home: Option<String>,
    /// The directory it is in.
    pub(super) dir: Option<String>,
    pub(super) began: Option<Timestamp>,
    pub(super) last: Option<Timestamp>,
    pub(super) counts: SessionCounts,
    /// The lines that were read.
    #[serde(default)]
    pub(super) lines: u64,
    /// Calls whose result has not been read, by their id.
    pub(super) pending: BTreeMap<String, OpenCall>,
    /// Commands in the background: the client's id of the process, and the call that started it.
    pub(super) background: BTreeMap<String, String>,
    /// The last message, if the agent may have ended its turn with it.
    pub(super) closing: Option<Closing>,
    /// The time of the first line, and `is_opened`: `true` if it is known to be an act of this session's own.
    pub(super) opened: Option<Timestamp>,
    pub(super) is_opened: bool,
    /// The lines that follow were copied from another session.
    pub(super) copied: bool,
    /// The ids of the last recorded acts, for logs that repeat themselves.
    pub(super) told: Vec<String>,
    /// The marks that a reader keeps for itself.
    pub(super) marks: BTreeMap<String, String>,
}

/// A tool call without its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct OpenCall {
    pub(super) tool: String,
    pub(super) role: ToolRole,
    /// The command line, or the object of the tool.
    pub(super) what: String,
    pub(super) dir: Option<RepoPath>,
    pub(super) edits: Vec<FileEdit>,
    /// The calls of a script.
    #[serde(default)]
    pub(super) scripted: Vec<ScriptedCall>,
    number: u64,
}

impl OpenCall {
    pub(super) fn new(tool: &str, role: ToolRole, what: String) -> Self {
        Self { tool: kept_text::start(tool, kept_text::SHORT), role, what, ..Self::default() }
    }

    /// Returns `true` if it runs a command line.
    pub(super) fn is_command(&self) -> bool {
        self.role == ToolRole::Shell
    }
}

/// A call that a script makes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum ScriptedCall {
    /// A command line, and where it runs.
    Command {
        line: String,
        dir: Option<String>,
    },
    Patch(String),
    /// A command that the script puts together.
    ComputedCommand,
    /// The same of a patch.
    ComputedPatch,
    /// Another tool.
    Other(String),
}

/// The end of a command, as it was found.
pub(super) struct CommandEnding {
    pub(super) ended: Option<Ended>,
    pub(super) tail: String,
    pub(super) background: bool,
}

/// Makes the events of one log.
pub(super) struct Transcript<'a> {
    pub(super) client: Client,
    pub(super) memory: TranscriptState,
    roots: &'a Roots,
    own: Roots,
    sink: &'a mut dyn FnMut(Event),
    /// The time of the act of this line.
    pub(super) at: Timestamp,
    /// The key of this line: the client's id, if it has one. A copy of the line has the same.
    key: String,
    number: u32,
}

impl<'a> Transcript<'a> {
    pub(super) fn new(
        client: Client,
        memory: TranscriptState,
        roots: &'a Roots,
        sink: &'a mut dyn FnMut(Event),
    ) -> Self {
        let at = memory.last.unwrap_or_default();
        let own = Roots::new(memory.home.iter().map(Into::into));
        Self { client, memory, roots, own, sink, at, key: String::new(), number: 0 }
    }

    /// Begins a line.
    pub(super) fn line(&mut self, key: &str, at: Option<Timestamp>) {
        key.clone_into(&mut self.key);
        self.number = 0;
        if let Some(at) = at {
            self.at = at;
        }
    }

    /// Sets the session's directory from now on.
    pub(super) fn enter(&mut self, dir: &str) {
        if self.memory.home.is_none() {
            self.memory.home = Some(dir.to_owned());
            self.own = Roots::new([dir.into()]);
        }
        if self.memory.dir.as_deref() != Some(dir) {
            self.memory.dir = Some(dir.to_owned());
        }
    }

    fn roots(&self) -> &Roots {
        if self.roots.is_of_the_log() { &self.own } else { self.roots }
    }

    /// Returns a directory, relative to its working tree, or `None` for that of the session.
    pub(super) fn dir(&self, dir: Option<&str>) -> Option<RepoPath> {
        let current = self.memory.dir.as_deref();
        match (dir, current) {
            (Some(dir), Some(current)) if !repository_paths::is_absolute(dir) => {
                self.roots().dir(&format!("{current}/{dir}"))
            }
            (Some(dir), _) => self.roots().dir(dir),
            (None, current) => self.roots().dir(current?),
        }
    }

    /// Returns a file, relative to its working tree.
    pub(super) fn file(&self, file: &str) -> RepoPath {
        self.roots().file(self.memory.dir.as_deref(), file)
    }

    /// Makes an edit of a file.
    pub(super) fn edit(
        &self,
        file: &str,
        how: crate::event::agent_work::EditKind,
        sides: kept_text::Sides,
    ) -> FileEdit {
        FileEdit { path: self.file(file), how, removed: sides.removed, added: sides.added }
    }

    /// Remembers a call until its result comes.
    pub(super) fn call(&mut self, id: &str, mut call: OpenCall) {
        let pending = &mut self.memory.pending;
        call.number = pending.values().map(|call| call.number + 1).max().unwrap_or_default();
        if pending.len() >= MAX_PENDING
            && let Some(oldest) = pending.iter().min_by_key(|(_, call)| call.number).map(|(id, _)| id.clone())
        {
            pending.remove(&oldest);
        }
        pending.insert(id.to_owned(), call);
    }

    /// Returns the call that a result belongs to.
    pub(super) fn take(&mut self, id: &str) -> Option<OpenCall> {
        self.memory.pending.remove(id)
    }

    /// Makes an event of the line.
    pub(super) fn act(&mut self, call: Option<&str>, act: Act) {
        let memory = &mut self.memory;
        if memory.copied {
            return;
        }
        let counts = &mut memory.counts;
        match &act {
            Act::Prompt(prompt) if prompt.from == Speaker::Person => counts.prompts += 1,
            Act::Command(_) => counts.commands += 1,
            Act::Edited(_) => counts.edits += 1,
            Act::Stopped(_) if memory.actor.as_deref() != Some(INLINE) => counts.stops += 1,
            _ => {}
        }
        memory.began = Some(memory.began.map_or(self.at, |began| began.min(self.at)));
        memory.last = Some(memory.last.map_or(self.at, |last| last.max(self.at)));
        let number = self.number.to_string();
        self.number += 1;
        let client = self.client.as_str();
        let digest = hex_digest(&[client.as_bytes(), self.key.as_bytes(), number.as_bytes()]);
        (self.sink)(Event {
            id: format!("{:012x}-{client}-{}", self.at.as_millisecond().max(0), &digest[..12]),
            at: self.at,
            session: memory.session.clone(),
            origin: Origin { by: client.to_owned(), grade: Grade::Transcribed },
            kind: EventKind::Work(Box::new(AgentWork {
                actor: memory.actor.clone(),
                call: call.map(str::to_owned),
                head: None,
                act,
            })),
        });
    }

    pub(super) fn session(&mut self, phase: Phase) {
        self.act(None, Act::Session(phase));
    }

    /// Records that somebody wrote; to a sub-agent, the agent above it and not a person.
    pub(super) fn prompt(&mut self, from: Speaker, text: String) {
        let from = if from == Speaker::Person && self.memory.actor.is_some() { Speaker::Agent } else { from };
        if !text.is_empty() {
            self.act(None, Act::Prompt(Prompt { from, text }));
        }
    }

    pub(super) fn said(&mut self, text: String) {
        if !text.is_empty() {
            self.act(None, Act::Said(text));
        }
    }

    pub(super) fn planned(&mut self, id: &str, items: Vec<PlanItem>) {
        self.act(Some(id), Act::Planned(items));
    }

    /// Records a command that has a result; or none, and is not waited for any longer.
    pub(super) fn command(&mut self, id: &str, call: OpenCall, outcome: CommandEnding) {
        self.act(
            Some(id),
            Act::Command(Box::new(ShellCommand {
                line: call.what,
                dir: call.dir,
                ended: outcome.ended,
                tail: outcome.tail,
                background: outcome.background,
                ..ShellCommand::default()
            })),
        );
    }

    /// Records that a command went to the background under a name.
    pub(super) fn left_running(&mut self, process: &str, id: &str) {
        let background = &mut self.memory.background;
        if background.len() < MAX_PENDING {
            background.insert(process.to_owned(), id.to_owned());
        }
    }

    /// Records the end of a command in the background. `id` is known to be its call, or found by the name of the
    /// process; recorded once.
    pub(super) fn command_ended(&mut self, process: &str, ended: Option<Ended>, tail: String) {
        if let Some(id) = self.memory.background.remove(process) {
            self.act(Some(&id), Act::CommandEnded(CommandEnd { ended, tail }));
        }
    }

    pub(super) fn edited(&mut self, id: &str, edits: Vec<FileEdit>) {
        if !edits.is_empty() {
            self.act(Some(id), Act::Edited(edits));
        }
    }

    /// Records a tool that ran no command and changed no file; or one that should have, and failed before.
    pub(super) fn used(&mut self, id: &str, call: OpenCall, failed: bool) {
        let target = kept_text::start(&call.what, kept_text::SHORT);
        let reads = matches!(call.role, ToolRole::Read | ToolRole::ShellOutput);
        if !self.client.has(&call.tool) {
            self.unknown(&format!("tool {}", call.tool));
        }
        self.act(Some(id), Act::Used(ToolUse { tool: call.tool, reads, target, failed }));
    }

    pub(super) fn denied(&mut self, id: &str, call: OpenCall, reason: &str) {
        let reason = kept_text::start(reason, kept_text::SHORT);
        self.act(Some(id), Act::Denied(Denial { tool: call.tool, what: call.what, reason }));
    }
}

/// Reads a time as clients write it: RFC 3339, or milliseconds since 1970.
pub(super) fn time(text: &str) -> Option<Timestamp> {
    text.parse().ok().or_else(|| Timestamp::from_millisecond(text.parse().ok()?).ok())
}

/// Reads one line of a client's log.
pub(super) type ReadLine = fn(&[u8], &mut Transcript<'_>) -> Result<(), BrokenJson>;
