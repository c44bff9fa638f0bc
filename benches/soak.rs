//! A month of hook calls, eight at a time, some of them killed, with `gate check` once a day: the size on disk, the latency
//! at the beginning and at the end, and that nothing is lost.
//!
//! `cargo bench --bench soak`; `-- --calls=N` sets the number of calls (50,000). No entry is young here (`days = 0`), so that
//! the journal is pruned as often as it can be. `-- --day` works for one day instead, and prints what takes the bytes.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "benchmarks are not published"
)]

use std::io::Write as _;
use std::path::Path;
use std::process::Stdio;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, thread};

use serde_json::{Value, json};

mod support;

use support::day;
use support::repository::{GATE, Repository, size_of};
use support::stored_journal::stored_journal;

/// The number of calls at the same time.
const AT_ONCE: usize = 8;
/// The number of days that the calls are spread over.
const DAYS: usize = 30;
/// One of so many calls is killed.
const KILLED: usize = 97;

/// A call that came to its end.
struct EndedCall {
    number: usize,
    time: Duration,
    /// The number of entries that it must have left; `None` if it was killed, which may leave any of them.
    entries: Option<u64>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let number = |name: &str| args.iter().find_map(|arg| arg.strip_prefix(name)?.parse().ok());
    if args.iter().any(|arg| arg == "--day") {
        return day::work(number("--rounds=").unwrap_or(day::ROUNDS));
    }
    let calls = number("--calls=").unwrap_or(50_000);
    let repo = Repository::generate(240);
    let policy = repo.outside("work/gate.toml");
    let mut text = fs::read_to_string(&policy).expect("a policy");
    text.push_str("\n[retention]\ndays = 0\n");
    fs::write(&policy, text).expect("a policy");
    repo.git(["commit", "-q", "-a", "-m", "chore: nothing is young"]);
    repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    let gate_dir = repo.outside("work/.git/gate");
    let before = lines_ever(&gate_dir);
    let (ended, mut sizes, mut checks) = (Mutex::new(Vec::new()), Vec::new(), Vec::new());
    for day in 0..DAYS {
        let next = AtomicUsize::new(day * calls / DAYS);
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| work(&repo, &next, (day + 1) * calls / DAYS, &ended));
            }
        });
        let begun = Instant::now();
        let status = repo.command(GATE).arg("check").output().expect("gate starts").status;
        assert!(matches!(status.code(), Some(0 | 10)), "gate check ends with {status}");
        checks.push(begun.elapsed());
        sizes.push(size_of(&gate_dir));
    }
    let mut ended = ended.into_inner().expect("no call panics");
    ended.sort_by_key(|call| call.number);
    let kept: u64 = ended.iter().filter_map(|call| call.entries).sum();
    let killed = ended.iter().filter(|call| call.entries.is_none()).count();
    let appended = lines_ever(&gate_dir) - before;
    println!(
        "{calls} calls, {killed} of them killed; {appended} lines in the journal since, {kept} of calls that ended"
    );
    assert!(appended >= kept, "{} lines are lost", kept - appended);
    let doctor = repo.command(GATE).args(["doctor"]).output().expect("gate starts");
    let said = String::from_utf8_lossy(&doctor.stdout).into_owned();
    assert!(said.contains("the journal is intact"), "{said}");
    let tenth = (ended.len() / 10).max(1);
    println!(
        "median call: {:?} at the beginning, {:?} at the end",
        median(&ended[..tenth]),
        median(&ended[ended.len() - tenth..])
    );
    println!("gate check: {:?} after the first day, {:?} at most", checks[0], checks.iter().max());
    println!("bytes on disk: {} after the first day, {:?} at most", sizes[0], sizes.iter().max());
}

/// Makes calls until the day is over.
fn work(repo: &Repository, next: &AtomicUsize, until: usize, ended: &Mutex<Vec<EndedCall>>) {
    loop {
        let number = next.fetch_add(1, Ordering::Relaxed);
        if number >= until {
            return;
        }
        let (event, call, entries) = call(number);
        let begun = Instant::now();
        let mut child = repo
            .command(GATE)
            .args(["hook", "claude", event])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("gate starts");
        // One that is killed may not read it all.
        let _ = child.stdin.take().expect("a pipe").write_all(call.to_string().as_bytes());
        if number % KILLED == KILLED - 1 {
            // At any moment of a call.
            thread::sleep(Duration::from_micros(number as u64 * 37 % 40_000));
            let _ = child.kill();
        }
        let is_whole = child.wait().expect("gate ends").success();
        let call = EndedCall { number, time: begun.elapsed(), entries: is_whole.then_some(entries) };
        ended.lock().expect("no call panics").push(call);
    }
}

/// The calls of a day: an edit, two commands that only read, a check, and their ends; with the number of entries each leaves.
fn call(number: usize) -> (&'static str, Value, u64) {
    let session = format!("session-{}", number / 400);
    let tool = |event: &'static str, tool: &str, input: Value, out: String, entries: u64| {
        let call = json!({
            "session_id": session, "hook_event_name": event, "tool_name": tool, "tool_input": input,
            "tool_use_id": format!("toolu_{}", number / 2), "tool_response": {"stdout": out, "interrupted": false},
        });
        (event, call, entries)
    };
    let reads = |event, entries| {
        tool(event, "Bash", json!({"command": "ls -la src"}), "a line of output\n".repeat(120), entries)
    };
    match number % 7 {
        0 | 2 => reads("PreToolUse", 0),
        1 | 3 => reads("PostToolUse", 1),
        4 => tool("PreToolUse", "Bash", json!({"command": "cargo test"}), String::new(), 0),
        5 => tool(
            "PostToolUse",
            "Bash",
            json!({"command": "cargo test"}),
            "test result: ok. 3 passed; 0 failed\n".repeat(100),
            1,
        ),
        _ => tool(
            "PostToolUse",
            "Write",
            json!({"file_path": format!("src/new{}.txt", number % 50), "content": "x"}),
            String::new(),
            1,
        ),
    }
}

/// Returns the number of lines that a journal has had, those that were pruned included.
fn lines_ever(gate_dir: &Path) -> u64 {
    let text = stored_journal(gate_dir);
    let lines = text.lines().count() as u64;
    let first: Value = text.lines().next().and_then(|line| serde_json::from_str(line).ok()).unwrap_or_default();
    let head = &first["data"];
    if first["kind"] != "head" {
        return lines;
    }
    let count = |value: &Value| value.as_u64().expect("a number");
    lines - 1 - count(&head["carried"][0]) + count(&head["lines"])
}

fn median(calls: &[EndedCall]) -> Duration {
    let mut times: Vec<Duration> = calls.iter().filter(|call| call.entries.is_some()).map(|call| call.time).collect();
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
