//! Secrets that are recognised in decoded form: base64, hexadecimal digits, and the percent signs of URLs.

use std::ops::Range;

use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use base64::{Engine as _, alphabet};

/// A shorter run holds no token.
const MIN_ENCODED: usize = 20;
/// The number of bytes that are decoded first, to see whether a run decodes to text.
const SAMPLE: usize = 16;

const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, LENIENT);

/// Returns the runs of `text` that decode to a text which `holds_secret`.
pub(super) fn find(text: &str, holds_secret: impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().take_while(|byte| is_encoding(**byte)).count();
        if length >= MIN_ENCODED {
            let run = &text[at..at + length];
            found.extend(
                parts(run)
                    .filter(|part| is_secret(&run[part.clone()], &holds_secret))
                    .map(|part| at + part.start..at + part.end),
            );
        }
        at += length + 1;
    }
    found
}

fn is_encoding(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"+/_-=%.~".contains(&byte)
}

/// Returns the parts of a run that could be one value: the text after the last `=` of an assignment, and each piece of
/// it between dots.
fn parts(run: &str) -> impl Iterator<Item = Range<usize>> {
    let value = run.trim_end_matches('=').rfind('=').map_or(0, |equals| equals + 1);
    let pieces = run[value..].split('.').scan(value, |start, piece| {
        let range = *start..*start + piece.len();
        *start = range.end + 1;
        Some(range)
    });
    // What stands for a byte may stand for a dot.
    let whole = run.contains('%').then_some(value..run.len());
    let pieces = pieces.filter(|piece| !run[piece.clone()].contains('%'));
    whole.into_iter().chain(pieces).filter(|part| part.len() >= MIN_ENCODED)
}

fn is_secret(part: &str, holds_secret: &impl Fn(&str) -> bool) -> bool {
    decoded(part).is_some_and(|text| holds_secret(&text))
}

/// Decodes `part`, if the result is text.
fn decoded(part: &str) -> Option<String> {
    if part.contains('%') {
        return percent_decoded(part);
    }
    if part.len().is_multiple_of(2) && part.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return hex_decoded(part);
    }
    let engine = if part.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let bare = part.trim_end_matches('=');
    let sample = engine.decode(bare.get(..SAMPLE)?).ok()?;
    is_text(&sample).then_some(())?;
    // The last character of a run that was cut off stands for less than a byte.
    let whole = if bare.len() % 4 == 1 { &bare[..bare.len() - 1] } else { bare };
    text_of(&engine.decode(whole).ok()?)
}

fn text_of(bytes: &[u8]) -> Option<String> {
    is_text(bytes).then(|| String::from_utf8_lossy(bytes).into_owned())
}

fn is_text(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
}

fn hex_decoded(part: &str) -> Option<String> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = part.as_bytes().chunks_exact(2);
    let bytes: Option<Vec<u8>> = pairs.map(|pair| Some(digit(pair[0])? << 4 | digit(pair[1])?)).collect();
    text_of(&bytes?)
}

fn percent_decoded(part: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part;
    while let Some((before, behind)) = rest.split_once('%') {
        bytes.extend_from_slice(before.as_bytes());
        match behind.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(byte) => bytes.push(byte),
            None => return None,
        }
        rest = &behind[2..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    text_of(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_found_by_what_it_decodes_to() {
        for (text, found) in [
            ("x c2VjcmV0IHNlY3JldCBzZWNyZXQ= y", "c2VjcmV0IHNlY3JldCBzZWNyZXQ="),
            ("x=c2VjcmV0IHNlY3JldCBzZWNyZXQ", "c2VjcmV0IHNlY3JldCBzZWNyZXQ"),
            ("7365637265742073656372657420736563726574.", "7365637265742073656372657420736563726574"),
            ("a%2Fsecret%2Dsecret%2Dsecret", "a%2Fsecret%2Dsecret%2Dsecret"),
            ("aaaa.c2VjcmV0IHNlY3JldCBzZWNyZXQ.bbbb", "c2VjcmV0IHNlY3JldCBzZWNyZXQ"),
        ] {
            let spans = find(text, |decoded| decoded.contains("secret"));
            assert_eq!(spans.iter().map(|span| &text[span.clone()]).collect::<Vec<_>>(), [found], "{text}");
        }
        for text in [
            "3ab7f08c1d2e4f5a6b7c8d9e0f1a2b3c4d5e6f70",
            "src/a/long/path/to/some/secret_file",
            "100%",
            "a%zz".repeat(9).as_str(),
        ] {
            assert!(find(text, |_| true).is_empty(), "{text}");
        }
    }
}
