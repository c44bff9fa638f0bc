//! Codex: `sessions/YYYY/MM/DD/rollout-<time>-<thread>.jsonl`.
//!
//! Three forms have been written. The oldest has bare response items, one a line; later ones wrap them (`type`,
//! `payload`) and add events; the latest writes an event `item_completed` for each act, with the exit status of a
//! command as a number. A command is told where it ended, by its item; where there is none, from the text that the
//! model was given. A sub-agent and a fork have logs of their own, which may begin with a copy of the parent's acts:
//! those belong to turns that are older than the thread.

use std::borrow::Cow;

use super::client::{Client, Role};
use super::json::{Broken, Raw, Walk};
use super::patch;
use super::text::{self, LINE, SHORT, Sides, WORDS};
use super::transcript::{Call, Outcome, Transcript, time};
use crate::digest::hex_digest;
use crate::event::Ended;
use crate::event::work::{Act, EditKind, Phase, PlanItem, Speaker, StopKind};

/// Reads one line.
pub(super) fn line(line: &[u8], log: &mut Transcript<'_>) -> Result<(), Broken> {
    let (mut kind, mut stamp) = (Cow::default(), Cow::default());
    let mut ordinal = None;
    let mut payload = None;
    let mut id = Cow::default();
    let mut walk = Walk::new(line);
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
        return Err(Broken);
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
        _ => {}
    }
    Ok(())
}

/// The mark under which the id of the thread is kept.
const THREAD: &str = "thread";
/// The mark of logs whose acts are told as items.
const ITEMS: &str = "items";

fn begin(thread: &str, log: &mut Transcript<'_>) {
    let known = log.memory.marks.entry(THREAD.to_owned()).or_insert_with(|| thread.to_owned());
    if known == thread && log.memory.session.is_none() {
        log.memory.session = Some(thread.to_owned());
        log.session(Phase::Started);
    }
}

fn meta_line(meta: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
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

/// The time inside an id of the seventh kind (RFC 9562), in milliseconds.
fn time_of(id: &str) -> Option<u64> {
    let digits: String = id.chars().filter(|char| *char != '-').take(13).collect();
    let (time, version) = digits.split_at_checked(12)?;
    (version == "7").then(|| u64::from_str_radix(time, 16).ok())?
}

/// A turn that is older than the thread was copied with its acts.
fn turn(id: &str, log: &mut Transcript<'_>) {
    let thread = log.memory.marks.get(THREAD).and_then(|thread| time_of(thread));
    if let (Some(thread), Some(turn)) = (thread, time_of(id)) {
        log.memory.copied = turn < thread;
    }
}

fn turn_context(context: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
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
struct Event<'a> {
    kind: Cow<'a, str>,
    turn: Option<Cow<'a, str>>,
    item: Option<Raw<'a>>,
    message: Option<Raw<'a>>,
    last: Option<Raw<'a>>,
    plain: Option<Cow<'a, str>>,
    thread: Option<Cow<'a, str>>,
}

fn event_line(event: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    let mut fields = Event::default();
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
    let text = |raw: Option<Raw<'_>>| raw.map(|raw| text::start_of(raw, WORDS)).unwrap_or_default();
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
        _ => {}
    }
    Ok(())
}

fn has_items(log: &Transcript<'_>) -> bool {
    log.memory.marks.contains_key(ITEMS)
}

/// What is done, as an item or as an event of an older version.
#[derive(Default)]
struct Item<'a> {
    kind: Cow<'a, str>,
    id: Cow<'a, str>,
    content: Option<Raw<'a>>,
    command: Option<Raw<'a>>,
    cwd: Option<Cow<'a, str>>,
    source: Cow<'a, str>,
    status: Cow<'a, str>,
    output: Option<Raw<'a>>,
    exit: Option<i64>,
    changes: Option<Raw<'a>>,
    is_failed: bool,
    tool: Cow<'a, str>,
    receivers: Vec<Cow<'a, str>>,
    states: Option<Raw<'a>>,
    fragments: Option<Raw<'a>>,
}

fn completed(item: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    let mut fields = Item::default();
    item.walk().object(|walk, key| {
        match key {
            b"type" => fields.kind = walk.raw()?.text_or_empty(),
            b"id" | b"call_id" => fields.id = walk.raw()?.text_or_empty(),
            b"content" => fields.content = Some(walk.raw()?),
            b"command" => fields.command = Some(walk.raw()?),
            b"cwd" => fields.cwd = walk.text()?,
            b"source" => fields.source = walk.raw()?.text_or_empty(),
            b"status" => fields.status = walk.raw()?.text_or_empty(),
            b"aggregated_output" | b"formatted_output" => fields.output = Some(walk.raw()?),
            b"stdout" if fields.output.is_none() => fields.output = Some(walk.raw()?),
            b"exit_code" => fields.exit = walk.raw()?.number(),
            b"changes" => fields.changes = Some(walk.raw()?),
            b"success" => fields.is_failed = !walk.raw()?.is_true(),
            b"tool" => fields.tool = walk.raw()?.text_or_empty(),
            b"receiver_thread_ids" => walk.array(|walk| {
                fields.receivers.extend(walk.text()?);
                Ok(())
            })?,
            b"agents_states" => fields.states = Some(walk.raw()?),
            b"fragments" => fields.fragments = Some(walk.raw()?),
            _ => {}
        }
        Ok(())
    })?;
    match &*fields.kind {
        "UserMessage" => log.prompt(Speaker::Person, texts(fields.content, WORDS)?),
        "AgentMessage" => {
            let words = texts(fields.content, WORDS)?;
            log.said(words.clone());
            log.closes(&fields.id, &words);
        }
        // A hook did not let the turn end here.
        "HookPrompt" => {
            log.closed();
            log.prompt(Speaker::Hook, texts(fields.fragments, WORDS)?);
        }
        "CommandExecution" | "exec_command_end" => command(&fields, log)?,
        "FileChange" | "patch_apply_end" => changes(&fields, log)?,
        "CollabAgentToolCall" => collaboration(&fields, log)?,
        _ => {}
    }
    Ok(())
}

/// The texts of a list of parts, one after the other.
fn texts(parts: Option<Raw<'_>>, max: usize) -> Result<String, Broken> {
    let Some(parts) = parts else { return Ok(String::new()) };
    let mut found: Vec<String> = Vec::new();
    parts.walk().array(|walk| {
        walk.object(|walk, key| {
            if key == b"text" {
                found.push(text::start_of(walk.raw()?, max));
            }
            Ok(())
        })
    })?;
    Ok(found.join("\n"))
}

fn command(fields: &Item<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    log.goes_on();
    // A person can run commands too, and has nothing to prove by them.
    if matches!(&*fields.source, "user_shell" | "userShell") {
        return Ok(());
    }
    let ended = fields.exit.and_then(|code| i32::try_from(code).ok()).map(Ended::Exited);
    let tail = fields.output.map(text::tail).unwrap_or_default();
    let asked = log.take(&fields.id);
    if asked.is_none() && log.memory.background.values().any(|id| *id == fields.id) {
        let process =
            log.memory.background.iter().find(|(_, id)| **id == fields.id).map(|(process, _)| process.clone());
        log.command_ended(&process.unwrap_or_default(), ended, tail);
        return Ok(());
    }
    let mut call = Call::new("exec_command", Role::Shell, String::new());
    call.what = fields.command.map(command_line).transpose()?.unwrap_or_default();
    call.dir = log.dir(fields.cwd.as_deref().map(|cwd| cwd.strip_prefix("file://").unwrap_or(cwd)));
    if fields.status == "declined" {
        log.denied(&fields.id, call, &tail);
        return Ok(());
    }
    log.command(&fields.id, call, Outcome { ended, tail, background: false });
    Ok(())
}

/// A command as its line: what a shell was given with `-c`, else the words.
fn command_line(command: Raw<'_>) -> Result<String, Broken> {
    if command.is_text() {
        return Ok(text::start_of(command, LINE));
    }
    let mut words: Vec<Raw<'_>> = Vec::new();
    command.walk().array(|walk| {
        words.push(walk.raw()?);
        Ok(())
    })?;
    if let [shell, flag, line] = words.as_slice()
        && matches!(&*flag.text_or_empty(), "-lc" | "-c" | "-Command" | "/c")
        && !shell.text_or_empty().is_empty()
    {
        return Ok(text::start_of(*line, LINE));
    }
    let words: Vec<String> = words.iter().map(|word| quoted(&word.text_or_empty())).collect();
    Ok(text::start(&words.join(" "), LINE))
}

fn quoted(word: &str) -> String {
    let is_plain = |char: char| char.is_ascii_alphanumeric() || "-_./=:@%+,".contains(char);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

fn changes(fields: &Item<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    let asked = log.take(&fields.id);
    let is_failed = fields.is_failed || matches!(&*fields.status, "failed" | "declined");
    if is_failed {
        let call = asked.unwrap_or_else(|| Call::new("apply_patch", Role::Edit, String::new()));
        log.used(&fields.id, call, true);
        return Ok(());
    }
    let mut edits = Vec::new();
    if let Some(changes) = fields.changes {
        changes.walk().object(|walk, file| {
            let (mut how, mut content, mut diff, mut moved) = (EditKind::Written, None, None, None);
            walk.object(|walk, key| {
                match key {
                    b"type" if walk.raw()?.bytes() == b"\"delete\"" => how = EditKind::Deleted,
                    // Until the forms were unified, the kind was a key around the fields.
                    b"delete" => how = EditKind::Deleted,
                    b"content" => content = Some(walk.raw()?),
                    b"unified_diff" => diff = Some(walk.raw()?),
                    b"move_path" => moved = walk.text()?,
                    b"add" | b"update" => walk.object(|walk, key| {
                        match key {
                            b"content" => content = Some(walk.raw()?),
                            b"unified_diff" => diff = Some(walk.raw()?),
                            b"move_path" => moved = walk.text()?,
                            _ => {}
                        }
                        Ok(())
                    })?,
                    _ => {}
                }
                Ok(())
            })?;
            let sides = match (diff, content) {
                (Some(diff), _) => Sides::of_diff(diff.start_of_text(64 * 1024).0.lines()),
                (None, Some(content)) => {
                    let content = text::start_of(content, text::SIDE);
                    if how == EditKind::Deleted {
                        Sides { removed: content, added: String::new() }
                    } else {
                        Sides { removed: String::new(), added: content }
                    }
                }
                (None, None) => Sides::default(),
            };
            let file = Raw::of_key(file);
            match moved {
                Some(moved) => {
                    edits.push(log.edit(&file, EditKind::Deleted, Sides::default()));
                    edits.push(log.edit(&moved, how, sides));
                }
                None => edits.push(log.edit(&file, how, sides)),
            }
            Ok(())
        })?;
    }
    log.edited(&fields.id, edits);
    Ok(())
}

fn collaboration(fields: &Item<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    log.take(&fields.id);
    let mut ended = Vec::new();
    if let Some(states) = fields.states {
        states.walk().object(|walk, agent| {
            walk.object(|_, state| {
                if matches!(state, b"completed" | b"errored" | b"failed") {
                    ended.push(Raw::of_key(agent).into_owned());
                }
                Ok(())
            })
        })?;
    }
    if fields.tool == "spawn_agent" && fields.status != "failed" {
        for agent in &fields.receivers {
            log.act(Some(&fields.id), Act::SubagentStarted(agent.to_string()));
        }
    }
    for agent in ended {
        log.act(Some(&fields.id), Act::SubagentEnded(agent));
    }
    Ok(())
}

/// An item of the conversation, as the model has it.
#[derive(Default)]
struct Response<'a> {
    kind: Cow<'a, str>,
    role: Cow<'a, str>,
    name: Cow<'a, str>,
    call: Cow<'a, str>,
    content: Option<Raw<'a>>,
    arguments: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
    action: Option<Raw<'a>>,
}

fn response_item(item: Raw<'_>, log: &mut Transcript<'_>, is_bare: bool) -> Result<(), Broken> {
    let mut fields = Response::default();
    item.walk().object(|walk, key| {
        match key {
            b"type" => fields.kind = walk.raw()?.text_or_empty(),
            b"role" => fields.role = walk.raw()?.text_or_empty(),
            b"name" => fields.name = walk.raw()?.text_or_empty(),
            b"call_id" => fields.call = walk.raw()?.text_or_empty(),
            b"id" if fields.call.is_empty() => fields.call = walk.raw()?.text_or_empty(),
            b"content" => fields.content = Some(walk.raw()?),
            b"arguments" | b"input" => fields.arguments = Some(walk.raw()?),
            b"output" => fields.output = Some(walk.raw()?),
            b"action" => fields.action = Some(walk.raw()?),
            _ => {}
        }
        Ok(())
    })?;
    match &*fields.kind {
        // In the later forms events tell who spoke.
        "message" if is_bare => {
            let words = texts(fields.content, WORDS)?;
            match &*fields.role {
                "user" => log.prompt(speaker(&words), words),
                "assistant" => log.said(words),
                _ => {}
            }
        }
        "function_call" | "custom_tool_call" | "local_shell_call" => {
            log.goes_on();
            call(&fields, log)?;
        }
        "function_call_output" | "custom_tool_call_output" => output(&fields, log)?,
        "web_search_call" => {
            let tool = Call::new("web_search", Role::Read, String::new());
            log.used(&fields.call, tool, false);
        }
        _ => {}
    }
    Ok(())
}

/// Who wrote a message of the role `user`.
fn speaker(words: &str) -> Speaker {
    const OF_CLIENT: [&str; 8] = [
        "<environment_context>",
        "<user_instructions>",
        "# AGENTS.md instructions",
        "<subagent_notification>",
        "<turn_aborted>",
        "<user_shell_command>",
        "<skill>",
        "<permissions instructions>",
    ];
    if words.starts_with("<hook_prompt") {
        Speaker::Hook
    } else if OF_CLIENT.iter().any(|tag| words.starts_with(tag)) {
        Speaker::Client
    } else {
        Speaker::Person
    }
}

/// The arguments of a call that matter.
#[derive(Default)]
struct Arguments {
    line: String,
    dir: Option<String>,
    process: Option<String>,
    input: Option<String>,
    plan: Vec<PlanItem>,
    what: String,
}

impl Arguments {
    fn read(json: Raw<'_>) -> Result<Self, Broken> {
        let mut arguments = Self::default();
        json.walk().object(|walk, key| {
            match key {
                b"cmd" | b"command" => arguments.line = command_line(walk.raw()?)?,
                b"workdir" | b"working_directory" => arguments.dir = walk.text()?.map(Cow::into_owned),
                b"session_id" => {
                    let id = walk.raw()?;
                    arguments.process = id.number().map(|id| id.to_string()).or(id.text().map(Cow::into_owned));
                }
                b"input" | b"patch" => arguments.input = walk.text()?.map(Cow::into_owned),
                b"plan" => walk.array(|walk| {
                    let mut item = PlanItem { text: String::new(), done: false };
                    walk.object(|walk, key| {
                        match key {
                            b"step" => item.text = text::start_of(walk.raw()?, SHORT),
                            b"status" => item.done = walk.raw()?.bytes() == b"\"completed\"",
                            _ => {}
                        }
                        Ok(())
                    })?;
                    arguments.plan.push(item);
                    Ok(())
                })?,
                b"questions" => walk.array(|walk| {
                    walk.object(|walk, key| {
                        if key == b"question" && arguments.what.is_empty() {
                            arguments.what = text::start_of(walk.raw()?, WORDS);
                        }
                        Ok(())
                    })
                })?,
                b"path" | b"file_path" | b"dir_path" | b"pattern" | b"query" => {
                    arguments.what = text::start_of(walk.raw()?, SHORT);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(arguments)
    }
}

fn call(fields: &Response<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    let name = if fields.kind == "local_shell_call" { "local_shell" } else { &*fields.name };
    let role = Client::Codex.role(name);
    // Arguments are JSON inside of a text, or the patch itself.
    let text = fields.arguments.and_then(Raw::text).unwrap_or_default();
    let arguments = match fields.action {
        Some(action) => Arguments::read(action)?,
        None if fields.kind == "function_call" => {
            Walk::new(text.as_bytes()).raw().and_then(Arguments::read).unwrap_or_default()
        }
        None => Arguments::default(),
    };
    let id = &*fields.call;
    match role {
        Role::Plan => log.planned(id, arguments.plan),
        Role::Ask => log.act(Some(id), Act::Asked(arguments.what)),
        Role::Agent => {}
        Role::Edit => {
            let patch = arguments.input.as_deref().unwrap_or(&text);
            let mut call = Call::new(name, role, String::new());
            call.edits = patch::edits(patch, log);
            if let Some(edit) = call.edits.first() {
                call.what = edit.path.to_string();
            }
            log.call(id, call);
        }
        Role::ShellOutput => {
            let mut call = Call::new(name, role, arguments.process.unwrap_or_default());
            call.dir = log.dir(None);
            log.call(id, call);
        }
        Role::Shell => {
            let mut call = Call::new(name, role, arguments.line);
            call.dir = log.dir(arguments.dir.as_deref());
            // A patch may be given to the shell too, which older versions then take themselves.
            if let Some(patch) = call.what.strip_prefix("apply_patch ").filter(|text| text.contains("*** Begin Patch"))
            {
                call.edits = patch::edits(patch, log);
            }
            log.call(id, call);
        }
        // What a script of several calls does is told by items of their own; its end, below, by nothing else.
        _ if fields.kind == "custom_tool_call" => log.call(id, Call::new(name, role, String::new())),
        _ => log.call(id, Call::new(name, role, arguments.what)),
    }
    Ok(())
}

/// What a hook's refusal is quoted after.
const BLOCKED: &str = "Command blocked by PreToolUse hook: ";

fn output(fields: &Response<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    let id = &*fields.call;
    let Some(call) = log.take(id) else { return Ok(()) };
    let Some(output) = fields.output else { return Ok(()) };
    let (shown, code) = shown(output)?;
    if let Some((_, blocked)) = shown.split_once(BLOCKED) {
        let (reason, line) = blocked.split_once(". Command: ").unwrap_or((blocked, ""));
        let mut call = call;
        if call.what.is_empty() {
            call.what = text::start(line, LINE);
            call.dir = log.dir(None);
        }
        log.denied(id, call, reason);
        return Ok(());
    }
    let exited = code.or_else(|| exit_code(&shown)).map(Ended::Exited);
    match call.role {
        Role::Shell | Role::Edit if is_rejected(&shown) => log.denied(id, call, &shown),
        Role::Shell if !call.edits.is_empty() && shown.contains("Success. Updated the following files") => {
            log.edited(id, call.edits);
        }
        Role::Shell => {
            let tail = text::tail_of(after_head(&shown), false);
            let process = text::number_after(&shown, "Process running with session ID").filter(|_| exited.is_none());
            if let Some(process) = process {
                log.left_running(&process.to_string(), id);
            }
            log.command(id, call, Outcome { ended: exited, tail, background: process.is_some() });
        }
        Role::ShellOutput => {
            if exited.is_some() {
                let tail = text::tail_of(after_head(&shown), false);
                log.command_ended(&call.what, exited, tail);
            }
        }
        Role::Edit => {
            let failed = exited.is_some_and(|ended| !ended.success()) || !shown.contains("Success");
            if failed {
                log.used(id, call, true);
            } else {
                log.edited(id, call.edits);
            }
        }
        Role::Other if fields.kind == "custom_tool_call_output" => {}
        _ => log.used(id, call, false),
    }
    Ok(())
}

/// The text of an output, and the status that stands beside it in the oldest form.
fn shown(output: Raw<'_>) -> Result<(String, Option<i32>), Broken> {
    if !output.is_text() {
        // A list of parts, or an object that holds the text.
        let mut parts = texts(Some(output), WORDS)?;
        output.walk().object(|walk, key| {
            if key == b"content" {
                parts = text::start_of(walk.raw()?, WORDS);
            }
            Ok(())
        })?;
        return Ok((parts, None));
    }
    let text = output.text_or_empty();
    if !text.starts_with("{\"output\"") && !text.starts_with("{\"metadata\"") {
        return Ok((text.into_owned(), None));
    }
    let (mut inner, mut code) = (None, None);
    let read = Walk::new(text.as_bytes()).object(|walk, key| {
        match key {
            b"output" => inner = walk.text()?.map(Cow::into_owned),
            b"metadata" => walk.object(|walk, key| {
                if key == b"exit_code" {
                    code = walk.raw()?.number().and_then(|code| i32::try_from(code).ok());
                }
                Ok(())
            })?,
            _ => {}
        }
        Ok(())
    });
    match (read, inner) {
        (Ok(()), Some(inner)) => Ok((inner, code)),
        _ => Ok((text.into_owned(), None)),
    }
}

/// The status in the lines that the client writes before the output; never one that the output itself speaks of.
fn exit_code(shown: &str) -> Option<i32> {
    let head = shown.split("Output:\n").next().unwrap_or_default();
    let head = head.get(..head.floor_char_boundary(512)).unwrap_or_default();
    let line =
        head.lines().find(|line| line.starts_with("Process exited with code") || line.starts_with("Exit code:"))?;
    text::number_after(line, "code").or_else(|| text::number_after(line, "code:"))
}

/// The output without the client's lines before it.
fn after_head(shown: &str) -> &str {
    shown.split_once("Output:\n").filter(|(head, _)| head.len() < 512).map_or(shown, |(_, output)| output)
}

fn is_rejected(shown: &str) -> bool {
    ["exec command rejected by user", "rejected by user", "patch rejected", "command rejected"]
        .iter()
        .any(|words| shown.starts_with(words))
}
