//! The result of a tool call: the status of a command, the change of a file, the end of a sub-agent.

use std::borrow::Cow;

use super::super::client::ToolRole;
use super::super::event_builder::{CommandEnding, OpenCall, Transcript};
use super::super::kept_text::{self, Sides};
use super::super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::{Block, ClaudeFields};
use crate::event::{Act, EditKind, Ended};

/// The data of a tool call's result, in addition to the text for the model.
#[derive(Default)]
pub(super) struct Given<'a> {
    background: Option<Cow<'a, str>>,
    interpretation: bool,
    interrupted: bool,
    stdout: Option<Raw<'a>>,
    file: Option<Cow<'a, str>>,
    content: Option<Raw<'a>>,
    patch: Option<Raw<'a>>,
    agent: Option<Cow<'a, str>>,
    status: Cow<'a, str>,
    task: Option<Cow<'a, str>>,
    exit: Option<i64>,
}

impl<'a> Given<'a> {
    pub(super) fn read(&mut self, walk: &mut JsonCursor<'a>) -> Result<(), BrokenJson> {
        walk.object(|walk, key| {
            match key {
                b"backgroundTaskId" => self.background = walk.text()?,
                b"returnCodeInterpretation" => self.interpretation = walk.raw()?.is_set(),
                b"interrupted" => self.interrupted = walk.raw()?.is_true(),
                b"stdout" => self.stdout = Some(walk.raw()?),
                b"filePath" => self.file = walk.text()?,
                b"content" => self.content = Some(walk.raw()?),
                b"structuredPatch" => self.patch = Some(walk.raw()?),
                b"agentId" => self.agent = walk.text()?,
                b"status" => self.status = walk.raw()?.text_or_empty(),
                b"task_id" | b"shellId" => self.task = walk.text()?,
                b"exitCode" => self.exit = walk.raw()?.number(),
                b"task" => self.read(walk)?,
                _ => {}
            }
            Ok(())
        })
    }

    /// Returns the lines that differ, from the patch; otherwise the requested ones.
    fn sides(&self) -> Result<Option<Sides>, BrokenJson> {
        let Some(patch) = self.patch else { return Ok(None) };
        let mut lines = Vec::new();
        patch.walk().array(|walk| {
            walk.object(|walk, key| {
                if key == b"lines" {
                    walk.array(|walk| {
                        if lines.len() < 2_000
                            && let Some(line) = walk.text()?
                        {
                            lines.push(line);
                        }
                        Ok(())
                    })?;
                }
                Ok(())
            })
        })?;
        if lines.is_empty() {
            return Ok(None);
        }
        Ok(Some(Sides::of_diff(lines.iter().map(|line| &**line))))
    }
}

pub(super) fn result(block: &Block<'_>, fields: &ClaudeFields<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let id = &*block.tool_use_id;
    let Some(mut call) = log.take(id) else { return Ok(()) };
    let shown = block.content.map(first_text).transpose()?.flatten();
    let said = if block.is_error {
        shown.map(|shown| shown.start_of_text(4096).0).unwrap_or_default()
    } else {
        Cow::default()
    };
    if block.is_error && is_denial(&said, fields) {
        log.denied(id, call, said.trim());
        return Ok(());
    }
    match call.role {
        ToolRole::Shell => shell(id, call, block, fields, log, shown, &said),
        ToolRole::Edit if !block.is_error => {
            let given = &fields.given;
            let sides = given.sides()?;
            if let Some(file) = &given.file {
                let path = log.file(file);
                match call.edits.first_mut() {
                    Some(edit) => edit.path = path,
                    None => call.edits = vec![log.edit(file, EditKind::Written, Sides::default())],
                }
            }
            if let (Some(edit), Some(sides)) = (call.edits.first_mut(), sides) {
                (edit.removed, edit.added) = (sides.removed, sides.added);
            }
            log.edited(id, call.edits);
        }
        ToolRole::Agent => {
            let given = &fields.given;
            if let Some(agent) = given.agent.as_deref().filter(|_| given.status == "completed") {
                log.act(Some(id), Act::SubagentEnded(agent.to_owned()));
            }
        }
        ToolRole::ShellOutput => {
            let given = &fields.given;
            let task = given.task.as_deref().unwrap_or(&call.what);
            if matches!(&*given.status, "completed" | "failed" | "killed") {
                let exit = given.exit.and_then(|code| i32::try_from(code).ok()).map(Ended::Exited);
                log.command_ended(task, exit, given.stdout.map(kept_text::tail).unwrap_or_default());
            }
            log.used(id, call, block.is_error);
        }
        _ => log.used(id, call, block.is_error),
    }
    Ok(())
}

fn shell(
    id: &str,
    call: OpenCall,
    block: &Block<'_>,
    fields: &ClaudeFields<'_>,
    log: &mut Transcript<'_>,
    shown: Option<Raw<'_>>,
    said: &str,
) {
    if block.is_error {
        // Refused before anything ran: the arguments made no sense.
        if said.starts_with("<tool_use_error>") || said.starts_with("InputValidationError") {
            log.used(id, call, true);
            return;
        }
        let ended =
            said.strip_prefix("Exit code").and_then(|_| kept_text::number_after(said, "Exit code")).map(Ended::Exited);
        let mut tail = shown.map(kept_text::tail).unwrap_or_default();
        if let Some(rest) = tail.strip_prefix("Exit code").filter(|_| ended.is_some()) {
            tail = rest.split_once('\n').map(|(_, rest)| rest.to_owned()).unwrap_or_default();
        }
        log.command(id, call, CommandEnding { ended, tail, background: false });
        return;
    }
    let given = &fields.given;
    // Of a long output the model sees the beginning only.
    let is_preview = shown.is_some_and(|shown| shown.start_of_text(32).0.starts_with("<persisted-output>"));
    let shown = if is_preview { given.stdout } else { shown };
    let mut tail = shown.map(kept_text::tail).unwrap_or_default();
    if tail == "(Bash completed with no output)" {
        tail.clear();
    }
    if let Some(task) = &given.background {
        // What the model sees ends with the client's own words.
        let tail = given.stdout.map(kept_text::tail).unwrap_or_default();
        log.left_running(task, id);
        log.command(id, call, CommandEnding { ended: None, tail, background: true });
        return;
    }
    // The client calls a status of 1 a success where the program means "nothing found" by it, and says so in words.
    let ended = match (given.interrupted, given.interpretation) {
        (true, _) => None,
        (false, true) => Some(Ended::Exited(1)),
        (false, false) => Some(Ended::Exited(0)),
    };
    log.command(id, call, CommandEnding { ended, tail, background: false });
}

fn is_denial(said: &str, fields: &ClaudeFields<'_>) -> bool {
    const WORDS: [&str; 4] = [
        "The user doesn't want to ",
        "Permission to use ",
        "This command requires approval",
        "Claude requested permissions ",
    ];
    fields.is_denied
        || said.starts_with("PreToolUse:") && said.contains("hook error")
        || WORDS.iter().any(|words| said.starts_with(words))
}

/// Returns the text of a result: itself, or its first block of text.
fn first_text(content: Raw<'_>) -> Result<Option<Raw<'_>>, BrokenJson> {
    if content.is_text() {
        return Ok(Some(content));
    }
    let mut found = None;
    content.walk().array(|walk| {
        walk.object(|walk, key| {
            if key == b"text" && found.is_none() {
                found = Some(walk.raw()?);
            }
            Ok(())
        })
    })?;
    Ok(found)
}
