//! The type of work that a request asks for.

use serde::{Deserialize, Serialize};

use super::class::ClassShare;
use super::clauses::ClauseAct;
use super::score_basis::ScoreBasis;

/// The type of work. It describes a task; which gates must pass follows from the changed paths and the policy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum TaskType {
    /// Code and its tests.
    Coding,
    /// Text for people.
    Docs,
    /// An answer, without a change.
    Research,
    /// Builds, releases, pipelines and commands.
    Ops,
    /// Anything else, such as talk.
    #[default]
    Other,
}

impl TaskType {
    /// Returns the name in JSON.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Coding => "coding",
            Self::Docs => "docs",
            Self::Research => "research",
            Self::Ops => "ops",
            Self::Other => "other",
        }
    }

    /// Returns the type of a request, whose classes are `shares`, the largest first.
    pub(super) fn of(ground: &ScoreBasis<'_>, shares: &[ClassShare]) -> Self {
        let wish = ground.reading.wish.trim_start();
        let first = ground.clauses.iter().find_map(|clause| clause.act);
        let changes = ground.clauses.iter().any(|clause| {
            matches!(clause.act, Some(ClauseAct::Precise | ClauseAct::Create | ClauseAct::Vague))
                && !clause.is_constraint
        });
        let begins = ground.clauses.first().map_or(wish, |clause| &ground.reading.wish[clause.start..clause.end]);
        // For a prompt with several tasks, the first class says only that.
        let class = shares.iter().map(|share| share.class).find(|class| *class != "mixed");
        let is_asked = matches!(first, Some(ClauseAct::Question | ClauseAct::Review)) || class == Some("review");
        if ground.language.begins("task_types.research", wish).is_some() || is_asked && !changes {
            return Self::Research;
        }
        let places = ground.places();
        let mut paths = places.one.iter().filter_map(|name| ground.findings.names.get(&name.text)?.places.first());
        let is_of_docs = match paths.next() {
            Some(path) => is_document(path) && paths.all(|path| is_document(path)),
            None => ground.language.has("task_types.docs", begins),
        };
        match class {
            _ if is_of_docs => Self::Docs,
            Some("devops") => Self::Ops,
            Some("conversational") | None => Self::Other,
            Some(_) => Self::Coding,
        }
    }
}

fn is_document(path: &str) -> bool {
    let lower = path.to_lowercase();
    [".md", ".mdx", ".rst", ".adoc", ".txt"].iter().any(|ending| lower.ends_with(ending))
        && !lower.ends_with("requirements.txt")
        && !lower.ends_with("cmakelists.txt")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prompt::{Findings, PromptText, evaluate};

    #[test]
    fn the_type_follows_from_the_wish() {
        for (text, expected) in [
            ("fix the crash in parse() when the line is empty", TaskType::Coding),
            ("add a test for empty lines", TaskType::Coding),
            ("compare the two parsers and then replace the slow one", TaskType::Research),
            ("why does parse() return None for empty lines?", TaskType::Research),
            ("review the parser for security holes", TaskType::Research),
            ("review the parser and fix the holes", TaskType::Coding),
            ("explica cómo funciona el parser", TaskType::Research),
            ("update the README with the flag --json", TaskType::Docs),
            ("actualiza la documentación de parse()", TaskType::Docs),
            ("bump the version to 1.2.0", TaskType::Ops),
            ("deploy the server", TaskType::Ops),
            ("thanks, that is all", TaskType::Other),
            ("go on", TaskType::Other),
        ] {
            let found = evaluate(&PromptText::of(text), None, &Findings::default()).task_type;
            assert_eq!(found, expected, "{text}");
        }
    }
}
