//! The conversation as the model has it: the only form of the oldest logs, and in all logs the form of calls without an
//! item.

use std::borrow::Cow;

use super::super::client::{Client, ToolRole};
use super::super::event_builder::{CommandEnding, OpenCall, Transcript};
use super::super::kept_text::{self, LINE, SHORT, WORDS};
use super::super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::super::{patch, tool_input};
use super::item::{command_line, texts};
use super::script;
use super::script::BLOCKED;
use crate::event::{Act, Ended, PlanItem, Speaker};

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

pub(super) fn response_item(item: Raw<'_>, log: &mut Transcript<'_>, is_bare: bool) -> Result<(), BrokenJson> {
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
            let tool = OpenCall::new("web_search", ToolRole::Read, String::new());
            log.used(&fields.call, tool, false);
        }
        "message" => {}
        kind => log.passed_over(kind),
    }
    Ok(())
}

/// Returns the writer of a message of the role `user`.
pub(super) fn speaker(words: &str) -> Speaker {
    const OF_CLIENT: [&str; 8] = [
        "<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<subagent_notification>",
        "<turn_aborted>", "<user_shell_command>", "<skill>", "<permissions instructions>",
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
struct CodexArguments {
    line: String,
    dir: Option<String>,
    process: Option<String>,
    input: Option<String>,
    plan: Vec<PlanItem>,
    what: String,
}

impl CodexArguments {
    fn read(json: Raw<'_>) -> Result<Self, BrokenJson> {
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
                b"plan" => arguments.plan = tool_input::plan(walk, b"step")?,
                b"questions" => {
                    if let Some(question) = tool_input::question(walk)?.filter(|_| arguments.what.is_empty()) {
                        arguments.what = kept_text::start_of(question, WORDS);
                    }
                }
                b"path" | b"file_path" | b"dir_path" | b"pattern" | b"query" => {
                    arguments.what = kept_text::start_of(walk.raw()?, SHORT);
                }
                _ => {}
            }
            Ok(())
        })?;
        Ok(arguments)
    }
}

fn call(fields: &Response<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let name = if fields.kind == "local_shell_call" { "local_shell" } else { &*fields.name };
    let role = Client::Codex.role(name);
    // Arguments are JSON inside of a text, or the patch itself.
    let text = fields.arguments.and_then(Raw::text).unwrap_or_default();
    let arguments = match fields.action {
        Some(action) => CodexArguments::read(action)?,
        None if fields.kind == "function_call" => {
            JsonCursor::new(text.as_bytes()).raw().and_then(CodexArguments::read).unwrap_or_default()
        }
        None => CodexArguments::default(),
    };
    let id = &*fields.call;
    match role {
        ToolRole::Plan => log.planned(id, arguments.plan),
        ToolRole::Ask => log.act(Some(id), Act::Asked(arguments.what)),
        ToolRole::Agent => {}
        ToolRole::Script => script::begins(id, name, &text, log),
        ToolRole::Edit => {
            let patch = arguments.input.as_deref().unwrap_or(&text);
            let mut call = OpenCall::new(name, role, String::new());
            call.edits = patch::edits(patch, log);
            if let Some(edit) = call.edits.first() {
                call.what = edit.path.to_string();
            }
            log.call(id, call);
        }
        ToolRole::ShellOutput => {
            let mut call = OpenCall::new(name, role, arguments.process.unwrap_or_default());
            call.dir = log.dir(None);
            log.call(id, call);
        }
        ToolRole::Shell => {
            let mut call = OpenCall::new(name, role, arguments.line);
            call.dir = log.dir(arguments.dir.as_deref());
            // A patch may be given to the shell too, which older versions then take themselves.
            if let Some(patch) = call.what.strip_prefix("apply_patch ").filter(|text| text.contains("*** Begin Patch"))
            {
                call.edits = patch::edits(patch, log);
            }
            log.call(id, call);
        }
        _ if fields.kind == "custom_tool_call" => log.call(id, OpenCall::new(name, role, String::new())),
        _ => log.call(id, OpenCall::new(name, role, arguments.what)),
    }
    Ok(())
}

fn output(fields: &Response<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let id = &*fields.call;
    let Some(call) = log.take(id) else { return Ok(()) };
    let Some(output) = fields.output else { return Ok(()) };
    if call.role == ToolRole::Script {
        return script::ends(id, call, output, log);
    }
    let (shown, code) = shown(output)?;
    if let Some((_, blocked)) = shown.split_once(BLOCKED) {
        let (reason, line) = blocked.split_once(". Command: ").unwrap_or((blocked, ""));
        let mut call = call;
        if call.what.is_empty() {
            call.what = kept_text::start(line, LINE);
            call.dir = log.dir(None);
        }
        log.denied(id, call, reason);
        return Ok(());
    }
    let exited = code.or_else(|| exit_code(&shown)).map(Ended::Exited);
    match call.role {
        ToolRole::Shell | ToolRole::Edit if is_rejected(&shown) => log.denied(id, call, &shown),
        ToolRole::Shell if !call.edits.is_empty() && shown.contains("Success. Updated the following files") => {
            log.edited(id, call.edits);
        }
        ToolRole::Shell => {
            let tail = kept_text::tail_of(after_head(&shown), false);
            let process =
                kept_text::number_after(&shown, "Process running with session ID").filter(|_| exited.is_none());
            if let Some(process) = process {
                log.left_running(&process.to_string(), id);
            }
            log.command(id, call, CommandEnding { ended: exited, tail, background: process.is_some() });
        }
        ToolRole::ShellOutput => {
            if exited.is_some() {
                let tail = kept_text::tail_of(after_head(&shown), false);
                log.command_ended(&call.what, exited, tail);
            }
        }
        ToolRole::Edit => {
            let failed = exited.is_some_and(|ended| !ended.success()) || !shown.contains("Success");
            if failed {
                log.used(id, call, true);
            } else {
                log.edited(id, call.edits);
            }
        }
        _ => log.used(id, call, false),
    }
    Ok(())
}

/// Returns the text of an output, and the status that comes with it in the oldest form.
fn shown(output: Raw<'_>) -> Result<(String, Option<i32>), BrokenJson> {
    if !output.is_text() {
        // A list of parts, or an object that holds the text.
        let mut parts = texts(Some(output), WORDS)?;
        output.walk().object(|walk, key| {
            if key == b"content" {
                parts = kept_text::start_of(walk.raw()?, WORDS);
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
    let read = JsonCursor::new(text.as_bytes()).object(|walk, key| {
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
    if let (Ok(()), Some(inner)) = (read, inner) { Ok((inner, code)) } else { Ok((text.into_owned(), None)) }
}

/// Returns the status in the lines that the client writes before the output; never one that the output itself mentions.
fn exit_code(shown: &str) -> Option<i32> {
    let head = shown.split("Output:\n").next().unwrap_or_default();
    let head = head.get(..head.floor_char_boundary(512)).unwrap_or_default();
    let line =
        head.lines().find(|line| line.starts_with("Process exited with code") || line.starts_with("Exit code:"))?;
    kept_text::number_after(line, "code").or_else(|| kept_text::number_after(line, "code:"))
}

/// Returns the output without the client's lines before it.
fn after_head(shown: &str) -> &str {
    shown.split_once("Output:\n").filter(|(head, _)| head.len() < 512).map_or(shown, |(_, output)| output)
}

fn is_rejected(shown: &str) -> bool {
    ["exec command rejected by user", "rejected by user", "patch rejected", "command rejected"]
        .iter()
        .any(|words| shown.starts_with(words))
}
