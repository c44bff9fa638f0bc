//! The tests that libtest, pytest and go test name line by line, wherever they are printed.

use crate::event::test_results::TestResult;
use crate::runner::test_names::NamedTests;

/// The words behind the name of a test of libtest that passes if it panics. They stay in the name: a test that failed is
/// another one after it was told to panic.
pub(super) const EXPECTS_PANIC: &str = " - should panic";

/// Returns the tests that an output names. `whole`: nothing of the output is cut off.
pub(super) fn read(text: &str, whole: bool) -> NamedTests {
    let mut reading = PrintedNames::default();
    text.lines().for_each(|line| reading.take(line));
    reading.end(whole)
}

/// The names in an output that is read line by line.
#[derive(Debug, Default)]
struct PrintedNames {
    tests: NamedTests,
    /// The number of tests that libtest is about to run, and the number of those that it named.
    announced: usize,
    listed: usize,
    /// Names in front of the output of tests that failed.
    headings: Vec<String>,
    /// The tests of a package of which go test has not yet printed the name.
    in_package: Vec<(String, TestResult)>,
    /// The number of tests that go test began and that it ended, where it names all.
    begun: usize,
    ended: usize,
}

impl PrintedNames {
    fn take(&mut self, line: &str) {
        if let Some(count) = libtest_count(line) {
            self.announced = self.announced.saturating_add(count);
        } else if let Some((name, result)) = libtest(line) {
            self.listed += 1;
            self.tests.add(name, result);
        } else if let Some(name) = libtest_heading(line) {
            self.headings.push(name.to_owned());
        } else if let Some((name, result)) = pytest(line) {
            self.tests.add(name, result);
        } else if let Some((name, result)) = go(line) {
            self.ended += 1;
            self.in_package.push((name.to_owned(), result));
        } else if line.starts_with("=== RUN ") {
            self.begun += 1;
        } else if let Some(package) = go_package(line) {
            self.end_package(&format!("{package} "));
        }
    }

    fn end_package(&mut self, home: &str) {
        for (name, result) in std::mem::take(&mut self.in_package) {
            self.tests.add(&format!("{home}{name}"), result);
        }
    }

    fn end(mut self, whole: bool) -> NamedTests {
        self.end_package("");
        for name in std::mem::take(&mut self.headings) {
            if self.tests.result(&format!("{name}{EXPECTS_PANIC}")).is_none() {
                self.tests.add(&name, TestResult::Failed);
            }
        }
        // The runner says how many tests it is about to run, or that it begins one, so that a missing line is noticed.
        let of_libtest = self.announced == self.listed;
        let of_go = self.begun == self.ended;
        let any = self.announced + self.begun > 0;
        self.tests.set_complete(whole && any && of_libtest && of_go);
        self.tests
    }
}

/// Reads `running 12 tests`.
fn libtest_count(line: &str) -> Option<usize> {
    let rest = line.strip_prefix("running ")?;
    let (count, word) = rest.split_once(' ')?;
    matches!(word, "test" | "tests").then(|| count.parse().ok()).flatten()
}

/// Reads `test parse::adds ... ok`.
fn libtest(line: &str) -> Option<(&str, TestResult)> {
    let (name, result) = line.strip_prefix("test ")?.rsplit_once(" ... ")?;
    let result = match result {
        "ok" => TestResult::Passed,
        "FAILED" => TestResult::Failed,
        _ if result.starts_with("ignored") => TestResult::Skipped,
        _ => return None,
    };
    Some((name, result))
}

/// Reads `---- parse::adds stdout ----`, which stands before the output of a failed test, also where dots are printed.
fn libtest_heading(line: &str) -> Option<&str> {
    line.strip_prefix("---- ")?.strip_suffix(" stdout ----")
}

/// Reads `tests/test_a.py::test_b PASSED [ 50%]`, `FAILED tests/test_a.py::test_b - assert 1 == 2`.
fn pytest(line: &str) -> Option<(&str, TestResult)> {
    const WORDS: [(&str, TestResult); 6] = [
        ("PASSED", TestResult::Passed),
        ("FAILED", TestResult::Failed),
        ("ERROR", TestResult::Failed),
        ("SKIPPED", TestResult::Skipped),
        ("XFAIL", TestResult::ExpectedFailure),
        ("XPASS", TestResult::Passed),
    ];
    if !line.contains(".py") {
        return None;
    }
    // Behind the number of a worker: `[gw0] [ 50%] PASSED tests/test_a.py::test_b`.
    let line = line.strip_prefix("[gw").and_then(|rest| rest.split_once("%] ")).map_or(line, |(_, rest)| rest);
    for (word, result) in WORDS {
        if let Some(name) = line.strip_prefix(word).and_then(|rest| rest.strip_prefix(' ')) {
            let name = name.split_once(" - ").map_or(name, |(name, _)| name).trim_end();
            // A file that could not be imported has no tests to name.
            let is_file = result == TestResult::Failed && name.contains(".py") && !name.contains(' ');
            return (name.contains("::") || is_file).then_some((name, result));
        }
        let found = line.rsplit_once(word).filter(|(before, _)| before.ends_with(' ') && before.contains("::"));
        if let Some((name, rest)) = found
            && (rest.is_empty() || rest.trim_start().starts_with(['[', '(']))
        {
            return Some((name.trim_end(), result));
        }
    }
    None
}

/// Reads `    --- FAIL: TestAdd/negative (0.00s)`.
fn go(line: &str) -> Option<(&str, TestResult)> {
    let rest = line.trim_start().strip_prefix("--- ")?;
    let (word, rest) = rest.split_once(": ")?;
    let result = match word {
        "PASS" => TestResult::Passed,
        "FAIL" => TestResult::Failed,
        "SKIP" => TestResult::Skipped,
        _ => return None,
    };
    let (name, time) = rest.split_once(" (")?;
    time.ends_with("s)").then_some((name, result))
}

/// Reads `ok  \texample.com/a\t0.012s`, which ends the lines of a package.
fn go_package(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("ok  \t").or_else(|| line.strip_prefix("FAIL\t"))?;
    let (package, rest) = rest.split_once('\t')?;
    let is_time = rest.starts_with("(cached)") || rest.starts_with(|c: char| c.is_ascii_digit());
    (is_time && !package.contains(' ')).then_some(package)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(text: &str) -> Vec<(String, &'static str)> {
        let tests = read(text, true);
        tests.results().map(|(name, result)| (name.to_owned(), result.as_str())).collect()
    }

    #[test]
    fn names_and_results_by_runner() {
        for (line, name, result) in [
            ("test parse::adds ... ok", "parse::adds", "passed"),
            ("test parse::adds ... FAILED", "parse::adds", "failed"),
            ("test parse::adds ... ignored, slow", "parse::adds", "skipped"),
            ("test panics - should panic ... ok", "panics - should panic", "passed"),
            ("test src/lib.rs - add (line 3) ... ok", "src/lib.rs - add (line 3)", "passed"),
            ("tests/test_a.py::test_b PASSED                       [ 50%]", "tests/test_a.py::test_b", "passed"),
            ("tests/test_a.py::TestC::test_b[1-2] FAILED [100%]", "tests/test_a.py::TestC::test_b[1-2]", "failed"),
            ("tests/test_a.py::test_b SKIPPED (no network) [100%]", "tests/test_a.py::test_b", "skipped"),
            ("tests/test_a.py::test_b XFAIL", "tests/test_a.py::test_b", "expected-failure"),
            ("[gw1] [ 50%] PASSED tests/test_a.py::test_b ", "tests/test_a.py::test_b", "passed"),
            ("FAILED tests/test_a.py::test_b - assert 1 == 2", "tests/test_a.py::test_b", "failed"),
            ("ERROR tests/test_a.py", "tests/test_a.py", "failed"),
            ("    --- FAIL: TestAdd/negative (0.00s)", "TestAdd/negative", "failed"),
            ("--- PASS: TestAdd (0.00s)", "TestAdd", "passed"),
        ] {
            assert_eq!(results(line), [(name.to_owned(), result)], "{line}");
        }
        for line in ["test result: ok. 3 passed", "--- a/src/lib.rs", "PASSED", "ERROR in setup.py", "running late"] {
            assert!(results(line).is_empty(), "{line}");
        }
    }

    #[test]
    fn an_output_is_complete_if_every_announced_test_is_named() {
        let complete = |text, whole| read(text, whole).is_complete();
        assert!(complete("running 2 tests\ntest a ... ok\ntest b ... ignored\n", true));
        assert!(!complete("running 2 tests\ntest a ... ok\ntest b ... ignored\n", false), "cut off");
        assert!(!complete("running 2 tests\ntest a ... ok\n", true), "a line is missing");
        assert!(!complete("tests/test_a.py::test_b PASSED\n", true), "no count");
    }

    #[test]
    fn tests_of_go_belong_to_their_package_and_are_complete_where_each_is_named() {
        let plain =
            "--- FAIL: TestAdd (0.00s)\n    a_test.go:7: bad\nFAIL\nFAIL\tx/calc\t0.002s\nok  \tx/ok\t0.001s\nFAIL\n";
        assert_eq!(results(plain), [("x/calc TestAdd".to_owned(), "failed")]);
        let named = "=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\nPASS\nok  \tx/calc\t0.002s\n\
                     === RUN   TestAdd\n=== RUN   TestAdd/neg\n--- SKIP: TestAdd (0.00s)\n    --- SKIP: TestAdd/neg (0.00s)\n\
                     PASS\nok  \tx/ok\t(cached)\n";
        let all = [("x/calc TestAdd", "passed"), ("x/ok TestAdd", "skipped"), ("x/ok TestAdd/neg", "skipped")];
        assert_eq!(results(named), all.map(|(name, result)| (name.to_owned(), result)));
        for (text, complete) in
            [(named.to_owned(), true), (plain.to_owned(), false), (format!("{named}=== RUN   TestB\n"), false)]
        {
            assert_eq!(read(&text, true).is_complete(), complete, "{text}");
        }
    }

    #[test]
    fn a_test_that_failed_is_not_the_one_that_must_panic() {
        let earlier = |text: &str, test| read(text, true).earlier([test].into_iter()).pop().map(|one| one.result);
        let now = "running 1 test\ntest a - should panic ... ok\n";
        assert_eq!(earlier(now, "a"), Some(TestResult::ExpectedFailure));
        assert_eq!(earlier(now, "a - should panic"), Some(TestResult::Passed));
        let red = "running 1 test\ntest a - should panic ... FAILED\n\n---- a stdout ----\nnote\n";
        assert_eq!(results(red), [("a - should panic".to_owned(), "failed")]);
    }

    #[test]
    fn of_two_tests_with_one_name_the_failure_counts() {
        let tests = read("test a ... ok\ntest a ... FAILED\ntest a ... ok\n", true);
        assert_eq!(tests.failed().collect::<Vec<_>>(), ["a"]);
    }
}
