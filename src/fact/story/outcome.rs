//! What two outputs of one command have in common: they are compared without what is never the same twice.
//!
//! What varies and what tells of a failure is data: `gates/outputs.toml`.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use regex::Regex;
use serde::Deserialize;

use super::ran::bounded;
use crate::command_line::Outcome;
use crate::digest::hex_digest;
use crate::embedded;
use crate::event::Ended;

/// How much of the end of an output is read, in bytes.
const READ: usize = 32 * 1024;
/// How many failed tests are listed, and how long a name may be, in bytes.
const TESTS: usize = 64;
const NAME: usize = 200;

/// What is read from how a command ended.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reading {
    /// See [`super::Ran::outcome`].
    pub(super) outcome: String,
    /// See [`super::Ran::failure`].
    pub(super) failure: Option<String>,
    /// See [`super::Ran::failed_tests`].
    pub(super) failed_tests: Vec<String>,
    /// See [`super::Ran::says`].
    pub(super) says: String,
}

/// Reads the end of an output.
pub(super) fn read(ended: Option<Ended>, result: Option<Outcome>, tail: &str) -> Reading {
    let table = table();
    let from = tail.len().saturating_sub(READ);
    let tail = &tail[tail.ceil_char_boundary(from)..];
    let normal = table.normal(tail);
    // Threads and workers finish in any order.
    let lines: BTreeSet<&str> = normal.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let how = format!("{ended:?} {result:?}");
    let digest = |lines: Vec<&str>| {
        let parts: Vec<&[u8]> = std::iter::once(how.as_str()).chain(lines).map(str::as_bytes).collect();
        hex_digest(&parts)[..16].to_owned()
    };
    let outcome = digest(lines.iter().copied().collect());
    let bad = result == Some(Outcome::Fail) || (result.is_none() && ended.is_some_and(|ended| !ended.success()));
    if !bad {
        return Reading { outcome, ..Reading::default() };
    }
    let bare = table.bare(tail);
    let failed_tests = table.failed_tests(&bare);
    let told: Vec<&str> = lines.iter().copied().filter(|line| table.error.tells(line)).collect();
    let failure = if failed_tests.is_empty() {
        digest(if told.is_empty() { lines.into_iter().collect() } else { told })
    } else {
        digest(failed_tests.iter().map(String::as_str).collect())
    };
    let says = bare.lines().map(str::trim).find(|line| table.error.tells(line)).unwrap_or_default();
    Reading { outcome, failure: Some(failure), failed_tests, says: bounded(says.to_owned(), NAME) }
}

/// `gates/outputs.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    varies: Vec<Varies>,
    failed: Vec<Failed>,
    error: Errors,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "`what` and `same` are for people and tests"))]
struct Varies {
    what: String,
    #[serde(deserialize_with = "regex")]
    pattern: Regex,
    #[serde(rename = "as")]
    replacement: String,
    same: [String; 2],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "the example is for people and tests"))]
struct Failed {
    #[serde(deserialize_with = "regex")]
    pattern: Regex,
    line: String,
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    file: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Errors {
    starts: Vec<String>,
    contains: Vec<String>,
}

impl Errors {
    fn tells(&self, line: &str) -> bool {
        self.starts.iter().any(|text| line.starts_with(text.as_str()))
            || self.contains.iter().any(|text| line.contains(text.as_str()))
    }
}

fn regex<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Regex, D::Error> {
    Regex::new(&String::deserialize(from)?).map_err(serde::de::Error::custom)
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| {
        // A test holds the embedded file readable.
        embedded::file(embedded::GATES, "outputs.toml").and_then(|text| toml::from_str(text).ok()).unwrap_or_default()
    })
}

impl Table {
    /// A text without what varies.
    fn normal(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for varies in &self.varies {
            if let std::borrow::Cow::Owned(replaced) = varies.pattern.replace_all(&text, varies.replacement.as_str()) {
                text = replaced;
            }
        }
        text
    }

    /// A text without colours, which are the first that varies.
    fn bare(&self, text: &str) -> String {
        self.varies
            .first()
            .map_or_else(|| text.to_owned(), |colours| colours.pattern.replace_all(text, "").into_owned())
    }

    /// The tests that the lines name as failed, with their file where that is given; sorted, each once.
    fn failed_tests(&self, text: &str) -> Vec<String> {
        let mut found = BTreeSet::new();
        for line in text.lines().filter(|line| line.len() < 1024) {
            for failed in &self.failed {
                let Some(groups) = failed.pattern.captures(line) else { continue };
                let group = |name| groups.name(name).map(|found| found.as_str().trim()).filter(|text| !text.is_empty());
                let name = match (group("file"), group("name")) {
                    (Some(file), Some(name)) => format!("{file}::{name}"),
                    (file, name) => name.or(file).unwrap_or_default().to_owned(),
                };
                if !name.is_empty() {
                    found.insert(bounded(name, NAME));
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
        let table: Table = toml::from_str(embedded::file(embedded::GATES, "outputs.toml").unwrap()).unwrap();
        assert_eq!(table.varies[0].what, "colours");
        for varies in &table.varies {
            let [one, other] = &varies.same;
            assert_ne!(one, other, "{}", varies.what);
            assert!(varies.pattern.is_match(one), "{}: {one}", varies.what);
            assert_eq!(table.normal(one), table.normal(other), "{}", varies.what);
        }
        for failed in &table.failed {
            let groups = failed.pattern.captures(&failed.line).unwrap_or_else(|| panic!("{}", failed.line));
            for (group, expected) in [("name", &failed.name), ("file", &failed.file)] {
                assert_eq!(groups.name(group).map(|found| found.as_str()), expected.as_deref(), "{}", failed.line);
            }
            let told = table.failed_tests(&failed.line);
            let both = [failed.file.as_deref(), failed.name.as_deref()];
            assert_eq!(told, [both.into_iter().flatten().collect::<Vec<_>>().join("::")], "{}", failed.line);
        }
    }

    fn fail(tail: &str) -> Reading {
        read(Some(Ended::Exited(1)), Some(Outcome::Fail), tail)
    }

    #[test]
    fn times_and_addresses_make_no_other_outcome_and_counts_do() {
        let one = fail(
            "thread 'a' (11) panicked at src/x.rs:1:2:\ntest a ... FAILED\n10 passed; 1 failed; finished in 0.31s\n",
        );
        let again = fail(
            "test a ... FAILED\nthread 'a' (12) panicked at src/x.rs:1:2:\n10 passed; 1 failed; finished in 2.5s\n",
        );
        assert_eq!((&one.outcome, &one.failure), (&again.outcome, &again.failure), "times, threads, order of lines");
        assert_eq!(one.failed_tests, ["a"]);
        let progress = fail(
            "thread 'a' (12) panicked at src/x.rs:1:2:\ntest a ... FAILED\n11 passed; 1 failed; finished in 0.3s\n",
        );
        assert_ne!(one.outcome, progress.outcome);
        assert_eq!(one.failure, progress.failure, "the same test fails");
        assert_ne!(one.failure, fail("test b ... FAILED\n").failure);
    }

    #[test]
    fn what_ended_well_has_no_failure() {
        let good = read(Some(Ended::Exited(0)), Some(Outcome::Pass), "test result: ok. 0 failed\n");
        assert_eq!((good.failure, good.says.as_str()), (None, ""));
        assert_ne!(good.outcome, read(Some(Ended::Exited(0)), Some(Outcome::Pass), "other").outcome);
        assert_ne!(good.outcome, fail("test result: ok. 0 failed\n").outcome, "the status counts");
    }

    #[test]
    fn any_text_is_read_in_bounds() {
        let long = format!("{}\nerror: the end", "x\u{fc}".repeat(READ));
        assert_eq!(fail(&long).says, "error: the end");
        assert_eq!(fail("").failed_tests, Vec::<String>::new());
    }
}
