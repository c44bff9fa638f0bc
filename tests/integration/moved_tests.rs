//! A failed test that was moved or renamed: it must still call the same code, and reach the same assertions.

use std::fmt::Write as _;

use crate::failed_tests::Scene;
use crate::project::Project;

const CALC: &str = "def add(a, b):\n    return a - b\n\n\ndef half(a):\n    return a // 2\n";
const FIXED: &str = "def add(a, b):\n    return a + b\n\n\ndef half(a):\n    return a // 2\n";
const OTHERS: &str = "from calc import add\n\n\ndef test_twice():\n    assert add(2, 0) == 2\n";
const TEST: &str = "def test_add():\n    assert add(1, 2) == 3\n";

/// Lets `test_add` fail, makes the changes, lets `passed` pass, and returns the answer of the push.
fn push_after(changes: &[(&str, &str)], passed: &str) -> (bool, String) {
    let scene = Scene::new();
    let tests = format!("{OTHERS}\n\n{TEST}");
    scene.begin_with(&[("calc.py", FIXED), ("tests/test_numbers.py", &tests)]);
    scene.repo.write("calc.py", CALC);
    scene.next(&[("tests/test_numbers.py::test_add", false), ("tests/test_numbers.py::test_twice", true)]);
    for (path, text) in changes {
        scene.repo.write(path, text);
    }
    scene.next(&[(passed, true), ("tests/test_numbers.py::test_twice", true)]);
    scene.push()
}

#[test]
fn a_test_in_another_file_is_the_same_one_if_nothing_hides_what_it_asserts() {
    let moved = |test: &str| format!("from calc import add\n\n\n{test}");
    let body = |lines: &str| format!("def test_add():\n{lines}");
    for (what, test, through) in [
        ("as it was", moved(TEST), true),
        ("under another name", moved(&TEST.replace("test_add", "test_sum")), true),
        ("with a fixture of its own", moved(&format!("def numbers():\n    return 1, 2\n\n\n{TEST}")), true),
        ("behind a return", moved(&body("    return\n    assert add(1, 2) == 3\n")), false),
        ("in a condition", moved(&body("    if False:\n        assert add(1, 2) == 3\n")), false),
        ("in a function that nobody calls", moved(&body("    def later():\n        assert add(1, 2) == 3\n")), false),
        ("expected to raise", moved(&body("    with raises(AssertionError):\n        assert add(1, 2) == 3\n")), false),
        ("of another function", moved(&body("    add = lambda a, b: 3\n    assert add(1, 2) == 3\n")), false),
        ("of a parameter", moved(&TEST.replace("test_add()", "test_add(add)")), false),
        ("of a function in its file", moved(&format!("def add(a, b):\n    return 3\n\n\n{TEST}")), false),
        ("of a value in its file", moved(&format!("add = int.__add__\n\n\n{TEST}")), false),
        ("of a copy", format!("from calc_copy import add\n\n\n{TEST}"), false),
        ("of a second import", format!("from calc import add\nfrom operator import add\n\n\n{TEST}"), false),
        ("of all names of a module", format!("from calc import add\nfrom operator import *\n\n\n{TEST}"), false),
        ("of a module that replaces it", format!("import aaa\nfrom calc import add\n\n\n{TEST}"), false),
        ("of a decorator", moved(&format!("@off\n{TEST}")), false),
        ("of another meaning of its name", moved(&format!("{TEST}\n\ntest_add = lambda: None\n")), false),
        (
            "of a value by its text",
            moved(&format!("import operator\nglobals()['add'] = operator.add\n\n\n{TEST}")),
            false,
        ),
        ("with other arguments", moved(&TEST.replace("add(1, 2) == 3", "add(0, 0) == 0")), false),
    ] {
        let name = if test.contains("test_sum") { "test_sum" } else { "test_add" };
        let calc = if through { FIXED } else { CALC };
        let changes = [
            ("calc.py", calc),
            ("calc_copy.py", FIXED),
            ("tests/aaa.py", "import calc\n\ncalc.add = lambda a, b: a + b\n"),
            ("tests/test_numbers.py", OTHERS),
            ("tests/test_sums.py", &test),
        ];
        let (passed, said) = push_after(&changes, &format!("tests/test_sums.py::{name}"));
        assert_eq!(passed, through, "{what}: {said}");
        assert!(through || said.contains("test_add failed on this branch"), "{what}: {said}");
    }
}

#[test]
fn a_test_may_follow_its_code_to_another_module() {
    let moved = format!("from sums import add\n\n\n{TEST}");
    let changes = [
        ("calc.py", ""),
        ("sums.py", FIXED),
        ("tests/test_numbers.py", "def test_twice():\n    pass\n"),
        ("tests/test_sums.py", &moved),
    ];
    let (passed, said) = push_after(&changes, "tests/test_sums.py::test_add");
    assert!(passed, "{said}");
}

#[test]
fn a_test_that_imports_a_copy_of_its_code_is_reported() {
    let tests = format!("{OTHERS}\n\n{TEST}").replace("from calc", "from lib.calc");
    let changes = [("lib/calc.py", FIXED), ("tests/test_numbers.py", &tests)];
    let (passed, said) = push_after(&changes, "tests/test_numbers.py::test_add");
    assert!(passed && said.contains("both the code and the test itself changed"), "{said}");
}

#[test]
fn another_test_of_the_same_name_does_not_answer_for_a_failed_one() {
    let test = |call: &str| format!("use calc::add;\n\n#[test]\nfn adds() {{\n    assert_eq!({call}, 5);\n}}\n");
    let other = "use calc::sub;\n\n#[test]\nfn subtracts() {\n    assert_eq!(sub(7, 0), 7);\n}\n";
    for (what, answer, through) in [
        ("the same test", test("add(2, 3)"), true),
        ("another test", test("sub(5, 0)").replace("use calc::add", "use calc::sub"), false),
    ] {
        let scene = Scene::new();
        scene.begin_with(&[("tests/calc.rs", &test("add(2, 3)")), ("tests/other.rs", other), ("src/lib.rs", "// 1\n")]);
        scene.repo.write("src/lib.rs", "// 2\n");
        scene.run_as_cargo(&[("adds", false), ("subtracts", true)]);
        scene.repo.remove("tests/calc.rs").write("src/lib.rs", "// 3\npub fn one() {}\n");
        scene.repo.write("tests/other.rs", format!("{other}\n{answer}"));
        scene.run_as_cargo(&[("adds", true), ("subtracts", true)]);
        let (passed, said) = scene.push();
        assert_eq!(passed, through, "{what}: {said}");
    }
}

impl Scene {
    /// Commits what is there, and runs the suite, which prints what the binaries of `cargo test` print.
    fn run_as_cargo(&self, tests: &[(&str, bool)]) {
        self.repo.commit_all("next");
        let failed = tests.iter().filter(|(_, passed)| !passed).count();
        let mut output = format!("running {} tests\n", tests.len());
        for (name, passed) in tests {
            let _ = writeln!(output, "test {name} ... {}", if *passed { "ok" } else { "FAILED" });
        }
        let word = if failed == 0 { "ok" } else { "FAILED" };
        let passed = tests.len() - failed;
        let counts = "0 ignored; 0 measured; 0 filtered out; finished in 0.00s";
        let _ = writeln!(output, "\ntest result: {word}. {passed} passed; {failed} failed; {counts}");
        self.run_outer(&output, if failed == 0 { 0 } else { 101 });
    }
}

#[test]
fn a_start_file_of_python_in_the_project_is_not_taken_for_that_of_gate() {
    let policy = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"python3 -m unittest -q test_calc\"\n";
    let project = Project::with(policy);
    let test =
        "import unittest\nclass T(unittest.TestCase):\n    def test_add(self):\n        self.assertEqual(1 + 2, 3)\n";
    project.repo.write("test_calc.py", test).write("sitecustomize.py", "# The first line.\n");
    project.repo.write(".gitignore", "__pycache__/\n").commit_all("feat: calc");
    project.sh("gate run test").exits(0).says("this proves test");
    project.repo.write("sitecustomize.py", "# Another line.\n").commit_all("fix: comment");
    project.sh("gate run test").exits(0).says("this proves test");
}

#[test]
fn a_test_that_became_part_of_a_larger_one_is_reported() {
    let table = |rows: &str| {
        let marks = format!("@pytest.mark.parametrize('a, b, sum', [{rows}])\n");
        format!("import pytest\n{OTHERS}\n\n{marks}def test_sums(a, b, sum):\n    assert add(a, b) == sum\n")
    };
    let merged = format!("{OTHERS}\n\ndef test_all():\n    assert add(2, 2) == 4\n    assert add(1, 2) == 3\n");
    for (what, tests, name, through) in [
        ("a row of a table", table("(1, 2, 3), (2, 2, 4)"), "test_sums[1-2-3]", true),
        ("a larger test", merged, "test_all", true),
        ("a row with other values", table("(1, 2, -1)"), "test_sums[1-2--1]", false),
    ] {
        let changes = [("calc.py", FIXED), ("tests/test_numbers.py", &tests)];
        let (passed, said) = push_after(&changes, &format!("tests/test_numbers.py::{name}"));
        assert_eq!(passed, through, "{what}: {said}");
        assert!(!through || said.contains("passed instead"), "{what}: {said}");
    }
}

#[test]
fn a_renamed_test_that_expects_another_text_is_not_the_same_one() {
    for (text, through) in [("hello", true), ("helo", false)] {
        let scene = Scene::new();
        let test = |name: &str, text: &str| {
            format!("from hi import hi\n\n\ndef {name}():\n    assert hi() == \"{text}\", \"a greeting\"\n")
        };
        scene.begin_with(&[("hi.py", "# 1\n"), ("tests/test_hi.py", &test("test_hi", "hello"))]);
        scene.repo.write("hi.py", "# 2\n");
        scene.next(&[("tests/test_hi.py::test_hi", false), ("tests/test_b.py::test_b", true)]);
        scene.repo.write("hi.py", "# 3\n").write("tests/test_hi.py", test("test_greeting", text));
        scene.next(&[("tests/test_hi.py::test_greeting", true), ("tests/test_b.py::test_b", true)]);
        let (passed, said) = scene.push();
        assert_eq!(passed, through, "{text}: {said}");
    }
}

#[test]
fn a_test_may_move_into_the_file_of_its_code() {
    let test = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
    let code = "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n";
    let inside = |head: &str| {
        format!("{code}\n#[cfg(test)]\nmod tests {{\n    {head}\n\n    {}}}\n", test.replace('\n', "\n    "))
    };
    for (text, through) in [(inside("use super::*;"), true), (inside("fn add(a: u8, b: u8) -> u8 { 3 }"), false)] {
        let scene = Scene::new();
        scene.begin_with(&[("src/lib.rs", code), ("tests/a.rs", &format!("use calc::add;\n\n{test}"))]);
        scene.repo.write("src/lib.rs", code.replace("a + b", "a - b"));
        scene.run_as_cargo(&[("adds", false), ("other", true)]);
        scene.repo.remove("tests/a.rs").write("src/lib.rs", text);
        scene.run_as_cargo(&[("tests::adds", true), ("other", true)]);
        let (passed, said) = scene.push();
        assert_eq!(passed, through, "{said}");
    }
}
