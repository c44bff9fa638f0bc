//! Compares the reviewers with the model that made the change.

use crate::model::model_name::{family, is_same};
use crate::model::model_settings::{ModelAccess, ModelSettings};

/// Returns the texts in a model's settings that may name it.
fn names(model: &ModelSettings) -> Vec<&str> {
    let access = match &model.access {
        ModelAccess::Command { line, .. } => line.as_str(),
        ModelAccess::Endpoint(endpoint) => endpoint.model.as_str(),
    };
    model.model.as_deref().into_iter().chain([access, model.name.as_str()]).collect()
}

/// The comparison of a reviewer with the authors of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kinship {
    /// The reviewer is an author's own model.
    Same,
    /// Both belong to this family.
    Family(&'static str),
    /// Nothing says that they are related.
    None,
}

/// The models that made a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeAuthors {
    /// Their names, as their sessions record them.
    pub models: Vec<String>,
    /// The clients of these sessions.
    pub clients: Vec<String>,
}

impl ChangeAuthors {
    /// Compares a reviewer with the models, and only with the clients if no model is known.
    pub fn compare(&self, reviewer: &ModelSettings) -> Kinship {
        let names = names(reviewer);
        let mut words = names.iter().flat_map(|name| name.split_whitespace());
        if words.any(|word| self.models.iter().any(|model| is_same(word, model))) {
            return Kinship::Same;
        }
        let known = if self.models.is_empty() { &self.clients } else { &self.models };
        let Some(own) = names.iter().find_map(|name| family(name)) else { return Kinship::None };
        let is_kin = known.iter().any(|name| family(name).is_some_and(|other| other.name == own.name));
        if is_kin { Kinship::Family(&own.name) } else { Kinship::None }
    }
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
        let one = |name: Option<&str>| name.map(str::to_owned).into_iter().collect();
        let kinship = |line: &str, own: Option<&str>, author: Option<&str>, client: Option<&str>| {
            ChangeAuthors { models: one(author), clients: one(client) }.compare(&model(line, own))
        };
        let opus = "claude -p --model claude-opus-4-6";
        assert_eq!(kinship(opus, None, Some("claude-opus-4-6"), Some("claude")), Kinship::Same);
        for (reviewer, author) in [
            ("claude -p --model opus", "claude-opus-4-6"),
            ("claude -p --model claude-opus-4-6", "claude-opus-4-6-20260101"),
            ("ask anthropic/claude-opus-4.6", "claude-opus-4-6[1m]"),
            ("codex exec -m gpt-5.3-codex", "openai/gpt-5.3-codex"),
        ] {
            assert_eq!(kinship(reviewer, None, Some(author), None), Kinship::Same, "{reviewer}, {author}");
        }
        assert_eq!(kinship(opus, None, Some("claude-sonnet-4-6"), Some("claude")), Kinship::Family("Anthropic"));
        assert_eq!(
            kinship("claude -p --model opus", None, Some("claude-sonnet-4-6"), None),
            Kinship::Family("Anthropic")
        );
        assert_eq!(kinship(opus, None, None, Some("claude")), Kinship::Family("Anthropic"));
        assert_eq!(kinship(opus, None, Some("gpt-5.3-codex"), Some("codex")), Kinship::None);
        assert_eq!(kinship("codex exec", None, Some("gpt-5"), None), Kinship::Family("OpenAI"));
        assert_eq!(kinship("./ask.sh", Some("minimax-m2.5"), Some("gpt-5"), None), Kinship::None);
        assert_eq!(kinship("./ask.sh", None, None, None), Kinship::None);
        let several =
            ChangeAuthors { models: vec!["gpt-5".to_owned(), "claude-opus-4-6".to_owned()], clients: Vec::new() };
        assert_eq!(several.compare(&model(opus, None)), Kinship::Same);
    }
}
