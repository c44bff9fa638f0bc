//! What agent clients ask through their hooks, in payloads of our own writing that have the shapes of the real ones.

use serde_json::{Value, json};

use crate::client_session::Session;
use crate::project::{Project, finish, read_json};

#[test]
fn what_is_not_judged_is_not_complete_for_other_programs() {
    let project = Project::new();
    let session = Session::claude(&project);
    let summary = || read_json(&project.gate_dir().join("verdicts/verdict_c0ffee-1.json"));
    session.prompt("change the library");
    project.edit("a change");
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("Done.").quiet();
    assert_eq!((&summary()["complete"], &summary()["outcome"]), (&json!(true), &json!("pass")));
    session.prompt("and the other line?");
    session.stop("Which one do you mean?").quiet();
    assert_eq!(summary()["complete"], true, "nothing was changed since");
    project.edit("another change");
    session.stop("Before I go on: which format does the server expect?").quiet();
    assert_eq!((&summary()["complete"], &summary()["outdated"]), (&json!(false), &json!(true)));
}

#[test]
fn a_long_output_of_claude_code_is_read_from_its_file() {
    let project =
        Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"pytest\"\ninputs = [\"src/**\"]\n");
    project.edit("a change");
    let session = Session::claude(&project).prompted("change the library");
    let whole = project.repo.outside().join("b1.txt");
    let begin = "=== test session starts ===\nsrc/test_a.py::test_1 PASSED\n";
    std::fs::write(&whole, format!("{begin}{}=== 900 passed in 1.00s ===\n", "x\n".repeat(20_000))).unwrap();
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "pytest -v"}, "tool_use_id": "t1"});
    session.hook("PreToolUse", call.clone()).quiet();
    let mut after = call;
    after["tool_response"] = json!({"stdout": begin, "stderr": "", "interrupted": false, "persistedOutputPath": whole, "persistedOutputSize": 40_000});
    session.hook("PostToolUse", after).quiet();
    project.push("git push origin feature").exits(0);
}

#[test]
fn what_lies_outside_of_the_repository_is_none_of_gates_business() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("note that down");
    let other = project.repo.outside();
    let write = |path: &str| json!({"tool_name": "Write", "tool_input": {"file_path": path, "content": "x"}, "tool_use_id": "w"});
    for path in [
        "/home/dev/.claude/projects/-work-shop/memory/MEMORY.md".to_owned(),
        "C:\\Users\\dev\\.claude\\projects\\C--work-shop\\memory\\notes.md".to_owned(),
        other.join("elsewhere/gate.toml").display().to_string(),
        other.join("elsewhere/.git/hooks/pre-push").display().to_string(),
        "/home/dev/.claude/projects/-work-elsewhere/5b0e-1.jsonl".to_owned(),
    ] {
        session.hook("PreToolUse", write(&path)).quiet();
    }
    let line = json!({"tool_name": "Bash", "tool_input": {"command": "rm -f ~/.claude/projects/-work-elsewhere/*.jsonl"}, "tool_use_id": "b"});
    session.hook("PreToolUse", line).quiet();
    let own = project.repo.root().join(".git/hooks/pre-push").display().to_string();
    let denied = session.hook("PreToolUse", write(&own));
    assert!(denied.out.contains("\"deny\""), "{denied:?}");
}

#[test]
fn only_a_person_begins_a_task() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    let told = session.stop("Done.").pushes("(attempt 1)");
    session.prompt("<task-notification>\n<task-id>b</task-id>\n</task-notification>");
    session.hook("UserPromptSubmit", json!({"prompt": "look around", "agent_id": "a1"})).quiet();
    // Some clients hand the feedback back as a prompt.
    session.prompt(&told);
    session.stop("Done.").pushes("(attempt 2)");
}

#[test]
fn a_command_in_the_background_proves_when_it_ends() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    let call = json!({"tool_name": "Bash", "tool_use_id": "t9", "tool_input": {"command": "sh test.sh", "run_in_background": true}});
    session.hook("PreToolUse", call.clone()).quiet();
    let mut after = call;
    after["tool_response"] = json!({"stdout": "", "stderr": "", "interrupted": false, "backgroundTaskId": "b1"});
    session.hook("PostToolUse", after).quiet();
    session.stop("Done.").pushes("`sh test.sh` has started and, by the record, has not ended yet");
    let output = project.repo.outside().join("b1.output");
    std::fs::write(&output, project.sh("sh test.sh").out).unwrap();
    let notification = format!(
        "<task-notification>\n<task-id>b1</task-id>\n<tool-use-id>t9</tool-use-id>\n<output-file>{}</output-file>\n\
         <status>completed</status>\n<summary>Background command \"x\" completed (exit code 0)</summary>\n\
         </task-notification>",
        output.display()
    );
    session.prompt(&notification);
    session.stop("Done.").quiet();
}

#[test]
fn what_another_hook_made_of_a_command_is_what_ran() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    let call = |line: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "toolu_1"});
    let ended = |line: &str, output: &str| {
        let mut call = call(line);
        let response = json!({"stdout": output, "stderr": "", "interrupted": false});
        call.as_object_mut().unwrap().insert("tool_response".to_owned(), response);
        call
    };
    session.hook("PreToolUse", call("sh test.sh")).quiet();
    session.hook("PostToolUse", ended("sh test.sh --only one", "")).quiet();
    session.stop("Done.").pushes("no run of `sh test.sh`");
    session.hook("PreToolUse", call("sh test.sh")).quiet();
    session.hook("PostToolUse", ended("nice sh test.sh", "")).quiet();
    session.stop("Done.").quiet();
}

#[test]
fn half_a_character_in_a_payload_loses_nothing_else() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    let root = project.repo.root().to_str().unwrap();
    let raw = |event: &str, fields: &str| {
        session.raw(event, format!(r#"{{"session_id":"c0ffee-1","cwd":"{root}",{fields}}}"#).as_bytes())
    };
    raw("Stop", r#""last_assistant_message":"Done. \ud83d","background_tasks":[]"#).pushes("tests:");
    let call = r#""tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"sh test.sh"}"#;
    raw("PreToolUse", call).quiet();
    let printed = project.sh("sh test.sh").out.replace('\n', "\\n");
    let response = format!(r#""tool_response":{{"stdout":"\ude00{printed}\ud83d","stderr":"","interrupted":false}}"#);
    raw("PostToolUse", &format!("{call},{response}")).quiet();
    session.stop("Done.").quiet();
}

#[test]
fn what_cannot_be_read_stops_nobody_and_is_written_down() {
    let project = Project::new();
    for client in ["claude", "codex", "opencode", "gemini", "copilot"] {
        let session = Session::of(&project, client, "x");
        for garbage in [&b""[..], b"{", b"[]", b"\xff\xfe", b"null", b"{\"session_id\": 3, \"cwd\": []}"] {
            let said = session.raw("Stop", garbage);
            assert_eq!(said.out, "", "{said:?}");
        }
        session.hook("AnEventOfTomorrow", json!({"tool_name": {"deep": [1, 2]}})).quiet();
    }
    let damage = project.journal().into_iter().filter(|line| line["kind"] == "damage").count();
    assert!(damage >= 25, "{damage}");
}

#[test]
fn outside_of_a_repository_and_without_a_policy_nothing_is_asked() {
    let project = Project::bare_bones();
    let session = Session::claude(&project);
    project.share();
    session.prompt("go on");
    project.edit("a change");
    session.stop("Done.").quiet();
    let outside = project.repo.outside();
    let mut command = project.command("gate", &outside);
    command.args(["hook", "claude", "Stop"]);
    let payload = json!({"session_id": "s", "cwd": outside, "last_assistant_message": "Done."});
    finish(command, payload.to_string().as_bytes()).exits(0).quiet();
}

#[test]
fn a_push_that_would_be_refused_is_not_tried() {
    let project = Project::new();
    let session = Session::claude(&project);
    let bash = |line: &str| {
        let call = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": line}});
        let said = session.hook("PreToolUse", call);
        if said.out.is_empty() {
            return None;
        }
        let answer: Value = serde_json::from_str(&said.out).unwrap();
        let output = &answer["hookSpecificOutput"];
        assert_eq!((&output["hookEventName"], &output["permissionDecision"]), (&json!("PreToolUse"), &json!("deny")));
        Some(output["permissionDecisionReason"].as_str().unwrap().to_owned())
    };
    project.repo.write("ship.sh", "#!/bin/sh\ngit push --no-verify origin HEAD\n");
    project.repo.write("package.json", "{\"scripts\": {\"ship\": \"git push --no-verify\"}}");
    for (line, words) in [
        ("sh ship.sh", "must not be skipped"),
        ("cd src && npm --prefix .. run ship", "must not be skipped"),
        ("git push origin HEAD:main", "main is protected"),
        ("cd src && git push -f origin feature:main", "main is protected"),
        ("git push origin :main", "main is protected and must not be deleted"),
        ("git push origin feature:release/1", "release/1 is protected"),
        ("git add -A && git commit -n -m x", "must not be skipped"),
        ("git -c core.hooksPath=/dev/null push origin feature", "keep this repository's hooks from running"),
        ("rm -f .git/hooks/pre-push", "where the hooks that guard this repository are"),
        ("rm -rf .git/gate", "only gate writes"),
    ] {
        let reason = bash(line).unwrap_or_else(|| panic!("{line} is let through"));
        assert!(reason.contains(words), "{line}: {reason}");
    }
    for line in ["git push origin feature", "git push", "git push -u origin HEAD", "git status", "git push backup v1"] {
        assert_eq!(bash(line), None, "{line}");
    }
    // No clone recorded the default branch here, but the remote said it at a push.
    project.repo.git(["remote", "set-head", "origin", "--delete"]);
    project.push("git push origin feature");
    let reason = bash("git push origin HEAD:main").unwrap();
    assert!(reason.contains("main is protected"), "{reason}");
    let denied = project.journal().into_iter().filter(|line| line["data"]["act"].get("denied").is_some()).count();
    assert_eq!(denied, 11);
}

#[test]
fn a_push_from_a_copy_of_the_repository_is_refused() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    let remote = project.repo.git(["remote", "get-url", "origin"]);
    let copy = project.repo.outside().join("copy");
    let at = copy.display();
    let refused = |line: &str| {
        let call = json!({"tool_name": "Bash", "tool_use_id": "t", "tool_input": {"command": line}});
        let said = session.hook("PreToolUse", call);
        said.out.contains("a copy of this repository in which gate's hooks are not installed").then_some(said.out)
    };
    assert!(refused(&format!("git clone -q {remote} {at} && cd {at} && git push origin HEAD:x")).is_some());
    assert_eq!(session.run(&format!("git clone -q {remote} {at}")), 0);
    assert!(
        refused(&format!("cd {at} && git commit -q --allow-empty -m 'src: x' && git push origin HEAD:x")).is_some()
    );
    let line = format!("git -C {at} push origin HEAD:x");
    let said = refused(&line).unwrap();
    assert_eq!(refused("git push origin feature"), None);
    // The remedy.
    project.sh(&format!("git -C {at} commit -q --allow-empty -m 'src: empty'")).exits(0);
    let answer: Value = serde_json::from_str(&said).unwrap();
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    let remedy = reason.split_once("with `").unwrap().1.split_once('`').unwrap().0;
    project.sh(remedy).exits(0);
    assert!(project.repo.git(["log", "--format=%s", "-3"]).contains("src: empty"));
    // With hooks of its own, a copy is judged there.
    project.sh(&format!("cd {at} && gate init --yes")).exits(0);
    assert_eq!(refused(&line), None);
}

#[test]
fn edits_of_what_guards_the_work_are_refused_and_those_of_the_policy_recorded() {
    let project = Project::new();
    let session = Session::claude(&project);
    let edit = |path: &str| {
        let file = project.repo.root().join(path);
        let call = json!({"tool_name": "Write", "tool_use_id": "t", "tool_input": {"file_path": file, "content": "x"}});
        session.hook("PreToolUse", call).out
    };
    assert!(edit(".git/hooks/pre-push").contains("deny"));
    assert!(edit(".git/gate/journal.jsonl").contains("deny"));
    assert_eq!(edit("gate.toml"), "");
    assert_eq!(edit("src/lib.sh"), "");
    project.repo.append("gate.toml", "\n[gates.guarded]\nmode = \"off\"\n");
    assert!(edit(".git/hooks/pre-push").contains("deny"), "the policy of the merge base counts");
}

#[test]
fn what_gate_itself_ran_is_not_kept_at_length_unless_it_failed() {
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    let lengths = || -> Vec<usize> {
        let outputs = |data: &Value| [data["tail"].clone(), data["act"]["command"]["tail"].clone()];
        let entries = project.journal().into_iter().flat_map(|entry| outputs(&entry["data"]));
        entries.filter_map(|tail| tail.as_str().map(str::len)).collect()
    };
    project.repo.write("test.sh", "seq 2000; echo the end\n");
    assert_eq!(session.run("gate run test"), 0);
    let passed = lengths();
    assert!(passed.len() == 2 && passed.iter().all(|length| (100..=1024).contains(length)), "{passed:?}");
    project.repo.write("test.sh", "seq 2000; exit 1\n");
    assert_eq!(session.run("gate run test"), 1);
    assert!(lengths()[2..].iter().all(|length| *length > 7_000), "{:?}", lengths());
    // What is not declared may prove something together with other lines.
    assert_eq!(session.run("gate run -- seq 2000"), 0);
    assert!(lengths()[4..].iter().any(|length| *length > 7_000), "{:?}", lengths());
}
