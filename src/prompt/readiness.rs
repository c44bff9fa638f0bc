//! Whether a request with low scores says enough to begin. A low score that rests on words that no list knows is no
//! evidence that something is missing: questions come first for a smell, and for a request that hardly says anything.

use std::collections::BTreeSet;

use super::concrete_values::concrete;
use super::continuation::words_in;
use super::places::PromptTargets;
use super::score_basis::ScoreBasis;
use super::scores::is_explicit;

/// The fewest words of a request that says what it wants in words that no list knows.
const MIN_WORDS: usize = 12;
/// The fewest words next to a name of this repository.
const MIN_WORDS_WITH_NAME: usize = 6;
/// The fewest words of each of several tasks.
const MIN_WORDS_OF_TASK: usize = 8;
/// The fewest words of a request that tells what was done, and what happened instead.
const MIN_REPORT_WORDS: usize = 30;
/// The fewest words, and names, of a request in which one smell weighs little.
const MIN_WORDS_AROUND_SMELL: usize = 40;
const MIN_NAMES_AROUND_SMELL: usize = 3;
/// The fewest words, and names, of a specification.
const MIN_SPECIFICATION_WORDS: usize = 120;
const MIN_SPECIFICATION_NAMES: usize = 4;
/// The fewest words of a request in a script of which there are no lists.
const MIN_UNLISTED_WORDS: usize = 4;

impl ScoreBasis<'_> {
    /// Returns `true` if the request says enough, and no smell says what is missing.
    pub(super) fn says_enough(&self, places: &PromptTargets<'_>) -> bool {
        let words = words_said(self.reading.text);
        // A log alone says nothing about what is wanted.
        if words_said(&self.reading.wish) == 0 {
            return false;
        }
        let found = places.one.iter().chain(&places.unknown).copied();
        let found = found.chain(places.several.iter().map(|(name, _)| *name)).filter(|name| is_explicit(name));
        let found: BTreeSet<&str> = found.map(|name| name.text.as_str()).collect();
        let named: BTreeSet<&str> = self.reading.explicit().map(|name| name.text.as_str()).collect();
        if words >= MIN_SPECIFICATION_WORDS && named.len() >= MIN_SPECIFICATION_NAMES && !found.is_empty() {
            return true;
        }
        let ids: BTreeSet<&str> = self.smells.iter().map(|smell| smell.id).collect();
        match ids.len() {
            0 if self.tasks > 1 => {
                let is_said = words >= MIN_WORDS_OF_TASK * self.tasks || concrete(self.reading.text) > 0;
                is_said || found.len() >= self.tasks
            }
            0 => {
                words >= MIN_WORDS
                    || !found.is_empty() && words >= MIN_WORDS_WITH_NAME
                    || has_unlisted_script(&self.reading.wish) && words >= MIN_UNLISTED_WORDS
            }
            1 if ids.contains("total_system") => false,
            1 if ids.contains("bug_without_reproduction") && words >= MIN_REPORT_WORDS => true,
            1 => words >= MIN_WORDS_AROUND_SMELL && found.len() >= MIN_NAMES_AROUND_SMELL,
            _ => false,
        }
    }
}

/// Returns the number of words; in a script without spaces, of characters.
fn words_said(text: &str) -> usize {
    let is_wide = |c: &char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
    let wide = text.chars().filter(is_wide).count();
    if wide == 0 { words_in(text) } else { wide.max(words_in(text)) }
}

/// Returns `true` if most letters belong to a script of which there are no lists.
fn has_unlisted_script(wish: &str) -> bool {
    let letters = wish.chars().filter(|c| c.is_alphabetic());
    let (mut all, mut unlisted) = (0_usize, 0_usize);
    for letter in letters {
        all += 1;
        unlisted +=
            usize::from(!matches!(letter, '\0'..='\u{36f}' | '\u{1e00}'..='\u{1eff}' | '\u{4e00}'..='\u{9fff}'));
    }
    unlisted * 2 > all
}
