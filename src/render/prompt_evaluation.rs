//! The evaluation of a request, for people.

use std::fmt::Write as _;

use crate::prompt::{PromptBand, PromptEvaluation, TaskInPrompt};
use crate::prompt_history::{PromptHistory, PromptTrend};

/// Returns one line for a clear request; questions and a reformulation for others.
pub fn lines(evaluation: &PromptEvaluation) -> String {
    let mut out = String::new();
    match evaluation.score {
        None => out.push_str("a continuation of the turn before: not scored\n"),
        Some(score) => {
            let said = match evaluation.band {
                PromptBand::Pass => "clear",
                PromptBand::Note => "clear enough; one thing would help",
                PromptBand::Halt | PromptBand::Reformulate => "to do this well, a few answers would help",
            };
            let _ = writeln!(out, "{score:.1} of 5 ({}): {said}", evaluation.class);
        }
    }
    for question in &evaluation.questions {
        let _ = writeln!(out, "  - {}", question.text);
        for (option, letter) in question.options.iter().zip('a'..) {
            let _ = writeln!(out, "      {letter}) {option}");
        }
    }
    if let Some(reformulation) = &evaluation.reformulation {
        let _ = writeln!(out, "for example: {reformulation}");
    }
    if !evaluation.tasks.is_empty() {
        out.push_str(&table(&evaluation.tasks));
    }
    out
}

/// Returns the scores, the smells and the open questions of a person.
pub fn history(history: &PromptHistory) -> String {
    if history.scores.is_empty() {
        return "no request was scored yet\n".to_owned();
    }
    let scores: Vec<String> = history.scores.iter().map(|scored| format!("{:.1}", scored.score)).collect();
    let trend = match history.trend() {
        PromptTrend::Rising => "rising",
        PromptTrend::Stable => "stable",
        PromptTrend::Declining => "declining",
    };
    let mut out = format!("last scores, oldest first: {} ({trend})\n", scores.join(" "));
    let mut smells: Vec<(&String, &u64)> = history.smells.iter().collect();
    smells.sort_by_key(|(id, count)| (std::cmp::Reverse(**count), id.as_str()));
    for (id, count) in smells {
        let _ = writeln!(out, "  {count:>3} x {}", id.replace('_', " "));
    }
    let open = history.open();
    if !open.is_empty() {
        let _ = writeln!(out, "open questions: {}", open.join(", ").replace('_', " "));
    }
    out
}

/// Returns the tasks with their numbers, and the question for the order.
pub fn table(tasks: &[TaskInPrompt]) -> String {
    let mut out = String::new();
    for (task, number) in tasks.iter().zip(1..) {
        let text = task.text.split_whitespace().collect::<Vec<_>>().join(" ");
        let touches = if task.touches.is_empty() { String::new() } else { format!("  ({})", task.touches.join(", ")) };
        let _ = writeln!(out, "{number:>3}  {text}{touches}");
    }
    let _ = writeln!(out, "These are {} tasks. In which order, or all together?", tasks.len());
    out
}
