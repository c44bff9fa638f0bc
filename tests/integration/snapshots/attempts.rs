//! What an agent reads when it stops too early, and what the person reads at the end of the attempts.

use serde_json::{Value, json};

use super::Transcript;
use crate::client_session::Session;
use crate::project::{Project, Said};

/// Keeps what a hook answered, each text of it under its key.
fn answered(shown: &mut Transcript, project: &Project, said: &Said) {
    if said.out.is_empty() {
        shown.shown(project, "[no answer]");
        return;
    }
    let answer: Value = serde_json::from_str(&said.out).expect("an answer in JSON");
    texts(shown, project, "", &answer);
}

/// Keeps the texts of a value.
fn texts(shown: &mut Transcript, project: &Project, key: &str, value: &Value) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| texts(shown, project, key, value)),
        Value::String(text) => {
            shown.shown(project, &format!("[{key}]\n{text}\n"));
        }
        other => {
            shown.shown(project, &format!("[{key}] {other}\n"));
        }
    }
}

#[test]
fn attempts_of_an_agent() {
    let mut shown = Transcript::new();
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("a change");
    for attempt in 1..=5 {
        shown.scene(&format!("stop {attempt}"));
        answered(&mut shown, &project, &session.stop("Done."));
    }
    shown.scene("a terminal afterwards").sh(&project, "gate check").sh(&project, "gate log");
    shown.is("attempts_of_an_agent");
}

#[test]
fn attempts_on_a_terminal() {
    let mut shown = Transcript::new();
    let project = Project::new().edited("broken");
    project.sh("GATE_SESSION=coder gate run test");
    for attempt in 1..=5 {
        shown.scene(&format!("attempt {attempt}")).sh(&project, "GATE_SESSION=coder gate check --done");
    }
    shown.is("attempts_on_a_terminal");
}

#[test]
fn answers_to_tools() {
    let mut shown = Transcript::new();
    let project = Project::new();
    project.gate(["init", "--yes", "--clients", "claude"]).exits(0);
    let session = Session::claude(&project);
    for line in [
        "git push --no-verify",
        "git -c core.hooksPath=/dev/null push",
        "rm .git/hooks/pre-push",
        "rm -rf .git/gate",
        "rm -r .claude",
        "gate uninstall --yes",
    ] {
        let call = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": "t"});
        shown.scene(line);
        answered(&mut shown, &project, &session.hook("PreToolUse", call));
    }
    shown.is("answers_to_tools");
}

#[test]
fn other_stops() {
    let mut shown = Transcript::new();
    let project = Project::new();
    let session = Session::claude(&project).prompted("change the library");
    project.edit("broken");
    session.run("sh test.sh");
    shown.scene("the tests failed");
    answered(&mut shown, &project, &session.stop("Done, all tests pass."));
    let quiet = Project::new();
    let session = Session::claude(&quiet).prompted("change the library");
    quiet.edit("a change");
    session.run("sh test.sh");
    shown.scene("a pull request that nobody can see");
    answered(&mut shown, &quiet, &session.stop("I opened https://example.com/a/b/pull/7."));
    shown.scene("the next prompt");
    answered(&mut shown, &quiet, &session.hook("UserPromptSubmit", json!({"prompt": "go on"})));
    shown.is("other_stops");
}
