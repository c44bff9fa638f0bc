//! Verdicts on the terminal, and refused pushes.

use super::Transcript;
use crate::project::{POLICY, Project};

/// A project whose declared command is this line, with a change.
fn declared(run: &str) -> Project {
    let project = Project::with(&POLICY.replace("sh test.sh", &run.replace('\\', "\\\\").replace('"', "\\\"")));
    project.edit("a change");
    project
}

/// `cat` of these lines, as a script called `pytest`.
fn with_pytest(line: &str, prints: &str) -> Project {
    let project = declared(line);
    project.repo.script("pytest", &format!("#!/bin/sh\ncat <<'END'\n{prints}\nEND\n")).commit_all("test: a runner");
    project
}

#[test]
fn verdicts_on_tests() {
    let mut shown = Transcript::new();
    let project = Project::new();
    shown.scene("nothing changed").sh(&project, "gate check");
    project.edit("one");
    shown.scene("never ran").sh(&project, "gate check");
    project.gate(["run", "test"]).exits(0);
    shown.scene("passed").sh(&project, "gate check");
    project.edit("two");
    shown.scene("changed since it passed").sh(&project, "gate check");
    project.repo.append("src/lib.sh", "three\n");
    project.gate(["run", "test"]).exits(0);
    project.repo.git(["stash", "-q"]);
    shown.scene("passed with a change that is not committed").sh(&project, "gate check");
    project.edit("broken");
    project.gate(["run", "test"]).exits(101);
    shown.scene("failed").sh(&project, "gate check");
    project.repo.write("src/lib.sh", "fixed\n");
    project.gate(["run", "test"]).exits(0);
    shown.scene("passed with a fix that is not committed").sh(&project, "gate check");
    shown.is("verdicts_on_tests");
}

#[test]
fn verdicts_on_runs_that_prove_nothing() {
    let mut shown = Transcript::new();
    let vacuous = declared("echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out'");
    vacuous.gate(["run", "test"]).exits(0);
    shown.scene("no test ran").sh(&vacuous, "gate check");
    let masked = with_pytest("./pytest", "== 1 failed, 1 passed in 0.02s ==");
    masked.gate(["run", "test"]).exits(0);
    shown.scene("failures and status 0").sh(&masked, "gate check");
    let silent = with_pytest("./pytest", "");
    silent.gate(["run", "test"]).exits(0);
    shown.scene("a runner that printed no result").sh(&silent, "gate check");
    let piped = with_pytest("./pytest | tail -1", "== 7 passed in 0.30s ==");
    piped.gate(["run", "test"]).exits(0);
    shown.scene("a pipe that hides the status").sh(&piped, "gate check");
    let filtered = with_pytest("./pytest", "== 7 passed in 0.30s ==");
    filtered.sh("PYTEST_ADDOPTS='-k zero' gate run test").exits(0);
    shown.scene("a filter from the environment").sh(&filtered, "gate check");
    let killed = declared("kill -9 $$");
    killed.gate(["run", "test"]);
    shown.scene("killed").sh(&killed, "gate check");
    let unstarted = declared("no-such-program --all");
    unstarted.gate(["run", "test"]);
    shown.scene("a program that does not exist").sh(&unstarted, "gate check");
    let unsettled = declared("echo late >> src/lib.sh");
    unsettled.gate(["run", "test"]).exits(0);
    shown.scene("a file that changed during the run").sh(&unsettled, "gate check");
    shown.is("verdicts_on_runs_that_prove_nothing");
}

#[test]
fn verdicts_about_the_policy() {
    let mut shown = Transcript::new();
    let none = Project::bare_bones();
    none.share();
    none.edit("one");
    shown.scene("no policy").sh(&none, "gate check");
    let wrong = Project::new();
    wrong.repo.write("gate.toml", POLICY.replace("run =", "runs ="));
    shown.scene("a misspelled key").sh(&wrong, "git add -A; git commit -q -m 'chore: misspelled'");
    shown.sh(&wrong, "git commit -q --no-verify -m 'chore: misspelled'; gate check");
    let broken = Project::new();
    broken.repo.write("gate.toml", "version = 1\n[commands.test\n");
    shown.scene("no TOML").sh(&broken, "git add -A; git commit -q --no-verify -m 'chore: unreadable'; gate check");
    let weaker = Project::new();
    weaker.repo.append("gate.toml", "\n[gates.tests]\nmode = \"off\"\n").commit_all("chore: switch the tests off");
    shown.scene("a policy that asks for less").sh(&weaker, "gate check");
    let folder = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\ndir = \"source\"\n");
    folder.edit("one");
    shown.scene("a folder that does not exist").sh(&folder, "gate check");
    shown.is("verdicts_about_the_policy");
}

#[test]
fn pushes() {
    let mut shown = Transcript::new();
    let project = Project::new().edited("one");
    shown.scene("not proven").sh(&project, "git push -q origin feature");
    shown.scene("the same again").sh(&project, "git push -q origin feature");
    shown.scene("a dry run").sh(&project, "gate push --dry-run -q origin feature");
    shown.scene("gate push").sh(&project, "gate push -q origin feature");
    shown.scene("to the default branch").sh(&project, "git push -q origin HEAD:main");
    shown.scene("a tag").sh(&project, "git tag v1.0; git push -q origin v1.0");
    shown.scene("the default branch is deleted").sh(&project, "git push -q origin :main");
    project.edit("broken");
    shown.scene("gate push with a failing test").sh(&project, "gate push -q origin feature");
    project.repo.append("src/lib.sh", "later\n");
    shown.scene("gate push with a change that is not committed").sh(&project, "gate push -q origin feature");
    shown.scene("a push without hooks").sh(&project, "gate push --no-verify origin feature");
    shown.scene("the default branch checked out").sh(&project, "git stash -q; git switch -q main");
    project.edit("main");
    project.gate(["run", "test"]).exits(0);
    shown.sh(&project, "gate check");
    shown.is("pushes");
}
