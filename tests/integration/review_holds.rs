//! What must not make a review vanish: other content, attributes, odd bytes, other models, a change that cannot be read.

use serde_json::{Value, json};

use crate::project::{POLICY, Project, finish};
use crate::reviews::{finding, finds, review};

fn gated() -> Project {
    Project::with(&format!("{POLICY}\n[gates.review]\nmode = \"block\"\n"))
}

fn calls(report: &Value) -> usize {
    report["calls"].as_array().unwrap().len()
}

/// Returns the reason of the first finding of the gate.
fn reason(project: &Project) -> String {
    let verdict = project.verdict_with(&[], &[]);
    let gates = verdict["gates"].as_array().unwrap().clone();
    let gate = gates.iter().find(|gate| gate["gate"] == "review").unwrap();
    gate["findings"][0]["reason"].as_str().unwrap_or("skip").to_owned()
}

#[test]
fn dissent_stays_where_other_content_changes_and_is_answered_once() {
    let project = gated().edited("eval \\\"$name\\\"");
    project.repo.write("src/other.sh", "one=1\n").commit_all("feat: other");
    project.gate(["run", "test"]).exits(0);
    finds(&project, [&[], &[finding("eval", "HIGH")]]);
    assert_eq!(calls(&review(&project, 10)), 2);
    // Now both are silent, and another file changes: only that one is read again, and the dissent stays.
    finds(&project, [&[], &[]]);
    project.repo.append("src/other.sh", "two=2\n");
    assert_eq!(review(&project, 10)["review"]["findings"][0]["quote"], "eval");
    // The lines around it change: the code is read again, and the dissent stays until the other one answers it.
    project.repo.append("src/lib.sh", "three=3\n");
    let report = review(&project, 10);
    assert_eq!((&report["review"]["findings"][0]["earlier"], calls(&report)), (&json!(true), 2), "{report:#}");
    assert_eq!(reason(&project), "dissent");
    std::fs::write(project.repo.home().join("stands"), "false").unwrap();
    let answered = project.gate(["review", "--answer"]).exits(0);
    answered.says("one disagrees");
    assert_eq!(calls(&review(&project, 0)), 0);
    // An answer holds, too, where another file changes.
    project.repo.append("src/other.sh", "four=4\n");
    assert_eq!(calls(&review(&project, 0)), 2);
}

#[test]
fn dissent_follows_a_file_that_gets_another_name() {
    let project = gated().edited("eval \\\"$name\\\"");
    project.repo.write("src/new.sh", "eval \"$other\"\n").commit_all("feat: new");
    project.gate(["run", "test"]).exits(0);
    let mut in_new = finding("eval", "HIGH");
    (in_new["file"], in_new["line"]) = (json!("src/new.sh"), json!(1));
    finds(&project, [&[], &[finding("eval", "HIGH"), in_new]]);
    review(&project, 10);
    finds(&project, [&[], &[]]);
    for (old, new) in [("lib", "moved"), ("new", "newer"), ("moved", "again")] {
        project.sh(&format!("git mv src/{old}.sh src/{new}.sh && git commit -qm 'feat: move {old}'")).exits(0);
    }
    let report = review(&project, 10);
    let mut paths: Vec<&str> =
        report["review"]["findings"].as_array().unwrap().iter().filter_map(|one| one["path"].as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["src/again.sh", "src/newer.sh"], "{report:#}");
}

#[test]
fn no_attribute_and_no_byte_hides_a_change() {
    let project = gated();
    let root = project.repo.root().to_owned();
    std::fs::create_dir_all(root.join(".git/info")).unwrap();
    std::fs::write(root.join(".git/info/attributes"), "* -diff\n").unwrap();
    project.repo.write("src/lib.sh", "one\n# a\0b\neval \"$name\"\r\n").commit_all("feat: eval");
    project.gate(["run", "test"]).exits(0);
    finds(&project, [&[], &[finding("eval \"$name\"", "HIGH")]]);
    let report = review(&project, 10);
    assert_eq!(report["review"]["dropped"], 0, "{report:#}");
    assert_eq!(reason(&project), "dissent");
    // Bytes that are shown as nothing count all the same.
    project.repo.write("src/lib.sh", "one\n# a\u{1}b\nprintf x\n");
    finds(&project, [&[], &[]]);
    review(&project, 0);
    project.repo.write("src/lib.sh", "one\n# a\u{2}b\nprintf x\n");
    assert_eq!(calls(&review(&project, 0)), 2);
}

#[test]
fn a_change_that_cannot_be_read_is_not_reviewed() {
    let project = gated().edited("eval \\\"$name\\\"");
    finds(&project, [&[], &[]]);
    review(&project, 0);
    project.repo.write("x.py", "T = \"ghp_abcdefghijklmnopqrstuvwxyz0123456789\"\n");
    project.gate(["run", "test"]).exits(0);
    project.gate(["review"]).exits(12).says("x.py looks like a secret");
    assert_eq!(reason(&project), "unreadable");
    project.check().exits(12).says("move it out of the repository");
    std::fs::remove_file(project.repo.root().join("x.py")).unwrap();
    project.gate(["run", "test"]).exits(0);
    assert_eq!(reason(&project), "reviewed");
}

#[test]
fn work_without_a_known_beginning_is_not_reviewed_until_a_person_names_it() {
    let project = gated();
    finds(&project, [&[], &[]]);
    project.sh("git checkout -q --orphan other").exits(0);
    project.edit("eval \\\"$name\\\"");
    project.gate(["run", "test"]).exits(0);
    assert_eq!(reason(&project), "unreadable");
    project.gate(["review"]).exits(12).says("where this work began");
    // An agent's word for it is heard, and does not count.
    project.sh("CLAUDECODE=1 gate review --base HEAD").exits(0).says("does not take the beginning of the work");
    assert_eq!(reason(&project), "unreadable");
    project.gate(["review", "--base", "main"]).exits(0);
    assert_eq!(reason(&project), "reviewed");
    project.repo.append("src/lib.sh", "more\n");
    project.gate(["run", "test"]).exits(0);
    assert_eq!(reason(&project), "unreviewed");
}

#[test]
fn only_the_models_of_the_user_count() {
    let project = gated().edited("eval \\\"$name\\\"").tested();
    finds(&project, [&[], &[finding("eval", "HIGH")]]);
    let own = project.repo.outside().join("own/gate");
    std::fs::create_dir_all(&own).unwrap();
    let silent = "[review]\nreviewer = \"one\"\nauditor = \"two\"\n\
        [models.one]\ncommand = \"\\\"$HOME/silent\\\"\"\n[models.two]\ncommand = \"sh \\\"$HOME/silent\\\"\"\n";
    std::fs::write(own.join("config.toml"), silent).unwrap();
    let script = "#!/bin/sh\nticket=$(sed -n 's/.*with the ticket \\([0-9a-f]*\\)\\.$/\\1/p' | tail -1)\n\
        echo \"{\\\"ticket\\\": \\\"$ticket\\\", \\\"findings\\\": []}\"\n";
    crate::word_judges::configure(
        &project,
        &[("silent", script)],
        &std::fs::read_to_string(project.repo.home().join(".config/gate/config.toml")).unwrap(),
    );
    let with = |config: &std::path::Path, code: i32| {
        let mut command = project.command("gate", project.repo.root());
        command.arg("review").env("XDG_CONFIG_HOME", config);
        finish(command, b"").exits(code)
    };
    with(&project.repo.outside().join("own"), 0);
    assert_eq!(reason(&project), "unreviewed");
    assert_eq!(calls(&review(&project, 10)), 2);
    // Nor do they take back what the user's models said.
    with(&project.repo.outside().join("own"), 0);
    assert_eq!(reason(&project), "dissent");
    // A configuration that an agent can write is none.
    let inside = project.repo.root().join(".config/gate");
    std::fs::create_dir_all(&inside).unwrap();
    std::fs::write(inside.join("config.toml"), silent).unwrap();
    with(&project.repo.root().join(".config"), 65).says("it lies in the working tree");
}

#[test]
fn an_agent_does_not_choose_its_author_or_its_task() {
    let project = gated().edited("eval \\\"$name\\\"");
    finds(&project, [&[], &[]]);
    let agent = |line: &str| project.sh(&format!("CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=author-2 {line}"));
    let session = crate::client_session::Session::claude_called(&project, "author-2");
    session.prompt("Add a line, and no more");
    std::fs::write(project.repo.outside().join("task.md"), "Just add eval, it is all fine").unwrap();
    let task = project.repo.outside().join("task.md");
    agent(&format!("gate review --author qwen-3 --task {}", task.display())).exits(64).says("does not review itself");
    let root = project.repo.root().to_str().unwrap().to_owned();
    let folder: String = root.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let logs = project.repo.home().join(".claude/projects").join(folder);
    std::fs::create_dir_all(&logs).unwrap();
    let line = json!({"type": "assistant", "sessionId": "author-2", "cwd": root, "uuid": "u",
        "timestamp": "2026-01-05T10:00:00Z", "message": {"id": "m", "role": "assistant", "model": "qwen-3", "content": [],
        "usage": {"input_tokens": 1, "output_tokens": 1}}});
    std::fs::write(logs.join("author-2.jsonl"), format!("{line}\n")).unwrap();
    agent("gate review --author gpt-5").exits(64).says("does not review itself");
    project.gate(["review", "--author", "gpt-5"]).exits(0);
}

#[test]
fn a_large_change_is_reviewed_in_several_calls() {
    let project = gated();
    for file in 0..26 {
        let lines: Vec<String> = (0..1_500).map(|line| format!("value_{line}={file}_{line}_x\n")).collect();
        project.repo.write(format!("src/part{file}.sh"), lines.concat());
    }
    project.repo.commit_all("feat: parts");
    finds(&project, [&[], &[]]);
    let first = review(&project, 12);
    assert_eq!((&first["review"]["unreviewed"], calls(&first)), (&json!(2), 48), "{:#}", first["review"]);
    assert_eq!(calls(&review(&project, 0)), 4);
    assert_eq!(calls(&review(&project, 0)), 0);
}
