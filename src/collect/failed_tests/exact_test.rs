//! Two texts of one test that differ in nothing but its name and layout.

use super::same_test::lines_below;
use super::test_words::{is_word, tokens};
use crate::fact::weakening::DeclaredTest;

/// Marks that open and close brackets.
const BRACKETS: [(&str, &str); 3] = [("(", ")"), ("[", "]"), ("{", "}")];

/// Words before a bracket that call nothing.
const KEYWORDS: [&str; 12] =
    ["assert", "return", "in", "not", "and", "or", "if", "elif", "while", "is", "yield", "await"];

/// Returns `true` if two tests are the same apart from their names, line breaks, comments and the texts of messages.
pub(super) fn is_exact(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    old.texts == new.texts && statements(old) == statements(new)
}

/// Returns the words and marks of a test, with `\n` at the end of each statement.
fn statements(test: &DeclaredTest) -> Vec<String> {
    let (head, lines) = lines_below(test);
    // A test in a class has its object as a parameter; what only documents it says nothing.
    let head = head.replace("(self)", "()").replace("(self, ", "(").replace(" -> None", "");
    let is_document = |line: &String| line.trim_matches([' ', '"', '\'']).is_empty();
    let mut found = Vec::new();
    let mut depth = 0_usize;
    for line in std::iter::once(head).chain(lines.into_iter().filter(|line| !is_document(line))) {
        let mut of_line = tokens(&line);
        depth = of_line.iter().fold(depth, |depth, word| match word.as_str() {
            "(" | "[" => depth + 1,
            ")" | "]" => depth.saturating_sub(1),
            _ => depth,
        });
        if of_line.last().is_some_and(|last| ["{", ":"].contains(&last.as_str())) {
            depth = 0;
        }
        if depth == 0 {
            of_line.push("\n".to_owned());
        }
        found.append(&mut of_line);
    }
    without_wrapping(without_last_commas(found))
}

/// Removes the commas before closing brackets where they change nothing: one alone makes a tuple of a value.
fn without_last_commas(words: Vec<String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    let mut open: Vec<(bool, usize)> = Vec::new();
    for word in words {
        if BRACKETS.iter().any(|(opens, _)| *opens == word) {
            let is_callee = |before: &String| is_word(before) && !KEYWORDS.contains(&before.as_str()) || before == "!";
            open.push((word != "(" || kept.last().is_some_and(is_callee), 0));
        } else if BRACKETS.iter().any(|(_, closes)| *closes == word) {
            let (is_call, commas) = open.pop().unwrap_or_default();
            if kept.last().is_some_and(|last| last == ",") && (is_call || commas > 1) {
                kept.pop();
            }
        } else if word == ","
            && let Some((_, commas)) = open.last_mut()
        {
            *commas += 1;
        }
        kept.push(word);
    }
    kept
}

/// Removes the brackets around all of what Python asserts.
fn without_wrapping(words: Vec<String>) -> Vec<String> {
    let mut kept = words;
    let mut at = 0;
    while at + 1 < kept.len() {
        let end = if kept[at] == "assert" && kept[at + 1] == "(" { closing(&kept, at + 1) } else { None };
        let is_alone =
            |end: &usize| kept.get(end + 1).is_none_or(|next| next == "\n") && !has_comma(&kept[at + 2..*end]);
        if let Some(end) = end.filter(is_alone) {
            kept.remove(end);
            kept.remove(at + 1);
        }
        at += 1;
    }
    kept
}

/// Returns the place of the bracket that closes the one at `start`.
fn closing(words: &[String], start: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let closes = |word: &String| {
        depth = match word.as_str() {
            "(" => depth + 1,
            ")" => depth.saturating_sub(1),
            _ => depth,
        };
        depth == 0
    };
    words[start..].iter().position(closes).map(|end| start + end)
}

/// Returns `true` if a comma is in no bracket of these words.
fn has_comma(words: &[String]) -> bool {
    let mut depth = 0_usize;
    words.iter().any(|word| {
        match word.as_str() {
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth = depth.saturating_sub(1),
            _ => {}
        }
        word == "," && depth == 0
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::weakening::declared_tests;
    use crate::repo_path::RepoPath;

    #[test]
    fn only_layout_and_comments_may_differ() {
        let test = |body: &str| -> DeclaredTest {
            let text = format!("def test_a():\n    {body}\n");
            declared_tests(&RepoPath::from("tests/test_a.py"), &text).into_iter().next().expect("a test")
        };
        let old = test("x = add(1, 2)\n    assert x == 3");
        for (body, is) in [
            ("x = add(1, 2)  # three\n    assert x == 3", true),
            ("x = add(\n        1,\n        2,\n    )\n    assert (\n        x == 3\n    )", true),
            ("\"\"\"Adds.\"\"\"\n    x = add(1, 2)\n    assert x == 3", true),
            ("x = 3\n    assert x == 3", false),
            ("x = add(1, 2)\n    assert (x == 3,)", false),
            ("x = add(1, 2)\n    assert (\n        x == 3,\n        'sums',\n    )", false),
            ("x = add((1, 2))\n    assert x == 3", false),
            ("x = add(1, 2)\n    assertx == 3", false),
            ("return\n    x = add(1, 2)\n    assert x == 3", false),
        ] {
            assert_eq!(is_exact(&old, &test(body)), is, "{body}");
        }
        assert!(!is_exact(&test("assert hi((1,)) == 'a'"), &test("assert hi((1)) == 'a'")));
        assert!(!is_exact(&test("assert hi('a') == 'b'"), &test("assert hi('b') == 'a'")));
    }
}
