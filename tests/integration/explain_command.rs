//! `gate explain-command`, as a person and as a program use it.

use std::path::Path;
use std::process::{Command, Output};

use crate::support::{TestFolder, run_with_input};

fn gate(args: &[&str], input: &str, folder: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gate"));
    command.arg("explain-command").args(args).env_clear().env("HOME", folder).current_dir(folder);
    run_with_input(&mut command, input)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn a_person_reads_what_is_understood_and_last_what_would_prove_it() {
    let folder = TestFolder::new();
    let done = gate(&["cd web && CI=1 npm test 2>&1 | tail -5 || true"], "", folder.path());
    assert_eq!(done.status.code(), Some(0));
    let shown = text(&done.stdout);
    for part in ["npm test", "test (full)", "in web", "its status is hidden", "does not decide", "nothing"] {
        assert!(shown.contains(part), "{part} is not in\n{shown}");
    }
    assert_eq!(shown.lines().last().map(str::trim), Some("would prove  cd web && CI=1 npm test"), "{shown}");
}

#[test]
fn a_command_of_any_length_is_explained() {
    let folder = TestFolder::new();
    let line = "a=xxxxxxxxxx; ".to_owned() + &"a=$a$a; ".repeat(13) + "npm test $a";
    let done = gate(&[&line], "", folder.path());
    assert_eq!(done.status.code(), Some(0), "{}", text(&done.stderr));
}

#[test]
fn the_recorded_status_and_output_are_looked_at() {
    let folder = TestFolder::new();
    let output = folder.path().join("output");
    std::fs::write(
        &output,
        "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.1s\n",
    )
    .expect("written");
    let args = ["cargo test 2>&1 | tail -1", "--status", "0", "--output", "output", "--json"];
    let done = gate(&args, "", folder.path());
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one JSON object");
    assert_eq!(answer["proves"], "full_pass");
    assert_eq!(answer["exit_decides"], "no_masked");
    assert_eq!(answer["edits_files"], "no");
    assert_eq!(answer["would_prove"], serde_json::Value::Null);
}

#[test]
fn task_files_of_the_directory_are_followed() {
    let folder = TestFolder::new();
    std::fs::write(folder.path().join("Makefile"), "check:\n\tcargo test\n").expect("written");
    let done = gate(&["make check", "--status", "0", "--json"], "", folder.path());
    let answer: serde_json::Value = serde_json::from_slice(&done.stdout).expect("one JSON object");
    assert_eq!(answer["decisive_kind"], "test", "{answer}");
    assert_eq!(answer["proves"], "full_pass", "{answer}");
}

#[test]
fn every_line_is_answered_and_bad_ones_are_named() {
    let folder = TestFolder::new();
    let input = concat!(
        "{\"id\":\"a\",\"command\":\"cargo test\",\"exit_code\":0,\"output\":null}\n",
        "not json\n",
        "\n",
        "{\"id\":\"b\"}\n",
        "{\"id\":7,\"command\":\"ls\",\"extra\":1}"
    );
    let done = gate(&["--jsonl", "-"], input, folder.path());
    assert_eq!(done.status.code(), Some(65));
    let shown = text(&done.stdout);
    let answers: Vec<serde_json::Value> =
        shown.lines().map(|line| serde_json::from_str(line).expect("a JSON line")).collect();
    assert_eq!(answers.len(), 4, "{shown}");
    assert_eq!(answers[0]["proves"], "full_pass");
    assert_eq!(answers[1]["line"], 2);
    assert_eq!((&answers[2]["id"], &answers[2]["line"]), (&"b".into(), &4.into()));
    assert_eq!(answers[3]["id"], 7);
    assert!(text(&done.stderr).contains("line 2"), "{}", text(&done.stderr));
    let keys: Vec<&str> = answers[0].as_object().expect("an object").keys().map(String::as_str).collect();
    let wanted = [
        "schema_version", "id", "kind", "runner", "scope", "exit_decides", "result", "edits_files", "pushes_to",
        "decisive_kind", "proves", "reason", "would_prove",
    ];
    assert_eq!(keys, wanted);
}

#[test]
fn nonsense_is_refused_with_a_word() {
    let folder = TestFolder::new();
    assert_eq!(gate(&[], "", folder.path()).status.code(), Some(64));
    assert_eq!(gate(&["ls", "--jsonl", "x"], "", folder.path()).status.code(), Some(64));
    let missing = gate(&["--jsonl", "missing"], "", folder.path());
    assert_eq!(missing.status.code(), Some(65));
    assert!(text(&missing.stderr).contains("missing"));
}

#[test]
fn a_sourced_script_of_the_repository_is_read() {
    let folder = TestFolder::new();
    let repo = folder.path();
    let made = Command::new("git").args(["init", "-q"]).current_dir(repo).status().expect("git runs");
    assert!(made.success());
    std::fs::create_dir_all(repo.join(".venv/bin")).expect("a folder");
    std::fs::write(repo.join("gate.toml"), "[commands.test]\nrun = \"pytest\"\ngate = \"tests\"\n").expect("written");
    let line = "source .venv/bin/activate; pytest > log 2>&1";
    let answer = |script: &str| {
        std::fs::write(repo.join(".venv/bin/activate"), script).expect("written");
        let done = gate(&[line, "--status", "0", "--json"], "", repo);
        serde_json::from_slice::<serde_json::Value>(&done.stdout).expect("one JSON object")
    };
    assert_eq!(answer("PATH=\"$VIRTUAL_ENV/bin:$PATH\"\n")["proves"], "full_pass");
    let changed = answer("if true; then exit 0; fi\n");
    assert_eq!(changed["proves"], "nothing");
    assert_eq!(changed["reason"], "`source .venv/bin/activate` may change what runs after it");
}
