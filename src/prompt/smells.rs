//! The seven smells: a phrase in the author's wish leaves something open, and that is in fact missing.

use serde::Serialize;

use super::clauses::{Clause, ClauseAct};
use super::concrete_values::concrete;
use super::prompt_text::PromptText;
use super::smell_phrase::{SmellPhrase, Wish};
use super::word_lists::{self, PromptLanguage};

/// A smell in a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Smell {
    /// The kind of smell.
    pub id: &'static str,
    /// The first byte of the phrase in the prompt.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
    /// The phrase.
    pub text: String,
    /// The question that turns it into something definite.
    pub question: String,
}

/// The ids, in the order of the questions they raise.
pub(super) const SMELLS: [&str; 7] = [
    "total_system", "bug_without_reproduction", "performance_without_metric", "vague_improvement", "implicit_context",
    "magic_words", "scope_creep",
];

/// The most phrases of one kind that are looked at.
const MAX_OF_KIND: usize = 50;

/// The most words of a prompt that is nothing but a complaint.
const MAX_COMPLAINT_WORDS: usize = 12;

/// Returns the smells of a prompt, in the order of the text.
pub(super) fn smells(
    reading: &PromptText<'_>,
    language: PromptLanguage,
    clauses: &[Clause],
    previous: Option<&str>,
) -> Vec<Smell> {
    let wish = Wish { reading, language, clauses, previous };
    let mut found: Vec<Smell> = Vec::new();
    for id in SMELLS {
        let spans = word_lists::spans(&format!("smells.{id}"), &reading.wish).into_iter().take(MAX_OF_KIND);
        let phrases = spans.map(|span| wish.phrase(id, span)).filter(|phrase| !phrase.is_harmless());
        found.extend(phrases.filter(SmellPhrase::is_open).map(|phrase| smell(&phrase)));
    }
    if found.is_empty() {
        found.extend(complaint(&wish).or_else(|| empty_predicate(&wish)));
    }
    found.sort_by_key(|smell| smell.start);
    without_repetition(reading.text, found, clauses)
}

/// Returns a smell whose question is not known yet.
fn smell(phrase: &SmellPhrase<'_>) -> Smell {
    let (id, start, end) = (phrase.id, phrase.start, phrase.end);
    Smell { id, start, end, text: phrase.wish.reading.text[start..end].to_owned(), question: String::new() }
}

/// Returns the complaint of a prompt that requests nothing definite: "the list does not scroll".
fn complaint(wish: &Wish<'_>) -> Option<Smell> {
    let (text, language) = (wish.text(), wish.language);
    if wish.clauses.iter().any(is_definite) || language.has("says.expected", text) {
        return None;
    }
    // Later sentences explain, and a long request has a wish that the lists do not know.
    let is_short = text.split_whitespace().count() <= MAX_COMPLAINT_WORDS;
    let first = wish.clauses.first().filter(|first| is_short && !first.is_constraint)?;
    let spans = language.spans("says.complaints", &text[..first.end]).into_iter();
    let id = "bug_without_reproduction";
    let mut phrases = spans.map(|span| SmellPhrase { clause: Some(first), ..wish.phrase(id, span) });
    let complaint = phrases.find(|phrase| {
        !wish.reading.explicit().any(|name| name.start < phrase.end && phrase.start < name.end)
            && !language.has("says.triggers", &text[first.start.min(phrase.start)..phrase.start])
            && !goes_on_despite(phrase)
            && phrase.is_open()
    });
    complaint.map(|phrase| smell(&phrase))
}

/// Returns `true` for "the job keeps going even if a day fails", which says what is wanted.
fn goes_on_despite(phrase: &SmellPhrase<'_>) -> bool {
    let language = phrase.wish.language;
    language.begins("says.goes_well", phrase.rest()).is_some()
        && language.begins("says.concessions", phrase.after().trim_start()).is_some()
}

/// Returns the end of a statement that says nothing definite about its subject: "`parse` should be robust".
fn empty_predicate(wish: &Wish<'_>) -> Option<Smell> {
    let spans = word_lists::spans("says.empty_predicates", wish.text());
    let mut phrases = spans.into_iter().map(|span| wish.phrase("vague_improvement", span));
    let empty = phrases.find(|phrase| {
        let is_end = phrase.after().trim_start().is_empty() || phrase.after().starts_with(['.', ',', ';', '!', '\n']);
        let before = &wish.reading.text[..phrase.start];
        let sentence = before.rfind(['.', '!', '?', '\n', ';']).map_or(0, |before| before + 1);
        is_end && !phrase.is_negated() && concrete(&wish.reading.text[sentence..phrase.end]) == 0
    });
    empty.map(|phrase| smell(&phrase))
}

/// Returns `true` for a clause that requests something other than a repair.
fn is_definite(clause: &Clause) -> bool {
    !matches!(clause.act, None | Some(ClauseAct::Vague | ClauseAct::Review))
}

/// Returns `false` for "make it more robust and faster".
fn is_one_wish(smell: &Smell) -> bool {
    !word_lists::spans("acts.joins", &smell.text).iter().any(|&(start, end)| start > 0 && end < smell.text.len())
}

/// Joins the phrases of one kind in one clause. A slow thing that should be better should be faster.
fn without_repetition(text: &str, found: Vec<Smell>, clauses: &[Clause]) -> Vec<Smell> {
    let mut kept: Vec<Smell> = Vec::new();
    let all = found.clone();
    let speed: Vec<_> = found.iter().filter(|smell| smell.id == "performance_without_metric").cloned().collect();
    for smell in found {
        let is_speed = smell.id == "vague_improvement"
            && speed.iter().any(|other| other.start < smell.end && smell.start < other.end && is_one_wish(other));
        let is_inside = !["total_system", "performance_without_metric"].contains(&smell.id)
            && all.iter().any(|other| {
                other.id != smell.id
                    && other.start <= smell.start
                    && smell.end <= other.end
                    && smell.end - smell.start < other.end - other.start
            });
        let of_clause = |at: usize| clauses.partition_point(|clause| clause.start <= at);
        let same =
            kept.iter_mut().find(|other| other.id == smell.id && of_clause(other.start) == of_clause(smell.start));
        match same {
            Some(other) => {
                other.end = other.end.max(smell.end);
                text[other.start..other.end].clone_into(&mut other.text);
            }
            None if !is_speed && !is_inside => kept.push(smell),
            None => {}
        }
    }
    kept
}
