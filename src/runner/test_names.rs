//! The names and results of tests, read from the output or report of a runner.
//!
//! It reads the forms in which a runner names its tests one by one: those of libtest, `pytest -v` and `go test -v`
//! wherever they are printed, those that the file of a runner describes, and the reports of the hooks in `hooks/`. A
//! runner that prints dots names nothing.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::event::test_results::{EarlierFailure, TestResult};
use crate::runner::catalogue::Runner;

/// The largest number of tests that are kept by name.
const MAX_TESTS: usize = 200_000;
/// The longest name that is kept, in bytes.
const MAX_NAME: usize = 512;
/// The number of tests that are listed for one that is missing.
const MAX_CANDIDATES: usize = 64;

/// Tests and their results, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedTests {
    results: BTreeMap<String, TestResult>,
    complete: bool,
}

impl NamedTests {
    /// Returns the tests that an output names. `whole`: nothing of the output is cut off.
    pub fn of_output(text: &str, whole: bool) -> Self {
        let mut tests = Self::default();
        let mut announced = 0_usize;
        let mut listed = 0_usize;
        for line in text.lines() {
            if let Some(count) = libtest_count(line) {
                announced = announced.saturating_add(count);
            } else if let Some((name, result)) = libtest(line) {
                listed += 1;
                tests.add(name, result);
            } else if let Some((name, result)) = quiet_libtest(line).or_else(|| pytest(line)).or_else(|| go(line)) {
                tests.add(name, result);
            }
        }
        // The runner says how many tests it is about to run, so that a missing line is noticed.
        tests.complete = whole && announced > 0 && announced == listed;
        tests
    }

    /// Returns the tests that the output of these runners names. All are complete if those of each are.
    pub fn of_runners(text: &str, whole: bool, runners: &[&Runner]) -> Self {
        let sources = runners.iter().map(|runner| runner.names.as_ref().filter(|names| names.has_lines()));
        let (ruled, others): (Vec<_>, Vec<_>) = sources.partition(Option::is_some);
        let mut parts: Vec<Self> = ruled.into_iter().flatten().map(|names| names.read(text, whole)).collect();
        if parts.is_empty() || !others.is_empty() {
            parts.push(Self::of_output(text, whole));
        }
        Self::joined(parts)
    }

    /// Returns the tests of several sources. They are complete if every source is.
    pub fn joined(parts: Vec<Self>) -> Self {
        let mut all = Self { complete: !parts.is_empty() && parts.iter().all(|part| part.complete), ..Self::default() };
        for (name, result) in parts.into_iter().flat_map(|part| part.results) {
            all.add(&name, result);
        }
        all
    }

    /// Returns the tests that report files name.
    pub fn of_cases(cases: impl IntoIterator<Item = (String, TestResult)>, complete: bool) -> Self {
        let mut tests = Self { complete, ..Self::default() };
        for (name, result) in cases {
            tests.add(&name, result);
        }
        tests
    }

    /// Returns the tests in a report that hooks wrote. It is complete if `runners` of them began and every one that
    /// began came to its end. A line that cannot be read makes it incomplete.
    pub fn of_report(report: &str, runners: usize) -> Self {
        let mut tests = Self::default();
        let (mut begun, mut ended) = (0, 0);
        let mut readable = true;
        for line in report.lines() {
            match serde_json::from_str::<(&str, String)>(line) {
                Ok(("begin", _)) => begun += 1,
                Ok(("complete", _)) => ended += 1,
                Ok((word, name)) => match TestResult::named(word) {
                    Some(result) => tests.add(&name, result),
                    None => readable = false,
                },
                Err(_) => readable = false,
            }
        }
        tests.complete = readable && begun == ended && begun >= runners.max(1);
        tests
    }

    /// Returns the result of a test: its own, or that of its file, class or group, which failed as a whole.
    pub fn outcome(&self, test: &str) -> Option<TestResult> {
        let own = self.results.get(test).copied();
        let failed = |name: &&str| is_inside(test, name);
        own.or_else(|| self.failed().find(failed).map(|_| TestResult::Failed))
    }

    /// Returns the same tests, of which there may be others.
    #[must_use]
    pub fn incomplete(self) -> Self {
        Self { complete: false, ..self }
    }

    pub(super) const fn set_complete(&mut self, complete: bool) {
        self.complete = complete;
    }

    /// Returns `true` if no test is known by name.
    pub fn is_empty(&self) -> bool {
        self.results.is_empty()
    }

    /// Returns the number of tests known by name.
    pub fn len(&self) -> usize {
        self.results.len()
    }

    /// Returns `true` if the runner named every test.
    pub const fn is_complete(&self) -> bool {
        self.complete
    }

    /// Returns the tests and their results, sorted by name.
    pub fn results(&self) -> impl Iterator<Item = (&str, TestResult)> {
        self.results.iter().map(|(name, result)| (name.as_str(), *result))
    }

    /// Returns the tests that failed, sorted.
    pub fn failed(&self) -> impl Iterator<Item = &str> {
        self.results.iter().filter(|(_, result)| **result == TestResult::Failed).map(|(name, _)| name.as_str())
    }

    /// Returns the results of tests that failed earlier; tests without a result in this run are left out.
    pub fn earlier<'a>(&self, open: impl Iterator<Item = &'a str>) -> Vec<EarlierFailure> {
        let result = |test: &str| {
            let known = self.results.get(test).copied().or_else(|| self.of_group(test));
            known.or_else(|| self.complete.then_some(TestResult::Missing))
        };
        let earlier = |test: &str| {
            let result = result(test)?;
            let candidates = if result == TestResult::Missing { self.candidates(test) } else { Vec::new() };
            Some(EarlierFailure { test: test.to_owned(), result, candidates })
        };
        open.filter_map(earlier).collect()
    }

    /// Returns the result of a file, class or group that failed as a whole and whose tests ran this time.
    fn of_group(&self, group: &str) -> Option<TestResult> {
        let after = self.results.range::<str, _>((Bound::Excluded(group), Bound::Unbounded));
        let inside = after.take_while(|(name, _)| name.starts_with(group)).filter(|(name, _)| is_inside(name, group));
        inside.map(|(_, result)| *result).min_by_key(|result| (*result != TestResult::Passed, rank(*result)))
    }

    /// Returns the tests that passed and may be `missing` under another name: in its file or module, or with the same
    /// last part.
    fn candidates(&self, missing: &str) -> Vec<String> {
        let (home, last) = split(missing);
        let passed = self.results.iter().filter(|(_, result)| **result == TestResult::Passed);
        let near = passed.filter(|(name, _)| {
            let (its_home, its_last) = split(name);
            its_home == home || its_last == last
        });
        near.take(MAX_CANDIDATES).map(|(name, _)| name.clone()).collect()
    }

    /// Adds a result. Of several tests with one name, a failure counts first, then a pass.
    pub(super) fn add(&mut self, name: &str, result: TestResult) {
        if name.is_empty() || name.len() > MAX_NAME || self.results.len() >= MAX_TESTS {
            return;
        }
        let known = self.results.entry(name.to_owned()).or_insert(result);
        if rank(result) < rank(*known) {
            *known = result;
        }
    }
}

/// Returns `true` if a test belongs to a file, class or group of this name.
fn is_inside(test: &str, group: &str) -> bool {
    const SEPARATORS: [&str; 3] = ["::", " > ", "."];
    test.strip_prefix(group).is_some_and(|rest| SEPARATORS.iter().any(|separator| rest.starts_with(separator)))
}

/// Returns the place of a result among several of one name.
const fn rank(result: TestResult) -> u8 {
    match result {
        TestResult::Failed => 0,
        TestResult::Passed => 1,
        TestResult::ExpectedFailure => 2,
        TestResult::Skipped => 3,
        TestResult::Missing => 4,
    }
}

/// Returns the file or module of a test, and the last part of its name without parameters.
fn split(name: &str) -> (&str, &str) {
    let bare = name.split_once('[').map_or(name, |(bare, _)| bare);
    bare.rsplit_once("::").or_else(|| bare.rsplit_once('/')).unwrap_or(("", bare))
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
    let name = name.strip_suffix(" - should panic").unwrap_or(name);
    let result = match result {
        "ok" => TestResult::Passed,
        "FAILED" => TestResult::Failed,
        _ if result.starts_with("ignored") => TestResult::Skipped,
        _ => return None,
    };
    Some((name, result))
}

/// Reads `---- parse::adds stdout ----`, which stands before the output of a failed test, also where dots are printed.
fn quiet_libtest(line: &str) -> Option<(&str, TestResult)> {
    let name = line.strip_prefix("---- ")?.strip_suffix(" stdout ----")?;
    Some((name, TestResult::Failed))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn results(text: &str) -> Vec<(String, &'static str)> {
        let tests = NamedTests::of_output(text, true);
        tests.results.iter().map(|(name, result)| (name.clone(), result.as_str())).collect()
    }

    #[test]
    fn names_and_results_by_runner() {
        for (line, name, result) in [
            ("test parse::adds ... ok", "parse::adds", "passed"),
            ("test parse::adds ... FAILED", "parse::adds", "failed"),
            ("test parse::adds ... ignored, slow", "parse::adds", "skipped"),
            ("test panics - should panic ... ok", "panics", "passed"),
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
        let complete = |text, whole| NamedTests::of_output(text, whole).is_complete();
        assert!(complete("running 2 tests\ntest a ... ok\ntest b ... ignored\n", true));
        assert!(!complete("running 2 tests\ntest a ... ok\ntest b ... ignored\n", false), "cut off");
        assert!(!complete("running 2 tests\ntest a ... ok\n", true), "a line is missing");
        assert!(!complete("tests/test_a.py::test_b PASSED\n", true), "no count");
    }

    #[test]
    fn a_report_of_the_plugin() {
        let report = "[\"begin\", \"\"]\n[\"passed\", \"a.py::one\"]\n[\"skipped\", \"a.py::two\"]\n[\"failed\", \"a.py::three\"]\n";
        let tests = NamedTests::of_report(&format!("{report}[\"complete\", \"\"]\n"), 1);
        assert!(tests.is_complete());
        assert_eq!(tests.failed().collect::<Vec<_>>(), ["a.py::three"]);
        let earlier = |tests: &NamedTests| {
            let open = ["a.py::one", "a.py::two", "gone"].into_iter();
            tests.earlier(open).into_iter().map(|one| one.result.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(earlier(&tests), ["passed", "skipped", "missing"]);
        for cut in [report.to_owned(), format!("{report}[\"complete\", \"\"]\n[\"pass")] {
            let tests = NamedTests::of_report(&cut, 1);
            assert!(!tests.is_complete(), "{cut}");
            assert_eq!(earlier(&tests), ["passed", "skipped"], "silence shows nothing");
        }
    }

    #[test]
    fn a_report_of_several_runners_is_complete_if_each_came_to_its_end() {
        let begun = "[\"begin\", \"\"]\n[\"passed\", \"a\"]\n";
        let whole = format!("{begun}[\"complete\", \"\"]\n");
        assert!(NamedTests::of_report(&format!("{whole}{whole}"), 2).is_complete());
        assert!(!NamedTests::of_report(&format!("{whole}{begun}"), 2).is_complete(), "the second was stopped");
        assert!(!NamedTests::of_report(&whole, 2).is_complete(), "the second wrote nothing");
        assert!(!NamedTests::of_report("", 0).is_complete(), "nothing was written");
    }

    #[test]
    fn a_file_that_failed_as_a_whole_passes_with_its_tests() {
        let report = |rows: &str| NamedTests::of_report(&format!("[\"begin\",\"\"]\n{rows}[\"complete\",\"\"]\n"), 1);
        let of = |tests: &NamedTests| tests.earlier(["a.py"].into_iter()).into_iter().next().map(|one| one.result);
        assert_eq!(of(&report("[\"passed\",\"a.py::one\"]\n")), Some(TestResult::Passed));
        assert_eq!(of(&report("[\"skipped\",\"a.py::one\"]\n")), Some(TestResult::Skipped));
        assert_eq!(of(&report("[\"passed\",\"a.pyx::one\"]\n")), Some(TestResult::Missing));
    }

    #[test]
    fn of_two_tests_with_one_name_the_failure_counts() {
        let tests = NamedTests::of_output("test a ... ok\ntest a ... FAILED\ntest a ... ok\n", true);
        assert_eq!(tests.failed().collect::<Vec<_>>(), ["a"]);
    }
}
