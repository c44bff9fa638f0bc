//! A part of a message: words, or a tool call with its result.

use std::borrow::Cow;

use jiff::Timestamp;

use super::super::client::{Client, ToolRole};
use super::super::event_builder::{CommandEnding, OpenCall, Transcript};
use super::super::kept_text::{self, LINE, SHORT, Sides, WORDS};
use super::super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::super::{patch, tool_input};
use super::{SessionMessage, is_new};
use crate::event::{Act, EditKind, Ended, Phase, PlanItem, Speaker};

/// A part of a message.
#[derive(Default)]
struct MessagePart<'a> {
    kind: Cow<'a, str>,
    text: Option<Raw<'a>>,
    is_synthetic: bool,
    is_of_gate: bool,
    end: Option<i64>,
    tool: Cow<'a, str>,
    call: Cow<'a, str>,
    state: ToolState<'a>,
}

/// The state of a tool call.
#[derive(Default)]
struct ToolState<'a> {
    status: Cow<'a, str>,
    input: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    end: Option<i64>,
    exit: Option<i64>,
    shown: Option<Raw<'a>>,
    diff: Option<Raw<'a>>,
    file: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
}

impl<'a> MessagePart<'a> {
    fn read(data: &'a [u8]) -> Result<Self, BrokenJson> {
        let mut part = Self::default();
        let mut walk = JsonCursor::new(data);
        walk.object(|walk, key| {
            match key {
                b"type" => part.kind = walk.raw()?.text_or_empty(),
                b"text" => part.text = Some(walk.raw()?),
                b"synthetic" | b"ignored" => part.is_synthetic |= walk.raw()?.is_true(),
                b"metadata" => walk.object(|walk, key| {
                    if key == b"gate" {
                        part.is_of_gate = walk.raw()?.is_set();
                    }
                    Ok(())
                })?,
                b"time" => part.end = end(walk)?,
                b"tool" => part.tool = walk.raw()?.text_or_empty(),
                b"callID" => part.call = walk.raw()?.text_or_empty(),
                b"state" => part.state.read(walk)?,
                _ => {}
            }
            Ok(())
        })?;
        if walk.is_at_end() { Ok(part) } else { Err(BrokenJson) }
    }
}

fn end(walk: &mut JsonCursor<'_>) -> Result<Option<i64>, BrokenJson> {
    let mut found = None;
    walk.object(|walk, key| {
        if key == b"end" {
            found = walk.raw()?.number();
        }
        Ok(())
    })?;
    Ok(found)
}

impl<'a> ToolState<'a> {
    fn read(&mut self, walk: &mut JsonCursor<'a>) -> Result<(), BrokenJson> {
        walk.object(|walk, key| {
            match key {
                b"status" => self.status = walk.raw()?.text_or_empty(),
                b"input" => self.input = Some(walk.raw()?),
                b"output" => self.output = Some(walk.raw()?),
                b"error" => self.error = Some(walk.raw()?),
                b"time" => self.end = end(walk)?,
                b"metadata" => walk.object(|walk, key| {
                    match key {
                        b"exit" => self.exit = walk.raw()?.number(),
                        b"output" => self.shown = Some(walk.raw()?),
                        b"diff" => self.diff = Some(walk.raw()?),
                        b"filepath" => self.file = walk.text()?,
                        b"sessionId" => self.session = walk.text()?,
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })
    }
}

pub(super) fn part_of(
    id: &str,
    data: &[u8],
    message: &SessionMessage<'_>,
    created: Option<Timestamp>,
    log: &mut Transcript<'_>,
) -> Result<(), BrokenJson> {
    let part = MessagePart::read(data)?;
    let at = |end: Option<i64>| end.and_then(|end| Timestamp::from_millisecond(end).ok()).or(created);
    let words = part.text.map(|text| kept_text::start_of(text, WORDS)).unwrap_or_default();
    match &*part.kind {
        "text" if message.is_user && is_new(id, log) => {
            log.line(id, created);
            let from = match (part.is_of_gate, part.is_synthetic) {
                (true, _) => Speaker::Hook,
                (false, true) => Speaker::Client,
                (false, false) => Speaker::Person,
            };
            log.prompt(from, words);
        }
        // A summary of what was before is not a word of the agent to anybody.
        "text" if !message.is_user && !message.is_summary && (part.end.is_some() || message.is_done()) => {
            log.line(id, at(part.end));
            if is_new(id, log) {
                log.said(words.clone());
            }
            log.closes(message.id, &words);
        }
        "compaction" if is_new(id, log) => {
            log.line(id, created);
            log.session(Phase::Compacted);
        }
        "tool" if matches!(&*part.state.status, "completed" | "error") && is_new(id, log) => {
            log.line(id, at(part.state.end));
            tool(&part, log)?;
        }
        "text" | "tool" | "compaction" => {}
        kind if is_new(id, log) => log.passed_over(kind),
        _ => {}
    }
    Ok(())
}

/// The arguments of a call that matter.
#[derive(Default)]
struct OpencodeInput<'a> {
    what: Option<Raw<'a>>,
    file: Option<Raw<'a>>,
    dir: Option<Cow<'a, str>>,
    old: Option<Raw<'a>>,
    new: Option<Raw<'a>>,
    patch: Option<Raw<'a>>,
    plan: Vec<PlanItem>,
}

impl<'a> OpencodeInput<'a> {
    fn read(raw: Option<Raw<'a>>) -> Result<Self, BrokenJson> {
        let mut input = Self::default();
        let Some(raw) = raw else { return Ok(input) };
        raw.walk().object(|walk, key| {
            match key {
                b"command" | b"pattern" | b"query" | b"url" | b"prompt" if input.what.is_none() => {
                    input.what = Some(walk.raw()?);
                }
                b"filePath" | b"path" => input.file = Some(walk.raw()?),
                b"workdir" => input.dir = walk.text()?,
                b"oldString" => input.old = Some(walk.raw()?),
                b"newString" | b"content" => input.new = Some(walk.raw()?),
                b"patchText" => input.patch = Some(walk.raw()?),
                b"questions" => input.what = input.what.or(tool_input::question(walk)?),
                b"todos" => input.plan = tool_input::plan(walk, b"content")?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(input)
    }
}

fn tool(part: &MessagePart<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let state = &part.state;
    let role = Client::Opencode.role(&part.tool);
    let input = OpencodeInput::read(state.input)?;
    let most = if role == ToolRole::Shell { LINE } else { WORDS };
    let what = input.what.or(input.file).map(|what| kept_text::start_of(what, most)).unwrap_or_default();
    let id = &*part.call;
    let mut call = OpenCall::new(&part.tool, role, what);
    call.dir = log.dir(input.dir.as_deref());
    let error = state.error.map(|error| kept_text::start_of(error, SHORT)).unwrap_or_default();
    let failed = state.status == "error";
    let rejected = failed && (error.contains("rejected permission") || error.contains("prevents you from using"));
    match role {
        ToolRole::Plan => log.planned(id, input.plan),
        ToolRole::Ask => log.act(Some(id), Act::Asked(call.what)),
        _ if rejected => log.denied(id, call, &error),
        ToolRole::Shell if failed && error.contains("abort") => {
            log.command(id, call, CommandEnding { ended: None, tail: String::new(), background: false });
        }
        // A command that fails is not an error of the tool: it was not run.
        ToolRole::Shell if failed => log.denied(id, call, &error),
        ToolRole::Shell => {
            let ended = state.exit.and_then(|code| i32::try_from(code).ok()).map(Ended::Exited);
            let tail = state.shown.or(state.output).map(kept_text::tail).unwrap_or_default();
            log.command(id, call, CommandEnding { ended, tail, background: false });
        }
        ToolRole::Edit if !failed => {
            let edits = match (input.patch, state.file.clone().or(input.file.and_then(Raw::text))) {
                (Some(patch), _) => patch::edits(&patch.text_or_empty(), log),
                (None, Some(file)) => {
                    let side = |raw: Option<Raw<'_>>| {
                        raw.map(|raw| kept_text::start_of(raw, kept_text::SIDE)).unwrap_or_default()
                    };
                    let sides = match state.diff {
                        Some(diff) => Sides::of_diff(diff.start_of_text(64 * 1024).0.lines()),
                        None => Sides { removed: side(input.old), added: side(input.new) },
                    };
                    vec![log.edit(&file, EditKind::Written, sides)]
                }
                (None, None) => Vec::new(),
            };
            log.edited(id, edits);
        }
        ToolRole::Agent => {
            if let Some(agent) = &state.session {
                log.act(Some(id), Act::SubagentEnded(agent.to_string()));
            }
        }
        _ => log.used(id, call, failed),
    }
    Ok(())
}
