//! Contracts at a push, at a stop and in CI.

use std::fs;

use serde_json::Value;

use crate::client_session::Session;
use crate::project::{Project, read_json, reasons};

/// Only contracts ask for something.
const POLICY: &str = "version = 1\n[gates.tests]\nmode = \"off\"\n";

/// Begins a contract of these postconditions, under the name `split`.
fn begin(project: &Project, postconditions: &[&str]) {
    let conditions = postconditions.iter().map(|one| format!("- {one}")).collect::<Vec<_>>().join("\n") + "\n";
    let text = format!("task: Split the library\npostconditions:\n{conditions}");
    fs::write(project.repo.outside().join("split.yaml"), text).expect("a contract");
    project.gate(["contract", "begin", "../split.yaml"]).exits(0);
}

#[test]
fn a_push_is_judged_by_the_commit_it_moves() {
    let project = Project::with(POLICY);
    begin(
        &project,
        &["src/lib.sh: deleted", "src/a.sh: exists, 1 lines", "sh test.sh: all pass", "changed paths: only src/**"],
    );
    // The content that the task began from promises nothing.
    project.push("git push origin feature").exits(0);
    project
        .check()
        .exits(10)
        .says("contract split: `src/lib.sh: deleted` does not hold: src/lib.sh is still there")
        .says("contract split: gate has seen no run of `sh test.sh` on this content");
    project.repo.git(["mv", "src/lib.sh", "src/a.sh"]);
    project.gate(["contract", "check"]).exits(0).says("met");
    // The working tree meets it; the commit does not hold the file.
    project.repo.git(["rm", "-q", "--cached", "src/a.sh"]);
    project.repo.git(["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "refactor: split"]);
    project
        .push("git push origin feature")
        .exits(1)
        .says("contract split: `src/a.sh: exists, 1 lines` does not hold: src/a.sh does not exist")
        .says("gate contract check split shows every condition");
    project.gate(["contract", "check", "split"]).exits(0);
    project.repo.git(["add", "src/a.sh"]);
    project.repo.git(["-c", "core.hooksPath=/dev/null", "commit", "-q", "--amend", "--no-edit"]);
    project.push("git push origin feature").exits(0);
    let verdict = read_json(project.records().last().unwrap());
    let gate = verdict["gates"].as_array().unwrap().iter().find(|gate| gate["gate"] == "contract").unwrap();
    assert_eq!((&gate["answer"], gate["findings"].as_array().unwrap().len()), (&Value::from("pass"), 4));
    // It was pushed, so the next work is not judged by it.
    project.repo.remove("src/a.sh").commit_all("refactor: remove");
    project.push("git push origin feature").exits(0);
}

#[test]
fn hooks_and_checks_run_nothing() {
    let project = Project::with(POLICY);
    begin(&project, &["touch ran: success", "sh test.sh: all pass"]);
    project.edit("more");
    project.check().exits(10).says("gate run split.1");
    project.push("git push origin feature").exits(1).says("no run of `touch ran` on this content");
    assert!(!project.repo.path("ran").exists());
    // What is missing is run by one command, and the runs are evidence.
    project.repo.write(".gitignore", "ran\n").commit_all("chore: ignore");
    project.gate(["run"]).exits(0).says("split.2 passed");
    assert!(project.repo.path("ran").exists());
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_change_of_the_contract_is_noted_and_the_original_counts() {
    let project = Project::with(POLICY);
    begin(&project, &["src/lib.sh: deleted"]);
    fs::write(project.repo.outside().join("split.yaml"), "task: x\npostconditions:\n- src/lib.sh: exists\n").unwrap();
    project
        .check()
        .exits(10)
        .says("src/lib.sh is still there")
        .says("split: the contract was changed after it began; the original counts");
}

#[test]
fn other_work_is_not_judged_by_a_contract() {
    let project = Project::with(POLICY).edited("first");
    begin(&project, &["src/lib.sh: deleted"]);
    project.repo.git(["switch", "-q", "-c", "other", "main"]);
    project.edit("else");
    project.check().exits(0);
    project.push("git push origin other").exits(0);
    project.repo.git(["switch", "-q", "feature"]);
    project.edit("second");
    project.push("git push origin feature").exits(1);
    // An amended beginning is still this branch.
    project.repo.git(["reset", "-q", "--soft", "main"]);
    project.repo.git(["-c", "core.hooksPath=/dev/null", "commit", "-q", "-m", "feat: all"]);
    project.check().exits(10);
}

#[test]
fn a_contract_needs_no_policy() {
    let project = Project::bare_bones();
    project.share();
    begin(&project, &["src/lib.sh: deleted", "sh test.sh: all pass"]);
    project.check().exits(10).says("src/lib.sh is still there");
    project.repo.remove("src/lib.sh");
    project.check().exits(10).says("no run of `sh test.sh`").never_says("is still there");
    project.gate(["contract", "check"]).exits(0);
    project.check().exits(0);
}

#[test]
fn a_stop_is_judged_by_an_open_contract_without_a_policy() {
    let project = Project::bare_bones();
    project.share();
    let session = Session::claude(&project).prompted("split the library");
    project.repo.write("src/a.sh", "1\n");
    // Nobody asked for anything.
    session.stop("Done.").quiet();
    begin(&project, &["src/lib.sh: deleted", "sh test.sh: all pass"]);
    session.prompt("go on");
    project.repo.write("src/a.sh", "2\n");
    session.stop("Done.").pushes("contract split: `src/lib.sh: deleted` does not hold");
    session.stop("Shall I remove src/lib.sh, or do you still need it?").never_says("\"block\"");
    project.repo.remove("src/lib.sh");
    session.stop("Done.").pushes("contract split: gate has seen no run of `sh test.sh`");
    assert_eq!(session.run("sh test.sh"), 0);
    session.stop("Done.").quiet();
    // A met contract asks for nothing more.
    project.gate(["contract", "check"]).exits(0);
    session.prompt("something else");
    project.repo.write("src/b.sh", "2\n");
    session.stop("Done.").quiet();
}

#[test]
fn commands_that_prove_nothing_prove_nothing_in_ci() {
    let project = Project::bare_bones();
    let conditions = "- \"true: success\"\n- \"echo 5 passed: all pass\"\n- make: success\n";
    project.repo.write("gate.toml", POLICY).write("Makefile", "all:\n");
    project.repo.write("gate/contracts/a.yaml", format!("task: x\npostconditions:\n{conditions}"));
    project.repo.commit_all("chore: policy");
    project.share();
    project.repo.write("src/lib.sh", "1\n").commit_all("feat: grow");
    project
        .gate(["ci", "--base", "origin/main", "--run"])
        .exits(10)
        .says("`true: success` does not hold: it runs no program that could fail, so it proves nothing")
        .says("`echo 5 passed: all pass` does not hold: it runs no test, so it proves nothing")
        .never_says("`make: success`");
}

#[test]
fn ci_judges_by_the_contracts_of_the_base_and_by_added_ones() {
    let project = Project::bare_bones();
    let limits = "task: Keep it small\npostconditions:\n- max file src/**: at most 3 lines\n- sh test.sh: all pass\n";
    project.repo.write("gate.toml", POLICY).write("gate/contracts/limits.yaml", limits).commit_all("chore: policy");
    project.share();
    let ci = |arguments: &[&str]| project.gate([&["ci", "--base", "origin/main"], arguments].concat());
    project.repo.write("src/lib.sh", "1\n2\n3\n4\n").commit_all("feat: grow");
    ci(&[])
        .exits(10)
        .says("contract limits: `max file src/**: at most 3 lines` does not hold: src/lib.sh has 4 lines")
        .says("contract limits: gate has seen no run of `sh test.sh` on this content");
    // A change cannot relax the contract, nor remove it.
    project.repo.write("gate/contracts/limits.yaml", "task: x\npostconditions:\n- src/lib.sh: exists\n");
    project.repo.commit_all("chore: relax");
    ci(&[]).exits(10).says("src/lib.sh has 4 lines").never_says("`src/lib.sh: exists` does not hold");
    project.repo.remove("gate/contracts/limits.yaml").commit_all("chore: remove");
    ci(&[]).exits(10).says("src/lib.sh has 4 lines");
    project.repo.write("gate/contracts/limits.yaml", limits).write("src/lib.sh", "1\n").commit_all("fix: shrink");
    ci(&["--run"]).exits(0);
    // It can add conditions.
    project.repo.write("gate/contracts/more.toml", "task = \"x\"\npostconditions = [\"src/other.sh: deleted\"]\n");
    project.repo.commit_all("chore: promise more");
    ci(&["--run"]).exits(10).says("contract more: `src/other.sh: deleted` does not hold");
    project.repo.write("gate/contracts/more.toml", "task = \"x\"\npostconditions = [\"moon phase: full\"]\n");
    project.repo.commit_all("chore: promise nonsense");
    ci(&["--run"])
        .exits(10)
        .says("gate/contracts/more.toml:2: gate does not understand this condition: `moon phase: full`");
}

#[test]
fn links_in_a_commit_are_followed_and_do_not_lead_out() {
    let project = Project::with(POLICY);
    begin(&project, &["alias.sh: exists, 1 lines", "out: exists, 1 lines", "loop: exists"]);
    project.repo.link("alias.sh", "src/lib.sh").link("out", "../split.yaml").link("loop", "loop");
    project.repo.commit_all("feat: links");
    project.push("git push origin feature").exits(1).never_says("alias.sh").says("out leads outside the repository");
    let verdict = read_json(project.records().last().unwrap());
    assert_eq!(reasons(&verdict, "contract"), ["cannot-judge", "cannot-judge"]);
}
