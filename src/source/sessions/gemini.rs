//! Gemini CLI: `tmp/<project>/chats/session-<time>-<id>.jsonl`.
//!
//! A head, then records and patches (`$set`). A record is written again, with the same id, when it has more content:
//! the calls of a message appear with their results, so each call and each message is recorded once. A turn has ended
//! when the next record is not the model's. A resumed session continues in its old file.

mod output_trailer;

use std::borrow::Cow;

pub(crate) use self::output_trailer::OutputTrailer;
use super::client::{Client, ToolRole};
use super::event_builder::{CommandEnding, OpenCall, Transcript, time};
use super::kept_text::{self, LINE, SHORT, Sides, WORDS};
use super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::{document_items, tool_input};
use crate::event::{Act, EditKind, Ended, Phase, PlanItem, Speaker, StopKind};

/// A record.
#[derive(Default)]
struct GeminiRecord<'a> {
    id: Cow<'a, str>,
    session: Option<Cow<'a, str>>,
    stamp: Cow<'a, str>,
    kind: Cow<'a, str>,
    content: Option<Raw<'a>>,
    shown: Option<Raw<'a>>,
    calls: Option<Raw<'a>>,
    directories: Option<Raw<'a>>,
    history: Option<Raw<'a>>,
    is_head: bool,
    is_subagent: bool,
}

impl<'a> GeminiRecord<'a> {
    fn field(&mut self, walk: &mut JsonCursor<'a>, key: &[u8]) -> Result<(), BrokenJson> {
        match key {
            b"id" => self.id = walk.raw()?.text_or_empty(),
            b"sessionId" => self.session = walk.text()?,
            b"timestamp" | b"startTime" => self.stamp = walk.raw()?.text_or_empty(),
            b"type" => self.kind = walk.raw()?.text_or_empty(),
            b"projectHash" => self.is_head = true,
            b"kind" => self.is_subagent = walk.raw()?.bytes() == b"\"subagent\"",
            b"content" => self.content = Some(walk.raw()?),
            b"displayContent" => self.shown = Some(walk.raw()?),
            b"toolCalls" => self.calls = Some(walk.raw()?),
            b"directories" => self.directories = Some(walk.raw()?),
            b"$set" => walk.object(|walk, key| {
                if key == b"messages" {
                    self.history = Some(walk.raw()?);
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    }
}

/// Reads a session that is written as one document: what its first line says elsewhere, and then all records.
pub(super) fn document(text: &[u8], log: &mut Transcript<'_>) {
    let mut record = GeminiRecord::default();
    // Where it is cut off, what stands before the messages is known all the same.
    let _ = JsonCursor::new(text).object(|walk, key| record.field(walk, key));
    if head(&record, log).is_err() {
        log.broken();
    }
    document_items::each(text, b"messages", log, line);
}

/// Reads one line.
pub(super) fn line(line: &[u8], log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let mut record = GeminiRecord::default();
    let mut walk = JsonCursor::new(line);
    walk.object(|walk, key| record.field(walk, key))?;
    if !walk.is_at_end() {
        return Err(BrokenJson);
    }
    log.line(&record.id, time(&record.stamp));
    if record.is_head {
        return head(&record, log);
    }
    if let Some(history) = record.history {
        return shortened(history, log);
    }
    match &*record.kind {
        "user" => user(&record, log)?,
        "gemini" => model(&record, log)?,
        "error" => {
            let text = words(record.content)?;
            if is_new(&record.id, log) {
                log.stopped(StopKind::Failed, text);
            }
        }
        "info" | "warning" => {
            let text = words(record.content)?;
            if text.starts_with("Request cancelled") && is_new(&record.id, log) {
                log.stopped(StopKind::Aborted, String::new());
            }
        }
        "" => {}
        kind => log.passed_over(kind),
    }
    Ok(())
}

fn head(record: &GeminiRecord<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    if let Some(directories) = record.directories {
        directories.walk().array(|walk| {
            if let Some(dir) = walk.text()? {
                log.enter(&dir);
            }
            Ok(())
        })?;
    }
    if log.memory.session.is_none()
        && let Some(session) = &record.session
    {
        log.memory.session = Some(session.to_string());
        log.line(&format!("{session} {}", record.stamp), time(&record.stamp));
        if record.is_subagent {
            log.act(None, Act::SubagentStarted(session.to_string()));
            log.memory.actor = Some(session.to_string());
        } else {
            log.session(Phase::Started);
        }
    }
    Ok(())
}

/// The mark of the message that holds the last summary.
const SUMMARY: &str = "summary";
/// The beginning of the summary that the client requests from its model.
const SNAPSHOT: &str = "<state_snapshot>";

/// Reads a history that replaced the conversation. A new summary in it is the one trace of a compaction; a session that
/// is resumed repeats it.
fn shortened(history: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    if memchr::memmem::find(history.bytes(), SNAPSHOT.as_bytes()).is_none() {
        return Ok(());
    }
    let mut newest = None;
    history.walk().array(|walk| {
        let (mut id, mut content, mut stamp) = (Cow::default(), None, Cow::default());
        walk.object(|walk, key| {
            match key {
                b"id" => id = walk.raw()?.text_or_empty(),
                b"timestamp" => stamp = walk.raw()?.text_or_empty(),
                b"content" => content = Some(walk.raw()?),
                _ => {}
            }
            Ok(())
        })?;
        if words(content)?.trim_start().starts_with(SNAPSHOT) {
            newest = Some((id, stamp));
        }
        Ok(())
    })?;
    let Some((id, stamp)) = newest else { return Ok(()) };
    if log.memory.marks.get(SUMMARY).is_none_or(|known| *known != id) {
        log.memory.marks.insert(SUMMARY.to_owned(), id.to_string());
        log.line(&id, time(&stamp));
        log.session(Phase::Compacted);
    }
    Ok(())
}

/// Returns `true` if an id is new. Records from long ago are not written again.
fn is_new(id: &str, log: &mut Transcript<'_>) -> bool {
    const REMEMBERED: usize = 64;
    let told = &mut log.memory.told;
    if told.iter().any(|told| told == id) {
        return false;
    }
    if told.len() >= REMEMBERED {
        told.remove(0);
    }
    told.push(id.to_owned());
    true
}

/// Returns the text of a content: itself, or its parts; additions of hooks are left out.
fn words(content: Option<Raw<'_>>) -> Result<String, BrokenJson> {
    let Some(content) = content else { return Ok(String::new()) };
    if content.is_text() {
        return Ok(kept_text::start_of(content, WORDS));
    }
    let mut found: Vec<String> = Vec::new();
    content.walk().array(|walk| {
        walk.object(|walk, key| {
            if key == b"text" {
                let text = kept_text::start_of(walk.raw()?, WORDS);
                let text = without_hook_context(&text);
                if !text.is_empty() {
                    found.push(text.to_owned());
                }
            }
            Ok(())
        })
    })?;
    Ok(found.join("\n"))
}

/// Returns a prompt without what hooks put before it. The client wraps that in a tag, which nothing inside can close: the
/// client escapes it.
pub(crate) fn without_hook_context(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("<hook_context>") else { return text };
    rest.split_once("</hook_context>").map_or("", |(_, prompt)| prompt.trim_start())
}

/// The mark of logs that show the person's own text with a prompt.
const SHOWS: &str = "shows";

fn user(record: &GeminiRecord<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let text = words(record.content)?;
    // The results of tools come back as a record of the user too.
    if text.is_empty() {
        return Ok(());
    }
    let from = match record.shown {
        _ if is_of_client(&text) => Speaker::Client,
        Some(shown) => {
            log.memory.marks.entry(SHOWS.to_owned()).or_default();
            if words(Some(shown))? == text { Speaker::Person } else { Speaker::Hook }
        }
        None if log.memory.marks.contains_key(SHOWS) && log.memory.closing.is_some() => Speaker::Hook,
        // Where a client shows nothing, our own words are known by how they begin.
        None if is_feedback(&text) => Speaker::Hook,
        None => Speaker::Person,
    };
    log.closed();
    if is_new(&record.id, log) {
        log.prompt(from, text);
    }
    Ok(())
}

/// Returns `true` if a text begins like gate's messages to an agent (`templates/feedback.txt`).
fn is_feedback(text: &str) -> bool {
    let count = text.strip_prefix("[ATTEMPT: ").and_then(|rest| rest.split_once(']'));
    count.is_some_and(|(number, _)| number.parse::<u32>().is_ok())
}

fn is_of_client(text: &str) -> bool {
    ["<session_context>", SNAPSHOT, "System: ", "This is the Gemini CLI"].iter().any(|tag| text.starts_with(tag))
}

fn model(record: &GeminiRecord<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    if log.memory.closing.as_ref().is_some_and(|closing| *closing.message != *record.id) {
        log.closed();
    }
    let text = words(record.content)?;
    if is_new(&record.id, log) {
        log.said(text.clone());
    }
    let Some(calls) = record.calls else {
        log.closes(&record.id, &text);
        return Ok(());
    };
    log.goes_on();
    calls.walk().array(|walk| {
        let mut call = ToolCall::default();
        call.read(walk)?;
        let is_done = matches!(&*call.status, "success" | "error" | "cancelled");
        if is_done && is_new(&call.id, log) {
            log.line(&call.id, time(&call.stamp).or_else(|| time(&record.stamp)));
            call.tell(log)?;
        }
        Ok(())
    })
}

/// A tool call, with its result once it has one.
#[derive(Default)]
struct ToolCall<'a> {
    id: Cow<'a, str>,
    name: Cow<'a, str>,
    status: Cow<'a, str>,
    stamp: Cow<'a, str>,
    arguments: Option<Raw<'a>>,
    response: Option<Raw<'a>>,
    is_error: bool,
    shown: Option<Raw<'a>>,
}

impl<'a> ToolCall<'a> {
    fn read(&mut self, walk: &mut JsonCursor<'a>) -> Result<(), BrokenJson> {
        walk.object(|walk, key| {
            match key {
                b"id" => self.id = walk.raw()?.text_or_empty(),
                b"name" => self.name = walk.raw()?.text_or_empty(),
                b"status" => self.status = walk.raw()?.text_or_empty(),
                b"timestamp" => self.stamp = walk.raw()?.text_or_empty(),
                b"args" => self.arguments = Some(walk.raw()?),
                b"resultDisplay" => self.shown = Some(walk.raw()?),
                b"result" => walk.array(|walk| {
                    walk.object(|walk, key| {
                        if key != b"functionResponse" {
                            return Ok(());
                        }
                        walk.object(|walk, key| {
                            if key != b"response" {
                                return Ok(());
                            }
                            walk.object(|walk, key| {
                                if matches!(key, b"output" | b"error") {
                                    self.is_error = key == b"error";
                                    self.response = Some(walk.raw()?);
                                }
                                Ok(())
                            })
                        })
                    })
                })?,
                _ => {}
            }
            Ok(())
        })
    }

    fn tell(self, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
        let role = Client::Gemini.role(&self.name);
        let arguments = GeminiArguments::read(self.arguments)?;
        let most = if role == ToolRole::Shell { LINE } else { WORDS };
        let what = arguments.what.map(|what| kept_text::start_of(what, most)).unwrap_or_default();
        match role {
            ToolRole::Plan => log.planned(&self.id, arguments.plan),
            ToolRole::Ask => log.act(Some(&self.id), Act::Asked(what)),
            ToolRole::Shell => {
                let mut call = OpenCall::new(&self.name, role, what);
                call.dir = log.dir(arguments.dir.as_deref());
                self.shell(call, log);
            }
            ToolRole::Edit if self.status == "success" => {
                let edit = self.edit(&arguments, log)?;
                log.edited(&self.id, edit.into_iter().collect());
            }
            _ => {
                let response = self.response.map(|raw| raw.start_of_text(SHORT).0).unwrap_or_default();
                let call = OpenCall::new(&self.name, role, what);
                match response.strip_prefix("Tool execution blocked: ") {
                    Some(reason) => log.denied(&self.id, call, reason),
                    None if self.status == "cancelled" => log.denied(&self.id, call, "cancelled"),
                    None => log.used(&self.id, call, self.status == "error"),
                }
            }
        }
        Ok(())
    }

    /// Records a shell command. The status is in the text, and only if it is not 0.
    fn shell(&self, call: OpenCall, log: &mut Transcript<'_>) {
        let head = self.response.map(|raw| raw.start_of_text(4096).0).unwrap_or_default();
        let end = self.response.map(|raw| raw.end_of_text(4096).0).unwrap_or_default();
        let end = end.trim_end().trim_end_matches("</untrusted_context>").trim_end();
        let trailer = OutputTrailer::of(end, None);
        let shown = self.shown.filter(|shown| shown.is_text());
        if self.is_error && shown.is_some_and(|shown| shown.start_of_text(64).0.starts_with("Tool result blocked")) {
            // It ran; what it gave was taken away by a hook.
            log.command(&self.id, call, CommandEnding { ended: None, tail: String::new(), background: false });
            return;
        }
        let ran = ["<untrusted_context>\nOutput:", "Output:", "Command:", "<untrusted_context>\nCommand:"]
            .iter()
            .any(|start| head.starts_with(start))
            || trailer.output.len() < end.len();
        let in_background = head.contains("moved to background (PID:");
        if !ran && !in_background {
            let reason = head.strip_prefix("Tool execution blocked: ").unwrap_or(&head);
            let reason = if reason.is_empty() { "cancelled" } else { reason };
            log.denied(&self.id, call, reason);
            return;
        }
        let ended = match (trailer.code, trailer.signal) {
            _ if in_background || self.status != "success" => None,
            (_, Some(signal)) => Some(Ended::Signalled(signal)),
            (code, None) => code.map(Ended::Exited),
        };
        let tail = shown.map(kept_text::tail).unwrap_or_default();
        log.command(&self.id, call, CommandEnding { ended, tail, background: in_background });
    }

    fn edit(
        &self,
        arguments: &GeminiArguments<'_>,
        log: &Transcript<'_>,
    ) -> Result<Option<crate::event::agent_work::FileEdit>, BrokenJson> {
        let (mut file, mut diff) = (None, None);
        if let Some(shown) = self.shown.filter(|shown| !shown.is_text()) {
            shown.walk().object(|walk, key| {
                match key {
                    b"filePath" => file = walk.text()?,
                    b"fileDiff" => diff = Some(walk.raw()?),
                    _ => {}
                }
                Ok(())
            })?;
        }
        let sides = match diff {
            Some(diff) => Sides::of_diff(diff.start_of_text(64 * 1024).0.lines()),
            None => Sides { removed: side(arguments.old), added: side(arguments.new) },
        };
        let file = file.or_else(|| arguments.what.and_then(Raw::text));
        Ok(file.map(|file| log.edit(&file, EditKind::Written, sides)))
    }
}

#[derive(Default)]
struct GeminiArguments<'a> {
    what: Option<Raw<'a>>,
    dir: Option<Cow<'a, str>>,
    old: Option<Raw<'a>>,
    new: Option<Raw<'a>>,
    plan: Vec<PlanItem>,
}

impl<'a> GeminiArguments<'a> {
    fn read(raw: Option<Raw<'a>>) -> Result<Self, BrokenJson> {
        let mut arguments = Self::default();
        let Some(raw) = raw else { return Ok(arguments) };
        raw.walk().object(|walk, key| {
            match key {
                b"command" | b"file_path" | b"absolute_path" | b"path" | b"pattern" | b"query" | b"prompt"
                | b"question"
                    if arguments.what.is_none() =>
                {
                    arguments.what = Some(walk.raw()?);
                }
                b"directory" | b"dir_path" => arguments.dir = walk.text()?,
                b"old_string" => arguments.old = Some(walk.raw()?),
                b"new_string" | b"content" => arguments.new = Some(walk.raw()?),
                b"questions" => arguments.what = arguments.what.or(tool_input::question(walk)?),
                b"todos" => arguments.plan = tool_input::plan(walk, b"description")?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(arguments)
    }
}

fn side(raw: Option<Raw<'_>>) -> String {
    raw.map(|raw| kept_text::start_of(raw, kept_text::SIDE)).unwrap_or_default()
}
