//! A process that ends early with status 0 proves nothing: what its runner always prints is missing.

use crate::project::Project;
use crate::running::{declared, stands_in};

const PASSES: &str = "this proves test for this commit";
const NOTHING: &str = "this run proves nothing about test";

/// Runs the declared command with a program that prints these lines.
fn printed(project: &Project, program: &str, lines: &str, expected: &str) {
    project.repo.write("printed.txt", lines).commit_all("chore: output");
    let (_bin, path) = stands_in(program, "cat printed.txt");
    project.sh(&format!("{path} gate run test")).exits(0).says(expected);
}

#[test]
fn tests_that_tox_and_nox_start_must_speak() {
    let project = declared("tox");
    project.repo.write("tox.ini", "[testenv]\ndeps =\n    pytest\ncommands =\n    pip list\n    pytest {posargs}\n");
    let two = "py: commands[0]> pytest a\n1 passed in 0.01s\npy: commands[1]> pytest b\n";
    let end = "  py: OK (1.00 seconds)\n  congratulations :) (1.10 seconds)\n";
    for (lines, expected) in [
        ("py: commands[0]> pytest\n1 passed in 0.01s\n", PASSES),
        ("py: commands[0]> pytest -qq\n..                                   [100%]\n", PASSES),
        ("1 passed in 0.01s\n", PASSES),
        ("py: commands[0]> pytest\n", NOTHING),
        ("", NOTHING),
        (two, NOTHING),
        (&format!("{two}2 passed in 0.01s\n"), PASSES),
    ] {
        printed(&project, "tox", &format!("{lines}{end}"), expected);
    }
    // Nobody knows what a script prints.
    project.repo.write("tox.ini", "[testenv]\ndeps =\n    pytest\ncommands = python run.py\n");
    printed(&project, "tox", end, PASSES);

    let project = declared("nox");
    let noxfile =
        "import nox\n@nox.session\ndef tests(session):\n    session.install('pytest')\n    session.run('pytest')\n";
    project.repo.write("noxfile.py", noxfile);
    let began = "nox > Running session tests\nnox > pytest\n";
    printed(&project, "nox", &format!("{began}1 passed in 0.01s\nnox > Session tests was successful.\n"), PASSES);
    printed(&project, "nox", &format!("{began}nox > Session tests was successful.\n"), NOTHING);
    project.repo.write("noxfile.py", noxfile.replace("('pytest')\n", "('pytest', silent=True)\n"));
    printed(&project, "nox", &format!("{began}nox > Session tests was successful.\n"), PASSES);

    let project = declared("invoke test");
    project.repo.write("tasks.py", "@task\ndef test(c):\n    c.run('pytest -q')\n");
    printed(&project, "invoke", "1 passed in 0.01s\n", PASSES);
    printed(&project, "invoke", "\n", NOTHING);
}

#[test]
fn tests_in_go_that_are_shown_end_with_their_own_line() {
    let project = declared("go test -v ./...");
    project.repo.write("go.mod", "module example.com/a\n");
    let passed = "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \texample.com/a\t0.002s\n";
    for (lines, expected) in [
        (passed.to_owned(), PASSES),
        (format!("?   \texample.com/b\t[no test files]\n{passed}"), PASSES),
        (passed.replace("PASS\nok", "xPASS\ncoverage: 50.0% of statements\nok"), PASSES),
        (format!("{passed}ok  \texample.com/b\t0.002s\n"), NOTHING),
        ("ok  \texample.com/a\t0.002s\n".to_owned(), NOTHING),
    ] {
        printed(&project, "go", &lines, expected);
    }
    let project = declared("go test -json ./...");
    let event = |rest: &str| format!("{{\"Time\":\"2026-01-01T00:00:00Z\",\"Action\":{rest}}}\n");
    let test = event("\"pass\",\"Package\":\"a\",\"Test\":\"TestA\",\"Elapsed\":0");
    let end = event("\"output\",\"Package\":\"a\",\"Output\":\"PASS\\n\"");
    let passed = |package: &str| event(&format!("\"pass\",\"Package\":\"{package}\",\"Elapsed\":0.01"));
    printed(&project, "go", &format!("{test}{end}{}", passed("a")), PASSES);
    printed(&project, "go", &format!("{test}{end}{}{}", passed("a"), passed("b")), NOTHING);
}

#[test]
fn an_exit_that_the_tests_in_go_never_come_past_needs_their_names() {
    let project = declared("go test ./...");
    let repo = &project.repo;
    let code = "package calc\n\nimport \"os\"\n\nfunc init() {\n\tstop()\n}\n\nfunc stop() {\n\tos.Exit(0)\n}\n";
    repo.write("go.mod", "module example.com/a\n").write("src/calc.go", code).commit_all("feat: calc");
    let (_bin, path) = stands_in(
        "go",
        "case $2 in -v) echo '--- PASS: TestA (0.00s)'; echo PASS;; esac; printf 'ok  \\texample.com/a\\t0.1s\\n'",
    );
    let run = format!("{path} gate run test");
    let why = "src/calc.go may end the process before its tests run, with status 0 (init)";
    project.sh(&run).exits(0).says(why).says("gate run -- go test -v ./...");
    project.sh(&format!("{path} gate run -- go test -v ./...")).exits(0).says(PASSES);
    project.check().exits(0);
    repo.write("src/calc.go", code.replace("os.Exit(0)", "os.Exit(2)")).commit_all("fix: calc");
    project.sh(&run).exits(0).says(PASSES);
}

#[test]
fn a_command_that_counted_tests_does_not_fall_silent() {
    let project = declared("./run");
    let repo = &project.repo;
    repo.script("run", "#!/bin/sh\ncat src/lines.py\n")
        .write("src/lines.py", "3 passed in 0.01s\n")
        .commit_all("feat: x");
    project.sh("gate run test").exits(0).says(PASSES);
    repo.write("src/lines.py", "# nothing\n").commit_all("fix: x");
    project
        .sh("gate run test")
        .exits(0)
        .says("its output shows no test, and the run of this command before it counted 3");
    project.check().exits(10);
    repo.write("src/lines.py", "....   [100%]\n").commit_all("fix: y");
    project.sh("gate run test").exits(0).says(PASSES);
    // A script that was changed may print something else.
    repo.write("src/lines.py", "3 passed in 0.01s\n").commit_all("fix: z");
    project.sh("gate run test").exits(0).says(PASSES);
    repo.script("run", "#!/bin/sh\ntrue\n").commit_all("chore: quiet");
    project.sh("gate run test").exits(0).says(PASSES);
}

#[test]
fn a_program_with_a_framework_prints_its_summary_for_ctest() {
    let project = declared("ctest --test-dir build");
    let repo = &project.repo;
    repo.write(".gitignore", "build/\n").commit_all("chore: start");
    repo.write("build/CMakeCache.txt", "").write("build/t", "ELF [  PASSED  ] %d tests").write("build/p", "ELF");
    let root = repo.root().display().to_string();
    let log = |program: &str, arguments: &str, output: &str| {
        format!(
            "1/1 Testing: t\n1/1 Test: t\nCommand: \"{root}/build/{program}\"{arguments}\nDirectory: {root}/build\nOutput:\n---\n\
             {output}<end of output>\nTest time =   0.01 sec\n---\nTest Passed.\n"
        )
    };
    let (_bin, path) = stands_in("ctest", "echo '100% tests passed, 0 tests failed out of 1'");
    for (text, expected) in [
        (log("t", "", "[  PASSED  ] 3 tests.\n"), PASSES),
        (log("p", "", ""), PASSES),
        (log("t", "", "[ RUN      ] A.B\n"), "t, a program with GoogleTest, ended with status 0 before its tests did"),
        (log("t", " \"--gtest_filter=A.B\"", ""), NOTHING),
    ] {
        repo.write("build/Testing/Temporary/LastTest.log", text);
        project.sh(&format!("{path} gate run test")).exits(0).says(expected);
    }
}
