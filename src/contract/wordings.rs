//! Other wordings of conditions, by the table `gates/contract-wordings.toml`: `src/a.rs exists`, `no file exceeds 500 lines`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::Deserialize;

use crate::embedded;
use crate::lazy_patterns::LazyPattern;

/// The largest condition whose wording is looked up, in bytes.
const MAX_CONDITION: usize = 500;

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordingTable {
    /// Patterns, each with the name that stands for it in the wordings.
    parts: BTreeMap<String, String>,
    wording: Vec<WordingEntry>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordingEntry {
    is: String,
    subject: String,
    says: String,
}

/// One wording, and the usual form of its condition.
struct Wording {
    pattern: LazyPattern,
    subject: String,
    says: String,
}

static WORDINGS: LazyLock<Vec<Wording>> = LazyLock::new(|| {
    let WordingTable { parts, wording } = embedded::table("contract-wordings.toml");
    wording.into_iter().map(|entry| Wording::of(entry, &parts)).collect()
});

/// Returns the usual forms of a condition: subjects and statements, the likeliest first.
pub(super) fn usual_forms(text: &str) -> impl Iterator<Item = (String, String)> {
    let text = with_plain_numbers(text.trim().trim_end_matches('.'));
    let wordings = if text.len() <= MAX_CONDITION { WORDINGS.as_slice() } else { &[] };
    let as_written = text.rsplit_once(": ").map(|(subject, says)| (subject.to_owned(), says.to_owned()));
    as_written.into_iter().chain(wordings.iter().filter_map(move |wording| wording.usual_form(&text)))
}

impl Wording {
    fn of(entry: WordingEntry, parts: &BTreeMap<String, String>) -> Self {
        let whole = parts.iter().fold(entry.is, |pattern, (name, part)| pattern.replace(name.as_str(), part));
        let pattern = LazyPattern::from(format!("(?i)^(?:{whole})$"));
        Self { pattern, subject: entry.subject, says: entry.says }
    }

    fn usual_form(&self, text: &str) -> Option<(String, String)> {
        let found = self.pattern.about(text)?.captures(text)?;
        Some((expanded(&found, &self.subject), expanded(&found, &self.says)))
    }
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
        for wording in WORDINGS.iter() {
            assert!(wording.pattern.check().is_ok(), "{:?}", wording.pattern);
        }
    }
}
