//! Text from outside (commit messages, branch names, outputs, answers of a forge) on its way to a reader.
//!
//! A terminal obeys control characters, and marks that turn the direction of a text around make a name look like
//! another one. No such character reaches a reader: sentences get a space in its place, and what is printed as it is
//! gets its escape.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns `true` for a character that a terminal obeys, that a reader cannot see, or that changes how its neighbours
/// are read.
pub fn is_hidden(c: char) -> bool {
    // The line and paragraph separators, and what Unicode calls default ignorable (UAX #44) without the variation selectors
    // that emoji need.
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}')
        || matches!(c, '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Returns a text with a space for each hidden character.
pub fn plain(text: &str) -> String {
    text.replace(is_hidden, " ")
}

/// Returns a text on one line, without hidden characters and with single spaces.
pub fn one_line(text: &str) -> String {
    plain(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the beginning of a text without hidden characters: at most `max` characters, and an ellipsis if there are
/// more.
pub fn shortened(text: &str, max: usize) -> String {
    let clean = plain(text);
    match clean.trim().char_indices().nth(max) {
        Some((end, _)) => format!("{}…", clean.trim()[..end].trim_end()),
        None => clean.trim().to_owned(),
    }
}

/// Returns the first `max` characters of a line without hidden characters. Tabs stay, since the line may be compared with
/// others.
pub fn beginning(line: &str, max: usize) -> String {
    line.trim().chars().take(max).map(|c| if is_hidden(c) && c != '\t' { ' ' } else { c }).collect()
}

/// Returns a text as it may be printed: hidden characters become escapes (`\u202e`), which are also valid in JSON.
/// Line ends, tabs and the styles that `gate` itself uses stay, as do the joiners that words and emoji need.
pub fn printable(text: &str) -> Cow<'_, str> {
    if text.as_bytes().iter().all(|byte| matches!(byte, b'\n' | b'\t' | b' '..=b'~')) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let kept = kept_length(rest, c);
        if kept == 0 {
            push_escape(&mut out, c);
        }
        out.push_str(&rest[..kept]);
        rest = &rest[kept.max(c.len_utf8())..];
    }
    Cow::Owned(out)
}

/// Returns the length of what stays at the beginning of a text, whose first character is `c`; 0 if that is escaped.
fn kept_length(text: &str, c: char) -> usize {
    match c {
        '\n' | '\t' | '\u{200c}' | '\u{200d}' => c.len_utf8(),
        '\r' if text.starts_with("\r\n") => 2,
        '\u{1b}' => style_length(text),
        c if is_hidden(c) => 0,
        c => c.len_utf8(),
    }
}

/// Returns the length of a style (`ESC [ 1 m`) at the beginning of a text, or 0. Concealed and blinking text is not a
/// style of ours.
fn style_length(text: &str) -> usize {
    let Some((codes, _)) = text.strip_prefix("\u{1b}[").and_then(|rest| rest.split_once('m')) else { return 0 };
    let of_ours = |code: &str| matches!(code.parse(), Ok(0_u8..=4 | 22..=24 | 30..=39 | 90..=97));
    if codes.is_empty() || codes.split(';').all(of_ours) { codes.len() + 3 } else { 0 }
}

fn push_escape(out: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{unit:04x}");
    }
}

/// Returns the beginning of a text: at most `max` bytes, cut between characters.
pub fn beginning_in_bytes(text: &str, max: usize) -> String {
    text[..text.floor_char_boundary(max)].to_owned()
}

/// Returns a text of at most `most` bytes, and an ellipsis if there are more.
pub fn shortened_in_bytes(mut text: String, most: usize) -> String {
    if text.len() > most {
        text.truncate(text.floor_char_boundary(most));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn sentences_hold_no_hidden_character() {
        assert_eq!(plain("a\u{202e}b\u{1b}[2J\u{feff}"), "a b [2J ");
        assert_eq!(one_line(" a\n\u{2028}b\t\tc\u{0}"), "a b c");
        assert_eq!(shortened("four\u{7f}and more", 6), "four a…");
        assert_eq!(shortened(" four\n", 4), "four");
        assert_eq!(beginning("  a\u{9b}bc", 3), "a b");
    }

    #[test]
    fn hidden_characters_are_printed_as_escapes() {
        for (text, shown) in [
            ("plain\n\ttext", "plain\n\ttext"),
            ("größer 👩\u{200d}💻", "größer 👩\u{200d}💻"),
            ("\u{1b}[1m\u{1b}[31mred\u{1b}[0m", "\u{1b}[1m\u{1b}[31mred\u{1b}[0m"),
            ("\u{1b}[8mhidden", "\\u001b[8mhidden"),
            ("\u{1b}]0;title\u{7}", "\\u001b]0;title\\u0007"),
            ("abc\u{202e}fdp", "abc\\u202efdp"),
            ("one\r\ntwo\rthree", "one\r\ntwo\\u000dthree"),
            ("\u{e0041}", "\\udb40\\udc41"),
        ] {
            assert_eq!(printable(text), shown, "{text:?}");
        }
    }

    #[test]
    fn printed_json_means_the_same() {
        let value = serde_json::json!({ "a\u{202e}": "b\u{9b}31m\u{e0041}\u{7f}" });
        let printed = printable(&value.to_string()).into_owned();
        assert!(!printed.contains(is_hidden), "{printed}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&printed).unwrap(), value);
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_was_printed_stays_as_it_is(text in "[\\PC\\x00-\\x1f\\x1b\\[m\u{202e}\\r\\n]{0,40}") {
            let once = printable(&text).into_owned();
            prop_assert_eq!(printable(&once), once.as_str());
        }
    }
}
