//! Parses the standard input of client hooks: JSON whose fields may change with every version.

use std::path::PathBuf;

use serde_json::Value;

use super::hook_event::{HookEventKind, StartedTool, ToolAction};
use crate::client_definition::{ClientFile, Tools};
use crate::digest::hex_digest;
use crate::event::agent_work::{EditKind, FileEdit, MADE_UP, PlanItem, Speaker};
use crate::foreign_text::beginning_in_bytes;
use crate::repo_path::RepoPath;

/// The maximum length of a text, in bytes. The rest is cut off.
pub(super) const TEXT: usize = 16 * 1024;
/// The maximum length of the lines of an edit, in bytes.
const LINES: usize = 4 * 1024;
/// The maximum number of edits of one call.
const EDITS: usize = 256;

/// Parses a payload. A client that cuts a text inside a character leaves half of a surrogate pair. It becomes the
/// replacement character, as in the logs, and so does invalid UTF-8: the rest of the payload is still of use.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, serde_json::Error> {
    serde_json::from_slice(bytes).or_else(|error| {
        let text = String::from_utf8_lossy(bytes);
        serde_json::from_str(&whole_characters(&text)).map_err(|_| error)
    })
}

/// Replaces every half of a surrogate pair in JSON by the replacement character. A backslash is always in a string.
fn whole_characters(json: &str) -> String {
    let half = |text: &str| -> Option<u16> { u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok() };
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = rest.find('\\') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
        match half(rest) {
            Some(0xd800..=0xdbff) if matches!(rest.get(6..).and_then(half), Some(0xdc00..=0xdfff)) => length = 12,
            Some(0xd800..=0xdfff) => {
                out.push_str("\\ufffd");
                rest = &rest[6..];
                continue;
            }
            _ => {}
        }
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out.push_str(rest);
    out
}

/// Returns the text of a field, or an empty text if it is not a text.
pub(super) fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// Returns the text of the first of these fields that has one.
pub(super) fn first<'v>(value: &'v Value, keys: &[&str]) -> Option<&'v str> {
    keys.iter().find_map(|key| value.get(*key).and_then(Value::as_str))
}

/// Returns a text that is not empty.
pub(super) fn named(value: &Value, key: &str) -> Option<String> {
    Some(text(value, key)).filter(|text| !text.is_empty()).map(str::to_owned)
}

/// Returns a path that is not empty.
pub(super) fn path(value: &Value, key: &str) -> Option<PathBuf> {
    named(value, key).map(PathBuf::from)
}

/// Returns `true` if a field is `true`.
pub(super) fn flag(value: &Value, key: &str) -> bool {
    value.get(key).and_then(Value::as_bool).unwrap_or(false)
}

/// Reads a prompt. Some begin in a way that only the client's own prompts do.
pub(super) fn prompt(file: &ClientFile, text: &str) -> HookEventKind {
    let begin = text.trim_start();
    let of_the_client = file.prompts.of_the_client.iter().any(|start| begin.starts_with(start.as_str()));
    let from = if of_the_client { Speaker::Client } else { Speaker::Person };
    HookEventKind::Prompt { from, text: text.to_owned() }
}

/// Reads a tool call: the action of a tool of this name on this input. If the client gives no id, its content is its
/// id.
pub(super) fn call(tools: &Tools, id: Option<String>, name: &str, input: &Value) -> StartedTool {
    let made_up = || {
        let digest = hex_digest(&[name.as_bytes(), input.to_string().as_bytes()]);
        format!("{MADE_UP}{}", &digest[..16])
    };
    let id = id.unwrap_or_else(made_up);
    let does = if tools.reads.has(name) {
        ToolAction::Reads
    } else if tools.shell.has(name) {
        shell(input)
    } else if tools.edits.has(name) {
        ToolAction::Edits(edits(input))
    } else if tools.plans.has(name) {
        ToolAction::Plans(plan(input))
    } else if tools.asks.has(name) {
        ToolAction::Asks(beginning_in_bytes(&question(input), TEXT))
    } else {
        let target = first(input, &["file_path", "path", "pattern", "url", "query", "prompt", "description"]);
        ToolAction::Other(beginning_in_bytes(target.unwrap_or_default(), 512))
    };
    StartedTool { id, name: name.to_owned(), does }
}

fn shell(input: &Value) -> ToolAction {
    let line = match input.get("command") {
        // Some clients hand over the words of `bash -lc LINE`.
        Some(Value::Array(words)) => words.last().and_then(Value::as_str).unwrap_or_default(),
        _ => first(input, &["command", "cmd"]).unwrap_or_default(),
    };
    ToolAction::Shell {
        line: line.to_owned(),
        dir: first(input, &["workdir", "cwd", "directory", "dir_path"])
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from),
        background: flag(input, "run_in_background") || flag(input, "is_background"),
    }
}

/// Returns the edits of a call, under any client's names of their fields. An input that is a patch is parsed.
fn edits(input: &Value) -> Vec<FileEdit> {
    if let Some(patch) = first(input, &["command", "input", "patch", "patchText"])
        && patch.contains("*** Begin Patch")
    {
        return super::patch::edits(patch);
    }
    let Some(path) = first(input, &["file_path", "path", "filePath", "notebook_path"]) else { return Vec::new() };
    let edit = |value: &Value| FileEdit {
        path: RepoPath::from(path),
        how: EditKind::Written,
        removed: beginning_in_bytes(first(value, &["old_string", "old_str", "oldString"]).unwrap_or_default(), LINES),
        added: beginning_in_bytes(
            first(value, &["new_string", "new_str", "newString", "content", "file_text", "new_source", "insert_text"])
                .unwrap_or_default(),
            LINES,
        ),
    };
    match input.get("edits").and_then(Value::as_array) {
        Some(several) if !several.is_empty() => several.iter().take(EDITS).map(edit).collect(),
        _ => vec![edit(input)],
    }
}

fn plan(input: &Value) -> Vec<PlanItem> {
    let items = ["todos", "plan", "items"].iter().find_map(|key| input.get(*key).and_then(Value::as_array));
    let item = |item: &Value| PlanItem {
        text: beginning_in_bytes(first(item, &["content", "step", "text", "description"]).unwrap_or_default(), 512),
        done: matches!(text(item, "status"), "completed" | "done"),
    };
    items.into_iter().flatten().take(64).map(item).collect()
}

fn question(input: &Value) -> String {
    let several = input.get("questions").and_then(Value::as_array).into_iter().flatten();
    let texts: Vec<&str> = several.filter_map(|one| first(one, &["question", "text"])).collect();
    if texts.is_empty() {
        first(input, &["question", "text", "prompt"]).unwrap_or_default().to_owned()
    } else {
        texts.join("\n")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_character_costs_no_more_than_itself() {
        for (json, text) in [
            (r#"{"a": "plain"}"#, "plain"),
            (r#"{"a": "cut \ud83d"}"#, "cut \u{fffd}"),
            (r#"{"a": "\ude00 \ud83d\ude00 \ud83d\ud83d\ude00 \ud83dx\n"}"#, "\u{fffd} 😀 \u{fffd}😀 \u{fffd}x\n"),
            (r#"{"a": "\\ud83d \ud83d\\"}"#, "\\ud83d \u{fffd}\\"),
            (r#"{"a": "\uD83D\u0041"}"#, "\u{fffd}A"),
        ] {
            assert_eq!(parse(json.as_bytes()).unwrap()["a"], text, "{json}");
        }
        assert_eq!(parse(b"{\"a\": \"\xff\"}").unwrap()["a"], "\u{fffd}");
        for broken in [&b""[..], b"{", b"\xff", b"{\"a\": \"\\ud83d", b"{\"a\": \"\\ud8\"}", b"{\"a\": \"\\"] {
            assert!(parse(broken).is_err());
        }
    }

    #[test]
    fn texts_are_cut_between_characters() {
        for (text, max, cut) in [("abc", 3, "abc"), ("abc", 2, "ab"), ("aé", 2, "a"), ("é", 1, ""), ("", 9, "")] {
            assert_eq!(beginning_in_bytes(text, max), cut);
        }
    }

    #[test]
    fn an_edit_is_read_in_every_spelling() {
        for (input, removed, added) in [
            (json!({"file_path": "a", "old_string": "x", "new_string": "y"}), "x", "y"),
            (json!({"path": "a", "old_str": "x", "new_str": "y"}), "x", "y"),
            (json!({"filePath": "a", "oldString": "x", "newString": "y"}), "x", "y"),
            (json!({"file_path": "a", "content": "y"}), "", "y"),
            (json!({"path": "a", "file_text": "y"}), "", "y"),
            (json!({"file_path": "a", "edits": [{"old_string": "x", "new_string": "y"}]}), "x", "y"),
        ] {
            let found = edits(&input);
            assert_eq!(found.len(), 1, "{input}");
            assert_eq!((&*found[0].removed, &*found[0].added), (removed, added), "{input}");
            assert_eq!(found[0].path, RepoPath::from("a"));
        }
        assert!(edits(&json!({"content": 3})).is_empty());
    }

    #[test]
    fn a_command_is_read_as_line_or_words() {
        let line = |input: Value| match shell(&input) {
            ToolAction::Shell { line, .. } => line,
            other => panic!("{other:?}"),
        };
        assert_eq!(line(json!({"command": "make test"})), "make test");
        assert_eq!(line(json!({"cmd": "make test"})), "make test");
        assert_eq!(line(json!({"command": ["bash", "-lc", "make test"]})), "make test");
        assert_eq!(line(json!({"command": 3})), "");
    }

    #[test]
    fn a_plan_and_a_question_are_read() {
        let found = plan(&json!({"todos": [{"content": "a", "status": "completed"}, {"content": "b"}]}));
        assert_eq!(found.iter().map(|item| (&*item.text, item.done)).collect::<Vec<_>>(), [("a", true), ("b", false)]);
        assert_eq!(question(&json!({"questions": [{"question": "which?"}, {"question": "when?"}]})), "which?\nwhen?");
    }
}
