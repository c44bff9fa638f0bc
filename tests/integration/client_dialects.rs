//! Events of each agent client, with its own names and fields.

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::{Project, Said};

#[test]
fn what_codex_left_running_and_what_a_limit_ended_in_opencode_is_called_that() {
    let project = Project::new();
    let session = Session::of(&project, "codex", "c0ffee-1").prompted("change the library");
    project.edit("a change");
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "sh test.sh"}, "tool_use_id": "call_1"});
    session.hook("PreToolUse", call).quiet();
    let log = project.repo.outside().join("rollout.jsonl");
    let output = "Wall time: 0.3 seconds\nProcess running with session ID 98002\nOutput:\nstarted\n";
    let line = json!({"payload": {"type": "function_call_output", "call_id": "call_1", "output": output}});
    std::fs::write(&log, format!("{line}\n")).unwrap();
    let stop = |words: &str| session.hook("Stop", json!({"last_assistant_message": words, "transcript_path": log}));
    stop("The suite is running.").quiet();
    stop("Done.").pushes("`sh test.sh` has started and, by the record, has not ended yet");
    stop("Done.").pushes("`sh test.sh` has started and, by the record, has not ended yet");
    let noted = |event: &Value| event["data"]["act"]["command"]["background"] == true;
    assert_eq!(project.journal().iter().filter(|event| noted(event)).count(), 1, "it is written down once");

    let project = Project::new();
    let session = Session::of(&project, "opencode", "c0ffee-1");
    session.hook("chat.message", json!({"text": "change the library"})).quiet();
    project.edit("a change");
    let call = json!({"tool": "bash", "callID": "call_1", "args": {"command": "sh test.sh"}});
    session.hook("tool.execute.before", call.clone()).quiet();
    let mut after = call;
    after["output"] =
        json!("started\n\n<shell_metadata>\nshell tool terminated command after exceeding timeout 1500 ms.\n");
    after["metadata"] = json!({"exit": null});
    session.hook("tool.execute.after", after).quiet();
    session
        .hook("session.idle", json!({"text": "Done.", "messageID": "msg_1", "agent": "build"}))
        .pushes("`sh test.sh` was ended by the time limit");
}

#[test]
fn an_agent_of_copilot_that_may_only_plan_is_left_alone() {
    let project = Project::new();
    let session = Session::of(&project, "copilot", "c0ffee-1");
    project.edit("a person's change");
    session.hook("userPromptSubmitted", json!({"prompt": "[[PLAN]] change the library"})).quiet();
    let log = project.repo.outside().join("events.jsonl");
    std::fs::write(
        &log,
        "{\"type\":\"session.mode_changed\",\"data\":{\"newMode\":\"plan\"}}\n\
         {\"type\":\"assistant.message\",\"data\":{\"content\":\"All done.\"}}\n",
    )
    .unwrap();
    session.hook("agentStop", json!({"stopReason": "end_turn", "transcriptPath": log})).quiet();
    let told = project.gate(["log", "-n", "0"]).exits(0).text();
    assert!(told.contains("change the library") && !told.contains("[[PLAN]]"), "{told}");
    // Out of the plan mode it is judged.
    session.hook("userPromptSubmitted", json!({"prompt": "go"})).quiet();
    project.edit("a change");
    session.hook("agentStop", json!({"stopReason": "end_turn"})).pushes("tests:");
}

#[test]
fn an_agent_of_gemini_that_may_only_plan_is_left_alone() {
    let project = Project::new().edited("a person's change");
    // Its hooks are not told: the words of the process that calls them are read.
    let hook = |words: &str, event: &str, payload: &Value| {
        let mut payload = payload.clone();
        payload["session_id"] = json!("g");
        payload["cwd"] = json!(project.repo.root());
        let caller = format!("printf '%s' \"$1\" | gate hook gemini {event}; exit 0");
        project.sh(&format!("sh -c '{}' sh '{payload}' {words}", caller.replace('\'', r"'\''"))).text()
    };
    let (asks, done) = (json!({"prompt": "change the library"}), json!({"prompt_response": "All done."}));
    for words in ["--approval-mode=plan", "--approval-mode plan"] {
        hook(words, "BeforeAgent", &asks);
        assert_eq!(hook(words, "AfterAgent", &done).trim(), "", "{words}");
    }
    // The person lets the plan be carried out.
    let approved = json!({"tool_name": "exit_plan_mode", "tool_input": {},
        "tool_response": {"llmContent": "Plan approved. Switching to Default mode."}});
    hook("--approval-mode=plan", "AfterTool", &approved);
    project.edit("a change");
    let held = hook("--approval-mode=plan", "AfterAgent", &done);
    assert!(held.contains("tests: gate has seen no run of"), "{held}");
}

/// The names of the events, fields and answers of one client.
pub struct Dialect {
    pub client: &'static str,
    pub prompt: (&'static str, &'static str),
    tools: [&'static str; 2],
    stop: &'static str,
    answer: &'static str,
}

pub const DIALECTS: [Dialect; 4] = [
    Dialect {
        client: "codex",
        prompt: ("UserPromptSubmit", "prompt"),
        tools: ["PreToolUse", "PostToolUse"],
        stop: "Stop",
        answer: "block",
    },
    Dialect {
        client: "gemini",
        prompt: ("BeforeAgent", "prompt"),
        tools: ["BeforeTool", "AfterTool"],
        stop: "AfterAgent",
        answer: "deny",
    },
    Dialect {
        client: "copilot",
        prompt: ("userPromptSubmitted", "prompt"),
        tools: ["preToolUse", "postToolUse"],
        stop: "agentStop",
        answer: "block",
    },
    Dialect {
        client: "opencode",
        prompt: ("chat.message", "text"),
        tools: ["tool.execute.before", "tool.execute.after"],
        stop: "session.idle",
        answer: "block",
    },
];

impl Dialect {
    /// The call of a shell tool, before it ran and after; what only a log tells goes into `log`.
    fn call(&self, line: &str, done: Option<&Said>, log: &std::path::Path) -> Value {
        let code = done.map(|done| done.code);
        let text = done.map(Said::text).unwrap_or_default();
        let args = json!({"command": line});
        match (self.client, code) {
            ("codex", None) => json!({"tool_name": "Bash", "tool_use_id": "call_1", "tool_input": args}),
            ("codex", Some(code)) => {
                let item = json!({"type": "CommandExecution", "id": "call_1", "exit_code": code});
                let line = json!({"type": "event_msg", "payload": {"type": "item_completed", "item": item}});
                std::fs::write(log, format!("{line}\n")).unwrap();
                json!({"tool_name": "Bash", "tool_use_id": "call_1", "tool_input": args, "tool_response": text})
            }
            ("gemini", None) => json!({"tool_name": "run_shell_command", "tool_input": args}),
            ("gemini", Some(code)) => {
                let status = if code == 0 { String::new() } else { format!("Exit Code: {code}\n") };
                let said = format!("Output: {}\n{status}Process Group PGID: 9", text.trim_end());
                json!({"tool_name": "run_shell_command", "tool_input": args, "tool_response": {"llmContent": said}})
            }
            ("copilot", None) => json!({"toolName": "bash", "toolArgs": args}),
            ("copilot", Some(code)) => {
                let said = format!("{text}<shellId: 1 completed with exit code {code}>");
                let result = json!({"resultType": "success", "textResultForLlm": said});
                json!({"toolName": "bash", "toolArgs": args, "toolResult": result})
            }
            (_, None) => json!({"tool": "bash", "callID": "call_1", "args": args}),
            (_, Some(code)) => {
                json!({"tool": "bash", "callID": "call_1", "args": args, "output": text, "metadata": {"exit": code}})
            }
        }
    }

    fn ending(&self, words: &str, number: u32) -> Value {
        match self.client {
            "gemini" => json!({"prompt_response": words, "stop_hook_active": false}),
            "copilot" => json!({"stopReason": "end_turn", "stop_hook_active": false}),
            "opencode" => json!({"text": words, "messageID": format!("msg_{number}"), "agent": "build"}),
            _ => json!({"last_assistant_message": words, "stop_hook_active": false}),
        }
    }
}

#[test]
fn the_same_story_in_the_words_of_every_client() {
    for dialect in DIALECTS {
        let project = Project::new();
        let log = project.repo.outside().join("log.jsonl");
        let session = Session::of(&project, dialect.client, "s-1");
        let hook = |event: &str, mut fields: Value| {
            fields["transcript_path"] = json!(log);
            session.hook(event, fields)
        };
        let (event, field) = dialect.prompt;
        hook(event, json!({field: "change the library"})).quiet();
        project.edit("a change");
        let held = hook(dialect.stop, dialect.ending("All done, all tests pass.", 1));
        let answer: Value = serde_json::from_str(&held.out).unwrap_or_else(|error| panic!("{error}: {held:?}"));
        assert_eq!(answer["decision"], dialect.answer, "{}", dialect.client);
        let told = answer["reason"].as_str().unwrap();
        assert!(told.contains("Next: gate run test"), "{told}");
        // Where it comes back as a prompt, it is not a person's.
        hook(event, json!({field: told})).quiet();

        for (source, passes) in [("broken", false), ("fixed", true)] {
            project.repo.write("src/lib.sh", source).commit_all(&format!("feat: {source}"));
            hook(dialect.tools[0], dialect.call("sh test.sh", None, &log)).quiet();
            let done = project.sh("sh test.sh");
            hook(dialect.tools[1], dialect.call("sh test.sh", Some(&done), &log)).quiet();
            let stop = hook(dialect.stop, dialect.ending("Done.", if passes { 3 } else { 2 }));
            assert_eq!(stop.out.is_empty(), passes, "{} {source}: {stop:?}", dialect.client);
            if !passes {
                assert!(stop.out.contains("failed on this content"), "{}: {stop:?}", dialect.client);
                assert!(stop.out.contains("(attempt 2)"), "{}: {stop:?}", dialect.client);
            }
        }
        let by = project.journal().into_iter().filter(|line| line["kind"] == "run").map(|line| line["by"].clone());
        assert_eq!(by.collect::<Vec<_>>(), [json!(dialect.client), json!(dialect.client)]);
    }
}

#[test]
fn a_sub_agent_of_copilot_is_one_of_its_parents_session() {
    let project = Project::new();
    let root = Session::of(&project, "copilot", "root");
    let sub = Session::of(&project, "copilot", "sub");
    let below = json!({"agentId": "sub", "parentAgentId": "root"});
    let with = |more: Value| {
        let mut fields = below.clone();
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        fields
    };
    root.hook("userPromptSubmitted", json!({"prompt": "change the library"})).quiet();
    root.hook("subagentStart", below.clone()).quiet();
    sub.hook("userPromptSubmitted", with(json!({"prompt": "do that part"}))).quiet();
    project.edit("a change");
    // Its tools do not say whose it is.
    let call = json!({"toolName": "bash", "toolArgs": {"command": "sh test.sh"}});
    sub.hook("preToolUse", call.clone()).quiet();
    let said = format!("{}<shellId: 1 completed with exit code 0>", project.sh("sh test.sh").text());
    let mut after = call;
    after["toolResult"] = json!({"resultType": "success", "textResultForLlm": said});
    sub.hook("postToolUse", after).quiet();
    sub.hook("agentStop", with(json!({"stopReason": "end_turn"}))).quiet();
    let journal = project.journal();
    assert!(journal.iter().all(|line| line["kind"] != "judged"), "only the agent above it is judged: {journal:#?}");
    assert!(journal.iter().all(|line| line["session"] == "root"), "{journal:#?}");
    let prompts = journal.iter().filter_map(|line| line["data"]["act"]["prompt"]["from"].as_str());
    assert_eq!(prompts.collect::<Vec<_>>(), ["person", "agent"]);
    let command = journal.iter().find(|line| line["data"]["act"]["command"].is_object()).unwrap();
    assert_eq!(command["data"]["actor"], "sub");

    root.hook("subagentStop", below).quiet();
    root.hook("agentStop", json!({"stopReason": "end_turn"})).quiet();
    let judged = project.journal().into_iter().filter(|line| line["kind"] == "judged");
    assert_eq!(judged.map(|line| line["data"]["blocked"].clone()).collect::<Vec<_>>(), [json!(false)]);
}
