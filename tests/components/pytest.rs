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
    assert "PYTEST_PLUGINS" not in os.environ
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
