//! `gate sessions`, `gate log --session` and `gate import`, with logs where clients keep them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::opencode_log::{fill, opencode};
use crate::project::Project;
use crate::session_logs::data;

/// A hand-written log, its working tree put in the place of the one it speaks of.
fn log(name: &str, root: &Path) -> String {
    fs::read_to_string(data(name)).unwrap().replace("/w/shop", root.to_str().unwrap())
}

fn put(path: &Path, content: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, content).unwrap();
}

/// The logs of all clients, where they keep those of this project.
fn with_logs(project: &Project) -> PathBuf {
    let (home, root) = (project.repo.home(), project.repo.root().to_path_buf());
    let name: String =
        root.to_str().unwrap().chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
    let claude = home.join(".claude/projects").join(name);
    put(&claude.join("5e55-claude.jsonl"), &log("claude.jsonl", &root));
    put(&claude.join("5e55-claude/subagents/agent-a1.jsonl"), &log("claude-subagent.jsonl", &root));
    put(&claude.join("5e55-fork.jsonl"), &log("claude-fork.jsonl", &root));
    // Of another project, whose name begins in the same way.
    put(&claude.join("other.jsonl"), &log("claude.jsonl", Path::new("/elsewhere")));
    let codex = home.join(".codex/sessions/2026/03/01");
    put(&codex.join("rollout-1.jsonl"), &log("codex.jsonl", &root));
    put(&codex.join("rollout-2.jsonl"), &log("codex-events.jsonl", Path::new("/elsewhere")));
    let gemini = home.join(".gemini");
    put(
        &gemini.join("projects.json"),
        &serde_json::json!({ "projects": { root.to_str().unwrap(): "shop" } }).to_string(),
    );
    put(&gemini.join("tmp/shop/chats/session-1.jsonl"), &log("gemini.jsonl", &root));
    put(&gemini.join("tmp/other/chats/session-2.jsonl"), &log("gemini.jsonl", &root));
    put(&home.join(".copilot/session-state/c0b1/events.jsonl"), &log("copilot.jsonl", &root));
    fill(&opencode(&home.join(".local/share/opencode/opencode.db"), root.to_str().unwrap()));
    claude
}

fn listed(project: &Project) -> Vec<serde_json::Value> {
    let shown = project.gate(["sessions", "--json"]).exits(0);
    shown.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn sessions_of_this_repository_are_listed() {
    let project = Project::new();
    project.gate(["sessions"]).exits(0).says("no session of a coding agent was found");
    let claude = with_logs(&project);
    let sessions = listed(&project);
    let mut shown: Vec<String> = sessions
        .iter()
        .map(|one| {
            let count = |name: &str| one[name].as_u64().unwrap();
            let of = [
                count("prompts"),
                count("commands"),
                count("edits"),
                count("stops"),
                count("broken"),
                count("subagents"),
            ];
            format!("{} {} {of:?}", one["client"].as_str().unwrap(), one["session"].as_str().unwrap())
        })
        .collect();
    shown.sort();
    assert_eq!(
        shown,
        [
            "claude 5e55-claude [3, 6, 1, 3, 1, 1]",
            "claude 5e55-fork [1, 0, 0, 1, 0, 0]",
            "codex 019b0000-0000-7000-8000-00000000000a [2, 2, 1, 3, 0, 0]",
            "copilot c0b1 [2, 3, 1, 3, 0, 0]",
            "gemini 9e31 [2, 2, 1, 3, 0, 0]",
            "opencode ses_1 [1, 2, 1, 2, 1, 1]",
            "opencode ses_3 [1, 0, 0, 0, 0, 0]",
        ],
    );
    assert_eq!(sessions, listed(&project), "a second look says the same");
    project
        .gate(["sessions"])
        .exits(0)
        .says("claude   5e55-claude")
        .says("3 prompts, 6 commands, 1 edit, 3 stops, 1 sub-agent");
    // The log grows.
    let path = claude.join("5e55-fork.jsonl");
    let more = log("claude-fork.jsonl", project.repo.root())
        .lines()
        .last()
        .unwrap()
        .replace("\"f2\"", "\"f3\"")
        .replace("mf", "mg");
    fs::write(&path, format!("{}{more}\n", fs::read_to_string(&path).unwrap())).unwrap();
    let fork = listed(&project).into_iter().find(|one| one["session"] == "5e55-fork").unwrap();
    assert!(fork["stops"].as_u64() >= Some(1) && fork["prompts"] == 1, "{fork}");
}

#[test]
fn what_is_no_file_is_no_log() {
    let project = Project::new();
    let claude = with_logs(&project);
    let known = listed(&project);
    let home = project.repo.home();
    let pipes = [
        claude.join("pipe.jsonl"),
        claude.join("5e55-claude/subagents/agent-pipe.jsonl"),
        home.join(".codex/sessions/2026/03/01/rollout-pipe.jsonl"),
        home.join(".gemini/tmp/shop/chats/session-pipe.jsonl"),
        home.join(".copilot/session-state/pipe.jsonl"),
    ];
    for pipe in &pipes {
        assert!(project.repo.command_in("mkfifo", project.repo.root()).arg(pipe).status().unwrap().success());
    }
    // A socket is bound to a short path, so it gets its place afterwards.
    let bound = project.repo.path("s");
    let _socket = std::os::unix::net::UnixListener::bind(&bound).unwrap();
    fs::rename(bound, claude.join("s.jsonl")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", claude.join("zero.jsonl")).unwrap();
    assert_eq!(listed(&project), known);
    project.gate(["log", "--session", "5e55-claude"]).exits(0);
    project.gate(["import", pipes[0].to_str().unwrap()]).says("not a regular file");
    let database = home.join(".local/share/opencode/opencode.db");
    fs::remove_file(&database).unwrap();
    assert!(project.repo.command_in("mkfifo", project.repo.root()).arg(&database).status().unwrap().success());
    assert_eq!(listed(&project).len(), known.len() - known.iter().filter(|one| one["client"] == "opencode").count());
}

#[test]
fn a_client_may_keep_its_logs_elsewhere() {
    let project = Project::new();
    let root = project.repo.root();
    let place = project.repo.outside().join("codex home");
    put(&place.join("sessions/2026/03/01/rollout-1.jsonl"), &log("codex.jsonl", root));
    assert!(listed(&project).is_empty());
    let mut command = project.repo.gate(["sessions", "--json"]);
    let output = command.env("CODEX_HOME", &place).output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"client\":\"codex\""));
}

#[test]
fn a_session_is_one_story_of_log_journal_and_git() {
    let project = Project::new();
    with_logs(&project);
    let shown = project.gate(["log", "-n", "0", "--session", "5e55-c"]).exits(0);
    let shown =
        shown.says("transcribed claude").says("$ python -m pytest -q: exit status 1").says("$ python -m pytest -q\n");
    let shown = shown.says("edited src/total.py").says("person: Make the total right").says("sub-agent a1");
    assert!(!shown.out.contains("Another way"), "another session");
    project.gate(["log", "--session", "5e55"]).exits(65).says("is the beginning of 2 sessions");

    // What git did meanwhile belongs to the story, what it did before does not.
    let path = project.repo.home().join(".copilot/session-state/c0b1/events.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let (first, rest) = text.split_once('\n').unwrap();
    let last = rest.lines().last().unwrap().replace("2026-03-01T15", "2099-03-01T15");
    project.edit("while the agent works");
    fs::write(&path, format!("{}\n{rest}{last}\n", first.replace("2026-03-01T15", "2000-03-01T15"))).unwrap();
    let shown = project.gate(["log", "-n", "0", "--json", "--session", "c0b1"]).exits(0);
    let kinds: Vec<String> = shown
        .out
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()["kind"].as_str().unwrap().to_owned())
        .collect();
    assert!(kinds.contains(&"git".to_owned()) && kinds.contains(&"work".to_owned()), "{kinds:?}");
    assert!(shown.out.contains("while the agent works"));
}

#[test]
fn a_session_begins_as_late_as_it_likes() {
    let project = Project::new();
    let claude = with_logs(&project);
    let count = || listed(&project).iter().filter(|one| one["session"] == "5e55-claude").count();
    let path = claude.join("5e55-claude.jsonl");
    let text = fs::read_to_string(&path).unwrap();
    let picture = format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{}\"}}}}\n", "A".repeat(2 << 20));
    let summary = "{\"type\":\"summary\",\"summary\":\"Earlier work\",\"leafUuid\":\"a\"}\n";
    for start in [String::new(), picture.clone(), summary.repeat(200), "x".repeat(17 << 20) + "\n"] {
        fs::write(&path, format!("{start}{text}")).unwrap();
        assert_eq!(count(), 1, "{start:.40}");
    }
    let elsewhere = project.repo.outside().join("artifact.jsonl");
    fs::write(&elsewhere, picture + &text).unwrap();
    project.gate(["import", elsewhere.to_str().unwrap()]).exits(0);
}

#[test]
fn a_log_from_elsewhere_is_imported_once() {
    let project = Project::new();
    let outside = project.repo.outside();
    let file = outside.join("artifact.jsonl");
    fs::copy(data("claude.jsonl"), &file).unwrap();
    let name = file.to_str().unwrap();
    project.gate(["import", name]).exits(0).says("imported claude 5e55-claude: 3 prompts, 5 commands");
    project.gate(["import", name]).exits(0).says("known already");
    let sessions = listed(&project);
    assert_eq!((sessions.len(), &sessions[0]["imported"]), (1, &serde_json::Value::Bool(true)));
    let shown = project.gate(["log", "-n", "0", "--session", "5e55-claude"]).exits(0);
    shown.says("edited src/total.py").says("exit status 1");
    // What is kept has no secrets.
    let kept = PathBuf::from(sessions[0]["file"].as_str().unwrap());
    let kept = fs::read_to_string(kept).unwrap();
    assert!(kept.contains("[redacted]") && !kept.contains("ghp_"));
    // It grew there.
    let text = fs::read_to_string(&file).unwrap();
    let more = text.lines().nth(1).unwrap().replace("\"u1\"", "\"u99\"").replace("10:00:01", "10:59:01");
    fs::write(&file, format!("{text}{more}\n")).unwrap();
    project.gate(["import", "--client", "claude", name]).exits(0).says("imported claude 5e55-claude: 4 prompts");
    assert_eq!(listed(&project).len(), 1);

    let db = outside.join("opencode.db");
    fill(&opencode(&db, "/w/shop"));
    project.gate(["import", db.to_str().unwrap()]).exits(0).says("imported opencode ses_1").says("ses_3");
    fs::write(&file, "{\"level\":\"info\"}\n").unwrap();
    project.gate(["import", name]).exits(65).says("is not a session log of a known client");
    project.gate(["import", "--client", "codex", name]).exits(65).says("nothing in");
    project.gate(["import", "absent"]).exits(65).says("cannot read absent");
    project.gate(["import", "--client", "vim", name]).exits(64);
}
