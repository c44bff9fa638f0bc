//! Expressions that the build compiled. Each stands in a text: its place among the automata, and the texts that a match needs.

use std::sync::OnceLock;

use memchr::memmem;

use super::automaton::{Automaton, PatternGroups};
use super::required_texts::{ANY_CASE, BEFORE_ENTRY, BEFORE_LIST, BEFORE_SET, BEFORE_SETS, BEFORE_TEXT, folded};
use super::searched_text::SearchedText;
use crate::embedded::AUTOMATA;

/// Returns the name of each list in a text of lists, and its entries.
pub fn stored_lists(text: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    text.split(BEFORE_LIST).filter_map(|list| list.split_once(BEFORE_ENTRY))
}

/// Returns the entries of a list.
pub fn stored_entries(list: &'static str) -> impl Iterator<Item = &'static str> {
    list.split(BEFORE_ENTRY)
}

/// An expression that the build compiled.
#[derive(Debug)]
pub struct StoredPattern {
    at: usize,
    any_case: bool,
    /// Sets of texts: a match has one of each.
    sets: &'static str,
    automaton: OnceLock<Option<Box<Automaton>>>,
}

impl StoredPattern {
    /// Returns the expression of an entry, or `None` if the entry is a plain word.
    pub fn of(entry: &'static str) -> Option<Self> {
        let (place, sets) = entry.split_once(BEFORE_SETS)?;
        let number = place.strip_prefix(ANY_CASE);
        let at = number.unwrap_or(place).parse().ok()?;
        Some(Self { at, any_case: number.is_some(), sets, automaton: OnceLock::new() })
    }

    /// Returns the groups of each match, in order.
    pub fn groups_iter(&self, text: &str) -> impl Iterator<Item = PatternGroups> {
        self.about(text).into_iter().flat_map(|automaton| automaton.groups_iter(text))
    }

    /// Returns the automaton if it may match in a text.
    fn about(&self, text: &str) -> Option<&Automaton> {
        if let Some(automaton) = self.automaton.get() {
            return automaton.as_deref();
        }
        let folded = if self.any_case { &folded(text) } else { text };
        has_all(self.sets, |text| memmem::find(folded.as_bytes(), text.as_bytes()).is_some())
            .then(|| self.automaton())
            .flatten()
    }

    /// Returns the automaton if it may match in a text.
    pub(super) fn within(&self, searched: &SearchedText) -> Option<&Automaton> {
        let may_match =
            has_all(self.sets, |text| searched.may_have(text)) && has_all(self.sets, |text| searched.has(text));
        may_match.then(|| self.automaton()).flatten()
    }

    /// Returns `true` if its automaton can be put together.
    #[cfg(test)]
    pub fn is_stored(&self) -> bool {
        self.automaton().is_some()
    }

    fn automaton(&self) -> Option<&Automaton> {
        self.automaton.get_or_init(|| Automaton::stored(AUTOMATA.get(self.at..)?).map(Box::new)).as_deref()
    }
}

/// Returns `true` if a text of each set is there.
pub(super) fn has_all(sets: &str, has: impl Fn(&str) -> bool) -> bool {
    sets.split(BEFORE_SET).filter(|set| !set.is_empty()).all(|set| set.split(BEFORE_TEXT).any(&has))
}
