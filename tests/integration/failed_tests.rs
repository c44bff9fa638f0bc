//! A test that failed must later pass under its name: each way to silence it, and honest work beside them.

use std::process::Output;

use crate::client_session::Session;
use crate::project::Project;
use crate::support::{TestRepo, path_with_gate};

const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n";
const TESTS: &str = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n\ndef test_twice():\n    \
                     assert add(2, 2) == 4\n";

/// A repository whose suite prints what the file `out` holds and ends with the status in `status`.
pub(crate) struct Scene {
    pub(crate) repo: TestRepo,
}

impl Scene {
    pub(crate) fn new() -> Self {
        let repo = TestRepo::with_commit();
        repo.write("t.sh", "cat out\nexit $(cat status)\n").write("gate.toml", POLICY).write("calc.py", "a\n");
        repo.write("tests/test_calc.py", TESTS).write("out", "").write("status", "0\n").commit_all("policy");
        repo.add_bare_remote("origin");
        repo.git(["push", "-q", "origin", "main"]);
        repo.git(["remote", "set-head", "origin", "main"]);
        let scene = Self { repo };
        assert!(scene.gate(&["init", "--yes"]).status.success());
        scene.repo.git(["switch", "-q", "-c", "feature"]);
        scene
    }

    pub(crate) fn gate(&self, args: &[&str]) -> Output {
        self.repo.gate(args).output().unwrap()
    }

    /// Commits what is there with a suite that prints `output`, and runs it.
    pub(crate) fn run(&self, output: &str, status: u8) {
        self.repo.write("out", output).write("status", format!("{status}\n")).commit_all("next");
        assert_eq!(self.gate(&["run", "test"]).status.code(), Some(i32::from(status)));
    }

    /// Runs the suite that lies outside, which prints `output` and ends with `status`.
    pub(crate) fn run_outer(&self, output: &str, status: u8) {
        self.put_outside(output, status);
        assert_eq!(self.gate(&["run", "test"]).status.code(), Some(i32::from(status)));
    }

    /// Lets a suite print what lies outside, so that its output is not a change of a branch.
    pub(crate) fn put_outside(&self, output: &str, status: u8) {
        self.repo.write("../out", output).write("../status", status.to_string());
    }

    /// `git push` through the hook: whether it went through, and what it said.
    pub(crate) fn push(&self) -> (bool, String) {
        self.push_branch("feature")
    }

    pub(crate) fn push_branch(&self, branch: &str) -> (bool, String) {
        let mut command = self.repo.command_in("git", self.repo.root());
        let output = command.args(["push", "origin", branch]).env("PATH", path_with_gate(None)).output().unwrap();
        (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

pub(crate) const RED: &str = "tests/test_calc.py::test_add FAILED\ntests/test_calc.py::test_twice PASSED\n\
                   FAILED tests/test_calc.py::test_add - assert -1 == 3\n1 failed, 1 passed in 0.02s\n";

#[test]
fn a_failed_test_must_pass_under_its_name() {
    for (what, output, refused) in [
        ("passes", "tests/test_calc.py::test_add PASSED\n1 passed in 0.02s\n", None),
        (
            "skipped",
            "tests/test_calc.py::test_add SKIPPED (later)\n1 passed, 1 skipped in 0.02s\n",
            Some("skipped when"),
        ),
        (
            "expected to fail",
            "tests/test_calc.py::test_add XFAIL\n1 passed, 1 xfailed in 0.02s\n",
            Some("expected to fail"),
        ),
        (
            "passes with all of its new parameters",
            "tests/test_calc.py::test_add[1] PASSED\ntests/test_calc.py::test_add[2] PASSED\n2 passed in 0.02s\n",
            None,
        ),
        (
            "passes with one of its new parameters",
            "tests/test_calc.py::test_add[1] PASSED\ntests/test_calc.py::test_add[2] SKIPPED (later)\n1 passed, 1 skipped in 0.02s\n",
            Some("skipped when"),
        ),
    ] {
        let scene = Scene::new();
        scene.repo.write("calc.py", "b\n");
        scene.run(RED, 1);
        scene.repo.write("calc.py", "c\n");
        scene.run(output, 0);
        let (through, said) = scene.push();
        assert_eq!(through, refused.is_none(), "{what}: {said}");
        assert!(
            refused.is_none_or(|words| said.contains("test_add failed on this branch") && said.contains(words)),
            "{said}"
        );
    }
}

#[test]
fn a_run_with_fewer_tests_than_before_is_noted() {
    let scene = Scene::new();
    let pass = |count: u8| {
        scene.repo.write("calc.py", format!("{count}\n"));
        scene.run(&format!("{count} passed in 0.02s\n"), 0);
        scene.push()
    };
    assert!(!pass(5).1.contains("it ran"));
    let (through, said) = pass(2);
    assert!(through && said.contains("`sh t.sh` ran 2 tests; it ran 5 on "), "{said}");
    let (through, said) = pass(3);
    assert!(through && !said.contains("it ran"), "{said}");
    // What ran on other files than those of the commit says nothing about it.
    scene.repo.write("out", "9 passed in 0.02s\n");
    assert!(scene.gate(&["run", "test"]).status.success());
    let (through, said) = pass(3);
    assert!(through && !said.contains("it ran"), "{said}");
}

#[test]
fn a_test_has_one_name_wherever_pytest_is_started() {
    const PYTEST: &str = "#!/bin/sh\ncase $PWD in */tests) home=;; *) home=tests/;; esac\n\
        if grep -q bad \"$(git rev-parse --show-toplevel)/calc.py\"; then\n  \
        echo \"FAILED ${home}test_calc.py::test_add - x\"; echo '1 failed, 1 passed in 0.02s'; exit 1\nfi\n\
        word=$(cat \"$(git rev-parse --show-toplevel)/word\")\necho \"${home}test_calc.py::test_add $word\"\n\
        echo '2 passed in 0.02s'\n";
    for (red, word, green, through) in [
        ("cd tests && pytest -v", "PASSED", "pytest", true),
        ("pytest", "PASSED", "cd tests && pytest -v", true),
        ("cd tests && pytest", "PASSED", "cd tests && pytest -v", true),
        ("cd tests && pytest -v", "SKIPPED", "pytest", false),
        ("pytest", "SKIPPED", "cd tests && pytest -v", false),
        // A run of one file, or of one test, names it as the whole run does.
        ("pytest -v tests/test_calc.py", "PASSED", "pytest -v", true),
        ("pytest -v tests/test_calc.py", "SKIPPED", "pytest -v", false),
        ("pytest -x -k add", "SKIPPED", "pytest -v", false),
    ] {
        let scene = Scene::new();
        scene.repo.git(["switch", "-q", "main"]);
        scene.repo.write("gate.toml", POLICY.replace("sh t.sh", "pytest")).write("word", word).commit_all("pytest");
        scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        scene.repo.git(["switch", "-q", "-C", "feature"]);
        scene.repo.script("../bin/pytest", PYTEST);
        let bin = scene.repo.outside().join("bin");
        let path = std::env::join_paths(
            std::iter::once(bin).chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
        )
        .unwrap();
        let run = |line: &str, content: &str, status: i32| {
            scene.repo.write("calc.py", content).commit_all(content);
            let output = scene.repo.gate(["run", "--", line]).env("PATH", &path).output().unwrap();
            assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        };
        run(red, "bad\n", 1);
        run(green, "good\n", 0);
        let (passed, said) = scene.push();
        assert_eq!(passed, through, "{red}, then {green}: {said}");
        assert!(through || said.contains("test_add failed on this branch"), "{said}");
    }
}

pub(crate) const OK: &str =
    "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
pub(crate) const RED_LIST: &str =
    "running 2 tests\ntest a::adds ... FAILED\ntest a::twice ... ok\ntest result: FAILED. 1 passed; 1 failed\n";

/// The list of a run without the test that failed in [`RED_LIST`].
pub(crate) fn list_without_it() -> String {
    format!("running 2 tests\ntest a::other ... ok\ntest a::twice ... ok\n{OK}")
}

#[cfg(target_os = "linux")]
#[test]
fn a_person_at_a_terminal_learns_how_to_decide_about_a_test_that_changed_on_purpose() {
    let scene = Scene::new();
    scene.repo.git(["config", "user.name", "Test"]);
    scene.repo.write("calc.py", "b\n");
    scene.run(RED_LIST, 101);
    scene.repo.write("calc.py", "c\n");
    scene.run(&list_without_it(), 0);
    let typed = |line: &str, typed: &str| {
        let mut shell = scene.repo.command_in("sh", scene.repo.root());
        shell.env("PATH", path_with_gate(None));
        crate::terminal::run(shell, line, typed)
    };
    let (code, said) = typed("git push origin feature", "");
    let offer = said.lines().find_map(|line| line.split_once("with a reason: "));
    let Some((_, decide)) = offer.filter(|_| code != 0) else { panic!("{code}: {said}") };
    // Neither an agent nor a pipe is told.
    let (_, to_agent) = typed("CLAUDECODE=1 git push origin feature", "");
    let (through, unseen) = scene.push();
    assert!(!through && !unseen.contains("waive") && !to_agent.contains("waive"), "{unseen}{to_agent}");
    let (code, said) = typed(decide, "y\n");
    assert_eq!(code, 0, "{said}");
    let (through, said) = scene.push();
    assert!(through, "{said}");
    // It holds for that content alone.
    scene.repo.write("calc.py", "d\n");
    scene.run(&list_without_it(), 0);
    assert!(!scene.push().0);
}

#[test]
fn a_complete_list_without_the_failed_test_is_refused_until_it_passes() {
    let scene = Scene::new();
    scene.repo.write("calc.py", "b\n");
    scene.run(
        "running 2 tests\ntest a::adds ... FAILED\ntest a::twice ... ok\ntest result: FAILED. 1 passed; 1 failed\n",
        101,
    );
    scene.repo.write("calc.py", "c\n");
    let ok = "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    scene.run(&format!("running 2 tests\ntest a::other ... ok\ntest a::twice ... ok\n{ok}"), 0);
    let (through, said) = scene.push();
    assert!(!through && said.contains("a::adds failed on this branch and did not run"), "{said}");
    // The remedy: it runs again and passes.
    scene.repo.write("calc.py", "d\n");
    scene.run(&format!("running 2 tests\ntest a::adds ... ok\ntest a::twice ... ok\n{ok}"), 0);
    let (through, said) = scene.push();
    assert!(through, "{said}");
    let log = String::from_utf8(scene.gate(&["log"]).stdout).unwrap();
    for words in
        ["tests failed: a::adds", "failed before, did not run now: a::adds", "failed before, passed now: a::adds"]
    {
        assert!(log.contains(words), "{words}: {log}");
    }
}

#[test]
fn the_tests_of_a_command_and_the_history_of_one_are_shown() {
    let scene = Scene::new();
    let shown = |args: &[&str]| {
        let output = scene.gate(args);
        let text = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        (output.status.code(), text)
    };
    assert!(shown(&["status", "--tests"]).1.contains("test: its tests are not known by name"));
    scene.run(RED, 1);
    scene.run(
        "tests/test_calc.py::test_add PASSED\ntests/test_calc.py::test_twice SKIPPED (later)\n1 passed in 0.02s\n",
        0,
    );
    let (_, tests) = shown(&["status", "--tests"]);
    for words in [
        "test: 2 by name, 1 passed, 0 failed, 1 skipped; there may be others",
        "skipped  tests/test_calc.py::test_twice",
    ] {
        assert!(tests.contains(words), "{words}: {tests}");
    }
    let (code, history) = shown(&["log", "--test", "test_add"]);
    assert_eq!(code, Some(0), "{history}");
    for words in ["tests/test_calc.py::test_add\n  first seen ", "failed in test on ", "passed in test on ", ": next)"]
    {
        assert!(history.contains(words), "{words}: {history}");
    }
    assert!(!history.contains("on the same content"), "{history}");
    // The same content, both results.
    scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").commit_all("suite");
    for (output, status) in [(RED, 1), ("tests/test_calc.py::test_add PASSED\n1 passed in 0.02s\n", 0)] {
        scene.repo.write("../out", output).write("../status", format!("{status}\n"));
        assert_eq!(scene.gate(&["run", "test"]).status.code(), Some(status));
    }
    let (_, history) = shown(&["log", "--test", "test_add"]);
    assert!(history.contains("\n  passed and failed on the same content, tree "), "{history}");
    let flaky = "passes and fails on the same content  tests/test_calc.py::test_add";
    assert!(shown(&["status", "--tests"]).1.contains(flaky));
    let (_, verdict) = shown(&["check"]);
    let named = "after 1 failed run on the same content, in which these tests failed: tests/test_calc.py::test_add";
    assert!(verdict.contains(named), "{verdict}");
    let (code, several) = shown(&["log", "--test", "test_calc"]);
    assert_eq!(code, Some(65), "{several}");
    assert!(several.contains("2 tests are named like `test_calc`: tests/test_calc.py::test_add, "), "{several}");
    let (code, none) = shown(&["log", "--test", "test_none"]);
    assert!(code == Some(65) && none.contains("no recorded run names a test like `test_none`"), "{none}");
}

#[test]
fn a_renamed_test_is_the_same_test_if_it_asserts_the_same() {
    let output = |name: &str| format!("running 2 tests\ntest {name} ... ok\ntest twice ... ok\n1 passed in 0.02s\n");
    let red = "running 2 tests\ntest adds ... FAILED\ntest twice ... ok\n1 failed, 1 passed in 0.02s\n";
    let source = "#[test]\nfn adds() {\n    let sum = add(1, 2);\n    assert_eq!(sum, 3);\n}\n";
    for (renamed, through) in [
        (source.replace("fn adds", "fn adds_small_numbers"), true),
        (source.replace("fn adds", "fn adds_small_numbers").replace("sum, 3", "3, 3"), false),
    ] {
        let scene = Scene::new();
        scene.repo.write("tests/adds.rs", source);
        scene.run(red, 1);
        scene.repo.write("tests/adds.rs", &renamed).write("calc.py", "c\n");
        scene.run(&output("adds_small_numbers"), 0);
        let (passed, said) = scene.push();
        assert_eq!(passed, through, "{renamed}: {said}");
    }
}

#[test]
fn a_test_that_was_split_is_not_missed_if_every_assertion_is_left() {
    let test = |name: &str, lines: &[&str]| format!("#[test]\nfn {name}() {{\n    {}\n}}\n\n", lines.join("\n    "));
    let (one, two, three) = ("assert_eq!(add(1, 2), 3);", "assert_eq!(add(2, 2), 4);", "assert_eq!(add(0, 4), 4);");
    for (second, through) in [(two, true), (three, false)] {
        let scene = Scene::new();
        scene.repo.write("tests/adds.rs", test("adds", &[one, two]));
        scene.run("running 1 test\ntest adds ... FAILED\n1 failed, 0 passed in 0.02s\n", 1);
        scene
            .repo
            .write("tests/adds.rs", test("adds_one", &[one]) + &test("adds_two", &[second]))
            .write("calc.py", "c\n");
        scene.run("running 2 tests\ntest adds_one ... ok\ntest adds_two ... ok\n2 passed in 0.02s\n", 0);
        let (passed, said) = scene.push();
        assert_eq!(passed, through, "{second}: {said}");
    }
}

#[test]
fn a_test_whose_title_or_group_has_another_name_is_the_same_test() {
    let source = "describe('calc', () => {\n  it('adds', () => { expect(add(1, 2)).toBe(3); });\n});\n";
    let printed =
        |name: &str, word: &str| format!("running 1 test\ntest sums.test.js::{name} ... {word}\n1 passed in 0.02s\n");
    for (changed, name, other) in [
        (source.replace("'adds'", "'adds two numbers'"), "calc > adds two numbers", false),
        (source.replace("'calc'", "'sums'"), "sums > adds", false),
        (source.replace("'adds'", "'adds two numbers'").replace("toBe(3)", "toBe(4)"), "calc > adds two numbers", true),
        (source.replace("'calc'", "'sums'").replace("toBe(3)", "toBe(4)"), "sums > adds", true),
    ] {
        let scene = Scene::new();
        scene.repo.write("sums.test.js", source);
        scene.run(&printed("calc > adds", "FAILED").replace("1 passed", "1 failed"), 1);
        scene.repo.write("sums.test.js", &changed).write("calc.py", "c\n");
        scene.run(&printed(name, "ok"), 0);
        let (through, said) = scene.push();
        // What it expects is another value, of code that changed: that is told.
        assert!(through && said.contains("passed instead and expects different results") == other, "{changed}: {said}");
    }
}

/// The output of a suite that names all of its tests.
fn listed(tests: &[(&str, bool)]) -> String {
    let lines =
        tests.iter().map(|(name, passed)| format!("test {name} ... {}\n", if *passed { "ok" } else { "FAILED" }));
    let failed = tests.iter().filter(|(_, passed)| !passed).count();
    let result = if failed == 0 { "ok" } else { "FAILED" };
    let passed = tests.len() - failed;
    format!(
        "running {} tests\n{}test result: {result}. {passed} passed; {failed} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n",
        tests.len(),
        lines.collect::<String>()
    )
}

impl Scene {
    /// Lets `files` be on the default branch, with a suite whose output lies outside.
    pub(crate) fn begin_with(&self, files: &[(&str, &str)]) {
        self.repo.git(["switch", "-q", "main"]);
        self.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n");
        for (path, text) in files {
            self.repo.write(path, text);
        }
        self.repo.commit_all("feat: start");
        self.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        self.repo.git(["switch", "-q", "-C", "feature"]);
    }

    /// Commits what is there, and runs the suite.
    pub(crate) fn next(&self, tests: &[(&str, bool)]) {
        self.repo.commit_all("next");
        self.run_listed(tests);
    }

    /// Runs the suite on what is there.
    pub(crate) fn run_listed(&self, tests: &[(&str, bool)]) {
        self.run_outer(&listed(tests), if tests.iter().all(|(_, passed)| *passed) { 0 } else { 101 });
    }
}

#[test]
fn a_test_may_change_its_name_with_the_code_that_it_calls_and_its_values_with_what_the_code_does() {
    const ADD: &str = "def add(a, b):\n    return a + b\n";
    let plus = ADD.replace("def add", "def plus");
    let both = format!("{ADD}\n\ndef plus(a, b):\n    return 3\n");
    let other = plus.replace("a + b", "sum((a, b))");
    let negative = ADD.replace("a + b", "a - b");
    let renamed = TESTS.replace("test_add", "test_plus");
    let with_callee = renamed.replace("add(", "plus(");
    let (silent, told, refused) = ((true, false), (true, true), (false, false));
    for (what, calc, tests, expected) in [
        ("what it calls has the same new name", plus.as_str(), with_callee.clone(), silent),
        ("what it calls has other lines, too", &other, with_callee.clone(), told),
        ("it expects what the code gives now", &negative, renamed.replace("== 3", "== -1"), told),
        ("it expects less", &negative, renamed.replace("== 3", "is not None"), refused),
        ("it calls something else", &both, with_callee.clone(), refused),
        ("it is empty", &plus, renamed.replace("assert add(1, 2) == 3", "pass"), refused),
        ("the code is the same", ADD, renamed.replace("== 3", "== -1"), refused),
    ] {
        let scene = Scene::new();
        scene.begin_with(&[("calc.py", ADD), ("tests/test_sums.py", TESTS)]);
        // The code first: the old test fails.
        scene.repo.write("calc.py", calc).write("notes.md", what);
        scene.next(&[("tests/test_sums.py::test_add", false), ("tests/test_sums.py::test_twice", true)]);
        scene.repo.write("tests/test_sums.py", tests);
        scene.next(&[("tests/test_sums.py::test_plus", true), ("tests/test_sums.py::test_twice", true)]);
        let (through, said) = scene.push();
        let is_told = ["passed instead and expects different results", "makes the same assertions"];
        let is_told = is_told.iter().any(|words| said.contains(words));
        assert_eq!((through, is_told), expected, "{what}: {said}");
        assert_eq!(said.contains("failed on this branch"), expected != silent, "{what}: {said}");
    }
}

#[test]
fn a_test_with_parameters_may_become_a_loop_over_the_same_values() {
    const WITH: &str = "CASES = [(0, 1), (1, 2)]\n\n\n@pytest.mark.parametrize(\"x, y\", CASES)\ndef test_inc(x, y):\n    assert inc(x) == y\n";
    const LOOP: &str =
        "CASES = [(0, 1), (1, 2)]\n\n\ndef test_inc():\n    for x, y in CASES:\n        assert inc(x) == y\n";
    for (text, through) in [(LOOP.to_owned(), true), (LOOP.replace(", (1, 2)", ""), false)] {
        let scene = Scene::new();
        scene.begin_with(&[("tests/test_inc.py", WITH)]);
        scene.repo.write("calc.py", "b\n");
        scene.next(&[("tests/test_inc.py::test_inc[0-1]", true), ("tests/test_inc.py::test_inc[1-2]", false)]);
        scene.repo.write("tests/test_inc.py", &text).write("calc.py", "c\n");
        scene.next(&[("tests/test_inc.py::test_inc", true)]);
        let (passed, said) = scene.push();
        assert_eq!((passed, said.contains("with a loop in place of the parameters")), (through, through), "{said}");
    }
}

#[test]
fn a_file_of_tests_that_are_alike_can_be_moved() {
    const ALIKE: &str = "def test_dict():\n    c = {}\n    assert f(c) == 3\n\n\ndef test_lru():\n    c = Lru()\n    assert f(c) == 3\n";
    let without = ALIKE.split("\n\n\n").next().unwrap();
    let changed = ALIKE.replace("Lru()\n", "Lru()\n    assert c.size == 0\n").replace("f(c) == 3", "f(c) == 4");
    let empty = ALIKE.replace("Lru()\n    assert f(c) == 3", "Lru()\n    f(c)");
    for (text, through) in [(ALIKE, true), (without, false), (changed.as_str(), true), (empty.as_str(), false)] {
        let scene = Scene::new();
        scene.begin_with(&[("tests/test_method.py", ALIKE)]);
        scene.repo.write("calc.py", "b\n");
        scene.next(&[("tests/test_method.py::test_dict", true), ("tests/test_method.py::test_lru", false)]);
        scene.repo.remove("tests/test_method.py").write("tests/test_cached.py", text).write("calc.py", "c\n");
        let all = [("tests/test_cached.py::test_dict", true), ("tests/test_cached.py::test_lru", true)];
        scene.next(if through { &all } else { &all[..1] });
        let (passed, said) = scene.push();
        let is_told = said.contains("test_lru failed on this branch");
        assert_eq!((passed, is_told), (through, text != ALIKE), "{said}");
    }
}

#[test]
fn a_test_that_a_class_inherits_can_go_with_the_code_of_the_class() {
    const LRU: &str = "def lru(x):\n    return x + 1\n";
    const CLASS: &str =
        "from cache import mru\nfrom tests import Mixin\n\n\nclass TestMru(Mixin):\n    make = staticmethod(mru)\n";
    let both = format!("{LRU}\n\ndef mru(x):\n    return x - 1\n");
    for (cache, through) in [(LRU, true), (&both, false)] {
        let scene = Scene::new();
        scene.begin_with(&[("cache.py", &both), ("tests/test_mru.py", CLASS)]);
        scene.repo.write("cache.py", both.replace("- 1", "- y"));
        scene
            .next(&[("tests/test_lru.py::TestLru::test_type", true), ("tests/test_mru.py::TestMru::test_type", false)]);
        scene.repo.write("cache.py", cache).remove("tests/test_mru.py");
        scene.next(&[("tests/test_lru.py::TestLru::test_type", true)]);
        let (passed, said) = scene.push();
        assert_eq!((passed, said.contains("is gone, too")), (through, through), "{said}");
    }
}

#[test]
fn a_test_that_was_moved_to_where_nothing_collects_it_did_not_go_with_its_work() {
    const TESTS: &str =
        "describe('calc', () => {\n it('adds', () => {\n  assert.strictEqual(add(1, 2), 3);\n });\n});\n";
    const BATS: &str = "@test \"adds\" {\n  . ./calc.sh\n  [ \"$(add 1 2)\" = 3 ]\n}\n";
    for (code, text, from, to, tests, name) in [
        (
            "src/calc.js", "exports.add=(a,b)=>a+b;\n", "test/calc.test.js", "test/unit/calc.test.js", TESTS,
            "calc > adds",
        ),
        ("src/calc.js", "exports.add=(a,b)=>a+b;\n", "test/calc.test.js", "lib/calc.txt", TESTS, "calc > adds"),
        ("src/calc.js", "exports.add=(a,b)=>a+b;\n", "test/calc.test.js", "", TESTS, "calc > adds"),
        ("calc.sh", "add() { echo $(($1+$2)); }\n", "test/calc.bats", "test/unit/calc.bats", BATS, "adds"),
    ] {
        let scene = Scene::new();
        scene.begin_with(&[(code, text), (from, tests)]);
        scene.repo.write(code, text.replace('+', "-"));
        let failed = format!("{from}::{name}");
        scene.next(&[(&failed, false), ("test/other.test.js::other", true)]);
        scene.repo.remove(from);
        if !to.is_empty() {
            scene.repo.write(to, tests);
        }
        scene.next(&[("test/other.test.js::other", true)]);
        let (through, said) = scene.push();
        assert!(!through && said.contains("did not run when") && !said.contains("gone, too"), "{to}: {said}");
    }
}

#[test]
fn code_that_settings_load_with_the_tests_is_told_if_it_changed() {
    for (settings, text, path) in [
        (".mocharc.json", "{\"require\":[\"./setup.js\"]}\n", "setup.js"),
        ("jest.config.js", "module.exports={setupFilesAfterEnv:['<rootDir>/setup.js']};\n", "setup.js"),
        ("phpunit.xml", "<phpunit bootstrap=\"boot.php\"></phpunit>\n", "boot.php"),
    ] {
        for later in ["", "c\n"] {
            let scene = Scene::new();
            scene.begin_with(&[("test/calc.test.js", "it('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n")]);
            scene.repo.write("calc.py", "b\n");
            scene.next(&[("test/calc.test.js::adds", false)]);
            scene.repo.write(settings, text).write(path, "x();\n");
            if !later.is_empty() {
                scene.repo.write("calc.py", later);
            }
            scene.next(&[("test/calc.test.js::adds", true)]);
            let (through, said) = scene.push();
            let words = if later.is_empty() {
                "passed after only tests changed"
            } else {
                "passed after a change to test code that runs with it"
            };
            assert!(through && said.contains(words), "{settings} {later}: {said}");
        }
    }
}

#[test]
fn a_run_that_names_no_tests_shows_a_pass_unless_something_can_have_kept_the_test_from_running() {
    let green = "2 passed in 0.02s\n";
    let skip = format!("import pytest\npytestmark = pytest.mark.skip(reason=\"later\")\n{TESTS}");
    let edited = TESTS.replace("add(1, 2) == 3", "add(1, 2) == 3  # sum");
    for (what, path, content, through) in [
        ("only the code changed", "calc.py", "c\n", true),
        ("the test has a comment more", "tests/test_calc.py", edited.as_str(), true),
        ("all are skipped", "tests/test_calc.py", skip.as_str(), false),
        ("not collected", "conftest.py", "collect_ignore = [\"tests/test_calc.py\"]\n", false),
        ("a fixture", "conftest.py", "import pytest\n", true),
    ] {
        let scene = Scene::new();
        scene.repo.write("calc.py", "b\n");
        scene.run(RED, 1);
        scene.repo.write(path, content).write("calc.py", "d\n");
        scene.run(green, 0);
        let check = scene.gate(&["check"]);
        let check = String::from_utf8([check.stdout, check.stderr].concat()).unwrap();
        assert_eq!(!check.contains("test_add failed on this branch"), through, "{what}: {check}");
    }
}

#[test]
fn a_pass_after_only_expected_data_changed_is_reported() {
    for data in ["tests/__snapshots__/test_calc.ambr", "tests/expected.json", "testdata/sum.golden", "src/a.snap"] {
        let scene = Scene::new();
        scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").write(data, "3\n").write("calc.py", "b\n");
        scene.repo.commit_all("fix: b");
        let suite = |output: &str, status: u8| scene.run_outer(output, status);
        suite(RED, 1);
        // A document is not a change of code.
        scene.repo.write(data, "-1\n").write("README.md", "Sums.\n").commit_all("fix: c");
        suite("tests/test_calc.py::test_add PASSED\ntests/test_calc.py::test_twice PASSED\n2 passed in 0.02s\n", 0);
        let (through, said) = scene.push();
        assert!(through && said.contains(&format!("passed after only tests changed ({data})")), "{data}: {said}");
    }
}

#[test]
fn a_test_in_the_file_of_its_code_that_passes_after_only_tests_changed_is_reported() {
    let file = |code: &str, expected: u8| {
        format!(
            "{code}\n#[cfg(test)]\nmod tests {{\n    #[test]\n    fn adds() {{\n        assert_eq!(super::add(1, 2), {expected});\n    }}\n}}\n"
        )
    };
    let code = "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n";
    for (later, words) in [
        (file(code, 4), Some("passed after only tests changed (src/lib.rs)")),
        (file(&code.replace("a + b", "b + a"), 3), None),
        (format!("// Sums.\n{}", file(code, 3)), None),
    ] {
        let scene = Scene::new();
        scene.begin_with(&[("src/lib.rs", &file(code, 3))]);
        scene.repo.write("calc.py", "b\n");
        scene.next(&[("tests::adds", false)]);
        scene.repo.write("src/lib.rs", later);
        scene.next(&[("tests::adds", true)]);
        let (through, said) = scene.push();
        assert!(through, "{said}");
        assert!(words.is_none_or(|words| said.contains(words)), "{said}");
        assert_eq!(said.contains("passed after only tests changed"), words.is_some(), "{said}");
    }
}

#[test]
fn a_test_that_passes_after_only_tests_changed_is_reported() {
    let scene = Scene::new();
    // The suite fails as long as the test asks for 3, and nothing but the test changes.
    let suite = "grep -q '== 3' tests/test_calc.py && { echo 'FAILED tests/test_calc.py::test_add - x'; echo '1 failed'; exit 1; }\n\
                 echo 'tests/test_calc.py::test_add PASSED'; echo '1 passed in 0.02s'\n";
    scene.repo.write("t.sh", suite).commit_all("suite");
    assert_eq!(scene.gate(&["run", "test"]).status.code(), Some(1));
    scene.repo.write("tests/test_calc.py", TESTS.replace("== 3", "== -1")).commit_all("tests");
    assert!(scene.gate(&["run", "test"]).status.success());
    let (through, said) = scene.push();
    assert!(through && said.contains("passed after only tests changed (tests/test_calc.py)"), "{said}");
}

#[test]
fn a_test_that_passes_after_it_changed_with_the_code_is_reported() {
    let suite = "grep -q '== 3' tests/test_calc.py && { echo 'FAILED tests/test_calc.py::test_add - x'; echo '1 failed'; exit 1; }\n\
                 echo 'tests/test_calc.py::test_add PASSED'; echo '1 passed in 0.02s'\n";
    let scene = Scene::new();
    scene.repo.write("t.sh", suite).commit_all("suite");
    scene.gate(&["run", "test"]);
    scene.repo.write("tests/test_calc.py", TESTS.replace("== 3", "== -1")).write("calc.py", "x: int\n");
    scene.repo.commit_all("both");
    assert!(scene.gate(&["run", "test"]).status.success());
    let (through, said) = scene.push();
    let words = "passed after both the code and the test itself changed (tests/test_calc.py)";
    assert!(through && said.contains(words), "{said}");
}

/// The tests without the one that failed.
pub(crate) const WITHOUT_IT: &str = "from calc import add\n\ndef test_twice():\n    assert add(2, 2) == 4\n";

const LIB: &str = "pub fn one() -> u32 {\n    1\n}\n";
const FEATURE: &str =
    "pub fn one() -> u32 {\n    1\n}\n\npub fn double(a: i32) -> i32 {\n    let sum = a + a;\n    sum - 1\n}\n";
const FEATURE_TEST: &str = "#[test]\nfn doubles() {\n    assert_eq!(x::double(2), 4);\n}\n";

impl Scene {
    /// Commits a feature with a test that fails. `with_code`: its code is in the same commit.
    fn fail_with_a_feature(&self, with_code: bool) {
        self.repo.write("tests/double.rs", FEATURE_TEST);
        if with_code {
            self.repo.write("src/lib.rs", FEATURE);
        }
        self.run("running 2 tests\ntest doubles ... FAILED\ntest twice ... ok\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured\n", 101);
    }

    /// Commits what is there with a suite that passes without the test.
    fn pass_without_it(&self) {
        self.repo.append("calc.py", "z\n");
        let ok = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        self.run(&format!("running 1 test\ntest twice ... ok\n{ok}"), 0);
    }
}

#[test]
fn a_failed_test_that_went_with_its_work_is_only_reported() {
    type Step = fn(&TestRepo);
    let cases: [(&str, Step); 5] = [
        ("reset", |repo| drop(repo.git(["reset", "-q", "--hard", "HEAD~1"]))),
        ("revert", |repo| drop(repo.git(["revert", "--no-edit", "HEAD"]))),
        ("removal with its code", |repo| {
            repo.remove("tests/double.rs").write("src/lib.rs", LIB);
        }),
        ("reset, and the next function", |repo| {
            repo.git(["reset", "-q", "--hard", "HEAD~1"]);
            repo.append("src/lib.rs", "pub fn triple(a: i32) -> i32 {\n    3 * a\n}\n");
        }),
        ("drop in a rebase", |repo| {
            repo.write("notes.txt", "more\n").commit_all("later");
            repo.git(["rebase", "-q", "--onto", "HEAD~2", "HEAD~1"]);
        }),
    ];
    for (what, step) in cases {
        let scene = Scene::new();
        scene.fail_with_a_feature(true);
        step(&scene.repo);
        scene.pass_without_it();
        let (through, said) = scene.push();
        assert!(through && said.contains("the work that added it is gone, too"), "{what}: {said}");
    }
    // Nothing came with it, and its commit is gone.
    let scene = Scene::new();
    scene.fail_with_a_feature(false);
    scene.repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    scene.pass_without_it();
    let (through, said) = scene.push();
    assert!(through, "{said}");
}

#[test]
fn a_failed_test_in_a_file_that_was_there_before_can_go_with_its_work() {
    type Step = fn(&TestRepo);
    let steps: [(&str, Step); 3] = [
        ("reset", |repo| drop(repo.git(["reset", "-q", "--hard", "HEAD~1"]))),
        ("revert", |repo| drop(repo.git(["revert", "--no-edit", "HEAD"]))),
        ("another branch", |repo| drop(repo.git(["switch", "-q", "-C", "feature", "HEAD~1"]))),
    ];
    for (what, step) in steps {
        let scene = Scene::new();
        scene.repo.append("tests/test_calc.py", "\ndef test_kelvin():\n    assert kelvin(0) == 273\n");
        scene.repo.append("calc.py", "kelvin = 3\n");
        let passed = "test test_add ... ok\ntest test_twice ... ok\n";
        scene.run(
            &format!("running 3 tests\n{passed}test test_kelvin ... FAILED\ntest result: FAILED. 2 passed; 1 failed\n"),
            1,
        );
        step(&scene.repo);
        scene.repo.append("calc.py", "# later\n");
        scene.run(&format!("running 2 tests\n{passed}{OK}"), 0);
        let (through, said) = scene.push();
        assert!(through && said.contains("the work that added it is gone, too"), "{what}: {said}");
    }
}

#[test]
fn a_failed_test_can_go_with_an_old_commit_that_is_reverted() {
    for (message, through) in
        [("Revert \"feat: kelvin\"\n\nThis reverts commit ", true), ("feat: no kelvin\n\n", false)]
    {
        let scene = Scene::new();
        scene.repo.append("tests/test_calc.py", "\ndef test_kelvin():\n    assert kelvin(0) == 273\n");
        scene.repo.append("calc.py", "kelvin = 3\n").commit_all("feat: kelvin");
        let kelvin = scene.repo.git(["rev-parse", "HEAD"]);
        for _ in 0..70 {
            scene.repo.git(["commit", "-q", "--no-verify", "--allow-empty", "-m", "later"]);
        }
        let passed = "test test_add ... ok\ntest test_twice ... ok\n";
        scene.run(
            &format!("running 3 tests\n{passed}test test_kelvin ... FAILED\ntest result: FAILED. 2 passed; 1 failed\n"),
            1,
        );
        scene.repo.git(["revert", "--no-commit", kelvin.trim()]);
        scene.repo.git(["commit", "-q", "--no-verify", "-m", &format!("{message}{}", kelvin.trim())]);
        scene.run(&format!("running 2 tests\n{passed}{OK}"), 0);
        let (pushed, said) = scene.push();
        assert_eq!((pushed, said.contains("gone, too")), (through, through), "{said}");
    }
}

#[test]
fn a_failed_test_whose_work_is_still_there_is_missed() {
    type Step = fn(&TestRepo);
    let renamed = |repo: &TestRepo| {
        repo.remove("tests/double.rs").write("src/lib.rs", FEATURE.replace("fn double", "fn twofold"));
    };
    let cases: [(&str, bool, Step); 5] = [
        ("the test is removed", true, |repo| {
            repo.remove("tests/double.rs");
        }),
        ("its commit brought nothing else", false, |repo| {
            repo.remove("tests/double.rs");
        }),
        ("the commit is amended without the test", true, |repo| {
            repo.remove("tests/double.rs").git(["commit", "-qa", "--amend", "-m", "feat: double"]);
        }),
        ("its function has another name now", true, renamed),
        ("its function has another body now", true, |repo| {
            repo.remove("tests/double.rs");
            repo.write("src/lib.rs", format!("{LIB}\npub fn double(a: i32) -> i32 {{\n    3 * a\n}}\n"));
        }),
    ];
    for (what, with_code, step) in cases {
        let scene = Scene::new();
        scene.fail_with_a_feature(with_code);
        step(&scene.repo);
        scene.pass_without_it();
        let (through, said) = scene.push();
        assert!(!through && said.contains("doubles failed on this branch and did not run"), "{what}: {said}");
    }
}

#[test]
fn a_test_that_changed_between_its_failure_and_its_pass_is_told() {
    const PATCH: &str = "import calc\ncalc.add = lambda *a: 3\n";
    const PASSED: &str =
        "tests/test_calc.py::test_add PASSED\ntests/test_calc.py::test_twice PASSED\n2 passed in 0.02s\n";
    let other = TESTS.replace("== 3", "== -1");
    let more = format!("{TESTS}\ndef test_more():\n    assert add(0, 0) == 0\n");
    let (only, too) =
        (Some("passed after only tests changed"), Some("passed after a change to test code that runs with it"));
    let both = Some("passed after both the code and the test itself changed");
    for (what, files, told) in [
        ("a comment in the code", vec![("tests/test_calc.py", other.as_str()), ("calc.py", "b\n# sums\n")], only),
        ("a file that nothing names", vec![("tests/test_calc.py", &other), ("version.py", "X = 1\n")], only),
        ("a plugin", vec![("pytest.ini", "[pytest]\naddopts = -p stubs\n"), ("stubs.py", "X = 1\n")], only),
        ("the test and the code", vec![("tests/test_calc.py", &other), ("calc.py", "c\n")], both),
        ("a helper of a fixture file", vec![("conftest.py", "import stubs\n"), ("stubs.py", PATCH)], only),
        (
            "such a helper, and the code",
            vec![("tests/conftest.py", "from stubs import *\n"), ("stubs.py", PATCH), ("calc.py", "c\n")],
            too,
        ),
        ("what runs with it, and the code", vec![("conftest.py", PATCH), ("calc.py", "c\n")], too),
        ("the code", vec![("calc.py", "c\n")], None),
        ("the code, and another test", vec![("tests/test_calc.py", &more), ("calc.py", "c\n")], None),
        ("a file that the code names", vec![("tests/test_calc.py", &more), ("sums.py", "X = 1\n")], None),
    ] {
        let scene = Scene::new();
        // What the suite prints lies outside, so that it is not a change.
        scene.repo.git(["switch", "-q", "main"]);
        scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").commit_all("suite");
        scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        scene.repo.git(["switch", "-q", "-C", "feature"]);
        let run = |output: &str, status: u8| {
            scene.repo.commit_all("next");
            scene.run_outer(output, status);
        };
        scene.repo.write("calc.py", if what == "a file that the code names" { "import sums\n" } else { "b\n" });
        run(RED, 1);
        for (path, text) in files {
            scene.repo.write(path, text);
        }
        run(PASSED, 0);
        let (through, said) = scene.push();
        assert!(through, "{what}: {said}");
        let words = [only, too, both].into_iter().flatten().find(|words| said.contains(words));
        assert_eq!(words, told, "{what}: {said}");
    }
}

#[test]
fn a_person_sees_once_at_a_stop_that_a_test_passed_after_only_tests_changed() {
    let project =
        Project::with("version = 1\nprompts = \"off\"\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n");
    let suite = "grep -q '== 3' tests/test_calc.py && { echo 'FAILED tests/test_calc.py::test_add - x'; echo '1 failed'; exit 1; }\n\
                 echo 'tests/test_calc.py::test_add PASSED'; echo '1 passed in 0.02s'\n";
    project.repo.write("t.sh", suite).write("tests/test_calc.py", TESTS).commit_all("feat: a suite");
    let session = Session::claude(&project);
    session.prompt("Make the tests pass");
    session.run("gate run test");
    session.run("sed -i 's/== 3/== -1/' tests/test_calc.py && git commit -qam 'test: sums'");
    session.run("gate run test");
    let words = "passed after only tests changed (tests/test_calc.py)";
    assert!(session.stop("The tests pass.").out.contains(words));
    session.prompt("Thanks. Write that down in the README, please");
    session.run("echo Sums. >README.md && git commit -qam 'docs: sums' && gate run test");
    let said = session.stop("I wrote it down, and the tests pass.").out;
    assert!(!said.contains(words), "{said}");
}
