//! No process reads a table, or compiles a pattern, that it does not need: the debug log tells of each.

use serde_json::{Value, json};

use crate::project::{Project, Said, finish};

/// The tables that a process read, and the number of patterns that it compiled.
fn read_by(project: &Project, args: &[&str], stdin: &Value) -> (Vec<String>, usize) {
    let mut command = project.command("gate", project.repo.root());
    command.args(args).env("GATE_LOG", "debug");
    let Said { err, .. } = finish(command, stdin.to_string().as_bytes());
    let mut tables: Vec<String> =
        err.lines().filter_map(|line| line.split("reads the table ").nth(1)).map(plain).collect();
    tables.sort();
    for pair in tables.windows(2) {
        assert_ne!(pair[0], pair[1], "read twice by {args:?}");
    }
    (tables, err.matches("compiles the pattern ").count())
}

/// Returns a name without the colours behind it.
fn plain(rest: &str) -> String {
    rest.split('\u{1b}').next().unwrap_or_default().trim().to_owned()
}

fn hook(project: &Project, event: &str, fields: Value) -> (Vec<String>, usize) {
    let mut payload = json!({
        "session_id": "c0ffee-1", "cwd": project.repo.root(), "hook_event_name": event, "transcript_path": "/none",
    });
    let Value::Object(fields) = fields else { panic!("{fields}") };
    payload.as_object_mut().unwrap().extend(fields);
    read_by(project, &["hook", "claude", event], &payload)
}

#[test]
fn a_hook_reads_the_tables_that_its_call_needs() {
    let project = Project::new();
    project.gate(["check"]);
    let bash = |line: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "toolu_1"});
    let done = |line: &str, out: &str| {
        let mut call = bash(line);
        call["tool_response"] = json!({"stdout": out, "stderr": "", "interrupted": false});
        call
    };
    let read = json!({"tool_name": "Read", "tool_input": {"file_path": "a.txt"}, "tool_use_id": "toolu_2"});
    let tested =
        "running 1 test\ntest a ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
    let mut found = String::new();
    for (title, (tables, patterns)) in [
        ("before a tool that reads", hook(&project, "PreToolUse", read)),
        ("before `ls`", hook(&project, "PreToolUse", bash("ls -la src"))),
        ("after `ls`", hook(&project, "PostToolUse", done("ls -la src", "a.rs\n"))),
        ("before `cargo test`", hook(&project, "PreToolUse", bash("cargo test"))),
        ("after `cargo test`", hook(&project, "PostToolUse", done("cargo test", tested))),
        ("at a prompt", hook(&project, "UserPromptSubmit", json!({"prompt": "please make parse() in a.txt faster"}))),
        ("at a stop", hook(&project, "Stop", json!({"last_assistant_message": "Done. All tests pass."}))),
    ] {
        found = format!("{found}{title}: {patterns} patterns; {}\n", tables.join(", "));
    }
    insta::assert_snapshot!("tables_read", found);
}
