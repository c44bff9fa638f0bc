//! The comments of a file, line by line: text for people, in contrast to text that a program uses.

use std::collections::HashMap;
use std::sync::OnceLock;

use serde::Deserialize;

use crate::embedded;
use crate::repo_path::RepoPath;

/// A line of a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommentLine<'t> {
    /// Its number in the file, counted from 1.
    pub(super) number: u32,
    /// The text without the comment marks.
    pub(super) text: &'t str,
}

#[derive(Deserialize)]
struct CommentsFile {
    design_patterns: Vec<String>,
    language: Vec<CommentSyntax>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CommentSyntax {
    extensions: Vec<String>,
    names: Vec<String>,
    line: Vec<String>,
    block: Vec<(String, String)>,
    string: Vec<(String, String)>,
    text: Vec<(String, String)>,
    raw: Vec<(String, String)>,
    skip: Vec<String>,
    regex: bool,
}

/// Languages by file name or ending.
struct Languages {
    design_patterns: Vec<String>,
    all: Vec<CommentSyntax>,
    by_name: HashMap<String, usize>,
}

fn languages() -> &'static Languages {
    static LANGUAGES: OnceLock<Languages> = OnceLock::new();
    LANGUAGES.get_or_init(|| {
        let CommentsFile { design_patterns, language: all } = embedded::table("comments.toml");
        let mut by_name = HashMap::new();
        for (at, language) in all.iter().enumerate() {
            for ending in &language.extensions {
                by_name.insert(format!(".{ending}"), at);
            }
            for name in &language.names {
                by_name.insert(name.clone(), at);
            }
        }
        Languages { design_patterns, all, by_name }
    })
}

fn language(path: &RepoPath) -> Option<&'static CommentSyntax> {
    let whole = String::from_utf8_lossy(path.as_bytes()).into_owned();
    let name = whole.rsplit('/').next().unwrap_or(&whole);
    let known = languages();
    let ending = || name.rsplit_once('.').map(|(_, ending)| format!(".{}", ending.to_ascii_lowercase()));
    let at = known.by_name.get(name).or_else(|| known.by_name.get(&ending()?))?;
    known.all.get(*at)
}

/// Returns the lines of all comments, in order. Markdown as a whole is text for people, except for its code.
pub(super) fn lines<'t>(path: &RepoPath, text: &'t str) -> Vec<CommentLine<'t>> {
    if is_prose(path) {
        return prose(text);
    }
    if let Some(language) = language(path) { scan(language, text) } else { guessed(text) }
}

/// Returns `true` if a file as a whole is text for people.
pub(super) fn is_prose(path: &RepoPath) -> bool {
    let ending = path.as_bytes().rsplit(|&byte| byte == b'.').next().unwrap_or_default().to_ascii_lowercase();
    matches!(&ending[..], b"md" | b"mdx" | b"markdown" | b"adoc" | b"rst")
}

/// Returns `true` if the comment syntax of a file is known.
pub(super) fn is_known(path: &RepoPath) -> bool {
    is_prose(path) || language(path).is_some()
}

/// Names of ways to build a program that end in `pattern`, in small letters.
pub(super) fn design_patterns() -> &'static [String] {
    &languages().design_patterns
}

fn prose(text: &str) -> Vec<CommentLine<'_>> {
    let mut fence: Option<&str> = None;
    let mut found = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~", "----"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some("```" | "~~~")) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, _) => found.push(CommentLine { number, text: bare(line) }),
            (Some(_), _) => {}
        }
    }
    found
}

/// Returns the lines that begin like a comment, for an unknown language.
fn guessed(text: &str) -> Vec<CommentLine<'_>> {
    let marks = ["//", "#", "--", ";", "%", "/*", "*", "<!--", "(*", "\"\"\"", "'"];
    let is_comment = |line: &str| marks.iter().any(|mark| line.starts_with(mark));
    (1..)
        .zip(text.lines())
        .filter(|(_, line)| is_comment(line.trim_start()))
        .map(|(number, line)| CommentLine { number, text: bare(line) })
        .collect()
}

/// The construct around a text.
enum Inside<'l> {
    Line,
    Block(&'l str),
    String { end: &'l str, escapes: bool, one_line: bool },
}

fn scan<'t>(language: &'static CommentSyntax, text: &'t str) -> Vec<CommentLine<'t>> {
    let mut found = Vec::new();
    let mut inside: Option<Inside<'static>> = None;
    for (number, line) in (1..).zip(text.lines()) {
        let mut at = 0;
        // Where a comment of this line begins.
        let mut from = matches!(inside, Some(Inside::Block(_))).then_some(0);
        while at < line.len() {
            let rest = &line[at..];
            let step = match &inside {
                None => match open(language, rest) {
                    None if language.regex && rest.starts_with('/') => regex(&line[..at], rest).unwrap_or(1),
                    Some((inner, length)) => {
                        if matches!(inner, Some(Inside::Line | Inside::Block(_))) {
                            from = Some(at + length);
                        }
                        inside = inner;
                        length
                    }
                    None => next(rest),
                },
                Some(Inside::Line) => rest.len(),
                Some(Inside::Block(end)) => match rest.find(end) {
                    Some(found_at) => {
                        if let Some(from) = from.take() {
                            found.push(CommentLine {
                                number,
                                text: bare(&line[from.min(at + found_at)..at + found_at]),
                            });
                        }
                        let length = found_at + end.len();
                        inside = None;
                        length
                    }
                    None => rest.len(),
                },
                Some(Inside::String { end, escapes, .. }) => {
                    if rest.starts_with(end) {
                        let length = end.len();
                        inside = None;
                        length
                    } else if *escapes && rest.starts_with('\\') {
                        1 + next(&rest[1..])
                    } else {
                        next(rest)
                    }
                }
            };
            at += step;
        }
        if let Some(from) = from.filter(|_| matches!(inside, Some(Inside::Line | Inside::Block(_)))) {
            found.push(CommentLine { number, text: bare(&line[from.min(line.len())..]) });
        }
        if matches!(inside, Some(Inside::Line | Inside::String { one_line: true, .. })) {
            inside = None;
        }
    }
    found
}

/// Returns the construct that begins at the start of `rest`, and the length of its mark; `None` inside: something to
/// skip.
fn open(language: &'static CommentSyntax, rest: &str) -> Option<(Option<Inside<'static>>, usize)> {
    if let Some(skip) = language.skip.iter().find(|skip| rest.starts_with(skip.as_str())) {
        return Some((None, skip.len()));
    }
    let begins = |pair: &&'static (String, String)| rest.starts_with(pair.0.as_str());
    if let Some((mark, end)) = language.block.iter().find(begins) {
        return Some((Some(Inside::Block(end)), mark.len()));
    }
    if let Some(mark) = language.line.iter().find(|mark| rest.starts_with(mark.as_str())) {
        return Some((Some(Inside::Line), mark.len()));
    }
    let string = |pair: &'static (String, String), escapes: bool, one_line: bool| {
        Some((Some(Inside::String { end: &pair.1, escapes, one_line }), pair.0.len()))
    };
    if let Some(pair) = language.raw.iter().find(begins) {
        return string(pair, false, false);
    }
    if let Some(pair) = language.text.iter().find(begins) {
        return string(pair, true, false);
    }
    language.string.iter().find(begins).and_then(|pair| string(pair, true, true))
}

/// Returns the length of the regular expression that `rest` begins with, if a value, and not an operator, can follow
/// `before`.
fn regex(before: &str, rest: &str) -> Option<usize> {
    const WORDS: [&str; 9] = ["return", "typeof", "case", "in", "of", "do", "else", "void", "delete"];
    let before = before.trim_end();
    let last = before.chars().next_back();
    let word = before.rsplit(|c: char| !c.is_alphanumeric() && c != '_' && c != '$').next().unwrap_or_default();
    let begins =
        last.is_none_or(|c| "(,=:[!&|?{;+-*%^~".contains(c)) || before.ends_with("=>") || WORDS.contains(&word);
    let (mut class, mut escaped) = (false, false);
    let end = rest.char_indices().skip(1).filter(|_| begins).find(|(_, c)| {
        let ends = *c == '/' && !class && !escaped;
        match c {
            '[' if !escaped => class = true,
            ']' if !escaped => class = false,
            _ => {}
        }
        escaped = *c == '\\' && !escaped;
        ends
    });
    end.map(|(at, _)| at + 1)
}

/// Returns the number of bytes of the first character.
fn next(text: &str) -> usize {
    text.chars().next().map_or(1, char::len_utf8)
}

/// Returns a line without blanks and without the marks of comments and lists.
fn bare(line: &str) -> &str {
    let decoration =
        |c: char| c.is_whitespace() || matches!(c, '/' | '*' | '#' | '!' | ';' | '%' | '>' | '-' | '|' | '\'');
    let line = line.trim_start_matches(decoration).trim_end();
    line.strip_suffix("*/").or_else(|| line.strip_suffix("-->")).unwrap_or(line).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comments(name: &str, text: &str) -> Vec<(u32, String)> {
        lines(&RepoPath::from(name), text).into_iter().map(|line| (line.number, line.text.to_owned())).collect()
    }

    #[test]
    fn the_embedded_file_is_readable() {
        let file: CommentsFile = embedded::table("comments.toml");
        for language in &file.language {
            assert!(!language.extensions.is_empty());
            assert!(!language.line.is_empty() || !language.block.is_empty());
        }
    }

    #[test]
    fn comments_are_told_from_strings() {
        for (name, text, expected) in [
            ("a.rs", "// @X a\nlet s = \"// no\"; // yes", vec![(1, "@X a"), (2, "yes")]),
            ("a.rs", "let s = \"\n// no\n\"; /* a\n * b */ c", vec![(3, "a"), (4, "b")]),
            ("a.rs", "let c = '\"'; // yes\nr#\"// \" no\"# /// doc", vec![(1, "yes"), (2, "doc")]),
            ("a.rs", "fn f<'a>() {} // yes\n//! in", vec![(1, "yes"), (2, "in")]),
            ("a.go", "x := `\n// no\n` // yes", vec![(3, "yes")]),
            ("a.ts", "const u = 'http://x'; // yes\nlet t = `// no\n// no`; /* b */", vec![(1, "yes"), (3, "b")]),
            ("a.ts", "const fence = /^`{3}/;\n// yes", vec![(2, "yes")]),
            ("a.js", "x.replace(/[/'\"]\\//g, y) // yes\nreturn /`/ // b", vec![(1, "yes"), (2, "b")]),
            ("a.js", "a = b / c; s = '// no' // yes\nf(1) / 2 // b", vec![(1, "yes"), (2, "b")]),
            ("a.tsx", "<p>it</p> /* yes */", vec![(1, "yes")]),
            ("a.clj", "(def q \\\") ; yes\n(f \"; no\") ; b", vec![(1, "yes"), (2, "b")]),
            ("a.py", "\"\"\"# no\n# no\"\"\"\nx = '# no' # yes", vec![(3, "yes")]),
            ("a.py", "# it's\n# b", vec![(1, "it's"), (2, "b")]),
            ("a.java", "char c = '\\''; // yes\n/** a\n */", vec![(1, "yes"), (2, "a"), (3, "")]),
            ("a.css", "a { b: url(http://c) } /* yes */", vec![(1, "yes")]),
            ("x.sql", "select '-- no' -- yes", vec![(1, "yes")]),
            ("x.html", "<a> <!-- b\nc --> d", vec![(1, "b"), (2, "c")]),
            ("x.lua", "--[[ a\nb ]] x -- c", vec![(1, "a"), (2, "b"), (2, "c")]),
            ("Makefile", "a: b # yes\n\techo \"# no\"", vec![(1, "yes")]),
            ("x.el", "(a \"; no\") ; yes", vec![(1, "yes")]),
            ("a.ini", "; a\nx = 1 ; b\n# c", vec![(1, "a"), (2, "b"), (3, "c")]),
            ("a.tf", "// a\nx = \"// no\" # b\n/* c */", vec![(1, "a"), (2, "b"), (3, "c")]),
            ("a.jinja", "{# a #} {{ x }}", vec![(1, "a")]),
            ("a.hbs", "{{!-- a --}}{{! b }}", vec![(1, "a"), (1, "b")]),
            ("a.erb", "<%# a %> <%= x %>", vec![(1, "a")]),
            ("a.f90", "! a\nx = '! no' ! b", vec![(1, "a"), (2, "b")]),
            ("a.jl", "#= a\nb =#\nx # c", vec![(1, "a"), (2, "b"), (3, "c")]),
            ("a.m", "% a\n// b\n%{\nc\n%}", vec![(1, "a"), (2, "b"), (3, ""), (4, "c"), (5, "")]),
            ("x.vb", "Dim a = \"' no\" ' yes", vec![(1, "yes")]),
            ("a.md", "# t\n- x\n```\nno\n```\ny", vec![(1, "t"), (2, "x"), (6, "y")]),
            ("a.unknown", "x\n// a\n\"// no\"\n  # b", vec![(2, "a"), (4, "b")]),
            ("a.rs", "let ü = \"ß\"; // ä\u{301}", vec![(1, "ä\u{301}")]),
        ] {
            let expected: Vec<(u32, String)> =
                expected.into_iter().map(|(n, t): (u32, &str)| (n, t.to_owned())).collect();
            assert_eq!(comments(name, text), expected, "{name}: {text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_read(text in "[\\PC\n\"'`/*#\\\\-]{0,80}", ending in "rs|py|ts|lua|md|none|html|css") {
            for line in comments(&format!("a.{ending}"), &text) {
                proptest::prop_assert!(line.0 as usize <= text.lines().count());
            }
        }
    }
}
