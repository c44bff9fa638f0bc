//! The note that the agent gets with a prompt that is open in several ways.

use std::fmt::Write as _;

use super::wordings::{phrase, seed};
use super::{PromptEvaluation, PromptQuestion};

/// The number of smells from which the agent gets a note.
const MIN_SMELLS: usize = 2;
/// The number of tasks from which the agent gets a note.
const MIN_TASKS: usize = 3;
/// The longest part of a prompt that a note repeats, in characters.
const MAX_TASK_CHARS: usize = 120;

impl PromptEvaluation {
    /// Returns `true` if the agent should hear about it before it begins.
    pub fn deserves_note(&self) -> bool {
        self.band.is_halted() || self.smells.len() >= MIN_SMELLS || self.asks_for_order()
    }

    /// Returns `true` if the person should be asked for the order of the tasks.
    pub fn asks_for_order(&self) -> bool {
        self.tasks.len() >= MIN_TASKS && !self.together
    }

    /// Returns the words that acknowledge an improvement.
    pub fn acknowledgement(&self, prompt: &str) -> String {
        let score = self.score.map_or_else(String::new, |score| format!("{score:.1}"));
        phrase("en", "rising_note", seed(prompt), &[("score", &score)])
    }
}

/// Returns the note for the agent with these questions, or `None` if there is nothing to say.
pub fn note(evaluation: &PromptEvaluation, questions: &[&PromptQuestion], prompt: &str) -> Option<String> {
    let seed = seed(prompt);
    let say = |key: &str, fields: &[(&str, &str)]| phrase("en", key, seed, fields);
    let mut out = String::new();
    if let Some(score) = evaluation.score.filter(|_| !questions.is_empty()) {
        let _ = writeln!(out, "{}", say("note_open", &[("score", &format!("{score:.1}"))]));
        for (question, number) in questions.iter().zip(1..) {
            let options = if question.options.is_empty() {
                String::new()
            } else {
                format!(" ({})", question.options.join(" | "))
            };
            let _ = writeln!(out, "{number}. {}{options}", question.text);
        }
    }
    if evaluation.asks_for_order() {
        let count = evaluation.tasks.len().to_string();
        let _ = writeln!(out, "{}", say("note_tasks", &[("count", &count)]));
        for (task, number) in evaluation.tasks.iter().zip(1..) {
            let _ = writeln!(out, "{number}. {}", plain(&task.text));
        }
        let _ = writeln!(out, "{}", say("note_order", &[]));
    }
    if out.is_empty() {
        return None;
    }
    out.push_str(&say("note_close", &[]));
    Some(out)
}

/// Returns a part of a prompt on one line, without control characters.
fn plain(text: &str) -> String {
    let words: Vec<&str> = text.split(|c: char| c.is_whitespace() || c.is_control()).collect();
    words
        .into_iter()
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
        .chars()
        .take(MAX_TASK_CHARS)
        .collect()
}
