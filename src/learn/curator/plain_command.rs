//! A command line, reduced to the one command that a person would write down.

use crate::shell::build_program;
use crate::shell::expanded_program::{ChangedDirectory, Leaf};

/// The longest line that is read, in bytes.
const MAX_LINE: usize = 300;
/// The longest command that is proposed, in bytes.
const MAX_COMMAND: usize = 80;
/// The programs that stand beside a command: they change the directory before it, or shorten its output.
const BESIDE: [&str; 16] = [
    "cat", "cd", "echo", "egrep", "grep", "head", "less", "printf", "rg", "sed", "sleep", "sort", "tail", "tee",
    "true", "wc",
];

/// A command without the change of directory in front of it, and without redirections and filters behind it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlainCommand {
    /// The command.
    pub(super) text: String,
    pub(super) words: Vec<String>,
}

impl PlainCommand {
    /// Returns the command of a line and the directory that the line changes to, or `None` if it has several commands, or
    /// one that makes no sense elsewhere: with quotes, variables, or places on one machine.
    pub(super) fn with_directory(line: &str) -> Option<(Self, Option<ChangedDirectory>)> {
        if line.len() > MAX_LINE {
            return None;
        }
        let program = build_program::program(line).ok()?;
        let mut leaves = program.leaves.iter().filter(|leaf| !leaf.name().is_some_and(|name| BESIDE.contains(&name)));
        let leaf = leaves.next().filter(|leaf| is_simple(leaf))?;
        if leaves.next().is_some() {
            return None;
        }
        let is_redirection =
            |word: &&str| word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&').starts_with(['<', '>']);
        let words: Vec<String> =
            leaf.text.split_whitespace().take_while(|word| !is_redirection(word)).map(str::to_owned).collect();
        let text = words.join(" ");
        let is_plain = !text.is_empty() && text.len() <= MAX_COMMAND && !words.iter().any(|word| is_local(word));
        is_plain.then(|| (Self { text, words }, leaf.directory.clone()))
    }

    /// Returns `true` if the first words are these.
    pub(super) fn begins_with(&self, words: &[String]) -> bool {
        self.words.starts_with(words)
    }

    /// Returns `true` if no argument names a part of the work: a folder, a file or a test.
    pub(super) fn is_whole(&self) -> bool {
        let names_part = |word: &String| word.contains('/') && !word.starts_with("./..") && !word.starts_with('@');
        let is_file = |word: &String| {
            word.rsplit_once('.').is_some_and(|(stem, end)| {
                !stem.is_empty() && end.chars().all(char::is_alphanumeric) && !end.is_empty()
            })
        };
        !self.words.iter().skip(1).any(|word| names_part(word) || is_file(word))
    }
}

fn is_simple(leaf: &Leaf) -> bool {
    let runs_once = !leaf.background && !leaf.late && !leaf.repeated && !leaf.appended;
    runs_once
        && !leaf.remote
        && !leaf.shadowed
        && leaf.environment.is_empty()
        && leaf.given.is_empty()
        && leaf.withheld.is_empty()
}

/// Returns `true` if a word holds for one machine or one moment alone.
fn is_local(word: &str) -> bool {
    word.starts_with(['/', '~']) || word.contains("=/") || word.contains(['"', '\'', '`', '$', '\\', '*', '(', '{'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_beside_a_command_is_left_out() {
        for (line, expected) in [
            ("make lint", Some("make lint")),
            ("cd web && pnpm test 2>&1 | tail -20", Some("pnpm test")),
            ("pnpm exec vp fmt 2>/dev/null", Some("pnpm exec vp fmt")),
            ("go test ./... > out.txt", Some("go test ./...")),
            ("make fmt && make lint", None),
            ("CI=1 make lint", None),
            ("node -e 'x()'", None),
            ("/home/me/tool run", None),
            ("rm -rf $DIR", None),
            ("make serve &", None),
            ("for a in b c; do make $a; done", None),
            ("cd web", None),
            ("make \"lint", None),
        ] {
            let found = PlainCommand::with_directory(line).map(|(command, _)| command.text);
            assert_eq!(found.as_deref(), expected, "{line}");
        }
    }

    #[test]
    fn a_part_of_the_work_is_told_from_the_whole() {
        for (line, expected) in [
            ("go test ./...", true),
            ("pnpm --filter @a/b test", true),
            ("go test ./cmd/x", false),
            ("pytest tests/test_a.py", false),
            ("vp fmt index.tsx", false),
            ("biome check .", true),
        ] {
            assert_eq!(PlainCommand::with_directory(line).unwrap().0.is_whole(), expected, "{line}");
        }
    }
}
