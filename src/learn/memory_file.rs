//! The memory file of a repository: its lines, its style, and edits to it.

use std::path::{Path, PathBuf};

use similar::TextDiff;

use crate::learn::similarity;

/// The memory files that clients read, the first that exists counts.
const NAMES: [&str; 4] = ["CLAUDE.md", "AGENTS.md", "GEMINI.md", ".github/copilot-instructions.md"];

/// Returns the memory file of a working tree, or `None` if it has none.
pub fn find(root: &Path) -> Option<PathBuf> {
    NAMES.iter().map(PathBuf::from).find(|name| root.join(name).is_file())
}

/// One edit to the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemoryChange {
    /// This rule is added to the list.
    Add(String),
    /// This line, counted from 0, is removed.
    Remove(usize),
    /// A text in a line is replaced by another one.
    Replace {
        /// The line, counted from 0.
        at: usize,
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
            }
        }
        MemoryChange::Replace { at, from, to } => {
            if let Some(line) = lines.get_mut(*at) {
                *line = line.replacen(from, to, 1);
            }
        }
        MemoryChange::Add(text) => {
            let is_bullet = |line: &String| ["- ", "* ", "+ "].iter().any(|bullet| line.starts_with(bullet));
            match lines.iter().rposition(is_bullet) {
                Some(last) => {
                    let bullet = lines[last][..2].to_owned();
                    // The last rule may go on in the lines below it.
                    let goes_on = |line: &&String| line.starts_with("  ") && !line.trim().is_empty();
                    let after = last + 1 + lines[last + 1..].iter().take_while(goes_on).count();
                    lines.insert(after, format!("{bullet}{text}"));
                }
                None => {
                    if lines.last().is_some_and(|line| !line.trim().is_empty()) {
                        lines.push(String::new());
                    }
                    lines.push(format!("- {text}"));
                }
            }
        }
    }
    let mut text = lines.join(end);
    if !text.is_empty() && (memory.is_empty() || memory.ends_with('\n')) {
        text.push_str(end);
    }
    text
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
        let replace = MemoryChange::Replace { at: 1, from: "two".to_owned(), to: "three".to_owned() };
        for (memory, change, expected) in [
            ("# T\n\n* one\n  more\n\nEnd.\n", &add, "# T\n\n* one\n  more\n* new\n\nEnd.\n"),
            ("# T\r\n- one\r\n", &add, "# T\r\n- one\r\n- new\r\n"),
            ("# T\n\nWords.\n", &add, "# T\n\nWords.\n\n- new\n"),
            ("- one", &add, "- one\n- new"),
            ("", &add, "- new\n"),
            ("- one\n- two\n", &MemoryChange::Remove(0), "- two\n"),
            ("- one\n", &MemoryChange::Remove(9), "- one\n"),
            ("- one\n- two\n", &replace, "- one\n- three\n"),
            ("- one\n", &replace, "- one\n"),
        ] {
            assert_eq!(changed(memory, change), expected);
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
