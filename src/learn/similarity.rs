//! The similarity of short texts by their words.

use std::collections::BTreeSet;

/// The similarity from which two lessons count as the same.
const SAME_LESSON: f64 = 0.8;

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns the number of common words by the number of all words, from 0 to 1. Two texts without words have nothing in
/// common.
pub fn jaccard(one: &str, other: &str) -> f64 {
    let (one, other) = (words(one), words(other));
    let common = one.intersection(&other).count();
    let all = one.len() + other.len() - common;
    // The counts are small.
    if all == 0 {
        0.0
    } else {
        f64::from(u32::try_from(common).unwrap_or(0)) / f64::from(u32::try_from(all).unwrap_or(1))
    }
}

/// Words that turn a sentence into its opposite.
const TURNING: [&str; 34] = [
    "not", "no", "never", "always", "without", "with", "avoid", "before", "after", "don", "t", "dont", "cannot",
    "stop", "instead", "only", "enable", "disable", "on", "off", "nunca", "siempre", "sin", "con", "antes", "después",
    "nicht", "nie", "immer", "ohne", "mit", "kein", "keine", "jamais",
];

/// Returns `true` if two texts say nearly the same: most words are the same, and no other word is a number or turns the
/// sentence into its opposite.
pub fn is_same(one: &str, other: &str) -> bool {
    let turns = |word: &String| TURNING.contains(&word.as_str()) || word.contains(|c: char| c.is_ascii_digit());
    jaccard(one, other) >= SAME_LESSON && !words(one).symmetric_difference(&words(other)).any(turns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_of_five_words_are_the_same_lesson() {
        for (one, other, expected) in [
            ("run the tests first", "Run the tests first!", true),
            ("run the unit tests first", "run the tests first", true),
            ("run the unit tests", "run all unit checks", false),
            (
                "always run the full test suite before each push",
                "never run the full test suite before each push",
                false,
            ),
            (
                "use the port 8080 for the local test server here",
                "use the port 9090 for the local test server here",
                false,
            ),
            ("run the tests with the cache on", "don't run the tests with the cache on", false),
            ("", "", false),
            ("größere Tests zuerst", "Größere tests, zuerst", true),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} / {other}");
        }
    }
}
