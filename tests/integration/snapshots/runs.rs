//! `gate run`, and what a command line proves.

use super::Transcript;
use crate::project::{POLICY, Project};

#[test]
fn runs() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.scene("nothing to run").sh(&project, "gate run");
    project.edit("one");
    shown.scene("passes").sh(&project, "gate run test");
    shown.scene("passed before").sh(&project, "gate run");
    shown.scene("another command").sh(&project, "gate run -- true");
    shown.scene("a command without its test").sh(&project, "gate run -- sh test.sh one");
    shown.scene("no such name").sh(&project, "gate run tset");
    shown.scene("killed").sh(&project, "gate run -- env --default-signal sh -c 'kill -9 $$'");
    project.edit("broken");
    shown.scene("fails").sh(&project, "gate run test");
    shown.scene("no such program").sh(&project, "gate run -- no-such-program");
    let vacuous = Project::with(
        &POLICY
            .replace("sh test.sh", "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'"),
    );
    vacuous.edit("one");
    shown.scene("no test ran").sh(&vacuous, "gate run test");
    let unsettled = Project::with(&POLICY.replace("sh test.sh", "echo late >> src/lib.sh")).edited("one");
    shown.scene("a file changed meanwhile").sh(&unsettled, "gate run test");
    shown.is("runs");
}

#[test]
fn explained_command_lines() {
    let mut shown = Transcript::new();
    let project = Project::new();
    for line in [
        "cargo test",
        "cd web && CI=1 npm test 2>&1 | tail -5 || true",
        "pytest -k one; echo done",
        "sh test.sh",
        "git push --force origin HEAD:main",
        "if true; then",
    ] {
        shown.sh(&project, &format!("gate explain-command '{line}'"));
    }
    shown.is("explained_command_lines");
}
