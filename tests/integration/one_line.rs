//! One line that edits, tests, commits and pushes, as agents write it.

use crate::client_session::Session;
use crate::project::Project;

const EVERYTHING: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n";

/// Shells in which a client may start a line, and that every machine has. Each becomes the last command of its line.
const SHELLS: [&str; 2] = ["sh", "bash"];

/// Runs one line of an agent in a fresh project, and returns its status.
fn status_in(shell: &str, line: &str) -> i32 {
    let project = Project::with(EVERYTHING).edited("unproven");
    let session = Session::claude(&project).prompted("change the library");
    let status = session.run_in(shell, line);
    let pushed = project.refs().get("refs/heads/feature") == Some(&project.repo.git(["rev-parse", "HEAD"]));
    assert_eq!(pushed, status == 0, "{line}");
    status
}

#[test]
fn tests_before_a_push_in_the_same_line_are_proof() {
    for (at, line) in [
        "echo two >> src/lib.sh && sh test.sh && git commit -qam 'feat: two' && git push -q origin feature",
        "echo two >> src/lib.sh; git commit -qam \"feat: two\" && sh test.sh && git push -q origin feature 2>&1",
        "sh test.sh && git commit -q --allow-empty -m 'feat: none' && git push -q origin HEAD",
        "sh test.sh && git commit -q --allow-empty -m 'fix: git push' && timeout 60 git push -q origin HEAD",
        "bash -c 'sh test.sh && git commit -q --allow-empty -m one && git push -q origin feature'",
        "B=feature; sh test.sh && git push -q origin $B",
        "if sh test.sh; then git commit -q --allow-empty -m one && git push -q origin feature; fi",
        "sh test.sh && (git commit -q --allow-empty -m one; git push -q origin feature)",
        "sh test.sh && { git commit -q --allow-empty -m one; git push -q origin feature; }",
        "git commit -q --allow-empty -m \"$(cat <<'E'\nfix: git push -q origin HEAD\nE\n)\" && sh test.sh && git push -q origin HEAD",
    ]
    .into_iter()
    .enumerate()
    {
        let shell = SHELLS[at % SHELLS.len()];
        assert_eq!(status_in(shell, line), 0, "{shell}: {line}");
    }
}

#[test]
fn the_status_of_a_pipe_in_bash_counts_before_a_push_in_the_same_line() {
    let line = "sh test.sh 2>&1 | tail -5; test ${PIPESTATUS[0]} -eq 0 && git push -q origin feature";
    assert_eq!(status_in("bash", line), 0);
    assert_ne!(status_in("bash", &line.replace("PIPESTATUS[0]", "PIPESTATUS[1]")), 0);
}

#[test]
fn a_push_that_does_not_depend_on_the_tests_is_refused() {
    for line in [
        "echo two >> src/lib.sh; sh test.sh; git commit -qam 'feat: two' && git push -q origin feature",
        "echo two >> src/lib.sh; git commit -qam 'feat: two'; sh test.sh || true; git push -q origin feature",
        "echo two >> src/lib.sh; git commit -qam 'feat: two'; sh test.sh | tail -3 && git push -q origin feature",
        "echo two >> src/lib.sh; sh test.sh && echo three >> src/lib.sh && git commit -qam 'feat: three' && git push -q origin feature",
        "echo two >> src/lib.sh; git commit -qam 'feat: two'; git push -q origin feature # sh test.sh && git push",
        "echo broken >> src/lib.sh; echo exit 1 > test.sh; git commit -qam 'feat: two'; sh test.sh || git push -q origin feature",
        "git commit -q --allow-empty -m none; exit() { true; }; false && sh test.sh; git push -q origin feature",
        "git push -q origin feature || git push -q origin feature && sh test.sh && git push -q origin feature",
        "false && sh test.sh && cat <<E\ngit push -q origin feature\nE\ngit push -q origin feature",
        // The push is that of a script, before the tests.
        "printf 'git push -q origin feature\n' > ../push; sh ../push && sh test.sh && git push -q origin feature",
        "bash -c 'sh test.sh; git push -q origin feature'",
        "echo broken >> src/lib.sh; git commit -qam 'feat: two'; if sh test.sh; then true; else git push -q origin feature; fi",
        "echo broken >> src/lib.sh; git commit -qam 'feat: two'; sh test.sh; (git push -q origin feature)",
        "echo broken >> src/lib.sh; git commit -qam 'feat: two'; if ! sh test.sh; then git push -q origin feature; fi",
        // A script that nobody knows repairs what the commit lacks.
        "echo broken >> src/lib.sh; git commit -qam 'feat: two'; sh -c 'git show HEAD~1:src/lib.sh > src/lib.sh' && sh test.sh && git push -q origin feature",
        "echo broken >> src/lib.sh; git commit -qam 'feat: two'; python3 -c 'open(\"src/lib.sh\", \"w\").write(\"one\\n\")'; sh test.sh && git push -q origin feature",
    ] {
        assert_ne!(status_in("bash", line), 0, "{line}");
    }
}

#[test]
fn tests_after_an_edit_in_the_same_line_are_proof() {
    let project = Project::with(EVERYTHING);
    let session = Session::claude(&project).prompted("change the library");
    session.run("echo two >> src/lib.sh && sh test.sh");
    session.run("git commit -qam 'feat: two'");
    project.check().exits(0);
    project.sh("gate run -- sh -c 'echo three >> src/lib.sh; sh test.sh'").exits(0);
    project.sh("git commit -qam 'feat: three'").exits(0);
    project.check().exits(0);
    // It edits again after the tests.
    session.run("echo four >> src/lib.sh && sh test.sh && echo five >> src/lib.sh");
    session.run("git commit -qam 'feat: four'");
    project.check().exits(10);
}

#[test]
fn content_that_is_swapped_in_for_the_tests_proves_nothing() {
    for (line, proves) in [
        ("sh ../swap.sh; sh test.sh && sh ../back.sh", false),
        ("sh ../swap.sh && sh test.sh && make -s -f ../Makefile back", false),
        ("trap 'sh ../back.sh' EXIT; sh ../swap.sh; sh test.sh", false),
        ("sh test.sh && sh ../nothing.sh", true),
        ("cat src/lib.sh; sh test.sh && make -s -f ../Makefile lint", true),
    ] {
        let project = Project::with(EVERYTHING);
        let outside = project.repo.root().parent().unwrap().to_owned();
        project.edit(if proves { "good" } else { "broken" });
        for (name, text) in [
            ("swap.sh", "cp src/lib.sh ../kept; echo good > src/lib.sh\n"),
            ("back.sh", "cp ../kept src/lib.sh\n"),
            ("nothing.sh", "true\n"),
            ("Makefile", "back:\n\tcp ../kept src/lib.sh\nlint:\n\ttrue\n"),
        ] {
            std::fs::write(outside.join(name), text).unwrap();
        }
        let session = Session::claude(&project).prompted("change the library");
        session.run(line);
        let judged = project.check();
        if proves {
            judged.exits(0)
        } else {
            judged.exits(10).says("ran while src/lib.sh changed")
        };
    }
}
