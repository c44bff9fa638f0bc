//! The words of each language, from `gates/prompt/*.toml`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde::Deserialize;

use crate::embedded;

/// One file of `gates/prompt/`.
#[derive(Debug, Deserialize)]
struct WordFile {
    /// `true` if entries may occur inside a word: the language writes no spaces.
    #[serde(default)]
    anywhere: bool,
    #[serde(flatten)]
    sections: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// The entries of one list in one language, compiled on first use.
#[derive(Debug)]
struct List {
    pattern: String,
    regex: OnceLock<Option<Regex>>,
}

impl List {
    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| Regex::new(&self.pattern).ok()).as_ref()
    }
}

type WordLists = BTreeMap<String, List>;

static LANGUAGES: LazyLock<BTreeMap<&'static str, WordLists>> = LazyLock::new(|| {
    let languages = embedded::TABLES.iter().filter_map(|(path, _)| {
        let name = path.strip_prefix("prompt/")?.strip_suffix(".toml")?;
        Some((name, lists(&embedded::table(path))))
    });
    languages.collect()
});

fn lists(file: &WordFile) -> WordLists {
    let mut lists = WordLists::new();
    for (section, keys) in &file.sections {
        for (key, entries) in keys {
            let entries = entries.join("|");
            let pattern = if file.anywhere { format!("(?i)(?:{entries})") } else { format!(r"(?i)\b(?:{entries})\b") };
            lists.insert(format!("{section}.{key}"), List { pattern, regex: OnceLock::new() });
        }
    }
    lists
}

/// The lists that apply to one prompt: those of its language, and the English ones, because commands and names are English.
#[derive(Clone, Copy, Debug)]
pub(super) struct PromptLanguage(&'static str);

impl PromptLanguage {
    /// Returns the language with the most words in the text; English when none has more.
    pub(super) fn of(text: &str) -> Self {
        const TELLING: [&str; 7] = [
            "acts.question",
            "acts.precise",
            "acts.create",
            "acts.vague",
            "acts.review",
            "continuations.filler",
            "continuations.accept",
        ];
        let count = |lists: &WordLists| {
            // A verb tells more than a small word, which several languages share.
            let weighed = TELLING
                .iter()
                .filter_map(|key| Some((lists.get(*key)?.regex()?, if key.starts_with("acts") { 3 } else { 1 })));
            let first = |regex: &Regex| usize::from(regex.find(text.trim_start()).is_some_and(|hit| hit.start() == 0));
            weighed.map(|(regex, weight)| (regex.find_iter(text).count() + first(regex)) * weight).sum::<usize>()
        };
        let mut best = ("en", LANGUAGES.get("en").map_or(0, count));
        for (name, lists) in LANGUAGES.iter() {
            let found = count(lists);
            if found > best.1 {
                best = (name, found);
            }
        }
        Self(best.0)
    }

    /// Returns the name of the language's file.
    pub(super) fn name(self) -> &'static str {
        self.0
    }

    /// Returns the places of entries of the list.
    pub(super) fn spans(self, key: &str, text: &str) -> Vec<(usize, usize)> {
        let names = if self.0 == "en" { vec!["en"] } else { vec![self.0, "en"] };
        spans_in(names.into_iter(), key, text)
    }

    /// Returns `true` if the text contains an entry of the list.
    pub(super) fn has(self, key: &str, text: &str) -> bool {
        !self.spans(key, text).is_empty()
    }

    /// Returns the end of the entry that the text begins with. "Checkout" in `Checkout.tsx` is not one.
    pub(super) fn begins(self, key: &str, text: &str) -> Option<usize> {
        let begun = self.spans(key, text).into_iter().filter(|(start, _)| *start == 0).map(|(_, end)| end).max();
        begun.filter(|end| !is_part_of_name(&text[*end..]))
    }
}

/// Returns `true` if a word goes on as a name: `.tsx`, `/list`, `::new`, `-cache`.
fn is_part_of_name(rest: &str) -> bool {
    let mut rest = rest.chars();
    rest.next().is_some_and(|first| "./:-(=".contains(first))
        && rest.next().is_some_and(|second| second.is_alphanumeric() || ":)".contains(second))
}

/// Returns the places of entries of the list, in any language.
pub(super) fn spans(key: &str, text: &str) -> Vec<(usize, usize)> {
    spans_in(LANGUAGES.keys().copied(), key, text)
}

fn spans_in(names: impl Iterator<Item = &'static str>, key: &str, text: &str) -> Vec<(usize, usize)> {
    let mut found: Vec<(usize, usize)> = Vec::new();
    let regexes = names.filter_map(|name| LANGUAGES.get(name)?.get(key)?.regex());
    for regex in regexes {
        found.extend(regex.find_iter(text).map(|hit| (hit.start(), hit.end())));
    }
    found.sort_unstable();
    found.dedup_by(|later, earlier| {
        let overlaps = later.0 < earlier.1;
        if overlaps {
            earlier.1 = earlier.1.max(later.1);
        }
        overlaps
    });
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_every_language_is_a_pattern() {
        assert_eq!(LANGUAGES.len(), 6, "a file that cannot be read is left out");
        for (name, lists) in LANGUAGES.iter() {
            for (key, list) in lists {
                assert!(list.regex().is_some(), "{name}: {key}");
                assert!(!list.regex().unwrap().is_match(""), "{name}: {key} matches nothing at all");
            }
        }
    }

    #[test]
    fn the_language_is_the_one_with_the_most_words() {
        for (text, name) in [
            ("rename the thing", "en"),
            ("renombra la tabla de los usuarios", "es"),
            ("benenne das in der Datei um", "de"),
            ("renomme le fichier et la table", "fr"),
            ("优化一下这个", "zh"),
        ] {
            assert_eq!(PromptLanguage::of(text).name(), name, "{text}");
        }
    }
}
