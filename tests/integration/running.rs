//! `gate run` from outside: transparent to its caller, and honest about what a run proves.

use std::fs;
use std::process::Stdio;

use serde_json::json;

use crate::client_session::Session;
use crate::project::{POLICY, Project, TEST, paths, reasons};
use crate::support::files_below;

/// A policy whose one command is `run`.
pub fn declared(run: &str) -> Project {
    let project = Project::with(&POLICY.replace("sh test.sh", &run.replace('\\', "\\\\").replace('"', "\\\"")));
    project.edit("one");
    project
}

#[test]
fn the_status_of_the_command_is_the_status_of_gate_run() {
    let project = Project::new();
    for code in [0, 1, 2, 3, 10, 11, 12, 42, 64, 70, 101, 126, 127, 130, 255] {
        project.gate(["run", "--", "sh", "-c", &format!("exit {code}")]).exits(code);
    }
    for (signal, code) in [("TERM", 143), ("KILL", 137), ("HUP", 129), ("SEGV", 139)] {
        // Whoever started the tests may ignore a signal, as `nohup` does; the command must not inherit that here.
        let line = format!("kill -{signal} $$");
        let said = project.gate(["run", "--", "env", "--default-signal", "sh", "-c", &line]);
        assert_eq!(said.code, code, "{signal}: {}", said.text());
        said.says("was killed by signal");
    }
    let said = project.gate(["run", "--", "sh", "-c", "echo out; echo err >&2; cat; exit 3"]).exits(3);
    assert_eq!(said.out, "out\n", "standard output is the command's alone");
    assert!(said.err.starts_with("err\n"), "{}", said.err);
}

#[test]
fn all_tests_in_other_words_count_and_a_part_of_them_is_named() {
    let project = declared("./pytest");
    project.repo.script("pytest", "#!/bin/sh\necho '1 passed in 0.1s'\n").write("tests/test_a.py", "");
    project.repo.write("tests/test_c.py", "").commit_all("test: a");
    project.gate(["run", "--", "./pytest", "tests/test_a.py"]).exits(0);
    project
        .gate(["check"])
        .exits(10)
        .says("`./pytest tests/test_a.py` passed, but ran only a part of the tests: tests/test_a.py")
        .says("gate run test");
    project.gate(["run", "--", "./pytest", "tests"]).exits(0).says("this proves test");
    project.gate(["check"]).exits(0);
    // A test elsewhere is not among those in the folder.
    project.repo.write("src/test_b.py", "").commit_all("test: b");
    project.gate(["run", "--", "./pytest", "tests"]).exits(0);
    project.gate(["check"]).exits(10).says("gate cannot know that it ran all tests: it adds tests");
}

#[test]
fn without_arguments_only_what_is_not_proven_runs() {
    let project = Project::with(&format!("{POLICY}\n[commands.build]\ngate = \"build\"\nrun = \"echo building\"\n"));
    project.gate(["run"]).exits(0).says("nothing to run");
    project.edit("one");
    project.gate(["run", "build"]).exits(0).says("building");
    project.gate(["run"]).exits(0).says("sh test.sh").never_says("building");
    project.gate(["run"]).exits(0).says("nothing to run: every command that is needed has passed on this content");
    project.edit("broken");
    let said = project.gate(["run"]);
    assert_ne!(said.code, 0, "{said:?}");
    project.edit("still");
    // A gate's name stands for its commands.
    project.gate(["run", "tests"]).exits(101).says("sh test.sh").never_says("building");
}

#[test]
fn a_part_of_a_line_that_does_not_show_its_end_is_named_with_the_command_to_type() {
    let project = Project::new().edited("one");
    for line in ["gate run -- 'echo a; sh test.sh | cat >/dev/null'", "gate run -- 'sh test.sh >/dev/null; true'"] {
        project.sh(line).exits(0).says("this run proves nothing about test: ").says("gate run test");
        assert_eq!(reasons(&project.verdict(), "tests"), ["missing"], "{line}");
    }
    project.sh("gate run -- 'echo a; sh test.sh'").exits(0).says("this proves test");
}

#[test]
fn any_command_is_evidence_where_it_does_what_is_declared() {
    let project = Project::new().edited("one");
    for line in ["gate run -- sh test.sh x", "gate run -- true"] {
        project
            .sh(line)
            .exits(0)
            .says("this run proves nothing: nothing shows that it ran what gate.toml declares")
            .says("`sh test.sh`");
        assert_eq!(reasons(&project.verdict(), "tests"), ["missing"], "{line}");
    }
    project.sh("gate run -- sh test.sh").exits(0);
    project.check().exits(0).says("3 passed");
    // A declared command runs in its own directory, wherever it is called.
    project.edit("two");
    project.sh("cd src && gate run test").exits(0);
    project.sh("cd src && gate check").exits(0);
    project.edit("three");
    project.sh("cd src && gate run").exits(0).says("sh test.sh");
    project.check().exits(0);
}

#[test]
fn an_edit_during_the_run_proves_nothing_about_either_content() {
    let project = declared("echo late >> src/lib.sh");
    project.gate(["run", "test"]).exits(0).says("src/lib.sh changed while it ran");
    let verdict = project.verdict();
    assert_eq!(reasons(&verdict, "tests"), ["unsettled", "unsettled"], "of the commit and of the working tree");
    assert!(paths(&verdict, "tests").contains(&"src/lib.sh".to_owned()));
    project.repo.commit_all("feat: late");
    assert_eq!(reasons(&project.verdict(), "tests"), ["unsettled"]);
    project.push("git push origin feature").exits(1).says("ran while src/lib.sh changed");
}

#[test]
fn an_edit_that_is_undone_before_the_end_is_not_seen_and_a_lasting_one_outside_is_harmless() {
    let project = declared("echo report > report.txt; mkdir -p target; echo x > target/x").tested();
    project.check().exits(0).says("passed on this content");
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_run_that_was_on_another_branch_in_between_proves_nothing() {
    let project = declared("git switch -q main && sh test.sh && git switch -q feature");
    project.gate(["run", "test"]).exits(0).says(
        "this run proves nothing about test: git replaced files while it ran (checkout: moving from feature to main)",
    );
    project.check().exits(10);
    // A branch that begins here replaces no file.
    let project = declared("git switch -q -c other && sh test.sh && git switch -q feature");
    project.gate(["run", "test"]).exits(0).says("this proves test for this commit");
    project.check().exits(0);
}

#[test]
fn what_is_proven_only_for_the_files_as_they_are_now_is_said() {
    let project = Project::new().edited("one");
    project.repo.write("src/new.sh", "x\n");
    project
        .gate(["run"])
        .exits(0)
        .says("this proves test for the files as they are now, and so a commit of exactly these files");
    project.push("git push origin feature").exits(1);
    project
        .gate(["run"])
        .exits(0)
        .says("passed on the working tree, but not on commit")
        .says("src/new.sh differs: commit what belongs to the commit");
    project.repo.write(".gitignore", "src/new.sh\n").commit_all("chore: ignore it");
    project.gate(["run"]).exits(0).says("this proves test for this commit");
    project.push("git push origin feature").exits(0);
}

#[test]
fn what_a_run_made_is_no_part_of_what_it_proves() {
    let project = declared("[ -e src/snap.txt ] || cp src/lib.sh src/snap.txt; cmp src/lib.sh src/snap.txt");
    project.repo.append("src/lib.sh", "two\n");
    project
        .gate(["run", "test"])
        .exits(0)
        .says("list it in .gitignore, or commit it and run the command again")
        .says("this proves test for the files as they are now, without src/snap.txt, and so a commit of exactly these");
    project.repo.commit_all("feat: two");
    project.push("git push origin feature").exits(1).says("ran while src/snap.txt changed");
    project.gate(["run"]).exits(0).says("this proves test for this commit");
    project.push("git push origin feature").exits(0);
}

#[test]
fn a_run_that_executed_no_test_is_vacuous() {
    for line in [
        "echo 'test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out'",
        "echo 'test result: ok. 0 passed; 0 failed; 4 ignored; 0 measured; 0 filtered out; finished in 0.00s'",
        "echo '============================ no tests ran in 0.01s ============================='",
    ] {
        let project = declared(line).tested();
        let verdict = project.verdict();
        assert_eq!(reasons(&verdict, "tests"), ["vacuous"], "{line}: {verdict:#}");
        project.push("git push origin feature").exits(1).says("ran and executed no test");
    }
}

#[test]
fn a_status_of_success_does_not_hide_failures_that_the_runner_reports() {
    let project =
        declared("echo 'test result: FAILED. 2 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out'; true");
    project.gate(["run", "test"]).exits(0);
    assert_eq!(reasons(&project.verdict(), "tests"), ["failed"]);
}

/// A project that declares its own `pytest`, which prints this and ends with 0.
fn with_pytest(prints: &str) -> Project {
    let project = declared("./pytest");
    project.repo.script("pytest", &format!("#!/bin/sh\ncat <<'END'\n{prints}\nEND\n")).commit_all("test: a runner");
    project
}

#[test]
fn a_runner_that_counts_failures_in_its_last_line_and_ends_with_0_proves_nothing() {
    let project = with_pytest("== 1 failed, 1 passed in 0.02s ==").tested();
    assert_eq!(reasons(&project.verdict(), "tests"), ["masked"]);
    project.push("git push origin feature").exits(1).says("1 failed, 1 passed");
    // What its tests run may say so before it.
    let project = with_pytest("== 1 failed, 1 passed in 0.02s ==\n== 7 passed in 0.30s ==").tested();
    project.check().exits(0).says("passed on this content");
}

#[test]
fn a_runner_that_always_speaks_and_said_nothing_proves_nothing() {
    let project = with_pytest("").tested();
    assert_eq!(reasons(&project.verdict(), "tests"), ["masked"]);
    project
        .push("git push origin feature")
        .exits(1)
        .says("pytest always reports what it ran, and its output shows no test");
}

#[test]
fn what_a_run_inherits_counts_as_if_it_stood_before_its_line() {
    let project = with_pytest("== 7 passed in 0.30s ==");
    project.gate_with(&[("PYTEST_ADDOPTS", "-v -k zero")], &["run", "test"]).exits(0);
    assert_eq!(reasons(&project.verdict(), "tests"), ["masked"]);
    project.check().exits(10).says("PYTEST_ADDOPTS: -k zero");
    let harmless = [("PYTEST_ADDOPTS", "--color=yes"), ("MAKEFLAGS", " -j8 --jobserver-auth=3,4"), ("RUSTFLAGS", "-g")];
    project.gate_with(&harmless, &["run", "test"]).exits(0);
    project.check().exits(0).says("7 passed");
}

#[test]
fn an_unknown_runner_is_judged_by_its_status_and_that_is_said() {
    let project = declared("echo all good").tested();
    project.check().exits(0).says("by its exit status alone");
    let project = declared("echo all good; exit 3");
    project.gate(["run", "test"]).exits(3);
    project.check().exits(10).says("failed on this content (exit status 3)");
}

#[test]
fn a_death_by_signal_blocks_and_is_named() {
    let project = declared("kill -TERM $$");
    project.gate(["run", "test"]).exits(143).says("killed by signal 15");
    project.check().exits(10).says("was killed (signal 15) before it finished");
}

#[test]
fn failed_and_then_passed_on_the_same_content_is_not_green() {
    let project = declared("test -e ../flag || { touch ../flag; exit 1; }");
    project.gate(["run", "test"]).exits(1);
    project.gate(["run", "test"]).exits(0);
    let verdict = project.verdict();
    assert_eq!(reasons(&verdict, "tests"), ["flaky"]);
    assert_eq!(verdict["complete"], false);
}

#[test]
fn secrets_that_a_command_prints_are_written_nowhere() {
    // Put together here, so that no scanner takes this file for a leak.
    let token = ["ghp", "_", "0123456789abcdefghijklmnopqrstuvwxyzAB"].concat();
    let value = "correct-horse-battery-staple-7Q";
    let project = declared("cat ../token; echo \"$API_TOKEN\"; echo \"$API_TOKEN\" >&2; exit 9");
    fs::write(project.repo.outside().join("token"), format!("token: {token}\n")).unwrap();
    let variables = [("API_TOKEN", value), ("GATE_SESSION", "s")];
    let said = project.gate_with(&variables, &["run", "test"]).exits(9);
    assert!(said.out.contains(&token) && said.out.contains(value), "the caller sees its output as it is: {said:?}");
    project.gate_with(&variables, &["run", "--", "echo", &format!("--token={token}")]).exits(0);
    for _ in 0..4 {
        project.gate_with(&variables, &["check"]);
    }
    let files = files_below(&project.gate_dir());
    for path in &files {
        let text = String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
        for secret in [&token, value] {
            assert!(!text.contains(secret), "{} holds {secret}", path.display());
        }
    }
    assert!(files.len() > 5, "{files:?} were looked at");
}

#[test]
fn a_child_does_not_inherit_the_repository_of_a_hook() {
    let project = declared("test -z \"$GIT_DIR$GIT_INDEX_FILE$GIT_WORK_TREE\"");
    let other = project.repo.outside().join("other.git");
    project.repo.git(["init", "-q", "--bare", other.to_str().unwrap()]);
    let index = project.repo.path(".git/index").display().to_string();
    project.gate_with(&[("GIT_INDEX_FILE", &index), ("GIT_PREFIX", "src/")], &["run", "test"]).exits(0);
    project.gate_with(&[("GIT_DIR", ".git"), ("GIT_WORK_TREE", ".")], &["run", "test"]).exits(0);
    project.check().exits(0);
}

#[test]
fn a_run_that_was_killed_with_the_gate_is_named() {
    let project = declared("test -e ../done || read go < ../go");
    project.sh("mkfifo ../go").exits(0);
    let mut run = project.command("gate", project.repo.root());
    let mut run = run.args(["run", "test"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    // Opened for writing once somebody reads: by then the run is recorded as begun.
    let mut go = std::fs::File::options().write(true).open(project.repo.outside().join("go")).unwrap();
    run.kill().unwrap();
    run.wait().unwrap();
    project.check().exits(10).says("on this content; one was started and has not ended");
    std::io::Write::write_all(&mut go, b"go\n").unwrap();
    // One that ended since stands before it.
    project.sh("touch ../done").exits(0);
    project.gate(["run", "test"]).exits(0);
    project.repo.write("src/lib.rs", "changed\n");
    project.check().exits(10).says("changed since").never_says("has not ended");
}

#[test]
fn a_push_whose_fix_lies_in_the_working_tree_says_so() {
    let project = Project::new().edited("broken");
    project.gate(["run", "test"]).exits(101);
    project.push("git push origin feature").exits(1).says("failed on this content").says("fix what failed");
    project.repo.write("src/lib.sh", "one\nmended\n");
    project.gate(["run", "test"]).exits(0);
    let said = project.push("git push origin feature").exits(1);
    said.says("it passed later, after src/lib.sh changed").says("commit the change that made it pass");
    project.repo.git(["commit", "-q", "-a", "-m", "fix: mend"]);
    project.push("git push origin feature").exits(0);
}

#[test]
fn another_spelling_of_a_declared_command_counts_and_says_for_what() {
    let project = Project::new();
    for (at, line) in ["gate run -- sh ./test.sh", "gate run -- env sh test.sh", "gate run -- timeout 60 sh test.sh"]
        .iter()
        .enumerate()
    {
        fs::write(project.repo.root().join("src/lib.sh"), format!("echo {at}\n")).expect("written");
        project.sh(line).exits(0).says("this proves test for the files as they are now");
        project.repo.commit_all("feat: more");
        project.sh(line).exits(0).says("this proves test for this commit");
        project.check().exits(0).says("3 passed");
    }
}

#[test]
fn a_program_that_is_missing_could_not_start() {
    let project = declared("no-such-program-here");
    project.gate(["run", "test"]).exits(127).says("test could not start");
    project.check().exits(10).says("`no-such-program-here` could not start on this content (exit status 127)");
}

#[test]
fn a_longer_line_says_what_its_declared_command_proves() {
    let project = declared("python3 -m unittest");
    let test = "import unittest\nclass One(unittest.TestCase):\n    def test_one(self): pass\n";
    fs::write(project.repo.root().join("test_one.py"), test).expect("written");
    project.repo.commit_all("test: one");
    let missing = "this does not prove test: `python3 -m unittest` could not start";
    for (line, code, said, verdict) in [
        ("PATH=/nowhere/bin python3 -m unittest; true", 0, missing, 10),
        ("python3 -m unittest; false", 1, "this proves test for this commit", 0),
        ("python3 -m unittest; no-such-program-here", 127, "this proves test for this commit", 0),
    ] {
        project.gate(["run", "--", line]).exits(code).says(said);
        project.check().exits(verdict);
    }
}

/// A project whose tests touch a file while an agent's client reports an edit of `path`.
fn edited_meanwhile(path: &str, touched: &str) -> Project {
    let project = Project::new();
    let file = project.repo.root().join(path);
    let payload = json!({
        "session_id": "c0ffee-1", "cwd": project.repo.root(), "hook_event_name": "PostToolUse", "tool_name": "Edit",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"}, "tool_response": {"filePath": file},
    });
    project.repo.write("../payload.json", payload.to_string());
    let hook = "gate hook claude PostToolUse <../payload.json >/dev/null 2>&1";
    project.repo.write("README.md", "One.\n").write("test.sh", format!("touch {touched}\n{hook}\n{TEST}"));
    project.repo.commit_all("test: an edit meanwhile");
    project
}

#[test]
fn a_file_that_an_agent_edits_while_the_tests_run_leaves_nothing_proven() {
    let words = "src/lib.sh was edited while it ran; run it again";
    edited_meanwhile("src/lib.sh", "src/lib.sh").gate(["run", "test"]).exits(0).says(words);
    let project = edited_meanwhile("src/lib.sh", "src/lib.sh");
    assert_eq!(Session::claude(&project).prompted("change the library").run("sh test.sh"), 0);
    project.check().exits(10).says(words);
    // A file that the tests do not read, and one of this name in another working tree.
    for (path, touched) in [("README.md", "README.md"), ("src/lib.sh", "README.md")] {
        edited_meanwhile(path, touched).gate(["run", "test"]).exits(0).says("this proves test for this commit");
    }
}

#[test]
fn a_task_that_is_up_to_date_tested_nothing() {
    for (said, remedy) in [
        ("make: 'test' is up to date.", "a file or folder named `test` is there"),
        ("make: Nothing to be done for 'test'.", "the target has no recipe of its own"),
    ] {
        let project = declared("make test");
        let bin = tempfile::tempdir().expect("a folder");
        let make = bin.path().join("make");
        fs::write(&make, format!("#!/bin/sh\necho \"{said}\"\n")).expect("written");
        fs::set_permissions(&make, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it may run");
        let line = format!("PATH={}:$PATH gate run test", bin.path().display());
        project.sh(&line).exits(0).says("this run proves nothing about test: it executed no test");
        assert_eq!(reasons(&project.verdict(), "tests"), ["vacuous"]);
        project.sh(&line).says(remedy).says("`.PHONY");
        project.check().exits(10).says("must be named in `.PHONY` in the Makefile");
    }
}

/// A folder with a program `name` that is this script, and the words that put it first on the search path.
pub fn stands_in(name: &str, script: &str) -> (tempfile::TempDir, String) {
    let bin = tempfile::tempdir().expect("a folder");
    let path = bin.path().join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("written");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).expect("it may run");
    let prefix = format!("PATH={}:$PATH", bin.path().display());
    (bin, prefix)
}

#[test]
fn a_task_that_ends_in_nothing_tested_nothing() {
    for (scripts, makefile) in [
        (r#"{"test":"true"}"#, ""),
        (r#"{"test":"npm run t2","t2":"npm run t3","t3":"true"}"#, ""),
        (r#"{"test":"make t"}"#, "t:\n\ttrue\n"),
        (r#"{"test":"make t"}"#, "t: u\nu:\n\t@echo 2 passed\n"),
        (r#"{"test":"npm run -s t2","t2":"echo '2 passed in 0.01s'"}"#, ""),
    ] {
        let project = declared("npm test");
        fs::write(project.repo.root().join("package.json"), format!("{{\"scripts\":{scripts}}}")).expect("written");
        fs::write(project.repo.root().join("Makefile"), makefile).expect("written");
        project.repo.commit_all("chore: scripts");
        let (_bin, path) = stands_in("npm", "echo '2 passed in 0.01s'");
        project
            .sh(&format!("{path} gate run test"))
            .exits(0)
            .says("this run proves nothing about test: it executed no test");
        assert_eq!(reasons(&project.verdict(), "tests"), ["vacuous"], "{scripts}");
    }
}

#[test]
fn a_task_of_the_projects_own_script_and_quiet_runners_prove_by_their_status() {
    for (line, scripts, program, prints) in [
        ("npm test", r#"{"test":"sh t.sh"}"#, "npm", ":"),
        ("npm test --silent", r#"{"test":"mocha --reporter dot"}"#, "npm", "echo ..."),
        ("npm test", r#"{"pretest":"sh t.sh","test":"true"}"#, "npm", ":"),
        ("pytest -q", "{}", "pytest", "echo '2 passed in 0.01s'"),
        ("go test ./...", "{}", "go", "printf 'ok  \\tx/calc\\t0.003s\\n'"),
    ] {
        let project = declared(line);
        fs::write(project.repo.root().join("package.json"), format!("{{\"scripts\":{scripts}}}")).expect("written");
        project.repo.commit_all("chore: scripts");
        let (_bin, path) = stands_in(program, prints);
        project.sh(&format!("{path} gate run test")).exits(0).says("this proves test for this commit");
        project.check().exits(0);
    }
}

#[test]
fn a_known_runner_whose_output_shows_no_test_proves_nothing() {
    for (line, scripts, program) in [
        ("npm test", r#"{"test":"pytest -q"}"#, "npm"),
        ("pytest", "{}", "pytest"),
        ("go test ./...", "{}", "go"),
        ("cargo test", "{}", "cargo"),
        ("ctest", "{}", "ctest"),
    ] {
        let project = declared(line);
        fs::write(project.repo.root().join("package.json"), format!("{{\"scripts\":{scripts}}}")).expect("written");
        project.repo.commit_all("chore: scripts");
        let (_bin, path) = stands_in(program, "echo started; echo done");
        project.sh(&format!("{path} gate run test")).exits(0).says("its output shows no test");
        assert_eq!(reasons(&project.verdict(), "tests"), ["masked"], "{line}");
    }
    let project = declared("ctest");
    let (_bin, path) = stands_in("ctest", "echo 'No test configuration file found!'");
    project.sh(&format!("{path} gate run test")).exits(0).says("it executed no test");
}

#[test]
fn settings_of_a_person_that_replace_what_runs_are_named() {
    let project = declared("npm test");
    fs::write(project.repo.root().join("package.json"), r#"{"scripts":{"test":"sh t.sh"}}"#).expect("written");
    project.repo.commit_all("chore: scripts");
    let (bin, path) = stands_in("npm", "echo '2 passed in 0.01s'");
    let settings = bin.path().join("npmrc");
    fs::write(&settings, "script-shell=/bin/true\n").expect("written");
    let line = format!("npm_config_userconfig={} {path} gate run test", settings.display());
    project.sh(&line).exits(0).says("this run proves nothing about test").says("script-shell=/bin/true");
    assert_eq!(reasons(&project.verdict(), "tests"), ["masked"]);
    project.sh(&format!("{path} gate run test")).exits(0).says("this proves test for this commit");
    project.check().exits(0);
}

#[test]
fn a_task_runner_passes_the_hooks_of_its_test_runners_on() {
    let project = declared("rake test");
    project.repo.write("Rakefile", "require 'rake/testtask'\n").commit_all("test: tasks");
    project.edit("two");
    let row = |words: &str| format!("echo '[{words}]' >> \"$GATE_TEST_REPORT\"; ");
    let (begins, test) = (row(r#""begin","ends""#), row(r#""passed","CalcTest#test_add""#));
    let ends = row("\"end\",\"\"") + &row("\"complete\",\"\"");
    let run = |script: &str| {
        let (_bin, path) = stands_in("rake", script);
        project.sh(&format!("{path} gate run test")).exits(0)
    };
    run(&format!("{begins}{test}{ends}")).says("this proves test for this commit");
    project.gate(["status", "--tests"]).says("1 by name");
    run("true").says("proves nothing").says("its output shows no test, and earlier runs of this command named 1 test");
    run(&begins).says("proves nothing").says("began and ended before its tests were done");
}

#[test]
fn a_failed_run_is_called_failed_whatever_lay_beside_it() {
    let project = Project::new().edited("broken");
    fs::write(project.repo.root().join("scratch.sh"), "x\n").expect("written");
    project.gate(["run", "test"]).exits(101);
    project.check().says("failed on this content (exit status 101");
    project.push("git push origin feature").says("failed on this content (exit status 101").never_says("no run of");
}

#[test]
fn a_line_is_explained_as_the_declared_command_that_it_is() {
    let project = Project::new();
    for line in ["sh test.sh", "sh ./test.sh", "timeout 60 sh test.sh"] {
        let said = project.gate(["explain-command", line]).exits(0).says("proves       the declared command test");
        said.never_says("proves       nothing");
        let said = project.gate(["explain-command", line, "--status", "1"]).exits(0);
        said.never_says("the declared command");
    }
    project.gate(["explain-command", "sh other.sh"]).exits(0).says("proves       nothing");
}

#[test]
fn variables_that_run_other_code_first_are_not_handed_on() {
    let project = declared("bash t.sh");
    project.repo.write("t.sh", "set -e\n[ -z \"$NODE_TEST_CONTEXT\" ]\ngrep -q two src/lib.sh\n").commit_all("test: t");
    let run = |name: &str, value: &str| project.gate_with(&[(name, value)], &["run", "test"]);
    let early = project.repo.outside().join("early");
    fs::write(&early, "exit 0\n").expect("a file");
    for (name, value) in
        [("BASH_ENV", early.to_str().expect("a path")), ("SHELLOPTS", "noexec"), ("NODE_TEST_CONTEXT", "child-v8")]
    {
        assert_ne!(run(name, value).says(&format!("{name} was not passed on")).code, 0, "{name}");
    }
    project.edit("two");
    run("NODE_TEST_CONTEXT", "child-v8").exits(0).says("this proves test for this commit");
}

#[test]
fn a_runner_of_cargo_that_stands_in_a_file_proves_nothing() {
    let project = Project::with(&POLICY.replace("sh test.sh", "cargo test"));
    let bin = project.repo.outside().join("bin");
    fs::create_dir(&bin).expect("a directory");
    project.repo.script("../bin/cargo", "#!/bin/sh\necho 'running 1 test'\necho 'test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 1 filtered out'\n");
    let line = format!("PATH={}:$PATH gate run test", bin.display());
    let run = || project.sh(&line).exits(0);
    project.edit("one");
    run().says("this proves test for this commit");
    for file in ["../.cargo/config.toml", ".cargo/config", ".cargo/config.toml"] {
        project.repo.write(file, "[target.'cfg(all())']\nrunner = \"./r.sh\"\n");
        project.edit("more");
        run().says("proves nothing").says("runner");
        project.push("git push origin feature").exits(1).says("nothing shows that its checks passed");
        project.repo.remove(file);
    }
    project.edit("last");
    run().says("this proves test for this commit");
}
