//! Questions that name real things, and the prompt again with places to fill in.

use serde::Serialize;

use super::prompt_text::NameInPrompt;
use super::score_basis::ScoreBasis;
use super::scores::PromptScores;
use super::smells::{SMELLS, Smell};
use super::word_lists::PromptLanguage;
use super::wordings::{phrase, seed};

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
    let mut fitting: Vec<String> = commands.filter(fits).cloned().collect();
    fitting.sort_by_key(|command| !command.contains("test"));
    fitting.truncate(MAX_OPTIONS);
    fitting
}

/// Returns the prompt again, with places to fill in.
pub(super) fn reformulation(ground: &ScoreBasis<'_>, scores: &PromptScores) -> String {
    let language = ground.language.name();
    let blank = |key: &str| phrase(language, key, 0, &[]);
    let act = if scores.co.score <= 2 { blank("what") } else { first_act(ground) };
    let place = best_place(ground).unwrap_or_else(|| blank("where"));
    let speed = commands_for("performance_without_metric", ground).into_iter().next();
    let speed = speed.filter(|_| ground.smells("performance_without_metric"));
    let check = speed.or_else(|| commands_for("verify", ground).into_iter().next()).unwrap_or_else(|| blank("proof"));
    phrase(language, "reformulation", 0, &[("place", &place), ("act", &act), ("check", &check)])
}

/// The most words of the request in its reformulation.
const MAX_ACT_WORDS: usize = 12;

/// Returns the beginning of the wish, without what is hung on in passing.
fn first_act(ground: &ScoreBasis<'_>) -> String {
    let wish = ground.reading.wish.as_str();
    let hung_on =
        ground.smells.iter().find(|smell| smell.id == "scope_creep" && !wish[..smell.start].trim().is_empty());
    let words = wish[..hung_on.map_or(wish.len(), |smell| smell.start)].split_whitespace().take(MAX_ACT_WORDS);
    let mut words: Vec<&str> = words.collect();
    while words.last().is_some_and(|last| PromptLanguage::ANY.begins("acts.joins", last) == Some(last.len())) {
        words.pop();
    }
    words.join(" ").trim_end_matches([',', ';', ':', '.', '!', '?', ' ']).to_owned()
}

/// The shortest plain word that says where.
const MIN_PLACE_WORD: usize = 4;

/// Returns the name of a definite form that is found, or the file that a word leads to.
fn best_place(ground: &ScoreBasis<'_>) -> Option<String> {
    let one = ground.places().one;
    let file = |name: &&NameInPrompt| ground.findings.names.get(&name.text)?.places.first().cloned();
    let explicit = one.iter().find(|name| !name.kind.is_plain()).map(|name| name.text.clone());
    explicit.or_else(|| one.iter().filter(|name| name.text.len() >= MIN_PLACE_WORD).find_map(file))
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

#[cfg(test)]
mod tests {
    use crate::prompt::{Findings, LookupResult, PromptText, evaluate};

    #[test]
    fn a_reformulation_ends_before_what_is_hung_on_and_names_a_file_and_a_test() {
        let commands = vec!["just lint".to_owned(), "just test".to_owned()];
        let stock = LookupResult { places: vec!["shop/stock.py".to_owned()], exact: true };
        let names = [("stock".to_owned(), stock)].into();
        let findings = Findings { names, commands, ..Findings::default() };
        let text = "add stock to the admin, and while you are at it tidy up the views";
        let found = evaluate(&PromptText::of(text), None, &findings).reformulation.unwrap_or_default();
        assert!(found.starts_with("In shop/stock.py: "), "{found}");
        assert!(!found.contains("while you are at it"), "{found}");
        assert!(found.contains("just test shows"), "{found}");
    }
}
