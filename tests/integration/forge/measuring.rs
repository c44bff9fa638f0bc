//! `gate metrics --forge`: the pull requests of tasks and their checks.

use std::process::Output;

use super::server::{Fault, State};
use super::{Clone, ONLY_FORGE};

fn metrics(clone: &Clone, args: &[&str]) -> Output {
    let output = clone.gate(&[&["metrics"], args].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    output
}

fn table(clone: &Clone) -> String {
    let output = metrics(clone, &["--forge", "--csv"]);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

fn merge(state: &mut State) {
    state.pulls[0]["state"] = "closed".into();
    state.pulls[0]["merged_at"] = "2026-03-01T12:00:00Z".into();
}

/// Commits what is there again, at a time after the beginning of any task, and returns the commit.
fn commit_later(clone: &Clone) -> String {
    let mut commit = clone.repo.command_in("git", clone.repo.root());
    commit.args(["commit", "--amend", "--no-edit", "--quiet"]).env("GIT_COMMITTER_DATE", "2099-01-01T00:00:00Z");
    assert!(commit.status().unwrap().success());
    clone.pushed();
    clone.repo.git(["rev-parse", "HEAD"])
}

#[test]
fn a_task_has_the_pull_request_and_the_checks_of_its_commits() {
    let clone = Clone::with(ONLY_FORGE);
    let head = commit_later(&clone);
    let checked = clone.gate(&["check", "--done"]).output().unwrap();
    assert_eq!(checked.status.code(), Some(0), "{checked:?}");
    let asked = String::from_utf8(metrics(&clone, &[]).stdout).unwrap();
    assert!(asked.contains("gate metrics --forge"), "{asked}");
    assert!(!table(&clone).contains("pull requests"), "no pull request is known");
    let answered = String::from_utf8(metrics(&clone, &["--forge"]).stdout).unwrap();
    assert!(answered.contains("pull requests: none is known for these tasks\n"), "{answered}");

    clone.server.state().pull(7, "o/r", "feature", &head);
    clone.server.state().done("build", &head, "failure");
    let shown = table(&clone);
    assert!(shown.contains("pull requests merged,1,0,"), "{shown}");
    assert!(shown.contains("commits with a failed check,1,1,"), "{shown}");
    merge(&mut clone.server.state());
    let shown = table(&clone);
    assert!(shown.contains("pull requests merged,1,1,"), "{shown}");
    assert!(shown.contains("pull requests merged at the first attempt,1,0,"), "{shown}");

    clone.server.state().faults.push(Fault { path: "/pulls", status: 500, ..Fault::default() });
    let output = metrics(&clone, &["--forge"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("the forge gave no answer: "), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("attempts per task"), "the rest is shown");
}
