//! What a line writes its own output into is not a change of the content it tests.

use crate::client_session::Session;
use crate::project::Project;

/// Every file is an input of the tests.
const EVERYTHING: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh test.sh\"\n";
const LOGGED: &str = "bash -c 'set -o pipefail; sh test.sh | tee out.log'";

#[test]
fn a_run_that_writes_its_own_log_is_proof() {
    let project = Project::with(EVERYTHING).edited("one");
    project.sh(&format!("gate run -- {LOGGED}")).exits(0).says("proves").never_says("changed while it ran");
    project.check().exits(0);
    // The log is there already, and the next run overwrites it.
    project.sh("echo two >> src/lib.sh; git commit -qam 'feat: two'").exits(0);
    project.check().exits(10);
    project.sh(&format!("gate run -- {LOGGED}")).exits(0).says("proves").never_says("changed while it ran");
    project.check().exits(0);
    project.sh("rm out.log").exits(0);
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
    // A folder below, a redirection, and standard error.
    project.edit("three");
    project.sh("mkdir logs; gate run -- sh -c 'sh test.sh > logs/out.txt 2>&1'").exits(0).says("proves");
    project.check().exits(0);
}

#[test]
fn an_agents_line_that_writes_its_own_log_is_proof() {
    let project = Project::with(EVERYTHING);
    let session = Session::claude(&project).prompted("change the library");
    project.edit("one");
    session.run("sh test.sh > out.log 2>&1");
    session.stop("Done.").quiet();
    project.check().exits(0);
}

#[test]
fn a_file_that_is_more_than_a_log_is_content() {
    // It is committed.
    let project = Project::with(EVERYTHING);
    project.repo.write("out.log", "kept\n");
    project.edit("one");
    project.repo.commit_all("test: keep a log");
    project.sh(&format!("gate run -- {LOGGED}")).exits(0).says("out.log changed while it ran");
    project.check().exits(10);
    // It became something else after the run.
    let project = Project::with(EVERYTHING).edited("one");
    project.sh("gate run -- bash -c 'set -o pipefail; sh test.sh | tee src/more.sh'").exits(0);
    project.check().exits(0);
    project.repo.write("src/more.sh", "broken\n");
    project.check().exits(10);
    // It held something that the tests read before they wrote into it.
    let project = Project::with(EVERYTHING);
    let passed = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    project.repo.write("test.sh", format!("grep -q needed data.log && printf 'read\\n{passed}\\n'\n"));
    project.edit("one");
    project.repo.write("data.log", "needed\n");
    project.sh("gate run -- bash -c 'set -o pipefail; sh test.sh | (read x; tee data.log)'").exits(0);
    let run = project.journal().into_iter().rfind(|line| line["kind"] == "run").unwrap();
    assert_eq!(run["data"]["logs"], serde_json::json!(["data.log"]));
    project.check().exits(10);
    // Another command writes it, or it is added to.
    let project = Project::with(EVERYTHING).edited("one");
    project.sh("gate run -- sh -c 'echo x > src/more.sh; sh test.sh'").exits(0);
    project.check().exits(10).says("src/more.sh");
    project.repo.write("src/data.txt", "needed\n");
    project.sh("rm src/more.sh; gate run -- bash -c 'set -o pipefail; sh test.sh | tee -a src/data.txt'").exits(0);
    project.check().exits(10).says("src/data.txt");
}

#[test]
fn programs_that_a_run_makes_do_not_take_its_proof_away() {
    let project = Project::with(EVERYTHING);
    let passed = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    project.repo.write("test.sh", format!("mkdir -p out; echo program > out/test_one; echo '{passed}'\n"));
    project.repo.commit_all("test: build a program");
    project.gate(["run"]).exits(0).says("it made out/test_one").says("this proves test for this commit");
    project.check().exits(0);
    project.push("git push origin feature").exits(0);
    // The next run could have read it, and a checkout elsewhere does not have it.
    project.sh("echo two >> src/lib.sh; git commit -qam 'feat: two'").exits(0);
    project.gate(["run"]).exits(0);
    project.check().exits(10).says("out/test_one").says(".gitignore");
    project.repo.write(".gitignore", "out/\n").commit_all("test: ignore what is built");
    project.gate(["run"]).exits(0).never_says("it made");
    project.check().exits(0);
}

#[test]
fn a_made_file_that_is_committed_changed_or_found_by_name_counts() {
    let passed = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    let made = |name: &str| {
        let project = Project::with(EVERYTHING);
        project.repo.write("test.sh", format!("echo 1 > {name}; echo '{passed}'\n"));
        project.repo.commit_all("test: make a file");
        project.gate(["run"]).exits(0);
        project
    };
    let project = made("helper.sh");
    project.check().exits(0);
    project.repo.write("helper.sh", "2\n");
    project.check().exits(10);
    project.repo.write("helper.sh", "1\n").commit_all("test: keep it");
    project.check().exits(10).says("helper.sh");
    made("conftest.py").check().exits(10).says("conftest.py");
}

#[test]
fn an_untracked_report_that_each_run_writes_is_to_be_ignored() {
    let project = Project::with(EVERYTHING);
    let passed = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out";
    project.repo.write("test.sh", format!("cat report.xml src/lib.sh >new 2>&1; mv new report.xml; echo '{passed}'\n"));
    project.edit("one");
    project.gate(["run"]).exits(0);
    project.sh("echo two >> src/lib.sh; git commit -qam 'feat: two'").exits(0);
    project.gate(["run"]).exits(0).says("report.xml changed while it ran");
    project
        .push("git push origin feature")
        .exits(1)
        .says("if not, list it in .gitignore; then: gate run test")
        .never_says("git stash");
    project.repo.write(".gitignore", "report.xml\n").commit_all("test: ignore the report");
    project.gate(["run", "test"]).exits(0);
    project.push("git push origin feature").exits(0);
}

#[test]
fn programs_that_are_built_again_are_no_content() {
    const MAKEFILE: &str = ".PHONY: test one\ntest: one\none:\n\tcp /bin/true tests/one\n\t./tests/one\n";
    const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make test\"\n";
    let project = Project::with(POLICY);
    let session = Session::claude(&project).prompted("change the library");
    project.repo.write("Makefile", MAKEFILE).write("tests/data", "1\n").commit_all("test: build a program");
    // Another task of the same file builds it first.
    session.run("make one");
    for (at, line) in [
        "make test 2>&1 | cat",
        "make clean; make test",
        "make test > /dev/null",
        "make test && git status --short",
        "gate run -- make -s test",
        "gate run -- 'make clean; make test'",
    ]
    .iter()
    .enumerate()
    {
        project.sh(&format!("echo {at} >> src/lib.sh; git commit -qam 'feat: {at}'")).exits(0);
        session.run(line);
        project.check().exits(0);
    }
    project.push("git push origin feature").exits(0);
    // A program that no run builds, what the line itself puts there, and a text are content.
    project.sh("cp /bin/true tests/three; echo three >> src/lib.sh; git commit -qam 'feat: three'").exits(0);
    session.run("make test");
    project.check().exits(10).says("tests/three");
    project.gate(["run", "test"]).exits(0);
    project.check().exits(10).says("tests/three");
    project.sh("rm tests/three").exits(0);
    project.sh("echo more >> src/lib.sh; git commit -qam 'feat: more'").exits(0);
    session.run("cp /bin/true tests/two; make test");
    project.check().exits(10).says("tests/two");
    session.run("cat /bin/true > tests/two; make test");
    project.check().exits(10).says("tests/two");
    session.run("gate run -- 'cp /bin/true tests/two; make test'");
    project.check().exits(10).says("tests/two");
    project.sh("rm tests/two; echo x > tests/four; echo again >> src/lib.sh; git commit -qam 'feat: again'").exits(0);
    session.run("make test");
    project.check().exits(10).says("tests/four");
}

#[test]
fn a_file_that_a_line_writes_before_its_checks_is_part_of_what_they_saw() {
    let project = Project::with(EVERYTHING);
    let session = Session::claude(&project).prompted("add a file");
    session.run("cat > src/more.sh <<'END'\nmore() {\n  echo more\n}\nEND\nsh test.sh");
    project.sh("git add -A; git commit -qm 'feat: more'").exits(0);
    project.check().exits(0);
}
