//! The way in which the tests of a runner are known by name: the table `[names]` of its file.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::OnceLock;

use regex::{Captures, Regex};
use serde::Deserialize;

use crate::event::test_results::TestResult;
use crate::runner::printed_names::EXPECTS_PANIC;
use crate::runner::test_names::NamedTests;
use crate::runner::word_splitting::simple_commands;
use crate::shell_quote::shell_word;

/// The variable with the path of the report that the hooks of test runners write. Nothing else has a use for it.
pub const REPORT_VARIABLE: &str = "GATE_TEST_REPORT";

/// The table `[names]`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
#[expect(clippy::struct_excessive_bools, reason = "independent keys of a file")]
pub struct NameSource {
    /// The hook that makes the runner write a report, if there is one.
    pub hook: Option<ReportHook>,
    /// `true` if the report files that a run writes name its tests.
    #[serde(default)]
    pub files: bool,
    /// `true` if the indentation of a line shows the group that it belongs to.
    #[serde(default)]
    nested: bool,
    /// The text between a file, or another home of a test, and its name.
    #[serde(default = "double_colon")]
    joined: String,
    /// The text that the output has between the groups of a test and its name, if it is not ` > `.
    between: Option<String>,
    /// `true` if lines count only after one that means [`NameMeans::Begins`].
    #[serde(default)]
    waits: bool,
    /// The lines that name tests.
    #[serde(default)]
    line: Vec<NameRule>,
    /// `true` if it may leave out tests whose result it remembers, so that the tests differ from run to run.
    #[serde(default)]
    varies: bool,
    /// Arguments with which the tests differ from run to run.
    #[serde(default)]
    varies_with: Vec<String>,
    /// Arguments with which the runner names no tests.
    #[serde(default)]
    silenced_by: Vec<String>,
    /// An argument with which it names every test in its output.
    named_with: Option<String>,
    /// The arguments that let it run one test alone: `{name}` is its name, `{home}` the part before [`Self::joined`], `{test}`
    /// the part after it, and `{title}` that part without the signs between its groups; `{top}` is the part of `{test}` before a `/`.
    one_test: Option<String>,
    /// The endings of files whose paths, in front of a name, are seen from where the runner was started.
    #[serde(default)]
    pub from_start: Vec<String>,
    /// `true` if a failed test keeps no other test from running.
    #[serde(default)]
    goes_on: bool,
    /// An argument with which a failed test keeps no other test from running.
    goes_on_with: Option<String>,
    /// Arguments with which the runner stops at a failure, or fails for other reasons as well.
    #[serde(default)]
    stops_with: Vec<String>,
}

fn double_colon() -> String {
    "::".to_owned()
}

/// Files that a runner loads because of its environment, and that write down the result of every test.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReportHook {
    /// The files, relative to `hooks/`. The first is in the folder that `{folder}` stands for.
    pub files: Vec<String>,
    /// The variables that load them.
    pub variable: Vec<HookVariable>,
    /// `true` if they write down only which files were opened and closed, and the names are those of the output.
    #[serde(default)]
    pub nameless: bool,
}

/// A variable that loads a hook.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct HookVariable {
    /// Its name.
    pub name: String,
    /// Its value; `{folder}` is the folder of the files.
    pub value: String,
    /// The text between this value and an inherited one. `:` stands for the separator of paths.
    pub before: String,
}

/// A line that says something about tests by name: `[[names.line]]`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct NameRule {
    /// A regular expression. Its groups are `name`, `home` (in front of the name), `in` (the indentation), `word` (see
    /// `words`), `n` (a number of tests), `of` (the number of all tests) and `time` (what the runner may put behind the
    /// name; it belongs to the name unless each test has it).
    is: String,
    /// Texts of which one is in every such line.
    has: Vec<String>,
    /// The meaning of the line.
    #[serde(default)]
    means: NameMeans,
    /// The result of the test.
    result: Option<TestResult>,
    /// The results that the values of `word` stand for.
    #[serde(default)]
    words: BTreeMap<String, TestResult>,
    /// `true` if a backslash stands before each `#` and each backslash of the name, as in TAP.
    #[serde(default)]
    escaped: bool,
    /// `true` if an entry begins with this line. In such an output, other lines count only in an entry, which ends with the
    /// line of its test.
    #[serde(default)]
    entry: bool,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

/// The meaning of a line for the names of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NameMeans {
    /// One test and its result.
    #[default]
    Test,
    /// The group of the tests that follow.
    Group,
    /// A number of tests, to be added to the others.
    Count,
    /// What follows repeats results.
    Repeats,
    /// A run begins.
    Begins,
}

impl NameRule {
    fn compiled(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(&self.is).ok()).as_ref()
    }

    fn read<'t>(&self, line: &'t str) -> Option<Captures<'t>> {
        if !self.has.iter().any(|text| line.contains(text.as_str())) {
            return None;
        }
        self.compiled()?.captures(line)
    }

    fn result(&self, found: &Captures<'_>) -> Option<TestResult> {
        let word = found.name("word").map(|word| word.as_str());
        self.result.or_else(|| self.words.get(word?).copied())
    }

    fn name<'t>(&self, found: &'t Captures<'_>) -> Cow<'t, str> {
        let name = found.name("name").map_or("", |name| name.as_str());
        if !self.escaped || !name.contains('\\') {
            return Cow::Borrowed(name);
        }
        // A pair of backslashes is one, whatever follows it.
        let parts = name.split("\\\\").map(|part| part.replace("\\#", "#"));
        Cow::Owned(parts.collect::<Vec<_>>().join("\\"))
    }
}

/// Returns the words of a line up to the runner `id`, and those after it, if it is one command that starts the runner by
/// itself, or through a program that runs nothing else.
fn started_directly(id: &str, line: &str) -> Option<(Vec<String>, Vec<String>)> {
    const WRAPPERS: [&str; 13] =
        ["uv", "poetry", "pdm", "hatch", "rye", "run", "npx", "bunx", "bundle", "exec", "python", "python3", "-m"];
    let [mut words] = <[Vec<String>; 1]>::try_from(simple_commands(line)?).ok()?;
    let wrapped = words.iter().take_while(|word| WRAPPERS.contains(&word.as_str())).count();
    let end = wrapped + id.split(' ').count();
    let is_it = words.len() >= end && id.split(' ').zip(&words[wrapped..]).all(|(own, word)| own == word);
    let given = if is_it { words.split_off(end) } else { return None };
    Some((words, given))
}

impl NameSource {
    /// Compiles the patterns.
    pub(crate) fn check(&self) -> Result<(), regex::Error> {
        self.line.iter().try_for_each(|rule| Regex::new(&rule.is).map(drop))
    }

    /// Returns `true` if a run of `line` may leave out tests that the run before it had.
    pub fn varies(&self, line: &str) -> bool {
        let is_word = |word: &str| self.varies_with.iter().any(|known| word.split('=').next() == Some(known.as_str()));
        self.varies || line.split_whitespace().any(is_word)
    }

    /// Returns `true` if `line` starts the runner `id` by itself, and a failed test keeps no other test from running.
    pub fn goes_on(&self, id: &str, line: &str) -> bool {
        let Some((_, given)) = started_directly(id, line) else { return false };
        let is_given = |argument: &str| given.iter().any(|word| word.split('=').next() == Some(argument));
        let goes_on = self.goes_on || self.goes_on_with.as_deref().is_some_and(is_given);
        goes_on && !self.stops_with.iter().any(|argument| is_given(argument))
    }

    /// Returns the command that runs one test alone, if `line` starts the runner `id` by itself. Options of the line are
    /// kept, unless it has other words as well: these choose tests.
    pub fn line_of_one(&self, id: &str, line: &str, test: &str) -> Option<String> {
        let template = self.one_test.as_deref()?;
        let (mut words, given) = started_directly(id, line)?;
        if given.iter().all(|word| word.starts_with('-') && word != "--") {
            words.extend(given);
        }
        let name = test.strip_suffix(EXPECTS_PANIC).unwrap_or(test);
        let (home, own) = name.split_once(self.joined.as_str()).unwrap_or(("", name));
        if template.contains("{home}") && home.is_empty() {
            return None;
        }
        let top = own.split('/').next().unwrap_or(own);
        let fill = |word: &str| {
            word.replace("{name}", name)
                .replace("{home}", home)
                .replace("{test}", own)
                .replace("{title}", &own.replace(" > ", " "))
                .replace("{top}", top)
        };
        words.extend(template.split(' ').map(fill));
        Some(words.iter().map(|word| shell_word(word)).collect::<Vec<_>>().join(" "))
    }

    /// Returns the command `line` as one with which the runner `id` names its tests, if it starts that runner by itself and
    /// does not name them already.
    pub fn naming_line(&self, id: &str, line: &str) -> Option<String> {
        let own = line.find(id).filter(|_| !line.contains(['|', ';', '&', '<', '>', '$', '`', '(', ')', '\n']))?;
        let (start, rest) = line.split_at(own + id.len());
        let is_silent = |word: &&str| self.silenced_by.iter().any(|silent| silent == word);
        let mut words: Vec<&str> = rest.split_whitespace().filter(|word| !is_silent(word)).collect();
        if let Some(argument) = self.named_with.as_deref().filter(|argument| !words.contains(argument)) {
            // In front of what may be a filter, or the first of arguments that go to the tests.
            let at = words.iter().position(|word| word.starts_with(['-', '.'])).unwrap_or(words.len());
            words.insert(at, argument);
        }
        let is_changed = !words.iter().copied().eq(rest.split_whitespace());
        is_changed.then(|| std::iter::once(start).chain(words).collect::<Vec<_>>().join(" "))
    }

    /// Returns `true` if it names tests of `line`, as far as the line shows it.
    pub fn names(&self, line: &str) -> bool {
        !line.split_whitespace().any(|word| self.silenced_by.iter().any(|silent| silent == word))
            && self.named_with.as_deref().is_none_or(|argument| self.hook.is_some() || line.contains(argument))
    }

    /// Returns `true` if lines of the output name tests.
    pub fn has_lines(&self) -> bool {
        !self.line.is_empty()
    }

    fn has_entries(&self) -> bool {
        self.line.iter().any(|rule| rule.entry)
    }

    /// Returns a name with the usual text between its groups.
    fn with_groups<'n>(&self, name: Cow<'n, str>) -> Cow<'n, str> {
        match &self.between {
            Some(between) => Cow::Owned(name.replace(between.as_str(), " > ")),
            None => name,
        }
    }

    /// Returns the tests that an output names. `whole`: nothing of the output is cut off.
    pub(super) fn read(&self, text: &str, whole: bool) -> NamedTests {
        let mut reading = NamesReading::new(self);
        for line in text.lines() {
            if let Some((rule, found)) = self.line.iter().find_map(|rule| Some((rule, rule.read(line)?))) {
                reading.take(rule, &found);
            }
        }
        reading.end(whole)
    }
}

/// The names of an output that is read line by line.
struct NamesReading<'s> {
    source: &'s NameSource,
    tests: NamedTests,
    /// The groups that are open, each with its indentation.
    groups: Vec<(usize, String)>,
    announced: usize,
    /// The tests that were listed, each with what stands behind its name.
    listed: Vec<(String, String, TestResult)>,
    repeats: bool,
    /// `true` if a line would be in an entry, or the output has none.
    inside: bool,
}

impl<'s> NamesReading<'s> {
    fn new(source: &'s NameSource) -> Self {
        let (tests, groups) = (NamedTests::default(), Vec::new());
        let inside = !source.has_entries();
        Self { source, tests, groups, announced: 0, listed: Vec::new(), repeats: source.waits, inside }
    }

    fn take(&mut self, rule: &NameRule, found: &Captures<'_>) {
        let text = |group: &str| found.name(group).map_or("", |found| found.as_str());
        let indent = text("in").chars().count();
        match rule.means {
            NameMeans::Begins => self.repeats = false,
            NameMeans::Repeats => self.repeats = true,
            NameMeans::Count => self.announced += text("n").parse::<usize>().unwrap_or(0),
            _ if self.repeats || !(self.inside || rule.entry) => {}
            NameMeans::Group => {
                self.inside = true;
                let is_outer = |(outer, _): &(usize, String)| self.source.nested && *outer < indent;
                self.groups.retain(is_outer);
                self.groups.push((indent, rule.name(found).into_owned()));
            }
            NameMeans::Test => {
                self.inside = !self.source.has_entries();
                let Some(result) = rule.result(found) else { return };
                self.announced = self.announced.max(text("of").parse().unwrap_or(0));
                let name = self.source.with_groups(rule.name(found));
                let name = self.full_name(indent, text("home"), &name);
                self.listed.push((name, text("time").to_owned(), result));
            }
        }
    }

    fn full_name(&self, indent: usize, home: &str, name: &str) -> String {
        if self.source.nested {
            let outer = self.groups.iter().filter(|(outer, _)| *outer < indent).map(|(_, group)| group.as_str());
            return outer.chain([name]).collect::<Vec<_>>().join(" > ");
        }
        let home = if home.is_empty() { self.groups.last().map_or("", |(_, group)| group) } else { home };
        match home.strip_suffix(name) {
            _ if home.is_empty() => name.to_owned(),
            _ if name.is_empty() => home.to_owned(),
            // The home is the full name already, as in `test_add (test_calc.T.test_add)`.
            Some(before) if before.ends_with(&self.source.joined) => home.to_owned(),
            _ => format!("{home}{}{name}", self.source.joined),
        }
    }

    fn end(mut self, whole: bool) -> NamedTests {
        let is_timed = self.listed.iter().all(|(_, time, _)| !time.is_empty());
        for (name, time, result) in &self.listed {
            self.tests.add(&if is_timed { name.clone() } else { format!("{name}{time}") }, *result);
        }
        // The runner says how many tests it runs, so that a missing line is noticed.
        self.tests.set_complete(whole && self.announced > 0 && self.announced == self.listed.len());
        self.tests
    }
}

#[cfg(test)]
mod tests {
    use crate::runner::{Catalogue, NamedTests};

    #[test]
    fn one_test_is_run_alone() {
        for (id, line, test, alone) in [
            ("pytest", "pytest -q", "tests/a.py::t[1-2]", Some("pytest -q 'tests/a.py::t[1-2]'")),
            ("pytest", "uv run pytest tests", "tests/a.py::t", Some("uv run pytest tests/a.py::t")),
            ("pytest", "python3 -m pytest", "tests/a.py::T::t", Some("python3 -m pytest tests/a.py::T::t")),
            ("pytest", "make test", "tests/a.py::t", None),
            ("pytest", "pytest && sh lint.sh", "tests/a.py::t", None),
            ("cargo test", "cargo test --offline", "a::adds", Some("cargo test --offline -- --exact a::adds")),
            ("cargo test", "cargo test -- --nocapture", "a::adds", Some("cargo test -- --exact a::adds")),
            ("cargo test", "cargo test", "a::adds - should panic", Some("cargo test -- --exact a::adds")),
            ("go test", "go test -v ./...", "x.com/a TestAdd/zero", Some("go test -run '^TestAdd$' x.com/a")),
            ("go test", "go test ./...", "TestAdd", None),
            ("jest", "npx jest --ci", "a.test.js::calc > adds", Some("npx jest --ci a.test.js -t 'calc adds'")),
            ("vitest", "vitest run", "a.test.js::adds", Some("vitest --run a.test.js -t adds")),
            ("vitest", "npm test", "a.test.js::adds", None),
        ] {
            let names = Catalogue::embedded().runner(id).unwrap().names.as_ref().unwrap();
            assert_eq!(names.line_of_one(id, line, test).as_deref(), alone, "{line} {test}");
        }
    }

    #[test]
    fn a_failure_keeps_no_other_test_from_running() {
        for (id, line, goes_on) in [
            ("pytest", "pytest -q", true),
            ("pytest", "uv run pytest -q", true),
            ("pytest", "pytest -x", false),
            ("pytest", "pytest --maxfail=2", false),
            ("pytest", "pytest; sh lint.sh", false),
            ("cargo test", "cargo test", false),
            ("cargo test", "cargo test --no-fail-fast", true),
            ("go test", "go test -v ./...", true),
            ("go test", "go test -failfast ./...", false),
            ("jest", "npm test", false),
            ("jest", "npx jest", true),
        ] {
            let names = Catalogue::embedded().runner(id).unwrap().names.as_ref().unwrap();
            assert_eq!(names.goes_on(id, line), goes_on, "{line}");
        }
    }

    #[test]
    fn outputs_name_what_failed() {
        const JEST: &str = "FAIL unit ./a.test.js (5.2 s)\n  ● Console\n\n    console.log\n      x\n\n  ● outer › inner › is two\n\n  ●  Cannot log after tests are done.\n\n    \
                            ● no test\nPASS ./c.test.js\n  ● Console\n\nFAIL src/b.test.tsx\n  ● Test suite failed to run\n\nTests: 1 failed\n";
        const MOCHA: &str = "  u\n    inner\n      1) is two\n  2) top\n        looks like one:\n\n  0 passing (3ms)\n  3 failing\n\n  1) u\n       inner\n         is two:\n     \
                             Error: x\n        not a test:\n\n  2) top:\n\n      AssertionError: 1 == 2\n        nor this:\n\n  3) hook\n       \
                             \"before each\" hook for \"one\":\n     Error: x\n";
        const UNITTEST: &str = "test_a (m.T.test_a) ... ok\ntest_b (m.T) ... FAIL\ntest_c (m.T.test_c) ... skipped 'later'\n\
                                ERROR: m.x (unittest.loader._FailedTest.m.x)\nERROR: y (unittest.loader._FailedTest)\n\
                                ERROR: setUpClass (m.U)\nFAIL: test_b (m.T)\nFAIL: test_s (m.T.test_s) (i=1)\nRan 5 tests in 0.1s\n";
        const RSPEC: &str = "Failed examples:\n\nrspec ./spec/login_spec.rb:3 # Login works\nrspec './spec/a_spec.rb[1:2]' # A is # b\n";
        const MINITEST: &str = "  1) Failure:\nCalcTest#test_add [test/calc_test.rb:5]:\nOther#no:\n\n  2) Skipped:\nCalcTest#test_later [a.rb:1]:\n\n  \
                                3) Error:\nA::B#test_0001_adds two:\nRuntimeError: x\n";
        for (id, output, failed) in [
            ("jest", JEST, &["a.test.js::outer > inner > is two", "src/b.test.tsx"][..]),
            ("jest", "  ● outer › is two\n", &["outer > is two"]),
            ("mocha", MOCHA, &["hook > one", "top", "u > inner > is two"]),
            ("unittest", UNITTEST, &["m.T.test_b", "m.T.test_s", "m.U", "m.x", "y"]),
            ("django test", UNITTEST, &["m.T.test_b", "m.T.test_s", "m.U", "m.x", "y"]),
            ("rspec", RSPEC, &["A is # b", "Login works"]),
            ("minitest", MINITEST, &["A::B#test_0001_adds two", "CalcTest#test_add"]),
        ] {
            let catalogue = Catalogue::embedded();
            let tests = NamedTests::of_runners(catalogue, output, true, &[catalogue.runner(id).unwrap()]);
            assert_eq!(tests.failed().collect::<Vec<_>>(), failed, "{id}");
        }
    }

    #[test]
    fn a_line_names_its_tests_with_another_argument_or_without_one() {
        for (runner, line, expected) in [
            ("go test", "go test ./...", Some("go test -v ./...")),
            ("go test", "go test -race ./...", Some("go test -v -race ./...")),
            ("go test", "go test -v ./...", None),
            ("go test", "go -C api test ./...", None),
            ("go test", "make test", None),
            ("go test", "go test ./... | tail -3", None),
            ("cargo test", "cargo test -q --locked", Some("cargo test --locked")),
            ("cargo test", "cargo test --locked", None),
            ("vitest", "npx vitest run", Some("npx vitest run --reporter=verbose")),
        ] {
            let names = Catalogue::embedded().runner(runner).and_then(|runner| runner.names.as_ref()).unwrap();
            assert_eq!(names.naming_line(runner, line).as_deref(), expected, "{line}");
        }
    }
}
