//! Code mode: the tool `exec` runs a script in JavaScript, and the script calls the other tools.
//!
//! Most logs tell of each command and each edit by an item of its own. Where they do not, the script is read: calls whose
//! arguments are literal, in the order of the text. A status counts only where it is clear whose it is.

mod calls;

use self::calls::calls;
use super::super::client::{Client, ToolRole};
use super::super::event_builder::{CommandEnding, OpenCall, ScriptedCall, Transcript};
use super::super::kept_text::{self, LINE, Sides};
use super::super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::super::patch;
use crate::event::{EditKind, Ended};

/// The mark of a script whose commands are told by items.
pub(super) const COMMANDS: &str = "scripted commands";
/// The same of its edits.
pub(super) const EDITS: &str = "scripted edits";
/// The name of a file that only the run of the script knows.
const COMPUTED: &str = "(a file that a script names)";

/// A script is called.
pub(super) fn begins(id: &str, name: &str, script: &str, log: &mut Transcript<'_>) {
    log.memory.marks.remove(COMMANDS);
    log.memory.marks.remove(EDITS);
    let mut call = OpenCall::new(name, ToolRole::Script, String::new());
    call.scripted = calls(script);
    log.call(id, call);
}

/// An item tells of what a script does, if one runs.
pub(super) fn is_told(log: &mut Transcript<'_>, what: &str) {
    if log.memory.pending.values().any(|call| call.role == ToolRole::Script) {
        log.memory.marks.insert(what.to_owned(), String::new());
    }
}

/// A script ended, or went on in the background.
pub(super) fn ends(id: &str, call: OpenCall, output: Raw<'_>, log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let parts = parts(output)?;
    if let Some((_, blocked)) = parts.iter().find_map(|part| part.split_once(BLOCKED)) {
        let (reason, line) = blocked.split_once(". Command: ").unwrap_or((blocked, ""));
        let mut denied = OpenCall::new("exec_command", ToolRole::Shell, kept_text::start(line, LINE));
        denied.dir = log.dir(None);
        log.denied(id, denied, reason);
        return Ok(());
    }
    let told = |log: &Transcript<'_>, what: &str| log.memory.marks.contains_key(what);
    let (has_commands, has_edits) = (told(log, COMMANDS), told(log, EDITS));
    let lines = call.scripted.iter().filter(|call| matches!(call, ScriptedCall::Command { .. })).count();
    let mut outcomes = outcomes(&parts, lines).into_iter();
    for (number, scripted) in call.scripted.into_iter().enumerate() {
        let id = format!("{id} {number}");
        match scripted {
            ScriptedCall::Command { line, dir } => {
                let outcome = outcomes.next();
                if !has_commands {
                    let mut call = OpenCall::new("exec_command", ToolRole::Shell, kept_text::start(&line, LINE));
                    call.dir = log.dir(dir.as_deref());
                    let unknown = CommandEnding { ended: None, tail: String::new(), background: false };
                    log.command(&id, call, outcome.unwrap_or(unknown));
                }
            }
            ScriptedCall::Patch(patch) if !has_edits => {
                let edits = patch::edits(&patch, log);
                log.edited(&id, edits);
            }
            ScriptedCall::ComputedPatch if !has_edits => {
                log.unknown("patch that a script computes");
                let edit = log.edit(COMPUTED, EditKind::Written, Sides::default());
                log.edited(&id, vec![edit]);
            }
            ScriptedCall::ComputedCommand if !has_commands => log.unknown("command that a script computes"),
            ScriptedCall::Other(tool) => {
                let role = Client::Codex.role(&tool);
                log.used(&id, OpenCall::new(&tool, role, String::new()), false);
            }
            ScriptedCall::Patch(_) | ScriptedCall::ComputedPatch | ScriptedCall::ComputedCommand => {}
        }
    }
    Ok(())
}

/// The texts that a script gave, without the client's own before them.
fn parts(output: Raw<'_>) -> Result<Vec<String>, BrokenJson> {
    let mut parts = Vec::new();
    if output.is_text() {
        let whole = output.text_or_empty();
        let given = whole.split_once("Output:\n").map_or(&*whole, |(_, given)| given);
        return Ok(vec![given.to_owned()]);
    }
    output.walk().array(|walk| {
        walk.object(|walk, key| {
            if key == b"text" {
                parts.push(walk.raw()?.text_or_empty().into_owned());
            }
            Ok(())
        })
    })?;
    if parts.first().is_some_and(|first| first.starts_with("Script ")) {
        parts.remove(0);
    }
    Ok(parts)
}

/// How each of `lines` commands ended, as far as the script printed their results as they are.
fn outcomes(parts: &[String], lines: usize) -> Vec<CommandEnding> {
    let mut results = Vec::new();
    for part in parts {
        let mut walk = JsonCursor::new(part.as_bytes());
        let list = part.trim_start().starts_with('[');
        // A part that is not a result says nothing about the others.
        let _ = if list { walk.array(|walk| result(walk, &mut results)) } else { result(&mut walk, &mut results) };
    }
    let alike = results.windows(2).all(|pair| pair[0].0 == pair[1].0);
    if results.len() == lines && alike {
        let outcome = |(code, output): (i32, String)| CommandEnding {
            ended: Some(Ended::Exited(code)),
            tail: kept_text::tail_of(&output, false),
            background: false,
        };
        return results.into_iter().map(outcome).collect();
    }
    if lines == 1 {
        let tail = kept_text::tail_of(&parts.join("\n"), false);
        return vec![CommandEnding { ended: None, tail, background: false }];
    }
    Vec::new()
}

/// The result of a command as the tool gives it.
fn result(walk: &mut JsonCursor<'_>, results: &mut Vec<(i32, String)>) -> Result<(), BrokenJson> {
    let (mut code, mut output) = (None, None);
    walk.object(|walk, key| {
        match key {
            b"exit_code" => code = walk.raw()?.number().and_then(|code| i32::try_from(code).ok()),
            b"output" => output = walk.text()?.map(Into::into),
            _ => {}
        }
        Ok(())
    })?;
    if let (Some(code), Some(output)) = (code, output) {
        results.push((code, output));
    }
    Ok(())
}

/// The words before the quoted refusal of a hook.
pub(super) const BLOCKED: &str = "Command blocked by PreToolUse hook: ";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_that_of_a_command_only_where_it_is_clear() {
        let told = |parts: &[&str], lines: usize| -> Vec<Option<Ended>> {
            let parts: Vec<String> = parts.iter().map(|part| (*part).to_owned()).collect();
            outcomes(&parts, lines).into_iter().map(|outcome| outcome.ended).collect()
        };
        let ok = r#"{"exit_code":0,"output":"ok"}"#;
        let bad = r#"{"exit_code":1,"output":""}"#;
        assert_eq!(told(&[ok], 1), [Some(Ended::Exited(0))]);
        assert_eq!(told(&[ok, ok], 2), [Some(Ended::Exited(0)); 2]);
        assert_eq!(told(&[&format!("[{bad},{bad}]")], 2), [Some(Ended::Exited(1)); 2]);
        assert_eq!(told(&["3 passed"], 1), [None]);
        for (parts, lines) in [(&[ok, bad][..], 2), (&[ok][..], 2), (&["x", "y"][..], 2)] {
            assert!(told(parts, lines).is_empty(), "{parts:?}");
        }
    }
}
