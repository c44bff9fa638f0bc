//! The languages whose functions are read: a table, a query and a grammar for each.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use regex::Regex;
use serde::Deserialize;
use tree_sitter::{Language as Grammar, Query};

use super::hollow_table::HollowTable;
use super::repairs::{Repair, Repairs, WrittenRepair, repaired};
use crate::embedded;
use crate::globs::Globs;

/// `gates/symbols/languages.toml`, read.
pub(super) struct LanguageTable {
    list: Vec<SourceLanguage>,
    generated: GeneratedFiles,
    /// What does no work.
    pub(super) hollow: HollowTable,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenTable {
    language: Vec<LanguageEntry>,
    generated: GeneratedSigns,
    hollow: HollowTable,
}

/// One language of the table.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LanguageEntry {
    pub(super) id: String,
    query: Option<String>,
    extensions: Vec<String>,
    #[serde(default)]
    shebangs: Vec<String>,
    pub(super) family: String,
    #[serde(default)]
    pub(super) paths: PathNames,
    pub(super) comments: Vec<String>,
    pub(super) instance: Vec<String>,
    #[serde(default)]
    pub(super) private: PrivateSigns,
    #[serde(default)]
    pub(super) conditions: ConditionPlaces,
    headers: Option<SharedHeaders>,
    #[serde(default)]
    repairs: Vec<WrittenRepair>,
    /// The types of packages.
    #[serde(default)]
    packages: BTreeMap<String, Vec<String>>,
}

/// The parts that count of a name with `::`.
#[derive(Clone, Copy, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub(super) enum PathNames {
    #[default]
    Last,
    /// All of them.
    Join,
}

/// The signs by which a function is private.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct PrivateSigns {
    /// This word is missing before the body.
    pub(super) without: Option<String>,
    /// The word that must come before the body.
    pub(super) with: Option<String>,
    /// The name begins with it.
    pub(super) prefix: Option<String>,
    /// The name begins with a small letter.
    pub(super) lower_case: bool,
    /// Nothing exports it.
    pub(super) not_exported: bool,
    /// The form of a line that must come before it.
    pub(super) after: Option<String>,
}

/// The places of the condition under which a definition counts.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ConditionPlaces {
    /// Kinds of nodes around it, and the field of the condition.
    pub(super) around: BTreeMap<String, String>,
    /// Kinds of nodes before it.
    pub(super) before: Vec<String>,
}

/// Headers that another language claims, too.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SharedHeaders {
    extension: String,
    when: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GeneratedSigns {
    heads: Vec<String>,
    lines: usize,
    paths: Vec<String>,
}

struct GeneratedFiles {
    heads: OnceLock<Option<Regex>>,
    table: GeneratedSigns,
    paths: Globs,
}

/// A language, with its parts compiled on demand.
pub(super) struct SourceLanguage {
    pub(super) entry: LanguageEntry,
    header: OnceLock<Option<Regex>>,
    query: OnceLock<Option<Query>>,
    private_line: OnceLock<Option<Regex>>,
    repairs: OnceLock<Repairs>,
}

impl LanguageTable {
    /// Returns the embedded table. `None` if it cannot be read, which the tests exclude.
    pub(super) fn embedded() -> Option<&'static Self> {
        static TABLE: LazyLock<Option<LanguageTable>> = LazyLock::new(|| {
            let written: WrittenTable = embedded::table("symbols/languages.toml");
            let list = written.language.into_iter().map(SourceLanguage::new).collect();
            let paths = Globs::new(&written.generated.paths).ok()?;
            let generated = GeneratedFiles { heads: OnceLock::new(), table: written.generated, paths };
            Some(LanguageTable { list, generated, hollow: written.hollow })
        });
        TABLE.as_ref()
    }

    /// Returns the language of a file, or `None` if it is not read.
    pub(super) fn of(&self, path: &str, text: &str) -> Option<&SourceLanguage> {
        let extension = ending(path);
        if let Some(program) = text.strip_prefix("#!").filter(|_| !has_ending(path)).map(program) {
            return self.list.iter().find(|language| language.entry.shebangs.iter().any(|known| known == program));
        }
        self.list
            .iter()
            .find(|language| language.claims(&extension, text))
            .or_else(|| self.list.iter().find(|language| language.entry.extensions.contains(&extension)))
    }

    /// Returns `true` if a file of this name may be in a language that is read.
    pub(super) fn may_know(&self, path: &str) -> bool {
        !has_ending(path) || self.knows(path, b"")
    }

    /// Returns `true` if a file is in a language that is read. A script need not have an ending.
    pub(super) fn knows(&self, path: &str, bytes: &[u8]) -> bool {
        let extension = ending(path);
        self.list.iter().any(|language| language.entry.extensions.contains(&extension))
            || !has_ending(path) && bytes.starts_with(b"#!")
    }

    /// Returns `true` if a package of a language is known to have a type.
    pub(super) fn has_type(&self, id: &str, package: &str, name: &str) -> bool {
        let entry = self.list.iter().map(|language| &language.entry).find(|entry| entry.id == id);
        let types = entry.and_then(|entry| entry.packages.get(package));
        types.is_some_and(|types| types.iter().any(|known| known == name))
    }

    /// Returns `true` if two files are in languages of one family.
    pub(super) fn are_kin(&self, a: &str, b: &str) -> bool {
        let family = |path| self.of(path, "").map(|language| language.entry.family.as_str());
        family(a).is_some() && family(a) == family(b)
    }

    /// Returns `true` if a program wrote the file.
    pub(super) fn is_generated(&self, path: &str, text: &str) -> bool {
        let generated = &self.generated;
        if generated.paths.is_match(path) {
            return true;
        }
        let heads = generated.heads.get_or_init(|| {
            let all = generated.table.heads.iter().map(|head| format!("(?:{head})")).collect::<Vec<_>>().join("|");
            Regex::new(&format!("(?i){all}")).ok()
        });
        let first = text.lines().take(generated.table.lines);
        // Such words count in comments alone: a generator has them in its texts.
        let mut comments = first.filter(|line| line.trim_start().starts_with(['/', '#', '*', '<', '-', ';']));
        heads.as_ref().is_some_and(|heads| comments.any(|line| heads.is_match(line)))
    }

    /// Returns all languages.
    #[cfg(test)]
    pub(super) fn all(&self) -> &[SourceLanguage] {
        &self.list
    }
}

impl SourceLanguage {
    fn new(entry: LanguageEntry) -> Self {
        Self {
            entry,
            header: OnceLock::new(),
            query: OnceLock::new(),
            private_line: OnceLock::new(),
            repairs: OnceLock::new(),
        }
    }

    fn claims(&self, extension: &str, text: &str) -> bool {
        let Some(headers) = self.entry.headers.as_ref().filter(|headers| headers.extension == extension) else {
            return false;
        };
        let when = self.header.get_or_init(|| Regex::new(&headers.when).ok());
        when.as_ref().is_some_and(|when| when.is_match(text))
    }

    /// Returns the pattern of a line after which functions are private.
    pub(super) fn private_line(&self) -> Option<&Regex> {
        let written = self.entry.private.after.as_ref()?;
        self.private_line.get_or_init(|| Regex::new(written).ok()).as_ref()
    }

    /// Returns the text as the grammar needs it; every position stays the same.
    pub(super) fn readable<'t>(&self, text: Cow<'t, str>) -> Cow<'t, str> {
        if self.repairs().always.is_empty() {
            text
        } else {
            Cow::Owned(repaired(text.into_owned(), &self.repairs().always))
        }
    }

    /// Returns the ways to make a text readable that does not parse.
    pub(super) fn when_broken(&self) -> &[Repair] {
        &self.repairs().when_broken
    }

    fn repairs(&self) -> &Repairs {
        self.repairs.get_or_init(|| Repairs::new(&self.entry.repairs))
    }

    /// Returns the grammar.
    pub(super) fn grammar(&self) -> Option<Grammar> {
        let grammar = match self.entry.id.as_str() {
            "rust" => tree_sitter_rust::LANGUAGE,
            "python" => tree_sitter_python::LANGUAGE,
            "typescript" => tree_sitter_typescript::LANGUAGE_TYPESCRIPT,
            "tsx" => tree_sitter_typescript::LANGUAGE_TSX,
            "javascript" => tree_sitter_javascript::LANGUAGE,
            "go" => tree_sitter_go::LANGUAGE,
            "java" => tree_sitter_java::LANGUAGE,
            "c" => tree_sitter_c::LANGUAGE,
            "cpp" => tree_sitter_cpp::LANGUAGE,
            "c-sharp" => tree_sitter_c_sharp::LANGUAGE,
            "ruby" => tree_sitter_ruby::LANGUAGE,
            "php" => tree_sitter_php::LANGUAGE_PHP,
            "kotlin" => tree_sitter_kotlin_ng::LANGUAGE,
            _ => return None,
        };
        Some(grammar.into())
    }

    /// Returns the query as it is written.
    pub(super) fn query_text(&self) -> Option<&'static str> {
        let name = self.entry.query.as_ref().unwrap_or(&self.entry.id);
        embedded::file(embedded::QUERIES, &format!("symbols/{name}.scm"))
    }

    /// Returns the query, compiled when the first file of the language is read.
    pub(super) fn query(&self) -> Option<&Query> {
        self.query.get_or_init(|| Query::new(&self.grammar()?, self.query_text()?).ok()).as_ref()
    }
}

/// Returns the ending of a file in small letters, or its name if it has none.
fn ending(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(_, ending)| ending).to_ascii_lowercase()
}

fn has_ending(path: &str) -> bool {
    path.rsplit('/').next().is_some_and(|name| name.contains('.'))
}

/// Returns the program in the first line of a script, after `#!`, without its version: `python` of `/usr/bin/env python3`.
fn program(text: &str) -> &str {
    let words = text.lines().next().unwrap_or_default().split_whitespace();
    let mut names = words.map(|word| word.rsplit('/').next().unwrap_or(word));
    let name = names.find(|name| *name != "env" && !name.starts_with('-')).unwrap_or_default();
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_grammar_and_a_query_that_fits_it() {
        let languages = LanguageTable::embedded().unwrap();
        for language in languages.all() {
            let grammar = language.grammar().unwrap_or_else(|| panic!("{}", language.entry.id));
            let text = language.query_text().unwrap_or_else(|| panic!("{}", language.entry.id));
            Query::new(&grammar, text).unwrap_or_else(|error| panic!("{}: {error}", language.entry.id));
        }
        assert_eq!(languages.all().len(), 13);
        languages.hollow.check().unwrap();
    }

    #[test]
    fn a_header_is_of_the_language_that_it_is_written_in() {
        let languages = LanguageTable::embedded().unwrap();
        let id = |path: &str, text: &str| languages.of(path, text).map(|language| language.entry.id.as_str());
        assert_eq!(id("a.h", "int f(void);\n"), Some("c"));
        assert_eq!(id("a.h", "class A {\npublic:\n  int f();\n};\n"), Some("cpp"));
        assert_eq!(id("dir.py/a.TS", ""), Some("typescript"));
        assert_eq!(id("dir.py/README", ""), None);
    }
}
