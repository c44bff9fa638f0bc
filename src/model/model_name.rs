//! The names of models: one model has several, and several models are one family.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded::{GATES, file};

#[derive(Deserialize)]
struct FamilyTable {
    family: Vec<ModelFamily>,
}

/// A family of models, and the words in the names of its models and clients.
#[derive(Debug, Deserialize)]
pub struct ModelFamily {
    pub name: String,
    words: Vec<String>,
    /// The words that its clients take for the newest model of a line.
    #[serde(default)]
    lines: Vec<String>,
}

static FAMILIES: LazyLock<Vec<ModelFamily>> = LazyLock::new(|| {
    // A test holds the embedded file readable.
    let text = file(GATES, "model-families.toml").unwrap_or_default();
    toml::from_str::<FamilyTable>(text).map(|table| table.family).unwrap_or_default()
});

/// Returns the family that a name of a model or of a client belongs to.
pub fn family(name: &str) -> Option<&'static ModelFamily> {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    FAMILIES.iter().find(|family| family.words.iter().any(|word| words.contains(&word.as_str())))
}

/// Returns `true` if a word names this model: with or without its provider and its date, or by its line alone.
pub fn is_same(word: &str, model: &str) -> bool {
    let (word, model) = (bare(word), bare(model));
    let is_line = |family: &ModelFamily| family.lines.contains(&word) && model.split('-').any(|part| part == word);
    word == model || family(&model).is_some_and(is_line)
}

/// Returns the name of a model without its provider, its date and the size of its window.
fn bare(name: &str) -> String {
    let name = name.rsplit('/').next().unwrap_or(name).to_lowercase().replace('.', "-");
    let name = name.split(['[', '@', ':']).next().unwrap_or_default();
    let is_date = |part: &str| part == "latest" || part.len() == 8 && part.bytes().all(|byte| byte.is_ascii_digit());
    name.rsplit_once('-').filter(|(_, last)| is_date(last)).map_or(name, |(rest, _)| rest).to_owned()
}

/// Returns the model that a command names in an option: `--model NAME`, `--model=NAME`, `-m NAME`.
pub fn named_in(line: &str) -> Option<&str> {
    let mut words = line.split_whitespace().map(|word| word.trim_matches(['\'', '"']));
    while let Some(word) = words.next() {
        match word.split_once('=') {
            Some(("--model" | "-m", name)) => return Some(name),
            None if matches!(word, "--model" | "-m") => return words.next(),
            _ => {}
        }
    }
    None
}
