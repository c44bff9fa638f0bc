//! What an agent did, told through the journal, and what the gates of a session say to it.

use gate::event::agent_work::{Act, AgentWork, EditKind, FileEdit, PlanItem, Prompt, ShellCommand, Speaker};
use gate::event::{Ended, EventKind, Grade, Origin};
use gate::journal::{Journal, NewEvent};
use gate::repo_path::RepoPath;
use serde_json::Value;

use crate::client_session::Session;
use crate::project::{Project, reasons};

const RED: &str = "test adds ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored; finished in 0.31s\n";

/// Tells the journal what a session did, as the hook of a client would.
fn tell(project: &Project, session: &str, acts: impl IntoIterator<Item = Act>) {
    let journal = Journal::open(&project.gate_dir(), Some(project.repo.root()));
    for act in acts {
        let work = AgentWork { actor: None, call: None, head: None, act };
        let origin = Origin { by: "client".to_owned(), grade: Grade::Hooked };
        let session = Some(session.to_owned());
        journal.append(NewEvent { session, origin, kind: EventKind::Work(Box::new(work)) }).unwrap();
    }
}

fn prompt(text: &str) -> Act {
    Act::Prompt(Prompt { from: Speaker::Person, text: text.to_owned() })
}

fn ran(line: &str, status: i32, output: &str) -> Act {
    Act::Command(Box::new(ShellCommand {
        line: line.to_owned(),
        dir: Some(RepoPath::default()),
        ended: Some(Ended::Exited(status)),
        tail: output.to_owned(),
        ..ShellCommand::default()
    }))
}

fn edited(path: &str) -> Act {
    let (removed, added) = (String::new(), String::new());
    Act::Edited(vec![FileEdit { path: RepoPath::from(path), how: EditKind::Written, removed, added }])
}

fn of(session: &str, project: &Project) -> Value {
    project.verdict_with(&[("GATE_SESSION", session)], &[])
}

#[test]
fn a_failing_command_again_and_again_blocks_its_own_session() {
    let project = Project::new();
    let acts = std::iter::once(prompt("Fix the build.")).chain((0..5).map(|_| ran("cargo build", 101, "error: x\n")));
    tell(&project, "s", acts);
    let verdict = of("s", &project);
    assert_eq!(reasons(&verdict, "loops"), ["repeated"]);
    assert_eq!(verdict["outcome"], "blocked");
    let text = verdict["feedback"].as_str().unwrap();
    assert!(text.contains("`cargo build` failed 5 times in the same way"), "{text}");
    // Whoever asks what is failing is told the same.
    let same = [("GATE_SESSION", "s")];
    project.gate_with(&same, &["escalate"]).exits(0).says("failed 5 times in the same way");
    project.gate_with(&same, &["status"]).exits(0).says("failed 5 times in the same way");
    assert_eq!(reasons(&of("other", &project), "loops"), Vec::<String>::new(), "another session");
    tell(&project, "s", [edited("src/lib.rs")]);
    assert_eq!(reasons(&of("s", &project), "loops"), Vec::<String>::new(), "it moved on");
}

#[test]
fn plan_after_plan_blocks() {
    let project = Project::new();
    let plan = |number: usize| Act::Planned(vec![PlanItem { text: format!("variant {number}"), done: false }]);
    tell(&project, "s", std::iter::once(prompt("Add paging.")).chain((0..7).map(plan)));
    assert_eq!(reasons(&of("s", &project), "loops"), ["planning"]);
}

/// A project with a test in Rust that is on the default branch.
fn with_test() -> Project {
    let project = Project::new();
    project.repo.write("tests/add.rs", "#[test] fn adds(){assert_eq!(demo::add(1,2),3);}\n");
    project.repo.commit_all("test adding");
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    project
}

#[test]
fn a_test_that_failed_and_was_deleted() {
    let project = with_test();
    project.repo.remove("tests/add.rs");
    let verdict = of("s", &project);
    assert_eq!(reasons(&verdict, "integrity"), ["tests-removed"], "{verdict:#}");
    tell(&project, "s", [prompt("Make add saturating."), ran("cargo test", 101, RED)]);
    assert_eq!(reasons(&of("s", &project), "integrity"), ["failed-test-removed"]);
    project.repo.commit_all("saturating add");
    let verdict = of("s", &project);
    assert_eq!(reasons(&verdict, "integrity"), ["failed-test-removed"], "committed");
    assert_eq!(reasons(&of("person", &project), "integrity"), ["tests-removed"], "nobody knows that it failed");
}

#[test]
fn a_test_command_that_was_emptied_blocks_at_a_push_too() {
    let project = Project::new();
    let scripts = |test: &str| format!("{{\"scripts\":{{\"test\":\"{test}\"}}}}\n");
    project.repo.write("package.json", scripts("vitest run")).commit_all("tests");
    project.repo.git(["push", "-q", "--no-verify", "origin", "HEAD:main"]);
    project.repo.write("package.json", scripts("exit 0")).commit_all("quick");
    assert_eq!(reasons(&of("s", &project), "integrity"), ["task-emptied"]);
    let at_push = project.verdict_with(&[], &["--moment", "push"]);
    assert_eq!(reasons(&at_push, "integrity"), ["task-emptied"]);
}

#[test]
fn a_relaxed_policy_blocks_the_session_that_made_it_and_no_person() {
    let project = Project::new();
    let text = String::from_utf8(project.repo.read("gate.toml")).unwrap();
    project.repo.write("gate.toml", format!("{text}\n[gates.protected-branch]\nmode = \"off\"\n"));
    project.repo.commit_all("quieter");
    let verdict = of("person", &project);
    assert_eq!(reasons(&verdict, "integrity"), ["policy-changed"], "{verdict:#}");
    tell(&project, "s", [prompt("x"), edited("gate.toml")]);
    let verdict = of("s", &project);
    assert_eq!(reasons(&verdict, "integrity"), ["policy-relaxed"]);
    assert!(
        verdict["feedback"].as_str().unwrap().contains("the mode of protected-branch is off instead of block"),
        "{verdict:#}"
    );
}

#[test]
fn checks_that_were_left_out() {
    let project = Project::new();
    tell(&project, "s", [prompt("x"), ran("git commit --no-verify -m x", 0, "")]);
    assert_eq!(reasons(&of("s", &project), "integrity"), ["checks-left-out"]);
    tell(&project, "s", [ran("git commit --amend --no-edit", 0, "")]);
    assert_eq!(reasons(&of("s", &project), "integrity"), ["checks-done-later"]);
}

#[test]
fn a_test_that_failed_is_not_left_out_of_a_push_whoever_ran_it() {
    let project = Project::with(
        "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"./pytest\"\ninputs = [\"test_*.py\", \"pytest\"]\n",
    );
    let repo = &project.repo;
    repo.script(
        "pytest",
        "#!/bin/sh\nif grep -q skip test_add.py; then echo '1 passed, 1 skipped in 0.01s'; exit 0; fi\n\
         echo 'FAILED test_add.py::test_add - assert 3 == 4'\necho '1 failed, 1 passed in 0.01s'\nexit 1\n",
    );
    let test = "def test_add():\n    assert add(1, 2) == 4\n\n\ndef test_zero():\n    assert add(0, 0) == 0\n";
    repo.write("test_add.py", test).commit_all("feat: tests");
    repo.git(["push", "-q", "--no-verify", "origin", "HEAD:refs/heads/main"]);
    let skipped = format!("import pytest\n\n\n@pytest.mark.skip\n{test}");

    // Nothing failed: it is said.
    repo.write("test_add.py", &skipped).commit_all("test: skip");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(0).says("the change skips these tests: test_add");

    // It failed in one session, and another one pushes.
    repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    repo.write("test_add.py", format!("{test}# more\n")).commit_all("feat: more");
    project.gate_with(&[("GATE_SESSION", "one")], &["run", "test"]).exits(1);
    repo.write("test_add.py", &skipped).commit_all("test: skip");
    project.gate(["run", "test"]).exits(0);
    let words = "test_add failed earlier in this work and is skipped now";
    project.check().exits(10).says(words);
    project.push("git push origin feature").exits(1).says(words);

    // Taken back, it is as it was.
    repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    project.push("git push origin feature").exits(1).never_says(words).says("failed on this content");

    // It failed in a part of the tests that an agent ran; behind a pipe, only the output shows it.
    for (line, status) in [("./pytest test_add.py::test_add", 1), ("./pytest test_add.py::test_add 2>&1 | tail -5", 0)]
    {
        repo.git(["reset", "-q", "--hard", "HEAD~1"]);
        repo.write("test_add.py", format!("{test}# {status}\n")).commit_all("feat: less");
        let session = Session::claude_called(&project, if status == 0 { "piped" } else { "plain" });
        session.prompt("Make it shorter.");
        assert_eq!(session.run(line), status);
        repo.write("test_add.py", &skipped).commit_all("test: skip");
        project.gate(["run", "test"]).exits(0);
        project.push("git push origin feature").exits(1).says(words);
        repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    }

    // The change and a run of all tests are in the same line.
    repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    repo.write("test_add.py", format!("{test}# all in one\n")).commit_all("feat: less");
    repo.write("../skipped.py", &skipped);
    let session = Session::claude_called(&project, "one-line").prompted("Make it shorter.");
    let change = "cp ../skipped.py test_add.py && git commit -qam 'test: skip'";
    assert_eq!(session.run(&format!("./pytest test_add.py::test_add; {change}; ./pytest")), 0);
    project.push("git push origin feature").exits(1).says(words);
}
