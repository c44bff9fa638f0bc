//! The wordings of questions and notes, from `gates/prompt-wordings.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::embedded;

/// The wordings by language and by key.
type Phrases = BTreeMap<String, BTreeMap<String, Vec<String>>>;

static PHRASES: LazyLock<Phrases> = LazyLock::new(|| embedded::table("prompt-wordings.toml"));

/// Returns a number that depends on a text alone: the same text gets the same wording.
pub(super) fn seed(text: &str) -> usize {
    text.bytes().fold(text.len(), |sum, byte| sum.wrapping_mul(31).wrapping_add(usize::from(byte)))
}

/// Returns a wording with its fields filled in; English where the language has none.
pub fn phrase(language: &str, key: &str, seed: usize, fields: &[(&str, &str)]) -> String {
    let wordings = |language: &str| PHRASES.get(language)?.get(key);
    let Some(wordings) = wordings(language).or_else(|| wordings("en")) else { return String::new() };
    let mut text = wordings[seed % wordings.len().max(1)].clone();
    for (name, value) in fields {
        text = text.replace(&format!("{{{name}}}"), value);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wording_is_there_in_english_and_none_is_empty() {
        let english = &PHRASES["en"];
        for (language, keys) in PHRASES.iter() {
            for (key, wordings) in keys {
                assert!(english.contains_key(key), "{language}: {key}");
                assert!(!wordings.is_empty() && wordings.iter().all(|text| !text.is_empty()), "{language}: {key}");
            }
        }
    }

    #[test]
    fn different_requests_get_different_words() {
        let words: std::collections::BTreeSet<String> =
            (0..4).map(|number| phrase("en", "verify", number, &[])).collect();
        assert!(words.len() > 1);
        assert_eq!(phrase("pt", "place_several", 0, &[("name", "row")]), "Which `row` do you mean?");
    }
}
