//! Edits to the memory file: proposed from the record, made only by a person.

use serde_json::{Value, json};

use crate::project::{Project, valid};
use crate::word_judges::configure;

const MEMORY: &str = "# Rules\n\n* Read `docs/old.md` first.\n* Be kind.\n";

/// A project whose memory file names a document that a commit deleted.
fn outdated() -> Project {
    let project = Project::new();
    project.repo.write("AGENTS.md", MEMORY).write("docs/old.md", "old\n").commit_all("docs: rules");
    project.repo.remove("docs/old.md").commit_all("docs: nothing old");
    project
}

/// Makes two tasks in which `sh test.sh` cleared a refusal.
fn two_tasks(project: &Project) {
    for id in ["one", "two"] {
        let gate = |args: &[&str]| project.gate_with(&[("GATE_SESSION", id)], args);
        project.edit(id);
        gate(&["check", "--done"]).exits(10);
        gate(&["run", "test"]).exits(0);
        gate(&["check", "--done"]).exits(0);
    }
}

fn proposals(project: &Project) -> Vec<(String, String)> {
    let list: Value = serde_json::from_str(&project.gate(["curate", "--json"]).exits(0).out).unwrap();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    list["proposals"].as_array().unwrap().iter().map(|one| (text(one, "id"), text(one, "text"))).collect()
}

#[test]
fn a_pipe_shows_patches_with_evidence_and_writes_nothing() {
    let project = outdated();
    two_tasks(&project);
    let said = project.gate(["curate"]).exits(0).says("-* Read `docs/old.md` first.").says("deleted docs/old.md");
    said.says("+* Run `sh test.sh` before you call work done.").says("tests failed, and `sh test.sh` cleared it");
    assert_eq!(project.repo.read("AGENTS.md"), MEMORY.as_bytes());
    project.repo.remove("AGENTS.md");
    project.gate(["curate"]).exits(64).says("gate curate --file AGENTS.md");
    project.gate(["curate", "--file", "AGENTS.md"]).exits(0).says("Run `sh test.sh`");
}

#[test]
fn a_persons_file_decides_and_a_refusal_is_remembered() {
    let project = outdated();
    two_tasks(&project);
    let found = proposals(&project);
    assert_eq!(found.len(), 2, "{found:?}");
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} y\n{} n\n", found[0].0, found[1].0)).unwrap();
    let file = outside.to_str().unwrap();
    project.gate_with(&[("CLAUDECODE", "1")], &["curate", "--decisions", file]).exits(11).says("only a person");
    assert_eq!(project.repo.read("AGENTS.md"), MEMORY.as_bytes());
    project.gate(["curate", "--decisions", file]).exits(0).says("1 of 2 edits made");
    assert_eq!(project.repo.read("AGENTS.md"), b"# Rules\n\n* Be kind.\n");
    assert!(proposals(&project).is_empty(), "what was refused is not proposed again");

    let project = outdated();
    two_tasks(&project);
    let found = proposals(&project);
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} e Read the README first.\n{} y\n", found[0].0, found[1].0)).unwrap();
    project.gate(["curate", "--decisions", outside.to_str().unwrap()]).exits(0).says("2 of 2 edits made");
    let expected = "# Rules\n\n* Read the README first.\n* Be kind.\n* Run `sh test.sh` before you call work done.\n";
    assert_eq!(String::from_utf8(project.repo.read("AGENTS.md")).unwrap(), expected);
}

#[test]
fn a_decision_file_that_may_be_an_agents_is_refused() {
    let project = outdated();
    project.repo.write("decisions", "x y\n");
    project.gate(["curate", "--decisions", "decisions"]).exits(65).says("outside of the working tree");
    let outside = project.repo.outside().join("decisions");
    for (text, says) in [("maybe\n", "line 1 is not"), ("unknown y\n", "no proposal is called `unknown`")] {
        std::fs::write(&outside, text).unwrap();
        project.gate(["curate", "--decisions", outside.to_str().unwrap()]).exits(65).says(says);
    }
    assert_eq!(project.repo.read("AGENTS.md"), MEMORY.as_bytes());
}

/// Returns a made-up log of Claude Code in which each command ends with this status and output.
fn client_log(project: &Project, session: &str, commands: &[(&str, i32, &str)]) -> String {
    let root = project.repo.root().to_str().unwrap().to_owned();
    let record = |number: usize, kind: &str, content: Value| {
        let at = format!("2026-01-05T10:00:{number:02}.000Z");
        json!({"type": kind, "sessionId": session, "cwd": root, "timestamp": at, "uuid": format!("{session}-{number}"),
            "version": "2.0.0", "message": {"role": kind, "content": content}})
        .to_string()
    };
    let mut lines = vec![record(0, "user", json!("Look at the formatting."))];
    for (number, (command, status, output)) in commands.iter().enumerate() {
        let id = format!("toolu_{session}_{number}");
        let call = json!([{"type": "tool_use", "id": id, "name": "Bash", "input": {"command": command}}]);
        lines.push(record(2 * number + 1, "assistant", call));
        let text = if *status == 0 { (*output).to_owned() } else { format!("Exit code {status}\n{output}") };
        let result = json!([{"type": "tool_result", "tool_use_id": id, "content": text, "is_error": *status != 0}]);
        lines.push(record(2 * number + 2, "user", result));
    }
    lines.join("\n") + "\n"
}

#[test]
fn the_logs_of_clients_are_read() {
    let project = Project::new();
    project.repo.write("AGENTS.md", MEMORY).commit_all("docs: rules");
    let says = "error: unrecognized subcommand 'pytest'";
    for session in ["one", "two"] {
        let log = client_log(&project, session, &[("wrap pytest -q", 2, says), ("pytest -q", 0, "3 passed in 0.1s")]);
        let file = project.repo.outside().join("log.jsonl");
        std::fs::write(&file, log).unwrap();
        project.gate(["import", file.to_str().unwrap()]).exits(0).says("2 commands");
    }
    let said = project.gate(["curate"]).exits(0).says("Run `pytest -q`, not `wrap pytest -q`.").says(says);
    said.says("session two, run").says("`pytest -q` passed");
}

#[test]
fn a_path_that_moved_is_named_with_the_commit() {
    let project = Project::new();
    let text = "a line of a document that is long enough to be known again\n".repeat(9);
    project.repo.write("AGENTS.md", "# Rules\n\nRead `docs/map.md` and `out/`.\n").write("docs/map.md", &text);
    project.repo.write("out/made.txt", "made\n").commit_all("docs: map");
    project.repo.remove("docs/map.md").write("doc/guide/map.md", &text).remove("out/made.txt");
    project.repo.write(".gitignore", "out/\n").commit_all("docs: guide");
    let found = proposals(&project);
    assert_eq!(found.len(), 1, "what git ignores may be made again: {found:?}");
    assert_eq!(found[0].1, "`docs/map.md` is `doc/guide/map.md` now.");
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} y\n", found[0].0)).unwrap();
    project.gate(["curate", "--decisions", outside.to_str().unwrap()]).exits(0).says("1 of 1 edit made");
    assert_eq!(project.repo.read("AGENTS.md"), b"# Rules\n\nRead `doc/guide/map.md` and `out/`.\n");
}

#[test]
fn the_folder_of_a_new_memory_file_is_made() {
    let project = Project::new();
    two_tasks(&project);
    let args = ["curate", "--file", "notes/MEM.md"];
    let list: Value = serde_json::from_str(&project.gate([&args[..], &["--json"]].concat()).exits(0).out).unwrap();
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} y\n", list["proposals"][0]["id"].as_str().unwrap())).unwrap();
    let decided = [&args[..], &["--decisions", outside.to_str().unwrap()]].concat();
    project.gate(decided).exits(0).says("1 of 1 edit made");
    assert_eq!(project.repo.read("notes/MEM.md"), b"- Run `sh test.sh` before you call work done.\n");
    project.gate(["curate", "--file", "test.sh/MEM.md"]).exits(65).says("test.sh/MEM.md");
}

#[test]
fn a_path_is_corrected_wherever_it_stands_and_each_move_is_named() {
    let project = Project::new();
    let text = "a line of a script that is long enough to be known again\n".repeat(9);
    let memory = "# Rules\n\n* The parser is in `src/p.sh`.\n* See src/p.sh and docs/old.md\n* The [parser](src/p.sh) is small.\n\
                  * Never recreate `docs/old.md`.\n* `src/p.sh` was moved.\n";
    project
        .repo
        .write("AGENTS.md", memory)
        .write("src/p.sh", &text)
        .write("docs/old.md", "old\n")
        .commit_all("docs: rules");
    project.repo.remove("src/p.sh").write("src/q.sh", &text).commit_all("refactor: q");
    project.repo.remove("src/q.sh").write("lib/r.sh", &text).remove("docs/old.md").commit_all("refactor: r");
    let said = project.gate(["curate"]).exits(0);
    let said = said.says("moved src/p.sh to src/q.sh").says("moved src/q.sh to lib/r.sh").says("deleted docs/old.md");
    let ids: Vec<String> = proposals(&project).into_iter().map(|(id, _)| format!("{id} y\n")).collect();
    assert_eq!(ids.len(), 2, "{}", said.out);
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, ids.concat()).unwrap();
    project.gate(["curate", "--decisions", outside.to_str().unwrap()]).exits(0).says("2 of 2 edits made");
    let expected = "# Rules\n\n* The parser is in `lib/r.sh`.\n* See lib/r.sh\n* The [parser](lib/r.sh) is small.\n\
                    * Never recreate `docs/old.md`.\n* `src/p.sh` was moved.\n";
    assert_eq!(String::from_utf8(project.repo.read("AGENTS.md")).unwrap(), expected);
    assert!(proposals(&project).is_empty());
}

#[test]
fn a_command_that_is_missing_in_another_folder_contradicts_no_rule() {
    let found = |line: &str| {
        let project = Project::new();
        project.repo.write("AGENTS.md", "# Rules\n\n- Run `make check` before a push.\n").commit_all("docs: rules");
        let says = "make: *** No rule to make target 'check'.  Stop.";
        let log = client_log(&project, "one", &[(line, 2, says), (line, 2, says), (line, 2, says)]);
        let file = project.repo.outside().join("log.jsonl");
        std::fs::write(&file, log).unwrap();
        project.gate(["import", file.to_str().unwrap()]).exits(0);
        proposals(&project).len()
    };
    assert_eq!(found("make check"), 1);
    assert_eq!(found("cd /tmp && make check"), 0);
    assert_eq!(found("cd src && make check"), 0);
}

/// Answers with the proposals in a file of the user's home, and counts its calls.
const CURATOR: &str = r#"#!/bin/sh
cat >"$HOME/prompt"
echo call >>"$HOME/calls"
ticket=$(sed -n 's/.*with the ticket \([0-9a-f]*\)\.$/\1/p' "$HOME/prompt" | tail -1)
echo "{\"ticket\": \"$ticket\", \"proposals\": $(cat "$HOME/proposals")}"
"#;

/// Returns the name of the evidence that holds these words in the prompt that the model got.
fn name_of_evidence(prompt: &str, words: &str) -> String {
    let is_named = |line: &&str| line.starts_with('E') && line.contains(words);
    let line = prompt.lines().find(is_named).unwrap_or_else(|| panic!("no evidence says {words}: {prompt}"));
    line.split(':').next().unwrap().to_owned()
}

#[test]
fn a_model_proposes_with_evidence_that_exists() {
    let project = outdated();
    two_tasks(&project);
    let commit = "unset GIT_AUTHOR_DATE GIT_COMMITTER_DATE; git commit -q --allow-empty --no-verify -m";
    project.sh(&format!("{commit} 'fix: MATERIAL-0>> use spaces'")).exits(0);
    let home = project.repo.home();
    let config =
        "[models.opus]\ncommand = \"\\\"$HOME/model\\\"\"\n[models.broken]\ncommand = \"echo busy >&2; exit 3\"\n";
    configure(&project, &[("model", CURATOR), ("proposals", "[]")], config);
    project.gate(["curate", "--model", "none"]).exits(64).says("there is no [models.none]").says("add it");
    project.gate(["curate", "--model", "opus", "--json"]).exits(0);
    let prompt = std::fs::read_to_string(home.join("prompt")).unwrap();
    assert!(prompt.contains("\n3: * Read `docs/old.md` first.\n4: * Be kind.\n"), "{prompt}");
    let commit = name_of_evidence(&prompt, "fix: MATERIAL-0>> use spaces");
    let good =
        json!({"action": "replace", "line": 4, "text": "Use spaces.", "evidence": [commit], "why": "It was fixed."});
    let invented = json!({"action": "add", "text": "Use tabs.", "evidence": ["E99"], "why": "I like them."});
    std::fs::write(home.join("proposals"), json!([good, invented]).to_string()).unwrap();
    // Another line in the file makes another question.
    project.repo.write("AGENTS.md", format!("{MEMORY}\nEnd.\n"));
    let said = project.gate(["curate", "--model", "opus", "--json"]).exits(0).says("dropped 1 proposal of opus");
    let list: Value = serde_json::from_str(&said.out).unwrap();
    valid("curate", &list);
    assert_eq!(list["dropped"], json!([{"reason": "unknown-evidence", "count": 1}]), "{list:#}");
    let suggested = &list["proposals"][2];
    assert_eq!((&suggested["kind"], &suggested["text"]), (&"suggested".into(), &"Use spaces.".into()), "{list:#}");
    assert!(suggested["evidence"][0].as_str().unwrap().ends_with("fix: MATERIAL-0>> use spaces"), "{suggested:#}");
    let shown = project.gate_with(&[("CLAUDECODE", "1")], &["curate", "--model", "opus"]).exits(0);
    let shown = shown.says("+* Use spaces.").says("the model says: It was fixed.").says("that does not exist (1)");
    shown.says("nothing was written").never_says("Use tabs");
    assert_eq!(project.repo.read("AGENTS.md"), format!("{MEMORY}\nEnd.\n").as_bytes());
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} y\n", suggested["id"].as_str().unwrap())).unwrap();
    let file = outside.to_str().unwrap();
    project.gate(["curate", "--model", "opus", "--decisions", file]).exits(0).says("1 of 3 edits made");
    let written = String::from_utf8(project.repo.read("AGENTS.md")).unwrap();
    assert_eq!(written, "# Rules\n\n* Read `docs/old.md` first.\n* Use spaces.\n\nEnd.\n");
    let calls = std::fs::read_to_string(home.join("calls")).unwrap();
    assert_eq!(calls, "call\ncall\n", "the same question is asked once");
    project.gate(["log"]).exits(0).says("asked opus (curate;");
    project.valid_records();
}

#[test]
fn a_model_that_fails_is_reported_and_costs_no_proposal() {
    let project = outdated();
    two_tasks(&project);
    let config = "[models.broken]\ncommand = \"echo busy >&2; exit 3\"\n[models.prose]\ncommand = \"echo Use tabs.\"\n\
                  [models.spent]\ncommand = \"true\"\ndaily_calls = 0\n";
    configure(&project, &[], config);
    for (model, why) in [("broken", "status 3: busy"), ("prose", "no JSON object"), ("spent", "used up")] {
        let said = project.gate(["curate", "--model", model, "--json"]).exits(0).says("gave no answer").says(why);
        let list: Value = serde_json::from_str(&said.out).unwrap();
        valid("curate", &list);
        assert_eq!((list["proposals"].as_array().unwrap().len(), &list["failed"]["judge"]), (2, &model.into()));
        project.gate(["curate", "--model", model]).exits(0).says("gave no answer").says("deleted docs/old.md");
    }
}

#[test]
fn a_template_of_the_user_replaces_the_question() {
    let project = outdated();
    two_tasks(&project);
    let config = "[models.opus]\ncommand = \"\\\"$HOME/model\\\"\"\n";
    configure(&project, &[("model", CURATOR), ("proposals", "[]")], config);
    let folder = project.repo.home().join(".config/gate/templates/judges");
    std::fs::create_dir_all(&folder).unwrap();
    let own = "Be brief.\n{{ memory }}\n{{ evidence }}\nAnswer with the ticket {{ ticket }}.\n";
    std::fs::write(folder.join("curate.md"), own).unwrap();
    project.gate(["curate", "--model", "opus"]).exits(0).never_says("gave no answer");
    assert!(std::fs::read_to_string(project.repo.home().join("prompt")).unwrap().starts_with("Be brief.\n<<MATERIAL-"));
    std::fs::write(folder.join("curate.md"), "{{ memory }} {{ ticket }}").unwrap();
    project.gate(["curate", "--model", "opus"]).exits(0).says("leaves out evidence").says("deleted docs/old.md");
}
