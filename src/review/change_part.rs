//! A part of a change: hunks that a model reads at once.

use crate::review::change_hunks::{ChangeHunk, MAX_HUNK};
use crate::review::quotes::{self, QuotePlace};

/// The largest part, in bytes.
const MAX_PART: usize = MAX_HUNK + 8 * 1024;

/// The largest number of parts that each model reads at one call of `gate review`.
pub const MAX_PARTS: usize = 24;

/// A part of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangePart<'h> {
    /// The hunks, those of one file one after the other.
    pub hunks: Vec<&'h ChangeHunk>,
}

impl ChangePart<'_> {
    /// Returns the part as it is shown. The head of a file stands once.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut last = None;
        for hunk in &self.hunks {
            if last != Some(&hunk.path) {
                text.push_str(&hunk.head);
            }
            text.push_str(&hunk.text());
            last = Some(&hunk.path);
        }
        text
    }

    /// Returns the hunk in which `quote` stands and its place there. The file is the one that the reviewer names, or else
    /// the only one with these lines.
    pub fn find(&self, file: &str, line: Option<u32>, quote: &str) -> Option<(usize, QuotePlace)> {
        let place = |(index, hunk): (usize, &&ChangeHunk)| Some((index, hunk.find(line, quote)?));
        let found: Vec<(usize, QuotePlace)> = self.hunks.iter().enumerate().filter_map(place).collect();
        let is_named = |(index, _): &&(usize, QuotePlace)| quotes::names(file, &self.hunks[*index].path);
        let distance = |(_, place): &(usize, QuotePlace)| place.line.zip(line).map_or(u32::MAX, |(a, b)| a.abs_diff(b));
        if let Some(named) = found.iter().filter(is_named).min_by_key(|one| distance(one)) {
            return Some(named.clone());
        }
        let first = found.first()?;
        let is_only = found.iter().all(|(index, _)| self.hunks[*index].path == self.hunks[first.0].path);
        found.iter().filter(|_| is_only).min_by_key(|one| distance(one)).cloned()
    }
}

/// Puts hunks together to parts.
pub fn pack<'h>(hunks: impl IntoIterator<Item = &'h ChangeHunk>) -> Vec<ChangePart<'h>> {
    let mut parts: Vec<ChangePart<'h>> = Vec::new();
    let mut size = 0;
    for hunk in hunks {
        let own = hunk.head.len() + hunk.lines.iter().map(|line| line.content.len() + 2).sum::<usize>();
        match parts.last_mut() {
            Some(last) if size + own <= MAX_PART => {
                last.hunks.push(hunk);
                size += own;
            }
            _ => {
                parts.push(ChangePart { hunks: vec![hunk] });
                size = own;
            }
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::review::change_hunks::split;

    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -1,3 +1,4 @@ fn one() {\n fn one() {\n-    let x = 1;\n+    let x = input();\n+    run(x);\n }\n\
        diff --git a/b.py b/b.py\nindex 3..4 100644\n--- a/b.py\n+++ b/b.py\n@@ -10 +10,2 @@\n-old = 1\n+new = 2\n+same(1)\n\
        diff --git a/c.py b/c.py\n--- a/c.py\n+++ b/c.py\n@@ -1 +1 @@\n+same(1)\n";

    #[test]
    fn a_quote_is_found_where_it_stands() {
        let hunks = split(DIFF.as_bytes());
        let part = ChangePart { hunks: hunks.iter().collect() };
        let place = |file, quote| {
            part.find(file, None, quote).map(|(index, place)| (hunks[index].path.to_string(), place.line))
        };
        let at = |file: &str, line| Some((file.to_owned(), Some(line)));
        assert_eq!(place("src/a.rs", "run(x);"), at("src/a.rs", 3));
        assert_eq!(place("src/a.rs", "let x = input();\n    run(x);"), at("src/a.rs", 2));
        assert_eq!(place("src/a.rs", "let x = 1;"), at("src/a.rs", 2));
        for spelling in ["b.py", "./b.py", "a/b.py", "b/b.py", "`b.py`"] {
            assert_eq!(place(spelling, "new = 2"), at("b.py", 10), "{spelling}");
            assert_eq!(place(spelling, "same(1)"), at("b.py", 11), "{spelling}");
        }
        // One sign may stand before it, and a wrong file is corrected if only one has the line.
        assert_eq!(place("b.py", "+new = 2"), at("b.py", 10));
        assert_eq!(place("src/a.rs", "-    let x = 1;\n+    let x = input();"), at("src/a.rs", 2));
        assert_eq!(place("b.py", "run(x);"), at("src/a.rs", 3));
        for (file, quote) in [
            ("other.py", "same(1)"),
            ("src/a.rs", "fn one() {"),
            ("src/a.rs", "}"),
            ("src/a.rs", ""),
            ("src/a.rs", "+++ b/b.py"),
            ("src/a.rs", "++new = 2"),
            ("src/a.rs", "let x = other();"),
        ] {
            assert_eq!(place(file, quote), None, "{file} {quote}");
        }
    }

    #[test]
    fn parts_are_as_large_as_a_model_can_read() {
        let hunk = |n: usize| format!("@@ -{n} +{n} @@ fn f{n}()\n-{}\n+{}\n", "a".repeat(7_000), "b".repeat(7_000));
        let head = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n";
        let diff: String = [head.to_owned()].into_iter().chain((1..=7).map(hunk)).collect();
        let hunks = split(diff.as_bytes());
        let parts = pack(&hunks);
        assert_eq!(parts.iter().map(|part| part.hunks.len()).collect::<Vec<_>>(), [3, 3, 1]);
        assert!(parts.iter().all(|part| part.text().starts_with(head) && part.text().matches(head).count() == 1));
        assert_eq!(pack(&[]), []);
    }
}
