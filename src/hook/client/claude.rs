//! Claude Code: its payloads, as version 2.1.330 was observed to write them.

use serde_json::Value;

use super::payload::{self, first, flag, named, path, text};
use super::told::{Call, Ending, Stopping, Told, What};
use crate::client_file::ClientFile;
use crate::event::Ended;
use crate::event::work::{Phase, Speaker, StopKind};

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> Told {
    // Inside a sub-agent the session is still the parent's.
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
            "fork" => Phase::Forked,
            "compact" => Phase::Compacted,
            _ => Phase::Started,
        }),
        "SessionEnd" => What::Session(Phase::Ended),
        "PreCompact" => What::Session(Phase::Compacted),
        "UserPromptSubmit" => prompt(file, text(payload, "prompt"), subagent),
        "PreToolUse" => What::Before(call(file, payload)),
        "PostToolUse" => What::After(call(file, payload), ending(payload)),
        "PostToolUseFailure" => failure(call(file, payload), payload),
        "SubagentStart" => What::SubagentStarted(text(payload, "agent_id").to_owned()),
        "SubagentStop" => What::SubagentEnded(text(payload, "agent_id").to_owned()),
        // A sub-agent's own stop is no end of the work.
        "Stop" if subagent => What::SubagentEnded(text(payload, "agent_id").to_owned()),
        "Stop" => What::Stop(Stopping {
            how: StopKind::Completed,
            words: text(payload, "last_assistant_message").to_owned(),
            running: running(payload),
            message: None,
        }),
        "StopFailure" => {
            What::Stop(Stopping { how: StopKind::Failed, words: String::new(), running: 0, message: None })
        }
        _ => What::Nothing,
    }
}

fn call(file: &ClientFile, payload: &Value) -> Call {
    let input = payload.get("tool_input").unwrap_or(&Value::Null);
    payload::call(&file.tools, named(payload, "tool_use_id"), text(payload, "tool_name"), input)
}

/// The event fires for the end of background commands, too, which no person wrote.
fn prompt(file: &ClientFile, prompt: &str, subagent: bool) -> What {
    let begin = prompt.trim_start();
    if let Some(ended) = begin.strip_prefix("<task-notification>").and_then(background_end) {
        return ended;
    }
    let from = if subagent {
        Speaker::Agent
    } else if file.prompts.of_the_client.iter().any(|start| begin.starts_with(start.as_str())) {
        Speaker::Client
    } else {
        Speaker::Person
    };
    What::Prompt { from, text: prompt.to_owned() }
}

fn background_end(notification: &str) -> Option<What> {
    let tag = |name: &str| {
        let (_, rest) = notification.split_once(&format!("<{name}>"))?;
        Some(rest.split_once(&format!("</{name}>"))?.0.trim())
    };
    // `completed (exit code 0)`, `failed with exit code 3`.
    let status = tag("summary")?.rsplit_once("exit code ").map(|(_, rest)| rest);
    let digits = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    Some(What::BackgroundEnded {
        call: tag("tool-use-id")?.to_owned(),
        ended: status.and_then(digits).map(Ended::Exited),
        output: tag("output-file").map(Into::into),
    })
}

/// A call that succeeded has no status in its payload. Claude Code calls a command a success that ended with 0, or with
/// a status that it interprets: then it says so, and the status itself is lost.
fn ending(payload: &Value) -> Ending {
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
    Ending { ended: known.then_some(Ended::Exited(0)), in_log: false, background, output, millis }
}

/// `Exit code 3`, then what was printed. Everything else that fails did not run, or was broken off.
fn failure(call: Call, payload: &Value) -> What {
    let error = first(payload, &["error"]).unwrap_or_default();
    let (head, rest) = error.split_once('\n').unwrap_or((error, ""));
    match head.strip_prefix("Exit code ").and_then(|code| code.trim().parse().ok()) {
        Some(code) if !flag(payload, "is_interrupt") => {
            let millis = payload.get("duration_ms").and_then(Value::as_u64).unwrap_or(0);
            let output = rest.to_owned();
            What::After(call, Ending { ended: Some(Ended::Exited(code)), output, millis, ..Ending::default() })
        }
        _ => What::Failed(call, payload::bounded(error, 2048)),
    }
}

fn running(payload: &Value) -> u32 {
    let tasks = payload.get("background_tasks").and_then(Value::as_array).into_iter().flatten();
    let running = tasks.filter(|task| matches!(text(task, "status"), "running" | "pending" | "")).count();
    u32::try_from(running).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::told::Does;
    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(event: &str, payload: Value) -> Told {
        read(&ClientFile::of("claude"), event, &payload)
    }

    #[test]
    fn a_prompt_is_a_persons_only_where_a_person_wrote_it() {
        let from = |payload: Value| match told("UserPromptSubmit", payload).what {
            What::Prompt { from, .. } => from,
            other => panic!("{other:?}"),
        };
        assert_eq!(from(json!({"prompt": "add a parser"})), Speaker::Person);
        assert_eq!(from(json!({"prompt": "<local-command-stdout>x"})), Speaker::Client);
        assert_eq!(from(json!({"prompt": "look", "agent_id": "a1"})), Speaker::Agent);
        assert_eq!(from(json!({"prompt": "<task-notification>odd"})), Speaker::Client);
    }

    #[test]
    fn the_end_of_a_background_command_is_no_prompt() {
        let notification = "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t1</tool-use-id>\n\
                            <output-file>/tmp/b1.output</output-file>\n<status>failed</status>\n\
                            <summary>Background command \"x\" failed with exit code 3</summary>\n</task-notification>";
        let what = told("UserPromptSubmit", json!({"prompt": notification})).what;
        let output = Some("/tmp/b1.output".into());
        assert_eq!(what, What::BackgroundEnded { call: "t1".to_owned(), ended: Some(Ended::Exited(3)), output });
    }

    #[test]
    fn statuses_are_read_where_they_are_known() {
        let bash = |response: Value| {
            let payload = json!({
                "session_id": "s", "tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": "make test"},
                "tool_response": response, "duration_ms": 12,
            });
            match told("PostToolUse", payload).what {
                What::After(call, ending) => {
                    assert!(matches!(call.does, Does::Shell { .. }), "{call:?}");
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
            What::After(_, ending) => {
                assert_eq!((ending.ended, &*ending.output), (Some(Ended::Exited(3)), "running tests\n1 failed"));
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(failed("Exit code 3", true), What::Failed(..)));
        assert!(matches!(failed("The user doesn't want to proceed", false), What::Failed(..)));
    }

    #[test]
    fn stops_tell_what_still_runs_and_who_stops() {
        let stop = json!({"last_assistant_message": "Done.", "background_tasks": [{"status": "running"}, {"status": "completed"}]});
        let expected = Stopping { how: StopKind::Completed, words: "Done.".to_owned(), running: 1, message: None };
        assert_eq!(told("Stop", stop).what, What::Stop(expected));
        assert_eq!(told("Stop", json!({"agent_id": "a"})).what, What::SubagentEnded("a".to_owned()));
        assert!(told("Stop", json!({"permission_mode": "plan"})).planning);
        assert_eq!(told("FileChanged", json!({})).what, What::Nothing);
    }
}
