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

    #[test]
    fn every_expression_has_an_automaton() {
        let entries = stored_lists(PROMPT_PATTERNS).flat_map(|(_, list)| stored_entries(list));
        assert!(entries.map(StoredPattern::of).all(|pattern| pattern.is_some_and(|pattern| pattern.is_stored())));
    }
}
