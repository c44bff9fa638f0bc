//! The acts in the form of the latest version, and in the events of older ones.

use std::borrow::Cow;

use super::super::client::ToolRole;
use super::super::event_builder::{CommandEnding, OpenCall, Transcript};
use super::super::kept_text::{self, LINE, Sides, WORDS};
use super::super::lazy_json::{BrokenJson, Raw};
use super::script;
use crate::event::{Act, EditKind, Ended, Speaker};
use crate::shell_quote::shell_word;

/// An act, as an item or as an event of an older version.
#[derive(Default)]
struct CodexItem<'a> {
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

pub(super) fn completed(item: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let mut fields = CodexItem::default();
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
        kind => log.passed_over(kind),
    }
    Ok(())
}

/// Returns the texts of a list of parts, one after the other.
pub(super) fn texts(parts: Option<Raw<'_>>, max: usize) -> Result<String, BrokenJson> {
    let Some(parts) = parts else { return Ok(String::new()) };
    let mut found: Vec<String> = Vec::new();
    parts.walk().array(|walk| {
        walk.object(|walk, key| {
            if key == b"text" {
                found.push(kept_text::start_of(walk.raw()?, max));
            }
            Ok(())
        })
    })?;
    Ok(found.join("\n"))
}

fn command(fields: &CodexItem<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    log.goes_on();
    // A person can run commands too, and has nothing to prove by them.
    if matches!(&*fields.source, "user_shell" | "userShell") {
        return Ok(());
    }
    let ended = fields.exit.and_then(|code| i32::try_from(code).ok()).map(Ended::Exited);
    let tail = fields.output.map(kept_text::tail).unwrap_or_default();
    script::is_told(log, script::COMMANDS);
    let asked = log.take(&fields.id);
    if asked.is_none() && log.memory.background.values().any(|id| *id == fields.id) {
        let process =
            log.memory.background.iter().find(|(_, id)| **id == fields.id).map(|(process, _)| process.clone());
        log.command_ended(&process.unwrap_or_default(), ended, tail);
        return Ok(());
    }
    let mut call = OpenCall::new("exec_command", ToolRole::Shell, String::new());
    call.what = fields.command.map(command_line).transpose()?.unwrap_or_default();
    call.dir = log.dir(fields.cwd.as_deref().map(|cwd| cwd.strip_prefix("file://").unwrap_or(cwd)));
    if fields.status == "declined" {
        log.denied(&fields.id, call, &tail);
        return Ok(());
    }
    log.command(&fields.id, call, CommandEnding { ended, tail, background: false });
    Ok(())
}

/// Returns a command as its line: the line that a shell was given with `-c`, else the words.
pub(super) fn command_line(command: Raw<'_>) -> Result<String, BrokenJson> {
    if command.is_text() {
        return Ok(kept_text::start_of(command, LINE));
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
        return Ok(kept_text::start_of(*line, LINE));
    }
    let words: Vec<String> = words.iter().map(|word| shell_word(&word.text_or_empty())).collect();
    Ok(kept_text::start(&words.join(" "), LINE))
}

fn changes(fields: &CodexItem<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    script::is_told(log, script::EDITS);
    let asked = log.take(&fields.id);
    let is_failed = fields.is_failed || matches!(&*fields.status, "failed" | "declined");
    if is_failed {
        let call = asked.unwrap_or_else(|| OpenCall::new("apply_patch", ToolRole::Edit, String::new()));
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
                    let content = kept_text::start_of(content, kept_text::SIDE);
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

fn collaboration(fields: &CodexItem<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
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
