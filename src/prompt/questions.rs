//! Questions that name real things, and the prompt again with places to fill in.

use serde::Serialize;

use super::phrases::{phrase, seed};
use super::score_basis::ScoreBasis;
use super::scores::PromptScores;
use super::smells::{SMELLS, Smell};

/// A question to the author.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PromptQuestion {
    /// The question.
    pub text: String,
    /// Answers to choose from; another answer is always possible.
    pub options: Vec<String>,
    /// The kind of question: a smell, or the thing that is open.
    #[serde(skip)]
    pub kind: &'static str,
    /// The name that the question is about, or nothing.
    #[serde(skip)]
    pub about: String,
}

const MAX_QUESTIONS: usize = 3;
const MAX_OPTIONS: usize = 4;

/// Returns the question that turns a smell into something definite.
pub(super) fn of_smell(smell: &Smell, ground: &ScoreBasis<'_>) -> String {
    phrase(ground.language.name(), smell.id, seed(ground.reading.text), &[])
}

/// Returns at most three questions, most urgent first.
pub(super) fn questions(ground: &ScoreBasis<'_>, scores: &PromptScores) -> Vec<PromptQuestion> {
    let places = ground.places();
    if ground.is_mixed() {
        return vec![ask(ground, "split", "", Vec::new())];
    }
    let mut questions = Vec::new();
    if let Some((name, found)) = places.several.first() {
        let options = found.iter().take(MAX_OPTIONS).cloned().collect();
        questions.push(ask(ground, "place_several", &name.text, options));
    } else if let Some(name) = places.missing.first() {
        questions.push(ask(ground, "place_missing", &name.text, Vec::new()));
    } else if scores.cs.score <= 2 {
        questions.push(ask(ground, "place_none", "", Vec::new()));
    }
    let smells = SMELLS.into_iter().filter(|id| ground.smells.iter().any(|smell| smell.id == *id));
    questions.extend(smells.map(|id| ask(ground, id, "", commands_for(id, ground))));
    if scores.vr.score <= 2 {
        questions.push(ask(ground, "verify", "", commands_for("verify", ground)));
    }
    if scores.co.score <= 3 {
        questions.push(ask(ground, "objective", "", Vec::new()));
    }
    if scores.rd.score <= 2 {
        questions.push(ask(ground, "keep", "", Vec::new()));
    }
    questions.truncate(MAX_QUESTIONS);
    questions
}

fn ask(ground: &ScoreBasis<'_>, kind: &'static str, name: &str, options: Vec<String>) -> PromptQuestion {
    let text = phrase(ground.language.name(), kind, seed(ground.reading.text), &[("name", name)]);
    PromptQuestion { text, options, kind, about: name.to_owned() }
}

fn commands_for(kind: &str, ground: &ScoreBasis<'_>) -> Vec<String> {
    let commands = ground.findings.commands.iter();
    let fits = |command: &&String| match kind {
        "performance_without_metric" => command.contains("bench"),
        "verify" => command.contains("test") || command.contains("lint"),
        _ => false,
    };
    commands.filter(fits).take(MAX_OPTIONS).cloned().collect()
}

/// Returns the prompt again, with places to fill in.
pub(super) fn reformulation(ground: &ScoreBasis<'_>, scores: &PromptScores) -> String {
    let language = ground.language.name();
    let blank = |key: &str| phrase(language, key, 0, &[]);
    let act: String = ground.reading.wish.split_whitespace().take(12).collect::<Vec<_>>().join(" ");
    let act = if scores.co.score <= 2 { blank("what") } else { act };
    let place = ground.places().one.first().map_or_else(|| blank("where"), |name| name.text.clone());
    let check = commands_for("verify", ground).into_iter().next().unwrap_or_else(|| blank("proof"));
    phrase(language, "reformulation", 0, &[("place", &place), ("act", &act), ("check", &check)])
}

/// Returns the files that a part of the prompt names.
pub(super) fn touches(ground: &ScoreBasis<'_>, start: usize, end: usize) -> Vec<String> {
    let names = ground.places().one;
    let inside = names.iter().filter(|name| start <= name.start && name.end <= end);
    let mut paths: Vec<String> =
        inside.filter_map(|name| ground.findings.names.get(&name.text)?.places.first().cloned()).collect();
    paths.sort_unstable();
    paths.dedup();
    paths
}
