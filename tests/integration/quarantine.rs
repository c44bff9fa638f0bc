//! A test in quarantine: its failure is reported and does not block, until a day and by the policy of the base alone.

use std::fs;

use crate::project::{Project, Said, finish};
use crate::support::{TestRepo, path_with_gate};

const LINE: &str = "cargo test --no-fail-fast";
const RED: &str = "running 2 tests\ntest slow ... FAILED\ntest fast ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 \
                   ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

fn entry(until: &str) -> String {
    format!("[[quarantine]]\ntest = \"slow\"\nreason = \"the mirror is slow\"\nowner = \"alice\"\nuntil = {until}\n")
}

fn policy(line: &str, entry: &str) -> String {
    format!("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"{line}\"\n{entry}")
}

/// A project whose `cargo` prints the file `out` and ends with the status in `status`.
struct Scene {
    project: Project,
}

impl Scene {
    fn new(policy: &str) -> Self {
        let repo = TestRepo::new();
        repo.write("gate.toml", policy).write("src/lib.rs", "a\n").write("tests/net.rs", "#[test]\nfn slow() {}\n");
        repo.commit_all("start");
        let remote = repo.add_bare_remote("origin");
        repo.write("../tools/cargo", "#!/bin/sh\ncat ../out\nexit $(cat ../status)\n");
        let tool = repo.outside().join("tools/cargo");
        fs::set_permissions(&tool, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
        let project = Project { repo, remote };
        project.share();
        Self { project }
    }

    fn gate(&self, args: &[&str]) -> Said {
        let repo = &self.project.repo;
        let mut command = self.project.command("gate", repo.root());
        command.args(args).env("PATH", path_with_gate(Some(repo.outside().join("tools"))));
        finish(command, b"")
    }

    /// Commits a change, runs the tests with this output, and judges.
    fn judged(&self, output: &str, status: i32) -> Said {
        let repo = &self.project.repo;
        repo.write("../out", output).write("../status", format!("{status}\n"));
        repo.append("src/lib.rs", "b\n").commit_all("next");
        self.gate(&["run", "test"]).exits(status);
        self.gate(&["check"])
    }
}

#[test]
fn a_failure_in_quarantine_is_reported_and_does_not_block() {
    let scene = Scene::new(&policy(LINE, &entry("2999-12-31")));
    let said = "failed on this content, but only tests in quarantine failed: slow (until 2999-12-31, alice: the \
                mirror is slow)";
    scene.judged(RED, 101).exits(0).says(said);
    // It is not a pass of the test, and nothing more is let through.
    scene.gate(&["status", "--tests"]).exits(0).says("failed  slow");
    scene.judged(&RED.replace("fast ... ok", "fast ... FAILED").replace("1 passed; 1", "0 passed; 2"), 101).exits(10);
    let other = RED.replace("slow ... FAILED", "slow ... ok").replace("fast ... ok", "fast ... FAILED");
    scene.judged(&other, 101).exits(10).never_says("quarantine");
    // The count and the names disagree, so something else failed.
    scene.judged(&RED.replace("1 passed; 1", "1 passed; 2"), 101).exits(10);
}

#[test]
fn a_test_in_quarantine_need_not_pass_under_its_name() {
    let scene = Scene::new(&policy(LINE, &entry("2999-12-31")));
    scene.judged(RED, 101).exits(0);
    let skipped = "running 2 tests\ntest slow ... ignored\ntest fast ... ok\ntest result: ok. 1 passed; 0 failed; 1 \
                   ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    scene.judged(skipped, 0).exits(0).says("slow failed on this branch and is in quarantine");
}

#[test]
fn an_entry_that_ended_or_that_the_change_brings_has_no_effect() {
    let ended = Scene::new(&policy(LINE, &entry("2020-01-01")));
    ended.judged(RED, 101).exits(10).says("the quarantine of slow ended on 2020-01-01 and has no effect");

    let own = Scene::new(&policy(LINE, ""));
    own.project.repo.write("gate.toml", policy(LINE, &entry("2999-12-31")));
    own.judged(RED, 101).exits(10).says("the test slow is in quarantine").never_says("only tests in quarantine");

    let unreadable = Scene::new(&policy(LINE, ""));
    unreadable.project.repo.write("gate.toml", policy(LINE, "[[quarantine]]\ntest = \"slow\"\n")).commit_all("next");
    unreadable.gate(&["check"]).exits(65).says("missing key `reason` in [[quarantine]]");
}

#[test]
fn a_line_in_which_a_failure_can_hide_something_has_to_pass() {
    for line in ["cargo test", "sh t.sh", "cargo test --no-fail-fast && sh lint.sh"] {
        let scene = Scene::new(&policy(line, &entry("2999-12-31")));
        scene.project.repo.write("t.sh", "exec cargo test --no-fail-fast\n");
        scene.judged(RED, 101).exits(10).never_says("only tests in quarantine");
    }
}
