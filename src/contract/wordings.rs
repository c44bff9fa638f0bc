//! Other wordings of conditions, by the table `gates/contract-wordings.toml`: `src/a.rs exists`, `no file exceeds 500 lines`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex, RegexBuilder};
use serde::Deserialize;

use crate::embedded;

/// The largest condition whose wording is looked up, in bytes.
const MAX_CONDITION: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordingTable {
    /// Patterns that stand for a name in capital letters.
    parts: BTreeMap<String, String>,
    wording: Vec<Wording>,
}

/// One wording, and the usual form of its condition.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Wording {
    is: String,
    subject: String,
    says: String,
    /// A pattern of texts that mean something else.
    unless: Option<String>,
}

static TABLE: LazyLock<WordingTable> = LazyLock::new(|| embedded::table("contract-wordings.toml"));

/// Returns the usual forms of a condition: subjects and statements, the likeliest first.
pub(super) fn usual_forms(text: &str) -> impl Iterator<Item = (String, String)> {
    let text = with_plain_numbers(text.trim().trim_end_matches('.'));
    let words = if text.len() <= MAX_CONDITION { TABLE.wording.as_slice() } else { &[] };
    let as_written = text.rsplit_once(": ").map(|(subject, says)| (subject.to_owned(), says.to_owned()));
    as_written.into_iter().chain(words.iter().filter_map(move |wording| wording.usual_form(&text)))
}

impl Wording {
    fn usual_form(&self, text: &str) -> Option<(String, String)> {
        let other = self.unless.as_deref().map(whole_pattern);
        if other.flatten().is_some_and(|other| other.is_match(text)) {
            return None;
        }
        let pattern = whole_pattern(&["^(?:", &self.is, ")$"].concat())?;
        let found = pattern.captures(text)?;
        Some((expanded(&found, &self.subject), expanded(&found, &self.says)))
    }
}

/// Compiles a pattern in which the names of parts stand for their patterns.
fn whole_pattern(written: &str) -> Option<Regex> {
    let mut pattern = written.to_owned();
    for (name, part) in &TABLE.parts {
        pattern = pattern.replace(name.as_str(), part);
    }
    RegexBuilder::new(&pattern).case_insensitive(true).build().ok()
}

fn expanded(found: &Captures<'_>, form: &str) -> String {
    let mut text = String::new();
    found.expand(form, &mut text);
    text.trim().to_owned()
}

/// Writes numbers without the marks between thousands, if lines or files are counted: `3,438 lines`.
fn with_plain_numbers(text: &str) -> String {
    static THOUSANDS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\b([0-9]{1,3})[,. ]([0-9]{3}) (lines?|files?|líneas|loc)\b").ok());
    let plain = THOUSANDS.as_ref().map_or_else(|| text.into(), |pattern| pattern.replace_all(text, "$1$2 $3"));
    plain.replace(" LOC", " lines").replace(" loc", " lines")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_of_the_table_compiles() {
        for wording in &TABLE.wording {
            assert!(whole_pattern(&wording.is).is_some(), "{}", wording.is);
        }
    }
}
