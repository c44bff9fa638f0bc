//! Claude Code: `projects/<directory>/<session>.jsonl`, and next to it `<session>/subagents/agent-<id>.jsonl`.
//!
//! One message of the model is several lines, one for each block, with the same `message.id`. A resumed session is
//! appended to; a fork is a new file that begins with a copy of the old lines under the new session's id, their own ids
//! and times unchanged. A prompt is a `user` line that is neither the result of a tool nor marked as the client's.

mod notice;
mod result;

use std::borrow::Cow;

use jiff::Timestamp;

use self::notice::{NOTIFICATION, attachment, notification};
use self::result::Given;
use super::client::{Client, ToolRole};
use super::event_builder::{INLINE, OpenCall, Transcript, time};
use super::kept_text::{self, LINE, SHORT, Sides, WORDS};
use super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::tool_input;

use crate::event::agent_work::{Act, EditKind, Phase, Speaker, StopKind};

/// The fields of a line.
#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "so the client writes them")]
struct ClaudeFields<'a> {
    kind: Cow<'a, str>,
    subtype: Cow<'a, str>,
    uuid: Cow<'a, str>,
    timestamp: Cow<'a, str>,
    cwd: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
    agent: Option<Cow<'a, str>>,
    is_sidechain: bool,
    is_meta: bool,
    is_summary: bool,
    is_api_error: bool,
    is_denied: bool,
    is_forked: bool,
    /// The client says that it, and not a person, wrote the prompt.
    is_of_client: bool,
    message: Cow<'a, str>,
    stop_reason: Option<Cow<'a, str>>,
    content: MessageContent<'a>,
    given: Given<'a>,
    attachment: Option<Raw<'a>>,
}

/// The content of a message: a line may hold megabytes of it, which are skipped once.
#[derive(Default)]
enum MessageContent<'a> {
    #[default]
    Nothing,
    Text(Raw<'a>),
    Blocks(Vec<Block<'a>>),
}

impl<'a> MessageContent<'a> {
    fn read(walk: &mut JsonCursor<'a>) -> Result<Self, BrokenJson> {
        let mut blocks = Vec::new();
        if walk.is_at_text()? {
            return Ok(Self::Text(walk.raw()?));
        }
        walk.array(|walk| {
            let mut block = Block::default();
            block.read(walk)?;
            blocks.push(block);
            Ok(())
        })?;
        Ok(Self::Blocks(blocks))
    }
}

impl<'a> ClaudeFields<'a> {
    fn read(line: &'a [u8]) -> Result<Self, BrokenJson> {
        let mut fields = Self::default();
        let mut walk = JsonCursor::new(line);
        walk.object(|walk, key| {
            match key {
                b"type" => fields.kind = walk.raw()?.text_or_empty(),
                b"subtype" => fields.subtype = walk.raw()?.text_or_empty(),
                b"uuid" => fields.uuid = walk.raw()?.text_or_empty(),
                b"timestamp" => fields.timestamp = walk.raw()?.text_or_empty(),
                b"cwd" => fields.cwd = walk.text()?,
                b"sessionId" => fields.session = walk.text()?,
                b"agentId" => fields.agent = walk.text()?,
                b"isSidechain" => fields.is_sidechain = walk.raw()?.is_true(),
                b"isMeta" => fields.is_meta = walk.raw()?.is_true(),
                b"isCompactSummary" => fields.is_summary = walk.raw()?.is_true(),
                b"isApiErrorMessage" => fields.is_api_error = walk.raw()?.is_true(),
                b"toolDenialKind" => fields.is_denied = walk.raw()?.is_set(),
                b"forkedFrom" => fields.is_forked = walk.raw()?.is_set(),
                b"promptSource" => fields.is_of_client |= walk.raw()?.bytes() == b"\"system\"",
                b"turnOrigin" => fields.is_of_client |= walk.raw()?.bytes() == b"\"task_notification\"",
                b"origin" => walk.object(|walk, key| {
                    if key == b"kind" {
                        let kind = walk.raw()?;
                        fields.is_of_client |=
                            kind.is_text() && kind.bytes() != b"\"human\"" && kind.bytes() != b"\"user\"";
                    }
                    Ok(())
                })?,
                b"message" => walk.object(|walk, key| {
                    match key {
                        b"id" => fields.message = walk.raw()?.text_or_empty(),
                        b"stop_reason" => fields.stop_reason = walk.text()?,
                        b"content" => fields.content = MessageContent::read(walk)?,
                        _ => {}
                    }
                    Ok(())
                })?,
                b"content" => fields.content = MessageContent::read(walk)?,
                b"toolUseResult" => fields.given.read(walk)?,
                b"attachment" => fields.attachment = Some(walk.raw()?),
                _ => {}
            }
            Ok(())
        })?;
        if walk.is_at_end() { Ok(fields) } else { Err(BrokenJson) }
    }
}

/// Reads one line.
pub(super) fn line(line: &[u8], log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let fields = ClaudeFields::read(line)?;
    let at = time(&fields.timestamp);
    log.line(&fields.uuid, at);
    place(&fields, at, log);
    match &*fields.kind {
        "assistant" => assistant(&fields, log)?,
        "user" => user(&fields, log)?,
        "system" => match &*fields.subtype {
            "compact_boundary" => {
                log.closed();
                log.session(Phase::Compacted);
            }
            "stop_hook_summary" => log.closed(),
            _ => {}
        },
        "attachment" => attachment(&fields, log)?,
        kind => log.passed_over(kind),
    }
    Ok(())
}

/// Records the session and the directory of the line, and marks a copy.
fn place(fields: &ClaudeFields<'_>, at: Option<Timestamp>, log: &mut Transcript<'_>) {
    if log.memory.session.is_none() {
        log.memory.session = fields.session.as_deref().map(str::to_owned);
    }
    // Older versions told of sub-agents in between, without a name.
    if fields.is_sidechain {
        let agent = fields.agent.as_deref().unwrap_or(INLINE);
        if log.memory.actor.as_deref() != Some(agent) {
            log.closed();
            if log.memory.began.is_none() {
                log.act(None, Act::SubagentStarted(agent.to_owned()));
            }
            log.memory.actor = Some(agent.to_owned());
        }
    } else if !fields.uuid.is_empty() && log.memory.actor.is_some() {
        log.closed();
        log.memory.actor = None;
    }
    if let Some(cwd) = &fields.cwd {
        log.enter(cwd);
    }
    let Some(at) = at else { return };
    // The client notes the first prompt before it writes anything else; what is older came from another file.
    let opened = *log.memory.opened.get_or_insert(at);
    if fields.uuid.is_empty() {
        return;
    }
    let older = at.duration_since(opened) < jiff::SignedDuration::from_secs(-1);
    let copied = fields.is_forked || older && (log.memory.copied || !log.memory.is_opened);
    if copied && !log.memory.is_opened {
        log.at = opened;
        log.session(Phase::Forked);
        log.at = at;
    } else if !copied && !log.memory.is_opened && log.memory.actor.is_none() {
        log.session(Phase::Started);
    }
    log.memory.is_opened = true;
    log.memory.copied = copied;
}

fn assistant(fields: &ClaudeFields<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let message = if fields.message.is_empty() { &fields.uuid } else { &fields.message };
    log.speaks(message);
    let mut words = String::new();
    let blocks: &[Block<'_>] = match &fields.content {
        MessageContent::Nothing => return Ok(()),
        MessageContent::Text(text) => {
            words = kept_text::start_of(*text, WORDS);
            log.said(words.clone());
            &[]
        }
        MessageContent::Blocks(blocks) => blocks,
    };
    for block in blocks {
        match &*block.kind {
            "text" => {
                words = block.text.map(|text| kept_text::start_of(text, WORDS)).unwrap_or_default();
                log.said(words.clone());
            }
            "tool_use" => tool_use(block, log)?,
            kind => log.passed_over(kind),
        }
    }
    // The client puts it there where a session goes on without an answer of the model.
    if words == NO_ANSWER {
        return Ok(());
    }
    let uses = blocks.iter().any(|block| block.kind == "tool_use");
    if fields.is_api_error {
        log.stopped(StopKind::Failed, words);
        return Ok(());
    }
    match fields.stop_reason.as_deref() {
        Some("end_turn" | "stop_sequence" | "max_tokens" | "refusal") => log.closes(message, &words),
        // Older versions write a line before they know how the message ends.
        None if !words.is_empty() && !uses => log.may_close(message, &words),
        None if !uses => {}
        _ => log.goes_on(),
    }
    Ok(())
}

const NO_ANSWER: &str = "No response requested.";

/// A block of a message: text, the use of a tool, or its result.
#[derive(Default)]
struct Block<'a> {
    kind: Cow<'a, str>,
    text: Option<Raw<'a>>,
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    input: Option<Raw<'a>>,
    tool_use_id: Cow<'a, str>,
    content: Option<Raw<'a>>,
    is_error: bool,
}

impl<'a> Block<'a> {
    fn read(&mut self, walk: &mut JsonCursor<'a>) -> Result<(), BrokenJson> {
        walk.object(|walk, key| {
            match key {
                b"type" => self.kind = walk.raw()?.text_or_empty(),
                b"text" => self.text = Some(walk.raw()?),
                b"id" => self.id = walk.raw()?.text_or_empty(),
                b"name" => self.name = walk.raw()?.text_or_empty(),
                b"input" => self.input = Some(walk.raw()?),
                b"tool_use_id" => self.tool_use_id = walk.raw()?.text_or_empty(),
                b"content" => self.content = Some(walk.raw()?),
                b"is_error" => self.is_error = walk.raw()?.is_true(),
                _ => {}
            }
            Ok(())
        })
    }
}

fn tool_use(block: &Block<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    log.goes_on();
    let role = Client::Claude.role(&block.name);
    let mut what = None;
    let mut file = None;
    let (mut old, mut new) = (None, None);
    let mut items = Vec::new();
    if let Some(input) = block.input {
        input.walk().object(|walk, key| {
            match key {
                b"command" | b"pattern" | b"url" | b"query" | b"prompt" | b"plan" | b"skill" => {
                    what = Some(walk.raw()?);
                }
                b"path" if what.is_none() => what = Some(walk.raw()?),
                b"file_path" | b"notebook_path" => file = Some(walk.raw()?),
                b"old_string" => old = Some(walk.raw()?),
                b"new_string" | b"new_source" | b"content" => new = Some(walk.raw()?),
                b"todos" => items = tool_input::plan(walk, b"content")?,
                b"questions" => what = what.or(tool_input::question(walk)?),
                b"task_id" | b"bash_id" | b"shell_id" => what = Some(walk.raw()?),
                _ => {}
            }
            Ok(())
        })?;
    }
    let most = if role == ToolRole::Shell {
        LINE
    } else if role == ToolRole::Ask {
        WORDS
    } else {
        SHORT
    };
    let what = what.or(file).map(|what| kept_text::start_of(what, most)).unwrap_or_default();
    match role {
        ToolRole::Plan => log.planned(&block.id, items),
        ToolRole::Ask => log.act(Some(&block.id), Act::Asked(what)),
        _ => {
            let mut call = OpenCall::new(&block.name, role, what);
            if role == ToolRole::Shell {
                call.dir = log.dir(None);
            } else if let Some(file) = file.and_then(Raw::text).filter(|_| role == ToolRole::Edit) {
                // What the result says replaces it; a result of an old version says less.
                let side =
                    |raw: Option<Raw<'_>>| raw.map(|raw| kept_text::start_of(raw, kept_text::SIDE)).unwrap_or_default();
                let sides = Sides { removed: side(old), added: side(new) };
                call.edits = vec![log.edit(&file, EditKind::Written, sides)];
            }
            log.call(&block.id, call);
        }
    }
    Ok(())
}

fn user(fields: &ClaudeFields<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let blocks = match &fields.content {
        MessageContent::Nothing => return Ok(()),
        MessageContent::Text(text) => {
            prompt(*text, fields, log);
            return Ok(());
        }
        MessageContent::Blocks(blocks) => blocks,
    };
    for block in blocks {
        match &*block.kind {
            "tool_result" => {
                log.goes_on();
                result::result(block, fields, log)?;
            }
            "text" => {
                if let Some(text) = block.text {
                    prompt(text, fields, log);
                }
            }
            kind => log.passed_over(kind),
        }
    }
    Ok(())
}

/// The words before the quoted message of a hook that keeps the agent from stopping.
const FEEDBACK: &str = "Stop hook feedback:";
/// The text that the client writes when a person interrupts the turn.
const INTERRUPTED: &str = "[Request interrupted by user";

fn prompt(raw: Raw<'_>, fields: &ClaudeFields<'_>, log: &mut Transcript<'_>) {
    let text = kept_text::start_of(raw, WORDS);
    if text.starts_with(INTERRUPTED) {
        log.goes_on();
        log.stopped(StopKind::Aborted, String::new());
        return;
    }
    log.closed();
    if text.starts_with(NOTIFICATION) {
        notification(&text, log);
    }
    let from = speaker(&text, fields);
    // What a person types begins a turn: results of calls before it were lost.
    if from == Speaker::Person && !fields.is_sidechain && matches!(fields.content, MessageContent::Text(_)) {
        log.give_up();
    }
    let text = if from == Speaker::Hook { text[FEEDBACK.len()..].trim_start().to_owned() } else { text };
    log.prompt(from, text);
}

fn speaker(text: &str, fields: &ClaudeFields<'_>) -> Speaker {
    const OF_CLIENT: [&str; 6] =
        ["<command-name>", "<command-message>", "<local-command-", "<bash-", NOTIFICATION, "<system-reminder>"];
    if fields.is_meta && text.starts_with(FEEDBACK) {
        Speaker::Hook
    } else if fields.is_meta
        || fields.is_summary
        || fields.is_of_client
        || OF_CLIENT.iter().any(|tag| text.starts_with(tag))
    {
        Speaker::Client
    } else {
        Speaker::Person
    }
}
