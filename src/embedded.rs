//! The files of `evals/`, `gates/`, `hooks/` and `templates/`, embedded when the binary is built.

use std::collections::BTreeMap;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

/// The description of a runner that is known before its file is read.
#[derive(Clone, Copy, Debug)]
pub struct RunnerSummary {
    /// Its id.
    pub id: &'static str,
    /// The name of its table.
    pub file: &'static str,
    /// `true` if it is a task runner.
    pub is_task: bool,
    /// The texts of which one is in every line that one of its own rules reads.
    pub texts: &'static [&'static str],
}

/// The description of a language in which people write prompts.
#[derive(Clone, Copy, Debug)]
pub struct LanguageSummary {
    /// Its name.
    pub name: &'static str,
    /// `true` if entries may occur inside a word: the language writes no spaces.
    pub anywhere: bool,
    /// `true` if words are joined without a space: the first noun of one is looked up.
    pub compounds: bool,
    /// Lists of words for things that code names in English.
    pub nouns: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// Returns the content of one embedded file: `file(TEMPLATES, "escalation.txt")`.
pub fn file(folder: &[(&'static str, &'static str)], name: &str) -> Option<&'static str> {
    folder.iter().find(|(path, _)| *path == name).map(|(_, content)| *content)
}

/// Returns an embedded table, read into its type: `table("outputs.toml")`.
///
/// # Panics
///
/// If there is no such table, or its content does not fit, which the unit tests of each table exclude.
pub fn table<T: DeserializeOwned>(name: &str) -> T {
    log::debug!("reads the table {name}");
    let text = TABLES.binary_search_by_key(&name, |(path, _)| path).ok().map_or("", |at| TABLES[at].1);
    read(name, text)
}

/// Returns the value of one key of an embedded table: `part("stacks.toml", "stack")`. The rest is not read.
///
/// # Panics
///
/// As [`table`].
pub fn part<T: DeserializeOwned>(name: &str, key: &str) -> T {
    let parts: BTreeMap<String, Box<RawValue>> = table(name);
    read(name, parts.get(key).map_or("", |part| part.get()))
}

fn read<T: DeserializeOwned>(name: &str, text: &str) -> T {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}"))
}
