//! Lists of words and phrases of people, in capital or small letters.
//!
//! Most entries are plain words, which are looked for without a regular expression. The others are compiled for one short text, so
//! that building them counts for more than searching: they get the simplest engines.

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem;
use regex_automata::meta::{BuildError, Config, Regex};
use regex_automata::nfa::thompson::WhichCaptures;
use regex_automata::util::syntax;
use serde::{Deserialize, Deserializer};

use super::required_texts::{BEFORE_SET, BEFORE_SETS, BEFORE_TEXT, folded, required};

/// A list of regular expressions for words of people, in capital or small letters.
#[derive(Debug, Default)]
pub struct PhrasePatterns {
    entries: Vec<PhrasePattern>,
    /// Each match begins and ends at a word.
    whole_words: bool,
}

/// A word or a regular expression.
#[derive(Debug, Default)]
struct PhrasePattern {
    /// The expression, and the texts that its matches need if the build wrote them down.
    entry: Cow<'static, str>,
    required: OnceLock<Vec<Vec<String>>>,
    compiled: OnceLock<Option<Regex>>,
}

/// A text in which phrases are looked for.
struct SearchedText<'t> {
    text: &'t str,
    folded: String,
    /// Each character begins at the same byte in both.
    is_aligned: bool,
    pairs: LetterPairs,
}

impl PhrasePatterns {
    /// Returns the patterns of entries that begin and end at a word.
    pub fn words(entries: &'static [String]) -> Self {
        Self { whole_words: true, ..Self::anywhere(entries) }
    }

    /// Returns the patterns of entries that may stand inside a word.
    pub fn anywhere(entries: &'static [String]) -> Self {
        Self::of(entries.iter().map(|entry| Cow::Borrowed(entry.as_str())))
    }

    fn of(entries: impl Iterator<Item = Cow<'static, str>>) -> Self {
        let entries = entries.map(|entry| PhrasePattern { entry, ..PhrasePattern::default() }).collect();
        Self { entries, whole_words: false }
    }

    /// Returns the places at which an expression matches, in order; places that overlap are joined.
    pub fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let searched = SearchedText::of(text);
        let mut found = Vec::new();
        self.entries.iter().for_each(|entry| entry.find(&searched, self.whole_words, &mut found));
        joined(found)
    }

    /// Returns `true` if one of the expressions matches in a text.
    pub fn is_match(&self, text: &str) -> bool {
        let searched = SearchedText::of(text);
        self.entries.iter().any(|entry| entry.is_match(&searched, self.whole_words))
    }

    /// Returns the error of the first expression that cannot be compiled.
    pub fn check(&self) -> Result<(), Box<BuildError>> {
        self.entries.iter().try_for_each(|entry| entry.compile(self.whole_words).map(drop))
    }

    /// Returns the number of expressions.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.entries.len()
    }
}

impl PhrasePattern {
    fn expression(&self) -> &str {
        self.entry.split_once(BEFORE_SETS).map_or(&*self.entry, |(expression, _)| expression)
    }

    /// Returns the entry in small letters if it is a word, or some with spaces between them.
    fn plain(&self) -> Option<&str> {
        // Nearly every entry is asked for every text: the first byte that is none of a word ends the look at it.
        let bytes = self.entry.as_bytes();
        let plain = bytes.iter().take_while(|byte| byte.is_ascii_lowercase() || **byte == b' ').count();
        let ends_there = self.entry[plain..].chars().next().is_none_or(|c| c == BEFORE_SETS);
        let is_word = plain > 0 && bytes[0] != b' ' && bytes[plain - 1] != b' ';
        (ends_there && is_word).then(|| &self.entry[..plain])
    }

    fn find(&self, searched: &SearchedText<'_>, whole_words: bool, found: &mut Vec<(usize, usize)>) {
        match self.plain().filter(|_| searched.is_aligned) {
            Some(plain) => found.extend(searched.places(plain, whole_words)),
            None => {
                let regex = self.about(searched, whole_words).into_iter();
                found
                    .extend(regex.flat_map(|regex| regex.find_iter(searched.text)).map(|hit| (hit.start(), hit.end())));
            }
        }
    }

    fn is_match(&self, searched: &SearchedText<'_>, whole_words: bool) -> bool {
        match self.plain() {
            Some(plain) => searched.places(plain, whole_words).next().is_some(),
            None => self.about(searched, whole_words).is_some_and(|regex| regex.is_match(searched.text)),
        }
    }

    /// Returns the expression if it may match.
    fn about(&self, searched: &SearchedText<'_>, whole_words: bool) -> Option<&Regex> {
        let may_match =
            self.may_match(|text| searched.pairs.may_have(text)) && self.may_match(|text| searched.has(text));
        if may_match { self.compiled.get_or_init(|| self.compile(whole_words).ok()).as_ref() } else { None }
    }

    /// Returns `false` if a set has no text that is there.
    fn may_match(&self, has: impl Fn(&str) -> bool) -> bool {
        if let Some((_, known)) = self.entry.split_once(BEFORE_SETS) {
            let mut sets = known.split(BEFORE_SET).filter(|set| !set.is_empty());
            return sets.all(|set| set.split(BEFORE_TEXT).any(&has));
        }
        let sets = self.required.get_or_init(|| required(&self.entry, true));
        sets.iter().all(|texts| texts.iter().any(|text| has(text)))
    }

    fn compile(&self, whole_words: bool) -> Result<Regex, Box<BuildError>> {
        let bound = if whole_words { r"\b" } else { "" };
        let written = [bound, "(?:", self.expression(), ")", bound].concat();
        log::debug!("compiles the pattern {written}");
        let config = Config::new()
            .auto_prefilter(false)
            .hybrid(false)
            .dfa(false)
            .onepass(false)
            .which_captures(WhichCaptures::Implicit);
        let syntax = syntax::Config::new().case_insensitive(true);
        Ok(Regex::builder().configure(config).syntax(syntax).build(&written)?)
    }
}

impl<'t> SearchedText<'t> {
    fn of(text: &'t str) -> Self {
        let folded = folded(text);
        let is_aligned =
            text.is_ascii() || text.char_indices().map(|(at, _)| at).eq(folded.char_indices().map(|(at, _)| at));
        let pairs = LetterPairs::of(&folded);
        Self { text, folded, is_aligned, pairs }
    }

    fn has(&self, text: &str) -> bool {
        memmem::find(self.folded.as_bytes(), text.as_bytes()).is_some()
    }

    /// Returns the places of a plain text in the folded one.
    fn places(&self, plain: &str, whole_words: bool) -> impl Iterator<Item = (usize, usize)> {
        let is_of_word = |c: char| regex_syntax::is_word_character(c);
        let mut from = 0;
        let mut next = move || {
            let start = from + memmem::find(self.folded.get(from..)?.as_bytes(), plain.as_bytes())?;
            let end = start + plain.len();
            let is_inside = self.folded[..start].ends_with(is_of_word) || self.folded[end..].starts_with(is_of_word);
            let is_found = !(whole_words && is_inside);
            from = if is_found { end } else { start + 1 };
            Some(is_found.then_some((start, end)))
        };
        let may_have = self.pairs.may_have(plain);
        std::iter::from_fn(move || if may_have { next() } else { None }).flatten()
    }
}

/// The pairs of neighbouring bytes in a text, as a set that may hold too many.
struct LetterPairs([u64; Self::WORDS]);

impl LetterPairs {
    const WORDS: usize = 64;

    fn of(text: &str) -> Self {
        let mut pairs = Self([0; Self::WORDS]);
        for pair in text.as_bytes().windows(2) {
            let (word, bit) = Self::place(pair);
            pairs.0[word] |= bit;
        }
        pairs
    }

    fn place(pair: &[u8]) -> (usize, u64) {
        let at = usize::from(pair[0]).wrapping_mul(37).wrapping_add(usize::from(pair[1])) % (Self::WORDS * 64);
        (at / 64, 1 << (at % 64))
    }

    /// Returns `false` if the text cannot contain another one.
    fn may_have(&self, text: &str) -> bool {
        text.as_bytes().windows(2).all(|pair| {
            let (word, bit) = Self::place(pair);
            self.0[word] & bit != 0
        })
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
        Ok(Self::of(Vec::<String>::deserialize(from)?.into_iter().map(Cow::Owned)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(entries: &[&'static str], whole_words: bool) -> PhrasePatterns {
        PhrasePatterns { whole_words, ..PhrasePatterns::of(entries.iter().map(|entry| Cow::Borrowed(*entry))) }
    }

    #[test]
    fn places_of_words_are_joined_and_do_not_begin_inside_a_word() {
        let entries = of(&["so slow", "slow(?: down)?"], true);
        assert_eq!(entries.spans("It is SO slow down there, slowly"), [(6, 18)]);
        assert_eq!(of(&["慢"], false).spans("太慢了"), [(3, 6)]);
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
                    let phrases = of(&[word], whole_words);
                    assert_eq!(phrases.spans(text), expected, "{word} in {text}");
                    assert_eq!(phrases.is_match(text), !expected.is_empty(), "{word} in {text}");
                }
            }
        }
    }
}
