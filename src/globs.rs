//! Globs where `*` stays inside one directory.
//!
//! Compiling a glob costs a hundred times as much as matching it against one path, and most processes match few paths.
//! So a glob is read when a path contains its literal letters, and compiled when many paths are matched, or if it has more
//! than letters, `*` and braces. Then, too, the letters of all globs are searched for at once.

mod plain_glob;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use globset::{Glob, GlobBuilder, GlobMatcher, GlobSet};
use memchr::memmem;
use serde::{Deserialize, Deserializer};

use self::plain_glob::PlainGlob;

/// The number of paths from which letters are searched for at once, and globs are compiled.
const MANY: usize = 32;

/// The length of a glob, in bytes, from which it might be too large for the regex engine.
const LARGE: usize = 16 * 1024;

/// A glob that cannot be compiled.
#[derive(Debug, thiserror::Error)]
#[error("`{glob}` is not a glob: {reason}")]
pub struct InvalidGlob {
    /// The glob as written.
    pub glob: String,
    /// The error.
    pub reason: String,
}

/// Some globs, in order.
#[derive(Debug, Default)]
pub struct Globs {
    list: Vec<LazyGlob>,
    asked: AtomicUsize,
    /// The letters of all globs, or `None` if they are too many for one search.
    letters: OnceLock<Option<Letters>>,
}

#[derive(Clone, Debug)]
struct LazyGlob {
    written: String,
    /// The range in `written` of its letters.
    letters: OnceLock<Range<usize>>,
    /// The glob as it is matched without the library, if it can be.
    plain: OnceLock<Option<PlainGlob>>,
    /// The compiled glob, or `None` if it is invalid and matches nothing.
    compiled: OnceLock<Option<GlobMatcher>>,
}

impl LazyGlob {
    fn new(glob: &str) -> Self {
        Self { written: glob.to_owned(), letters: OnceLock::new(), plain: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// Returns a text that every path it matches contains.
    fn letters(&self) -> &str {
        &self.written[self.letters.get_or_init(|| letters(&self.written)).clone()]
    }

    fn may_match(&self, path: &Path) -> bool {
        memmem::find(path.as_os_str().as_encoded_bytes(), self.letters().as_bytes()).is_some()
    }

    fn plain(&self) -> Option<&PlainGlob> {
        self.plain.get_or_init(|| PlainGlob::of(&self.written)).as_ref()
    }

    /// Returns `true` if it matches a path. `is_of_many`: it is worth the time to compile it.
    fn is_match(&self, path: &Path, is_of_many: bool) -> bool {
        let plain = if is_of_many { None } else { self.plain() };
        if let Some(answer) = plain.and_then(|plain| plain.is_match(path.as_os_str().as_encoded_bytes())) {
            return answer;
        }
        let compile = || check(&self.written).ok().map(|glob| glob.compile_matcher());
        self.compiled.get_or_init(compile).as_ref().is_some_and(|glob| glob.is_match(path))
    }
}

/// The letters of some globs.
#[derive(Clone, Debug)]
struct Letters {
    finder: AhoCorasick,
    /// The globs that need each of the texts.
    globs: Vec<Vec<usize>>,
    /// The globs that need none.
    always: Vec<usize>,
}

impl Letters {
    fn of(list: &[LazyGlob]) -> Option<Self> {
        let mut by_letters: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, lazy) in list.iter().enumerate() {
            by_letters.entry(lazy.letters()).or_default().push(at);
        }
        let always = by_letters.remove("").unwrap_or_default();
        let (letters, globs): (Vec<&str>, _) = by_letters.into_iter().unzip();
        // The fastest one to ask takes too long to make.
        let finder = AhoCorasick::builder().kind(Some(AhoCorasickKind::ContiguousNFA)).build(letters).ok()?;
        Some(Self { finder, globs, always })
    }

    /// Returns the indexes of the globs whose letters a path contains, ascending.
    fn in_path(&self, path: &Path) -> Vec<usize> {
        let mut found = self.always.clone();
        for letters in self.finder.find_overlapping_iter(path.as_os_str().as_encoded_bytes()) {
            found.extend_from_slice(&self.globs[letters.pattern().as_usize()]);
        }
        found.sort_unstable();
        found.dedup();
        found
    }
}

impl Globs {
    /// Checks globs. `*` does not cross `/`, `**` does; case matters.
    pub fn new<S: AsRef<str>>(globs: &[S]) -> Result<Self, InvalidGlob> {
        let mut all = Self::default();
        globs.iter().try_for_each(|glob| all.push(glob.as_ref()))?;
        Ok(all)
    }

    /// Adds a glob after the others.
    pub fn push(&mut self, glob: &str) -> Result<(), InvalidGlob> {
        if !plain_glob::is_well_written(glob) {
            check(glob)?;
        }
        self.list.push(LazyGlob::new(glob));
        self.letters = OnceLock::new();
        Ok(())
    }

    /// Returns the globs as written.
    #[cfg(test)]
    pub fn written(&self) -> impl Iterator<Item = &str> {
        self.list.iter().map(|lazy| lazy.written.as_str())
    }

    /// Returns `true` if there are no globs.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Returns `true` if any glob matches.
    pub fn is_match(&self, path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        let is_of_many = self.is_asked_again();
        self.likely(path, is_of_many).into_iter().any(|at| self.list[at].is_match(path, is_of_many))
    }

    /// Returns the indexes of the globs that match, ascending.
    pub fn matches(&self, path: impl AsRef<Path>) -> Vec<usize> {
        let path = path.as_ref();
        let is_of_many = self.is_asked_again();
        let mut matches = self.likely(path, is_of_many);
        matches.retain(|&at| self.list[at].is_match(path, is_of_many));
        matches
    }

    /// Counts one more path, and returns `true` if there were many.
    fn is_asked_again(&self) -> bool {
        self.letters.get().is_some() || self.asked.fetch_add(1, Ordering::Relaxed) >= MANY
    }

    /// Returns the indexes of the globs whose letters a path contains, ascending.
    fn likely(&self, path: &Path, is_of_many: bool) -> Vec<usize> {
        if is_of_many && let Some(letters) = self.letters.get_or_init(|| Letters::of(&self.list)) {
            return letters.in_path(path);
        }
        (0..self.list.len()).filter(|&at| self.list[at].may_match(path)).collect()
    }
}

impl Clone for Globs {
    fn clone(&self) -> Self {
        Self { list: self.list.clone(), asked: AtomicUsize::new(0), letters: self.letters.clone() }
    }
}

/// Reads the globs of an embedded file without checking them, because its test checks them: checking costs most of what
/// compiling does.
impl<'de> Deserialize<'de> for Globs {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let list = Vec::<String>::deserialize(from)?.iter().map(|glob| LazyGlob::new(glob)).collect();
        Ok(Self { list, ..Self::default() })
    }
}

/// Checks one glob, without the cost of compiling it.
pub fn check(glob: &str) -> Result<Glob, InvalidGlob> {
    let invalid = |error: &globset::Error| InvalidGlob { glob: glob.to_owned(), reason: error.kind().to_string() };
    let checked = GlobBuilder::new(glob).literal_separator(true).backslash_escape(true).empty_alternates(true).build();
    let checked = checked.map_err(|error| invalid(&error))?;
    // Only a huge glob can be well written and refused all the same.
    if glob.len() > LARGE {
        GlobSet::new([checked.clone()]).map_err(|error| invalid(&error))?;
    }
    Ok(checked)
}

/// Returns letters that every path that a glob matches contains: the longest of its literal parts. A `/` at their ends
/// may match nothing, and text in braces or brackets is optional.
fn letters(glob: &str) -> Range<usize> {
    let mut best = 0..0;
    let mut start = 0;
    let (mut braces, mut escaped, mut class) = (0_usize, false, None);
    for (at, letter) in glob.char_indices() {
        let literal = match (letter, class) {
            _ if escaped => {
                escaped = false;
                false
            }
            (_, Some(opened)) => {
                // The first letter of a class, and the first after its negation, do not close it.
                let closes = letter == ']' && at > opened + 1 && !matches!(&glob[opened + 1..at], "!" | "^");
                class = class.filter(|_| !closes);
                false
            }
            ('\\', None) => {
                escaped = true;
                false
            }
            ('[', None) => {
                class = Some(at);
                false
            }
            ('{', None) => {
                braces += 1;
                false
            }
            ('}', None) => {
                braces = braces.saturating_sub(1);
                false
            }
            _ => braces == 0 && !matches!(letter, '*' | '?'),
        };
        if !literal {
            best = longer(glob, best, start..at);
            start = at + letter.len_utf8();
        }
    }
    longer(glob, best, start..glob.len())
}

fn longer(glob: &str, best: Range<usize>, part: Range<usize>) -> Range<usize> {
    let text = &glob[part.clone()];
    let start = part.start + text.len() - text.trim_start_matches('/').len();
    let part = start..start + text.trim_matches('/').len();
    if part.len() > best.len() { part } else { best }
}

#[cfg(test)]
mod tests {
    use globset::GlobSetBuilder;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn letters_are_what_no_match_lacks() {
        for (glob, expected) in [
            ("src/**", "src"),
            ("**/tests/**", "tests"),
            ("**/*.test.*", ".test."),
            ("a/**/long/b*", "long/b"),
            ("{src,lib}/x", "x"),
            ("[ab]c[!]d]efg", "efg"),
            ("a\\*bc", "bc"),
            ("*", ""),
            ("**", ""),
            ("", ""),
            ("Cargo.toml", "Cargo.toml"),
            ("é{a,b}", "é"),
        ] {
            assert_eq!(&glob[letters(glob)], expected, "{glob}");
        }
    }

    #[test]
    fn a_choice_may_be_empty() {
        let globs = Globs::new(&["data{,s}/**"]).unwrap();
        for (path, is) in [("data/a", true), ("datas/a", true), ("datax/a", false)] {
            assert_eq!(globs.is_match(path), is, "{path}");
        }
    }

    #[test]
    fn what_is_no_glob_is_named() {
        let error = Globs::new(&["ok", "[a"]).unwrap_err();
        assert_eq!(error.glob, "[a");
    }

    #[test]
    fn a_huge_glob_is_refused_when_it_is_read() {
        let huge = "{a?b*,[a-z]*c}".repeat(200_000);
        assert!(Globs::new(&[huge]).is_err());
    }

    proptest! {
        /// Checks that matching one by one and all at once give the same result.
        #[test]
        fn the_order_of_asking_changes_nothing(
            globs in prop::collection::vec("([ab/*?.]|\\*\\*/|/\\*\\*|\\{a,b/\\}|\\[ab\\]|\\[!a\\]|\\\\\\*){0,8}", 0..6),
            path in "[ab./]{0,8}",
        ) {
            let Ok(lazy) = Globs::new(&globs) else { return Ok(()) };
            // The library finds no name in a path that ends with a dot.
            prop_assume!(!path.ends_with('.'));
            let mut set = GlobSetBuilder::new();
            for glob in &globs {
                set.add(check(glob).unwrap());
            }
            let expected = set.build().unwrap().matches(&path);
            prop_assert_eq!(lazy.matches(&path), expected.clone());
            prop_assert_eq!(lazy.is_match(&path), !expected.is_empty());
            for _ in 0..=MANY {
                lazy.is_match("a");
            }
            prop_assert!(lazy.letters.get().is_some());
            prop_assert_eq!(lazy.matches(&path), expected);
        }
    }
}
