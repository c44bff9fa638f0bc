//! Compares the reviewers with the model that made the change.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded::{GATES, file};
use crate::model::model_settings::{ModelAccess, ModelSettings};

#[derive(Deserialize)]
struct FamilyTable {
    family: Vec<ModelFamily>,
}

/// A family of models, and the words in the names of its models and clients.
#[derive(Debug, Deserialize)]
struct ModelFamily {
    name: String,
    words: Vec<String>,
}

static FAMILIES: LazyLock<Vec<ModelFamily>> = LazyLock::new(|| {
    // A test holds the embedded file readable.
    let text = file(GATES, "model-families.toml").unwrap_or_default();
    toml::from_str::<FamilyTable>(text).map(|table| table.family).unwrap_or_default()
});

/// Returns the family that a name of a model or of a client belongs to.
fn family(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let words: Vec<&str> = name.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    let is_named = |family: &&ModelFamily| family.words.iter().any(|word| words.contains(&word.as_str()));
    FAMILIES.iter().find(is_named).map(|family| family.name.as_str())
}

/// Returns the texts in a model's settings that may name it.
fn names(model: &ModelSettings) -> Vec<&str> {
    let access = match &model.access {
        ModelAccess::Command { line, .. } => line.as_str(),
        ModelAccess::Endpoint(endpoint) => endpoint.model.as_str(),
    };
    model.model.as_deref().into_iter().chain([access, model.name.as_str()]).collect()
}

/// The comparison of a reviewer with the author of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// The reviewer is the author's own model.
    Same,
    /// Both belong to this family.
    Family(&'static str),
    /// Nothing says that they are related.
    None,
}

/// Compares a reviewer with the author: its model, if it is known, and else its client.
pub fn compare(reviewer: &ModelSettings, author: Option<&str>, client: Option<&str>) -> Kinship {
    let names = names(reviewer);
    if author.is_some_and(|author| names.iter().any(|name| name.split_whitespace().any(|word| word == author))) {
        return Kinship::Same;
    }
    let Some(own) = author.and_then(family).or_else(|| client.and_then(family)) else { return Kinship::None };
    let is_kin = names.iter().find_map(|name| family(name)) == Some(own);
    if is_kin { Kinship::Family(own) } else { Kinship::None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_author_does_not_review_itself() {
        let model = |line: &str, name: Option<&str>| ModelSettings {
            name: "r".to_owned(),
            model: name.map(str::to_owned),
            access: ModelAccess::Command { line: line.to_owned(), env: Vec::new() },
            timeout: 1,
            daily_calls: 1,
            daily_tokens: 1,
        };
        let opus = model("claude -p --model claude-opus-4-6", None);
        assert_eq!(compare(&opus, Some("claude-opus-4-6"), Some("claude")), Kinship::Same);
        assert_eq!(compare(&opus, Some("claude-sonnet-4-6"), Some("claude")), Kinship::Family("Anthropic"));
        assert_eq!(compare(&opus, None, Some("claude")), Kinship::Family("Anthropic"));
        assert_eq!(compare(&opus, Some("gpt-5.3-codex"), Some("codex")), Kinship::None);
        assert_eq!(compare(&model("codex exec", None), Some("gpt-5"), None), Kinship::Family("OpenAI"));
        assert_eq!(compare(&model("./ask.sh", Some("minimax-m2.5")), Some("gpt-5"), None), Kinship::None);
    }
}
