//! Codex: its payloads, as version 0.169.0 was observed to write them. The shape is that of Claude Code with other
//! contents: no status of a command is told, and the hook fires for failures as for successes.

use serde_json::Value;

use super::payload::{self, named, path, text};
use super::told::{Call, Ending, Stopping, Told, What};
use crate::client_file::ClientFile;
use crate::event::work::{Phase, Speaker, StopKind};

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> Told {
    let actor = named(payload, "agent_id");
    Told {
        session: text(payload, "session_id").to_owned(),
        dir: path(payload, "cwd"),
        log: path(payload, "transcript_path"),
        planning: text(payload, "permission_mode") == "plan",
        what: what(file, event, payload, actor.is_some()),
        actor,
    }
}

fn what(file: &ClientFile, event: &str, payload: &Value, subagent: bool) -> What {
    match event {
        "SessionStart" => What::Session(match text(payload, "source") {
            "resume" => Phase::Resumed,
            "compact" => Phase::Compacted,
            _ => Phase::Started,
        }),
        "SessionEnd" => What::Session(Phase::Ended),
        "PreCompact" => What::Session(Phase::Compacted),
        "UserPromptSubmit" => {
            let prompt = text(payload, "prompt");
            let begin = prompt.trim_start();
            let from = if subagent {
                Speaker::Agent
            } else if file.prompts.of_the_client.iter().any(|start| begin.starts_with(start.as_str())) {
                Speaker::Client
            } else {
                Speaker::Person
            };
            What::Prompt { from, text: prompt.to_owned() }
        }
        "PreToolUse" => What::Before(call(file, payload)),
        "PostToolUse" => What::After(call(file, payload), ending(payload)),
        "SubagentStart" => What::SubagentStarted(text(payload, "agent_id").to_owned()),
        "SubagentStop" => What::SubagentEnded(text(payload, "agent_id").to_owned()),
        "Stop" if subagent => What::SubagentEnded(text(payload, "agent_id").to_owned()),
        "Stop" => stop(StopKind::Completed, text(payload, "last_assistant_message")),
        "StopFailure" => stop(StopKind::Failed, ""),
        "Interrupt" => stop(StopKind::Aborted, ""),
        _ => What::Nothing,
    }
}

fn stop(how: StopKind, words: &str) -> What {
    What::Stop(Stopping { how, words: words.to_owned(), running: 0, message: None })
}

fn call(file: &ClientFile, payload: &Value) -> Call {
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    payload::call(&file.tools, named(payload, "tool_use_id"), text(payload, "tool_name"), input)
}

fn ending(payload: &Value) -> Ending {
    let output = match payload.get("tool_response") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => text(other, "output").to_owned(),
        None => String::new(),
    };
    Ending { in_log: true, output, ..Ending::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::told::Does;
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(event: &str, payload: Value) -> Told {
        read(&ClientFile::of("codex"), event, &payload)
    }

    #[test]
    fn a_command_has_output_and_no_status() {
        let payload = json!({"session_id": "s", "tool_name": "Bash", "tool_use_id": "call_1",
            "tool_input": {"command": "make test"}, "tool_response": "1 failed\n"});
        let What::After(call, ending) = told("PostToolUse", payload).what else { panic!() };
        assert_eq!(call.id, "call_1");
        assert_eq!((ending.ended, ending.in_log, ending.output.as_str()), (None, true, "1 failed\n"));
    }

    #[test]
    fn a_patch_is_edits() {
        let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n";
        let payload = json!({"tool_name": "apply_patch", "tool_use_id": "c", "tool_input": {"command": patch}});
        let What::Before(Call { does: Does::Edits(edits), .. }) = told("PreToolUse", payload).what else { panic!() };
        assert_eq!((edits.len(), &*edits[0].added), (1, "y"));
    }

    #[test]
    fn sub_agents_are_no_persons_and_end_nothing() {
        let what = told("UserPromptSubmit", json!({"prompt": "x", "agent_id": "a"})).what;
        assert!(matches!(what, What::Prompt { from: Speaker::Agent, .. }), "{what:?}");
        let what = told("UserPromptSubmit", json!({"prompt": "<environment_context>"})).what;
        assert!(matches!(what, What::Prompt { from: Speaker::Client, .. }), "{what:?}");
        assert_eq!(told("Stop", json!({"agent_id": "a"})).what, What::SubagentEnded("a".to_owned()));
        assert_eq!(told("PermissionRequest", json!({})).what, What::Nothing);
    }
}
