//! Regular expressions that are compiled only for a text that contains one of the texts that every match needs.

mod required_texts;

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer};

use self::required_texts::{BEFORE_SET, BEFORE_SETS, BEFORE_TEXT, folded, required};

/// One regular expression.
#[derive(Debug, Default)]
pub struct LazyPattern {
    written: String,
    any_case: bool,
    /// The sets of `required`, if the build wrote them down.
    known: Option<String>,
    required: OnceLock<Vec<Vec<String>>>,
    compiled: OnceLock<Option<Regex>>,
}

/// A list of regular expressions that distinguish capital and small letters.
#[derive(Debug, Default)]
pub struct LazyPatterns(Vec<LazyPattern>);

/// A list of regular expressions for words of people, in capital or small letters.
#[derive(Debug, Default)]
pub struct PhrasePatterns(Vec<LazyPattern>);

/// Compiles an expression of an embedded table; `None` if it is malformed, which the tests of each table exclude.
pub fn compiled(written: &str) -> Option<Regex> {
    compile(&RegexBuilder::new(written), written).ok()
}

/// Compiles an expression. The debug log tells of it, because it takes far longer than most searches.
fn compile(builder: &RegexBuilder, written: &str) -> Result<Regex, regex::Error> {
    log::debug!("compiles the pattern {written}");
    builder.build()
}

impl LazyPattern {
    /// Returns an entry of a table that was embedded with the texts that its matches need.
    fn of_entry(entry: &str, bounds: [&str; 2]) -> Self {
        let (pattern, known) =
            entry.split_once(BEFORE_SETS).map_or((entry, None), |(pattern, sets)| (pattern, Some(sets)));
        let written = [bounds[0], "(?:", pattern, ")", bounds[1]].concat();
        Self { known: known.map(str::to_owned), ..Self::new(written, true) }
    }

    fn new(written: String, any_case: bool) -> Self {
        let any_case = any_case || written.starts_with("(?i)");
        Self { written, any_case, ..Self::default() }
    }

    /// Returns the expression as it was written.
    #[cfg(test)]
    fn written(&self) -> &str {
        &self.written
    }

    /// Returns the error of an expression that cannot be compiled.
    pub fn check(&self) -> Result<(), regex::Error> {
        self.compile().map(drop)
    }

    fn compile(&self) -> Result<Regex, regex::Error> {
        compile(RegexBuilder::new(&self.written).case_insensitive(self.any_case), &self.written)
    }

    /// Returns the expression if it may match in a text.
    pub fn about(&self, text: &str) -> Option<&Regex> {
        if let Some(compiled) = self.compiled.get() { compiled.as_ref() } else { self.within(&self.folded(text)) }
    }

    fn folded<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.any_case { Cow::Owned(folded(text)) } else { Cow::Borrowed(text) }
    }

    /// Returns the expression if it may match in a text of which this is the folded form.
    fn within(&self, folded: &str) -> Option<&Regex> {
        let has = |text: &str| memmem::find(folded.as_bytes(), text.as_bytes()).is_some();
        if self.may_match(has) { self.compiled.get_or_init(|| self.compile().ok()).as_ref() } else { None }
    }

    /// Returns `false` if a set has no text that is there.
    fn may_match(&self, has: impl Fn(&str) -> bool) -> bool {
        if let Some(known) = &self.known {
            let mut sets = known.split(BEFORE_SET).filter(|set| !set.is_empty());
            return sets.all(|set| set.split(BEFORE_TEXT).any(&has));
        }
        let sets = self.required.get_or_init(|| required(&self.written, self.any_case));
        sets.iter().all(|texts| texts.iter().any(|text| has(text)))
    }

    /// As [`Self::within`], for a text of which the pairs of letters are known.
    fn within_pairs(&self, folded: &str, pairs: &LetterPairs) -> Option<&Regex> {
        if self.may_match(|text| pairs.may_have(text)) { self.within(folded) } else { None }
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

impl LazyPatterns {
    /// Returns the expressions as they were written.
    #[cfg(test)]
    pub fn written(&self) -> Vec<&str> {
        self.0.iter().map(LazyPattern::written).collect()
    }

    /// Returns the list of these expressions.
    pub fn of(written: &[&str]) -> Self {
        Self(written.iter().map(|written| LazyPattern::from((*written).to_owned())).collect())
    }

    /// Returns the expressions that may match in a text, in their order.
    pub fn about(&self, text: &str) -> impl Iterator<Item = &Regex> {
        self.0.iter().filter_map(move |pattern| pattern.within(&pattern.folded(text)))
    }
}

impl PhrasePatterns {
    /// Returns the patterns of entries that begin and end at a word.
    pub fn words(entries: &[String]) -> Self {
        Self(entries.iter().map(|entry| LazyPattern::of_entry(entry, [r"\b", r"\b"])).collect())
    }

    /// Returns the patterns of entries that may stand inside a word.
    pub fn anywhere(entries: &[String]) -> Self {
        Self(entries.iter().map(|entry| LazyPattern::of_entry(entry, ["", ""])).collect())
    }

    /// Returns the places at which an expression matches, in order; places that overlap are joined.
    pub fn spans(&self, text: &str) -> Vec<(usize, usize)> {
        let folded = folded(text);
        let pairs = LetterPairs::of(&folded);
        let regexes = self.0.iter().filter_map(|pattern| pattern.within_pairs(&folded, &pairs));
        joined(regexes.flat_map(|regex| regex.find_iter(text)).map(|hit| (hit.start(), hit.end())).collect())
    }

    /// Returns `true` if one of the expressions matches in a text.
    pub fn is_match(&self, text: &str) -> bool {
        let folded = folded(text);
        self.0.iter().any(|pattern| pattern.within(&folded).is_some_and(|regex| regex.is_match(text)))
    }

    /// Returns the error of the first expression that cannot be compiled.
    pub fn check(&self) -> Result<(), regex::Error> {
        self.0.iter().try_for_each(LazyPattern::check)
    }

    /// Returns the number of expressions.
    #[cfg(test)]
    pub fn count(&self) -> usize {
        self.0.len()
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

impl From<String> for LazyPattern {
    fn from(written: String) -> Self {
        Self::new(written, false)
    }
}

impl<'de> Deserialize<'de> for LazyPattern {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from).map(Self::from)
    }
}

impl<'de> Deserialize<'de> for LazyPatterns {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self(Vec::deserialize(from)?))
    }
}

impl<'de> Deserialize<'de> for PhrasePatterns {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::anywhere(&Vec::<String>::deserialize(from)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all expressions of all embedded tables and gates, as far as they are lists of texts.
    fn written() -> Vec<String> {
        fn collect(value: &serde_json::Value, found: &mut Vec<String>) {
            match value {
                serde_json::Value::String(text) => found.extend(text.split(BEFORE_SETS).next().map(str::to_owned)),
                serde_json::Value::Array(list) => list.iter().for_each(|value| collect(value, found)),
                serde_json::Value::Object(table) => table.values().for_each(|value| collect(value, found)),
                _ => {}
            }
        }
        let mut found = Vec::new();
        for (name, _) in crate::embedded::TABLES {
            collect(&crate::embedded::table(name), &mut found);
        }
        found
    }

    #[test]
    fn what_is_not_compiled_would_not_match() {
        let all = written();
        let texts: Vec<String> = all.iter().flat_map(|text| [text.clone(), text.to_uppercase()]).collect();
        let all_texts = texts.join("\n");
        let mut tried = 0;
        for pattern in all.iter().filter(|text| text.contains(['\\', '|', '(', '['])) {
            for any_case in [false, true] {
                let lazy = LazyPattern::new(pattern.clone(), any_case);
                let Ok(regex) = lazy.compile() else { continue };
                // Each match, alone, must be a text for which the expression is compiled.
                for found in regex.find_iter(&all_texts).take(50) {
                    assert!(lazy.about(found.as_str()).is_some(), "{pattern} matches {}", found.as_str());
                    tried += 1;
                }
            }
        }
        assert!(tried > 5_000, "{tried}");
    }

    #[test]
    fn letters_of_either_case_are_found() {
        let of = |written: &str| LazyPattern::new(written.to_owned(), true);
        for (pattern, text) in [
            ("pass", "PASS"),
            ("pass", "paſſ"),
            ("ok", "O\u{212a}"),
            ("prüft", "PRÜFT"),
            ("straße|gasse", "STRAẞE"),
            ("σας", "ΣΑΣ"),
            ("测试.*通过", "测试已通过"),
            ("(테스트).*(통과|성공)", "테스트 통과"),
            ("نجح|اجتاز", "اجتاز"),
            (r"\x{37e}x", "\u{37e}X"),
            (r"\pLb", "äB"),
        ] {
            assert!(of(pattern).about(text).is_some_and(|regex| regex.is_match(text)), "{pattern} in {text}");
        }
        for (pattern, text) in [
            ("pass|ok", "failed"),
            ("prüft", "failed"),
            ("通过", "测试"),
            ("(테스트).*(통과)", "passed"),
            ("نجح", "ok"),
        ] {
            assert!(of(pattern).about(text).is_none(), "{pattern} in {text}");
        }
        assert!(LazyPattern::new("pass".to_owned(), false).about("PASS").is_none());
    }

    #[test]
    fn places_of_words_are_joined_and_do_not_begin_inside_a_word() {
        let entries = ["so slow".to_owned(), "slow(?: down)?".to_owned()];
        assert_eq!(PhrasePatterns::words(&entries).spans("It is SO slow down there, slowly"), [(6, 18)]);
        assert_eq!(PhrasePatterns::anywhere(&["慢".to_owned()]).spans("太慢了"), [(3, 6)]);
    }
}
