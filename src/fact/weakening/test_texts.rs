//! The texts in quotes that a test gives its code or expects of it, apart from messages.

use std::ops::Range;

/// The beginnings of words that assert something.
const ASSERTING: [&str; 9] = ["assert", "expect", "should", "must", "refute", "require", "verify", "check", "raises"];
/// The marks around a text.
const QUOTES: [char; 3] = ['"', '\'', '`'];
/// Words in a line whose texts are messages.
const SAYING: [&str; 9] = [".Error", ".Fatal", ".Log", ".Skip", "print", "console.", "panic!", "logger.", "logging."];
/// The ends of names of assertions about one value: what follows it is a message.
const OF_ONE_VALUE: [&str; 10] = ["assert", "expect", "assert!", "rue", "alse", "ull", "None", "il", "ok", "ruthy"];

/// Returns `true` if a word of code is the name of an assertion.
pub fn is_asserting(word: &str) -> bool {
    ASSERTING.iter().any(|start| word.starts_with(start))
}

/// Returns the texts of a test, without quotes. Its own name is none, nor is what only documents it. `body` is its code with
/// blanks in place of comments and of the content of texts, `text` the same as it is written.
pub(super) fn texts(body: &str, text: &str) -> Vec<String> {
    let code = without_next_head(body);
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = code[at..].find(QUOTES).map(|place| at + place) {
        let Some((inside, end)) = text_at(code, start) else {
            at = start + 1;
            continue;
        };
        if start > 0 && !is_message(&code[..start]) {
            found.extend(text.get(inside).map(str::to_owned));
        }
        at = end;
    }
    found
}

/// Returns the text of a test, from its name on, without what follows it: the head of the next one.
pub fn without_next_head(text: &str) -> &str {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut least = None;
    let mut end = 0;
    for (number, line) in text.split_inclusive('\n').enumerate() {
        if number > 0 && !line.trim().is_empty() && depth(line) < *least.get_or_insert(depth(line)) {
            break;
        }
        end += line.len();
    }
    &text[..end]
}

/// Returns the place of the content of the text that begins with a quote, and the place behind it. A single quote that has no
/// other in its line is none.
fn text_at(code: &str, start: usize) -> Option<(Range<usize>, usize)> {
    let quote = &code[start..=start];
    let quote = if code[start..].starts_with(&quote.repeat(3)) { quote.repeat(3) } else { quote.to_owned() };
    let from = start + quote.len();
    let to = code[from..].find(&quote).map(|end| from + end)?;
    (quote != "'" || !code[from..to].contains('\n')).then_some((from..to, to + quote.len()))
}

/// Returns `true` if what follows this code is a message, or documents the test.
fn is_message(before: &str) -> bool {
    let line = before.rsplit('\n').next().unwrap_or_default();
    if line.trim().is_empty() && before.trim_end().ends_with([':', '{'])
        || SAYING.iter().any(|word| line.contains(word))
    {
        return true;
    }
    let (open, arguments) = call_around(before);
    if open == 0 {
        return line.trim_start().starts_with("assert ") && arguments > 0;
    }
    let callee = before[..open].trim_end();
    let start = callee.rfind(|c: char| !c.is_alphanumeric() && !['_', '.', '!'].contains(&c)).map_or(0, |at| at + 1);
    let callee = &callee[start..];
    let mut names = callee.split('.').map(|name| name.trim_end_matches('!'));
    let of_object = usize::from(
        callee.starts_with("assert.") && callee.ends_with(char::is_alphabetic) && before.contains("testing.T"),
    );
    let limit = if OF_ONE_VALUE.iter().any(|end| callee.ends_with(end)) { 1 } else { 2 } + of_object;
    callee.ends_with(".expect") || names.any(is_asserting) && arguments >= limit
}

/// Returns the place of the bracket that is open at the end of some code, 0 if none is in its last line or those before that
/// it continues, and the number of commas since.
fn call_around(before: &str) -> (usize, usize) {
    let mut depth = 0_usize;
    let mut commas = 0;
    for (at, c) in before.char_indices().rev() {
        match c {
            ')' | ']' | '}' => depth += 1,
            '(' if depth == 0 => return (at, commas),
            '[' | '{' if depth == 0 => commas = 0,
            '(' | '[' | '{' => depth -= 1,
            ',' if depth == 0 => commas += 1,
            '\n' if depth == 0 && commas == 0 && before[at..].trim_start().starts_with("assert ") => break,
            _ => {}
        }
    }
    (0, commas)
}

#[cfg(test)]
mod tests {
    use crate::fact::weakening::{DeclaredTest, declared_tests};
    use crate::repo_path::RepoPath;

    fn test_in(path: &str, text: &str) -> DeclaredTest {
        declared_tests(&RepoPath::from(path), text).into_iter().next().expect("a test")
    }

    #[test]
    fn texts_that_are_no_messages() {
        let python = |body: &str| format!("def test_a():\n    {body}\n\n\n@mark('next')\ndef test_b():\n    pass\n");
        let node = |body: &str| format!("test('a', () => {{\n  {body}\n}});\n");
        let rust = |body: &str| format!("#[test]\nfn a() {{\n    {body}\n}}\n");
        let go = |body: &str| format!("func TestA(t *testing.T) {{\n\t{body}\n}}\n");
        for (path, text, expected) in [
            ("tests/test_a.py", python("assert hi('ann') == \"hello\", 'a greeting'"), &["ann", "hello"][..]),
            ("tests/test_a.py", python("\"\"\"Says hello.\"\"\"\n    assert hi() == 'hello'  # don't ask"), &["hello"]),
            ("tests/test_a.py", python("self.assertEqual(hi(), 'hello', 'a greeting')"), &["hello"]),
            ("tests/test_a.py", python("self.assertTrue(is_in('hello'), 'a greeting')"), &["hello"]),
            ("tests/test_a.py", python("self.assertTrue(hi(), 'a greeting')"), &[]),
            ("test/a.test.js", node("expect(hi()).toBe('hello');"), &["hello"]),
            ("test/a.test.js", node("assert.strictEqual(hi(), 'hello', 'a greeting');"), &["hello"]),
            ("tests/a.rs", rust("assert_eq!(hi(), \"hello\", \"a greeting\");"), &["hello"]),
            (
                "tests/a.rs",
                rust("let x = hi().expect(\"a greeting\");\n    assert!(x == \"hello\", \"no\");"),
                &["hello"],
            ),
            (
                "a_test.go",
                go("if got := Hi(\"ann\"); got != \"hello\" {\n\t\tt.Errorf(\"got %q\", got)\n\t}"),
                &["ann", "hello"],
            ),
        ] {
            assert_eq!(test_in(path, &text).texts, expected, "{text}");
        }
    }

    #[test]
    fn another_text_is_another_question() {
        let test = |text: &str| test_in("tests/test_a.py", &format!("def test_a():\n    assert hi('ann') == {text}\n"));
        assert!(test("\"hello\", 'greets'").has_texts_of(&test("'hello'")));
        assert!(!test("'helo'").has_texts_of(&test("'hello'")));
    }
}
