//! Terminal output as the text a person last saw.

use std::borrow::Cow;

use super::head_and_tail::KeptOutput;
use crate::redact::{redact, redact_cut};

/// Returns the end of a command's output in a form that may be kept: plain text, secrets removed, at most `max` bytes,
/// whole lines.
///
/// Secrets are searched for before anything is cut off here. A line that was cut off by the bound of [`KeptOutput`] is
/// dropped, since half a secret has no recognisable form.
pub fn clean_tail(output: &KeptOutput, max: usize) -> String {
    let settled = settled(&shown(&String::from_utf8_lossy(&output.end())));
    let text = if output.cut { redact_cut(&settled) } else { redact(&settled) };
    last_lines(&text, max).to_owned()
}

/// Returns the text of `bytes` (see [`KeptOutput::end`]) without escape sequences and control characters, progress
/// lines in their last state. **Not redacted**: for reading counts, not for keeping.
pub fn plain_text(bytes: &[u8]) -> String {
    let shown = shown(&String::from_utf8_lossy(bytes));
    shown.split_inclusive('\n').map(last_state).collect()
}

/// Removes escape sequences and control characters. `\n` and `\t` stay, and a `\r` if text follows it on its line.
fn shown(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut back = false;
    let mut rest = text.chars().peekable();
    while let Some(char) = rest.next() {
        match char {
            '\u{1b}' => match rest.next_if(|next| !next.is_control()) {
                Some('[') => back |= control_sequence(&mut rest),
                Some(']' | 'P' | '_' | '^' | 'X') => control_string(&mut rest),
                // Two characters and a selector: character sets, `ESC ( B`.
                Some(' '..='/') => {
                    rest.next_if(|next| !next.is_control());
                }
                _ => {}
            },
            // The same sequences as single characters.
            '\u{9b}' => back |= control_sequence(&mut rest),
            '\u{90}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => control_string(&mut rest),
            '\r' => back = true,
            '\n' => {
                back = false;
                out.push(char);
            }
            _ if char.is_control() && char != '\t' => {}
            _ => {
                if std::mem::take(&mut back) {
                    out.push('\r');
                }
                out.push(char);
            }
        }
    }
    out
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Reads the rest after `ESC [`. Returns `true` if it moves to the beginning of the line, as `\r` does.
fn control_sequence(rest: &mut Rest<'_>) -> bool {
    let mut parameters = String::new();
    while let Some(parameter) = rest.next_if(|next| matches!(next, ' '..='?')) {
        parameters.push(parameter);
    }
    let last = rest.next_if(|next| matches!(next, '@'..='~'));
    last == Some('G') && matches!(parameters.as_str(), "" | "0" | "1")
}

/// Skips the rest after `ESC ]` and similar: to `BEL` or `ESC \`, and never past the end of the line, since it may be
/// cut off.
fn control_string(rest: &mut Rest<'_>) {
    while let Some(char) = rest.next_if(|next| *next != '\n') {
        if matches!(char, '\u{7}' | '\u{9c}') {
            return;
        }
        if char == '\u{1b}' {
            rest.next_if_eq(&'\\');
            return;
        }
    }
}

/// Progress lines in their last state, except where a secret runs across a `\r`: its last part alone would not be
/// recognised, so such a line comes as a whole, the secret removed.
fn settled(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    if let Cow::Borrowed(_) = redact(&text.replace('\r', "")) {
        out.extend(text.split_inclusive('\n').map(last_state));
        return out;
    }
    for line in text.split_inclusive('\n') {
        let last = last_state(line);
        if last.len() < line.len() {
            let joined = line.replace('\r', "");
            if let Cow::Owned(clean) = redact(&joined)
                && !clean.ends_with(&*redact(last))
            {
                out.push_str(&clean);
                continue;
            }
        }
        out.push_str(last);
    }
    out
}

/// Returns the text after the last `\r`.
fn last_state(line: &str) -> &str {
    line.rfind('\r').map_or(line, |at| &line[at + 1..])
}

/// Returns the last lines that fit in `max` bytes; of a last line that is longer, its end.
fn last_lines(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let from = text.ceil_char_boundary(text.len() - max);
    if text.as_bytes()[from - 1] == b'\n' {
        return &text[from..];
    }
    match text[from..].trim_end_matches('\n').find('\n') {
        Some(at) => &text[from + at + 1..],
        None => &text[from..],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::run::head_and_tail::Bounded;

    fn output(bytes: &[u8]) -> KeptOutput {
        let mut bounded = Bounded::default();
        bounded.push(bytes);
        bounded.output()
    }

    fn clean(bytes: impl AsRef<[u8]>) -> String {
        clean_tail(&output(bytes.as_ref()), 4096)
    }

    #[test]
    fn what_a_terminal_shows_is_what_is_kept() {
        for (raw, kept) in [
            ("plain\n", "plain\n"),
            ("\x1b[1;31mred\x1b[0m\n", "red\n"),
            ("\x1b[38;2;1;2;3mx\x1b[K\n", "x\n"),
            ("\x1b]8;;https://x.test\x1b\\link\x1b]8;;\x07 on\n", "link on\n"),
            ("\x1b]0;title never ended\nnext\n", "\nnext\n"),
            ("\x1b(Bx\x1b=y\x1b", "xy"),
            ("dos\r\nlines\r\n", "dos\nlines\n"),
            ("dos\r\r\n", "dos\n"),
            ("10%\r20%\r100%\ndone", "100%\ndone"),
            ("10%\x1b[2K\x1b[1G20%\x1b[G30%\n", "30%\n"),
            ("50%\r", "50%"),
            ("50%\r\r\n", "50%\n"),
            ("a\x00\x07\x08b\tc\u{85}\n", "ab\tc\n"),
            ("\u{9b}31mred\n", "red\n"),
            ("naïve ✓\n", "naïve ✓\n"),
            ("", ""),
        ] {
            assert_eq!(clean(raw), kept, "{raw:?}");
        }
        assert_eq!(clean(b"a\xffb\xc3\n"), "a\u{fffd}b\u{fffd}\n");
    }

    const TOKEN: &str = concat!("ghp_", "0123456789abcdefghijABCDEFGHIJ456789");

    #[test]
    fn a_secret_that_is_split_is_found() {
        let (one, two) = TOKEN.split_at(17);
        for raw in [
            format!("{one}\x1b[31m{two}\n"),
            format!("{one}\x1b]0;t\x07{two}\n"),
            format!("{one}\r{two}\n"),
            format!("x\r{one}\r{two}\r\n"),
            format!("{one}\x1b[1G{two}\n"),
            format!("{one}\0{two}"),
        ] {
            let kept = clean(&raw);
            assert!(!kept.contains(two) && !kept.contains(one), "{raw:?} gives {kept:?}");
            assert!(kept.contains("[redacted]"), "{raw:?} gives {kept:?}");
        }
        assert_eq!(clean(format!("{TOKEN} \r100%\n")), "100%\n", "one that was overwritten leaves nothing");
        assert_eq!(clean(format!("1%\rx {TOKEN}\n")), "x [redacted]\n");
    }

    #[test]
    fn no_bound_leaves_half_a_secret() {
        // The secret lies across each of the bounds in turn.
        let end = "\nthe end\n";
        for before in 0..TOKEN.len() {
            let mut raw = vec![b'x'; 200_000];
            raw.extend(format!(" {TOKEN}").bytes());
            raw.extend(vec![b'-'; crate::run::TAIL - before - end.len()]);
            raw.extend(end.bytes());
            let output = output(&raw);
            assert!(output.cut);
            assert_eq!(clean_tail(&output, 4096), "the end\n");
        }
        for max in 1..60 {
            let kept = clean_tail(&output(format!("first {TOKEN}\n").as_bytes()), max);
            assert!(!kept.contains("6789"), "{max}: {kept:?}");
        }
    }

    #[test]
    fn the_end_of_a_key_whose_beginning_was_cut_off_is_removed() {
        let line = format!("{}\n", "Ab3/".repeat(16));
        let raw = format!("-----BEGIN PRIVATE KEY-----\n{}-----END PRIVATE KEY-----\n2 passed\n", line.repeat(1200));
        let output = output(raw.as_bytes());
        assert!(output.cut);
        assert_eq!(clean_tail(&output, 4096), "[redacted]\n2 passed\n");
    }

    #[test]
    fn the_end_is_cut_at_a_line() {
        let text = b"one\ntwo\nthree\n";
        for (max, kept) in [
            (100, "one\ntwo\nthree\n"),
            (14, "one\ntwo\nthree\n"),
            (13, "two\nthree\n"),
            (10, "two\nthree\n"),
            (9, "three\n"),
            (6, "three\n"),
            (4, "ree\n"),
            (0, ""),
        ] {
            assert_eq!(clean_tail(&output(text), max), kept, "{max}");
        }
    }

    #[test]
    fn counts_are_read_from_plain_text() {
        assert_eq!(plain_text(b"\x1b[32m1%\r2 passed\x1b[0m\r\nend"), "2 passed\nend");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_bytes_become_plain_lines_within_the_bound(
            raw in proptest::collection::vec(prop_oneof![
                any::<u8>(), Just(0x1b), Just(b'['), Just(b']'), Just(b'\r'), Just(b'\n'), Just(b'G'), 0x20_u8..0x7f
            ], 0..600),
            max in 0_usize..400,
        ) {
            let kept = clean_tail(&output(&raw), max);
            prop_assert!(kept.len() <= max);
            prop_assert!(!kept.chars().any(|char| char.is_control() && !matches!(char, '\n' | '\t')), "{:?}", kept);
            prop_assert_eq!(clean_tail(&output(kept.as_bytes()), max), kept);
        }
    }
}
