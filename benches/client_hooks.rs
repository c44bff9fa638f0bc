//! The cost of a hook of an agent client. A call that only reads and an edit are compared with a program that only reads its
//! standard input; a command that may be a check and a stop, which look at the working tree, with `git status`.
//!
//! `cargo bench --bench client_hooks`; `-- --rounds=N` sets their number.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "benchmarks are not published"
)]

mod support;

use support::measure::{Contender, compare};
use support::repository::{GATE, Repository};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let rounds = args.iter().find_map(|arg| arg.strip_prefix("--rounds=")?.parse().ok()).unwrap_or(25);
    let repo = Repository::generate(1_000);
    repo.journal(10_000);
    let call = |event: &str, tool: &str, input: serde_json::Value| {
        let payload = serde_json::json!({
            "session_id": "bench", "hook_event_name": event, "tool_name": tool, "tool_input": input,
            "tool_use_id": "toolu_1", "tool_response": {"stdout": "", "interrupted": false},
        });
        payload.to_string()
    };
    let file = serde_json::json!({"file_path": "a.txt", "content": "x"});
    let cases = [
        ("a tool that only reads", "PreToolUse", "Read", serde_json::json!({"file_path": "a.txt"}), 2.0),
        ("a command that only reads", "PreToolUse", "Bash", serde_json::json!({"command": "ls -la src"}), 3.0),
        ("before an edit", "PreToolUse", "Write", file.clone(), 2.0),
        ("after an edit", "PostToolUse", "Write", file, 10.0),
    ];
    for (title, event, tool, input, times) in cases {
        let payload = call(event, tool, input);
        let cat = Contender::new("cat", || repo.command("cat")).stdin(payload.clone());
        compare(title, rounds, vec![cat, hook(&repo, event, payload).limit(times, 0.0)]);
    }
    let tested = serde_json::json!({"command": "cargo test"});
    let stop = serde_json::json!({
        "session_id": "bench", "hook_event_name": "Stop", "stop_hook_active": false,
        "last_assistant_message": "I fixed the parser. All tests pass now.",
    });
    for (title, event, payload, more) in [
        ("before a command that may be a check", "PreToolUse", call("PreToolUse", "Bash", tested.clone()), 4.0),
        ("after a command that may be a check", "PostToolUse", call("PostToolUse", "Bash", tested), 6.0),
        ("a stop", "Stop", stop.to_string(), 12.0),
    ] {
        let status = || repo.command_with("git", &["status", "--porcelain", "-uall"]);
        let rows = vec![Contender::new("git status", status), hook(&repo, event, payload).limit(1.2, more)];
        compare(title, rounds, rows);
    }
}

fn hook<'a>(repo: &'a Repository, event: &'static str, payload: String) -> Contender<'a> {
    Contender::new("gate hook", move || repo.command_with(GATE, &["hook", "claude", event])).stdin(payload)
}
