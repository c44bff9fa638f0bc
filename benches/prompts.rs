//! The cost of the prompt hook: a request of 10 KB in a repository of 50,000 files. A first request of a session is
//! compared with `git ls-files`, a later one with gate's own hook for a call that only reads. Both are also compared with
//! a program that only reads its standard input.
//!
//! `cargo bench --bench prompts`; `-- --rounds=N` sets their number, and `--files=N` that of the files.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "benchmarks are not published"
)]

mod support;

use std::cell::Cell;
use std::fmt::Write as _;
use std::process::Command;

use support::measure::{Contender, compare};
use support::repository::{GATE, Repository};

const PROMPT_BYTES: usize = 10 * 1024;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let number = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(name)?.parse().ok());
    let rounds = number("--rounds=").unwrap_or(25);
    let repo = Repository::generate(number("--files=").unwrap_or(50_000));
    let hook = |event: &'static str, session: &str| {
        let mut command = repo.command(GATE);
        command.args(["hook", "claude", event]).env("XDG_STATE_HOME", repo.outside(session));
        command
    };
    let prompt = |session: &str, text: &str| {
        serde_json::json!({"session_id": session, "hook_event_name": "UserPromptSubmit", "prompt": text}).to_string()
    };
    let read = serde_json::json!({
        "session_id": "warm", "hook_event_name": "PreToolUse", "tool_name": "Read", "tool_use_id": "toolu_1",
        "tool_input": {"file_path": "a.txt"},
    });
    let ls_files = || repo.command_with("git", &["ls-files", "--cached", "--others", "--exclude-standard"]);
    for (title, text) in [("a short request", short()), ("a request of 10 KB", long())] {
        let cat = |payload: &str| Contender::new("cat", || repo.command("cat")).stdin(payload);
        let first = Cell::new(0);
        let cold = || -> Command {
            first.set(first.get() + 1);
            hook("UserPromptSubmit", &format!("cold-{}", first.get()))
        };
        let payload = prompt("cold", &text);
        let rows = vec![
            Contender::new("git ls-files", ls_files),
            cat(&payload),
            Contender::new("gate hook", cold).stdin(payload).limit(2.0, 20.0),
        ];
        compare(&format!("{title}, cold"), rounds, rows);
        let payload = prompt("warm", &text);
        let rows = vec![
            Contender::new("gate hook, a read", || hook("PreToolUse", "warm")).stdin(read.to_string()),
            cat(&payload),
            Contender::new("gate hook", || hook("UserPromptSubmit", "warm")).stdin(payload).limit(2.0, 10.0),
        ];
        compare(&format!("{title}, warm"), rounds, rows);
    }
}

fn short() -> String {
    "rename f7 to first_number and keep its callers; f8 returns a wrong sum, it must be 12 instead of 11".to_owned()
}

/// A request with a log.
fn long() -> String {
    let mut text = short() + "\n\n```\n";
    for line in 0.. {
        if text.len() > PROMPT_BYTES {
            break;
        }
        let second = line % 60;
        let _ = writeln!(text, "2024-06-01 03:00:{second:02} ERROR worker {line}: f{line} in src/{line}.rs failed");
    }
    text + "```\n"
}
