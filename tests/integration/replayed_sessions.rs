//! Each stop of a session is judged, and what of its log is not understood is said.

use std::fs;
use std::path::{Path, PathBuf};

use gate::event::EventKind;
use gate::event::agent_work::{Act, StopKind};
use gate::source::sessions::{self, Client, LogContents, Roots, SessionLog};
use serde_json::{Value, json};

use crate::project::Project;
use crate::session_logs::data;

fn read(client: Client, path: &Path) -> LogContents {
    sessions::read(&SessionLog::new(client, path.to_owned()), &Roots::new([PathBuf::from("/w/shop")])).unwrap()
}

/// The stops of the session itself: how each turn ended, and with which words.
fn stops(log: &LogContents) -> Vec<(StopKind, String)> {
    let stop = |event: &gate::event::Event| match &event.kind {
        EventKind::Work(work) if work.actor.is_none() => match &work.act {
            Act::Stopped(stop) => Some((stop.how, stop.text.clone())),
            _ => None,
        },
        _ => None,
    };
    log.events.iter().filter_map(stop).collect()
}

/// Commands with their statuses, and the files that were edited.
fn deeds(log: &LogContents) -> Vec<String> {
    let mut told = Vec::new();
    for event in &log.events {
        let EventKind::Work(work) = &event.kind else { continue };
        match &work.act {
            Act::Command(command) => told.push(format!("$ {} {:?}", command.line, command.ended)),
            Act::Edited(edits) => told.extend(edits.iter().map(|edit| format!("{} +{}", edit.path, edit.added))),
            _ => {}
        }
    }
    told
}

fn unknown(log: &LogContents) -> Vec<(&str, u64)> {
    log.summary.counts.unknown.iter().map(|(kind, count)| (kind.as_str(), *count)).collect()
}

fn replay(project: &Project, file: &Path) -> (i32, String, String) {
    let mut command = project.command("gate", &project.repo.home());
    let output = command.args(["replay", file.to_str().unwrap(), "--json"]).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn judged(project: &Project, file: &Path) -> Value {
    let (code, out, err) = replay(project, file);
    assert_eq!(code, 0, "{err}");
    serde_json::from_str(&out).unwrap()
}

#[test]
fn turns_of_a_log_without_stop_markers() {
    let log = read(Client::Claude, &data("claude-unmarked.jsonl"));
    let stop = |text: &str| (StopKind::Completed, text.to_owned());
    assert_eq!(
        stops(&log),
        [
            stop("The total is right now."),
            stop("All tests pass."),
            (StopKind::Aborted, String::new()),
            stop("There is no discount."),
        ]
    );
    assert_eq!(unknown(&log), [("record something-new", 1), ("tool mcp__shop__lookup", 1)]);
}

#[test]
fn a_turn_that_has_not_ended_is_no_stop() {
    let project = Project::new();
    let text = fs::read_to_string(data("claude-unmarked.jsonl")).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (upto, expected) in [(3, 1), (4, 0), (5, 0), (9, 0), (10, 1), (12, 1), (13, 1), (14, 2), (16, 3)] {
        let file = project.repo.outside().join(format!("{upto}.jsonl"));
        fs::write(&file, lines[..upto].join("\n") + "\n").unwrap();
        let log = read(Client::Claude, &file);
        assert_eq!(stops(&log).len(), expected, "after {upto} lines: {:?}", stops(&log));
        assert_eq!(log.summary.counts.stops, expected as u64, "after {upto} lines");
    }
}

#[test]
fn every_stop_is_judged_and_none_that_was_interrupted() {
    let project = Project::new();
    let told = judged(&project, &data("claude-unmarked.jsonl"));
    let words: Vec<_> =
        told["stops"].as_array().unwrap().iter().map(|stop| stop["gates"]["tests"]["verdict"].clone()).collect();
    assert_eq!(words, ["block", "pass", "pass"], "{told:#}");
    assert_eq!((&told["interrupted"], &told["continues"]), (&json!(1), &json!(true)));
    assert_eq!(told["gates"], told["stops"][2]["gates"]);
    let unread = &told["unread"][0];
    assert_eq!(unread["unknown"], json!({"record something-new": 1, "tool mcp__shop__lookup": 1}), "{told:#}");
    let mut command = project.command("gate", &project.repo.home());
    let output = command.args(["replay", data("claude-unmarked.jsonl").to_str().unwrap()]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    for said in ["stop 1", "stop 3", "1 turn was interrupted", "not understood: 1 × record something-new"] {
        assert!(text.contains(said), "{said}: {text}");
    }
}

#[test]
fn code_mode_of_codex() {
    let log = read(Client::Codex, &data("codex-script.jsonl"));
    assert_eq!(
        deeds(&log),
        ["src/total.py +return 1", "$ pytest -q Some(Exited(0))", "$ git status None", "$ make lint Some(Exited(2))",]
    );
    assert_eq!(unknown(&log), [("command that a script computes", 1)]);
    let told = judged(&Project::new(), &data("codex-script.jsonl"));
    assert_eq!(told["stops"][0]["gates"]["tests"]["verdict"], "pass", "{told:#}");
}

#[test]
fn an_exported_session_of_opencode() {
    let file = data("opencode-export.json");
    assert_eq!(sessions::recognise(&file).unwrap(), Some(Client::Opencode));
    let log = read(Client::Opencode, &file);
    assert_eq!(log.summary.session.as_deref(), Some("ses_1"));
    assert_eq!(deeds(&log), ["src/total.py +return 1", "$ pytest -q Some(Exited(0))"]);
    assert_eq!(stops(&log), [(StopKind::Completed, "All done.".to_owned()), (StopKind::Aborted, String::new())]);
    assert_eq!(unknown(&log), [("record hologram", 1), ("tool shop_lookup", 1)]);
    let project = Project::new();
    let told = judged(&project, &file);
    assert_eq!(told["stops"][0]["gates"]["tests"]["verdict"], "pass", "{told:#}");
    project.gate(["import", file.to_str().unwrap()]).exits(0).says("ses_1").says("1 × record hologram");
    project.gate(["import", file.to_str().unwrap()]).exits(0).says("known already");
    project.gate(["sessions"]).exits(0).says("not understood: 1 × record hologram");
}

#[test]
fn a_session_document_of_gemini() {
    let file = data("gemini-session.json");
    assert_eq!(sessions::recognise(&file).unwrap(), Some(Client::Gemini));
    let log = read(Client::Gemini, &file);
    assert_eq!(deeds(&log), ["src/total.py +return 1", "$ pytest -q Some(Exited(1))"]);
    let stop = |text: &str| (StopKind::Completed, text.to_owned());
    assert_eq!(stops(&log), [stop("All done."), stop("Yes.")]);
    assert_eq!(unknown(&log), [("record oracle", 1)]);
    // The document does not say where it was: the files that were edited do.
    let told = judged(&Project::new(), &file);
    assert_eq!(told["stops"][1]["gates"]["tests"]["verdict"], "block", "{told:#}");
}

#[test]
fn what_cannot_be_read_is_said_with_its_line() {
    let project = Project::new();
    let file = project.repo.outside().join("log");
    let said = |text: &[u8]| {
        fs::write(&file, text).unwrap();
        replay(&project, &file)
    };
    let export = fs::read(data("opencode-export.json")).unwrap();
    let told: Value = serde_json::from_str(&said(&export[..export.len() * 2 / 3]).1).unwrap();
    let line = told["unread"][0]["first_broken"].as_u64().unwrap();
    assert!(told["unread"][0]["broken"] == 1 && line > 40, "{told:#}");
    let lines = fs::read_to_string(data("claude-unmarked.jsonl")).unwrap();
    let told: Value = serde_json::from_str(&said(format!("{lines}{{\"type\":\"us").as_bytes()).1).unwrap();
    assert_eq!(told["unread"][0]["first_broken"], 26, "{told:#}");
    let long =
        format!("{lines}{{\"type\":\"user\",\"x\":\"{}\"}}\n{}", "y".repeat(17 << 20), lines.lines().last().unwrap());
    let told: Value = serde_json::from_str(&said(long.as_bytes()).1).unwrap();
    assert_eq!((&told["unread"][0]["broken"], &told["unread"][0]["first_broken"]), (&json!(1), &json!(26)), "{told:#}");
    for text in [&b""[..], b"\0\x01\x02\xff", b"{\"half\":", b"plain words\n", b"[1,2]"] {
        let (code, out, err) = said(text);
        assert!(code == 65 && out.is_empty() && err.contains("not a case"), "{text:?}: {err}");
        assert!(err.contains("line 1"), "{err}");
        project.gate(["import", file.to_str().unwrap()]).exits(65).says("log");
    }
    fs::write(&file, &export).unwrap();
    project.gate(["import", "--client", "claude", file.to_str().unwrap()]).exits(65).says("claude");
}

/// A session that edits a file, passes its tests, and then does something else before it stops.
fn after_a_pass(edit: &str, then: &Value) -> String {
    let call = |at: u32, id: &str, name: &str, input: &Value| {
        json!({"type": "assistant", "uuid": format!("u{at}"), "timestamp": format!("2026-03-01T10:00:{at:02}.000Z"),
            "cwd": "/w/shop", "sessionId": "5e55", "message": {"id": format!("m{at}"), "stop_reason": "tool_use",
            "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
    };
    let result = |at: u32, id: &str, text: &str| {
        json!({"type": "user", "uuid": format!("u{at}"), "timestamp": format!("2026-03-01T10:00:{at:02}.000Z"),
            "cwd": "/w/shop", "sessionId": "5e55", "toolUseResult": {}, "message": {"content":
            [{"type": "tool_result", "tool_use_id": id, "content": text}]}})
    };
    let said = |at: u32| {
        json!({"type": "assistant", "uuid": format!("u{at}"), "timestamp": format!("2026-03-01T10:00:{at:02}.000Z"),
            "cwd": "/w/shop", "sessionId": "5e55", "message": {"id": format!("m{at}"), "stop_reason": "end_turn",
            "content": [{"type": "text", "text": "Done."}]}})
    };
    let mut lines = vec![
        call(3, "t2", "Write", &json!({"file_path": edit, "content": "x"})),
        result(4, "t2", "ok"),
        call(5, "t3", "Bash", &json!({"command": "pytest -q"})),
        result(6, "t3", "3 passed in 0.02s\n"),
    ];
    let input = if then["file_path"].is_string() {
        ("Write", then.clone())
    } else {
        ("Bash", json!({"command": then["command"]}))
    };
    lines.push(call(7, "t4", input.0, &input.1));
    lines.push(result(8, "t4", then["output"].as_str().unwrap_or_default()));
    if let Some(dir) = then["cwd"].as_str() {
        lines[4]["cwd"] = json!(dir);
    }
    lines.push(said(9));
    lines.iter().flat_map(|line| [line.to_string(), "\n".to_owned()]).collect()
}

#[test]
fn what_changes_no_tested_content_leaves_a_pass_standing() {
    let project = Project::new();
    let file = project.repo.outside().join("log.jsonl");
    let line = |command: &str| json!({"command": command});
    let hooked = "$ pytest -q\n3 passed in 0.02s\nhusky - pre-commit\n[main 1a2b3c4] feat: x\n";
    for (then, word) in [
        (line("mkdir -p src/parts docs"), "pass"),
        (line("npx prettier --write docs/guide.md"), "pass"),
        (line("mkdir -p docs && cp README.md docs/copy.md"), "pass"),
        (line("cp src/a.py /tmp/a.py"), "pass"),
        (line("echo done > docs/note.md"), "pass"),
        (json!({"command": "git pull --rebase", "output": "Already up to date."}), "pass"),
        (json!({"command": "git pull --rebase && git push", "output": "Current branch main is up to date."}), "pass"),
        (json!({"command": "npm run format && sed -i s/a/b/ src/a.py", "cwd": "/w/other"}), "pass"),
        (json!({"command": "cd /w/other && npm run format"}), "pass"),
        (json!({"command": "cp new.py /w/shop/src/new.py", "cwd": "/w/other"}), "block"),
        (json!({"command": "cd /w/shop && rm -rf src", "cwd": "/w/other"}), "block"),
        (json!({"command": "cd /w/other && cp new.py /w/shop/src/new.py"}), "block"),
        (json!({"file_path": "/w/other/src/a.py", "content": "y"}), "pass"),
        (json!({"file_path": r"C:\Users\me\.claude\projects\x\memory\note.js", "content": "y"}), "pass"),
        (json!({"file_path": "/w/shop/.github/workflows/ci.yml", "content": "y"}), "pass"),
        // What may change what was tested does not.
        (line("npx prettier --write src/a.py"), "block"),
        (line("npx prettier --write ."), "block"),
        (line("cp /tmp/new.py src/a.py"), "block"),
        (line("cp -r /tmp/new src"), "block"),
        (line("mkdir -p src && echo y > src/b.py"), "block"),
        (line("mv src/a.py src/b.py"), "block"),
        (line("sed -i s/a/b/ src/a.py"), "block"),
        (json!({"command": "git pull --rebase", "output": "Updating 1a2b3c4..2b3c4d5\nFast-forward"}), "block"),
        (json!({"command": "git commit -am x", "output": hooked}), "pass"),
        (json!({"file_path": "/w/shop/.github/actions/x/index.js", "content": "y"}), "block"),
        (json!({"file_path": "/w/shop/config.json", "content": "y"}), "block"),
    ] {
        fs::write(&file, after_a_pass("/w/shop/src/a.py", &then)).unwrap();
        let told = judged(&project, &file);
        assert_eq!(
            told["stops"][0]["gates"]["tests"]["verdict"], word,
            "{then}: {:#}",
            told["stops"][0]["gates"]["tests"]
        );
    }
}

#[test]
fn tests_that_ran_in_a_commit_hook_are_seen() {
    let project = Project::new();
    let file = project.repo.outside().join("log.jsonl");
    let text = after_a_pass(
        "/w/shop/src/a.py",
        &json!({
            "command": "git commit -am 'feat: x'",
            "output": "husky - pre-commit\n$ pytest -q\n3 passed in 0.02s\n[main 1a2b3c4] feat: x\n",
        }),
    );
    // Without the run of its own.
    let text: String = text.split_inclusive('\n').filter(|line| !line.contains("\"t3\"")).collect();
    fs::write(&file, &text).unwrap();
    assert_eq!(judged(&project, &file)["stops"][0]["gates"]["tests"]["verdict"], "pass");
    fs::write(&file, text.replace("git commit -am", "git commit --no-verify -am")).unwrap();
    assert_eq!(judged(&project, &file)["stops"][0]["gates"]["tests"]["verdict"], "block");
}

#[test]
fn documents_of_gemini_are_found() {
    let project = Project::new();
    let chats = project.repo.home().join(".gemini/tmp/shop/chats");
    fs::create_dir_all(&chats).unwrap();
    let root = project.repo.root().to_str().unwrap().to_owned();
    let names = json!({"projects": {root: "shop"}});
    fs::write(project.repo.home().join(".gemini/projects.json"), names.to_string()).unwrap();
    let document = chats.join("session-2026-03-01T10-00-1.json");
    fs::copy(data("gemini-session.json"), &document).unwrap();
    fs::write(chats.join("settings.json"), "{\"sessionId\": 7}").unwrap();
    let id = read(Client::Gemini, &document).summary.session.unwrap();
    let listed = project.gate(["sessions", "--json"]).exits(0).out;
    let listed: Vec<Value> = listed.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(listed.len(), 1, "{listed:?}");
    assert_eq!((&listed[0]["session"], &listed[0]["stops"]), (&json!(id), &json!(2)));
    let told: Value = serde_json::from_str(&project.gate(["replay", &id, "--json"]).exits(0).out).unwrap();
    assert_eq!(told["stops"].as_array().unwrap().len(), 2, "{told:#}");
    // A newer version goes on in lines; what it copied them from is not told again.
    fs::write(document.with_extension("jsonl"), "").unwrap();
    project.gate(["sessions"]).exits(0).never_says(&id);
}
