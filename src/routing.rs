//! Chooses the kind of a piece of work, and the user's model for it: by the changed files, else by the prompt. If neither
//! says it, `judge/kind_question.rs` asks a model, if the user wants that.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded::{GATES, file};
use crate::fact::Facts;
use crate::globs::Globs;
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::RouteSettings;
use crate::prompt::{self, Findings, PromptText};
use crate::repo_path::RepoPath;

/// The kind of work for which nothing speaks.
pub const DEFAULT_KIND: &str = "default";

/// The kinds, and what speaks for them.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct RoutingTable {
    paths: BTreeMap<String, Vec<String>>,
    classes: BTreeMap<String, Vec<String>>,
}

static TABLE: LazyLock<RoutingTable> = LazyLock::new(|| {
    // A test holds the embedded file readable.
    file(GATES, "routing.toml").and_then(|text| toml::from_str(text).ok()).unwrap_or_default()
});

/// The kind of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkRoute {
    pub kind: String,
    /// The reason, in a sentence.
    pub why: String,
    /// The model for it, by its name in the user's configuration, if it has one.
    pub model: Option<String>,
    /// The model that goes on with it after a refusal, if the user names one: `provider/model`.
    pub feedback: Option<String>,
}

/// Returns the kind of work on these files for this task. An error names a glob of the user's that is none.
pub fn route(paths: &[RepoPath], task: &str, settings: &RouteSettings) -> Result<WorkRoute, String> {
    let known = kinds(settings);
    for (table, models) in [("models", &settings.models), ("feedback", &settings.feedback)] {
        if let Some(kind) = models.keys().find(|kind| !known.contains(&kind.as_str())) {
            return Err(format!("[routing.{table}] {kind}: there is no such kind; the kinds are {}", known.join(", ")));
        }
    }
    let (kind, why) = match by_paths(paths, settings)? {
        Some(found) => found,
        None => by_prompt(task).unwrap_or_else(|| {
            (DEFAULT_KIND.to_owned(), "neither the changed files nor the prompt name a kind".to_owned())
        }),
    };
    Ok(WorkRoute::of(kind, why, settings))
}

/// Returns the route of the work that facts describe.
pub fn of_facts(facts: &Facts, settings: &RouteSettings) -> Result<WorkRoute, String> {
    route(&changed_paths(facts), &WordQuestion::of_turn(facts, &[]).task, settings)
}

/// Returns the files that the work changed, in their order.
pub fn changed_paths(facts: &Facts) -> Vec<RepoPath> {
    let changed = facts.subjects.iter().filter_map(|subject| subject.changed.as_ref());
    let paths: BTreeSet<&RepoPath> = changed.flatten().collect();
    paths.into_iter().cloned().collect()
}

/// Returns the kinds that a model may name.
pub fn kinds(settings: &RouteSettings) -> Vec<&str> {
    let built_in = TABLE.paths.keys().chain(TABLE.classes.keys());
    let mut kinds: Vec<&str> = built_in.chain(settings.paths.keys()).map(String::as_str).collect();
    kinds.push(DEFAULT_KIND);
    kinds.sort_unstable();
    kinds.dedup();
    kinds
}

impl WorkRoute {
    /// Returns the route for a kind.
    pub fn of(kind: String, why: String, settings: &RouteSettings) -> Self {
        let of_kind =
            |models: &BTreeMap<String, String>| models.get(&kind).or_else(|| models.get(DEFAULT_KIND)).cloned();
        let (model, feedback) = (of_kind(&settings.models), of_kind(&settings.feedback));
        Self { kind, why, model, feedback }
    }
}

/// Returns the kind of most of the changed files, if one kind has more than every other.
fn by_paths(paths: &[RepoPath], settings: &RouteSettings) -> Result<Option<(String, String)>, String> {
    let mut kinds = TABLE.paths.clone();
    kinds.extend(settings.paths.clone());
    let mut counts: Vec<(usize, String)> = Vec::new();
    for (kind, globs) in kinds {
        let globs = Globs::new(&globs).map_err(|error| format!("[routing.paths] {kind}: {error}"))?;
        let count = paths.iter().filter(|path| globs.is_match(path.to_os())).count();
        counts.push((count, kind));
    }
    counts.sort_by(|a, b| b.cmp(a));
    Ok(match counts.as_slice() {
        [(first, kind), rest @ ..] if *first > 0 && rest.first().is_none_or(|(second, _)| second < first) => {
            let why = format!("{first} of {} changed files are of this kind", paths.len());
            Some((kind.clone(), why))
        }
        _ => None,
    })
}

/// Returns the kind that the class of the prompt names.
fn by_prompt(task: &str) -> Option<(String, String)> {
    if task.trim().is_empty() {
        return None;
    }
    let evaluation = prompt::evaluate(&PromptText::of(task), None, &Findings::default());
    let class = evaluation.classes.first()?.class;
    let (kind, _) = TABLE.classes.iter().find(|(_, classes)| classes.iter().any(|known| known == class))?;
    Some((kind.clone(), format!("the prompt is of the class {class}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn routed(paths: &[&str], task: &str) -> WorkRoute {
        let models =
            BTreeMap::from([("frontend".to_owned(), "gemini".to_owned()), ("default".to_owned(), "opus".to_owned())]);
        let paths: Vec<RepoPath> = paths.iter().map(|path| RepoPath::from(*path)).collect();
        route(&paths, task, &RouteSettings { models, ..RouteSettings::default() }).unwrap()
    }

    #[test]
    fn changed_files_decide_before_the_prompt() {
        for (paths, task, kind, model) in [
            (&["src/App.tsx", "src/app.css", "api/main.go"][..], "Fix the database query", "frontend", "gemini"),
            (&["api/main.go"], "Make the button blue", "backend", "opus"),
            (&["docs/adr/0001-queue.md"], "", "architecture", "opus"),
            (&["notes.txt"], "Make the button on the page blue", "frontend", "gemini"),
            (&["a.tsx", "b.go"], "", "default", "opus"),
            (&[], "", "default", "opus"),
        ] {
            let found = routed(paths, task);
            assert_eq!(
                (found.kind.as_str(), found.model.as_deref()),
                (kind, Some(model)),
                "{paths:?} {task}: {found:?}"
            );
        }
    }

    #[test]
    fn the_users_own_globs_replace_those_of_a_kind() {
        let own = |glob: &str| RouteSettings {
            paths: BTreeMap::from([("frontend".to_owned(), vec![glob.to_owned()])]),
            ..RouteSettings::default()
        };
        let path = [RepoPath::from("web/main.go")];
        // As many as for backend: the paths do not decide.
        assert_eq!(route(&path, "", &own("web/**")).unwrap().kind, "default");
        assert!(route(&path, "", &own("web/[")).unwrap_err().contains("frontend"));
    }

    #[test]
    fn a_kind_that_does_not_exist_is_an_error() {
        let settings = |kind: &str, globs: &[&str]| RouteSettings {
            models: BTreeMap::from([(kind.to_owned(), "opus".to_owned())]),
            paths: globs.iter().map(|glob| (kind.to_owned(), vec![(*glob).to_owned()])).collect(),
            ..RouteSettings::default()
        };
        let error = route(&[], "", &settings("fontend", &[])).unwrap_err();
        assert!(error.contains("fontend") && error.contains("frontend"), "{error}");
        for known in ["frontend", "backend", "architecture", "default"] {
            assert!(route(&[], "", &settings(known, &[])).is_ok(), "{known}");
        }
        assert!(route(&[], "", &settings("mobile", &["app/**"])).is_ok(), "a kind of the user's own");
    }

    #[test]
    fn refused_work_has_models_of_its_own() {
        let feedback = BTreeMap::from([("frontend".to_owned(), "google/pro".to_owned())]);
        let settings = RouteSettings { feedback, ..RouteSettings::default() };
        let of = |path: &str| route(&[RepoPath::from(path)], "", &settings).unwrap().feedback;
        assert_eq!((of("a.tsx").as_deref(), of("a.go")), (Some("google/pro"), None));
        let unknown = BTreeMap::from([("fontend".to_owned(), "google/pro".to_owned())]);
        let settings = RouteSettings { feedback: unknown, ..RouteSettings::default() };
        assert!(route(&[], "", &settings).unwrap_err().starts_with("[routing.feedback] fontend"));
    }
}
