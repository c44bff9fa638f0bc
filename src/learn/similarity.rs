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

/// Returns `true` if two texts say nearly the same.
pub fn is_same(one: &str, other: &str) -> bool {
    jaccard(one, other) >= SAME_LESSON
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
            ("", "", false),
            ("größere Tests zuerst", "Größere tests, zuerst", true),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} / {other}");
        }
    }
}
