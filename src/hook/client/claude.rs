//! The payloads of Claude Code, as version 2.1.330 was observed to write them.

use std::path::PathBuf;

use serde_json::Value;

use super::claude_shape;
use super::hook_event::{BackgroundOutput, HookEvent, HookEventKind, ReportedEnding, StartedTool};
use super::payload::{first, flag, text};
use crate::client_definition::ClientFile;
use crate::event::Ended;
use crate::foreign_text::beginning_in_bytes;

/// The signal that stops a command in the background.
const TERM: i32 = 15;

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> HookEvent {
    let own = match event {
        "UserPromptSubmit" => notification(text(payload, "prompt")),
        "PostToolUse" => Some(HookEventKind::After(claude_shape::call(file, payload), ending(payload))),
        "PostToolUseFailure" => Some(failure(claude_shape::call(file, payload), payload)),
        _ => None,
    };
    claude_shape::read(payload, own.unwrap_or_else(|| claude_shape::what(file, event, payload)))
}

/// Returns the end of a background command. It causes the event of a prompt, too, although no person wrote it.
fn notification(prompt: &str) -> Option<HookEventKind> {
    background_end(prompt.trim_start().strip_prefix("<task-notification>")?)
}

fn background_end(notification: &str) -> Option<HookEventKind> {
    let tag = |name: &str| {
        let (_, rest) = notification.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    // `completed (exit code 0)`, `failed with exit code 3`.
    let status = tag("summary").and_then(|summary| summary.rsplit_once("exit code ")).map(|(_, rest)| rest);
    let killed = || (tag("status") == Some("killed")).then_some(Ended::Signalled(TERM));
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    Some(HookEventKind::BackgroundEnded {
        call: tag("tool-use-id")?.to_owned(),
        ended: status.and_then(digits).map(Ended::Exited).or_else(killed),
        output: tag("output-file").map_or(BackgroundOutput::Unknown, |file| BackgroundOutput::File(file.into())),
    })
}

/// Returns the end of a call that succeeded. Its payload has no status. For Claude Code, a command succeeds if it ends
/// with 0, or with a status that it interprets: then the payload says so, and the status itself is lost.
fn ending(payload: &Value) -> ReportedEnding {
    let response = payload.get("tool_response").unwrap_or(&Value::Null);
    let millis = payload.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
    let background = response.get("backgroundTaskId").is_some_and(|id| !id.is_null());
    let lost = flag(response, "interrupted")
        || response.get("returnCodeInterpretation").is_some_and(|said| !said.is_null())
        || response.get("timedOutAfterMs").is_some_and(|said| !said.is_null());
    let mut output = text(response, "stdout").to_owned();
    let errors = text(response, "stderr");
    if !errors.is_empty() {
        if !output.is_empty() && !output.ends_with('\n') {
            output.push('\n');
        }
        output.push_str(errors);
    }
    let known = response.get("stdout").is_some() && !background && !lost;
    if known && output.is_empty() {
        // Nothing was printed, which is more than not to know what was.
        output.push('\n');
    }
    // Of a long output, the payload has the beginning.
    let whole = response.get("persistedOutputPath").and_then(Value::as_str).map(PathBuf::from);
    let ended = known.then_some(Ended::Exited(0));
    ReportedEnding { ended, background, output, whole, millis, ..ReportedEnding::default() }
}

/// Reads `Exit code 3` and the output after it. Any other call that fails did not run, or was interrupted.
fn failure(call: StartedTool, payload: &Value) -> HookEventKind {
    let error = first(payload, &["error"]).unwrap_or_default();
    let (head, rest) = error.split_once('\n').unwrap_or((error, ""));
    match head.strip_prefix("Exit code ").and_then(|code| code.trim().parse().ok()) {
        // Broken off while it ran.
        Some(code) if !flag(payload, "is_interrupt") || Ended::Exited(code).killed_by().is_some() => {
            let millis = payload.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
            let output = rest.to_owned();
            HookEventKind::After(
                call,
                ReportedEnding { ended: Some(Ended::Exited(code)), output, millis, ..ReportedEnding::default() },
            )
        }
        _ => HookEventKind::Failed(call, beginning_in_bytes(error, 2048)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::hook_event::ToolAction;
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(event: &str, payload: Value) -> HookEvent {
        read(&ClientFile::of("claude"), event, &payload)
    }

    #[test]
    fn the_end_of_a_background_command_is_no_prompt() {
        let notification = "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t1</tool-use-id>\n\
                            <output-file>/tmp/b1.output</output-file>\n<status>failed</status>\n\
                            <summary>Background command \"x\" failed with exit code 3</summary>\n</task-notification>";
        let what = told("UserPromptSubmit", json!({"prompt": notification})).what;
        let output = BackgroundOutput::File("/tmp/b1.output".into());
        assert_eq!(
            what,
            HookEventKind::BackgroundEnded { call: "t1".to_owned(), ended: Some(Ended::Exited(3)), output }
        );
    }

    #[test]
    fn a_long_output_is_in_a_file() {
        let payload = json!({
            "tool_name": "Bash", "tool_input": {"command": "make test"},
            "tool_response": {"stdout": "ok 1\n", "persistedOutputPath": "/x/b1.txt", "persistedOutputSize": 40_000},
        });
        let HookEventKind::After(_, ending) = told("PostToolUse", payload).what else { panic!("an end") };
        assert_eq!(ending.whole.as_deref(), Some(std::path::Path::new("/x/b1.txt")));
    }

    #[test]
    fn statuses_are_read_where_they_are_known() {
        let bash = |response: Value| {
            let payload = json!({
                "session_id": "s", "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make test"},
                "tool_response": response, "duration_ms": 12,
            });
            match told("PostToolUse", payload).what {
                HookEventKind::After(call, ending) => {
                    assert!(matches!(call.does, ToolAction::Shell { .. }), "{call:?}");
                    ending
                }
                other => panic!("{other:?}"),
            }
        };
        let ended = bash(json!({"stdout": "ok", "stderr": "", "interrupted": false}));
        assert_eq!((ended.ended, ended.output.as_str(), ended.millis), (Some(Ended::Exited(0)), "ok", 12));
        assert_eq!(bash(json!({"stdout": "", "interrupted": true})).ended, None);
        assert_eq!(bash(json!({"stdout": "", "returnCodeInterpretation": "No matches found"})).ended, None);
        let left = bash(json!({"stdout": "", "backgroundTaskId": "b1"}));
        assert_eq!((left.ended, left.background), (None, true));
        assert_eq!(bash(json!("odd")).ended, None, "a form that is not known proves nothing");
    }

    #[test]
    fn a_failure_has_its_status_in_its_first_line() {
        let failed = |error: &str, interrupt: bool| {
            let payload =
                json!({"tool_name": "Bash", "tool_input": {"command": "x"}, "error": error, "is_interrupt": interrupt});
            told("PostToolUseFailure", payload).what
        };
        match failed("Exit code 3\nrunning tests\n1 failed", false) {
            HookEventKind::After(_, ending) => {
                assert_eq!((ending.ended, &*ending.output), (Some(Ended::Exited(3)), "running tests\n1 failed"));
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(failed("Exit code 3", true), HookEventKind::Failed(..)));
        assert!(matches!(failed("The user doesn't want to proceed", false), HookEventKind::Failed(..)));
    }
}
