//! The problems that compilers and linters print, read by tables: `gates/diagnostics/*.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::{Captures, Regex};
use serde::{Deserialize, Serialize};

use crate::embedded;

/// The folder of the tables.
const FOLDER: &str = "diagnostics/";

/// The longest text of a problem, in characters.
const MAX_TEXT: usize = 300;

/// One problem.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Diagnostic {
    /// The file, as it is printed.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1, if it is printed.
    pub column: Option<u32>,
    pub text: String,
    /// `true` for a warning.
    pub warning: bool,
}

impl Diagnostic {
    /// Returns what is the same for the same problem after lines were added above it.
    pub fn key(&self) -> String {
        format!("{}: {}", self.file, self.text)
    }
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}:", self.file, self.line)?;
        if let Some(column) = self.column {
            write!(f, "{column}")?;
        }
        write!(f, " {}", self.text)
    }
}

/// A table: the tools, and the forms of their problems.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DiagnosticTable {
    /// The programs that print them.
    programs: Vec<String>,
    /// The key of a text in lines of JSON that stands for the line: `message.rendered`.
    json: Option<String>,
    /// A line that names the file, or the file and the line, of the problems below it.
    header: Option<String>,
    /// The forms: regular expressions with the groups `file`, `line`, `column`, `text` and `severity`; also `caret`, the
    /// blanks before the mark below a column, and `detail`, more of the text.
    patterns: Vec<String>,
    /// Outputs, and what is found in them.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test checks them"))]
    example: Vec<DiagnosticExample>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(not(test), expect(dead_code, reason = "a test checks them"))]
struct DiagnosticExample {
    output: String,
    found: Vec<String>,
}

/// A table with its regular expressions.
struct DiagnosticForms {
    table: DiagnosticTable,
    header: Option<Regex>,
    patterns: Vec<Regex>,
}

static TABLES: LazyLock<BTreeMap<&'static str, DiagnosticForms>> = LazyLock::new(|| {
    let files = embedded::GATES.iter().filter_map(|(name, text)| Some((name.strip_prefix(FOLDER)?, *text)));
    // A test holds the embedded files readable.
    files.filter_map(|(name, text)| Some((name.strip_suffix(".toml")?, forms(text).ok()?))).collect()
});

fn forms(text: &str) -> Result<DiagnosticForms, String> {
    let table: DiagnosticTable = toml::from_str(text).map_err(|error| error.to_string())?;
    let regex = |pattern: &String| Regex::new(pattern).map_err(|error| error.to_string());
    let header = table.header.as_ref().map(regex).transpose()?;
    let patterns = table.patterns.iter().map(regex).collect::<Result<_, _>>()?;
    Ok(DiagnosticForms { table, header, patterns })
}

/// Returns the problems in the output of a command line: by the tables of the programs that it names, else by the table
/// that finds most. Errors come first.
pub fn find(line: &str, output: &str) -> Vec<Diagnostic> {
    let words: Vec<&str> = line.split(|c: char| c.is_whitespace() || "/;|&()'\"".contains(c)).collect();
    let is_named =
        |forms: &&DiagnosticForms| forms.table.programs.iter().any(|program| words.iter().any(|word| word == program));
    let mut found: Vec<Diagnostic> = TABLES.values().filter(is_named).flat_map(|forms| forms.find(output)).collect();
    if found.is_empty() {
        let all = TABLES.values().map(|forms| forms.find(output));
        found = all.max_by_key(Vec::len).unwrap_or_default();
    }
    found.sort_by_key(|one| one.warning);
    let mut seen = std::collections::BTreeSet::new();
    found.retain(|one| seen.insert((one.file.clone(), one.line, one.column, one.text.clone())));
    found
}

impl DiagnosticForms {
    fn find(&self, output: &str) -> Vec<Diagnostic> {
        let output = self.table.json.as_ref().map_or_else(|| output.to_owned(), |key| rendered(output, key));
        let Some(header) = &self.header else {
            let all = self.patterns.iter().flat_map(|pattern| pattern.captures_iter(&output));
            return all.filter_map(|found| read(&found, None)).collect();
        };
        let mut above: Option<(String, Option<u32>)> = None;
        let mut problems = Vec::new();
        for line in output.lines() {
            if let Some(found) = header.captures(line) {
                let number = found.name("line").and_then(|line| line.as_str().parse().ok());
                above = found.name("file").map(|file| (file.as_str().trim().to_owned(), number));
                continue;
            }
            let found = self.patterns.iter().find_map(|pattern| pattern.captures(line));
            problems.extend(found.and_then(|found| read(&found, above.as_ref())));
        }
        problems
    }
}

/// Reads one match; what it does not name is that of the line above.
fn read(found: &Captures<'_>, above: Option<&(String, Option<u32>)>) -> Option<Diagnostic> {
    let named = |name: &str| found.name(name).map(|part| part.as_str().trim());
    let file = named("file").map(str::to_owned).or_else(|| Some(above?.0.clone()))?;
    let line = named("line").and_then(|line| line.parse().ok()).or_else(|| above?.1)?;
    let severity = named("severity").unwrap_or_default().to_ascii_lowercase();
    let warning = ["warn", "note", "info", "style", "help", "w", "c", "r"]
        .iter()
        .any(|word| severity == *word || (word.len() > 1 && severity.starts_with(word)));
    let detail = named("detail").map_or_else(String::new, |detail| format!(": {detail}"));
    let text: String = named("text")?.chars().chain(detail.chars()).take(MAX_TEXT).collect();
    let marked = || found.name("caret").and_then(|blanks| u32::try_from(blanks.as_str().chars().count() + 1).ok());
    let column = named("column").and_then(|column| column.parse().ok()).or_else(marked);
    Some(Diagnostic { file, line, column, text, warning })
}

/// Returns the output with the texts of a key in place of lines of JSON.
fn rendered(output: &str, key: &str) -> String {
    let of_line = |line: &str| {
        let value: serde_json::Value = serde_json::from_str(line).ok()?;
        let found = key.split('.').try_fold(&value, |value, part| value.get(part));
        Some(found.and_then(serde_json::Value::as_str).unwrap_or_default().to_owned())
    };
    let lines = output.lines().map(|line| {
        let json = line.starts_with('{').then(|| of_line(line)).flatten();
        json.unwrap_or_else(|| line.to_owned())
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The number of problems by their keys.
pub type KnownDiagnostics = BTreeMap<String, usize>;

/// Counts problems by their keys.
pub fn counted(found: &[Diagnostic]) -> KnownDiagnostics {
    let mut known = KnownDiagnostics::new();
    for one in found {
        *known.entry(one.key()).or_default() += 1;
    }
    known
}

/// Returns the problems that are more than those known.
pub fn new_since(known: &KnownDiagnostics, found: &[Diagnostic]) -> Vec<Diagnostic> {
    let mut left = known.clone();
    let is_new = |one: &&Diagnostic| match left.get_mut(&one.key()) {
        Some(count) if *count > 0 => {
            *count -= 1;
            false
        }
        _ => true,
    };
    found.iter().filter(is_new).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_finds_what_its_examples_say() {
        let mut tables = 0;
        for (name, text) in embedded::GATES.iter().filter(|(name, _)| name.starts_with(FOLDER)) {
            let forms = forms(text).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(!forms.table.example.is_empty(), "{name} has no example");
            for example in &forms.table.example {
                let found: Vec<String> = forms.find(&example.output).iter().map(ToString::to_string).collect();
                assert_eq!(found, example.found, "{name}");
            }
            tables += 1;
        }
        assert!(tables >= 15, "{tables}");
    }

    #[test]
    fn a_tool_is_known_by_its_name_or_by_its_output() {
        let output = "src/a.c:3:5: error: expected expression\n";
        for line in ["gcc -c src/a.c", "/usr/bin/clang -fsyntax-only src/a.c", "make check"] {
            let found = find(line, output);
            assert_eq!(found.len(), 1, "{line}");
            assert_eq!(found[0].to_string(), "src/a.c:3:5 expected expression");
        }
        assert!(find("make", "all fine\n").is_empty());
    }

    #[test]
    fn a_problem_that_moved_is_not_new() {
        let one = |line: u32, text: &str| Diagnostic {
            file: "a.c".to_owned(),
            line,
            column: None,
            text: text.to_owned(),
            warning: false,
        };
        let known = counted(&[one(3, "x"), one(9, "y")]);
        assert_eq!(new_since(&known, &[one(5, "x"), one(6, "x"), one(7, "z")]), [one(6, "x"), one(7, "z")]);
    }
}
