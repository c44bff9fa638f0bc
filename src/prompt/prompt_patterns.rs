//! The expressions of `gates/prompt-patterns.toml`.

use std::ops::Range;
use std::sync::OnceLock;

use crate::embedded::PROMPT_PATTERNS;
use crate::lazy_patterns::{PatternGroups, StoredPattern, stored_entries, stored_lists};

/// The expressions of one name: one, or several that belong together.
#[derive(Debug)]
pub(super) struct PromptPattern {
    name: &'static str,
    found: OnceLock<Vec<StoredPattern>>,
}

impl PromptPattern {
    pub(super) const fn named(name: &'static str) -> Self {
        Self { name, found: OnceLock::new() }
    }

    pub(super) fn all(&self) -> &[StoredPattern] {
        self.found.get_or_init(|| {
            let mut lists = stored_lists(PROMPT_PATTERNS).filter(|(name, _)| *name == self.name);
            lists.next().into_iter().flat_map(|(_, list)| stored_entries(list)).filter_map(StoredPattern::of).collect()
        })
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.find_iter(text).next().is_some()
    }

    /// Returns the places of the matches of each expression, in order.
    pub(super) fn find_iter(&self, text: &str) -> impl Iterator<Item = Range<usize>> {
        self.groups_iter(text).filter_map(|groups| groups.get(0))
    }

    /// Returns the groups of the matches of each expression, in order.
    pub(super) fn groups_iter(&self, text: &str) -> impl Iterator<Item = PatternGroups> {
        self.all().iter().flat_map(|pattern| pattern.groups_iter(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::european_letters::european;

    /// Returns short texts, long ones, and one whose words are long.
    fn texts() -> Vec<String> {
        let whole = include_str!("../../docs/prompts.md");
        let trace =
            "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: x\n\nFix it in a.py.";
        let others =
            ["", "a", "Hazlo más rápido, y también el “menú”.", "看情况处理一下，顺便优化", "ſtraße İ the", trace];
        let parts = whole.split("\n\n").step_by(9).chain(others).map(str::to_owned);
        parts.chain([whole.to_owned(), "x/y.rs-".repeat(400)]).collect()
    }

    #[test]
    fn a_stored_expression_matches_where_the_written_one_does() {
        let table: toml::Table = toml::from_str(include_str!("../../gates/prompt-patterns.toml")).unwrap();
        for (name, value) in &table {
            let written = value.as_array().map_or(std::slice::from_ref(value), Vec::as_slice);
            let list = stored_lists(PROMPT_PATTERNS).find(|(known, _)| known == name).expect("a list").1;
            for (written, stored) in written.iter().filter_map(toml::Value::as_str).zip(stored_entries(list)) {
                let (regex, stored) =
                    (regex::Regex::new(&european(written)).unwrap(), StoredPattern::of(stored).unwrap());
                for text in texts() {
                    let expected: Vec<_> = regex.find_iter(&text).map(|found| Some(found.range())).collect();
                    let found: Vec<_> = stored.groups_iter(&text).map(|groups| groups.get(0)).collect();
                    assert_eq!(found, expected, "{written} in {text:.60}");
                }
            }
        }
    }

    #[test]
    fn every_expression_has_an_automaton() {
        let entries = stored_lists(PROMPT_PATTERNS).flat_map(|(_, list)| stored_entries(list));
        assert!(entries.map(StoredPattern::of).all(|pattern| pattern.is_some_and(|pattern| pattern.is_stored())));
    }
}
