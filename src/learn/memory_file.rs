//! The memory file of a repository: its lines, its style, and edits to it.

use std::fs;
use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::learn::similarity;

/// The memory files that clients read, the first that exists counts.
const NAMES: [&str; 4] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"];

/// The words of sentences about checks, and the kind of each.
const SPOKEN_CHECKS: [(&str, &str); 4] =
    [("lint", "lint"), ("type check", "typecheck"), ("typecheck", "typecheck"), ("type-check", "typecheck")];
/// The words of commands that check something, and the kind of each.
const NAMED_CHECKS: [(&str, &str); 4] =
    [("test", "test"), ("tests", "test"), ("lint", "lint"), ("typecheck", "typecheck")];
/// The words in a heading above rules.
const HEADINGS: [&str; 12] = [
    "build", "check", "command", "convention", "develop", "guideline", "lint", "notes", "quality", "rule", "test",
    "workflow",
];
/// The heading of rules for which the file has no place.
const NOTES: &str = "## Notes";

/// Returns the memory file of a working tree, or `None` if it has none. One that only imports another file stands for it.
pub fn find(root: &Path) -> Option<PathBuf> {
    let name = NAMES.iter().map(PathBuf::from).find(|name| root.join(name).is_file())?;
    let text = fs::read_to_string(root.join(&name)).unwrap_or_default();
    let imported = text.trim().strip_prefix('@').filter(|path| !path.contains(char::is_whitespace)).map(PathBuf::from);
    Some(imported.filter(|path| path.is_relative() && root.join(path).is_file()).unwrap_or(name))
}

/// One edit to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// This rule is added to the list.
    Add(String),
    /// This line, counted from 0, is removed.
    Remove(usize),
    /// A text in some lines is replaced by another one, where it is not part of a longer word or path.
    Replace {
        /// The lines, counted from 0.
        lines: Vec<usize>,
        /// The text.
        from: String,
        /// The text in its place.
        to: String,
    },
}

/// Returns the text of a line without its bullet or number.
pub fn rule(line: &str) -> &str {
    let line = line.trim();
    let bullet = line.strip_prefix(['-', '*', '+']);
    let number = || {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        rest.strip_prefix('.').filter(|_| rest.len() < line.len())
    };
    bullet.or_else(number).filter(|rest| rest.starts_with(' ')).map_or(line, str::trim)
}

/// Returns the texts in the file that may be commands: those that are marked as code, and the lines of blocks of code.
pub fn commands(memory: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_block = false;
    for line in memory.lines() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if in_block {
            let line = line.trim().trim_start_matches("$ ");
            found.push(line.split(" #").next().unwrap_or(line).trim_end());
        } else {
            found.extend(code(line));
        }
    }
    found
}

/// Returns the kinds of checks that the words in and around its commands speak of.
pub fn spoken_checks(memory: &str) -> Vec<String> {
    let sentences = memory.lines().filter(|line| code(line).next().is_some()).flat_map(|line| {
        let line = line.to_lowercase();
        SPOKEN_CHECKS.iter().filter(move |(words, _)| line.contains(words))
    });
    let names = commands(memory).into_iter().filter(|line| line.contains(' ')).flat_map(|line| {
        let words: Vec<&str> = line.split(|c: char| !c.is_alphanumeric()).collect();
        NAMED_CHECKS.iter().filter(move |(name, _)| words.contains(name))
    });
    sentences.chain(names).map(|(_, kind)| (*kind).to_owned()).collect()
}

/// Returns `true` if the file already says this: nearly the same words, or the same code.
pub fn says(memory: &str, text: &str) -> bool {
    let code: Vec<&str> = code(text).collect();
    let has_code = !code.is_empty() && code.iter().all(|code| memory.contains(*code));
    has_code || memory.lines().any(|line| similarity::is_same(rule(line), text))
}

/// Returns the words of a text that are marked as code.
pub fn code(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2).filter(|code| !code.trim().is_empty())
}

/// Returns the file with one change, in its own style: its bullet, its line ends, and the place of its last list.
pub fn changed(memory: &str, change: &MemoryChange) -> String {
    let end = if memory.contains("\r\n") { "\r\n" } else { "\n" };
    let mut lines: Vec<String> = memory.lines().map(str::to_owned).collect();
    match change {
        MemoryChange::Remove(at) => {
            if *at < lines.len() {
                lines.remove(*at);
                remove_empty_block(&mut lines, *at);
            }
        }
        MemoryChange::Replace { lines: places, from, to } => {
            for at in places {
                if let Some(line) = lines.get_mut(*at) {
                    *line = replaced(line, from, to);
                }
            }
        }
        MemoryChange::Add(text) => add(&mut lines, text),
    }
    let mut text = lines.join(end);
    if !text.is_empty() && (memory.is_empty() || memory.ends_with('\n')) {
        text.push_str(end);
    }
    text
}

/// Removes the marks of a block of code whose only line was removed here.
fn remove_empty_block(lines: &mut Vec<String>, at: usize) {
    let is_mark = |line: Option<&String>| line.is_some_and(|line| line.trim_start().starts_with("```"));
    let before = lines[..at.min(lines.len())].iter().filter(|line| is_mark(Some(line))).count();
    if before % 2 == 1 && is_mark(lines.get(at - 1)) && is_mark(lines.get(at)) {
        lines.drain(at - 1..=at);
    }
}

/// Returns a line with another text in the place of one, where that is not part of a longer word or path.
fn replaced(line: &str, from: &str, to: &str) -> String {
    let is_inner = |c: char| c.is_alphanumeric() || "_-/".contains(c);
    let goes_on = |rest: &str| {
        let mut rest = rest.chars();
        rest.next().is_some_and(|c| is_inner(c) || c == '.' && rest.next().is_some_and(char::is_alphanumeric))
    };
    let begins = |before: &str| before.ends_with(|c: char| is_inner(c) || c == '.');
    let (first, last) = (from.starts_with(is_inner), from.ends_with(|c: char| is_inner(c) && c != '/'));
    let mut text = String::new();
    let mut rest = 0;
    for (at, _) in line.match_indices(from).filter(|_| !from.is_empty()) {
        let end = at + from.len();
        if first && begins(&line[..at]) || last && goes_on(&line[end..]) {
            continue;
        }
        text.push_str(&line[rest..at]);
        text.push_str(to);
        rest = end;
    }
    text + &line[rest..]
}

/// Adds a rule to the list that it belongs to, or else to the notes at the end.
fn add(lines: &mut Vec<String>, text: &str) {
    let last_bullet = lines.iter().rfind(|line| is_bullet(line));
    let bullet = last_bullet.map_or("- ", |line| &line[..2]).to_owned();
    if let Some(mut last) = place(lines, text) {
        // The last rule may go on in the lines below it.
        let goes_on = |line: &&String| line.starts_with("  ") && !line.trim().is_empty();
        let after = |last: usize| last + 1 + lines[last + 1..].iter().take_while(goes_on).count();
        // Numbers go on at the end of their list.
        while number(&lines[last]).is_some() && lines.get(after(last)).is_some_and(|line| number(line).is_some()) {
            last = after(last);
        }
        let mark =
            number(&lines[last]).map_or_else(|| lines[last][..2].to_owned(), |number| format!("{}. ", number + 1));
        let at = after(last);
        lines.insert(at, format!("{mark}{text}"));
        return;
    }
    let blank = String::new();
    if lines.last().is_some_and(|line| !line.trim().is_empty()) {
        lines.push(blank.clone());
    }
    if has_sections(lines) {
        lines.extend([NOTES.to_owned(), blank]);
    }
    lines.push(format!("{bullet}{text}"));
}

fn is_bullet(line: &str) -> bool {
    ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet))
}

/// Returns the number of a rule in a numbered list.
fn number(line: &str) -> Option<u32> {
    let (number, _) = line.split_once(". ")?;
    number.parse().ok()
}

fn has_sections(lines: &[String]) -> bool {
    lines.iter().filter(|line| line.starts_with('#')).count() > 1
}

/// Returns the line of the rule that a new one follows: the last one about the same program, or else the last one under
/// a heading for rules. A file without sections has one place: its last list.
fn place(lines: &[String], text: &str) -> Option<usize> {
    let managed = managed(lines);
    let program = |text: &str| code(text).next().and_then(|code| code.split_whitespace().next()).map(str::to_owned);
    let (wanted, all_fit) = (program(text), !has_sections(lines));
    let (mut in_block, mut fits) = (false, all_fit);
    let (mut same, mut near) = (None, None);
    for (at, line) in lines.iter().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block && !managed[at] && line.starts_with('#') {
            let heading = line.to_lowercase();
            fits = all_fit || HEADINGS.iter().any(|word| heading.contains(word));
        } else if !in_block && !managed[at] && (is_bullet(line) || number(line).is_some()) {
            near = if fits { Some(at) } else { near };
            same = if wanted.is_some() && program(line) == wanted { Some(at) } else { same };
        }
    }
    same.or(near)
}

/// Returns for each line if a tool keeps it: it stands between a comment and the one that ends it.
pub fn managed(lines: &[impl AsRef<str>]) -> Vec<bool> {
    let mut managed = vec![false; lines.len()];
    let mut begin = None;
    for (at, line) in lines.iter().enumerate() {
        let Some(comment) = line.as_ref().trim().strip_prefix("<!--") else { continue };
        let mut words = comment.split(|c: char| !c.is_alphanumeric());
        let ends = comment.trim_start().starts_with('/') || words.any(|word| word.eq_ignore_ascii_case("end"));
        match begin.take().filter(|_| ends) {
            Some(begin) => managed[begin..=at].fill(true),
            None => begin = (!ends).then_some(at),
        }
    }
    managed
}

/// Returns the change as a patch.
pub fn patch(name: &Path, before: &str, after: &str) -> String {
    let name = name.display();
    TextDiff::from_lines(before, after).unified_diff().header(&format!("a/{name}"), &format!("b/{name}")).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_keeps_the_style_of_the_file() {
        let add = MemoryChange::Add("new".to_owned());
        let replace = |lines: &[usize]| MemoryChange::Replace {
            lines: lines.to_vec(),
            from: "two".to_owned(),
            to: "3".to_owned(),
        };
        for (memory, change, expected) in [
            ("# T\n\n* one\n  more\n\nEnd.\n", &add, "# T\n\n* one\n  more\n* new\n\nEnd.\n"),
            ("# T\r\n- one\r\n", &add, "# T\r\n- one\r\n- new\r\n"),
            ("# T\n## Rules\n- one\n## Map\n- two\n", &add, "# T\n## Rules\n- one\n- new\n## Map\n- two\n"),
            ("# T\n## Map\n+ two\n", &add, "# T\n## Map\n+ two\n\n## Notes\n\n+ new\n"),
            ("<!--X START-->\n- one\n<!--X END-->\n", &add, "<!--X START-->\n- one\n<!--X END-->\n\n- new\n"),
            ("# T\n\nWords.\n", &add, "# T\n\nWords.\n\n- new\n"),
            ("- one", &add, "- one\n- new"),
            (
                "# T\n\n1. One.\n2. Two.\n   More.\n\nEnd.\n",
                &add,
                "# T\n\n1. One.\n2. Two.\n   More.\n3. new\n\nEnd.\n",
            ),
            ("", &add, "- new\n"),
            ("- one\n- two\n", &MemoryChange::Remove(0), "- two\n"),
            ("- one\n", &MemoryChange::Remove(9), "- one\n"),
            ("# T\n\n```sh\none\n```\nEnd.\n", &MemoryChange::Remove(3), "# T\n\nEnd.\n"),
            ("```\na\n```\none\n```\nb\n```\n", &MemoryChange::Remove(3), "```\na\n```\n```\nb\n```\n"),
            ("- one\n- two\n", &replace(&[1]), "- one\n- 3\n"),
            ("- one\n", &replace(&[1]), "- one\n"),
            (
                "two two/x x/two two.x two-x `two`.\n-two: two.",
                &replace(&[0, 1]),
                "3 two/x x/two two.x two-x `3`.\n-two: 3.",
            ),
        ] {
            assert_eq!(changed(memory, change), expected);
        }
    }

    #[test]
    fn a_rule_stands_beside_those_about_the_same_program() {
        let memory = "# T\n## Map\n- `make gen` makes `a`.\n- `b`\n## Rules\n- Be kind.\n";
        let add = MemoryChange::Add("Run `make lint`.".to_owned());
        let expected = "# T\n## Map\n- `make gen` makes `a`.\n- Run `make lint`.\n- `b`\n## Rules\n- Be kind.\n";
        assert_eq!(changed(memory, &add), expected);
    }

    #[test]
    fn a_file_that_only_imports_another_stands_for_it() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("CLAUDE.md", "@AGENTS.md\n");
        assert_eq!(find(folder.path()), Some(PathBuf::from("CLAUDE.md")), "there is no such file");
        write("AGENTS.md", "# Rules\n");
        assert_eq!(find(folder.path()), Some(PathBuf::from("AGENTS.md")));
        write("CLAUDE.md", "@AGENTS.md\n\nBe kind.\n");
        assert_eq!(find(folder.path()), Some(PathBuf::from("CLAUDE.md")));
    }

    #[test]
    fn blocks_between_comments_belong_to_a_tool() {
        for (text, expected) in [
            ("<!-- x v2 -->\na\n<!-- /x -->\nb", [true, true, true, false]),
            ("<!--A START-->\na\n<!--A END-->\nb", [true, true, true, false]),
            ("<!-- a note -->\na\n<!-- another -->\nb", [false; 4]),
            ("a\n<!-- the end -->\nb\nc", [false; 4]),
        ] {
            assert_eq!(managed(&text.lines().collect::<Vec<_>>()), expected, "{text}");
        }
    }

    #[test]
    fn rules_have_bullets_or_numbers() {
        for (line, expected) in
            [("- a", "a"), ("  12. a b", "a b"), ("1.5 times", "1.5 times"), ("a - b", "a - b"), ("-a", "-a")]
        {
            assert_eq!(rule(line), expected);
        }
    }

    #[test]
    fn commands_stand_in_code_and_in_blocks() {
        let memory = "Run `make lint`.\n\n```sh\n$ make test   # all of them\n```\n";
        assert_eq!(commands(memory), ["make lint", "make test"]);
    }

    #[test]
    fn a_sentence_with_a_command_may_speak_of_checks() {
        for (memory, expected) in [
            ("- `vp check` type checks all.\n- Linting is dull.\n", vec!["typecheck"]),
            ("Run `vp test`.\n", vec!["test"]),
            ("```\njust lint:all\n```\n", vec!["lint"]),
            ("Tests are in `test`.\n", vec![]),
        ] {
            assert_eq!(spoken_checks(memory), expected, "{memory}");
        }
    }

    #[test]
    fn what_is_there_is_recognised() {
        let memory = "- Run `cargo test` before you push.\n- Keep commits small and about one thing.\n";
        for (text, expected) in [
            ("Run `cargo test` before you call work done", true),
            ("keep commits small, and about one thing", true),
            ("Run `cargo clippy` before you push", false),
        ] {
            assert_eq!(says(memory, text), expected, "{text}");
        }
    }
}
