//! The names and results of tests, read from the output or report of a runner.
//!
//! It reads the forms in which a runner names its tests one by one: those in `printed_names.rs` wherever they are printed,
//! those that the file of a runner describes, and the reports of the hooks in `hooks/`. A runner that prints dots names
//! nothing.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::event::test_results::{EarlierFailure, NamedPart, TestResult};
use crate::repo_path::seen_from;
use crate::runner::catalogue::Catalogue;
use crate::runner::printed_names::{self, EXPECTS_PANIC};
use crate::runner::runner_definition::Runner;

/// The largest number of tests that are kept by name.
const MAX_TESTS: usize = 200_000;
/// The longest name that is kept, in bytes.
const MAX_NAME: usize = 512;
/// The number of tests that are listed for one that is missing.
const MAX_CANDIDATES: usize = 64;
/// The same for a test whose file is gone, among the tests of all files.
const MAX_FROM_ELSEWHERE: usize = 8;

/// Tests and their results, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NamedTests {
    results: BTreeMap<String, TestResult>,
    complete: bool,
}

impl NamedTests {
    /// Returns the tests that the output of these runners names. All are complete if those of each are.
    pub fn of_runners(catalogue: &Catalogue, text: &str, whole: bool, runners: &[&Runner]) -> Self {
        let sources = runners.iter().map(|runner| catalogue.printed_names_of(runner));
        let (ruled, others): (Vec<_>, Vec<_>) = sources.partition(Option::is_some);
        let mut parts: Vec<Self> = ruled.into_iter().flatten().map(|names| names.read(text, whole)).collect();
        if parts.is_empty() || !others.is_empty() {
            parts.push(printed_names::read(text, whole));
        }
        Self::joined(parts)
    }

    /// Returns the tests of several sources. They are complete if every source is.
    pub fn joined(parts: Vec<Self>) -> Self {
        let mut parts = parts.into_iter();
        let mut all = parts.next().unwrap_or_default();
        for part in parts {
            all.complete &= part.complete;
            for (name, result) in part.results {
                all.add(&name, result);
            }
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
                // It is about the run and not about a test.
                Ok(("elsewhere" | "end" | "opened" | "closed", _)) => {}
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

    /// Returns the result of a test by exactly this name.
    pub fn result(&self, test: &str) -> Option<TestResult> {
        self.results.get(test).copied()
    }

    /// Returns the result of a test: its own, or that of its file, class or group, which failed as a whole.
    pub fn outcome(&self, test: &str) -> Option<TestResult> {
        let own = self.results.get(test).copied();
        let failed = |name: &&str| is_inside(test, name);
        own.or_else(|| self.failed().find(failed).map(|_| TestResult::Failed))
    }

    /// Returns the same tests with the paths of files that have one of these endings as they are seen from the folder
    /// `home`, and not from `started`. Both are paths from one root.
    #[must_use]
    pub fn seen_from(self, home: &str, started: &str, endings: &[String]) -> Self {
        if home == started {
            return self;
        }
        let moved = |name: &str| {
            let (path, rest) = name.split_at(name.find("::").unwrap_or(name.len()));
            let is_file = endings.iter().any(|ending| path.ends_with(ending.as_str()));
            let path = Some(path).filter(|path| is_file && !path.starts_with('/'));
            let path = path.and_then(|path| seen_from(started, path))?;
            let below = path.strip_prefix(home).and_then(|rest| rest.strip_prefix('/')).filter(|_| !home.is_empty());
            Some(format!("{}{rest}", below.unwrap_or(&path)))
        };
        let cases = self.results.into_iter().map(|(name, result)| (moved(&name).unwrap_or(name), result));
        Self::of_cases(cases, self.complete)
    }

    /// Returns the same tests, of which there may be others.
    #[must_use]
    pub fn incomplete(self) -> Self {
        Self { complete: false, ..self }
    }

    /// Returns the same tests without those that failed.
    #[must_use]
    pub fn without_failed(mut self) -> Self {
        let all = self.results.len();
        self.results.retain(|_, result| *result != TestResult::Failed);
        self.complete &= self.results.len() == all;
        self
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

    /// Returns the part of the tests that is known by name.
    pub fn named_part(&self) -> NamedPart {
        match () {
            () if self.complete => NamedPart::All,
            () if self.is_empty() => NamedPart::None,
            () if self.results.values().all(|result| *result == TestResult::Failed) => NamedPart::Failures,
            () => NamedPart::Some,
        }
    }

    /// Returns, for the first `limit` failed tests, the number of tests that differ only in their parameters. Tests
    /// without parameters are left out.
    pub fn families(&self, limit: usize) -> BTreeMap<String, u64> {
        self.failed().take(limit).filter_map(|test| Some((test.to_owned(), self.family(test, |_| true)?))).collect()
    }

    /// Returns the number of tests with these results that differ from `test` only in their parameters; `None` if it has
    /// none.
    fn family(&self, test: &str, wanted: impl Fn(TestResult) -> bool) -> Option<u64> {
        let (bare, _) = test.split_once('[')?;
        let all = self.starting_with(bare);
        Some(all.filter(|(name, result)| name[bare.len()..].starts_with('[') && wanted(*result)).count() as u64)
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
        open.filter_map(|test| self.result_since(test)).collect()
    }

    fn result_since(&self, test: &str) -> Option<EarlierFailure> {
        let known = self.results.get(test).copied();
        let known = known.or_else(|| self.of_group(test)).or_else(|| self.with_home(test));
        let known = known.or_else(|| self.expecting_panic(test));
        let result = known.or_else(|| self.complete.then_some(TestResult::Missing))?;
        let is_gone = result == TestResult::Missing;
        let candidates = if is_gone { self.candidates(test) } else { Vec::new() };
        let family = if is_gone { self.family(test, |result| result == TestResult::Passed) } else { None };
        Some(EarlierFailure { test: test.to_owned(), result, candidates, family: family.unwrap_or(0) })
    }

    /// Returns the result of a test of which an earlier output did not show the package of Go or the file. Of several, the
    /// worst counts.
    fn with_home(&self, test: &str) -> Option<TestResult> {
        const OF_GO: [&str; 3] = ["Test", "Fuzz", "Example"];
        let may_be_of_go = OF_GO.iter().any(|start| test.starts_with(start)) && !test.contains(' ');
        let is_file = |home: &str| home.contains('.') && !home.contains(' ');
        let same = |name: &str| {
            may_be_of_go && name.split_once(' ').is_some_and(|(_, bare)| bare == test)
                || name.split_once("::").is_some_and(|(home, bare)| bare == test && is_file(home))
        };
        worst(self.results.iter().filter(|(name, _)| same(name)).map(|(_, result)| *result))
    }

    /// Returns the result of a test that is expected to panic now.
    fn expecting_panic(&self, test: &str) -> Option<TestResult> {
        let now = self.results.get(&format!("{test}{EXPECTS_PANIC}"))?;
        Some(if *now == TestResult::Passed { TestResult::ExpectedFailure } else { *now })
    }

    /// Returns the result of a test that has parameters now, or of a file, class or group that failed as a whole and whose
    /// tests ran this time. A group passes if tests of it passed and none failed.
    fn of_group(&self, group: &str) -> Option<TestResult> {
        let inside = || self.starting_with(group).filter(|(name, _)| is_inside(name, group));
        self.of_parameters(group).or_else(|| inside().map(|(_, result)| result).min_by_key(|result| rank(*result)))
    }

    /// Returns the result of a test over all of its parameters, or `None` if it has none. It passes if each of them does:
    /// the parameter that failed before may be the one that is skipped now.
    fn of_parameters(&self, test: &str) -> Option<TestResult> {
        let parameters = self.starting_with(test).filter(|(name, _)| name[test.len()..].starts_with('['));
        worst(parameters.map(|(_, result)| result))
    }

    /// Returns the tests whose name begins with this text and goes on.
    fn starting_with<'a>(&'a self, start: &'a str) -> impl Iterator<Item = (&'a str, TestResult)> {
        let after = self.results.range::<str, _>((Bound::Excluded(start), Bound::Unbounded));
        after.take_while(move |(name, _)| name.starts_with(start)).map(|(name, result)| (name.as_str(), *result))
    }

    /// Returns the tests that passed, with all of their parameters, and may be `missing` under another name: in its file
    /// or module, or with the same last part in another group.
    fn candidates(&self, missing: &str) -> Vec<String> {
        let (home, last) = split(missing);
        let expects_panic = missing.ends_with(EXPECTS_PANIC);
        let passed = self.results.iter().filter(|(name, result)| {
            **result == TestResult::Passed
                && name.ends_with(EXPECTS_PANIC) == expects_panic
                && self.passed_with_all_parameters(name)
        });
        let is_near = |name: &str| {
            let (its_home, its_last) = split(name);
            its_home == home || without_groups(its_last) == without_groups(last)
        };
        let (mut near, mut far): (Vec<&String>, Vec<&String>) =
            passed.map(|(name, _)| name).partition(|name| is_near(name));
        // Those with the same last part, and those that have most words of it.
        let words = |name: &str| name.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect::<Vec<_>>();
        let own = words(last);
        let strange = |name: &str| own.iter().filter(|word| !words(name).contains(word)).count();
        let distance = |name: &&String| (split(name).1 != last, strange(split(name).1));
        if near.len() > MAX_CANDIDATES {
            near.sort_by_cached_key(distance);
            near.truncate(MAX_CANDIDATES);
        }
        // It may have been moved and renamed.
        far.sort_by_cached_key(distance);
        // All tests of a file that failed as a whole may be elsewhere.
        let is_file = !missing.contains("::") && last.contains('.') && !last.contains(' ');
        far.truncate(if is_file { MAX_CANDIDATES } else { MAX_FROM_ELSEWHERE });
        near.into_iter().chain(far).cloned().collect()
    }

    fn passed_with_all_parameters(&self, test: &str) -> bool {
        let bare = test.split_once('[').map(|(bare, _)| bare);
        bare.is_none_or(|bare| self.of_parameters(bare) == Some(TestResult::Passed))
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

/// Returns `true` if a test belongs to a file, class or group of this name, or is that test with parameters.
fn is_inside(test: &str, group: &str) -> bool {
    const SEPARATORS: [&str; 4] = ["::", " > ", ".", "["];
    test.strip_prefix(group).is_some_and(|rest| SEPARATORS.iter().any(|separator| rest.starts_with(separator)))
}

/// Returns the worst of several results: a failure first, a pass last.
fn worst(results: impl Iterator<Item = TestResult>) -> Option<TestResult> {
    results.max_by_key(|result| (*result != TestResult::Passed, *result == TestResult::Failed))
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

/// Returns `true` if two names of tests end alike: that of a run in another folder, or of one part, may begin in another way.
pub fn end_alike(one: &str, other: &str) -> bool {
    split(one).1 == split(other).1
}

/// Returns the file or module of a test, and the last part of its name without parameters.
fn split(name: &str) -> (&str, &str) {
    let bare = name.split_once('[').map_or(name, |(bare, _)| bare);
    bare.rsplit_once("::").or_else(|| bare.rsplit_once('/')).unwrap_or(("", bare))
}

/// Returns the last part of a name without its groups: `adds` for `calc > adds`.
fn without_groups(name: &str) -> &str {
    name.rsplit_once(" > ").map_or(name, |(_, own)| own)
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn one_test_has_one_name_wherever_it_is_started() {
        for (home, started, name, want) in [
            ("", "tests", "test_a.py::T::t[a/b]", "tests/test_a.py::T::t[a/b]"),
            ("", "tests/unit", "../test_a.py", "tests/test_a.py"),
            ("py", "", "py/tests/test_a.py::t", "tests/test_a.py::t"),
            ("py", "py/tests", "test_a.py::t", "tests/test_a.py::t"),
            ("py", "py2", "test_a.py::t", "py2/test_a.py::t"),
            ("", "tests", "a.test.js::t", "a.test.js::t"),
            ("", "tests", "../../test_a.py::t", "../../test_a.py::t"),
            ("", "", "test_a.py::t", "test_a.py::t"),
        ] {
            let tests = NamedTests::of_cases([(name.to_owned(), TestResult::Failed)], true);
            let seen = tests.seen_from(home, started, &[".py".to_owned()]);
            assert_eq!(seen.failed().collect::<Vec<_>>(), [want], "{name} from {started} in {home}");
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
    fn a_test_in_another_group_of_another_file_may_be_the_same_one() {
        use TestResult::Passed;
        let rows = ["b.js::new > adds", "b.js::new > subtracts", "a.js::old > other"];
        let tests = NamedTests::of_cases(rows.map(|name| (name.to_owned(), Passed)), true);
        let candidates = tests.earlier(["a.js::old > adds"].into_iter()).remove(0).candidates;
        assert_eq!(candidates, ["a.js::old > other", "b.js::new > adds", "b.js::new > subtracts"]);
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
    fn without_those_that_failed_the_others_may_not_be_all() {
        let case = |name: &str, result| (name.to_owned(), result);
        let all = [case("a", TestResult::Passed), case("b", TestResult::Failed)];
        let left = NamedTests::of_cases(all, true).without_failed();
        assert_eq!((left.result("a"), left.result("b"), left.is_complete()), (Some(TestResult::Passed), None, false));
        assert!(NamedTests::of_cases([case("a", TestResult::Passed)], true).without_failed().is_complete());
    }

    #[test]
    fn a_test_whose_file_was_not_shown_is_the_one_of_that_name() {
        let passed = |name: &str| (name.to_owned(), TestResult::Passed);
        let now =
            NamedTests::of_cases([passed("test/u.js::u > adds"), passed("a::adds"), passed("x/calc TestAdd")], true);
        let result = |test: &str| now.earlier(std::iter::once(test)).pop().map(|earlier| earlier.result);
        assert_eq!(result("u > adds"), Some(TestResult::Passed));
        assert_eq!(result("TestAdd"), Some(TestResult::Passed));
        // A module is part of the name.
        assert_eq!(result("adds"), Some(TestResult::Missing));
    }

    #[test]
    fn a_test_that_has_parameters_now_passes_with_all_of_them() {
        use TestResult::{ExpectedFailure, Failed, Missing, Passed, Skipped};
        let ran = |rows: &[(&str, TestResult)]| {
            NamedTests::of_cases(rows.iter().map(|(name, result)| (format!("a.py::{name}"), *result)), true)
        };
        let since = |rows: &[(&str, TestResult)]| ran(rows).earlier(["a.py::t"].into_iter()).remove(0);
        for (rows, expected) in [
            (&[("t[1]", Passed), ("t[2]", Passed)][..], Passed),
            (&[("t[1]", Passed), ("t[2]", Failed)], Failed),
            (&[("t[1]", Failed), ("t[2]", Skipped), ("t[3]", Passed)], Failed),
            // The one that is left out may be the one that failed.
            (&[("t[1]", Passed), ("t[2]", Skipped)], Skipped),
            (&[("t[1]", Passed), ("t[2]", ExpectedFailure)], ExpectedFailure),
            (&[("t[1]", Skipped), ("t[2]", Skipped)], Skipped),
            (&[("u[1]", Passed), ("tt[1]", Passed)], Missing),
            (&[], Missing),
        ] {
            assert_eq!(since(rows).result, expected, "{rows:?}");
        }
        // Another name does not help either.
        for (rows, expected) in [
            (&[("u[1]", Passed), ("u[2]", Passed)][..], vec!["a.py::u[1]".to_owned(), "a.py::u[2]".to_owned()]),
            (&[("u[1]", Passed), ("u[2]", Skipped)], vec![]),
            (&[("u[1]", Passed), ("u[2]", Failed)], vec![]),
        ] {
            assert_eq!(since(rows).candidates, expected, "{rows:?}");
        }
    }

    #[test]
    fn a_file_that_failed_as_a_whole_passes_if_none_of_its_tests_failed() {
        use TestResult::{Failed, Passed, Skipped};
        let of = |rows: &[(&str, TestResult)]| {
            let rows = rows.iter().map(|(name, result)| (format!("a.py::{name}"), *result));
            NamedTests::of_cases(rows, true).earlier(["a.py"].into_iter()).remove(0).result
        };
        assert_eq!(of(&[("t", Passed), ("only_on_windows", Skipped)]), Passed);
        assert_eq!(of(&[("t", Passed), ("u", Failed)]), Failed);
        assert_eq!(of(&[("t", Skipped)]), Skipped);
    }

    #[test]
    fn of_many_candidates_those_with_a_name_like_it_are_kept() {
        let others = (0..200).map(|number| format!("a.py::other_{number}"));
        let renamed = ["a.py::zero_adds".to_owned(), "b.py::it_adds".to_owned()];
        let ran = NamedTests::of_cases(others.chain(renamed).map(|name| (name, TestResult::Passed)), true);
        let candidates = ran.earlier(["a.py::it_adds"].into_iter()).remove(0).candidates;
        assert_eq!(candidates.len(), MAX_CANDIDATES);
        assert_eq!(candidates[..2], ["b.py::it_adds", "a.py::zero_adds"]);
    }

    #[test]
    fn parameters_that_changed_are_counted() {
        let report = |rows: &str| NamedTests::of_report(&format!("[\"begin\",\"\"]\n{rows}[\"complete\",\"\"]\n"), 1);
        let result = |rows: &str, test: &str| {
            let one = report(rows).earlier([test].into_iter()).pop().unwrap();
            (one.result, one.family)
        };
        let both = "[\"passed\",\"a.py::t[1]\"]\n[\"passed\",\"a.py::t[2]\"]\n";
        // The number of tests tells whether one of them was taken away.
        assert_eq!(result(both, "a.py::t[3]"), (TestResult::Missing, 2));
        let failed = format!("{both}[\"failed\",\"a.py::t[3]\"]\n[\"failed\",\"a.py::u\"]\n");
        assert_eq!(report(&failed).families(9).into_iter().collect::<Vec<_>>(), [("a.py::t[3]".to_owned(), 3)]);
    }

    #[test]
    fn the_part_of_the_tests_that_is_named() {
        let part = |text: &str| printed_names::read(text, true).named_part();
        assert_eq!(part("2 passed in 0.02s\n"), NamedPart::None);
        assert_eq!(part("FAILED a.py::t - x\n"), NamedPart::Failures);
        assert_eq!(part("a.py::t PASSED\n"), NamedPart::Some);
        assert_eq!(part("running 1 test\ntest a ... ok\n"), NamedPart::All);
    }
}
