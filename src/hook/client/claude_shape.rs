//! The shape of hooks that Claude Code and Codex share: the names of the events and of their fields. The contents
//! differ and are read in the clients' own modules.

use serde_json::Value;

use super::hook_event::{HookEvent, HookEventKind, StartedTool, Stopping};
use super::payload::{self, TEXT, named, path, prompt, text};
use crate::client_definition::ClientFile;
use crate::event::agent_work::{Phase, StopKind};
use crate::foreign_text::beginning_in_bytes;

/// Reads the common fields of a call. `what` is its event.
pub(super) fn read(payload: &Value, what: HookEventKind) -> HookEvent {
    HookEvent {
        session: text(payload, "session_id").to_owned(),
        dir: path(payload, "cwd"),
        log: path(payload, "transcript_path"),
        planning: named(payload, "permission_mode").map(|mode| mode == "plan"),
        // Inside a sub-agent the session is still the parent's.
        actor: named(payload, "agent_id"),
        actor_type: named(payload, "agent_type"),
        what,
    }
}

/// Reads an event that means the same in both clients.
pub(super) fn what(file: &ClientFile, event: &str, payload: &Value) -> HookEventKind {
    match event {
        "SessionStart" => HookEventKind::Session(match text(payload, "source") {
            "resume" => Phase::Resumed,
            "fork" => Phase::Forked,
            "compact" => Phase::Compacted,
            _ => Phase::Started,
        }),
        "SessionEnd" => HookEventKind::Session(Phase::Ended),
        "PreCompact" => HookEventKind::Session(Phase::Compacted),
        "UserPromptSubmit" => prompt(file, text(payload, "prompt")),
        "PreToolUse" => HookEventKind::Before(call(file, payload)),
        "SubagentStart" => HookEventKind::SubagentStarted(text(payload, "agent_id").to_owned()),
        "SubagentStop" => HookEventKind::SubagentEnded(text(payload, "agent_id").to_owned()),
        "Stop" => stop(StopKind::Completed, text(payload, "last_assistant_message"), &running(payload)),
        "StopFailure" => stop(StopKind::Failed, "", &[]),
        _ => HookEventKind::Nothing,
    }
}

/// Reads the tool call of an event.
pub(super) fn call(file: &ClientFile, payload: &Value) -> StartedTool {
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    payload::call(&file.tools, named(payload, "tool_use_id"), text(payload, "tool_name"), input)
}

/// Returns the end of a turn, while these lines run in the background.
pub(super) fn stop(how: StopKind, words: &str, running: &[&str]) -> HookEventKind {
    let commands = running.iter().map(|line| beginning_in_bytes(line, TEXT)).collect();
    let running = u32::try_from(running.len()).unwrap_or(u32::MAX);
    HookEventKind::Stop(Stopping { how, words: words.to_owned(), running, commands, message: None })
}

/// Returns the commands that the client itself still waits for.
fn running(payload: &Value) -> Vec<&str> {
    let tasks = payload.get("background_tasks").and_then(Value::as_array).into_iter().flatten();
    let running = tasks.filter(|task| matches!(text(task, "status"), "running" | "pending" | ""));
    running.map(|task| text(task, "command")).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::agent_work::Speaker;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(client: &str, event: &str, payload: Value) -> HookEvent {
        let file = ClientFile::of(client);
        read(&payload, what(&file, event, &payload))
    }

    #[test]
    fn a_prompt_is_a_persons_only_where_a_person_wrote_it() {
        for (client, payload, expected) in [
            ("claude", json!({"prompt": "add a parser"}), Speaker::Person),
            ("claude", json!({"prompt": "<local-command-stdout>x"}), Speaker::Client),
            ("claude", json!({"prompt": "<task-notification>odd"}), Speaker::Client),
            ("codex", json!({"prompt": "<environment_context>"}), Speaker::Client),
        ] {
            let shown = payload.to_string();
            match told(client, "UserPromptSubmit", payload).what {
                HookEventKind::Prompt { from, .. } => assert_eq!(from, expected, "{client} {shown}"),
                other => panic!("{other:?}"),
            }
        }
    }

    #[test]
    fn stops_tell_what_still_runs_and_who_stops() {
        let tasks = json!([{"status": "running", "command": "make"}, {"status": "completed"}]);
        let payload = json!({"last_assistant_message": "Done.", "background_tasks": tasks});
        assert_eq!(told("claude", "Stop", payload).what, stop(StopKind::Completed, "Done.", &["make"]));
        assert_eq!(told("codex", "Stop", json!({"agent_id": "a"})).actor.as_deref(), Some("a"));
        assert!(told("claude", "Stop", json!({"permission_mode": "plan"})).planning == Some(true));
        assert_eq!(told("claude", "FileChanged", json!({})).what, HookEventKind::Nothing);
        assert_eq!(told("codex", "PermissionRequest", json!({})).what, HookEventKind::Nothing);
    }

    #[test]
    fn a_session_begins_in_several_ways() {
        for (source, phase) in [
            ("startup", Phase::Started),
            ("clear", Phase::Started),
            ("resume", Phase::Resumed),
            ("fork", Phase::Forked),
            ("compact", Phase::Compacted),
        ] {
            assert_eq!(told("claude", "SessionStart", json!({"source": source})).what, HookEventKind::Session(phase));
        }
    }
}
