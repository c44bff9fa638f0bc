//! GitHub Copilot CLI: `session-state/<session>/events.jsonl`.
//!
//! A list of events. A command's status is a number of its own. The objection of a hook to a stop comes back as a
//! message of the user; the end of the hook, just before, has the same words.

use std::borrow::Cow;

use super::client::{Client, ToolRole};
use super::event_builder::{CommandEnding, OpenCall, Transcript, time};
use super::kept_text::{self, LINE, SHORT, Sides, WORDS};
use super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::patch;
use crate::event::{Act, EditKind, Ended, Phase, PlanItem, Speaker, StopKind};

/// The fields of the events that are read.
#[derive(Default)]
struct Data<'a> {
    session: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    content: Option<Raw<'a>>,
    source: Option<Cow<'a, str>>,
    message: Option<Raw<'a>>,
    message_id: Cow<'a, str>,
    has_requests: bool,
    call: Cow<'a, str>,
    parent: Option<Cow<'a, str>>,
    tool: Cow<'a, str>,
    arguments: Option<Raw<'a>>,
    exit: Option<i64>,
    edits: Option<Raw<'a>>,
    succeeded: bool,
    result: Option<Raw<'a>>,
    details: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    code: Cow<'a, str>,
    hook: Cow<'a, str>,
    reason: Option<Raw<'a>>,
    blocks: bool,
}

/// Reads one line.
pub(super) fn line(line: &[u8], log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let (mut kind, mut id, mut stamp) = (Cow::default(), Cow::default(), Cow::default());
    let mut data = None;
    let mut walk = JsonCursor::new(line);
    walk.object(|walk, key| {
        match key {
            b"type" => kind = walk.raw()?.text_or_empty(),
            b"id" => id = walk.raw()?.text_or_empty(),
            b"timestamp" => stamp = walk.raw()?.text_or_empty(),
            b"data" => data = Some(walk.raw()?),
            _ => {}
        }
        Ok(())
    })?;
    if !walk.is_at_end() {
        return Err(BrokenJson);
    }
    log.line(&id, time(&stamp));
    let told = [
        "session.", "user.message", "assistant.message", "assistant.turn_end", "tool.execution_", "hook.end", "abort",
        "subagent.",
    ];
    if kind == "session.usage_record" || !told.iter().any(|start| kind.starts_with(start)) {
        log.passed_over(&kind);
        return Ok(());
    }
    let data = data.map(Data::read).transpose()?.unwrap_or_default();
    tell(&kind, &data, log)
}

impl<'a> Data<'a> {
    fn read(raw: Raw<'a>) -> Result<Self, BrokenJson> {
        let mut data = Self::default();
        raw.walk().object(|walk, key| {
            match key {
                b"sessionId" => data.session = walk.text()?,
                b"context" => walk.object(|walk, key| {
                    if key == b"cwd" {
                        data.cwd = walk.text()?;
                    }
                    Ok(())
                })?,
                b"content" => data.content = Some(walk.raw()?),
                b"source" => data.source = walk.text()?,
                b"message" => data.message = Some(walk.raw()?),
                b"messageId" => data.message_id = walk.raw()?.text_or_empty(),
                b"toolRequests" => data.has_requests = walk.raw()?.bytes().len() > 2,
                b"toolCallId" => data.call = walk.raw()?.text_or_empty(),
                b"parentToolCallId" => data.parent = walk.text()?,
                b"toolName" => data.tool = walk.raw()?.text_or_empty(),
                b"arguments" => data.arguments = Some(walk.raw()?),
                b"success" => data.succeeded = walk.raw()?.is_true(),
                b"shellExecution" => walk.object(|walk, key| {
                    if key == b"exitCode" {
                        data.exit = walk.raw()?.number();
                    }
                    Ok(())
                })?,
                b"fileEdits" => data.edits = Some(walk.raw()?),
                b"result" => walk.object(|walk, key| {
                    match key {
                        b"content" => data.result = Some(walk.raw()?),
                        b"detailedContent" => data.details = Some(walk.raw()?),
                        _ => {}
                    }
                    Ok(())
                })?,
                b"error" => walk.object(|walk, key| {
                    match key {
                        b"message" => data.error = Some(walk.raw()?),
                        b"code" => data.code = walk.raw()?.text_or_empty(),
                        _ => {}
                    }
                    Ok(())
                })?,
                b"hookType" => data.hook = walk.raw()?.text_or_empty(),
                b"output" => walk.object(|walk, key| {
                    match key {
                        b"decision" => data.blocks = walk.raw()?.bytes() == b"\"block\"",
                        b"reason" => data.reason = Some(walk.raw()?),
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(data)
    }
}

/// The mark under which the words of the last hook that blocked a stop are kept.
const FEEDBACK: &str = "feedback";

fn tell(kind: &str, data: &Data<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let words = |raw: Option<Raw<'_>>| raw.map(|raw| kept_text::start_of(raw, WORDS)).unwrap_or_default();
    if let Some(cwd) = &data.cwd {
        log.enter(cwd);
    }
    let actor = data.parent.as_deref().map(str::to_owned);
    if kind.starts_with("assistant.") || kind.starts_with("tool.") || kind.starts_with("user.") {
        log.memory.actor = actor;
    } else {
        log.memory.actor = None;
    }
    match kind {
        "session.start" => {
            log.memory.session = data.session.as_deref().map(str::to_owned);
            log.session(Phase::Started);
        }
        "session.resume" => log.session(Phase::Resumed),
        "session.shutdown" => {
            log.closed();
            log.session(Phase::Ended);
        }
        "session.compaction_complete" => log.session(Phase::Compacted),
        "session.error" => log.stopped(StopKind::Failed, words(data.message)),
        "abort" | "session.abort" => log.stopped(StopKind::Aborted, String::new()),
        "user.message" => {
            let text = words(data.content);
            log.closed();
            let from = if log.memory.marks.remove(FEEDBACK).is_some_and(|feedback| feedback == text) {
                Speaker::Hook
            } else if data.source.as_deref().is_some_and(|source| source != "user") {
                Speaker::Client
            } else {
                Speaker::Person
            };
            log.prompt(from, text);
        }
        "assistant.message" => {
            let text = words(data.content);
            log.said(text.clone());
            if data.has_requests { log.goes_on() } else { log.closes(&data.message_id, &text) }
        }
        "assistant.turn_end" => log.closed(),
        "hook.end" if data.hook == "agentStop" && data.blocks => {
            log.memory.marks.insert(FEEDBACK.to_owned(), words(data.reason));
        }
        "tool.execution_start" => started(data, log)?,
        "tool.execution_complete" => completed(data, log)?,
        "subagent.started" => log.act(Some(&data.call), Act::SubagentStarted(data.call.to_string())),
        "subagent.completed" | "subagent.failed" => {
            log.act(Some(&data.call), Act::SubagentEnded(data.call.to_string()));
        }
        _ => {}
    }
    Ok(())
}

fn started(data: &Data<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let role = Client::Copilot.role(&data.tool);
    let (mut what, mut file, mut patched) = (None, None, None);
    let (mut old, mut new, mut shell, mut todos) = (None, None, None, None);
    if let Some(arguments) = data.arguments {
        if arguments.is_text() {
            patched = Some(arguments);
        }
        arguments.walk().object(|walk, key| {
            match key {
                b"command" | b"pattern" | b"query" | b"url" | b"question" | b"prompt" | b"summary"
                    if what.is_none() =>
                {
                    what = Some(walk.raw()?);
                }
                b"path" => file = Some(walk.raw()?),
                b"old_str" => old = Some(walk.raw()?),
                b"new_str" | b"file_text" | b"insert_text" => new = Some(walk.raw()?),
                b"input" | b"patch" => patched = Some(walk.raw()?),
                b"shellId" | b"sessionId" => shell = Some(walk.raw()?),
                b"todos" => todos = Some(walk.raw()?),
                _ => {}
            }
            Ok(())
        })?;
    }
    let most = if role == ToolRole::Shell { LINE } else { WORDS };
    let id = &*data.call;
    match role {
        ToolRole::Plan => log.planned(id, plan(&todos.map(Raw::text_or_empty).unwrap_or_default())),
        ToolRole::Ask => {
            let what = what.map(|what| kept_text::start_of(what, most)).unwrap_or_default();
            log.act(Some(id), Act::Asked(what));
        }
        ToolRole::ShellOutput => {
            let shell = shell.map(|shell| shell.text_or_empty().into_owned()).unwrap_or_default();
            log.call(id, OpenCall::new(&data.tool, role, shell));
        }
        _ => {
            let what = if role == ToolRole::Edit { file.or(what) } else { what.or(file) };
            let mut call =
                OpenCall::new(&data.tool, role, what.map(|what| kept_text::start_of(what, most)).unwrap_or_default());
            call.dir = log.dir(None);
            if role == ToolRole::Edit {
                let side =
                    |raw: Option<Raw<'_>>| raw.map(|raw| kept_text::start_of(raw, kept_text::SIDE)).unwrap_or_default();
                call.edits = match (patched, file.and_then(Raw::text)) {
                    (Some(patched), _) => patch::edits(&patched.text_or_empty(), log),
                    (None, Some(file)) => {
                        let sides = Sides { removed: side(old), added: side(new) };
                        vec![log.edit(&file, EditKind::Written, sides)]
                    }
                    (None, None) => Vec::new(),
                };
            }
            log.call(id, call);
        }
    }
    Ok(())
}

/// Reads a plan, which is a list in Markdown.
fn plan(list: &str) -> Vec<PlanItem> {
    let item = |line: &str| {
        let line = line.trim_start().trim_start_matches(['-', '*']).trim_start();
        let (mark, text) = line.strip_prefix('[')?.split_once(']')?;
        Some(PlanItem { text: kept_text::start(text, SHORT), done: mark.eq_ignore_ascii_case("x") })
    };
    list.lines().filter_map(item).collect()
}

/// Returns the text that the client writes after the output of a command that ended: its shell, and its status.
fn trailer(shown: &str) -> Option<(&str, &str, i32)> {
    let at = shown.rfind("<shellId: ")?;
    let (shell, rest) = shown[at + 10..].split_once(' ')?;
    let code = kept_text::number_after(rest.strip_prefix("completed with exit code")?, "")?;
    Some((shown[..at].trim_end(), shell, code))
}

fn completed(data: &Data<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let id = &*data.call;
    let Some(mut call) = log.take(id) else { return Ok(()) };
    if !data.succeeded && (data.code == "denied" || data.code == "rejected") {
        let reason = data.error.map(Raw::text_or_empty).unwrap_or_default();
        let reason = reason.strip_prefix("Denied by preToolUse hook: ").unwrap_or(&reason);
        log.denied(id, call, reason);
        return Ok(());
    }
    match call.role {
        ToolRole::Shell => {
            let (shown, cut) =
                data.result.or(data.error).map(|raw| raw.end_of_text(4 * kept_text::TAIL)).unwrap_or_default();
            let ended = trailer(&shown);
            let code = data.exit.and_then(|code| i32::try_from(code).ok()).or(ended.map(|(_, _, code)| code));
            let shell =
                kept_text::between(&shown, "shellId: ", ">").or_else(|| kept_text::between(&shown, "shellId: ", " "));
            let background = code.is_none() && data.succeeded && shell.is_some();
            if let Some(shell) = shell.filter(|_| background) {
                log.left_running(shell.split(' ').next().unwrap_or(shell), id);
            }
            // A preview is not the end; of a command in the background the client says only that it was started.
            let is_preview = shown.starts_with("Output too large") || background;
            let output = if is_preview { "" } else { ended.map_or(&*shown, |(output, _, _)| output) };
            let outcome =
                CommandEnding { ended: code.map(Ended::Exited), tail: kept_text::tail_of(output, cut), background };
            log.command(id, call, outcome);
        }
        ToolRole::ShellOutput => {
            let shown = data.result.map(|raw| raw.end_of_text(4 * kept_text::TAIL).0).unwrap_or_default();
            if let Some((output, shell, code)) = trailer(&shown) {
                log.command_ended(shell, Some(Ended::Exited(code)), kept_text::tail_of(output, false));
            }
            log.used(id, call, !data.succeeded);
        }
        ToolRole::Edit if data.succeeded => {
            if let ([edit], Some(details)) = (call.edits.as_mut_slice(), data.details) {
                let details = details.start_of_text(64 * 1024).0;
                let sides = Sides::of_diff(details.lines().skip_while(|line| !line.starts_with("@@")));
                (edit.removed, edit.added) = (sides.removed, sides.added);
            }
            if call.edits.is_empty()
                && let Some(edits) = data.edits
            {
                edits.walk().array(|walk| {
                    let (mut path, mut how) = (None, EditKind::Written);
                    walk.object(|walk, key| {
                        match key {
                            b"path" => path = walk.text()?,
                            b"kind" if walk.raw()?.bytes() == b"\"delete\"" => how = EditKind::Deleted,
                            _ => {}
                        }
                        Ok(())
                    })?;
                    call.edits.extend(path.map(|path| log.edit(&path, how, Sides::default())));
                    Ok(())
                })?;
            }
            // `str_replace_editor` looks at files too.
            if data.edits.is_none() && call.tool == "str_replace_editor" {
                log.used(id, call, false);
            } else {
                log.edited(id, call.edits);
            }
        }
        _ => log.used(id, call, !data.succeeded),
    }
    Ok(())
}
