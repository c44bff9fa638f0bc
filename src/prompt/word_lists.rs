//! The words of each language, from `gates/prompt/*.toml`.

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::lazy_patterns::{PhrasePatterns, joined};

/// One file of `gates/prompt/`.
#[derive(Debug, Deserialize)]
struct WordFile {
    /// `true` if entries may occur inside a word: the language writes no spaces.
    #[serde(default)]
    anywhere: bool,
    /// `true` if words are joined without a space: the first noun of one is looked up.
    #[serde(default)]
    compounds: bool,
    #[serde(flatten)]
    sections: BTreeMap<String, BTreeMap<String, Vec<String>>>,
}

/// The lists of one language, by section and key.
type WordLists = BTreeMap<String, PhrasePatterns>;

static FILES: LazyLock<BTreeMap<&'static str, WordFile>> = LazyLock::new(|| {
    let files = embedded::TABLES.iter().filter_map(|(path, _)| {
        let name = path.strip_prefix("prompt/")?.strip_suffix(".toml")?;
        Some((name, embedded::table(path)))
    });
    files.collect()
});

static LANGUAGES: LazyLock<BTreeMap<&'static str, WordLists>> =
    LazyLock::new(|| FILES.iter().map(|(name, file)| (*name, lists(file))).collect());

/// The words of other languages for things that code names in English.
static NOUNS: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
    let nouns = FILES.values().filter_map(|file| file.sections.get(NOUN_SECTION)).flatten();
    nouns.flat_map(|(noun, words)| words.iter().map(|word| (word.as_str(), noun.as_str()))).collect()
});

const NOUN_SECTION: &str = "nouns";

/// Returns the English name of a thing: "search" for "Suche".
pub(super) fn english_noun(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    NOUNS.get(lower.as_str()).copied().or_else(|| first_noun(&lower))
}

/// The shortest noun that is looked for at the beginning of a longer word.
const MIN_COMPOUND: usize = 5;

/// Returns the English name of the first part of a compound: "invoice" for "Rechnungsseite".
fn first_noun(word: &str) -> Option<&'static str> {
    let compounding = FILES.values().filter(|file| file.compounds).filter_map(|file| file.sections.get(NOUN_SECTION));
    let mut nouns = compounding.flatten().flat_map(|(noun, words)| words.iter().map(move |word| (word, noun)));
    nouns.find(|(part, _)| part.len() >= MIN_COMPOUND && word.starts_with(part.as_str())).map(|(_, noun)| noun.as_str())
}

/// Returns `true` for "de la" between two nouns.
pub(super) fn is_genitive(text: &str) -> bool {
    let trimmed = text.trim();
    !trimmed.is_empty() && spans("says.genitives", trimmed).contains(&(0, trimmed.len()))
}

/// Returns `true` for a word that names nothing: "the table is", "this table should", "table sorting".
pub(super) fn is_small_word(word: &str) -> bool {
    const KEYS: [&str; 10] = [
        "language.words",
        "says.predicates",
        "says.expected",
        "continuations.accept",
        "continuations.filler",
        "smells.performance_without_metric",
        "smells.vague_improvement",
        "smells.bug_without_reproduction",
        "says.fails",
        "says.values",
    ];
    word.ends_with("ing") || KEYS.iter().any(|key| spans(key, word).contains(&(0, word.len())))
}

/// Returns the nouns in a text that has no spaces between words, with the places where they begin and end.
pub(super) fn nouns_without_spaces(text: &str) -> Vec<(usize, usize, &'static str)> {
    let unspaced = FILES.values().filter(|file| file.anywhere).filter_map(|file| file.sections.get(NOUN_SECTION));
    let words = unspaced.flatten().flat_map(|(noun, words)| words.iter().map(move |word| (word, noun)));
    words.filter_map(|(word, noun)| text.find(word.as_str()).map(|at| (at, at + word.len(), noun.as_str()))).collect()
}

fn lists(file: &'static WordFile) -> WordLists {
    let mut lists = WordLists::new();
    for (section, keys) in file.sections.iter().filter(|(section, _)| *section != NOUN_SECTION) {
        for (key, entries) in keys {
            let patterns =
                if file.anywhere { PhrasePatterns::anywhere(entries) } else { PhrasePatterns::words(entries) };
            lists.insert(format!("{section}.{key}"), patterns);
        }
    }
    lists
}

/// The lists that apply to one prompt: those of its language, and the English ones, because commands and names are English.
#[derive(Clone, Copy, Debug)]
pub(super) struct PromptLanguage(&'static str);

/// The bytes in which the entry that a text begins with ends.
const MAX_BEGINNING: usize = 160;

impl PromptLanguage {
    /// The lists of every language.
    pub(super) const ANY: Self = Self("any");

    /// Returns the language with the most words in the text; English when none has more.
    pub(super) fn of(text: &str) -> Self {
        const TELLING: [&str; 13] = [
            "acts.run",
            "language.words",
            "acts.question",
            "acts.precise",
            "acts.create",
            "acts.vague",
            "acts.review",
            "continuations.filler",
            "continuations.accept",
            "smells.bug_without_reproduction",
            "smells.performance_without_metric",
            "smells.vague_improvement",
            "says.fails",
        ];
        let count = |lists: &WordLists| {
            // A verb tells more than a small word, which several languages share.
            let weighed = TELLING
                .iter()
                .filter_map(|key| Some((lists.get(*key)?.spans(text), if key.starts_with("acts") { 3 } else { 1 })));
            let start = text.len() - text.trim_start().len();
            let first = |spans: &[(usize, usize)]| usize::from(spans.first().is_some_and(|span| span.0 == start));
            weighed.map(|(spans, weight)| (spans.len() + first(&spans)) * weight).sum::<usize>()
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

    /// Returns `true` for the lists of every language, in which a word may be another one.
    pub(super) fn is_any(self) -> bool {
        self.0 == Self::ANY.0
    }

    /// Returns the name of the language's file.
    pub(super) fn name(self) -> &'static str {
        self.0
    }

    /// Returns the places of entries of the list.
    pub(super) fn spans(self, key: &str, text: &str) -> Vec<(usize, usize)> {
        spans_in(self.0, key, text)
    }

    /// Returns `true` if the text contains an entry of the list.
    pub(super) fn has(self, key: &str, text: &str) -> bool {
        !self.spans(key, text).is_empty()
    }

    /// Returns `true` if the last word of the text is an entry of the list.
    pub(super) fn ends(self, key: &str, text: &str) -> bool {
        let last = text.split_whitespace().next_back().unwrap_or_default();
        !last.is_empty() && self.spans(key, last).contains(&(0, last.len()))
    }

    /// Returns the end of the entry that the text begins with. "Checkout" in `Checkout.tsx` is not one.
    pub(super) fn begins(self, key: &str, text: &str) -> Option<usize> {
        let text_start = &text[..text.floor_char_boundary(MAX_BEGINNING)];
        let begun = self.spans(key, text_start).into_iter().filter(|(start, _)| *start == 0).map(|(_, end)| end).max();
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
    spans_in(PromptLanguage::ANY.0, key, text)
}

thread_local! {
    /// The same words are looked for in the same text again and again.
    static FOUND: RefCell<FoundSpans> = RefCell::default();
}

/// The bytes of texts and places that are kept.
const MAX_KEPT: usize = 4 * 1024 * 1024;

/// The places of one list, by text.
type SpansByText = HashMap<String, Vec<(usize, usize)>>;

#[derive(Default)]
struct FoundSpans {
    bytes: usize,
    /// By language and list.
    places: HashMap<(&'static str, String), SpansByText>,
}

impl FoundSpans {
    fn keep(&mut self, language: &'static str, key: &str, text: &str, spans: &[(usize, usize)]) {
        self.bytes += text.len() + size_of_val(spans);
        if self.bytes > MAX_KEPT {
            *self = Self::default();
        }
        let of_list = self.places.entry((language, key.to_owned())).or_default();
        of_list.insert(text.to_owned(), spans.to_vec());
    }
}

/// Returns the places of entries of the list in one language, or in all.
fn spans_in(language: &'static str, key: &str, text: &str) -> Vec<(usize, usize)> {
    let list = (language, key.to_owned());
    let kept = FOUND.with_borrow(|found| found.places.get(&list)?.get(text).cloned());
    kept.unwrap_or_else(|| {
        let is_asked = |name: &str| language == PromptLanguage::ANY.0 || name == language || name == "en";
        let lists = LANGUAGES.iter().filter(|(name, _)| is_asked(name)).filter_map(|(_, lists)| lists.get(key));
        let spans = joined(lists.flat_map(|list| list.spans(text)).collect());
        FOUND.with_borrow_mut(|found| found.keep(language, key, text, &spans));
        spans
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_of_every_language_is_a_pattern() {
        assert_eq!(LANGUAGES.len(), 6, "a file that cannot be read is left out");
        for (name, lists) in LANGUAGES.iter() {
            for (key, list) in lists {
                assert!(list.check().is_ok(), "{name}: {key}: {:?}", list.check());
                assert!(list.spans("").is_empty(), "{name}: {key} matches nothing at all");
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
