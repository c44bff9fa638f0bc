//! Tests that failed in drafts and on other branches, and scripts that no longer run them.

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
fn a_script_that_no_longer_shows_the_tests_that_failed_proves_nothing() {
    let scene = Scene::new();
    scene.begin_with(&[("calc.py", CALC), ("tests/test_calc.py", TESTS)]);
    scene.repo.write("calc.py", CALC.replace('+', "-"));
    scene.next(&[("tests/test_calc.py::test_add", false), ("tests/test_calc.py::test_twice", true)]);
    scene.repo.write("t.sh", "echo ok\n").commit_all("script");
    assert!(scene.repo.gate(["run", "test"]).output().unwrap().status.success());
    let (through, said) = scene.push();
    assert!(!through && said.contains("its output shows no test"), "{said}");
}

#[test]
fn a_changed_script_is_told_if_its_tests_are_not_counted() {
    const RED: &str = "--- FAIL: TestAdd (0.00s)\nFAIL\nFAIL\tx/calc\t0.01s\nFAIL\n";
    let scene = Scene::new();
    scene.begin_with(&[("calc/calc.go", "package calc\n"), ("calc/calc_test.go", "package calc\n")]);
    scene.repo.write("calc/calc.go", "package calc\n\n// Add.\n").commit_all("next");
    scene.run_outer(RED, 1);
    scene.repo.write("t.sh", "echo ok\n").commit_all("script");
    assert!(scene.repo.gate(["run", "test"]).output().unwrap().status.success());
    let (_, said) = scene.push();
    assert!(said.contains("TestAdd failed on this branch") && said.contains("a change of t.sh can keep it"), "{said}");
}

#[test]
fn a_suite_that_names_no_test_and_passes_after_only_its_scripts_changed_is_told() {
    const CODE: &str = "echo $(($1 + $2))\n";
    const SUITE: &str = "[ \"$(sh calc.sh 1 2)\" = 3 ] || { echo wrong; exit 1; }\n";
    let cases = [
        ("the script ends early", vec![("t.sh", format!("exit 0\n{SUITE}"))], Some("t.sh")),
        ("other values", vec![("t.sh", SUITE.replace('3', "-1"))], Some("t.sh")),
        ("a file beside it", vec![("tests/extra.sh", "true\n".to_owned())], None),
        ("the code", vec![("calc.sh", format!("# The sum.\n{CODE}"))], None),
        (
            "code and script",
            vec![("calc.sh", format!("# The sum.\n{CODE}")), ("t.sh", format!("# Sums.\n{SUITE}"))],
            None,
        ),
    ];
    for ((what, changed, told), is_committed) in cases.iter().flat_map(|case| [(case, true), (case, false)]) {
        let scene = Scene::new();
        scene.begin_with(&[("calc.sh", CODE), ("t.sh", SUITE)]);
        scene.repo.write("calc.sh", CODE.replace('+', "-"));
        if is_committed {
            scene.repo.commit_all("break it");
        }
        assert_eq!(scene.repo.gate(["run", "test"]).output().unwrap().status.code(), Some(1), "{what}");
        for (path, text) in changed {
            scene.repo.write(path, text);
        }
        scene.repo.commit_all("next");
        let passes = scene.repo.gate(["run", "test"]).output().unwrap().status.success();
        let (through, said) = scene.push();
        assert_eq!(through, passes, "{what}: {said}");
        let sentence = told.map(|path| format!("`sh t.sh` failed, and passed after only its tests changed: {path}"));
        assert!(sentence.as_ref().is_none_or(|sentence| said.contains(sentence)), "{what}: {said}");
        assert_eq!(said.contains("after only its tests changed"), told.is_some(), "{what}: {said}");
    }
}

#[test]
fn the_source_of_a_test_program_belongs_to_the_tests() {
    const MAKE: &str = "test: t\n\t./t\nt: t.c calc.c\n\t$(CC) -o t t.c calc.c\n";
    const CALC: &str = "int add(int a, int b) { return a + b; }\n";
    const T: &str = "int add(int, int);\nint main(void) { return add(1, 2) != 3; }\n";
    for (changed, text, told) in
        [("t.c", T.replace('3', "-1"), true), ("calc.c", format!("/* Sums. */\n{CALC}"), false)]
    {
        let project = Project::with("version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"make test\"\n");
        project.repo.write("Makefile", MAKE).write("calc.c", CALC).write("t.c", T).write(".gitignore", "/t\n");
        project.repo.commit_all("feat: sums");
        project.repo.write("calc.c", CALC.replace('+', "-")).commit_all("break it");
        project.gate(["run", "test"]);
        project.repo.write(changed, text).commit_all("next");
        project.gate(["run", "test"]).exits(0);
        let said = project.push("git push origin HEAD:feature").exits(0);
        assert_eq!(said.err.contains("passed after only its tests changed: t.c"), told, "{said:?}");
    }
}

#[test]
fn a_suite_that_is_being_written_is_not_told() {
    let scene = Scene::new();
    scene.begin_with(&[("t.sh", "sh calc.sh 1 2 | grep -qx 3\n"), ("calc.sh", "echo $(($1 + $2))\n")]);
    scene.repo.write("notes.sh", "# one\n").commit_all("next");
    scene.repo.write("t.sh", "sh calc.sh 1 2 | grep -qx 4\n");
    assert_eq!(scene.repo.gate(["run", "test"]).output().unwrap().status.code(), Some(1));
    scene.repo.write("t.sh", "sh calc.sh 2 2 | grep -qx 4\n").commit_all("another sum");
    assert!(scene.repo.gate(["run", "test"]).output().unwrap().status.success());
    let (through, said) = scene.push();
    assert!(through && !said.contains("after only its tests changed"), "{said}");
}
