//! Footers and trailers: the lines `Token: value` and `Token #value` at the end of a message.
//!
//! Conventional Commits 1.0.0 (rules 8 to 10 and 16) and git's own trailers (`git interpret-trailers`) differ in two
//! points, and this module reads both: the former knows ` #` as a separator and lets a value run over any lines until
//! the next token; the latter puts them into the last paragraph and continues a value with an indented line.

/// One footer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitTrailer {
    /// The token as written: `Signed-off-by`, `BREAKING CHANGE`.
    pub token: String,
    /// The value, continuation lines included.
    pub value: String,
}

impl CommitTrailer {
    /// Returns `true` if this is the token, letters of either case.
    pub fn is(&self, token: &str) -> bool {
        self.token.eq_ignore_ascii_case(token)
    }
}

/// Splits the text after the subject into body and trailers.
pub fn split(rest: &str) -> (String, Vec<CommitTrailer>) {
    let lines: Vec<&str> = rest.lines().collect();
    let Some(start) = first_trailer(&lines) else {
        return (rest.trim_matches('\n').to_owned(), Vec::new());
    };
    let mut trailers: Vec<CommitTrailer> = Vec::new();
    for line in &lines[start..] {
        match (opening(line), trailers.last_mut()) {
            (Some((token, value)), _) => {
                trailers.push(CommitTrailer { token: token.to_owned(), value: value.trim_end().to_owned() });
            }
            (None, Some(last)) => {
                last.value.push('\n');
                last.value.push_str(line);
            }
            (None, None) => {}
        }
    }
    for trailer in &mut trailers {
        trailer.value.truncate(trailer.value.trim_end().len());
    }
    (lines[..start].join("\n").trim_matches('\n').to_owned(), trailers)
}

/// Returns the line at which the footers begin: the first line after an empty one from which on every paragraph begins
/// with a footer.
fn first_trailer(lines: &[&str]) -> Option<usize> {
    let mut start = None;
    let mut after_empty = true;
    for (number, line) in lines.iter().enumerate() {
        let empty = line.trim().is_empty();
        if after_empty && !empty {
            match opening(line) {
                Some(_) => start = start.or(Some(number)),
                // A paragraph of prose after a breaking change may still belong to its value; after others it
                // shows that what looked like footers was body.
                None => start = start.filter(|&first: &usize| runs_on(&lines[first..number])),
            }
        }
        after_empty = empty;
    }
    start
}

/// Returns `true` if the last footer of `lines` is a breaking change, whose value may hold paragraphs.
fn runs_on(lines: &[&str]) -> bool {
    let last = lines.iter().rev().find_map(|line| opening(line));
    last.is_some_and(|(token, _)| token == "BREAKING CHANGE" || token == "BREAKING-CHANGE")
}

/// Returns token and value, if a line opens a footer.
fn opening(line: &str) -> Option<(&str, &str)> {
    for breaking in ["BREAKING CHANGE", "BREAKING-CHANGE"] {
        if let Some(rest) = line.strip_prefix(breaking) {
            let value = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(" #"))?;
            return Some((breaking, value));
        }
    }
    let end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != '_')?;
    let (token, rest) = line.split_at(end);
    if token.is_empty() || !token.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return None;
    }
    let value = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(" #"));
    // A value may begin on the next line.
    let value = value.or_else(|| (rest.trim_end() == ":").then_some(""))?;
    // `see: this` opens a sentence as well as a footer; a link is neither.
    (!value.starts_with("//")).then_some((token, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(String, String)> {
        split(text).1.into_iter().map(|trailer| (trailer.token, trailer.value)).collect()
    }

    #[test]
    fn footers_of_both_kinds() {
        for (text, body, expected) in [
            ("", "", vec![]),
            ("just words\nof a body", "just words\nof a body", vec![]),
            ("Reviewed-by: Z\nRefs: #123", "", vec![("Reviewed-by", "Z"), ("Refs", "#123")]),
            ("body\n\nRefs #12", "body", vec![("Refs", "12")]),
            ("body\n\nFixes #12\nCloses: #13", "body", vec![("Fixes", "12"), ("Closes", "#13")]),
            ("a\n\nb: no\n\nprose at the end", "a\n\nb: no\n\nprose at the end", vec![]),
            (
                "note: this\nis prose in the first paragraph\n\nmore",
                "note: this\nis prose in the first paragraph\n\nmore",
                vec![],
            ),
            ("BREAKING CHANGE: one\n\ntwo paragraphs", "", vec![("BREAKING CHANGE", "one\n\ntwo paragraphs")]),
            (
                "BREAKING-CHANGE: x\nSigned-off-by: A <a@b>",
                "",
                vec![("BREAKING-CHANGE", "x"), ("Signed-off-by", "A <a@b>")],
            ),
            ("Long: first\n second\n  third", "", vec![("Long", "first\n second\n  third")]),
            ("see https://example.com/a: b", "see https://example.com/a: b", vec![]),
            ("breaking change: small letters", "breaking change: small letters", vec![]),
        ] {
            let (found, trailers) = split(text);
            assert_eq!(found, body, "{text:?}");
            let expected: Vec<_> = expected.iter().map(|(t, v)| ((*t).to_owned(), (*v).to_owned())).collect();
            let trailers: Vec<_> = trailers.into_iter().map(|trailer| (trailer.token, trailer.value)).collect();
            assert_eq!(trailers, expected, "{text:?}");
        }
    }

    #[test]
    fn a_token_with_spaces_is_none() {
        assert!(tokens("Two words: value").is_empty());
        assert!(tokens("http://example.com").is_empty());
        assert_eq!(tokens("Co-authored-by: A <a@b>").len(), 1);
    }
}
