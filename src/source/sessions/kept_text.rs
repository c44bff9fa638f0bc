//! The part of a text that is kept: bounded, and without secrets.
//!
//! A text is cut before it is searched for secrets, since it may have any length. The line or word at the edge of the
//! cut is dropped, as half a secret has no recognisable form.

use std::fmt::Write as _;

use super::lazy_json::Raw;
use crate::redact::{redact, redact_cut};
use crate::run::{KeptOutput, clean_tail};

/// The largest part of a message, question or prompt that is kept, in bytes.
pub(super) const WORDS: usize = 8 * 1024;
/// The largest part of a command line that is kept, in bytes.
pub(super) const LINE: usize = 16 * 1024;
/// The largest part of the end of an output that is kept, in bytes.
pub(super) const TAIL: usize = 4 * 1024;
/// The part of the end of an output that is searched for secrets, in bytes: one that begins before the kept part may
/// end in it.
const SEARCHED: usize = TAIL + 1024;
/// The largest part of each side of an edit that is kept, in bytes.
pub(super) const SIDE: usize = 4 * 1024;
/// The largest part of a reason, a target or a name that is kept, in bytes.
pub(super) const SHORT: usize = 512;

/// Returns the beginning of a text.
pub(super) fn start(text: &str, max: usize) -> String {
    start_cut(text, false, max)
}

/// Returns the beginning of a value's text.
pub(super) fn start_of(raw: Raw<'_>, max: usize) -> String {
    let (text, cut) = raw.start_of_text(max + 1024);
    start_cut(&text, cut, max)
}

/// Returns the beginning of a text whose end may be missing.
fn start_cut(text: &str, cut: bool, max: usize) -> String {
    let text = if cut { text.trim_start() } else { text.trim() };
    if text.len() <= max && !cut {
        return redact(text).into_owned();
    }
    let kept = &text[..text.floor_char_boundary(max)];
    let kept = kept.rfind(['\n', ' ', '\t']).map_or("", |at| &kept[..at]);
    let mut kept = redact(kept).into_owned();
    kept.push('…');
    kept
}

/// Returns the last lines of an output, as a person would have seen them.
pub(super) fn tail(raw: Raw<'_>) -> String {
    let (text, cut) = raw.end_of_text(2 * TAIL);
    if !cut || text.trim_end().len() >= SEARCHED && is_plain(&text) {
        return tail_of(&text, cut);
    }
    // Most of it may be escapes, white space, or what was written over.
    let (text, cut) = raw.end_of_text(4 * TAIL);
    tail_of(&text, cut)
}

/// Returns `true` if a text appears as it is written.
fn is_plain(text: &str) -> bool {
    // Control characters of two bytes begin with 0xc2. Without a way out, many bytes are compared at once.
    let odd = |byte: u8| byte < 0x20 && byte != b'\n' && byte != b'\t' || byte == 0x7f || byte == 0xc2;
    !text.bytes().fold(false, |found, byte| found | odd(byte))
        || text.chars().all(|char| !char.is_control() || char == '\n' || char == '\t')
}

/// Returns the same for a text whose beginning may be missing.
pub(super) fn tail_of(text: &str, cut: bool) -> String {
    if !is_plain(text) {
        let output =
            KeptOutput { head: Vec::new(), tail: text.as_bytes().to_vec(), total: text.len() as u64, cut, whole: None };
        return clean_tail(&output, TAIL).trim_end().to_owned();
    }
    let text = text.trim_end();
    let mut from = text.len().saturating_sub(SEARCHED);
    let cut = cut || from > 0;
    if cut {
        from = text.ceil_char_boundary(from);
        from = text[from..].find('\n').map_or(text.len(), |at| from + at + 1);
    }
    let clean = if cut { redact_cut(&text[from..]) } else { redact(&text[from..]) };
    let mut from = clean.len().saturating_sub(TAIL);
    if from > 0 {
        from = clean.ceil_char_boundary(from);
        from = clean[from..].find('\n').map_or(clean.len(), |at| from + at + 1);
    }
    clean[from..].to_owned()
}

/// The two sides of a change.
#[derive(Default)]
pub(super) struct Sides {
    pub(super) removed: String,
    pub(super) added: String,
}

impl Sides {
    /// Reads the lines of a unified diff, without headers and context.
    pub(super) fn of_diff<'a>(lines: impl Iterator<Item = &'a str>) -> Self {
        let mut sides = Self::default();
        for line in lines {
            if line.starts_with("--- ") || line.starts_with("+++ ") {
                continue;
            }
            if let Some(line) = line.strip_prefix('-') {
                push_line(&mut sides.removed, line);
            } else if let Some(line) = line.strip_prefix('+') {
                push_line(&mut sides.added, line);
            }
        }
        sides.kept()
    }

    fn kept(self) -> Self {
        let kept = |text: String| start(text.trim_matches('\n'), SIDE);
        Self { removed: kept(self.removed), added: kept(self.added) }
    }
}

fn push_line(text: &mut String, line: &str) {
    if text.len() <= SIDE + 1024 {
        let _ = writeln!(text, "{line}");
    }
}

/// Returns the text between two marks.
pub(super) fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(open)?;
    rest.split_once(close).map(|(inner, _)| inner)
}

/// Returns the whole number that follows a mark.
pub(super) fn number_after(text: &str, mark: &str) -> Option<i32> {
    let (_, rest) = text.split_once(mark)?;
    let rest = rest.trim_start();
    let end = rest.char_indices().find(|(at, char)| !(char.is_ascii_digit() || *at == 0 && *char == '-'));
    rest[..end.map_or(rest.len(), |(at, _)| at)].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_bounded_at_words_and_lines() {
        assert_eq!(start("  a few words ", 100), "a few words");
        assert_eq!(start("a few words", 8), "a few…");
        assert_eq!(start(&"é".repeat(100), 51), "…");
        assert_eq!(start(&format!("a token={} b", "x1Y2".repeat(9)), 30), "a…", "no half of a secret");
        let long = "line\n".repeat(5000);
        assert_eq!(tail_of(&long, false).len(), TAIL / 5 * 5 - 1);
        assert_eq!(tail_of("half of a secret\nwhole", true), "whole");
        assert_eq!(tail_of("\u{1b}[31mred\u{1b}[0m\n10%\r100%\n", false), "red\n100%");
        assert!(!tail_of("password=hunter22\nok", false).contains("hunter22"));
    }

    #[test]
    fn a_diff_has_two_sides() {
        let diff = "Index: a\n--- a\told\n+++ a\tnew\n@@ -1,2 +1,2 @@\n same\n-old\n-\n+new\n\\ No newline";
        let sides = Sides::of_diff(diff.lines());
        assert_eq!((sides.removed.as_str(), sides.added.as_str()), ("old", "new"));
    }

    #[test]
    fn numbers_and_marks() {
        for (text, expected) in [
            ("x (exit code 0)", Some(0)),
            ("exit code -1073741819", Some(-1_073_741_819)),
            ("exit code 137\nx", Some(137)),
            ("exit code x", None),
            ("exit code ", None),
            ("none", None),
        ] {
            assert_eq!(number_after(text, "exit code"), expected, "{text}");
        }
        assert_eq!(between("<a>x</a>", "<a>", "</a>"), Some("x"));
        assert_eq!(between("<a>x", "<a>", "</a>"), None);
    }
}
