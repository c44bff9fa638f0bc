//! The occurrences of a rejected pattern in text that a program uses, in contrast to text about the pattern.

use std::ops::Range;

use super::{comments, tags};
use crate::repo_path::RepoPath;

/// Returns the lines that hold a pattern, with their numbers: neither in a record nor in a sentence about it. A comment
/// counts if it begins with the pattern, since some of them are for tools (`// eslint-disable`), and if the language is
/// unknown.
pub(super) fn lines(path: &RepoPath, text: &[u8], pattern: &str) -> Vec<(u32, String)> {
    if pattern.is_empty() || comments::is_prose(path) || memchr::memmem::find(text, pattern.as_bytes()).is_none() {
        return Vec::new();
    }
    let text = String::from_utf8_lossy(text);
    let comments = comments::lines(path, &text);
    let told: Vec<(Range<usize>, bool)> = comments
        .iter()
        .zip(tags::of_records(&comments))
        .map(|(line, record)| {
            let start = line.text.as_ptr().addr() - text.as_ptr().addr();
            (start..start + line.text.len(), record)
        })
        .collect();
    let known = comments::is_known(path);
    let counts = |at: usize| match told.iter().find(|(range, _)| range.contains(&at)) {
        None => true,
        Some((_, true)) => false,
        Some((range, false)) => !known || range.start == at,
    };
    let mut begin = 0;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        if line.match_indices(pattern).any(|(at, _)| counts(begin + at)) {
            found.push((number, line.to_owned()));
        }
        begin += line.len() + 1;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_about_a_pattern_is_not_the_pattern() {
        for (name, text, expected) in [
            ("a.rs", "static P: Mutex<Pool>;\n", vec![1]),
            ("a.rs", "x\nlet p = Mutex<Pool>; // the singleton pattern: one for all\n", vec![2]),
            ("a.rs", "let p = Mutex<Pool>; // @RATIONALE it is faster\n", vec![1]),
            ("a.rs", "let s = \"@REJECTED x pattern:\"; let p = Mutex<Pool>;\n", vec![1]),
            ("a.rs", "// @REJECTED a mutex pattern: Mutex<Pool>\n", vec![]),
            ("a.rs", "// @REJECTED a mutex since\n// one Mutex<Pool> deadlocks\n// pattern: Mutex<Pool>\n", vec![]),
            ("a.rs", "/* @REJECTED a mutex since\n * one Mutex<Pool> deadlocks */ static P: Mutex<Pool>;\n", vec![2]),
            ("a.rs", "// unlike a Mutex<Pool>, this never waits\n", vec![]),
            ("a.rs", "// Mutex<Pool>: for tools\n", vec![1]),
            ("a.md", "Why no Mutex<Pool>? See src/pool.rs.\n```\nMutex<Pool>\n```\n", vec![]),
            ("a.unknown", "# not of a record: Mutex<Pool>\n# @REJECTED x pattern: Mutex<Pool>\n", vec![1]),
            ("requirements.txt", "Mutex<Pool>==2\n", vec![1]),
        ] {
            let found: Vec<u32> = lines(&RepoPath::from(name), text.as_bytes(), "Mutex<Pool>")
                .into_iter()
                .map(|(line, _)| line)
                .collect();
            assert_eq!(found, expected, "{name}: {text}");
        }
        let latin = lines(&RepoPath::from("a.c"), b"/* Gr\xfc\xdfe */ int a; /* gets( */\ngets(b);\n", "gets(");
        assert_eq!(latin, [(1, "/* Gr\u{fffd}\u{fffd}e */ int a; /* gets( */".to_owned()), (2, "gets(b);".to_owned())]);
    }
}
