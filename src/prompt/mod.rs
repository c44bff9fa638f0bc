//! Evaluates a request before the work: is it clear, and is it one task?
//!
//! The evaluation is pure: it takes the prompt, the turn before, and the results of the look-ups in the repository. It
//! runs no model and obeys no text. A [`PromptText`] lists the names to look up; [`crate::prompt_lookup`] does that.

mod class;
mod clauses;
mod concrete_values;
mod context_score;
mod continuation;
#[cfg(test)]
mod european_letters;
mod item_numbers;
mod lookup_results;
mod note;
mod places;
mod prompt_patterns;
mod prompt_text;
mod questions;
mod readiness;
mod score_basis;
mod scores;
mod smell_phrase;
mod smells;
mod task_order;
mod task_scope;
mod task_type;
mod word_lists;
mod wordings;

use serde::Serialize;

pub use class::ClassShare;
pub use lookup_results::{Findings, LookupResult};
pub use note::note;
pub use prompt_text::{MAX_READ, NameInPrompt, NameKind, PromptText};
pub use questions::PromptQuestion;
pub use scores::{PromptScore, PromptScores, ScoreEvidence};
pub use smells::Smell;
pub use task_order::{ChosenOrder, chosen_order};
pub use task_scope::TaskInPrompt;
pub use task_type::TaskType;
pub use wordings::phrase;

/// The consequence of a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum PromptBand {
    /// From 4.0, and continuations.
    Pass,
    /// From 3.0: passes with one remark.
    Note,
    /// From 2.0: two or three questions come first.
    Halt,
    /// Below 2.0: a full reformulation is proposed.
    Reformulate,
}

impl PromptBand {
    fn of(tenths: u32) -> Self {
        match tenths {
            40.. => Self::Pass,
            30..=39 => Self::Note,
            20..=29 => Self::Halt,
            _ => Self::Reformulate,
        }
    }

    /// Returns `true` if the work should wait for answers.
    pub fn is_halted(self) -> bool {
        matches!(self, Self::Halt | Self::Reformulate)
    }
}

/// False, or the reason why a prompt was not scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Skipped {
    /// It was scored.
    No(bool),
    /// It was not.
    Because(&'static str),
}

/// The output of `gate prompt --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PromptEvaluation {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The class with the largest share.
    pub class: &'static str,
    /// The type of work.
    pub task_type: TaskType,
    /// Every class with a share, largest first.
    pub classes: Vec<ClassShare>,
    /// The five scores; absent for continuations.
    pub scores: Option<PromptScores>,
    /// The weighted sum of the scores.
    pub composite: Option<f64>,
    /// The turn before ends in a menu, and the prompt is short.
    pub live_context_bonus: bool,
    /// The composite with the bonus.
    pub score: Option<f64>,
    /// The consequence.
    pub band: PromptBand,
    /// The reason why it was not scored, or false.
    pub skipped: Skipped,
    /// The smells, in order.
    pub smells: Vec<Smell>,
    /// At most three questions.
    pub questions: Vec<PromptQuestion>,
    /// The prompt again, with places to fill in; below 2.0 and for halted prompts.
    pub reformulation: Option<String>,
    /// The tasks, when there are two or more.
    pub tasks: Vec<TaskInPrompt>,
    /// `true` if the request says that it wants the tasks all together.
    pub together: bool,
}

/// The most tasks that are listed.
const MAX_TASKS: usize = 100;
const MAX_WITH_SMELLS: u32 = 39;
const MAX_TENTHS: u32 = 50;
const BONUS: u32 = 10;

/// Evaluates a prompt.
pub fn evaluate(reading: &PromptText<'_>, previous: Option<&str>, findings: &Findings) -> PromptEvaluation {
    let language = word_lists::PromptLanguage::of(&reading.wish);
    let mut clauses = clauses::clauses(&reading.wish, language);
    clauses::mark_commands(&reading.wish, &reading.names, &mut clauses);
    if continuation::is_continuation(reading.text, previous) {
        return continued(reading, previous);
    }
    let mut smells = smells::smells(reading, language, &clauses, previous);
    let is_assumed =
        smells.is_empty() && clauses::assume_act(reading, language, findings, previous.is_some(), &mut clauses);
    let mut spans = task_scope::tasks(reading, language, findings, &clauses);
    spans.truncate(MAX_TASKS);
    let menu = previous.map(continuation::menu).unwrap_or_default();
    let has_antecedent = previous.is_some() && menu.is_empty();
    let ground = score_basis::ScoreBasis {
        reading,
        language,
        clauses: &clauses,
        smells: &smells,
        findings,
        tasks: spans.len(),
        task_spans: &spans,
        is_assumed,
        has_antecedent,
        has_menu: !menu.is_empty(),
    };
    let scores = ground.scores();
    let questions = questions::questions(&ground, &scores);
    let shares = class::classes(&ground);
    let task_type = TaskType::of(&ground, &shares);
    let composite = scores.tenths();
    let live_context_bonus = menu.len() >= 2 && continuation::words_in(reading.text) <= continuation::MAX_LIVE_WORDS;
    let mut score = (composite + if live_context_bonus { BONUS } else { 0 }).min(MAX_TENTHS);
    if smells.len() >= 2 {
        score = score.min(MAX_WITH_SMELLS.max(composite));
    }
    let band = PromptBand::of(score);
    let tasks: Vec<TaskInPrompt> = spans
        .iter()
        .map(|&(start, end)| TaskInPrompt {
            text: reading.text[start..end].trim().trim_end_matches([',', ';', '.']).to_owned(),
            touches: questions::touches(&ground, start, end),
        })
        .collect();
    let together = clauses.iter().any(|clause| task_order::says_together(&reading.wish[clause.start..clause.end]));
    let reformulation = band.is_halted().then(|| questions::reformulation(&ground, &scores));
    let asked: Vec<String> = smells.iter().map(|smell| questions::of_smell(smell, &ground)).collect();
    for (smell, question) in smells.iter_mut().zip(asked) {
        smell.question = question;
    }
    let tenths = |value: u32| Some(f64::from(value) / 10.0);
    PromptEvaluation {
        schema_version: 1,
        class: shares.first().map_or("conversational", |first| first.class),
        task_type,
        classes: shares,
        scores: Some(scores),
        composite: tenths(composite),
        live_context_bonus,
        score: tenths(score),
        band,
        skipped: Skipped::No(false),
        smells,
        questions: if band == PromptBand::Pass {
            Vec::new()
        } else {
            questions.into_iter().take(if band == PromptBand::Note { 1 } else { 3 }).collect()
        },
        reformulation,
        together: together && !tasks.is_empty(),
        tasks,
    }
}

fn continued(reading: &PromptText<'_>, previous: Option<&str>) -> PromptEvaluation {
    let selected = continuation::selected(reading.text, previous).filter(|items| items.len() > 1).unwrap_or_default();
    let tasks: Vec<TaskInPrompt> =
        selected.into_iter().map(|text| TaskInPrompt { text, touches: Vec::new() }).collect();
    PromptEvaluation {
        schema_version: 1,
        class: "conversational",
        task_type: TaskType::Other,
        classes: vec![ClassShare { class: "conversational", share: 1.0 }],
        scores: None,
        composite: None,
        live_context_bonus: false,
        score: None,
        band: PromptBand::Pass,
        skipped: Skipped::Because("continuation"),
        smells: Vec::new(),
        questions: Vec::new(),
        reformulation: None,
        together: !tasks.is_empty() && task_order::says_together(reading.text),
        tasks,
    }
}
