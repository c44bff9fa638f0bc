//! The class of a prompt, by the things that it would touch or produce.

use serde::Serialize;

use super::clauses::ClauseAct;
use super::score_basis::ScoreBasis;

/// The share of one class in a prompt.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClassShare {
    /// The class.
    pub class: &'static str,
    /// From 0 to 1.
    pub share: f64,
}

/// Returns the classes of a prompt, largest share first.
pub(super) fn classes(ground: &ScoreBasis<'_>) -> Vec<ClassShare> {
    let wish = &ground.reading.wish;
    let places = ground.places();
    let paths = places
        .one
        .iter()
        .filter_map(|name| ground.findings.names.get(&name.text))
        .flat_map(|found| found.places.iter().take(1));
    let mut weights =
        [("architectural", 0), ("review", 0), ("backend", 0), ("frontend", 0), ("testing", 0), ("devops", 0)];
    let mut add = |class: &str, weight: u32| {
        if let Some(entry) = weights.iter_mut().find(|(name, _)| *name == class) {
            entry.1 += weight;
        }
    };
    for path in paths {
        let class = class_of(path);
        // In a repository that is an interface, `api/client.ts` belongs to it.
        add(if class == "backend" && ground.findings.is_frontend { "frontend" } else { class }, 2);
    }
    let kept = ground.language.spans("says.protects", wish);
    for class in ["architectural", "review", "backend", "frontend", "testing", "devops"] {
        // "No new dependency" is a bound, and no work on dependencies.
        let is_bound = |&(start, end): &(usize, usize)| kept.iter().any(|kept| kept.0 <= start && end <= kept.1);
        let words = ground.language.spans(&format!("classes.{class}"), wish);
        let found = u32::try_from(words.iter().filter(|word| !is_bound(word)).count()).unwrap_or(0);
        add(
            class,
            found.min(3)
                * match class {
                    "architectural" => 6,
                    "devops" => 3,
                    _ => 1,
                },
        );
    }
    let first = ground.clauses.iter().find_map(|clause| clause.act);
    let begins = ground.clauses.first().map_or("", |clause| &wish[clause.start..clause.end]);
    if ground.language.has("classes.testing", begins) {
        add("testing", 12);
    }
    match first {
        Some(ClauseAct::Question) if ground.language.begins("acts.list", wish.trim_start()).is_some() => {
            add("review", 9);
        }
        // "Can it take less time?" is not talk.
        Some(ClauseAct::Question) if ground.smells.is_empty() => {
            return vec![ClassShare { class: "conversational", share: 1.0 }];
        }
        Some(ClauseAct::Review) => add("review", 6),
        Some(ClauseAct::Run) => add("devops", 4),
        _ => {}
    }
    let total: u32 = weights.iter().map(|(_, weight)| weight).sum();
    if total == 0 {
        let class = if ground.findings.is_frontend && (first.is_some() || !ground.smells.is_empty()) {
            "frontend"
        } else if first.is_some() || !ground.smells.is_empty() || ground.reading.explicit().next().is_some() {
            "backend"
        } else {
            "conversational"
        };
        return vec![ClassShare { class, share: 1.0 }];
    }
    let mut classes: Vec<_> = weights
        .iter()
        .filter(|(_, weight)| *weight > 0)
        .map(|(class, weight)| ClassShare { class, share: f64::from(*weight) / f64::from(total) })
        .collect();
    classes.sort_by(|a, b| b.share.total_cmp(&a.share));
    if ground.tasks > 1 {
        classes.insert(0, ClassShare { class: "mixed", share: 1.0 });
    }
    classes
}

/// Returns the number of classes of the files that a prompt leads to.
pub(super) fn domains(ground: &ScoreBasis<'_>) -> usize {
    let places = ground.places();
    let found = places.one.iter().filter_map(|name| ground.findings.names.get(&name.text)?.places.first());
    found.map(|path| class_of(path)).collect::<std::collections::BTreeSet<_>>().len()
}

fn class_of(path: &str) -> &'static str {
    let lower = path.to_lowercase();
    let name = lower.rsplit('/').next().unwrap_or(&lower);
    let ends = |ends: &[&str]| ends.iter().any(|end| name.ends_with(end));
    // `api/openapi.yaml` describes routes.
    let is_api = ["openapi", "swagger"].iter().any(|api| name.contains(api));
    if is_api {
        "backend"
    } else if lower.contains("test") || lower.contains("spec") || lower.contains("e2e/") {
        "testing"
    } else if lower.starts_with(".github/")
        || ends(&[
            "makefile", "dockerfile", "justfile", ".yml", ".yaml", ".sh", "cargo.toml", "package.json",
            "pyproject.toml", "go.mod", "requirements.txt",
        ])
    {
        "devops"
    } else if ends(&[".tsx", ".jsx", ".css", ".scss", ".vue", ".svelte", ".html"])
        || lower.contains("components/")
        || lower.contains("hooks/")
    {
        "frontend"
    } else {
        "backend"
    }
}
