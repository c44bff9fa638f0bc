//! The board that agents of a repository share.

use std::process::Stdio;

use serde_json::Value;

use crate::project::{Project, finish};
use crate::support::TestRepo;

fn put(repo: &TestRepo, place: &str, text: &str, variables: &[(&str, &str)]) -> crate::project::Said {
    let mut command = repo.gate(["board", "put", place, "--json"]);
    command.envs(variables.iter().copied());
    finish(command, text.as_bytes())
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn sixty_four_writers_lose_nothing() {
    const WRITERS: usize = 64;
    let repo = TestRepo::with_commit();
    let start = |number: usize| {
        let mut command = repo.gate(["board", "put", "signals/done", "-"]);
        command.env("GATE_SESSION", format!("writer-{number}"));
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        std::io::Write::write_all(child.stdin.as_mut().unwrap(), format!("text {number}\n").as_bytes()).unwrap();
        child
    };
    let writers: Vec<_> = (0..WRITERS).map(start).collect();
    for writer in writers {
        let output = writer.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let text = |version: usize| {
        let output = repo.gate(["board", "get", "signals/done", "--revision", &version.to_string()]).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let mut texts: Vec<String> = (1..=WRITERS).map(text).collect();
    texts.sort();
    let mut expected: Vec<String> = (0..WRITERS).map(|number| format!("text {number}\n")).collect();
    expected.sort();
    assert_eq!(texts, expected);
    // Who wrote what is in the journal.
    let log = repo.gate(["log", "-n", "0", "--json"]).output().unwrap();
    let log = String::from_utf8(log.stdout).unwrap();
    let posted: Vec<Value> = log.lines().map(json).filter(|event| event["kind"] == "posted").collect();
    assert_eq!(posted.len(), WRITERS);
    assert!(posted.iter().all(|event| event["session"].as_str().unwrap().starts_with("writer-")), "{posted:#?}");
}

#[test]
fn working_trees_share_the_board() {
    let repo = TestRepo::with_commit();
    repo.git(["worktree", "add", "-q", "../other"]);
    put(&repo, "context/task", "split it", &[]).exits(0);
    let other = repo.outside().join("other");
    let mut command = repo.command_in(env!("CARGO_BIN_EXE_gate"), &other);
    command.args(["board", "get", "context/task"]);
    finish(command, b"").exits(0).says("split it");
    let mut command = repo.gate(["board", "list"]);
    command.current_dir(&other);
    finish(command, b"").exits(0).says("context/task version 1");
}

#[test]
fn what_is_new_is_seen_by_who_waits() {
    let repo = TestRepo::with_commit();
    let first = json(&put(&repo, "reviews/api", "one", &[]).exits(0).out);
    let id = first["id"].as_str().unwrap();
    let watching = |arguments: &[&str]| finish(repo.gate([&["board", "watch"], arguments].concat()), b"");
    watching(&["--after", id, "--timeout", "1s"]).exits(10).says("nothing new");
    put(&repo, "reviews/api", "two", &[]).exits(0);
    let seen = json(&watching(&["reviews", "--after", id]).exits(0).out);
    assert_eq!((seen["text"].as_str(), seen["version"].as_u64()), (Some("two"), Some(2)));
    watching(&["signals", "--after", id, "--timeout", "1s"]).exits(10);
}

#[test]
fn secrets_and_bytes_stay_off_the_board() {
    let repo = TestRepo::with_commit();
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let entry = put(&repo, "signals/key", &format!("use {token}\n"), &[]).exits(0).out;
    assert!(entry.contains("[redacted]") && !entry.contains(&token), "{entry}");
    put(&repo, "signals/big", &"x".repeat(300 * 1024), &[]).exits(65).says("at most 256 KiB");
    finish(repo.gate(["board", "put", "signals/bytes"]), b"\xff\xfe").exits(65).says("UTF-8");
    put(&repo, "rumours/x", "x", &[]).exits(64).says("the folders are context, signals, artifacts, reviews");
    put(&repo, "signals/../../x", "x", &[]).exits(64).says("is not a name of an entry");
    finish(repo.gate(["board", "get", "signals/none"]), b"").exits(64).says("gate board list");
}

#[test]
fn a_role_writes_only_where_it_may() {
    let project = Project::with(
        "version = 1\n[gates.tests]\nmode = \"off\"\n[roles.reviewer]\nwrite = []\nboard = [\"reviews\"]\n[roles.tester]\nwrite = \
         [\"tests/**\"]\n",
    );
    let role = |role| [("GATE_ROLE", role)];
    let entry = json(&put(&project.repo, "reviews/api", "fine", &role("reviewer")).exits(0).out);
    assert_eq!(entry["role"], "reviewer");
    put(&project.repo, "artifacts/map", "{}", &role("reviewer")).exits(10).says("the role reviewer may not write to");
    put(&project.repo, "artifacts/map", "{}", &role("tester")).exits(0);
    put(&project.repo, "artifacts/map", "{}", &role("cook")).exits(10).says("which is not in [roles]");
}
