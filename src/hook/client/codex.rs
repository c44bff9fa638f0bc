//! The payloads of Codex, as version 0.169.0 was observed to write them. The shape is that of Claude Code with other
//! contents: the status of a command is missing, and the hook is called for failures as for successes.

use serde_json::Value;

use super::claude_shape;
use super::hook_event::{HookEvent, HookEventKind, ReportedEnding};
use super::payload::text;
use crate::client_definition::ClientFile;
use crate::event::agent_work::StopKind;

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> HookEvent {
    let what = match event {
        "PostToolUse" => HookEventKind::After(claude_shape::call(file, payload), ending(payload)),
        "Interrupt" => claude_shape::stop(StopKind::Aborted, "", &[]),
        _ => claude_shape::what(file, event, payload),
    };
    claude_shape::read(payload, what)
}

fn ending(payload: &Value) -> ReportedEnding {
    let output = match payload.get("tool_response") {
        Some(Value::String(text)) => text.clone(),
        Some(other) => text(other, "output").to_owned(),
        None => String::new(),
    };
    ReportedEnding { in_log: true, output, ..ReportedEnding::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::hook_event::{StartedTool, ToolAction};
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(event: &str, payload: Value) -> HookEvent {
        read(&ClientFile::of("codex"), event, &payload)
    }

    #[test]
    fn a_command_has_output_and_no_status() {
        let payload = json!({"session_id": "s", "tool_name": "Bash", "tool_use_id": "call_1",
            "tool_input": {"command": "make test"}, "tool_response": "1 failed\n"});
        let HookEventKind::After(call, ending) = told("PostToolUse", payload).what else { panic!() };
        assert_eq!(call.id, "call_1");
        assert_eq!((ending.ended, ending.in_log, ending.output.as_str()), (None, true, "1 failed\n"));
    }

    #[test]
    fn a_patch_is_edits() {
        let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-x\n+y\n*** End Patch\n";
        let payload = json!({"tool_name": "apply_patch", "tool_use_id": "c", "tool_input": {"command": patch}});
        let HookEventKind::Before(StartedTool { does: ToolAction::Edits(edits), .. }) =
            told("PreToolUse", payload).what
        else {
            panic!()
        };
        assert_eq!((edits.len(), &*edits[0].added), (1, "y"));
    }
}
