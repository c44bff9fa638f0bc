//! The payloads of OpenCode's plugin (`hooks/opencode/gate.js`), which uses OpenCode's names of events.

use serde_json::Value;

use super::hook_event::{HookEvent, HookEventKind, ReportedEnding, StartedTool, Stopping};
use super::payload::{self, first, flag, named, path, text};
use crate::client_definition::ClientFile;
use crate::event::{Ended, Phase, StopKind};

/// Reads one call.
pub(super) fn read(file: &ClientFile, event: &str, payload: &Value) -> HookEvent {
    // A sub-agent is a session of its own, with a parent.
    let parent = named(payload, "parentID");
    let own = text(payload, "sessionID").to_owned();
    let (session, actor) = if let Some(parent) = parent { (parent, Some(own)) } else { (own, None) };
    HookEvent {
        actor_type: named(payload, "agent"),
        session,
        dir: path(payload, "directory"),
        log: None,
        planning: named(payload, "agent").map(|agent| agent == "plan"),
        what: what(file, event, payload, actor.is_some()),
        actor,
    }
}

fn what(file: &ClientFile, event: &str, payload: &Value, subagent: bool) -> HookEventKind {
    match event {
        "session.created" if !subagent => HookEventKind::Session(Phase::Started),
        "session.compacted" => HookEventKind::Session(Phase::Compacted),
        "session.deleted" if !subagent => HookEventKind::Session(Phase::Ended),
        "chat.message" => payload::prompt(file, text(payload, "text")),
        "tool.execute.before" => HookEventKind::Before(call(file, payload)),
        "tool.execute.after" => HookEventKind::After(call(file, payload), ending(payload)),
        "session.idle" => HookEventKind::Stop(stopping(payload, StopKind::Completed)),
        "session.error" if !subagent => {
            let aborted = flag(payload, "aborted") || text(payload, "error") == "MessageAbortedError";
            HookEventKind::Stop(stopping(payload, if aborted { StopKind::Aborted } else { StopKind::Failed }))
        }
        _ => HookEventKind::Nothing,
    }
}

fn stopping(payload: &Value, how: StopKind) -> Stopping {
    Stopping {
        how,
        words: text(payload, "text").to_owned(),
        running: 0,
        commands: Vec::new(),
        message: named(payload, "messageID"),
    }
}

fn call(file: &ClientFile, payload: &Value) -> StartedTool {
    let input = payload.get("args").unwrap_or(&Value::Null);
    payload::call(&file.tools, named(payload, "callID"), text(payload, "tool"), input)
}

fn ending(payload: &Value) -> ReportedEnding {
    let metadata = payload.get("metadata").unwrap_or(&Value::Null);
    let exit = metadata.get("exit").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let output = first(payload, &["output"]).or_else(|| first(metadata, &["output"])).unwrap_or_default();
    ReportedEnding { ended: exit.map(Ended::Exited), output: output.to_owned(), ..ReportedEnding::default() }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "a literal at every call")]
    fn told(event: &str, payload: Value) -> HookEvent {
        read(&ClientFile::of("opencode"), event, &payload)
    }

    #[test]
    fn the_status_is_the_commands_own() {
        for (exit, ended) in
            [(json!(0), Some(Ended::Exited(0))), (json!(3), Some(Ended::Exited(3))), (json!(null), None)]
        {
            let payload = json!({"sessionID": "s", "tool": "bash", "callID": "c", "args": {"command": "make test"},
                "output": "x", "metadata": {"exit": exit}});
            let HookEventKind::After(_, ending) = told("tool.execute.after", payload).what else { panic!() };
            assert_eq!(ending.ended, ended);
        }
    }

    #[test]
    fn a_session_with_a_parent_is_a_sub_agent() {
        let told = told("session.idle", json!({"sessionID": "child", "parentID": "root"}));
        assert_eq!((told.session.as_str(), told.actor.as_deref()), ("root", Some("child")));
    }

    #[test]
    fn an_abort_is_no_end() {
        let HookEventKind::Stop(stop) =
            told("session.error", json!({"sessionID": "s", "error": "MessageAbortedError"})).what
        else {
            panic!()
        };
        assert_eq!(stop.how, StopKind::Aborted);
    }
}
