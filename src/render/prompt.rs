//! The evaluation of a request, for people.

use std::fmt::Write as _;

use crate::prompt::{PromptBand, PromptEvaluation, TaskInPrompt};

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
