//! Code as a list of words, so that layout, comments and the instance do not count.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher};

use foldhash::fast::FixedState;
use tree_sitter::Node;

/// Words that layout puts there, or the form of a function.
const LAYOUT: [&str; 7] = [";", ",", "{", "}", "return", "=>", "..."];

/// The tokens between an instance and its member.
const MEMBER: [&str; 4] = [".", "->", "::", "?."];

/// The word for the function's own name.
const OWN_NAME: &str = "\u{1}";

/// Reads code as words.
pub(super) struct Code<'a> {
    text: &'a str,
    comments: &'a [String],
    instance: &'a [String],
    own_name: &'a str,
}

impl<'a> Code<'a> {
    pub(super) fn new(text: &'a str, comments: &'a [String], instance: &'a [String], own_name: &'a str) -> Self {
        Self { text, comments, instance, own_name }
    }

    /// Returns the words of a node, as their hashes.
    pub(super) fn read(&mut self, node: Node<'_>) -> Vec<u32> {
        let mut words: Vec<&str> = Vec::new();
        let mut cursor = node.walk();
        'tree: loop {
            let node = cursor.node();
            let comment = self.comments.iter().any(|kind| kind == node.kind());
            if !comment && cursor.goto_first_child() {
                continue;
            }
            if !comment {
                let word = self.text.get(node.byte_range()).unwrap_or_default().trim();
                self.push(word, &mut words);
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'tree;
                }
            }
        }
        words.into_iter().map(word).collect()
    }

    fn push(&self, word: &'a str, words: &mut Vec<&'a str>) {
        if word.is_empty() || LAYOUT.contains(&word) || self.instance.iter().any(|own| own == word) {
            // Marks that the separator after it goes, too.
            if self.instance.iter().any(|own| own == word) {
                words.push("");
            }
            return;
        }
        if words.last() == Some(&"") {
            words.pop();
            if MEMBER.contains(&word) {
                return;
            }
        }
        words.push(if word == self.own_name { OWN_NAME } else { word });
    }
}

/// Returns a word as it stands in these lists.
pub(super) fn word(word: &str) -> u32 {
    let mut hasher = FixedState::with_seed(0).build_hasher();
    hasher.write(word.as_bytes());
    u32::try_from(hasher.finish() >> 32).unwrap_or_default()
}

type Bag = HashMap<(u32, u32), usize, FixedState>;

fn pairs(words: &[u32]) -> Bag {
    let mut bag = Bag::default();
    let padded = [0].iter().chain(words).zip(words.iter().chain(&[0]));
    for (a, b) in padded {
        *bag.entry((*a, *b)).or_default() += 1;
    }
    bag
}

fn common(a: &Bag, b: &Bag) -> usize {
    a.iter().map(|(pair, count)| b.get(pair).map_or(0, |other| *count.min(other))).sum()
}

/// Returns the similarity of two lists of words, from 0 to 1: the share of the pairs of neighbours that are in both.
#[allow(clippy::cast_precision_loss)]
pub(super) fn similarity(a: &[u32], b: &[u32]) -> f64 {
    if a == b {
        return 1.0;
    }
    let common = common(&pairs(a), &pairs(b));
    common as f64 / (a.len() + b.len() + 2 - common) as f64
}

/// Returns the part of the shorter list of words that is in the longer one, from 0 to 1.
#[allow(clippy::cast_precision_loss)]
pub(super) fn overlap(a: &[u32], b: &[u32]) -> f64 {
    common(&pairs(a), &pairs(b)) as f64 / (a.len().min(b.len()) + 1) as f64
}

/// Returns the part of the different words of the shorter list that are in the longer one, from 0 to 1.
#[allow(clippy::cast_precision_loss)]
pub(super) fn shared_words(a: &[u32], b: &[u32]) -> f64 {
    let (a, b): (HashSet<u32>, HashSet<u32>) = (a.iter().copied().collect(), b.iter().copied().collect());
    a.intersection(&b).count() as f64 / a.len().min(b.len()).max(1) as f64
}

/// Returns the part of `inner` that is in `outer` and was not in `outer_before`, from 0 to 1.
#[allow(clippy::cast_precision_loss)]
pub(super) fn came_into(inner: &[u32], outer: &[u32], outer_before: &[u32]) -> f64 {
    let mut grown = pairs(outer);
    for (pair, count) in pairs(outer_before) {
        if let Some(left) = grown.get_mut(&pair) {
            *left = left.saturating_sub(count);
        }
    }
    let inner = inner.windows(2).map(|pair| (pair[0], pair[1]));
    let (mut all, mut found) = (0_usize, 0_usize);
    for pair in inner {
        all += 1;
        if let Some(left) = grown.get_mut(&pair).filter(|left| **left > 0) {
            *left -= 1;
            found += 1;
        }
    }
    if all == 0 { 0.0 } else { found as f64 / all as f64 }
}
