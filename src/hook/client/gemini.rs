//! The payloads of Gemini CLI, as version 0.61.0 was observed to write them. Tool calls have no id, and the status of a
//! command is a line in the text for the model, which is missing if it is 0.

use serde_json::Value;

use super::hook_event::{HookEvent, HookEventKind, ReportedEnding, StartedTool, Stopping};
use super::payload::{self, path, text};
use crate::client_definition::ClientFile;
use crate::event::{Ended, Phase, StopKind};
use crate::foreign_text::beginning_in_bytes;
use crate::parent_processes::{ParentProcess, processes_above};
use crate::source::sessions::{GeminiTrailer, without_hook_context};

/// The maximum number of processes between the client and gate: shells, and the process in which it restarts itself.
const MAX_DEPTH: usize = 6;

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> HookEvent {
    HookEvent {
        actor_type: None,
        session: text(payload, "session_id").to_owned(),
        dir: path(payload, "cwd"),
        log: path(payload, "transcript_path"),
        actor: None,
        // No payload tells, and the words that started the client do as long as nobody changes the mode.
        planning: (event == "BeforeAgent").then(starts_planning),
        what: what(file, event, payload),
    }
}

fn what(file: &ClientFile, event: &str, payload: &Value) -> HookEventKind {
    match event {
        "SessionStart" => HookEventKind::Session(match text(payload, "source") {
            "resume" => Phase::Resumed,
            _ => Phase::Started,
        }),
        "SessionEnd" => HookEventKind::Session(Phase::Ended),
        "BeforeAgent" => payload::prompt(file, without_hook_context(text(payload, "prompt"))),
        // A sub-agent acts in the session of the one above it, and nothing else says when.
        "BeforeTool" if delegates(file, payload) => HookEventKind::SubagentStarted(agent(payload)),
        "AfterTool" if delegates(file, payload) => HookEventKind::SubagentEnded(agent(payload)),
        "BeforeTool" => HookEventKind::Before(call(file, payload)),
        "AfterTool" => match plan_mode(payload) {
            Some(on) => HookEventKind::PlanMode(on),
            None => after(call(file, payload), payload),
        },
        "AfterAgent" => HookEventKind::Stop(Stopping {
            how: StopKind::Completed,
            words: text(payload, "prompt_response").to_owned(),
            running: 0,
            commands: Vec::new(),
            message: None,
        }),
        _ => HookEventKind::Nothing,
    }
}

/// Returns `true` if the client above this process was started in its plan mode.
fn starts_planning() -> bool {
    let in_plan_mode = |process: &ParentProcess| {
        let words = &process.words;
        let pair = |pair: &[String]| pair[0] == "--approval-mode" && pair[1] == "plan";
        words.iter().any(|word| word == "--approval-mode=plan") || words.windows(2).any(pair)
    };
    processes_above(MAX_DEPTH).iter().any(in_plan_mode)
}

/// Returns the plan mode after a tool that changes it: a person may refuse the change in both directions.
fn plan_mode(payload: &Value) -> Option<bool> {
    let said = payload.get("tool_response").map(|response| text(response, "llmContent")).unwrap_or_default();
    match text(payload, "tool_name") {
        "enter_plan_mode" => said.starts_with("Switching to Plan mode").then_some(true),
        "exit_plan_mode" => said.starts_with("Plan approved").then_some(false),
        _ => None,
    }
}

fn delegates(file: &ClientFile, payload: &Value) -> bool {
    file.tools.delegates.has(text(payload, "tool_name"))
}

fn agent(payload: &Value) -> String {
    payload.get("tool_input").map(|input| text(input, "agent_name")).unwrap_or_default().to_owned()
}

fn call(file: &ClientFile, payload: &Value) -> StartedTool {
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    payload::call(&file.tools, None, text(payload, "tool_name"), input)
}

/// Reads the end of a call. A command that the client's own filter refused looks like a success, but its text does not
/// have the form of a run.
fn after(call: StartedTool, payload: &Value) -> HookEventKind {
    let response = payload.get("tool_response").unwrap_or(&Value::Null);
    let said = text(response, "llmContent");
    if response.get("error").is_some_and(|error| !error.is_null()) {
        return HookEventKind::Failed(call, beginning_in_bytes(said, 2048));
    }
    let body = said.trim().strip_prefix("<untrusted_context>").unwrap_or(said.trim()).trim_start();
    let body = body.strip_suffix("</untrusted_context>").unwrap_or(body).trim_end();
    let Some(body) = body.strip_prefix("Output: ").or_else(|| body.strip_prefix("Output:")) else {
        return match &call.does {
            super::hook_event::ToolAction::Shell { .. } => HookEventKind::Failed(call, beginning_in_bytes(said, 2048)),
            _ => HookEventKind::After(call, ReportedEnding { output: String::new(), ..ReportedEnding::default() }),
        };
    };
    let shown = response.get("returnDisplay").and_then(Value::as_str);
    let GeminiTrailer { output, code, signal, background } = GeminiTrailer::of(body, shown);
    let ended = code.filter(|_| signal.is_none()).map(Ended::Exited);
    HookEventKind::After(
        call,
        ReportedEnding { ended, background, output: output.to_owned(), ..ReportedEnding::default() },
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn shell(said: &str) -> HookEventKind {
        let payload = json!({"session_id": "s", "tool_name": "run_shell_command",
            "tool_input": {"command": "make test"}, "tool_response": {"llmContent": said}});
        read(&ClientFile::of("gemini"), "AfterTool", &payload).what
    }

    #[test]
    fn a_status_is_a_line_behind_the_output() {
        for (said, ended, output) in [
            ("<untrusted_context>\nOutput: ok\nProcess Group PGID: 9\n</untrusted_context>", Some(0), "ok"),
            (
                "<untrusted_context>\nOutput: a\nb\nExit Code: 3\nProcess Group PGID: 9\n</untrusted_context>",
                Some(3),
                "a\nb",
            ),
            ("Output: Exit Code: 0\nx\nExit Code: 1\nProcess Group PGID: 9", Some(1), "Exit Code: 0\nx"),
            ("Output: x\nExit Code: 0\nExit Code: 1\nProcess Group PGID: 9", Some(1), "x\nExit Code: 0"),
            ("Output: x\nError: y\nExit Code: 1\nProcess Group PGID: 9", Some(1), "x\nError: y"),
            ("Output: x\nSignal: 9\nProcess Group PGID: 9", None, "x"),
            ("Output: cut off", None, "cut off"),
        ] {
            let HookEventKind::After(_, ending) = shell(said) else { panic!("{said}") };
            assert_eq!((ending.ended, &*ending.output), (ended.map(Ended::Exited), output), "{said}");
        }
    }

    #[test]
    fn a_prompt_is_what_a_person_typed() {
        for (sent, typed) in [
            ("Add a list.", "Add a list."),
            ("<hook_context>gate: notes on earlier tasks</hook_context>\n\nAdd a list.", "Add a list."),
        ] {
            let payload = json!({"session_id": "s", "prompt": sent});
            let read = read(&ClientFile::of("gemini"), "BeforeAgent", &payload).what;
            assert_eq!(read, payload::prompt(&ClientFile::of("gemini"), typed), "{sent}");
        }
    }

    #[test]
    fn a_tool_changes_the_plan_mode_where_nobody_refused() {
        for (tool, said, mode) in [
            ("enter_plan_mode", "Switching to Plan mode.", Some(true)),
            ("enter_plan_mode", "User cancelled entering Plan Mode.", None),
            (
                "exit_plan_mode",
                "Plan approved. Switching to Default mode (edits will require confirmation).",
                Some(false),
            ),
            ("exit_plan_mode", "Plan rejected. No feedback provided.", None),
            ("write_file", "Switching to Plan mode.", None),
        ] {
            let payload = json!({"tool_name": tool, "tool_input": {}, "tool_response": {"llmContent": said}});
            assert_eq!(plan_mode(&payload), mode, "{said}");
        }
    }

    #[test]
    fn a_refused_command_did_not_run() {
        assert!(matches!(shell("Command injection detected: $() is blocked"), HookEventKind::Failed(..)));
    }

    #[test]
    fn two_equal_calls_have_one_id_and_others_another() {
        let id = |command: &str| {
            let payload = json!({"tool_name": "run_shell_command", "tool_input": {"command": command}});
            match read(&ClientFile::of("gemini"), "BeforeTool", &payload).what {
                HookEventKind::Before(call) => call.id,
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(id("a"), id("a"));
        assert_ne!(id("a"), id("b"));
    }
}
