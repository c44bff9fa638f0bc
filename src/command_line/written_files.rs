//! The files that a command changes and names in its words, by the table `gates/written-files.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::shell::expanded_program::Leaf;

/// A file that a command names and changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenFile {
    /// The path as written, or a pattern.
    pub path: String,
    /// `true` if the command can make it. Otherwise a word that is not a file is something else.
    pub made: bool,
}

/// The files that a command changes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    /// The files that it names.
    pub named: Vec<WrittenFile>,
    /// `true` if it changes files that are added to its words, too (`xargs`).
    pub takes_more: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct WriterTable {
    program: Vec<Writer>,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Writer {
    names: Vec<String>,
    words: Option<String>,
    needs: Vec<String>,
    letter: Option<char>,
    unless: Vec<String>,
    values: Vec<String>,
    targets: Vec<String>,
    files: WrittenWords,
    makes: bool,
}

/// The words of a command that are files which it changes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum WrittenWords {
    #[default]
    All,
    Last,
    Rest,
    None,
}

/// The words of a command, sorted by what they are.
#[derive(Default)]
struct SortedWords<'w> {
    plain: Vec<&'w str>,
    options: Vec<&'w str>,
    targets: Vec<&'w str>,
}

/// Returns the files that a command changes, or `None` if nothing is known about its program.
pub fn written_files(leaf: &Leaf) -> Option<WrittenFiles> {
    static TABLE: LazyLock<WriterTable> = LazyLock::new(|| embedded::table("written-files.toml"));
    let words: Vec<&str> = leaf.argv.iter().map(|arg| arg.text.as_str()).collect();
    let (name, words) = match (leaf.name()?, &words[..]) {
        // A module that runs as a program.
        (python, [_, "-m", module, rest @ ..]) if python.starts_with("python") => (*module, rest),
        (name, [_, rest @ ..]) => (name, rest),
        _ => return None,
    };
    let mut entries = TABLE.program.iter().filter(|entry| entry.names.iter().any(|known| known == name)).peekable();
    entries.peek()?;
    Some(entries.find_map(|entry| entry.written(words)).unwrap_or_default())
}

impl Writer {
    /// Returns the files among the words of a command, or `None` if this entry is not about it.
    fn written(&self, words: &[&str]) -> Option<WrittenFiles> {
        let sorted = self.sorted(words);
        let has = |wanted: &[String]| sorted.options.iter().any(|word| wanted.iter().any(|one| is_option(word, one)));
        let wanted = |list: &str| sorted.plain.first().is_some_and(|word| list.split('|').any(|one| one == *word));
        let fits = self.words.as_deref().is_none_or(wanted)
            && (self.needs.is_empty() || has(&self.needs))
            && self.letter.is_none_or(|letter| in_group(words, letter))
            && !has(&self.unless);
        if !fits {
            return None;
        }
        let files = match self.files {
            // The target takes the place of the last word.
            WrittenWords::Last if !sorted.targets.is_empty() => &[][..],
            WrittenWords::Last => &sorted.plain[sorted.plain.len().saturating_sub(1)..],
            WrittenWords::All => &sorted.plain[..],
            WrittenWords::Rest => sorted.plain.get(1..).unwrap_or_default(),
            WrittenWords::None => &[],
        };
        let file = |path: &&str| WrittenFile { path: (*path).to_owned(), made: self.makes };
        let target = |path: &&str| WrittenFile { path: (*path).to_owned(), made: true };
        let named = files.iter().map(file).chain(sorted.targets.iter().map(target)).collect();
        Some(WrittenFiles { named, takes_more: matches!(self.files, WrittenWords::All | WrittenWords::Rest) })
    }

    fn sorted<'w>(&self, words: &[&'w str]) -> SortedWords<'w> {
        let mut sorted = SortedWords::default();
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            if word == "--" {
                sorted.plain.extend(rest.by_ref().filter(|word| !word.is_empty()));
            } else if !word.starts_with('-') || word == "-" {
                sorted.plain.extend(Some(word).filter(|word| !word.is_empty() && *word != "-"));
            } else if takes_next(&self.targets, word) {
                sorted.targets.extend(rest.next());
                sorted.options.push(word);
            } else if takes_next(&self.values, word) {
                rest.next();
                sorted.options.push(word);
            } else {
                sorted.targets.extend(self.targets.iter().find_map(|option| attached(word, option)));
                sorted.options.push(word);
            }
        }
        sorted
    }
}

/// Returns `true` if a word is an option whose value is the next word: `-t`, `-rt`, `--output`.
fn takes_next(options: &[String], word: &str) -> bool {
    let last = || word.chars().last().filter(|_| is_group(word)).map(|last| format!("-{last}"));
    options.iter().any(|option| option == word || last().as_ref() == Some(option))
}

/// Returns the value that is attached to an option: `-osrc/a`, `--output=src/a`.
fn attached<'w>(word: &'w str, option: &str) -> Option<&'w str> {
    let value = word.strip_prefix(option)?;
    let value = if option.starts_with("--") { value.strip_prefix('=')? } else { value };
    (!value.is_empty()).then_some(value)
}

/// Returns `true` if a word is this option, alone, with a value or in a group: `-w`, `--emit=x`, `-lw`.
fn is_option(word: &str, option: &str) -> bool {
    let with_value = || option.starts_with("--") && word.strip_prefix(option).is_some_and(|rest| rest.starts_with('='));
    let in_group = || option.len() == 2 && is_group(word) && word[1..].contains(&option[1..]);
    word == option || with_value() || in_group()
}

fn is_group(word: &str) -> bool {
    word.len() > 2 && word.starts_with('-') && word[1..].chars().all(|c| c.is_ascii_alphabetic())
}

/// Returns `true` if a letter is in the first word or in a group of short options: `tar xzf`, `tar -C src -xzf`.
fn in_group(words: &[&str], letter: char) -> bool {
    let short = |word: &&&str| word.starts_with('-') && !word.starts_with("--");
    words.iter().take(1).chain(words.iter().filter(short)).any(|word| word.contains(letter) && !word.contains('/'))
        || words.contains(&"--extract") && letter == 'x'
}

#[cfg(test)]
mod tests {
    use super::super::understand;
    use super::*;
    use crate::runner::Project;

    fn files(line: &str) -> Option<String> {
        let understood = understand(line, Project::without_runners(&())).unwrap();
        let files = written_files(understood.program.leaves.last().unwrap())?;
        Some(files.named.into_iter().map(|file| file.path).collect::<Vec<_>>().join(" "))
    }

    #[test]
    fn the_files_that_a_command_changes() {
        for (line, written) in [
            ("git mv src/a tests/b", "src/a tests/b"),
            ("git rm -rq src/a", "src/a"),
            ("git rm --cached src/a", ""),
            ("git checkout HEAD~1 -- src/a", "HEAD~1 src/a"),
            ("git restore -s HEAD~1 src/a", "src/a"),
            ("git restore --staged src/a", ""),
            ("git restore -SW src/a", "src/a"),
            ("git status", ""),
            ("truncate -s 0 src/a", "src/a"),
            ("touch -d yesterday -r b src/a", "src/a"),
            ("cp -t src a b", "src"),
            ("cp -rt src a", "src"),
            ("cp --target-directory=src a", "src"),
            ("cp a b src", "src"),
            ("mv -t src a", "a src"),
            ("install -m 644 a src/b", "src/b"),
            ("sort -o src/a b", "src/a"),
            ("sort -k 2 -osrc/a b", "src/a"),
            ("sort a b", ""),
            ("gzip src/a", "src/a"),
            ("gzip -dc src/a", ""),
            ("tar xzf a.tgz -C src", "src"),
            ("tar -C src -xf a.tar", "src"),
            ("tar tf a.tar -C src", ""),
            ("tar -czf out.tgz -C src .", "out.tgz"),
            ("unzip -q a.zip -d src", "src"),
            ("unzip -l a.zip -d src", ""),
            ("split -l 3 a src/p_", "src/p_"),
            ("rustfmt --edition 2024 src/a.rs", "src/a.rs"),
            ("rustfmt --check src/a.rs", ""),
            ("gofmt -l -w a.go", "a.go"),
            ("gofmt -l a.go", ""),
            ("npx prettier --write src/a.ts", "src/a.ts"),
            ("npx prettier --check src/a.ts", ""),
            ("python3 -m black src/a.py", "src/a.py"),
            ("black --check src/a.py", ""),
            ("ruff check --fix src", "check src"),
            ("ruff check src", ""),
            ("ruff format src", "src"),
            ("curl -o src/a https://x", "src/a"),
            ("chmod 644 src/a", "644 src/a"),
        ] {
            assert_eq!(files(line).as_deref(), Some(written), "{line}");
        }
        for unknown in ["cat a", "frobnicate a", "python3 a.py", "cargo test"] {
            assert_eq!(files(unknown), None, "{unknown}");
        }
    }
}
