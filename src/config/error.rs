//! The problems of a policy file, with their places and the keys that may have been meant.

use std::fmt::{self, Write as _};
use std::ops::Range;

/// The largest part of a source line that is shown, in characters.
const SHOWN: usize = 100;
/// The largest number of problems of one file that are kept.
const KEPT: usize = 20;

/// A policy file that cannot be used.
///
/// `Display` is one line about the first problem: `gate.toml:12:3: unknown key …`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigError {
    /// The file, as it was named to the reader.
    pub file: String,
    /// The problems, at least one, in the order of the file.
    pub problems: Vec<Problem>,
    /// The file is not wrong: a later version of `gate` is needed to read it.
    pub newer: bool,
}

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// The number of characters of the line that are concerned, at least 1.
    pub width: usize,
    /// The line itself, control characters replaced.
    pub source: String,
    /// The problem, as a fragment.
    pub what: String,
    /// The word that may have been meant.
    pub meant: Option<String>,
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(first) = self.problems.first() else { return f.write_str(&self.file) };
        write!(f, "{}:{}:{}: {}", self.file, first.line, first.column, first.what)?;
        if let Some(meant) = &first.meant { write!(f, "; did you mean {}?", quoted(meant)) } else { Ok(()) }
    }
}

impl std::error::Error for ConfigError {}

impl ConfigError {
    /// Returns the path of the file in the repository: its name without the commit that it was read from.
    pub fn path(&self) -> &str {
        self.file.split_once(':').map_or(&self.file, |(_, path)| path)
    }

    /// Returns the line of the first problem, from 1.
    pub fn line(&self) -> Option<u32> {
        self.problems.first().and_then(|first| u32::try_from(first.line).ok())
    }

    /// Returns the first problem with its source line and a caret under it, and the places of the others: at most six
    /// lines, without colours.
    pub fn render(&self) -> String {
        let Some(first) = self.problems.first() else { return self.file.clone() };
        let (source, column) = window(&first.source, first.column);
        let number = first.line.to_string();
        let margin = " ".repeat(number.len());
        let room = SHOWN.saturating_sub(column - 1).max(1);
        let mut out = format!("{}:{}:{}: {}\n", self.file, first.line, first.column, first.what);
        let _ = writeln!(out, "{margin} |");
        let _ = writeln!(out, "{number} | {source}");
        let _ = write!(out, "{margin} | {}{}", " ".repeat(column - 1), "^".repeat(first.width.min(room)));
        if let Some(meant) = &first.meant {
            let _ = write!(out, "\n{margin} = did you mean {}?", quoted(meant));
        }
        match &self.problems[1..] {
            [] => {}
            [other] => {
                let _ = write!(out, "\n{margin} = one more problem in line {}", other.line);
            }
            others => {
                let mut lines: Vec<String> = others.iter().map(|problem| problem.line.to_string()).collect();
                lines.dedup();
                let _ = write!(out, "\n{margin} = {} more problems, in lines {}", others.len(), lines.join(", "));
            }
        }
        out
    }
}

/// Returns the part of a long line around `column`, and the column within it.
fn window(line: &str, column: usize) -> (String, usize) {
    let start = if column > SHOWN - 20 { column - 1 - SHOWN / 2 } else { 0 };
    (line.chars().skip(start).take(SHOWN).collect::<String>().trim_end().to_owned(), column - start)
}

/// Returns a word of the file inside a message: bounded, and without control characters.
pub(super) fn quoted(word: &str) -> String {
    let mut text = String::new();
    for c in word.chars().take(60) {
        if c.is_control() {
            text.extend(c.escape_debug());
        } else {
            text.push(c);
        }
    }
    if word.chars().nth(60).is_some() {
        text.push('…');
    }
    format!("`{text}`")
}

/// The problems of one file, while it is read.
pub(super) struct Report<'t> {
    file: &'t str,
    text: &'t str,
    found: Vec<UnplacedProblem>,
    count: usize,
    newer: bool,
}

/// A problem without a computed line and column.
#[derive(PartialEq)]
struct UnplacedProblem {
    at: Range<usize>,
    what: String,
    meant: Option<String>,
}

impl<'t> Report<'t> {
    pub(super) fn new(file: &'t str, text: &'t str) -> Self {
        Self { file, text, found: Vec::new(), count: 0, newer: false }
    }

    /// Returns the text at a range of bytes.
    pub(super) fn text_at(&self, at: &Range<usize>) -> &'t str {
        self.text.get(at.clone()).unwrap_or_default()
    }

    /// Returns the number of problems found so far.
    pub(super) const fn count(&self) -> usize {
        self.count
    }

    /// Adds a problem at a range of bytes of the text.
    pub(super) fn add(&mut self, at: &Range<usize>, what: impl Into<String>) {
        self.add_meant(at, what, None);
    }

    /// Adds a problem, and the word that may have been meant.
    pub(super) fn add_meant(&mut self, at: &Range<usize>, what: impl Into<String>, meant: Option<&str>) {
        self.count += 1;
        self.found.push(UnplacedProblem { at: at.clone(), what: what.into(), meant: meant.map(str::to_owned) });
        if self.found.len() > 10 * KEPT {
            self.settle();
        }
    }

    /// Adds that the file requires a later version.
    pub(super) fn add_newer(&mut self, at: &Range<usize>, what: impl Into<String>) {
        self.newer = true;
        self.add(at, what);
    }

    /// Returns `value`, unless a problem was reported.
    pub(super) fn finish<T>(self, value: T) -> Result<T, ConfigError> {
        if self.count == 0 { Ok(value) } else { Err(self.into()) }
    }

    /// Keeps the first problems in the order of the file, each once.
    fn settle(&mut self) {
        self.found.sort_by_key(|found| found.at.start);
        self.found.dedup();
        self.found.truncate(KEPT);
    }
}

impl From<Report<'_>> for ConfigError {
    fn from(mut report: Report<'_>) -> Self {
        report.settle();
        let text = report.text;
        let problems = report.found.into_iter().map(|found| locate(text, &found.at, found.what, found.meant)).collect();
        Self { file: report.file.to_owned(), problems, newer: report.newer }
    }
}

/// Turns a range of bytes into a place for people.
fn locate(text: &str, at: &Range<usize>, what: String, meant: Option<String>) -> Problem {
    let start = text.floor_char_boundary(at.start.min(text.len()));
    let end = text.floor_char_boundary(at.end.clamp(start, text.len()));
    let line_start = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
    let line_end = text[start..].find('\n').map_or(text.len(), |newline| start + newline);
    // A byte order mark is not a column.
    let source = text[line_start..line_end].trim_start_matches('\u{feff}').trim_end_matches('\r');
    Problem {
        line: text[..start].matches('\n').count() + 1,
        column: text[line_start..start].trim_start_matches('\u{feff}').chars().count() + 1,
        width: text[start..end.min(line_end)].trim_end().chars().count().max(1),
        source: source.chars().map(shown).collect(),
        what,
        meant,
    }
}

/// Returns a character of a source line, one column wide and harmless on a terminal.
const fn shown(c: char) -> char {
    match c {
        '\t' => ' ',
        '\0'..='\u{1f}' | '\u{7f}'..='\u{9f}' => '\u{fffd}',
        c => c,
    }
}

/// Returns the one of `known` that `word` is most like, if it is like any.
pub fn nearest<'k>(word: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    // Beyond any key there is; comparing costs the product of the lengths.
    const MAX_NAME_LENGTH: usize = 64;
    let plain = |word: &str| word.to_lowercase().replace(['-', ' ', '.'], "_");
    if word.len() > MAX_NAME_LENGTH {
        return None;
    }
    let asked = plain(word);
    known
        .into_iter()
        .filter(|key| *key != word)
        .map(|key| (strsim::osa_distance(&asked, &plain(key)), key))
        .filter(|(distance, key)| *distance <= (key.len().min(word.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, key)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_alike() {
        let keys = ["mode", "min_grade", "severity", "run", "dir"];
        for (word, meant) in [
            ("mdoe", Some("mode")),
            ("Mode", Some("mode")),
            ("min-grade", Some("min_grade")),
            ("severty", Some("severity")),
            ("rnu", Some("run")),
            ("command", None),
            ("xy", None),
            ("", None),
        ] {
            assert_eq!(nearest(word, keys), meant, "{word}");
        }
        assert_eq!(nearest(&"x".repeat(1_000_000), keys), None);
    }

    #[test]
    fn a_place_is_counted_in_characters() {
        let text = "\u{feff}ü = 1\r\nname = \"é\" # \x1b[0m\r\n";
        let at = text.find('1').unwrap();
        let problem = locate(text, &(at..at + 1), String::new(), None);
        assert_eq!((problem.line, problem.column, problem.source.as_str()), (1, 5, "ü = 1"));
        let at = text.find('#').unwrap();
        let problem = locate(text, &(at..text.len()), String::new(), None);
        assert_eq!((problem.line, problem.column, problem.width), (2, 12, 6));
        assert_eq!(problem.source, "name = \"é\" # \u{fffd}[0m");
        let problem = locate(text, &(text.len() + 5..text.len() + 9), String::new(), None);
        assert_eq!((problem.line, problem.column, problem.width), (3, 1, 1));
    }

    #[test]
    fn a_long_line_is_cut_around_the_caret() {
        let text = format!("{}WRONG{}", "a".repeat(500), "b".repeat(500));
        let mut report = Report::new("gate.toml", &text);
        report.add_meant(&(500..505), "wrong", Some("right"));
        report.add(&(700..701), "also wrong");
        let shown = ConfigError::from(report).render();
        assert!(shown.lines().count() <= 6 && shown.lines().all(|line| line.chars().count() < 110), "{shown}");
        let lines: Vec<&str> = shown.lines().collect();
        assert_eq!(lines[2].find("WRONG"), lines[3].find("^^^^^"), "{shown}");
    }
}
