//! The evaluation of a request, for people.

use std::fmt::Write as _;

use crate::event::accepted_plan::AcceptedPlan;
use crate::foreign_text::one_line;
use crate::prompt::{PromptBand, PromptEvaluation, PromptScores};
use crate::prompt_history::{PromptHistory, PromptTrend};

/// Returns one line for a clear request; questions and a reformulation for others.
pub fn lines(evaluation: &PromptEvaluation) -> String {
    let mut out = String::new();
    match evaluation.score {
        None => out.push_str("this continues the previous turn, so it gets no score\n"),
        Some(score) => {
            let said = match evaluation.band {
                PromptBand::Pass => "clear",
                PromptBand::Note => "clear enough; one thing would help",
                PromptBand::Halt | PromptBand::Reformulate => "to do this well, a few answers would help",
            };
            let _ = writeln!(out, "{score:.1} of 5: {said} (kind of work: {})", evaluation.class);
        }
    }
    let skipped: Vec<String> = evaluation.scores.iter().flat_map(PromptScores::not_looked_up).map(one_line).collect();
    if !skipped.is_empty() {
        let _ = writeln!(out, "not looked up, because the limit was reached: {}", skipped.join(", "));
    }
    for question in &evaluation.questions {
        let _ = writeln!(out, "  - {}", one_line(&question.text));
        for (option, letter) in question.options.iter().zip('a'..) {
            let _ = writeln!(out, "      {letter}) {}", one_line(option));
        }
    }
    if let Some(reformulation) = &evaluation.reformulation {
        let _ = writeln!(out, "for example: {}", one_line(reformulation));
    }
    if !evaluation.tasks.is_empty() {
        out.push_str(&table(evaluation));
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
pub fn table(evaluation: &PromptEvaluation) -> String {
    let tasks = &evaluation.tasks;
    let mut out = String::new();
    for (task, number) in tasks.iter().zip(1..) {
        let text = one_line(&task.text);
        let touches =
            if task.touches.is_empty() { String::new() } else { format!("  ({})", one_line(&task.touches.join(", "))) };
        let _ = writeln!(out, "{number:>3}  {text}{touches}");
    }
    let count = tasks.len();
    let order =
        if evaluation.together { ", all together as the request says." } else { ". In which order, or all together?" };
    let _ = writeln!(out, "These are {count} tasks{order}");
    out
}

/// Returns the tasks of a plan in their order.
pub fn plan(plan: &AcceptedPlan) -> String {
    let mut out = String::new();
    for task in &plan.tasks {
        let _ = writeln!(out, "{:>3}  {}", task.number, one_line(&task.text));
    }
    let how = if plan.together { "all together" } else { "in this order" };
    let _ = writeln!(out, "This is the plan, {how}. A commit names a task with a line such as `Plan-Item: 1`.");
    out
}
