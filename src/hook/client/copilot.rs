//! The payloads of GitHub Copilot CLI, as version 1.0.102 was observed to write them. Tool calls have no id, the status
//! of a command is in the last line of the text for the model, and a stop does not repeat the final message.

use std::path::Path;
use std::time::Duration;

use serde_json::Value;

use super::hook_event::{
    BackgroundOutput, HookEvent, HookEventKind, ReportedEnding, StartedTool, Stopping, ToolAction,
};
use super::payload::{self, named, path, text};
use crate::client_definition::ClientFile;
use crate::event::{Ended, Phase, StopKind};
use crate::foreign_text::beginning_in_bytes;

/// The length of the end of the log that is searched for the final message, in bytes.
const WINDOW: u64 = 256 * 1024;

/// The time limit for the log of a stop: the client writes it about ten times a second.
const LOG_TIMEOUT: Duration = Duration::from_millis(1500);

/// The prefix of the prompts in plan mode, including those of hooks.
const PLAN: &str = "[[PLAN]]";

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> HookEvent {
    let log = path(payload, "transcriptPath");
    let own = text(payload, "sessionId").to_owned();
    // A sub-agent has a session of its own, and not all of its calls name the one above it (`Desk::of`).
    let parent = named(payload, "parentAgentId").filter(|_| text(payload, "agentId") == own);
    let (session, actor) = if let Some(parent) = parent { (parent, Some(own)) } else { (own, None) };
    HookEvent {
        actor_type: None,
        session,
        dir: path(payload, "cwd"),
        actor,
        planning: planning(event, payload, log.as_deref()),
        what: what(file, event, payload, log.as_deref()),
        log,
    }
}

fn what(file: &ClientFile, event: &str, payload: &Value, log: Option<&Path>) -> HookEventKind {
    match event {
        "sessionStart" => HookEventKind::Session(match text(payload, "source") {
            "resume" => Phase::Resumed,
            _ => Phase::Started,
        }),
        "sessionEnd" => HookEventKind::Session(Phase::Ended),
        "preCompact" => HookEventKind::Session(Phase::Compacted),
        "userPromptSubmitted" => {
            let prompt = text(payload, "prompt");
            payload::prompt(file, prompt.trim_start().strip_prefix(PLAN).map_or(prompt, str::trim_start))
        }
        "preToolUse" => HookEventKind::Before(typed(call(file, payload), payload)),
        "postToolUse" if file.tools.follows.has(text(payload, "toolName")) => end_of_background(payload),
        "postToolUse" => after(call(file, payload), payload),
        "postToolUseFailure" => {
            HookEventKind::Failed(call(file, payload), beginning_in_bytes(text(payload, "error"), 2048))
        }
        "subagentStart" => HookEventKind::SubagentStarted(agent(payload)),
        "subagentStop" => HookEventKind::SubagentEnded(agent(payload)),
        "agentStop" => {
            let how = match text(payload, "stopReason") {
                "end_turn" | "" => StopKind::Completed,
                "error" => StopKind::Failed,
                _ => StopKind::Aborted,
            };
            let at = payload.get("timestamp").and_then(Value::as_i64);
            let words = log.map(|log| last_words(log, at)).unwrap_or_default();
            HookEventKind::Stop(Stopping { how, words, running: 0, commands: Vec::new(), message: None })
        }
        _ => HookEventKind::Nothing,
    }
}

/// Returns `true` if the agent may only plan. Prompts say so; at a stop, the last entry of the log does.
fn planning(event: &str, payload: &Value, log: Option<&Path>) -> Option<bool> {
    match event {
        "userPromptSubmitted" => Some(text(payload, "prompt").trim_start().starts_with(PLAN)),
        "agentStop" => {
            let bytes = log.and_then(|log| super::log_tail::end(log, WINDOW).ok()).unwrap_or_default();
            plans(&bytes)
        }
        _ => None,
    }
}

/// Returns `true` if the last entry of the log about the mode is for plan mode: a change of the mode, or a prompt in
/// it.
fn plans(bytes: &[u8]) -> Option<bool> {
    let lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(|line| payload::parse(line).ok());
    let mode = |line: Value| {
        let data = line.get("data")?;
        match text(&line, "type") {
            "session.mode_changed" => Some(text(data, "newMode") == "plan"),
            "user.message" => text(data, "content").contains(PLAN).then_some(true),
            _ => None,
        }
    };
    lines.into_iter().find_map(mode)
}

fn agent(payload: &Value) -> String {
    payload::first(payload, &["agentId", "agentName", "agentType"]).unwrap_or_default().to_owned()
}

/// Returns the call as a command line if it types text into a shell that is already running. The client does not report
/// how such a line ends.
fn typed(call: StartedTool, payload: &Value) -> StartedTool {
    let args = payload.get("toolArgs").unwrap_or(&Value::Null);
    let line = text(args, "input").trim_end();
    if !matches!(&*call.name, "write_bash" | "write_powershell") || line.is_empty() {
        return call;
    }
    StartedTool { does: ToolAction::Shell { line: line.to_owned(), dir: None, background: true }, ..call }
}

fn call(file: &ClientFile, payload: &Value) -> StartedTool {
    let none = Value::Null;
    let args = payload.get("toolArgs").unwrap_or(&none);
    // Older versions hand over the arguments as a text that holds JSON.
    let parsed = args.as_str().and_then(|text| payload::parse(text.as_bytes()).ok());
    payload::call(&file.tools, None, text(payload, "toolName"), parsed.as_ref().unwrap_or(args))
}

fn after(call: StartedTool, payload: &Value) -> HookEventKind {
    let result = payload.get("toolResult").unwrap_or(&Value::Null);
    let said = text(result, "textResultForLlm");
    if matches!(text(result, "resultType"), "denied" | "rejected") {
        return HookEventKind::Failed(call, beginning_in_bytes(said, 2048));
    }
    let (output, end) = ending(said);
    let output = if matches!(end, CopilotEnd::Completed(..)) { output } else { said };
    let (ended, left_as) = match end {
        CopilotEnd::Completed(_, code) => (Some(Ended::Exited(code)), None),
        CopilotEnd::Running(shell) => (None, Some(name(shell))),
        CopilotEnd::Unknown => (None, None),
    };
    let background = left_as.is_some();
    HookEventKind::After(
        call,
        ReportedEnding { ended, background, left_as, output: output.to_owned(), ..ReportedEnding::default() },
    )
}

/// The message of the client about a command, after its output.
#[derive(Debug, PartialEq)]
enum CopilotEnd<'t> {
    /// The command in this shell ended with this status.
    Completed(&'t str, i32),
    /// The command continues in this shell.
    Running(&'t str),
    Unknown,
}

/// Returns the output, and the meaning of the line after it: `<shellId: 1 completed with exit code 3>`.
fn ending(said: &str) -> (&str, CopilotEnd<'_>) {
    let (output, last) = said.trim_end().rsplit_once('\n').unwrap_or(("", said.trim_end()));
    let told = |start: &str| last.strip_prefix(start)?.strip_suffix('>');
    let end = match (told("<command started in background with shellId: "), told("<shellId: ")) {
        (Some(shell), _) => CopilotEnd::Running(shell),
        (None, Some(rest)) => match rest.rsplit_once(" completed with exit code ") {
            Some((shell, code)) => code.parse().map_or(CopilotEnd::Unknown, |code| CopilotEnd::Completed(shell, code)),
            None => CopilotEnd::Running(rest.split_once(' ').map_or(rest, |(shell, _)| shell)),
        },
        (None, None) => CopilotEnd::Unknown,
    };
    (output, end)
}

/// Returns the name of a command in the background: that of its shell, because calls have no id.
fn name(shell: &str) -> String {
    format!("shell {shell}")
}

/// Reads the output of a command in the background, when the agent asks for it. If the agent never asks, its status is
/// unknown.
fn end_of_background(payload: &Value) -> HookEventKind {
    let result = payload.get("toolResult").unwrap_or(&Value::Null);
    match ending(text(result, "textResultForLlm")) {
        (output, CopilotEnd::Completed(shell, code)) => HookEventKind::BackgroundEnded {
            call: name(shell),
            ended: Some(Ended::Exited(code)),
            output: BackgroundOutput::Shown(output.to_owned()),
        },
        _ => HookEventKind::Nothing,
    }
}

/// Returns the agent's final message, from the client's log. The client writes the log with a delay. Until the log has
/// the entry of this stop, whose hook was called at `at`, it may hold the message of an earlier one. Then none is
/// returned.
fn last_words(log: &Path, at: Option<i64>) -> String {
    let told = move |bytes: &[u8]| at.is_none_or(|at| tells_of(bytes, at)).then(|| said_last(bytes));
    super::log_tail::awaited(log, WINDOW, LOG_TIMEOUT, told).unwrap_or_default()
}

/// Returns `true` if a log says that the hook of a stop was called at this time.
fn tells_of(bytes: &[u8], at: i64) -> bool {
    let lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(|line| payload::parse(line).ok());
    lines.filter(|line| text(line, "type") == "hook.start").any(|line| {
        let data = line.get("data").unwrap_or(&Value::Null);
        text(data, "hookType") == "agentStop"
            && data.get("input").and_then(|input| input.get("timestamp")).and_then(Value::as_i64) == Some(at)
    })
}

fn said_last(bytes: &[u8]) -> String {
    let lines = bytes.rsplit(|byte| *byte == b'\n').filter_map(|line| payload::parse(line).ok());
    let said = |line: Value| {
        (text(&line, "type") == "assistant.message").then(|| text(line.get("data")?, "content").to_owned().into())
    };
    lines.filter_map(|line| said(line).flatten()).find(|text: &String| !text.trim().is_empty()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::event::agent_work::Speaker;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(event: &str, payload: Value) -> HookEvent {
        read(&ClientFile::of("copilot"), event, &payload)
    }

    fn shell(said: &str) -> ReportedEnding {
        let payload = json!({"sessionId": "s", "toolName": "bash", "toolArgs": {"command": "make test"},
            "toolResult": {"resultType": "success", "textResultForLlm": said}});
        match told("postToolUse", payload).what {
            HookEventKind::After(_, ending) => ending,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_status_is_in_the_last_line() {
        for (said, ended, output, background) in [
            ("ok\n<shellId: 0 completed with exit code 0>", Some(0), "ok", false),
            ("a\n1 failed\n<shellId: 1 completed with exit code 3>", Some(3), "a\n1 failed", false),
            ("<shellId: 1 completed with exit code 0>\nx", None, "<shellId: 1 completed with exit code 0>\nx", false),
            ("<shellId: 2 is still running>", None, "<shellId: 2 is still running>", true),
            (
                "<command started in background with shellId: a>",
                None,
                "<command started in background with shellId: a>",
                true,
            ),
        ] {
            let ending = shell(said);
            assert_eq!(
                (ending.ended, &*ending.output, ending.background),
                (ended.map(Ended::Exited), output, background)
            );
        }
    }

    #[test]
    fn a_command_in_the_background_is_known_by_its_shell() {
        for said in ["<command started in background with shellId: t 1>", "so far\n<shellId: t1 is still running>"] {
            let left = shell(said).left_as.unwrap();
            assert!(["shell t 1", "shell t1"].contains(&&*left), "{left}");
        }
        let looked = |said: &str| {
            told(
                "postToolUse",
                json!({"sessionId": "s", "toolName": "read_bash", "toolArgs": {"shellId": "t1"},
                "toolResult": {"resultType": "success", "textResultForLlm": said}}),
            )
            .what
        };
        let ended = |code, output: &str| HookEventKind::BackgroundEnded {
            call: "shell t1".to_owned(),
            ended: Some(Ended::Exited(code)),
            output: BackgroundOutput::Shown(output.to_owned()),
        };
        assert_eq!(looked("1 failed\n<shellId: t1 completed with exit code 3>"), ended(3, "1 failed"));
        assert_eq!(looked("<shellId: t1 completed with exit code 0>"), ended(0, ""));
        for said in
            ["so far\n<shellId: t1 is still running>", "", "no such shell", "<shellId: t1 completed with exit code x>"]
        {
            assert_eq!(looked(said), HookEventKind::Nothing, "{said}");
        }
    }

    #[test]
    fn a_sub_agent_is_one_of_its_parents_session() {
        let payload = json!({"sessionId": "sub", "agentId": "sub", "parentAgentId": "root", "prompt": "Do that."});
        let told_it = told("userPromptSubmitted", payload);
        assert_eq!((told_it.session.as_str(), told_it.actor.as_deref()), ("root", Some("sub")));
        let started = told("subagentStart", json!({"sessionId": "root", "agentId": "sub", "parentAgentId": "root"}));
        assert_eq!((started.session.as_str(), started.actor), ("root", None));
        assert_eq!(started.what, HookEventKind::SubagentStarted("sub".to_owned()));
    }

    #[test]
    fn what_the_client_notes_is_no_persons_prompt() {
        let prompt = "<system_notification>\nShell command \"run\" (shellId: a) has completed.";
        let what = told("userPromptSubmitted", json!({"sessionId": "s", "prompt": prompt})).what;
        assert!(matches!(what, HookEventKind::Prompt { from: Speaker::Client, .. }), "{what:?}");
    }

    #[test]
    fn the_last_words_are_in_the_log() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("events.jsonl");
        let said = |text: &str| json!({"type": "assistant.message", "data": {"content": text}}).to_string();
        let hook = json!({"type": "hook.start", "data": {"hookType": "agentStop", "input": {"timestamp": 7}}});
        let lines = [said("first"), said("Done."), said(""), hook.to_string(), "{}".to_owned()];
        std::fs::write(&log, lines.join("\n")).unwrap();
        let stop =
            |at: i64| json!({"sessionId": "s", "timestamp": at, "transcriptPath": log, "stopReason": "end_turn"});
        let HookEventKind::Stop(late) = told("agentStop", stop(8)).what else { panic!() };
        assert_eq!(late.words, "", "words of an earlier stop are none of this one");
        let payload = stop(7);
        let HookEventKind::Stop(stop) = told("agentStop", payload).what else { panic!() };
        assert_eq!((stop.how, stop.words.as_str()), (StopKind::Completed, "Done."));
        let HookEventKind::Stop(stop) = told("agentStop", json!({"stopReason": "abort"})).what else { panic!() };
        assert_eq!((stop.how, stop.words.as_str()), (StopKind::Aborted, ""));
    }
}
