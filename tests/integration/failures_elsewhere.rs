//! Tests that failed in drafts and on other branches: what is told of them, and when.

use crate::failed_tests::Scene;
use crate::project::Project;

const CALC: &str = "def add(a, b):\n    return a + b\n";
const TESTS: &str = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";

#[test]
fn the_same_code_on_another_branch_has_the_same_failures() {
    for (what, other, expected) in [
        ("the code that failed", CALC.replace('+', "-"), false),
        ("other code", CALC.replace("a + b", "sum((a, b))"), true),
    ] {
        let scene = Scene::new();
        scene.begin_with(&[("calc.py", CALC), ("tests/test_calc.py", TESTS)]);
        scene.repo.write("calc.py", CALC.replace('+', "-"));
        scene.next(&[("tests/test_calc.py::test_add", false)]);
        scene.repo.git(["branch", "-q", "-m", "feature", "old"]);
        scene.repo.git(["switch", "-q", "-c", "feature", "main"]);
        scene.repo.write("calc.py", &other).write("tests/test_calc.py", format!("# {what}\n{TESTS}"));
        scene.next(&[("tests/test_calc.py::test_other", true)]);
        let (through, said) = scene.push();
        assert_eq!(through, expected, "{what}: {said}");
        assert_eq!(said.contains("test_add failed on this branch"), !expected, "{what}: {said}");
    }
}

#[test]
fn a_test_in_a_new_file_that_calls_something_else_is_another_test() {
    for (what, text, is_told) in [
        ("it is moved", TESTS.to_owned(), false),
        ("it is moved and renamed", TESTS.replace("test_add", "test_adds_numbers"), false),
        ("it calls a copy", TESTS.replace("from calc import add\n", "def add(a, b):\n    return a + b\n"), true),
    ] {
        let scene = Scene::new();
        scene.begin_with(&[("calc.py", CALC), ("tests/test_calc.py", TESTS)]);
        scene.repo.write("notes.md", what).write("data.txt", what);
        scene.next(&[("tests/test_calc.py::test_add", false)]);
        scene.repo.git(["rm", "-q", "tests/test_calc.py"]);
        let name = if text.contains("test_adds_numbers") { "test_adds_numbers" } else { "test_add" };
        scene.repo.write("tests/test_sums.py", text);
        scene.next(&[(&format!("tests/test_sums.py::{name}"), true)]);
        let (_, said) = scene.push();
        assert_eq!(said.contains("test_add failed on this branch"), is_told, "{what}: {said}");
    }
}

#[test]
fn a_draft_that_was_thrown_away_is_told_at_one_push() {
    let scene = Scene::new();
    scene.begin_with(&[("calc.py", CALC), ("tests/test_calc.py", TESTS)]);
    scene.repo.write("calc.py", "# one\n");
    scene.next(&[("tests/test_calc.py::test_add", true)]);
    scene
        .repo
        .write("tests/test_calc.py", format!("{TESTS}\n\ndef test_draft():\n    assert add(2, 2) == add(1, 9)\n"));
    scene.run_listed(&[("tests/test_calc.py::test_draft", false)]);
    scene.repo.git(["checkout", "-q", "--", "."]);
    let mut told = Vec::new();
    for content in ["# two\n", "# three\n", "# four\n"] {
        scene.repo.write("calc.py", content);
        scene.next(&[("tests/test_calc.py::test_add", true)]);
        let (through, said) = scene.push();
        assert!(through, "{said}");
        told.push(said.contains("test_draft failed on this branch"));
    }
    assert_eq!(told, [true, false, false]);
}

#[test]
fn a_run_that_finds_nothing_to_do_takes_nothing_from_the_one_before() {
    const MAKEFILE: &str = "check: stamp\nstamp: test.sh\n\tsh test.sh\n\ttouch stamp\n";
    let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make check\"\n");
    project.repo.write("Makefile", MAKEFILE).write(".gitignore", "stamp\n").commit_all("make");
    project.repo.write("test.sh", "echo '3 passed in 0.01s'\n").commit_all("tests");
    project.gate(["run", "test"]).exits(0);
    project.gate(["check"]).exits(0);
    project.gate(["run", "--", "make check"]);
    project.gate(["check"]).exits(0).never_says("executed no test");
}
