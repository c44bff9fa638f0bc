//! The words of each language, from `gates/prompt/*.toml`.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use foldhash::HashMap;

use crate::embedded::{LanguageSummary, PROMPT_LANGUAGES, PROMPT_WORDS};
use crate::lazy_patterns::{PhrasePatterns, SearchedText, joined, stored_entries, stored_lists};

/// A list of one language.
struct WordList {
    language: &'static str,
    whole_words: bool,
    entries: &'static str,
    patterns: OnceLock<PhrasePatterns>,
}

impl WordList {
    fn spans(&self, searched: &SearchedText) -> Vec<(usize, usize)> {
        let read = || PhrasePatterns::stored(stored_entries(self.entries), self.whole_words);
        self.patterns.get_or_init(read).spans(searched)
    }
}

/// The lists by key, sorted.
static LISTS: LazyLock<Vec<(&'static str, Vec<WordList>)>> = LazyLock::new(|| {
    let mut lists: Vec<(&'static str, Vec<WordList>)> = Vec::new();
    for (name, entries) in stored_lists(PROMPT_WORDS) {
        let (key, language) = name.split_once(' ').unwrap_or((name, "en"));
        let whole_words = !languages(|other| other.name == language).any(|language| language.anywhere);
        let list = WordList { language, whole_words, entries, patterns: OnceLock::new() };
        match lists.last_mut().filter(|last| last.0 == key) {
            Some(last) => last.1.push(list),
            None => lists.push((key, vec![list])),
        }
    }
    lists
});

fn languages(is_wanted: impl Fn(&LanguageSummary) -> bool) -> impl Iterator<Item = &'static LanguageSummary> {
    PROMPT_LANGUAGES.iter().filter(move |language| is_wanted(language))
}

/// Returns the nouns of such languages, in English and in their own.
fn nouns_of(is_wanted: impl Fn(&LanguageSummary) -> bool) -> impl Iterator<Item = (&'static str, &'static str)> {
    let nouns = languages(is_wanted).flat_map(|language| stored_lists(language.nouns));
    nouns.flat_map(|(noun, words)| stored_entries(words).map(move |word| (noun, word)))
}

/// The words of other languages for things that code names in English.
static NOUNS: LazyLock<BTreeMap<&'static str, &'static str>> =
    LazyLock::new(|| nouns_of(|_| true).map(|(noun, word)| (word, noun)).collect());

/// Returns the English name of a thing: "search" for "Suche".
pub(super) fn english_noun(word: &str) -> Option<&'static str> {
    let lower = word.to_lowercase();
    NOUNS.get(lower.as_str()).copied().or_else(|| first_noun(&lower))
}

/// The shortest noun that is looked for at the beginning of a longer word.
const MIN_COMPOUND: usize = 5;

/// Returns the English name of the first part of a compound: "invoice" for "Rechnungsseite".
fn first_noun(word: &str) -> Option<&'static str> {
    let mut nouns = nouns_of(|language| language.compounds);
    nouns.find(|(_, part)| part.len() >= MIN_COMPOUND && word.starts_with(part)).map(|(noun, _)| noun)
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
    let nouns = nouns_of(|language| language.anywhere);
    nouns.filter_map(|(noun, word)| text.find(word).map(|at| (at, at + word.len(), noun))).collect()
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
        let start = text.len() - text.trim_start().len();
        let count = |language: &'static str| {
            // A verb tells more than a small word, which several languages share.
            let weighed = TELLING.iter().map(|key| {
                let spans = spans_in(ListScope::Only(language), key, text);
                (spans.len() + usize::from(spans.first().is_some_and(|span| span.0 == start)))
                    * if key.starts_with("acts") { 3 } else { 1 }
            });
            weighed.sum::<usize>()
        };
        let mut best = ("en", count("en"));
        for LanguageSummary { name, .. } in PROMPT_LANGUAGES {
            let found = count(name);
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
        let scope = if self.is_any() { ListScope::Any } else { ListScope::WithEnglish(self.0) };
        spans_in(scope, key, text)
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
    spans_in(ListScope::Any, key, text)
}

/// The languages whose lists are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum ListScope {
    Any,
    Only(&'static str),
    /// Commands and names are English.
    WithEnglish(&'static str),
}

impl ListScope {
    fn has(self, language: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Only(name) => name == language,
            Self::WithEnglish(name) => name == language || language == "en",
        }
    }
}

thread_local! {
    /// The same words are looked for in the same text again and again.
    static FOUND: RefCell<FoundSpans> = RefCell::default();
}

/// The bytes of texts and places that are kept.
const MAX_KEPT: usize = 4 * 1024 * 1024;

#[derive(Default)]
struct FoundSpans {
    bytes: usize,
    texts: HashMap<String, FoundInText>,
}

/// The places in one text.
struct FoundInText {
    searched: SearchedText,
    /// By the place of the list.
    places: HashMap<(ListScope, usize), Vec<(usize, usize)>>,
}

impl FoundSpans {
    /// Returns the places of one of the lists in a text.
    fn spans(&mut self, scope: ListScope, at: usize, text: &str) -> Vec<(usize, usize)> {
        if let Some(found) = self.texts.get(text).and_then(|found| found.places.get(&(scope, at))) {
            return found.clone();
        }
        if self.bytes > MAX_KEPT {
            *self = Self::default();
        }
        if !self.texts.contains_key(text) {
            self.bytes += text.len() * 3 + size_of::<FoundInText>();
            let found = FoundInText { searched: SearchedText::of(text), places: HashMap::default() };
            self.texts.insert(text.to_owned(), found);
        }
        let lists = LISTS[at].1.iter().filter(|list| scope.has(list.language));
        let Some(found) = self.texts.get_mut(text) else { return Vec::new() };
        let spans = joined(lists.flat_map(|list| list.spans(&found.searched)).collect());
        self.bytes += size_of_val(spans.as_slice());
        found.places.insert((scope, at), spans.clone());
        spans
    }
}

/// Returns the places of entries of the list in some languages.
fn spans_in(scope: ListScope, key: &str, text: &str) -> Vec<(usize, usize)> {
    let Ok(at) = LISTS.binary_search_by_key(&key, |(key, _)| key) else { return Vec::new() };
    FOUND.with_borrow_mut(|found| found.spans(scope, at, text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lazy_patterns::StoredPattern;
    use crate::prompt::european_letters::european;

    #[test]
    fn a_stored_list_finds_what_its_written_entries_do() {
        let texts = [include_str!("../../docs/prompts.md"), "ſo slow, and THE\u{300} menú", "看情况处理一下，顺便优化"];
        for (language, bound, table) in [
            ("en", r"\b", include_str!("../../gates/prompt/en.toml")),
            ("zh", "", include_str!("../../gates/prompt/zh.toml")),
        ] {
            let table: toml::Table = toml::from_str(table).unwrap();
            let lists = table.iter().filter(|(section, _)| *section != "nouns");
            let lists = lists
                .flat_map(|(section, lists)| lists.as_table().into_iter().flatten().map(move |list| (section, list)));
            for (section, (key, entries)) in lists.step_by(4) {
                let entries = entries.as_array().into_iter().flatten().filter_map(toml::Value::as_str);
                let regexes: Vec<_> = entries
                    .map(|entry| regex::Regex::new(&format!("(?i){bound}(?:{}){bound}", european(entry))).unwrap())
                    .collect();
                for text in texts {
                    let places = |regex: &regex::Regex| -> Vec<_> {
                        regex.find_iter(text).map(|found| (found.start(), found.end())).collect()
                    };
                    let expected = joined(regexes.iter().flat_map(places).collect());
                    let key = format!("{section}.{key}");
                    assert_eq!(spans_in(ListScope::Only(language), &key, text), expected, "{key} of {language}");
                }
            }
        }
    }

    #[test]
    fn every_entry_of_every_language_is_a_pattern() {
        for (name, entries) in stored_lists(PROMPT_WORDS) {
            for entry in stored_entries(entries) {
                let pattern = StoredPattern::of(entry);
                assert!(pattern.is_none_or(|pattern| pattern.is_stored()), "{name}: {entry}");
            }
        }
        for (key, lists) in LISTS.iter() {
            assert!(
                lists.iter().all(|list| list.spans(&SearchedText::of("")).is_empty()),
                "{key}: matches nothing at all"
            );
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
