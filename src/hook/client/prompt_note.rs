//! Looks at a person's prompt before the work, and writes the note for the agent. A prompt is never refused or altered.

use std::fmt::Write as _;

use super::hook_context::{Desk, clean};
use crate::config::{self, PromptNotes};
use crate::event::accepted_plan::{AcceptedPlan, PlannedTask, numbered};
use crate::event::{EventKind, TaskContext};
use crate::foreign_text::one_line;
use crate::prompt::{PromptEvaluation, PromptText, chosen_order, evaluate, note, phrase};
use crate::prompt_history::{self, PromptHistory};
use crate::prompt_lookup::{LOOKUP_TIMEOUT, look_up};

/// The length of the end of the turn before that is remembered, in bytes.
const MAX_PREVIOUS: usize = 2048;

/// Remembers the end of the agent's message, which the next prompt may answer.
pub(super) fn remember_turn(desk: &mut Desk, words: &str) {
    let start = words.ceil_char_boundary(words.len().saturating_sub(MAX_PREVIOUS));
    words[start..].clone_into(&mut desk.memory.last_words);
    desk.remember();
}

/// Returns the note for the agent about a prompt, or `None` if the prompt is clear or the policy wants none.
pub(super) fn about(desk: &mut Desk, text: &str) -> Option<String> {
    // A command of the client, such as `/compact`.
    let is_command = text.trim_start().starts_with(['/', '!', '#']);
    if is_command || config::prompt_notes(&desk.root) == PromptNotes::Off {
        return None;
    }
    if let Some(said) = accepted_order(desk, text) {
        return Some(said);
    }
    let evaluation = evaluation(desk, text)?;
    let (questions, rises) = kept(desk, &evaluation);
    let plan = together(desk, &evaluation);
    let questions: Vec<_> = evaluation.questions.iter().filter(|question| questions.contains(&question.text)).collect();
    let said = if evaluation.deserves_note() { note(&evaluation, &questions, text) } else { None };
    let asked =
        if said.is_some() { questions.iter().map(|question| clean(&question.text)).collect() } else { Vec::new() };
    record_task(desk, &evaluation, asked, text);
    let said = said.or_else(|| rises.then(|| evaluation.acknowledgement(text)));
    let said: Vec<String> = [said, plan].into_iter().flatten().collect();
    (!said.is_empty()).then(|| said.join("\n"))
}

/// Makes the answer to the question for the order the plan of the session, and returns the note about it.
fn accepted_order(desk: &mut Desk, text: &str) -> Option<String> {
    if desk.memory.unordered.is_empty() {
        return None;
    }
    let is_asked = desk.memory.last_words.trim_end().ends_with('?');
    let order = chosen_order(text, desk.memory.unordered.len(), is_asked)?;
    let tasks = std::mem::take(&mut desk.memory.unordered);
    desk.remember();
    Some(record_plan(desk, &tasks, &order.numbers, order.together))
}

/// Keeps the tasks of a request until the person says their order. Returns the note if the request says that it wants
/// them all together: then they are the plan.
fn together(desk: &mut Desk, evaluation: &PromptEvaluation) -> Option<String> {
    let tasks = numbered(&evaluation.tasks, clean);
    // "Go on" answers something else.
    if evaluation.score.is_none() && tasks.is_empty() {
        return None;
    }
    if evaluation.together {
        let numbers: Vec<usize> = tasks.iter().map(|task| task.number).collect();
        desk.memory.unordered.clear();
        desk.remember();
        return Some(record_plan(desk, &tasks, &numbers, true));
    }
    let unordered = if evaluation.asks_for_order() { tasks } else { Vec::new() };
    if desk.memory.unordered != unordered {
        desk.memory.unordered = unordered;
        desk.remember();
    }
    None
}

/// Records what the request says of the task. A request after questions is the answer to them.
fn record_task(desk: &mut Desk, evaluation: &PromptEvaluation, asked: Vec<String>, text: &str) {
    let before = desk.memory.asked_about.take();
    let was_asked = before.is_some();
    let Some(task) = TaskContext::after(before.as_ref(), evaluation, asked, &clean(text)) else { return };
    desk.memory.asked_about = Some(task.clone()).filter(|task| !task.open.is_empty());
    if was_asked || desk.memory.asked_about.is_some() {
        desk.remember();
    }
    desk.append(vec![EventKind::Task(task)]);
}

fn record_plan(desk: &mut Desk, tasks: &[PlannedTask], numbers: &[usize], together: bool) -> String {
    let head = desk.place.repo.head().ok().and_then(|head| head.commit);
    let plan = AcceptedPlan::ordered(tasks, numbers, together, head);
    let said = plan_note(&plan);
    desk.append(vec![EventKind::Plan(plan)]);
    said
}

/// Returns the note about a plan for the agent that carries it out.
fn plan_note(plan: &AcceptedPlan) -> String {
    let key = if plan.together { "plan_together" } else { "plan_order" };
    let mut out = phrase("en", key, 0, &[]);
    for task in &plan.tasks {
        let _ = write!(out, "\n{}. {}", task.number, one_line(&task.text));
    }
    out
}

fn evaluation(desk: &mut Desk, text: &str) -> Option<PromptEvaluation> {
    let paths = match desk.place.repo.listed_paths() {
        Ok(paths) => paths,
        Err(error) => {
            desk.said.push(format!("gate: the prompt was not looked at: {error}"));
            return None;
        }
    };
    let reading = PromptText::of(text);
    let findings = look_up(&desk.root, &paths, &reading.names, LOOKUP_TIMEOUT);
    let previous = Some(desk.memory.last_words.as_str()).filter(|words| !words.is_empty());
    Some(evaluate(&reading, previous, &findings))
}

/// Adds the evaluation to the person's state. Returns the questions that this session has not heard yet, and `true` if an
/// improvement is to be acknowledged.
fn kept(desk: &mut Desk, evaluation: &PromptEvaluation) -> (Vec<String>, bool) {
    let session = desk.place.session.id.clone();
    let asks: &[_] = if evaluation.deserves_note() { &evaluation.questions } else { &[] };
    let change = |history: &mut PromptHistory| {
        let rises = history.add(evaluation);
        (history.ask(&session, asks).iter().map(|question| question.text.clone()).collect(), rises)
    };
    let all = || (asks.iter().map(|question| question.text.clone()).collect(), false);
    let Some(folder) = prompt_history::folder() else { return all() };
    match prompt_history::update(&folder, change) {
        Ok((kept, set_aside)) => {
            if let Some(path) = set_aside {
                desk.said.push(format!("gate: your history of requests was damaged and is now {}", path.display()));
            }
            kept
        }
        Err(error) => {
            desk.said.push(format!("gate: your history of requests is not kept: {error}"));
            all()
        }
    }
}
