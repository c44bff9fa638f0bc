//! One line of a runner's output: cleaned of the additions of terminals and wrappers, and matched against a rule.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use memchr::memmem;
use regex::Regex;
use serde::Deserialize;

use crate::lazy_patterns::{LazyPatterns, compiled};

/// The length of the longest closing line of any runner, in bytes.
const MAX_LINE_LENGTH: usize = 4096;

// The keys of a file, each of them one yes or no of its own.
#[expect(clippy::struct_excessive_bools)]
/// A line that says something, as `[[output.line]]` describes it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LineRule {
    /// A regular expression. Groups named `passed`, `failed`, `skipped`, `errors` and `total` are counts; a group `bad`
    /// that matches means a failure, whatever the counts, and so does a group `of` that differs from `passed`; a group
    /// `task` names the failed part.
    pub is: String,
    /// Texts of which one is in every such line. They are searched for before the expression is tried.
    pub has: Vec<String>,
    /// The meaning of the line.
    pub means: Means,
    /// A regular expression with groups `n` and `word`, applied again and again to a line that matches: counts in
    /// any order.
    pub each: Option<String>,
    /// The counts that the values of `word` in `each` stand for.
    #[serde(default)]
    pub words: BTreeMap<String, CountField>,
    /// The reason why nothing was executed, for people, with the remedy. `{task}` is the group of that name.
    pub because: Option<String>,
    /// `true` if it adds to the counts before it, instead of beginning a new summary.
    #[serde(default)]
    pub joins: bool,
    /// The count to which it adds one test, if it is the line of a test: the summary is complete with as many of them as its
    /// total.
    pub one: Option<CountField>,
    /// `true` if it completes a summary that it adds to.
    #[serde(default)]
    pub completes: bool,
    /// `true` if a summary that it begins is not complete with it alone.
    #[serde(default)]
    pub partial: bool,
    /// `true` if it proves a pass only when nothing that follows is cut off.
    #[serde(default)]
    pub needs_end: bool,
    /// `true` if it proves a pass only when lines before it are visible: the runner prints failures just above it.
    #[serde(default)]
    pub needs_before: bool,
    /// `true` if it reports the whole run although similar lines report parts.
    #[serde(default)]
    pub whole: bool,
    /// `true` if it counts only for a runner that is known to have run: other programs print such lines, too.
    #[serde(default)]
    pub only_named: bool,
    #[serde(skip)]
    compiled: OnceLock<Option<Compiled>>,
}

/// The meaning of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Means {
    /// The counts of a summary, or a part of them.
    Counts,
    /// All is well: the runner prints it only then, and last.
    Passed,
    /// Something failed.
    Failed,
    /// Something failed, unless a passing summary follows: tests print such lines, too.
    Trouble,
    /// Nothing was executed.
    NothingRan,
    /// One part (a package, a module) passed.
    PartPassed,
    /// One part failed.
    PartFailed,
    /// One part had nothing to execute.
    PartEmpty,
    /// The run begins here: nothing before it is missing.
    Start,
    /// A part begins here that always ends with another line; that it is missing shows that the process ended in the middle.
    PartStart,
    /// A trace of tests that ran, which says nothing about how the run ends.
    Progress,
    /// An item of a list; its heading says whether these are failures.
    Listed,
}

/// A count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CountField {
    /// Executed and passed.
    Passed,
    /// Executed and failed; errors too.
    Failed,
    /// Tests that were not executed.
    Skipped,
    /// All of them, the skipped ones included.
    Total,
}

#[derive(Debug)]
struct Compiled {
    is: Regex,
    each: Option<Regex>,
}

/// The values that were read from a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LineMeaning {
    pub passed: Option<u64>,
    pub failed: Option<u64>,
    pub skipped: Option<u64>,
    pub total: Option<u64>,
    pub bad: bool,
    pub task: Option<String>,
}

impl LineRule {
    /// Compiles the patterns.
    pub(crate) fn check(&self) -> Result<(), regex::Error> {
        std::iter::once(&self.is).chain(&self.each).try_for_each(|pattern| Regex::new(pattern).map(drop))
    }

    fn compiled(&self) -> Option<&Compiled> {
        let compile = || {
            let each = self.each.as_deref().map(|each| compiled(each).ok_or(())).transpose().ok()?;
            Some(Compiled { is: compiled(&self.is)?, each })
        };
        self.compiled.get_or_init(compile).as_ref()
    }

    /// Returns `true` if one of its texts is in the line.
    pub(crate) fn has_text_in(&self, line: &str) -> bool {
        self.has.iter().any(|text| memmem::find(line.as_bytes(), text.as_bytes()).is_some())
    }

    /// Reads `line` by this rule; `None` if it does not match.
    pub(crate) fn read(&self, line: &str) -> Option<LineMeaning> {
        if !self.has_text_in(line) {
            return None;
        }
        let compiled = self.compiled()?;
        let found = compiled.is.captures(line)?;
        let mut said = LineMeaning { bad: found.name("bad").is_some(), ..LineMeaning::default() };
        said.task = found.name("task").map(|task| task.as_str().to_owned());
        for (group, field) in [
            ("passed", CountField::Passed),
            ("failed", CountField::Failed),
            ("errors", CountField::Failed),
            ("skipped", CountField::Skipped),
            ("total", CountField::Total),
        ] {
            if let Some(number) = found.name(group) {
                said.add(field, number.as_str());
            }
        }
        if let (Some(all), Some(passed)) = (found.name("of"), found.name("passed")) {
            said.bad |= all.as_str() != passed.as_str();
        }
        for item in compiled.each.iter().flat_map(|each| each.captures_iter(line)) {
            let (Some(number), Some(word)) = (item.name("n"), item.name("word")) else { continue };
            if let Some(field) = self.words.get(word.as_str()) {
                said.add(*field, number.as_str());
            }
        }
        Some(said)
    }
}

impl LineMeaning {
    fn add(&mut self, field: CountField, digits: &str) {
        let digits: String = digits.chars().filter(char::is_ascii_digit).collect();
        // More digits than a count can have: the line is not one of a runner's.
        let number = digits.parse().unwrap_or(0);
        let slot = match field {
            CountField::Passed => &mut self.passed,
            CountField::Failed => &mut self.failed,
            CountField::Skipped => &mut self.skipped,
            CountField::Total => &mut self.total,
        };
        *slot = Some(slot.unwrap_or(0_u64).saturating_add(number));
    }
}

/// The line that git prints when a push is refused. It looks like an error of a runner.
const OF_REFUSED_PUSH: &str = "error: failed to push some refs to ";

/// Returns the lines of an output as a reader would have seen them: each state of a progress line that was overwritten
/// (`\r`) is a line, escape sequences are removed, blank and very long lines are left out.
pub(crate) fn output_lines(output: &str) -> impl Iterator<Item = Cow<'_, str>> {
    output
        .split(['\n', '\r'])
        .filter(|line| !line.is_empty() && line.len() <= MAX_LINE_LENGTH)
        .map(without_escapes)
        .filter(|line| !line.trim().is_empty() && !line.starts_with(OF_REFUSED_PUSH))
}

/// Returns the line without escape sequences (colours, cursor movements, hyperlinks, titles) and without blanks at its
/// end.
fn without_escapes(line: &str) -> Cow<'_, str> {
    if memchr::memchr2(0x1b, 0x08, line.as_bytes()).is_none() {
        return Cow::Borrowed(line.trim_end());
    }
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\u{1b}' => match chars.next() {
                // Control sequence: parameters, then one final character.
                Some('[') => while chars.next().is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c)) {},
                // Operating system command: up to BEL or ESC \.
                Some(']') => {
                    while let Some(c) = chars.next() {
                        if c == '\u{7}' || (c == '\u{1b}' && chars.next_if_eq(&'\\').is_some()) {
                            break;
                        }
                    }
                }
                // Choice of a character set: one character more.
                Some('(' | ')') => {
                    chars.next();
                }
                _ => {}
            },
            '\u{8}' => {
                out.pop();
            }
            _ => out.push(c),
        }
    }
    out.truncate(out.trim_end().len());
    Cow::Owned(out)
}

/// Returns the line without the prefix that a task runner puts before each line of a task: `[task] …`, `pkg:task: …`,
/// `packages/a test: …`, `service-1  | …`, `│ …`, a time stamp, a number of `uniq -c`. `None` when it has none.
pub(crate) fn without_prefix(line: &str) -> Option<&str> {
    static PREFIXES: LazyLock<LazyPatterns> = LazyLock::new(|| LazyPatterns::of(&PREFIX_FORMS));
    let end = PREFIXES.about(line).find_map(|prefix| prefix.find(line))?.end();
    line.get(end..).filter(|rest| !rest.is_empty())
}

/// The forms of such prefixes. Numbers come last, because blanks before another form belong to that.
const PREFIX_FORMS: [&str; 7] = [
    r"^\s*\[[A-Za-z0-9@/_.:-]+\] ",
    r"^\s*[@A-Za-z0-9/_.-]+:[A-Za-z0-9/_.:-]+: ",
    r"^\s*[@A-Za-z0-9/_.-]+ [A-Za-z0-9/_.:-]+: ",
    r"^\s*[@A-Za-z0-9/_.-]+ +\| ?",
    r"^\s*(?:\[INFO\] |\[ERROR\] |\[WARNING\] |│ +)",
    r"^\s*[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?Z ",
    // `uniq -c`
    r"^\s*(?: {6}[0-9]| {5}[0-9]{2}| {4}[0-9]{3}| {3}[0-9]{4}| {3}[0-9]) ",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_adds_is_gone() {
        for (raw, seen) in [
            ("\u{1b}[32mok\u{1b}[0m", vec!["ok"]),
            ("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}!", vec!["link!"]),
            ("10%\r20%\rdone\r\n\r\nnext  \n", vec!["10%", "20%", "done", "next"]),
            ("ab\u{8}c", vec!["ac"]),
            ("\u{1b}[", vec![]),
            ("\u{1b}", vec![]),
            ("\u{1b}(Bx", vec!["x"]),
        ] {
            assert_eq!(output_lines(raw).collect::<Vec<_>>(), seen, "{raw:?}");
        }
    }

    #[test]
    fn prefixes_of_task_runners() {
        for (raw, rest) in [
            ("[test:ci] ok", Some("ok")),
            ("web:test:  3 passed", Some(" 3 passed")),
            ("packages/a test:  Tests  1 passed (1)", Some(" Tests  1 passed (1)")),
            ("api-1  | OK", Some("OK")),
            ("│  188 pass", Some("188 pass")),
            ("      1 ok  \tpkg\t0.1s", Some("ok  \tpkg\t0.1s")),
            ("   2 FAIL", Some("FAIL")),
            ("  2 failed", None),
            ("2026-01-02T03:04:05.678Z OK", Some("OK")),
            ("Tests: 3 passed", None),
            ("test result: ok.", Some("ok.")),
            ("plain", None),
        ] {
            assert_eq!(without_prefix(raw), rest, "{raw}");
        }
    }
}
