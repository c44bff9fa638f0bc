//! Splits a change into parts that a model can read at once, along files and whole functions.

use crate::digest::hex_digest;
use crate::repo_path::RepoPath;

/// The largest part, in bytes. A single function that is larger is a part of its own.
pub const MAX_PART: usize = 48 * 1024;

/// The largest change that is reviewed, in parts.
pub const MAX_PARTS: usize = 24;

/// A part of a change: some hunks of some files, as git prints them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangePart {
    /// The text.
    pub text: String,
}

impl ChangePart {
    /// Returns the digest of the part without the numbers of its lines: a part that only moved is the same part.
    pub fn digest(&self) -> String {
        let is_place = |line: &&str| line.starts_with("@@ ") || line.starts_with("index ");
        let lines: Vec<&str> = self.text.lines().filter(|line| !is_place(line)).collect();
        hex_digest(&[lines.join("\n").as_bytes()])[..32].to_owned()
    }

    /// Returns the file and, if it is known, the line of the new file where `quote` stands; `None` if the part does not
    /// contain it. Of several places, one in `file` near `line` is taken.
    pub fn find(&self, file: &str, line: Option<u32>, quote: &str) -> Option<(RepoPath, Option<u32>)> {
        let wanted: Vec<String> = quote.lines().map(bare).filter(|text| !text.is_empty()).collect();
        let is_line = |text: &String| text.chars().filter(|c| c.is_alphanumeric()).count() >= MIN_QUOTE;
        if !wanted.iter().any(is_line) {
            return None;
        }
        let lines = self.lines();
        let starts = (0..lines.len()).filter(|&at| matches_at(&lines[at..], &wanted));
        let distance = |at: &usize| lines[*at].number.zip(line).map_or(u32::MAX, |(a, b)| a.abs_diff(b));
        let in_file = |at: &usize| lines[*at].file == file;
        let at = starts.filter(in_file).min_by_key(distance)?;
        // A removed line has no number: the next one has.
        let number = lines[at..].iter().take_while(|one| one.file == file).find_map(|one| one.number);
        Some((RepoPath::from(file), number))
    }

    /// Returns the files of the part.
    pub fn paths(&self) -> Vec<RepoPath> {
        let mut paths: Vec<RepoPath> = self.lines().iter().map(|line| RepoPath::from(line.file)).collect();
        paths.dedup();
        paths
    }

    fn lines(&self) -> Vec<PartLine<'_>> {
        let mut found = Vec::new();
        let (mut file, mut number, mut in_hunk) = ("", 0, false);
        for text in self.text.lines() {
            if text.starts_with("diff --git ") {
                in_hunk = false;
            } else if let Some(path) = text.strip_prefix("+++ b/").filter(|_| !in_hunk) {
                file = path.trim_end_matches('\t');
            } else if let Some(path) = text.strip_prefix("--- a/").filter(|_| !in_hunk) {
                file = path.trim_end_matches('\t');
            } else if let Some(rest) = text.strip_prefix("@@ ") {
                in_hunk = true;
                let new = rest.split(' ').find_map(|word| word.strip_prefix('+'));
                number = new.and_then(|new| new.split(',').next()?.parse().ok()).unwrap_or(0);
            } else if in_hunk {
                let is_removed = text.starts_with('-');
                let content = text.get(1..).unwrap_or_default();
                let changed = is_removed || text.starts_with('+');
                found.push(PartLine { file, number: (!is_removed).then_some(number), content, changed });
                number += u32::from(!is_removed);
            }
        }
        found
    }
}

/// The fewest letters and digits of a quoted line.
const MIN_QUOTE: usize = 3;

struct PartLine<'a> {
    file: &'a str,
    number: Option<u32>,
    content: &'a str,
    changed: bool,
}

/// Returns `true` if the quoted lines stand here, one after the other, and one of them is changed.
fn matches_at(lines: &[PartLine<'_>], wanted: &[String]) -> bool {
    let mut at = 0;
    let mut changed = false;
    for one in lines {
        let content = bare(one.content);
        if content.is_empty() {
            continue;
        }
        let is_last_or_first = wanted.len() == 1;
        let fits = if is_last_or_first { content.contains(&wanted[at]) } else { content == wanted[at] };
        if !fits {
            return false;
        }
        changed |= one.changed;
        at += 1;
        if at == wanted.len() {
            return changed;
        }
    }
    false
}

/// Returns a line without its spaces at both ends and with single ones inside.
fn bare(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Splits a diff that git printed with whole functions around each change.
pub fn split(diff: &str) -> Vec<ChangePart> {
    let mut parts: Vec<ChangePart> = Vec::new();
    for file in pieces(diff, "diff --git ") {
        let (head, hunks) = file.split_at(file.find("\n@@ ").map_or(file.len(), |at| at + 1));
        let hunks = pieces(hunks, "@@ ");
        if hunks.is_empty() {
            add(&mut parts, head, "");
        }
        let mut is_first = true;
        for hunk in hunks {
            // The head of the file stands once in each part.
            let fits = parts.last().is_some_and(|last| last.text.len() + hunk.len() <= MAX_PART);
            add(&mut parts, if is_first || !fits { head } else { "" }, hunk);
            is_first = false;
        }
    }
    parts
}

fn add(parts: &mut Vec<ChangePart>, head: &str, hunk: &str) {
    let size = head.len() + hunk.len();
    match parts.last_mut() {
        Some(last) if last.text.len() + size <= MAX_PART => {
            last.text.push_str(head);
            last.text.push_str(hunk);
        }
        _ => parts.push(ChangePart { text: format!("{head}{hunk}") }),
    }
}

/// Splits a text before each line that begins with `mark`.
fn pieces<'t>(text: &'t str, mark: &str) -> Vec<&'t str> {
    let mut starts: Vec<usize> = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.starts_with(mark) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().copied().zip(ends).map(|(start, end)| &text[start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/src/a.rs b/src/a.rs\nindex 1..2 100644\n--- a/src/a.rs\n+++ b/src/a.rs\n\
        @@ -1,3 +1,4 @@ fn one() {\n fn one() {\n-    let x = 1;\n+    let x = input();\n+    run(x);\n }\n\
        diff --git a/b.py b/b.py\nindex 3..4 100644\n--- a/b.py\n+++ b/b.py\n@@ -10 +10 @@\n-old = 1\n+new = 2\n";

    #[test]
    fn a_quote_is_found_where_it_stands() {
        let part = ChangePart { text: DIFF.to_owned() };
        let place = |file, quote| part.find(file, None, quote).map(|(path, line)| (path.to_string(), line));
        assert_eq!(place("src/a.rs", "run(x);"), Some(("src/a.rs".to_owned(), Some(3))));
        assert_eq!(place("src/a.rs", "let x = input();\n    run(x);"), Some(("src/a.rs".to_owned(), Some(2))));
        assert_eq!(place("src/a.rs", "let x = 1;"), Some(("src/a.rs".to_owned(), Some(2))));
        assert_eq!(place("b.py", "new = 2"), Some(("b.py".to_owned(), Some(10))));
        for (file, quote) in [
            ("b.py", "run(x);"),
            ("src/a.rs", "fn one() {"),
            ("src/a.rs", "}"),
            ("src/a.rs", ""),
            ("src/a.rs", "+++ b/b.py"),
            ("src/a.rs", "let x = other();"),
        ] {
            assert_eq!(place(file, quote), None, "{file} {quote}");
        }
    }

    #[test]
    fn a_large_change_is_split_between_hunks() {
        let hunk = |n: usize| format!("@@ -{n} +{n} @@ fn f{n}()\n-{}\n+{}\n", "a".repeat(20_000), "b".repeat(20_000));
        let head = "diff --git a/x.rs b/x.rs\n--- a/x.rs\n+++ b/x.rs\n";
        let diff = format!("{head}{}{}{}", hunk(1), hunk(2), hunk(3));
        let parts = split(&diff);
        assert_eq!(parts.len(), 3);
        assert!(parts.iter().all(|part| part.text.starts_with(head) && part.text.matches("\n@@ ").count() == 1));
        assert_eq!(split(DIFF).len(), 1);
        assert_eq!(split(""), []);
    }

    #[test]
    fn a_part_that_moved_is_the_same_part() {
        let moved = DIFF.replace("@@ -10 +10 @@", "@@ -90 +95 @@").replace("index 3..4", "index 3..5");
        let of = |text: &str| ChangePart { text: text.to_owned() }.digest();
        assert_eq!(of(DIFF), of(&moved));
        assert_ne!(of(DIFF), of(&DIFF.replace("new = 2", "new = 3")));
    }
}
