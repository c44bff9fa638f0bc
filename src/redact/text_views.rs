//! A text as a program or a person reads it: without escape sequences, and with values joined that the text splits.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;

/// A text with parts left out, with the place of each of its bytes in the original.
pub(super) struct TextView<'a> {
    /// The remaining text.
    pub(super) text: Cow<'a, str>,
    /// For each part that is left out: its place in `text`, and the bytes left out up to and with it.
    cuts: Vec<(usize, usize)>,
}

impl<'a> TextView<'a> {
    /// Returns the text without escape sequences of terminals.
    pub(super) fn plain(text: &'a str) -> Self {
        static ESCAPES: LazyLock<Option<Regex>> =
            LazyLock::new(|| Regex::new(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|[@-Z\\^_])").ok());
        if !text.contains('\u{1b}') {
            return Self { text: Cow::Borrowed(text), cuts: Vec::new() };
        }
        let escapes = ESCAPES.iter().flat_map(|escapes| escapes.find_iter(text));
        Self::without(text, escapes.map(|escape| escape.range()))
    }

    /// Returns the text without the parts that split a value in two: escape sequences, line breaks with the indentation
    /// after them, and quotes that end and begin again.
    pub(super) fn joined(text: &'a str) -> Self {
        static JOINTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
            Regex::new(r#"\x1b\[[0-?]*[ -/]*[@-~]|\\?\r?\n[ \t]*|\\[rn]|["'][ \t]*[+.]?[ \t]*["']"#).ok()
        });
        let inside =
            |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || b"_-+/=.".contains(byte));
        let splits = |joint: &Range<usize>| {
            let bytes = text.as_bytes();
            inside(joint.start.checked_sub(1).and_then(|before| bytes.get(before))) && inside(bytes.get(joint.end))
        };
        let joints = JOINTS.iter().flat_map(|joints| joints.find_iter(text));
        Self::without(text, joints.map(|joint| joint.range()).filter(splits))
    }

    fn without(text: &'a str, parts: impl Iterator<Item = Range<usize>>) -> Self {
        let mut left = String::with_capacity(text.len());
        let mut cuts = Vec::new();
        let (mut at, mut removed) = (0, 0);
        for part in parts {
            left.push_str(&text[at..part.start]);
            removed += part.len();
            cuts.push((left.len(), removed));
            at = part.end;
        }
        left.push_str(&text[at..]);
        Self { text: Cow::Owned(left), cuts }
    }

    /// Returns `true` if nothing is left out.
    pub(super) fn is_whole(&self) -> bool {
        self.cuts.is_empty()
    }

    /// Returns the place in the original of the text at `range`, which is not empty.
    pub(super) fn original(&self, range: &Range<usize>) -> Range<usize> {
        self.place(range.start)..self.place(range.end - 1) + 1
    }

    /// Returns the parts in the original of the text at `range`, between what is left out.
    pub(super) fn pieces(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let inner =
            self.cuts.iter().map(|(place, _)| *place).filter(|place| range.start < *place && *place < range.end);
        let mut edges: Vec<usize> = std::iter::once(range.start).chain(inner).chain([range.end]).collect();
        edges.dedup();
        edges.windows(2).map(|edge| self.original(&(edge[0]..edge[1]))).collect()
    }

    fn place(&self, at: usize) -> usize {
        let before = self.cuts.partition_point(|(place, _)| *place <= at);
        at + before.checked_sub(1).map_or(0, |last| self.cuts[last].1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_those_of_the_original() {
        let text = "a\u{1b}[31mbc\u{1b}[0m d";
        let view = TextView::plain(text);
        assert_eq!(view.text, "abc d");
        assert_eq!(&text[view.original(&(0..3))], "a\u{1b}[31mbc");
        assert_eq!(&text[view.original(&(1..3))], "bc");
        assert_eq!(&text[view.original(&(4..5))], "d");
        let pieces: Vec<&str> = view.pieces(&(0..5)).into_iter().map(|piece| &text[piece]).collect();
        assert_eq!(pieces, ["a", "bc", " d"]);
        assert!(TextView::plain("abc").is_whole());
    }

    #[test]
    fn only_what_splits_a_value_is_left_out() {
        for (text, joined) in [
            ("ab\n  cd", "abcd"),
            ("ab\\\ncd", "abcd"),
            ("'ab' + 'cd'", "'abcd'"),
            ("\"ab\"\"cd\"", "\"abcd\""),
            ("a b\n\nc", "a b\n\nc"),
            ("end.\n(next)", "end.\n(next)"),
        ] {
            assert_eq!(TextView::joined(text).text, joined, "{text:?}");
        }
    }
}
