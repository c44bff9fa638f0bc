//! What a job in CI shows: the summary, the annotations, and the messages of SARIF.

use std::fs;

use serde_json::Value;

use super::Transcript;
use crate::project::{Project, finish};

/// Judges `feature` in a job, and keeps everything that people can read of it.
fn judged(shown: &mut Transcript, project: &Project) {
    let outside = project.repo.outside();
    let summary = outside.join("summary.md");
    let artifacts = outside.join("artifacts");
    let mut command = project.command("gate", project.repo.root());
    command.args(["ci", "--base", "origin/main", "--artifacts"]).arg(&artifacts);
    command.env("GITHUB_ACTIONS", "true").env("GITHUB_EVENT_NAME", "push").env("GITHUB_STEP_SUMMARY", &summary);
    let said = finish(command, b"");
    shown.said(project, "$ gate ci --base origin/main --artifacts artifacts", &said);
    shown.shown(project, &format!("--- summary\n{}", fs::read_to_string(&summary).unwrap_or_default()));
    let sarif = fs::read(artifacts.join("gate.sarif")).expect("SARIF");
    let sarif: Value = serde_json::from_slice(&sarif).expect("JSON");
    shown.shown(project, "--- messages of SARIF\n");
    for result in sarif["runs"][0]["results"].as_array().expect("results") {
        shown.shown(project, &format!("{}: {}", result["ruleId"], result["message"]["text"]));
    }
    let junit = fs::read_to_string(artifacts.join("gate.junit.xml")).expect("JUnit");
    shown.shown(project, &format!("--- JUnit\n{junit}"));
    fs::remove_file(&summary).expect("a summary");
}

#[test]
fn a_job() {
    let mut shown = Transcript::new();
    let project = Project::new();
    let test = "it('adds', () => {\n  expect(1 + 1).toBe(2);\n});\n";
    project.repo.write("a.test.js", test).commit_all("test: adds");
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    project.repo.git(["fetch", "-q"]);
    project.edit("one");
    project.repo.write("a.test.js", test.replace("it(", "it.skip(")).commit_all("test: later");
    shown.scene("blocked");
    judged(&mut shown, &project);
    project.gate(["run", "test"]).exits(0);
    project.repo.write("a.test.js", test).commit_all("test: adds");
    project.gate(["run", "test"]).exits(0);
    shown.scene("passed");
    judged(&mut shown, &project);
    shown.is("a_job");
}
