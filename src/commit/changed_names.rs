//! The names in changed lines, which connect changes of two scopes.
//!
//! A function that is renamed in one scope is renamed where another calls it; a setting that one adds, another reads; a
//! parameter that is added in one is passed in the other. Such changes are one, whatever the table of scopes says. The
//! sign is a name that both sides change. A name made of several words (`parse_tree`, `parseTree`, `parse-tree` are
//! one) counts on any changed line. A single word counts only if its *number* of occurrences changed, and the words of
//! languages never count.

use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use foldhash::fast::RandomState;
use serde::Deserialize;

use crate::embedded;

/// The largest number of different names of one file that are kept.
const KEPT: usize = 400;
/// The shortest word that is a name.
const MIN_LENGTH: usize = 4;

/// Counts the names of removed and added lines.
#[derive(Debug, Default)]
pub struct ChangedNames {
    counts: HashMap<String, i32, RandomState>,
}

impl ChangedNames {
    /// Takes a line that was added (`weight` 1) or removed (`weight` -1).
    pub fn line(&mut self, line: &[u8], weight: i32) {
        for part in line.split(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_' || *byte == b'-')) {
            let trimmed = trim(part);
            if trimmed.len() < MIN_LENGTH || trimmed.len() > 80 || trimmed[0].is_ascii_digit() {
                continue;
            }
            let Ok(text) = std::str::from_utf8(trimmed) else { continue };
            let room = self.counts.len() < 20 * KEPT;
            match self.counts.get_mut(text) {
                Some(count) => *count += weight,
                None if room => {
                    self.counts.insert(text.to_owned(), weight);
                }
                None => {}
            }
        }
    }

    /// Returns the names that the change is about, in one spelling, sorted.
    pub fn changed(self) -> Vec<String> {
        let mut names: Vec<(usize, String)> = self
            .counts
            .into_iter()
            .filter(|(name, count)| is_telling(name, *count != 0))
            .map(|(name, _)| (telling(&name), plain(&name)))
            .collect();
        // The most telling ones stay.
        names.sort_unstable_by(|a, b| b.cmp(a));
        names.truncate(KEPT);
        let mut names: Vec<String> = names.into_iter().map(|(_, name)| name).collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}

/// Returns a name that both lists have, both sorted: the longest one.
pub fn shared<'n>(a: &'n [String], b: &[String]) -> Option<&'n str> {
    a.iter().filter(|name| b.binary_search(name).is_ok()).max_by_key(|name| name.len()).map(String::as_str)
}

/// Returns one spelling for all: `parseTree`, `parse_tree` and `parse-tree` are `parse_tree`.
fn plain(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut lower = false;
    for c in name.chars() {
        if c.is_ascii_uppercase() && lower {
            out.push('_');
        }
        lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        out.push(if c == '-' { '_' } else { c.to_ascii_lowercase() });
    }
    out
}

fn trim(word: &[u8]) -> &[u8] {
    let start = word.iter().position(|&byte| byte != b'-' && byte != b'_').unwrap_or(word.len());
    let end = word.iter().rposition(|&byte| byte != b'-' && byte != b'_').map_or(start, |end| end + 1);
    &word[start..end]
}

/// Returns the weight of a name: one made of several words weighs more than one word.
fn telling(name: &str) -> usize {
    let bytes = name.as_bytes();
    let humps = bytes.windows(2).filter(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase()).count();
    let joints = bytes.iter().filter(|&&byte| byte == b'_' || byte == b'-').count();
    humps + joints
}

/// Returns `true` if a word is a name that somebody chose. `counted`: the change added or removed it.
fn is_telling(name: &str, counted: bool) -> bool {
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    // Hashes, versions and numbers connect nothing.
    if digits * 3 > name.len() {
        return false;
    }
    let parts = plain(name);
    let rare = |word: &str| word.len() >= MIN_LENGTH && !known().common.contains(word);
    if telling(name) > 0 {
        // Common words that come and go together are a name; that they merely stand there says little.
        name.len() >= 8 && !known().joined.contains(&parts) && (counted || parts.split('_').any(rare))
    } else {
        counted && name.len() >= 6 && rare(&parts)
    }
}

/// `gates/common-words.toml`.
#[derive(Deserialize)]
struct CommonWords {
    joined: Vec<String>,
    common: Vec<String>,
}

/// The words that connect nothing.
struct StopWords {
    joined: HashSet<String, RandomState>,
    common: HashSet<String, RandomState>,
}

fn known() -> &'static StopWords {
    static KNOWN: OnceLock<StopWords> = OnceLock::new();
    KNOWN.get_or_init(|| {
        let words: CommonWords = embedded::table("common-words.toml");
        StopWords { joined: words.joined.into_iter().collect(), common: words.common.into_iter().collect() }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(added: &[&str], removed: &[&str]) -> Vec<String> {
        let mut names = ChangedNames::default();
        for line in added {
            names.line(line.as_bytes(), 1);
        }
        for line in removed {
            names.line(line.as_bytes(), -1);
        }
        names.changed()
    }

    #[test]
    fn what_is_a_name() {
        for (added, removed, expected) in [
            (&["let r = discover(path_of(x))?;"][..], &["let r = open(path_of(x))?;"][..], &["discover"][..]),
            (&["return result; // the function returns"], &[], &[]),
            (&["fn parse_tree() {}", "1234567 deadbeef123456"], &[], &["parse_tree"]),
            (&["packed_object_info(repo, 0)"], &["packed_object_info(0)"], &["packed_object_info"]),
            (&["headerTrim", "'header-trim': x", "HEADER_TRIM"], &[], &["header_trim"]),
            (&["assert_eq!(is_empty(a), b.to_string())"], &[], &[]),
            (&["----------------"], &["________________"], &[]),
        ] {
            assert_eq!(names(added, removed), expected, "{added:?} {removed:?}");
        }
        let words: CommonWords = embedded::table("common-words.toml");
        assert!(words.common.is_sorted() && words.common.len() > 400 && !words.joined.is_empty());
    }

    #[test]
    fn the_longest_shared_name_is_named() {
        let a = names(&["call parse_tree(discover)"], &[]);
        let b = names(&["fn parse_tree() { discover }"], &[]);
        assert_eq!(shared(&a, &b), Some("parse_tree"));
        assert_eq!(shared(&a, &names(&["color: darkslategray"], &[])), None);
    }

    #[test]
    fn what_is_kept_is_bounded() {
        let lines: Vec<String> =
            (0..5000).map(|n| format!("name_of_{}", "abcdefghij".repeat(n % 5 + 1) + &"xy".repeat(n % 20))).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert!(names(&lines, &[]).len() <= KEPT);
    }
}
