//! A test whose assertions are part of a larger one now: a table has a row with its values, or two tests became one.

use std::collections::BTreeMap;

use super::changed_tests::{ChangedTests, TestFileChange};
use super::renamed_tests::FoundTest;
use super::test_words::{Asked, is_loop, is_word, tokens, wraps_more};
use crate::fact::weakening::{DeclaredTest, adds_hiding_word, is_test_file, test_texts, without_next_head};
use crate::repo_path::RepoPath;

/// The marks around a text.
const QUOTES: [&str; 3] = ["\"", "'", "`"];
/// Words that are values, not names of them.
const CONSTANTS: [&str; 10] = ["True", "False", "None", "true", "false", "null", "nil", "undefined", "NaN", "Infinity"];

/// Calls of Go that report a failure.
const REPORTING: [&str; 4] = ["Error", "Errorf", "Fatal", "Fatalf"];

/// The values of a test, by the expression that stands for each of them in a table.
type Values = BTreeMap<Vec<String>, Vec<String>>;

impl ChangedTests {
    /// Returns the tests that make all calls and assertions of a test, among others: with the same values, or with values that
    /// the file has in a row of a table.
    pub(super) fn within(&self, path: &RepoPath, declared: &DeclaredTest) -> Vec<FoundTest> {
        let Some(old) = self.file(path).and_then(|file| file.old.as_deref()) else { return Vec::new() };
        let lines = lines_of(&test_texts(path, old), &declared.name);
        let asked = Asked::of(declared);
        if lines.is_empty() || !asked.asserts() {
            return Vec::new();
        }
        let mut found = Vec::new();
        for file in self.files.iter().filter(|file| file.path == *path || is_test_file(&file.path)) {
            let Some(new) = file.new.as_deref() else { continue };
            let texts = test_texts(&file.path, new);
            let holds = |test: &DeclaredTest| {
                let hides = test.is_newly_skipped(declared) || adds_hiding_word(&declared.body, &test.body);
                !hides && !wraps_more(declared, test) && are_within(&lines, &lines_of(&texts, &test.name), new)
            };
            let holding = file.tests_now().iter().filter(|test| is_changed(file, test) && holds(test));
            found.extend(holding.map(|test| (file.path.clone(), test.name.clone())));
        }
        found
    }
}

/// Returns `true` if a file gained or changed a test.
fn is_changed(file: &TestFileChange, test: &DeclaredTest) -> bool {
    file.old != file.new && !file.tests_before().contains(test)
}

/// Returns the words of each line of a test below that of its name, without the last brackets.
fn lines_of(texts: &[(String, &str)], name: &str) -> Vec<Vec<String>> {
    let Some((_, own)) = texts.iter().find(|(test, _)| test == name) else { return Vec::new() };
    let inside = without_next_head(own).lines().skip(1).filter(|line| !line.trim().is_empty()).map(plain);
    inside.filter(|line| line.iter().any(|word| word.starts_with(is_of_word))).collect()
}

/// Returns the words of a line without those that only end it.
fn plain(line: &str) -> Vec<String> {
    let mut words = words_and_texts(line);
    while words.last().is_some_and(|last| [";", ","].contains(&last.as_str())) {
        words.pop();
    }
    without_message(words)
}

/// Returns the words of a line without the message that it prints if it fails.
fn without_message(mut words: Vec<String>) -> Vec<String> {
    let reports = |pair: &[String]| pair[0] == "." && REPORTING.contains(&pair[1].as_str());
    if let Some(at) = words.windows(2).position(reports) {
        words.truncate(at + 1);
        words.push(REPORTING[0].to_owned());
    } else if words.first().is_some_and(|word| word == "assert") {
        let mut depth = 0_usize;
        let ends = words.iter().position(|word| is_outer_comma(word, &mut depth));
        words.truncate(ends.unwrap_or(words.len()));
    }
    words
}

/// Returns `true` for a comma outside of brackets. `depth` is the number of those that are open.
fn is_outer_comma(word: &str, depth: &mut usize) -> bool {
    match word {
        "[" | "{" | "(" => *depth += 1,
        "]" | "}" | ")" => *depth = depth.saturating_sub(1),
        _ => {}
    }
    word == "," && *depth == 0
}

/// Returns the words and marks of a line of code, each text in quotes as one of them.
fn words_and_texts(line: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut open: Option<String> = None;
    for word in tokens(line.split(" # ").next().unwrap_or(line)) {
        let is_quote = QUOTES.contains(&word.as_str());
        match (&open, found.last_mut()) {
            (Some(_), Some(last)) => {
                *last = format!("{last} {word}");
                open = open.filter(|quote| *quote != word);
            }
            _ => {
                open = is_quote.then(|| word.clone());
                found.push(word);
            }
        }
    }
    found
}

/// Returns `true` if each line of a test is among those of another one, in the same order, and the values that differ are in one
/// row of the text.
fn are_within(lines: &[Vec<String>], other: &[Vec<String>], text: &str) -> bool {
    let mut values = Values::new();
    let mut rest = other.iter();
    let all = lines.iter().all(|line| rest.by_ref().any(|other| unified(line, other, &mut values)));
    let is_set =
        |name: &Vec<String>| other.iter().any(|line| set_in(line).iter().any(|word| name.first() == Some(word)));
    if values.is_empty() {
        let loops = |lines: &[Vec<String>]| lines.iter().filter(|line| is_loop(line)).count();
        return all && loops(other) <= loops(lines);
    }
    all && (values.is_empty() || !values.keys().any(is_set) && has_row(text, &values.into_values().collect::<Vec<_>>()))
}

/// Returns the words to which a line gives a value: those before `=` outside of brackets, or before `:=`.
fn set_in(line: &[String]) -> &[String] {
    let mut depth = 0_usize;
    let sets = |word: &String| {
        match word.as_str() {
            "[" | "{" | "(" => depth += 1,
            "]" | "}" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        word == ":=" || word == "=" && depth == 0
    };
    let is_loop = line.first().is_some_and(|word| word == "for");
    line.iter().position(sets).filter(|_| !is_loop).map_or(&[], |end| &line[..end])
}

/// Returns `true` if two lines are the same, apart from values in whose place the second one has names.
fn unified(line: &[String], other: &[String], values: &mut Values) -> bool {
    let mut found = values.clone();
    let (mut at, mut there) = (0, 0);
    while at < line.len() || there < other.len() {
        if line.get(at) == other.get(there) {
            (at, there) = (at + 1, there + 1);
            continue;
        }
        let (value, name) = (value_at(&line[at..]), name_at(&other[there..]));
        if value.is_empty() || name.is_empty() {
            return false;
        }
        let known = found.entry(name.to_vec()).or_insert_with(|| value.to_vec());
        if known != value {
            return false;
        }
        (at, there) = (at + value.len(), there + name.len());
    }
    *values = found;
    true
}

/// Returns the value with which some words begin: a number, a text, a constant, or a list of them.
fn value_at(words: &[String]) -> &[String] {
    let Some(first) = words.first() else { return &[] };
    let end = match first.as_str() {
        "-" => 2,
        text if QUOTES.iter().any(|quote| text.starts_with(quote)) => 1,
        "[" | "{" | "(" => closed(words),
        word if CONSTANTS.contains(&word) => 1,
        word if word.starts_with(|c: char| c.is_ascii_digit()) => number(words),
        _ => 0,
    };
    words.get(..end).unwrap_or_default()
}

/// Returns the number of words of a number: `1.5` is three.
fn number(words: &[String]) -> usize {
    let is = |at: usize, wanted: fn(&str) -> bool| words.get(at).is_some_and(|word| wanted(word));
    if is(1, |word| word == ".") && is(2, |word| word.starts_with(|c: char| c.is_ascii_digit())) { 3 } else { 1 }
}

/// Returns the number of words up to the bracket that closes the first one.
fn closed(words: &[String]) -> usize {
    let mut depth = 0_usize;
    let closes = |word: &String| {
        match word.as_str() {
            "[" | "{" | "(" => depth += 1,
            "]" | "}" | ")" => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    };
    words.iter().position(closes).map_or(0, |end| end + 1)
}

/// Returns the name of a value with which some words begin: `a`, `test.input`, `case["a"]`.
fn name_at(words: &[String]) -> &[String] {
    if !words.first().is_some_and(|word| is_word(word) && !CONSTANTS.contains(&word.as_str())) {
        return &[];
    }
    let mut end = 1;
    loop {
        let rest = &words[end..];
        match rest.first().map(String::as_str) {
            Some(".") if rest.get(1).is_some_and(|word| is_word(word)) => end += 2,
            Some("[") if closed(rest) > 0 => end += closed(rest),
            _ => return &words[..end],
        }
    }
}

/// Returns `true` if a text has a list with all these values, each of them an element or behind a key.
fn has_row(text: &str, values: &[Vec<String>]) -> bool {
    let words: Vec<String> = text.lines().flat_map(words_and_texts).collect();
    let is_row = |at: usize| {
        let list = &words[at..at + closed(&words[at..])];
        let elements = elements(list);
        values.iter().all(|value| elements.iter().any(|element| ends_with_value(element, value)))
    };
    let begins = |at: &usize| ["[", "{", "("].contains(&words[*at].as_str());
    (0..words.len()).filter(begins).any(is_row)
}

/// Returns the elements of a list with its brackets.
fn elements(list: &[String]) -> Vec<&[String]> {
    let mut found = Vec::new();
    let mut start = 1;
    let mut at = 1;
    while at + 1 < list.len() {
        match list[at].as_str() {
            "[" | "{" | "(" => at += closed(&list[at..]).max(1),
            "," => {
                found.push(&list[start..at]);
                at += 1;
                start = at;
            }
            _ => at += 1,
        }
    }
    found.extend(list.get(start..at).filter(|last| !last.is_empty()));
    found
}

fn ends_with_value(element: &[String], value: &[String]) -> bool {
    let before = element.strip_suffix(value);
    before.is_some_and(|before| before.last().is_none_or(|mark| [":", "="].contains(&mark.as_str())))
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::weakening::declared_tests;

    /// Returns `true` if the new text has a test with all that the old one asks.
    fn is_within(path: &str, old: &str, name: &str, new: &str) -> bool {
        let path = RepoPath::from(path);
        let changed = ChangedTests::of_file(&path, old, new);
        let declared = declared_tests(&path, old).into_iter().find(|test| test.name == name).expect("a test");
        !changed.within(&path, &declared).is_empty()
    }

    #[test]
    fn a_row_of_a_table_takes_the_place_of_a_test_of_python() {
        let old = "def test_sum():\n    assert add(1, 2) == 3\n";
        let with = |rows: &str, body: &str| {
            format!("@pytest.mark.parametrize('a, b, sum', [{rows}])\ndef test_add(a, b, sum):\n    {body}\n")
        };
        let body = "assert add(a, b) == sum";
        let looped = |rows: &str, body: &str| {
            format!("CASES = [{rows}]\n\n\ndef test_add():\n    for a, b, sum in CASES:\n        {body}\n")
        };
        for (new, is) in [
            (with("(1, 2, 3), (2, 2, 4)", body), true),
            (with("\n    (2, 2, 4),\n    pytest.param(1, 2, 3, id='small'),\n", body), true),
            (looped("(1, 2, 3), (2, 2, 4)", body), true),
            ("def test_both():\n    assert add(1, 2) == 3\n    assert add(2, 2) == 4\n".to_owned(), true),
            (with("(2, 2, 4)", body), false),
            (with("(1, 2, 3), (2, 2, 4)", "assert add(a, b) == sum, f'{a} and {b}'"), true),
            (with("(1, 2, 4), (2, 2, 3)", body), false),
            (with("(1, 2, 3)", "assert add(a, b) == sum or True"), false),
            (with("(1, 2, 3)", "assert add(a, b) >= sum"), false),
            (with("(1, 2, 3)", "assert sub(a, b) == sum"), false),
            (with("(1, 2, 3)", "sum = add(a, b)\n    assert add(a, b) == sum"), false),
            (with("(1, 2, 3)", "return\n    assert add(a, b) == sum"), false),
            (with("(1, 2, 3)", "assert add(a, b) == add(a, b)"), false),
            (looped("(1, 2, 3)", "if a:\n            assert add(a, b) == sum"), false),
            ("def test_both():\n    assert add(2, 2) == 4\n".to_owned(), false),
        ] {
            assert_eq!(is_within("tests/test_a.py", old, "test_sum", &new), is, "{new}");
        }
        let old = "def test_name():\n    user = User('ann', age=3)\n    assert user.label() == 'ann (3)'\n";
        let new = |label: &str| {
            format!(
                "@pytest.mark.parametrize('name, age, label', [\n    ('ann', 3, '{label}'),\n])\ndef test_label(name, age, label):\n    user = User(name, age=age)\n    assert user.label() == label\n"
            )
        };
        assert!(is_within("tests/test_a.py", old, "test_name", &new("ann (3)")));
        assert!(!is_within("tests/test_a.py", old, "test_name", &new("ann (4)")));
    }

    #[test]
    fn a_row_of_a_table_takes_the_place_of_a_test_of_javascript_or_go() {
        let old = "test('adds', () => {\n  expect(add(1, 2)).toBe(3);\n});\n";
        for (new, is) in [
            (
                "test.each([\n  [1, 2, 3],\n  [2, 2, 4],\n])('adds %i and %i', (a, b, sum) => {\n  expect(add(a, b)).toBe(sum);\n});\n",
                true,
            ),
            (
                "const CASES = [{ a: 1, b: 2, sum: 3 }];\ntest('adds all', () => {\n  for (const { a, b, sum } of CASES) {\n    expect(add(a, b)).toBe(sum);\n  }\n});\n",
                true,
            ),
            ("test.each([[1, 2, 4]])('adds %i and %i', (a, b, sum) => {\n  expect(add(a, b)).toBe(sum);\n});\n", false),
            (
                "test.each([[1, 2, 3]])('adds %i and %i', (a, b, sum) => {\n  expect(add(a, b)).toBeDefined();\n});\n",
                false,
            ),
        ] {
            assert_eq!(is_within("test/a.test.js", old, "adds", new), is, "{new}");
        }
        let old =
            "func TestSum(t *testing.T) {\n\tif got := Add(1, 2); got != 3 {\n\t\tt.Errorf(\"got %d\", got)\n\t}\n}\n";
        let new = |row: &str| {
            format!(
                "func TestAdd(t *testing.T) {{\n\tfor _, tt := range []struct{{ a, b, want int }}{{\n\t\t{row},\n\t}} {{\n\t\tif got := Add(tt.a, tt.b); got != tt.want {{\n\t\t\tt.Errorf(\"got %d\", got)\n\t\t}}\n\t}}\n}}\n"
            )
        };
        let named = |body: &str| {
            format!(
                "func TestAdd(t *testing.T) {{\n\tfor _, tt := range []struct{{ a, b, want int }}{{\n\t\t{{1, 2, 3}},\n\t}} {{\n\t\tt.Run(fmt.Sprint(tt.a), func(t *testing.T) {{\n\t\t\tif got := Add(tt.a, tt.b); got != tt.want {{\n\t\t\t\t{body}\n\t\t\t}}\n\t\t}})\n\t}}\n}}\n"
            )
        };
        for (body, is) in [
            ("t.Errorf(\"Add(%d, %d) = %d\", tt.a, tt.b, got)", true),
            ("t.Fatalf(\"got %d\", got)", true),
            ("t.Logf(\"got %d\", got)", false),
            ("_ = got", false),
        ] {
            assert_eq!(is_within("calc/a_test.go", old, "TestSum", &named(body)), is, "{body}");
        }
        assert!(is_within("calc/a_test.go", old, "TestSum", &new("{1, 2, 3}")));
        assert!(!is_within("calc/a_test.go", old, "TestSum", &new("{1, 2, 4}")));
    }
}
