//! Regular expressions that are compiled only for a text that contains one of the texts that every match needs.

mod automaton;
mod phrases;
mod required_texts;
mod searched_text;
mod stored_pattern;

use std::borrow::Cow;
use std::sync::OnceLock;

use memchr::memmem;
use regex::{Regex, RegexBuilder};
use serde::{Deserialize, Deserializer};

pub use self::automaton::PatternGroups;
pub use self::phrases::{PhrasePatterns, joined};
use self::required_texts::{folded, required};
pub use self::searched_text::SearchedText;
pub use self::stored_pattern::{StoredPattern, stored_entries, stored_lists};

/// One regular expression.
#[derive(Debug, Default)]
pub struct LazyPattern {
    written: String,
    any_case: bool,
    required: OnceLock<Vec<Vec<String>>>,
    compiled: OnceLock<Option<Regex>>,
}

/// A list of regular expressions that distinguish capital and small letters.
#[derive(Debug, Default)]
pub struct LazyPatterns(Vec<LazyPattern>);

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
    #[cfg(test)]
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
        let sets = self.required.get_or_init(|| required(&self.written, self.any_case));
        sets.iter().all(|texts| texts.iter().any(|text| has(text)))
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

#[cfg(test)]
mod tests {
    use super::required_texts::BEFORE_SETS;
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
}
