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
    /// The words for what only a reader can judge, as a pattern.
    judged: String,
    /// Patterns, each with the name that stands for it in the wordings.
    parts: BTreeMap<String, String>,
    wording: Vec<WordingEntry>,
    hint: Vec<HintEntry>,
    yaml: Vec<YamlError>,
}

/// The remedy for errors of the parser of YAML.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct YamlError {
    /// The words of which an error has one.
    has: Vec<String>,
    remedy: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WordingEntry {
    is: String,
    subject: String,
    says: String,
}

/// The usual form to name for a condition that is not understood.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct HintEntry {
    about: String,
    form: String,
}

/// The table, ready for use.
struct ConditionTable {
    judged: LazyPattern,
    wordings: Vec<Wording>,
    hints: Vec<(LazyPattern, String)>,
    yaml: Vec<YamlError>,
}

/// One wording, and the usual form of its condition.
struct Wording {
    pattern: LazyPattern,
    subject: String,
    says: String,
}

static TABLE: LazyLock<ConditionTable> = LazyLock::new(|| {
    let WordingTable { judged, parts, wording, hint, yaml } = embedded::table("contract-wordings.toml");
    ConditionTable {
        judged: LazyPattern::from(format!("(?i)^(?:{judged})$")),
        wordings: wording.into_iter().map(|entry| Wording::of(entry, &parts)).collect(),
        hints: hint.into_iter().map(HintEntry::ready).collect(),
        yaml,
    }
});

/// Returns the usual forms of a condition: subjects and statements, the likeliest first.
pub(super) fn usual_forms(text: &str) -> impl Iterator<Item = (String, String)> {
    let text = with_plain_numbers(text.trim().trim_end_matches('.'));
    let wordings = if text.len() <= MAX_CONDITION { TABLE.wordings.as_slice() } else { &[] };
    let as_written = text.rsplit_once(": ").map(|(subject, says)| (subject.to_owned(), says.to_owned()));
    as_written.into_iter().chain(wordings.iter().filter_map(move |wording| wording.usual_form(&text)))
}

/// `true` if a text without quotes names what only a reader can judge: `errors`, `dead code`.
pub(super) fn is_judged(text: &str) -> bool {
    TABLE.judged.about(text).is_some_and(|judged| judged.is_match(text))
}

/// Returns the usual form that is nearest to a condition that is not understood.
pub(super) fn hint(text: &str) -> Option<&'static str> {
    let text = text.get(..text.floor_char_boundary(MAX_CONDITION))?;
    let fits = |hint: &&(LazyPattern, String)| hint.0.about(text).is_some_and(|about| about.is_match(text));
    TABLE.hints.iter().find(fits).map(|(_, form)| form.as_str())
}

/// Returns the remedy for what the parser of YAML says.
pub(super) fn yaml_remedy(what: &str) -> Option<&'static str> {
    let fits = |error: &&YamlError| error.has.iter().any(|words| what.contains(words.as_str()));
    TABLE.yaml.iter().find(fits).map(|error| error.remedy.as_str())
}

impl HintEntry {
    fn ready(self) -> (LazyPattern, String) {
        (LazyPattern::from(format!("(?i){}", self.about)), self.form)
    }
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
        let wordings = TABLE.wordings.iter().map(|wording| &wording.pattern);
        for pattern in wordings.chain(TABLE.hints.iter().map(|(about, _)| about)).chain([&TABLE.judged]) {
            assert!(pattern.check().is_ok(), "{pattern:?}");
        }
    }
}
