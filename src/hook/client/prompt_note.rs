//! Looks at a person's prompt before the work, and writes the note for the agent. A prompt is never refused or altered.

use super::hook_context::Desk;
use crate::config::{self, PromptNotes};
use crate::prompt::{PromptEvaluation, PromptText, evaluate, note};
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
    let evaluation = evaluation(desk, text)?;
    let (questions, rises) = kept(desk, &evaluation);
    let questions: Vec<_> = evaluation.questions.iter().filter(|question| questions.contains(&question.text)).collect();
    let said = if evaluation.deserves_note() { note(&evaluation, &questions, text) } else { None };
    said.or_else(|| rises.then(|| evaluation.acknowledgement(text)))
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
