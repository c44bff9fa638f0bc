//! Codex: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! Three forms exist. The oldest has bare response items, one a line; later ones wrap them (`type`, `payload`) and add
//! events; the latest writes an event `item_completed` for each act, with the exit status of a command as a number. The
//! end of a command comes from its item; without one, from the text that the model was given. A sub-agent and a fork
//! have logs of their own, which may begin with a copy of the parent's acts: those belong to turns that are older than
//! the thread.

mod item;
mod response;
mod script;

use std::borrow::Cow;

use self::item::completed;
use self::response::{response_item, speaker};
use super::event_builder::{Transcript, time};
use super::kept_text::{self, WORDS};
use super::lazy_json::{BrokenJson, JsonCursor, Raw};
use crate::digest::hex_digest;
use crate::event::agent_work::{Act, Phase, Speaker, StopKind};

/// Reads one line.
pub(super) fn line(line: &[u8], log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let (mut kind, mut stamp) = (Cow::default(), Cow::default());
    let mut ordinal = None;
    let mut payload = None;
    let mut id = Cow::default();
    let mut walk = JsonCursor::new(line);
    walk.object(|walk, key| {
        match key {
            b"type" => kind = walk.raw()?.text_or_empty(),
            b"timestamp" => stamp = walk.raw()?.text_or_empty(),
            b"ordinal" => ordinal = walk.raw()?.number(),
            b"payload" => payload = Some(walk.raw()?),
            b"id" => id = walk.raw()?.text_or_empty(),
            _ => {}
        }
        Ok(())
    })?;
    if !walk.is_at_end() {
        return Err(BrokenJson);
    }
    // Without a number or an id of its own, a line is named by its time and what it says.
    let key = match ordinal {
        Some(ordinal) => format!("{} {ordinal}", log.memory.marks.get(THREAD).map_or("", String::as_str)),
        None => format!("{stamp} {} {}", line.len(), hex_digest(&[&line[..line.len().min(1024)]])),
    };
    log.line(&key, time(&stamp));
    match (&*kind, payload) {
        ("session_meta", Some(meta)) => meta_line(meta, log)?,
        ("turn_context", Some(context)) => turn_context(context, log)?,
        ("event_msg", Some(event)) => event_line(event, log)?,
        ("response_item", Some(item)) => response_item(item, log, false)?,
        ("compacted", _) => log.session(Phase::Compacted),
        // The oldest form: its first line has only the id of the session.
        ("", None) if !id.is_empty() && !line.starts_with(b"{\"record_type\"") => begin(&id, log),
        (_, None) if !kind.is_empty() => response_item(Raw::of(line), log, true)?,
        ("", _) => {}
        (kind, _) => log.passed_over(kind),
    }
    Ok(())
}

/// The mark under which the id of the thread is kept.
const THREAD: &str = "thread";
/// The mark of logs that record acts as items.
const ITEMS: &str = "items";

fn begin(thread: &str, log: &mut Transcript<'_>) {
    let known = log.memory.marks.entry(THREAD.to_owned()).or_insert_with(|| thread.to_owned());
    if known == thread && log.memory.session.is_none() {
        log.memory.session = Some(thread.to_owned());
        log.session(Phase::Started);
    }
}

fn meta_line(meta: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    // A copy of the parent's head follows that of a fork.
    if log.memory.marks.contains_key(THREAD) {
        return Ok(());
    }
    let (mut id, mut session, mut cwd, mut parent, mut forked) = (None, None, None, None, None);
    let mut is_subagent = false;
    meta.walk().object(|walk, key| {
        match key {
            b"id" => id = walk.text()?,
            b"session_id" => session = walk.text()?,
            b"cwd" => cwd = walk.text()?,
            b"parent_thread_id" => parent = walk.text()?,
            b"forked_from_id" => forked = walk.text()?,
            b"thread_source" => is_subagent |= walk.raw()?.bytes() == b"\"subagent\"",
            b"source" => walk.object(|walk, key| {
                is_subagent |= key == b"subagent" || key == b"subAgent";
                walk.object(|walk, _| {
                    walk.object(|walk, key| {
                        if key == b"parent_thread_id" {
                            parent = walk.text()?;
                        }
                        Ok(())
                    })
                })
            })?,
            _ => {}
        }
        Ok(())
    })?;
    let Some(id) = id else { return Ok(()) };
    log.memory.marks.insert(THREAD.to_owned(), id.to_string());
    let parent = parent.filter(|_| is_subagent);
    let session = session.filter(|session| *session != id && is_subagent).or(parent);
    log.memory.session = Some(session.as_deref().unwrap_or(&id).to_owned());
    if let Some(cwd) = cwd {
        log.enter(&cwd);
    }
    if is_subagent {
        log.act(None, Act::SubagentStarted(id.to_string()));
        log.memory.actor = Some(id.into_owned());
    } else {
        log.session(if forked.is_some() { Phase::Forked } else { Phase::Started });
        log.memory.copied = forked.is_some();
    }
    Ok(())
}

/// Returns the time inside an id of the seventh kind (RFC 9562), in milliseconds.
fn time_of(id: &str) -> Option<u64> {
    let digits: String = id.chars().filter(|char| *char != '-').take(13).collect();
    let (time, version) = digits.split_at_checked(12)?;
    (version == "7").then(|| u64::from_str_radix(time, 16).ok())?
}

/// Notes a turn. One that is older than the thread was copied with its acts.
fn turn(id: &str, log: &mut Transcript<'_>) {
    let thread = log.memory.marks.get(THREAD).and_then(|thread| time_of(thread));
    if let (Some(thread), Some(turn)) = (thread, time_of(id)) {
        log.memory.copied = turn < thread;
    }
}

fn turn_context(context: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let (mut cwd, mut id) = (None, None);
    context.walk().object(|walk, key| {
        match key {
            b"cwd" => cwd = walk.text()?,
            b"turn_id" => id = walk.text()?,
            _ => {}
        }
        Ok(())
    })?;
    if let Some(id) = id {
        turn(&id, log);
    }
    if let Some(cwd) = cwd {
        log.enter(&cwd);
    }
    Ok(())
}

/// An event; the fields are those of all kinds of it.
#[derive(Default)]
struct CodexEvent<'a> {
    kind: Cow<'a, str>,
    turn: Option<Cow<'a, str>>,
    item: Option<Raw<'a>>,
    message: Option<Raw<'a>>,
    last: Option<Raw<'a>>,
    plain: Option<Cow<'a, str>>,
    thread: Option<Cow<'a, str>>,
}

fn event_line(event: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let mut fields = CodexEvent::default();
    event.walk().object(|walk, key| {
        match key {
            b"type" => fields.kind = walk.raw()?.text_or_empty(),
            b"turn_id" => fields.turn = walk.text()?,
            b"item" => fields.item = Some(walk.raw()?),
            b"message" => fields.message = Some(walk.raw()?),
            b"last_agent_message" => fields.last = Some(walk.raw()?),
            b"kind" => fields.plain = walk.text()?,
            b"thread_id" => fields.thread = walk.text()?,
            _ => {}
        }
        Ok(())
    })?;
    if let Some(id) = &fields.turn {
        turn(id, log);
    }
    let text = |raw: Option<Raw<'_>>| raw.map(|raw| kept_text::start_of(raw, WORDS)).unwrap_or_default();
    match &*fields.kind {
        "item_completed" => {
            if let Some(item) = fields.item {
                log.memory.marks.entry(ITEMS.to_owned()).or_default();
                completed(item, log)?;
            }
        }
        "user_message" if !has_items(log) => {
            let words = text(fields.message);
            let from = match fields.plain.as_deref() {
                None | Some("plain") => speaker(&words),
                Some(_) => Speaker::Client,
            };
            log.prompt(from, words);
        }
        "agent_message" if !has_items(log) => log.said(text(fields.message)),
        "exec_command_end" | "patch_apply_end" if !has_items(log) => completed(event, log)?,
        "task_complete" | "turn_complete" => log.stopped(StopKind::Completed, text(fields.last)),
        "turn_aborted" => log.stopped(StopKind::Aborted, String::new()),
        "error" => log.stopped(StopKind::Failed, text(fields.message)),
        "shutdown_complete" => log.session(Phase::Ended),
        "user_message" | "agent_message" | "exec_command_end" | "patch_apply_end" => {}
        kind => log.passed_over(kind),
    }
    Ok(())
}

fn has_items(log: &Transcript<'_>) -> bool {
    log.memory.marks.contains_key(ITEMS)
}
