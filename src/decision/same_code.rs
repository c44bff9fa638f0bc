//! Compares code without the parts that have no effect: comments, blank lines, spaces and docstrings.

use super::comments::{is_known, is_prose, lines};
use crate::repo_path::RepoPath;

/// Returns `true` if two texts of a file differ at most in comments, blank lines, and spaces between words. Of a language that
/// is not known, no line is a comment.
pub fn is_same_code(path: &RepoPath, one: &str, other: &str) -> bool {
    one == other || code_lines(path, one) == code_lines(path, other)
}

/// Returns the lines of a text without comments, and without those that hold nothing else.
fn code_lines(path: &RepoPath, text: &str) -> Vec<String> {
    let script = language_of_script(text).map(RepoPath::from);
    let known = [Some(path), script.as_ref()].into_iter().flatten().find(|path| is_known(path) && !is_prose(path));
    let mut comments = known.map(|path| lines(path, text)).unwrap_or_default().into_iter().peekable();
    let is_mark = |c: char| c.is_whitespace() || "#/*".contains(c);
    let mut kept = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut line = line.to_owned();
        while let Some(comment) = comments.next_if(|comment| comment.number <= number) {
            let Some(at) = line.rfind(comment.text).filter(|_| comment.number == number) else { continue };
            let (before, after) = (line[..at].trim_end_matches(is_mark), &line[at + comment.text.len()..]);
            line = format!("{before}{after}");
        }
        if !line.trim_matches(is_mark).is_empty() {
            kept.push(without_spaces(&line));
        }
    }
    if path.as_bytes().ends_with(b".py") { without_docstrings(kept) } else { kept }
}

/// Returns a name for a script as its language has it, by the interpreter in its first line.
fn language_of_script(text: &str) -> Option<&'static str> {
    let mut words = text.strip_prefix("#!")?.lines().next()?.split_whitespace();
    let program = words.find_map(|word| word.rsplit('/').next().filter(|name| *name != "env"))?;
    Some(match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
        "sh" | "bash" | "dash" | "zsh" | "ksh" => "a.sh",
        "python" => "a.py",
        "node" => "a.js",
        "ruby" => "a.rb",
        "perl" => "a.pl",
        _ => return None,
    })
}

/// Returns a line without the spaces at its end, and without those around the marks in it, if it holds no text in quotes.
fn without_spaces(line: &str) -> String {
    if line.contains(['"', '\'', '`']) {
        return line.trim_end().to_owned();
    }
    let code = line.trim_start();
    let mut joined = line[..line.len() - code.len()].to_owned();
    for word in code.split_whitespace() {
        let is_name = |c: char| c.is_alphanumeric() || c == '_';
        // Two words stay two.
        if joined.ends_with(is_name) && word.starts_with(is_name) {
            joined.push(' ');
        }
        joined.push_str(word);
    }
    joined
}

/// Returns lines of Python without the texts that describe a module, a class or a function.
fn without_docstrings(lines: Vec<String>) -> Vec<String> {
    const QUOTES: [&str; 2] = ["\"\"\"", "'''"];
    let mut kept: Vec<String> = Vec::new();
    let mut open: Option<&str> = None;
    for line in lines {
        let text = line.trim();
        if let Some(quotes) = open {
            open = open.filter(|_| !text.ends_with(quotes));
            continue;
        }
        let begins = QUOTES.into_iter().find(|quotes| text.starts_with(quotes));
        let Some(quotes) = begins.filter(|_| kept.last().is_none_or(|above| is_described_below(above))) else {
            kept.push(line);
            continue;
        };
        let is_whole = text.len() >= 2 * quotes.len() && text.ends_with(quotes);
        open = (!is_whole).then_some(quotes);
    }
    kept
}

/// Returns `true` if a text below this line of Python describes the class or function that begins with it.
fn is_described_below(line: &str) -> bool {
    let line = line.trim_start();
    line.ends_with(':') && ["def ", "async def ", "class ", ")"].iter().any(|start| line.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_blank_lines_are_no_code() {
        let python = "def add(a, b):\n    return a+b\n";
        for (path, one, other, same) in [
            ("a.py", python, "# Sums.\ndef add(a, b):\n\n    return a+b  # both\n#\n", true),
            ("a.py", python, "def add(a, b):\n    return a-b\n", false),
            ("a.py", python, "def add(a, b):\nreturn a+b\n", false),
            ("a.py", "x = '#a'\n", "x = '#b'\n", false),
            ("a.rs", "fn a() {}\n", "/// Is\n/* more\n * of it */\nfn a() {} // a\n", true),
            ("a.js", "f(a /* one */, b)\n", "f(a /* two */, c)\n", false),
            ("a.unknown", "x\n", "# y\nx\n", false),
            ("run", "#!/usr/bin/env bash\nx\n", "#!/usr/bin/env bash\n# y\nx\n", true),
            ("run", "#!/bin/sh\nx 1\n", "#!/bin/sh\nx 2\n", false),
            ("a.py", python, "def add(a,  b):\n    return a + b\n", true),
            ("a.py", python, "def add(a, b):\n    \"\"\"Adds.\"\"\"\n    return a+b\n", true),
            ("a.py", python, "\"\"\"Sums.\n\nTwo.\n\"\"\"\ndef add(a, b):\n    return a+b\n", true),
            ("a.py", python, "def add(a, b):\n    '''Adds\n    both.'''\n    return a-b\n", false),
            ("a.py", "x = f(\n    \"\"\"a\"\"\")\n", "x = f(\n    \"\"\"b\"\"\")\n", false),
            ("a.py", "x = 'a b'\n", "x = 'ab'\n", false),
            ("a.py", "not a\n", "nota\n", false),
            ("a.js", "if (a) b(1)\n", "if(a)   b( 1 )\n", true),
        ] {
            assert_eq!(is_same_code(&RepoPath::from(path), one, other), same, "{path} {other}");
        }
    }
}
