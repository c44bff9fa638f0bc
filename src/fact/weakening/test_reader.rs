//! Reads the tests of one text: their names, the skipped ones, and the number of assertions.

use super::table::TestLanguage;
use crate::lazy_patterns::LazyPatterns;

/// The maximum length of a text that is read, in bytes.
const MAX_TEXT: usize = 1 << 20;

/// The tests and assertions of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct TestInventory {
    /// Its tests, in their order.
    pub(super) tests: Vec<Test>,
    /// The number of assertions.
    pub(super) asserts: usize,
    /// The positions of the assertions that cannot fail.
    pub(super) always: Vec<usize>,
    /// The positions of the marks that skip all other tests.
    pub(super) focused: Vec<usize>,
}

/// A test.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Test {
    /// Its name, without quotes.
    pub(super) name: String,
    /// `true` if it is skipped.
    pub(super) skipped: bool,
    /// The position of its name, and the end of its declaration.
    pub(super) at: usize,
    end: usize,
}

impl TestLanguage {
    /// Reads a text. With `only_tests`, the file holds nothing else, so that all its assertions count.
    pub(super) fn read(&self, text: &str, only_tests: bool) -> TestInventory {
        // What blanking leaves holds no words that the text does not: mostly there are no tests in it.
        if text.len() > MAX_TEXT || (!only_tests && self.test.about(text).next().is_none()) {
            return TestInventory::default();
        }
        let code = self.blank(text);
        let mut tests: Vec<Test> = Vec::new();
        for found in self.test.about(&code).flat_map(|pattern| pattern.captures_iter(&code)) {
            let (Some(whole), Some(name)) = (found.get(0), found.name("name")) else { continue };
            let at = name.start();
            if tests.iter().all(|test| test.at != at) {
                let name = without_quotes(&text[name.range()]).to_owned();
                tests.push(Test { name, skipped: false, at, end: whole.end() });
            }
        }
        if tests.is_empty() && !only_tests {
            return TestInventory::default();
        }
        tests.sort_by_key(|test| test.at);
        for place in places(&self.skip_next, &code) {
            if let Some(test) = tests.iter_mut().find(|test| test.end > place) {
                test.skipped = true;
            }
        }
        for place in places(&self.skip_inside, &code) {
            if let Some(test) = tests.iter_mut().rfind(|test| test.at < place) {
                test.skipped = true;
            }
        }
        for found in self.skip_here.about(&code).flat_map(|pattern| pattern.captures_iter(&code)) {
            let at = found.name("name").map(|name| name.start());
            if let Some(test) = tests.iter_mut().find(|test| Some(test.at) == at) {
                test.skipped = true;
            }
        }
        let inside = |patterns| if only_tests { sorted(patterns, &code) } else { Vec::new() };
        let (asserts, always) = (inside(&self.asserts).len(), inside(&self.always));
        TestInventory { tests, asserts, always, focused: sorted(&self.focus, &code) }
    }

    /// Returns the tests of a text, each with the code from its name up to the next one.
    pub(super) fn texts(&self, text: &str, only_tests: bool) -> Vec<(String, String)> {
        let code = self.blank(text);
        let tests = self.read(text, only_tests).tests;
        let ends = tests.iter().skip(1).map(|next| next.at).chain([code.len()]);
        let own =
            |(test, end): (&Test, usize)| (test.name.clone(), code.get(test.at..end).unwrap_or_default().to_owned());
        tests.iter().zip(ends).map(own).collect()
    }

    /// Returns the text with comments and the content of strings replaced by blanks, byte for byte.
    fn blank(&self, text: &str) -> String {
        let bytes = text.as_bytes();
        let mut code = bytes.to_vec();
        let mut clear = |from: usize, to: usize| {
            for byte in &mut code[from..to.min(bytes.len())] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
        };
        let mut at = 0;
        while at < bytes.len() {
            let rest = &text.as_bytes()[at..];
            let ends = |end: &[u8], from: usize| find(bytes, end, from).map_or(bytes.len(), |place| place + end.len());
            if let Some([_, end]) = self.blocks.iter().find(|[start, _]| rest.starts_with(start.as_bytes())) {
                let to = ends(end.as_bytes(), at + 2);
                clear(at, to);
                at = to;
            } else if self.comments.iter().any(|start| rest.starts_with(start.as_bytes())) && is_comment(bytes, at) {
                let to = find(bytes, b"\n", at).unwrap_or(bytes.len());
                clear(at, to);
                at = to;
            } else if let Some((from, to, next)) = self.string(bytes, at) {
                clear(from, to);
                at = next;
            } else {
                at += 1;
            }
        }
        // Whole characters were replaced by spaces.
        String::from_utf8(code).unwrap_or_default()
    }

    /// Returns the content of a string that begins here, and the position after it.
    fn string(&self, bytes: &[u8], at: usize) -> Option<(usize, usize, usize)> {
        let first = bytes[at];
        if self.raw {
            let word = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
            let hashes = bytes[at + 1..].iter().take_while(|byte| **byte == b'#').count();
            if first == b'r' && !word && bytes.get(at + 1 + hashes) == Some(&b'"') {
                let (from, end) = (at + hashes + 2, [b"\"".as_slice(), &b"#".repeat(hashes)].concat());
                let to = find(bytes, &end, from).unwrap_or(bytes.len());
                return Some((from, to, (to + end.len()).min(bytes.len())));
            }
            if first == b'\'' {
                // A character; else a lifetime.
                let to = match bytes.get(at + 1)? {
                    b'\\' => find(bytes, b"'", at + 3)?,
                    _ => at + 1 + bytes[at + 1..].iter().take(5).skip(1).position(|byte| *byte == b'\'')? + 1,
                };
                let character = std::str::from_utf8(&bytes[at + 1..to])
                    .is_ok_and(|inner| inner.starts_with('\\') || inner.chars().count() == 1);
                return character.then_some((at + 1, to, to + 1));
            }
        }
        if !self.strings.iter().any(|quote| u32::from(*quote) == u32::from(first)) {
            return None;
        }
        let three = [first; 3];
        if self.triple && bytes[at..].starts_with(&three) {
            let to = find(bytes, &three, at + 3).unwrap_or(bytes.len());
            return Some((at + 3, to, (to + 3).min(bytes.len())));
        }
        let lines = first == b'`' || self.raw;
        let mut to = at + 1;
        while let Some(byte) = bytes.get(to) {
            match byte {
                b'\\' => to += 1,
                b'\n' if !lines => break,
                byte if *byte == first => return Some((at + 1, to, to + 1)),
                _ => {}
            }
            to += 1;
        }
        // One that does not end is none: an apostrophe, or something that is not understood.
        (lines).then_some((at + 1, bytes.len(), bytes.len()))
    }
}

/// Returns `true` if a comment begins here. In shells and the like, a `#` inside a word does not begin one, and `#[` is
/// an attribute of PHP.
fn is_comment(bytes: &[u8], at: usize) -> bool {
    bytes[at] != b'#' || at == 0 || bytes[at - 1].is_ascii_whitespace() || b";)}],".contains(&bytes[at - 1])
}

/// Returns a name without the quotes around it. It may end in others of its own.
fn without_quotes(name: &str) -> &str {
    let mut quotes = ['"', '\'', '`'].into_iter();
    let inside = quotes.find_map(|quote| name.strip_prefix(quote)?.strip_suffix(quote));
    inside.unwrap_or(name)
}

fn find(bytes: &[u8], what: &[u8], from: usize) -> Option<usize> {
    memchr::memmem::find(bytes.get(from..)?, what).map(|place| from + place)
}

fn sorted(patterns: &LazyPatterns, code: &str) -> Vec<usize> {
    let mut found: Vec<usize> = places(patterns, code).collect();
    found.sort_unstable();
    found
}

fn places<'a>(patterns: &'a LazyPatterns, code: &'a str) -> impl Iterator<Item = usize> {
    patterns.about(code).flat_map(move |pattern| pattern.find_iter(code).map(|found| found.start()))
}
