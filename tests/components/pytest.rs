//! The tests of a real pytest by name: the same as its own report, and nobody sees that they were requested.

use std::collections::BTreeMap;
use std::process::Output;

use crate::installed::folder;
use crate::support::TestRepo;

const POLICY: &str =
    "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"python3 -m pytest -p no:cacheprovider\"\n";

const TESTS: &str = r#"
import os, subprocess, sys
import pytest

def test_passes(): pass
def test_fails(): assert 1 == 2
@pytest.mark.skip(reason="later")
def test_skipped(): pass
@pytest.mark.xfail
def test_expected(): assert False
@pytest.mark.parametrize("n", [1, 2])
def test_many(n): assert n < 3
class TestGroup:
    def test_inside(self): pass
@pytest.fixture
def broken(): raise ValueError
def test_setup_fails(broken): pass
def test_environment_is_untouched():
    assert "GATE_TEST_REPORT" not in os.environ
    assert "gate-tests-" not in os.environ.get("PYTHONPATH", "")
    assert not any("gate-tests-" in path for path in sys.path)
    assert subprocess.run([sys.executable, "-c", "import gate_test_report"], capture_output=True).returncode == 1
"#;

/// A repository with these tests, and pytest for its commands.
fn repository() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("gate.toml", POLICY).write("tests/test_all.py", TESTS).write(".gitignore", "__pycache__/\n");
    repo.commit_all("tests");
    repo
}

fn run(repo: &TestRepo, program: &str, args: &[&str]) -> Output {
    let mut command = if program == "gate" { repo.gate(args) } else { repo.command_in(program, repo.root()) };
    if program != "gate" {
        command.args(args);
    }
    command.env("PYTHONPATH", folder("pytest")).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap()
}

/// An output without the times in it.
fn plain(output: &Output) -> String {
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| line.split(" in ").next().unwrap_or(line).to_owned() + "\n").collect()
}

#[test]
fn names_and_results_are_those_of_pytest_and_nothing_else_changes() {
    let repo = repository();
    let bare = run(&repo, "python3", &["-m", "pytest", "-p", "no:cacheprovider"]);
    let seen = run(&repo, "gate", &["run", "test"]);
    assert_eq!(bare.status.code(), Some(1), "{}", plain(&bare));
    assert_eq!(seen.status.code(), bare.status.code());
    assert_eq!(plain(&seen), plain(&bare));

    let log = run(&repo, "gate", &["log", "--json"]);
    let entries = String::from_utf8(log.stdout).unwrap();
    let mut entries = entries.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let tests = entries.rfind(|entry| entry["kind"] == "tests").expect("the tests by name");
    let data = &tests["data"];
    assert_eq!(data["complete"], true, "{data}");
    assert_eq!(
        data["failed"],
        serde_json::json!(["tests/test_all.py::test_fails", "tests/test_all.py::test_setup_fails"])
    );

    let own = run(&repo, "python3", &["-m", "pytest", "-p", "no:cacheprovider", "-rA", "-q"]);
    let own = plain(&own);
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for word in own.lines().filter_map(|line| line.split_once(' ').map(|(word, _)| word)) {
        *counts.entry(word).or_default() += 1;
    }
    let of = |word: &str| counts.get(word).copied().unwrap_or(0);
    let named = of("PASSED") + of("FAILED") + of("ERROR") + of("SKIPPED") + of("XFAIL");
    assert_eq!(data["named"], named, "{own}");
}

#[test]
fn a_test_that_is_no_longer_collected_is_missing() {
    let repo = repository();
    run(&repo, "gate", &["run", "test"]);
    repo.write("conftest.py", "collect_ignore = ['tests/test_all.py']\n");
    repo.write("tests/test_other.py", "def test_other(): pass\n").commit_all("other");
    assert!(run(&repo, "gate", &["run", "test"]).status.success());
    let check = plain(&run(&repo, "gate", &["check"]));
    assert!(check.contains("did not run when `test` passed"), "{check}");
}

/// Commits a script as the declared command, with a test of its own, and returns what `gate run` and `gate check` say.
fn run_script(name: &str, script: &str, test: &str) -> (String, Output) {
    let repo = TestRepo::with_commit();
    let policy = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"./test.sh\"\n";
    repo.write("gate.toml", policy).write(".gitignore", "__pycache__/\nlog\n").write("tests/test_own.py", test);
    repo.write("other/test_other.py", "def test_other(): pass\n").script("test.sh", &format!("#!/bin/sh\n{script}\n"));
    repo.commit_all(name);
    let seen = run(&repo, "gate", &["run", "test"]);
    let text = plain(&seen) + &String::from_utf8_lossy(&seen.stderr);
    (text, run(&repo, "gate", &["check"]))
}

#[test]
fn what_a_script_starts_is_seen() {
    const PASSES: &str = "def test_own(): pass\n";
    const FAILS: &str = "def test_own(): assert False\n";
    const EXITS: &str = "import os\ndef test_own(): os._exit(0)\n";
    let pytest = "python3 -m pytest -q -p no:cacheprovider";
    let started = format!("exec python3 -c 'import subprocess, sys; sys.exit(subprocess.call({:?}.split()))'", pytest);
    for (name, script, test, refused) in [
        ("passes", pytest.to_owned(), PASSES, None),
        ("listed first", format!("{pytest} --collect-only && {pytest}"), PASSES, None),
        ("another path", format!("PYTHONPATH=\"src:$PYTHONPATH\" {pytest}"), PASSES, None),
        ("isolated", format!("PYTHONPATH=\"$PYTHONPATH\" {pytest} && python3 -I -c pass"), PASSES, None),
        ("hidden failure", format!("{pytest} >log 2>&1; true"), FAILS, Some("test_own.py::test_own failed in it")),
        ("ended early", pytest.to_owned(), EXITS, Some("ended before its tests were done")),
        ("ended early below", started, EXITS, Some("ended before its tests were done")),
        ("one of two", format!("{pytest} tests && {pytest} other"), EXITS, Some("ended before its tests were done")),
        ("only listed", format!("{pytest} --collect-only"), PASSES, Some("ran no test")),
        ("only listed by a setting", format!("export PYTEST_ADDOPTS=--co; {pytest}"), PASSES, Some("ran no test")),
    ] {
        let (text, check) = run_script(name, &script, test);
        let words = refused.unwrap_or("this proves test");
        assert!(text.contains(words), "{name}: {text}");
        assert_eq!(check.status.code(), Some(if refused.is_some() { 10 } else { 0 }), "{name}: {text}");
    }
}
