//! Two texts of one test: what both assert is the same.

use crate::fact::weakening::DeclaredTest;
use similar::TextDiff;

/// The share of equal text from which a test with another name counts as the same test.
pub(super) const SAME_BODY: f32 = 0.6;

/// Returns `true` if two tests differ in little more than their name and layout. What they assert is the same.
pub(super) fn has_same_body(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    // A name that is a string is blank in the code.
    let body = |test: &DeclaredTest| {
        let name = if test.body.contains(&test.name) { test.name.clone() } else { " ".repeat(test.name.len()) };
        test.body.replacen(&name, "", 1)
    };
    let (was, is) = (bare_lines(&body(old)), bare_lines(&body(new)));
    let asserts = |lines: &[String]| asserting(lines).cloned().collect::<Vec<_>>();
    let ratio = || TextDiff::from_slices(&as_texts(&was), &as_texts(&is)).ratio();
    asserts(&was) == asserts(&is) && ratio() >= SAME_BODY && new.has_texts_of(old)
}

/// Returns `true` if a later text of a test makes all assertions of the earlier one.
pub(super) fn keeps_assertions(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    let (was, is) = (bare_lines(&old.body), bare_lines(&new.body));
    let kept: Vec<&String> = asserting(&is).collect();
    asserting(&was).all(|line| kept.contains(&line)) && new.has_texts_of(old)
}

/// Returns the lines of a test that assert something: those with such a word, the conditions of a test of Go, and else each call.
fn asserting(lines: &[String]) -> impl Iterator<Item = &String> {
    const OF_GO: [&str; 4] = [".Error", ".Fatal", ".Fail(", ".FailNow("];
    let asserts = |line: &String| line.contains("assert") || line.contains("expect");
    let is_of_go = lines.iter().any(|line| OF_GO.iter().any(|call| line.contains(call)));
    let has_words = lines.iter().any(asserts);
    lines
        .iter()
        .enumerate()
        .filter(move |(at, line)| match (has_words, is_of_go) {
            (true, _) => asserts(line),
            (false, true) => line.starts_with("if") || line.contains("if") && line.contains(".Fatal"),
            (false, false) => *at > 0 && line.contains('('),
        })
        .map(|(_, line)| line)
}

/// Returns `true` if a test is another one without some of its assertions, down to its own last one.
pub(super) fn is_part_of(part: &DeclaredTest, whole: &DeclaredTest) -> bool {
    let ((head, lines), (whole_head, whole_lines)) = (lines_below(part), lines_below(whole));
    let Some(last) = lines.iter().rposition(|line| is_assertion(line)) else { return false };
    let mut rest = whole_lines.iter();
    // What stands before an assertion decides what it shows, so nothing else may be missing there.
    let follows = |(at, line): (usize, &String)| {
        let skipped: Vec<&String> = rest.by_ref().take_while(|other| *other != line).collect();
        at > last || skipped.into_iter().all(|other| is_assertion(other))
    };
    let is_within = lines.iter().all(|line| whole_lines.contains(line));
    head == whole_head && is_within && lines.iter().enumerate().all(follows)
}

pub(super) fn is_assertion(line: &str) -> bool {
    line.trim_start().starts_with("assert") || line.contains("expect(")
}

/// Returns the first line of a test without its name, and the others with their depth below the first of them.
pub(super) fn lines_below(test: &DeclaredTest) -> (String, Vec<String>) {
    let mut lines = test.body.lines().filter(|line| !line.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    // A name that is a text is blank in the code.
    let quoted = first.strip_prefix(['"', '\'', '`']).and_then(|rest| rest.split_once(['"', '\'', '`']));
    let head = quoted.map_or_else(|| first.replacen(&test.name, "", 1), |(_, rest)| rest.to_owned());
    let lines: Vec<&str> = lines.collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let start = lines.first().map_or(0, |line| depth(line));
    let below = |line: &&str| format!("{}{}", " ".repeat(depth(line) - start), line.trim());
    // The text goes on to the name of the next test.
    let inside = lines.iter().take_while(|line| depth(line) >= start);
    (head.trim().to_owned(), inside.map(below).collect())
}

/// Returns the statements of a text without blanks and comments, as far as these change nothing. What is in brackets is one
/// statement, on however many lines it stands.
fn bare_lines(text: &str) -> Vec<String> {
    let is_comment = |line: &str| line.starts_with("//") || line.starts_with("# ") || line == "#";
    let lines = text.lines().map(|line| {
        let line = line.trim();
        let end = [" # ", "  #", " // "].iter().filter_map(|mark| line.find(mark)).min();
        let code = end.map(|end| &line[..end]).filter(|code| code.matches(['"', '\'']).count() % 2 == 0);
        code.unwrap_or(line)
    });
    let code = lines.filter(|line| !is_comment(line));
    let bare = code.map(|line| line.chars().filter(|c| !c.is_whitespace()).collect::<String>());
    let bare = joined(bare.filter(|line| !line.is_empty())).into_iter();
    // A test in a class has its object as a parameter.
    let bare =
        bare.map(|line| without_message(&line).replace("(self)", "()").replace("(self,", "(").replace("->None:", ":"));
    bare.filter(|line| !line.trim_matches(['"', '\'']).is_empty()).collect()
}

/// Joins the lines that brackets hold together. A line that opens a block ends a statement.
pub(super) fn joined(lines: impl Iterator<Item = String>) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut depth = 0_usize;
    for line in lines {
        match found.last_mut().filter(|_| depth > 0) {
            Some(last) => last.push_str(&line),
            None => found.push(line.clone()),
        }
        let opened = line.matches(['(', '[']).count();
        let closed = line.matches([')', ']']).count();
        depth = if line.ends_with('{') { 0 } else { (depth + opened).saturating_sub(closed) };
    }
    let bare = |line: String| {
        let line = line.replace(",)", ")").replace(",]", "]");
        let inside = line.strip_prefix("assert(").and_then(|rest| rest.strip_suffix(')'));
        inside.filter(|inside| is_balanced(inside)).map(|inside| format!("assert{inside}")).unwrap_or(line)
    };
    found.into_iter().map(bare).collect()
}

/// Returns `true` if no bracket closes one that is open before this text.
fn is_balanced(text: &str) -> bool {
    let mut depth = 0_isize;
    text.chars().all(|c| {
        depth += isize::from(c == '(') - isize::from(c == ')');
        depth >= 0
    })
}

/// Returns an assertion without the text that it prints when it fails.
fn without_message(line: &str) -> String {
    let is_text = |text: &str| text.starts_with(['"', '\'']) || text.starts_with("f\"") || text.starts_with("f'");
    let (call, end) = match line.strip_suffix(");").or_else(|| line.strip_suffix(')')) {
        Some(call) if call.starts_with("assert") && !call.starts_with("assert ") => (call, &line[call.len()..]),
        _ => (line, ""),
    };
    let arguments = ["assert_eq!(", "assert_ne!(", "assertEqual(", "assert.equal(", "assert.strictEqual("];
    let wanted = if arguments.iter().any(|start| call.starts_with(start)) { 2 } else { 1 };
    let mut depth = 0_usize;
    let mut commas = Vec::new();
    for (at, c) in call.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' if depth == usize::from(!end.is_empty()) => commas.push(at),
            _ => {}
        }
    }
    let message = commas.get(wanted - 1).filter(|at| call.starts_with("assert") && is_text(&call[**at + 1..]));
    message.map_or_else(|| line.to_owned(), |at| format!("{}{end}", &call[..*at]))
}

fn as_texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_with_another_layout_is_the_same_one() {
        let test =
            |body: &str| DeclaredTest { name: "test_add".to_owned(), body: body.to_owned(), ..DeclaredTest::default() };
        let old = test("test_add():\n    x = add(1,2)\n    assert x==3\n");
        for (body, same) in [
            ("test_add(self):\n        x = add(1, 2)\n        assert x == 3\n", true),
            ("test_add():\n    # Sums.\n    x = add(1, 2)\n    assert x == 3  # three\n", true),
            ("test_add():\n    x = add(1, 2)\n    assert x == 3, \"adds them\"\n", true),
            ("test_add() -> None:\n    \"\"\"    \"\"\"\n    x = add(1, 2)\n    assert x == 3\n", true),
            ("test_add():\n    x = add(\n        1,\n        2,\n    )\n    assert (\n        x == 3\n    )\n", true),
            ("test_add():\n    x = add(1, 2)\n    assert x == 4\n", false),
            ("test_add():\n    x = add(1, 2)\n    assert x in (3, \"a\")\n", false),
            ("test_add():\n    x = add(1, 2)\n    # assert x == 3\n", false),
            ("test_add():\n    x = add(1, 2)\n", false),
        ] {
            assert_eq!(has_same_body(&old, &test(body)), same, "{body}");
        }
        let rust = |line: &str| test(&format!("test_add() {{\n    {line}\n}}\n"));
        for line in ["assert_eq!(\n        add(1, 2),\n        3,\n    );", "assert_eq!(add(1, 2), 3, \"   \");"] {
            assert!(has_same_body(&rust("assert_eq!(add(1, 2), 3);"), &rust(line)), "{line}");
        }
        let node = |line: &str| test(&format!("'        ', () => {{\n  {line}\n}});\n"));
        let wrapped = node("assert.equal(\n    add(1, 2),\n    3,\n  );");
        assert!(has_same_body(&node("assert.equal(add(1, 2), 3);"), &wrapped));
    }
}
