//! Patterns for the parts of a command's output that explain a failure, and for the parts that vary from run to run.
//! Both are data: `gates/outputs.toml`.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::foreign_text::shortened_in_bytes;
use crate::lazy_patterns::{LazyPattern, LazyPatterns};

/// The maximum number of lines of a signature.
pub const LINES: usize = 6;
/// The maximum length of such a line, in characters.
const WIDTH: usize = 160;
/// The maximum number of failed tests that are listed, and the maximum length of a name, in bytes.
const TESTS: usize = 64;
pub(super) const NAME: usize = 200;

/// Returns the lines of an output that explain its failure, in their order, or the last lines if none does.
pub fn signature(output: &str) -> Vec<String> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let cut = |line: &str| line.chars().take(WIDTH).collect::<String>();
    let mut met: Vec<String> = Vec::new();
    for line in lines().filter(|line| table().speaks(line)) {
        let line = cut(line);
        if met.len() < LINES && !met.contains(&line) {
            met.push(line);
        }
    }
    if met.is_empty() {
        met = lines().rev().take(3).map(cut).collect();
        met.reverse();
    }
    met
}

/// Returns `true` if two signatures are of the same failure. Times, addresses and temporary paths do not count.
pub fn is_same(one: &[String], other: &[String]) -> bool {
    let plain = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| table().normal(line)).collect() };
    plain(one) == plain(other)
}

/// The table `gates/outputs.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputTable {
    varies: Vec<Varies>,
    failed: Vec<FailureTable>,
    error: Errors,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "`what` and `same` are for people and tests"))]
struct Varies {
    what: String,
    pattern: LazyPattern,
    #[serde(rename = "as")]
    replacement: String,
    same: [String; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "the example is for people and tests"))]
struct FailureTable {
    pattern: LazyPattern,
    line: String,
    name: Option<String>,
    file: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors {
    starts: Vec<String>,
    contains: Vec<String>,
    explains: LazyPatterns,
}

static TABLE: LazyLock<OutputTable> = LazyLock::new(|| embedded::table("outputs.toml"));

/// Returns the embedded table.
pub(super) fn table() -> &'static OutputTable {
    &TABLE
}

impl Varies {
    /// Replaces what varies in a text.
    fn replace(&self, text: String) -> String {
        match self.pattern.about(&text).map(|pattern| pattern.replace_all(&text, self.replacement.as_str())) {
            Some(Cow::Owned(replaced)) => replaced,
            _ => text,
        }
    }
}

impl OutputTable {
    /// Returns a text without the parts that vary.
    pub(super) fn normal(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for varies in &self.varies {
            text = varies.replace(text);
        }
        text
    }

    /// Returns a text without colours, the first pattern of the parts that vary.
    pub(super) fn bare(&self, text: &str) -> String {
        let text = text.to_owned();
        if let Some(colours) = self.varies.first() { colours.replace(text) } else { text }
    }

    /// Returns `true` if a line explains a failure.
    pub(super) fn tells(&self, line: &str) -> bool {
        let error = &self.error;
        error.starts.iter().any(|text| line.starts_with(text.as_str()))
            || error.contains.iter().any(|text| line.contains(text.as_str()))
    }

    /// Returns `true` if a line explains a failure, or belongs to a line that does.
    fn speaks(&self, line: &str) -> bool {
        self.tells(line) || self.error.explains.about(line).any(|pattern| pattern.is_match(line))
    }

    /// Returns the tests that the lines name as failed, with their file if it is given; sorted, each once.
    pub(super) fn failed_tests(&self, text: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        for line in text.lines().filter(|line| line.len() < 1024) {
            for failed in &self.failed {
                let Some(groups) = failed.pattern.about(line).and_then(|pattern| pattern.captures(line)) else {
                    continue;
                };
                let group = |name| groups.name(name).map(|found| found.as_str().trim()).filter(|text| !text.is_empty());
                let name = match (group("file"), group("name")) {
                    (Some(file), Some(name)) => format!("{file}::{name}"),
                    (file, name) => name.or(file).unwrap_or_default().to_owned(),
                };
                if !name.is_empty() {
                    found.insert(shortened_in_bytes(name, NAME));
                }
                break;
            }
        }
        found.into_iter().take(TESTS).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_examples_of_the_embedded_file_hold() {
        let table = table();
        assert!(table.error.explains.written().into_iter().all(|pattern| regex::Regex::new(pattern).is_ok()));
        assert_eq!(table.varies[0].what, "colours");
        for varies in &table.varies {
            let [one, other] = &varies.same;
            assert_ne!(one, other, "{}", varies.what);
            assert!(varies.pattern.about(one).unwrap().is_match(one), "{}: {one}", varies.what);
            assert_eq!(table.normal(one), table.normal(other), "{}", varies.what);
        }
        for failed in &table.failed {
            let groups = failed
                .pattern
                .about(&failed.line)
                .and_then(|pattern| pattern.captures(&failed.line))
                .unwrap_or_else(|| panic!("{}", failed.line));
            for (group, expected) in [("name", &failed.name), ("file", &failed.file)] {
                assert_eq!(groups.name(group).map(|found| found.as_str()), expected.as_deref(), "{}", failed.line);
            }
            let told = table.failed_tests(&failed.line);
            let both = [failed.file.as_deref(), failed.name.as_deref()];
            assert_eq!(told, [both.into_iter().flatten().collect::<Vec<_>>().join("::")], "{}", failed.line);
        }
    }

    #[test]
    fn the_lines_that_speak_of_the_failure() {
        let output = "compiling\nrunning 3 tests\ntest a ... ok\ntest b ... FAILED\n\nthread 'b' panicked at src/lib.rs:3:1\n\
                      test result: FAILED. 2 passed; 1 failed\n";
        assert_eq!(
            signature(output),
            ["test b ... FAILED", "thread 'b' panicked at src/lib.rs:3:1", "test result: FAILED. 2 passed; 1 failed"]
        );
        assert_eq!(signature("one\n\ntwo\nthree\nfour\n"), ["two", "three", "four"]);
        assert!(signature("").is_empty());
        assert_eq!(signature(&"error: again and again\nerror: more\n".repeat(50)).len(), 2);
        assert_eq!(signature("connecting\nConnection refused\nbye"), ["Connection refused"]);
    }

    #[test]
    fn times_and_addresses_do_not_make_another_failure() {
        for (one, other, equal) in [
            ("FAILED in 0.31s", "FAILED in 12 s", true),
            ("error at 0x7ffe", "error at 0x1234", true),
            ("error: /tmp/abc/x is missing", "error: /tmp/def/y is missing", true),
            ("1 failed", "2 failed", false),
            ("error: a", "error: b", false),
        ] {
            assert_eq!(is_same(&signature(one), &signature(other)), equal, "{one} | {other}");
        }
    }
}
