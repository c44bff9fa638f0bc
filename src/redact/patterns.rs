//! Secrets that are recognised by their shape: the patterns of `gates/secrets.toml`.

use std::ops::Range;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use crate::embedded;
use crate::lazy_patterns::LazyPattern;

/// The patterns, each compiled when it is first needed.
pub(super) struct SecretPatterns {
    secrets: Vec<Pattern>,
    near: Near,
    kept_shapes: Vec<LazyPattern>,
}

/// The words near which secrets occur.
struct Near {
    /// The words, in lower case, each with the place of its pattern.
    words: Vec<(String, usize)>,
    /// The machine that seeks them all at once, in any case, or `None` if it could not be made.
    machine: LazyLock<Option<AhoCorasick>, Box<dyn FnOnce() -> Option<AhoCorasick> + Send>>,
    /// The number of bytes that were searched without the machine.
    looked_at: AtomicUsize,
}

/// The result of a search in a text.
pub(super) struct SecretMatch {
    /// The places of secrets.
    pub(super) spans: Vec<Range<usize>>,
    /// `true` if the text has a word that a split secret could follow.
    pub(super) may_be_split: bool,
}

struct Pattern {
    random: bool,
    cut: bool,
    split: bool,
    regex: LazyPattern,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretsFile {
    kept_shapes: Vec<String>,
    #[cfg_attr(not(test), expect(dead_code, reason = "for the tests of the patterns"))]
    untouched: Vec<String>,
    secret: Vec<Secret>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "the examples are for the tests of the patterns"))]
struct Secret {
    id: String,
    near: Vec<String>,
    pattern: String,
    #[serde(default)]
    random: bool,
    #[serde(default)]
    cut: bool,
    #[serde(default)]
    split: bool,
    removed: Vec<String>,
    kept: Vec<String>,
}

fn file() -> SecretsFile {
    embedded::table("secrets.toml")
}

impl SecretPatterns {
    pub(super) fn embedded() -> Self {
        let SecretsFile { kept_shapes, secret, .. } = file();
        Self::of(secret, kept_shapes)
    }

    fn of(secrets: Vec<Secret>, kept_shapes: Vec<String>) -> Self {
        let near = Near::of(&secrets);
        let pattern = |secret: Secret| Pattern {
            random: secret.random,
            cut: secret.cut,
            split: secret.split,
            regex: secret.pattern.into(),
        };
        Self {
            secrets: secrets.into_iter().map(pattern).collect(),
            near,
            kept_shapes: kept_shapes.into_iter().map(LazyPattern::from).collect(),
        }
    }

    /// Returns the places of secrets in `text`.
    pub(super) fn find(&self, text: &str, cut: bool) -> SecretMatch {
        let tried = self.near.tried(text, self.secrets.len());
        let tried: Vec<&Pattern> =
            self.secrets.iter().zip(tried).filter_map(|(one, tried)| tried.then_some(one)).collect();
        let spans = tried.iter().filter(|pattern| cut || !pattern.cut).flat_map(|pattern| self.matches(pattern, text));
        SecretMatch { spans: spans.collect(), may_be_split: tried.iter().any(|pattern| pattern.split) }
    }

    /// Returns the places of secrets that are recognised by their shape alone, even in a text that was joined.
    pub(super) fn find_split(&self, joined: &str) -> Vec<Range<usize>> {
        let tried = self.near.tried(joined, self.secrets.len());
        let tried = self.secrets.iter().zip(tried).filter(|(pattern, tried)| *tried && pattern.split);
        tried.flat_map(|(pattern, _)| self.matches(pattern, joined)).collect()
    }

    fn matches(&self, pattern: &Pattern, text: &str) -> Vec<Range<usize>> {
        let Some(regex) = pattern.regex.about(text) else { return Vec::new() };
        let named: Vec<&str> = regex.capture_names().flatten().filter(|name| name.starts_with("secret")).collect();
        let mut found = Vec::new();
        for captures in regex.captures_iter(text) {
            let group = named.iter().find_map(|name| captures.name(name));
            let Some(secret) = group.or_else(|| captures.get(0)) else { continue };
            let plain = group.is_some() && is_trivial(secret.as_str());
            if !plain && (!pattern.random || self.looks_random(secret.as_str())) {
                found.push(secret.range());
            }
        }
        found
    }

    fn looks_random(&self, value: &str) -> bool {
        /// In bits for each byte: words of a language stay below, 16 random letters and digits above.
        const MIN_ENTROPY: f64 = 3.0;
        value.bytes().any(|byte| byte.is_ascii_digit())
            && value.bytes().any(|byte| byte.is_ascii_alphabetic())
            && entropy(value) >= MIN_ENTROPY
            && !self.kept_shapes.iter().any(|shape| shape.about(value).is_some_and(|shape| shape.is_match(value)))
    }
}

impl Near {
    /// From so many bytes on, making the machine costs less than to seek one word after the other.
    const FEW: usize = 1 << 14;

    fn of(secrets: &[Secret]) -> Self {
        let of_each = secrets.iter().enumerate();
        let words =
            of_each.flat_map(|(at, secret)| secret.near.iter().map(move |word| (word.to_ascii_lowercase(), at)));
        let words: Vec<(String, usize)> = words.collect();
        let sought: Vec<String> = words.iter().map(|(word, _)| word.clone()).collect();
        let machine = move || AhoCorasick::builder().ascii_case_insensitive(true).build(sought).ok();
        Self { words, machine: LazyLock::new(Box::new(machine)), looked_at: AtomicUsize::new(0) }
    }

    /// Returns, for each of `count` patterns, `true` if one of its words is in `text`, in any case.
    fn tried(&self, text: &str, count: usize) -> Vec<bool> {
        let mut tried = vec![false; count];
        let mut seen = |place: usize| {
            if let Some((_, pattern)) = self.words.get(place)
                && let Some(tried) = tried.get_mut(*pattern)
            {
                *tried = true;
            }
        };
        let few = self.looked_at.fetch_add(text.len(), Ordering::Relaxed).saturating_add(text.len()) < Self::FEW;
        match if few { None } else { self.machine.as_ref() } {
            // One word may begin inside of another.
            Some(machine) => machine.find_overlapping_iter(text).for_each(|word| seen(word.pattern().as_usize())),
            None => {
                let lower = text.to_ascii_lowercase();
                (0..self.words.len()).filter(|&place| lower.contains(&self.words[place].0)).for_each(seen);
            }
        }
        tried
    }
}

/// Returns `true` for values in the place of a secret that are not secrets: switches, small numbers, fillers.
fn is_trivial(value: &str) -> bool {
    const WORDS: [&str; 12] = [
        "true", "false", "null", "none", "nil", "undefined", "required", "optional", "string", "redacted", "hidden",
        "unset",
    ];
    value.len() < 8 && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
        || value.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'.' | b'-' | b'_' | b'#'))
        || WORDS.iter().any(|word| value.eq_ignore_ascii_case(word))
        || is_name_in_a_program(value)
}

/// Values such as `process.env.TOKEN`: names joined by dots, without a digit.
fn is_name_in_a_program(value: &str) -> bool {
    let is_name = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'_');
    value.contains('.') && value.split('.').all(is_name)
}

/// Returns the Shannon entropy of the bytes, in bits for each byte.
#[expect(clippy::cast_precision_loss, reason = "counts of bytes in one value")]
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in value.bytes() {
        counts[usize::from(byte)] += 1;
    }
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| f64::from(*count) / length)
        .map(|part| -part * part.log2())
        .sum()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsString;

    use regex::Regex;

    use super::*;
    use crate::redact::environment_values::SecretValues;
    use crate::redact::{REDACTED, redact_with};

    fn clean(text: &str, patterns: &SecretPatterns, cut: bool) -> String {
        redact_with(text, patterns, &SecretValues::of(Vec::<(OsString, OsString)>::new()), cut).into_owned()
    }

    /// Returns the text of an example, and its expected result.
    fn example(marked: &str) -> (String, String) {
        let marked = marked.replace('·', "");
        let mut expected = String::new();
        for (index, part) in marked.split(['«', '»']).enumerate() {
            expected.push_str(if index % 2 == 0 { part } else { REDACTED });
        }
        (marked.replace(['«', '»'], ""), expected)
    }

    #[test]
    fn the_file_is_well_formed() {
        let file = file();
        let ids: BTreeSet<&str> = file.secret.iter().map(|secret| secret.id.as_str()).collect();
        assert_eq!(ids.len(), file.secret.len(), "each id once");
        for secret in &file.secret {
            Regex::new(&secret.pattern).unwrap();
            assert!(!secret.removed.is_empty() && !secret.kept.is_empty(), "{} has examples of both", secret.id);
            assert!(secret.near.iter().all(|near| *near == near.to_ascii_lowercase()), "{}", secret.id);
        }
        for shape in &file.kept_shapes {
            Regex::new(shape).unwrap();
        }
    }

    #[test]
    fn every_example_is_cleaned_and_every_counter_example_is_left_alone() {
        let file = file();
        let all = SecretPatterns::embedded();
        for secret in &file.secret {
            let alone = SecretPatterns::of(vec![secret.clone()], file.kept_shapes.clone());
            for marked in &secret.removed {
                assert!(marked.contains('«'), "{}: {marked}", secret.id);
                let (text, expected) = example(marked);
                assert_eq!(clean(&text, &alone, secret.cut), expected, "{} alone", secret.id);
                assert_eq!(clean(&text, &all, secret.cut), expected, "{} with all others", secret.id);
            }
            for text in &secret.kept {
                assert_eq!(&clean(text, &alone, secret.cut), text, "{} alone", secret.id);
                assert_eq!(&clean(text, &all, secret.cut), text, "{} with all others", secret.id);
            }
        }
    }

    #[test]
    fn what_no_pattern_may_touch_is_untouched() {
        let all = SecretPatterns::embedded();
        for text in file().untouched {
            assert_eq!(clean(&text, &all, true), text);
        }
    }

    #[test]
    fn entropy_is_in_bits_for_each_byte() {
        for (value, bits) in [("", 0.0), ("aaaa", 0.0), ("abab", 1.0), ("abcdefgh", 3.0)] {
            assert!((entropy(value) - bits).abs() < 1e-9, "{value}");
        }
    }
}
