//! Lists of words and phrases of people, in capital or small letters.
//!
//! Most entries are plain words, which are looked for without a regular expression: a word that begins with none of the words of
//! the text is not even looked at.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex_automata::nfa::thompson::BuildError;
use serde::{Deserialize, Deserializer};

use super::automaton::Automaton;
use super::required_texts::{BEFORE_SETS, is_plain, required};
use super::searched_text::SearchedText;
use super::stored_pattern::{StoredPattern, has_all};

/// A list of words and of regular expressions for words of people, in capital or small letters.
#[derive(Debug, Default)]
pub struct PhrasePatterns {
    /// Words, or some with spaces between them, in small letters and sorted.
    words: Vec<Cow<'static, str>>,
    patterns: Vec<PhrasePattern>,
    /// Each word begins and ends at a word.
    whole_words: bool,
}

/// A regular expression.
#[derive(Debug)]
enum PhrasePattern {
    /// The build compiled it.
    Stored(StoredPattern),
    Written(WrittenPattern),
}

/// An expression of a table, and the texts that its matches need if the build wrote them down.
#[derive(Debug)]
struct WrittenPattern {
    entry: String,
    required: OnceLock<Vec<Vec<String>>>,
    compiled: OnceLock<Option<Box<Automaton>>>,
}

impl PhrasePatterns {
    /// Returns the list that the build wrote. Its words are sorted.
    pub fn stored(entries: impl Iterator<Item = &'static str>, whole_words: bool) -> Self {
        let mut list = Self { whole_words, ..Self::default() };
        for entry in entries {
            match StoredPattern::of(entry) {
                Some(pattern) => list.patterns.push(PhrasePattern::Stored(pattern)),
                None => list.words.push(Cow::Borrowed(entry)),
            }
        }
        list
    }

    fn written(entries: impl IntoIterator<Item = String>, whole_words: bool) -> Self {
        let mut list = Self { whole_words, ..Self::default() };
        for entry in entries {
            let expression = entry.split(BEFORE_SETS).next().unwrap_or_default();
            if is_plain(expression) {
                list.words.push(Cow::Owned(expression.to_owned()));
            } else {
                let (required, compiled) = (OnceLock::new(), OnceLock::new());
                list.patterns.push(PhrasePattern::Written(WrittenPattern { entry, required, compiled }));
            }
        }
        list.words.sort_unstable();
        list
    }

    /// Returns the places at which an expression matches, in order; places that overlap are joined.
    pub fn spans(&self, searched: &SearchedText) -> Vec<(usize, usize)> {
        let mut found: Vec<(usize, usize)> =
            self.words_of(searched).flat_map(|word| searched.places(word, self.whole_words)).collect();
        for pattern in &self.patterns {
            let places = pattern.about(searched).into_iter().flat_map(|pattern| pattern.find_iter(searched.text()));
            found.extend(places.map(|place| (place.start, place.end)));
        }
        joined(found)
    }

    /// Returns `true` if one of the expressions matches in a text.
    pub fn is_match(&self, text: &str) -> bool {
        let searched = SearchedText::of(text);
        self.words_of(&searched).any(|word| searched.places(word, self.whole_words).next().is_some())
            || self.patterns.iter().any(|one| one.about(&searched).is_some_and(|pattern| pattern.is_match(text)))
    }

    /// Returns the words that may be in a text.
    fn words_of<'a>(&'a self, searched: &'a SearchedText) -> impl Iterator<Item = &'a str> {
        let all = self.words.iter().filter(|_| !self.whole_words).map(|word| &**word);
        let said = searched.words().filter(|_| self.whole_words);
        all.chain(said.flat_map(|word| beginning_with(&self.words, word)))
    }

    /// Returns the error of the first expression that cannot be compiled.
    pub fn check(&self) -> Result<(), Box<BuildError>> {
        self.patterns.iter().try_for_each(|pattern| match pattern {
            PhrasePattern::Stored(_) => Ok(()),
            PhrasePattern::Written(written) => written.compile().map(drop),
        })
    }

    /// Returns the number of expressions.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.words.len() + self.patterns.len()
    }
}

/// Returns the entries whose first word is this one.
fn beginning_with<'a>(entries: &'a [Cow<'static, str>], word: &str) -> impl Iterator<Item = &'a str> {
    let rest = &entries[entries.partition_point(|entry| &**entry < word)..];
    let begins = move |entry: &&Cow<'static, str>| {
        entry.strip_prefix(word).is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    };
    rest.iter().take_while(begins).map(|entry| &**entry)
}

impl PhrasePattern {
    /// Returns the expression if it may match.
    fn about(&self, searched: &SearchedText) -> Option<&Automaton> {
        match self {
            Self::Stored(stored) => stored.within(searched),
            Self::Written(written) => written.within(searched),
        }
    }
}

impl WrittenPattern {
    fn within(&self, searched: &SearchedText) -> Option<&Automaton> {
        let has = |text: &str| searched.may_have(text) && searched.has(text);
        if self.may_match(has) {
            self.compiled.get_or_init(|| self.compile().ok().map(Box::new)).as_deref()
        } else {
            None
        }
    }

    /// Returns `false` if a set has no text that is there.
    fn may_match(&self, has: impl Fn(&str) -> bool) -> bool {
        if let Some((_, sets)) = self.entry.split_once(BEFORE_SETS) {
            return has_all(sets, has);
        }
        let sets = self.required.get_or_init(|| required(&self.entry, true));
        sets.iter().all(|texts| texts.iter().any(|text| has(text)))
    }

    fn compile(&self) -> Result<Automaton, Box<BuildError>> {
        Automaton::compiled(self.entry.split(BEFORE_SETS).next().unwrap_or_default())
    }
}

/// Returns places in order; those that overlap become one.
pub fn joined(mut places: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    places.sort_unstable();
    places.dedup_by(|later, earlier| {
        let overlaps = later.0 < earlier.1;
        if overlaps {
            earlier.1 = earlier.1.max(later.1);
        }
        overlaps
    });
    places
}

impl<'de> Deserialize<'de> for PhrasePatterns {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::written(Vec::<String>::deserialize(from)?, false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(entries: &[&str], whole_words: bool, text: &str) -> Vec<(usize, usize)> {
        let entries = entries.iter().map(|entry| (*entry).to_owned());
        PhrasePatterns::written(entries, whole_words).spans(&SearchedText::of(text))
    }

    #[test]
    fn places_of_words_are_joined_and_do_not_begin_inside_a_word() {
        let entries = ["so slow", r"\bslow(?: down)?\b"];
        assert_eq!(spans(&entries, true, "It is SO slow down there, slowly"), [(6, 18)]);
        assert_eq!(spans(&["慢"], false, "太慢了"), [(3, 6)]);
    }

    #[test]
    fn a_plain_word_is_found_where_its_expression_matches() {
        for text in [
            "the", "The end", "other", "the the", "a_the", "the1", "thé", "éthe", "(the)", "THE\u{300}", "paſſ",
            "İ the", "\u{212a} the", "a a a", "ba a a", "aa a", "ｔｈｅ the",
        ] {
            for word in ["the", "a a", "pass", "k", "a"] {
                for whole_words in [true, false] {
                    let bound = if whole_words { r"\b" } else { "" };
                    let regex = regex::Regex::new(&format!("(?i){bound}(?:{word}){bound}")).unwrap();
                    let expected: Vec<_> = regex.find_iter(text).map(|hit| (hit.start(), hit.end())).collect();
                    assert_eq!(spans(&[word], whole_words, text), expected, "{word} in {text}");
                    let phrases = PhrasePatterns::written([word.to_owned()], whole_words);
                    assert_eq!(phrases.is_match(text), !expected.is_empty(), "{word} in {text}");
                }
            }
        }
    }
}
