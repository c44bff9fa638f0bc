//! The real `gitlab-ci-local` holds the job for GitLab against GitLab's own schema and runs it.
//!
//! No network and no container: `cargo install` is replaced by the program under test, and what it copies a repository
//! with by nothing, as the job runs in place.

use std::process::Output;

use crate::installed;
use crate::project::{POLICY, Project};

/// A merge request whose change makes `word` of the source, into a branch that has the job.
fn proposed(word: &str) -> Project {
    let project = Project::bare_bones();
    let repo = &project.repo;
    repo.git(["switch", "-q", "-C", "main"]);
    repo.write("gate.toml", POLICY).write(".gitlab-ci.yml", "include: { local: .gitlab/gate.yml }\n");
    // What is fetched is not built: `cargo` is replaced.
    let source = format!("{}@{}", repo.root().display(), repo.git(["rev-parse", "HEAD"]));
    project.gate(["init", "--ci", "gitlab", "--yes", "--source", &source]).exits(0).says("Pipelines must succeed");
    repo.commit_all("chore: the job");
    project.share();
    project.edit(word);
    repo.git(["push", "-q", "--no-verify", "origin", "feature"]);
    // As a clone of a forge; what is fetched comes from here.
    let url = "git@gitlab.example:o/r.git";
    repo.git(["config", &format!("url.{}.insteadOf", project.remote.display()), url]);
    repo.git(["remote", "set-url", "origin", url]);
    // Nothing but what the job fetches itself is known.
    repo.git(["update-ref", "-d", "refs/remotes/origin/main"]);
    project
}

fn run(project: &Project, file: &str) -> Output {
    let repo = &project.repo;
    let program = installed::folder("gitlab").join("node_modules/.bin/gitlab-ci-local");
    assert!(program.is_file(), "{} is not there: run tests/components/run", program.display());
    for (name, script) in
        [("cargo", "test \"$1 $2\" = 'install --locked'"), ("rsync", "for last; do :; done\nmkdir -p \"$last\"")]
    {
        repo.script(format!("../bin/{name}"), &format!("#!/bin/sh\nset -eu\n{script}\n"));
    }
    let gate = repo.outside().join("bin/gate");
    let _ = std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_gate"), gate);
    let mut command = repo.command_in("node", repo.root());
    let path = format!("{}:{}", repo.outside().join("bin").display(), std::env::var("PATH").unwrap());
    command.env("PATH", path).arg(program).args(["--file", file, "--force-shell-executor", "--no-color"]);
    for variable in ["CI_PIPELINE_SOURCE=merge_request_event", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main"] {
        command.args(["--variable", variable]);
    }
    command.arg("gate").output().unwrap()
}

#[test]
fn the_job_judges_a_merge_request() {
    for (word, code, says) in [("two", 0, "pass tests"), ("broken", 1, "blocked")] {
        let project = proposed(word);
        let output = run(&project, ".gitlab-ci.yml");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(text.contains("json schema validated"), "{text}");
        assert_eq!(output.status.code(), Some(code), "{text}");
        assert!(text.contains(says), "{text}");
        assert!(project.repo.path("gate-verdict/gate.junit.xml").is_file(), "{text}");
    }
}

#[test]
fn a_job_that_is_none_is_refused() {
    let project = proposed("two");
    project.repo.write("bad.yml", "gate: { script: [true], timeout: [1], when: sometimes }\n");
    let output = run(&project, "bad.yml");
    assert!(!output.status.success(), "{output:?}");
}
