//! The gate `loops`: the work makes progress, without the same failure again and again, changes back and forth, or plan
//! after plan.
//!
//! Only the record of the session is judged, and progress ends a loop: counts alone would report polling and red–green
//! work.

mod planning;
mod repetition;

use minijinja::{Value, context};
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::{GateKind, finding_text};
use crate::event::agent_work::{Speaker, StopKind};
use crate::fact::{CommandRun, Deed, Facts, SimpleRun, Step, Story};
use crate::foreign_text::beginning;
use crate::policy::{Gate, ParamError, Policy, read_params};

/// The kind `loops`.
pub const KIND: GateKind = GateKind { name: "loops", words: "loops", check, evaluate };

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    repeats: usize,
    repeats_noted: usize,
    share_noted: f64,
    returns: usize,
    plans: usize,
    uses_noted: usize,
    writes_noted: f64,
    change_words: Vec<String>,
    other_words: Vec<String>,
    waits: Vec<String>,
    filters: Vec<String>,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    let params: Params = read_params(params)?;
    let small = [
        ("repeats", params.repeats),
        ("repeats_noted", params.repeats_noted),
        ("returns", params.returns),
        ("plans", params.plans),
    ];
    match small.into_iter().find(|(_, limit)| *limit < 2) {
        Some((key, limit)) => {
            let what = format!("{limit} is not a repetition: use at least 2");
            Err(ParamError { key: Some(key.to_owned()), what })
        }
        None => Ok(()),
    }
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = read_params::<Params>(&gate.params) else { return Vec::new() };
    if facts.story.is_empty() {
        return Vec::new();
    }
    // A person can waive it for the content that is there.
    let subject = facts.subjects.last().map_or("session", |subject| subject.name.as_str());
    let noticed = notice(&params, &facts.story);
    if noticed.is_empty() {
        let words =
            finding_text::FindingText { message: "the work makes progress".to_owned(), remedy: None, fix: None };
        return vec![finding(subject, Answer::Pass, "passed", words, Vec::new())];
    }
    let said = |one: DetectedLoop| {
        let words = finding_text::say(gate, one.reason, &one.values);
        finding(subject, one.answer, one.reason, words, one.steps)
    };
    noticed.into_iter().map(said).collect()
}

fn finding(
    subject: &str,
    answer: Answer,
    reason: &str,
    words: finding_text::FindingText,
    evidence: Vec<String>,
) -> Finding {
    Finding { evidence, ..words.finding(subject, answer, reason) }
}

/// A loop, or what may become one.
#[derive(Debug)]
struct DetectedLoop {
    answer: Answer,
    reason: &'static str,
    values: Value,
    /// The ids of the steps that it is based on.
    steps: Vec<String>,
}

/// Returns the worst finding for each agent of a session, the main one first.
fn notice(params: &Params, story: &Story) -> Vec<DetectedLoop> {
    let turn = story.turn();
    if waits_for_a_person(turn) {
        return Vec::new();
    }
    let mut actors: Vec<Option<&str>> = vec![None];
    for step in turn {
        if !actors.contains(&step.actor.as_deref()) {
            actors.push(step.actor.as_deref());
        }
    }
    let mut found = Vec::new();
    for actor in actors {
        let steps: Vec<&Step> = turn.iter().filter(|step| step.actor.as_deref() == actor).collect();
        let repetition = repetition::notice(params, &steps);
        let planning = || planning::in_a_row(params, &steps);
        // What a sub-agent explores, its caller may write.
        let exploring = || actor.is_none().then(|| planning::explored(params, turn)).flatten();
        found.extend(repetition.or_else(planning).or_else(exploring));
    }
    found
}

/// Returns `true` if the agent has asked a question and does nothing, or a person has interrupted it.
fn waits_for_a_person(turn: &[Step]) -> bool {
    for step in turn.iter().rev() {
        match &step.deed {
            Deed::Stopped { how: StopKind::Aborted, .. } | Deed::Asked(_) => return true,
            Deed::Stopped { .. } | Deed::Said(_) | Deed::Session(_) | Deed::Judged { .. } => {}
            Deed::Prompted { from, .. } if *from != Speaker::Person => {}
            _ => return false,
        }
    }
    false
}

/// Returns `true` if a command begins with these words, without options.
fn begins(simple: &SimpleRun, words: &str) -> bool {
    let mut wanted = words.split(' ');
    if wanted.next() != Some(simple.program()) {
        return false;
    }
    let mut there = simple.words.iter().skip(1).filter(|word| !word.starts_with('-'));
    wanted.all(|word| there.any(|found| found == word))
}

/// Returns `true` if a line waits, or polls something that changes by itself.
fn is_waiting(params: &Params, ran: &CommandRun) -> bool {
    ran.background
        || ran.kinds.iter().any(|kind| kind == "ci_query")
        || ran.commands.iter().any(|simple| params.waits.iter().any(|words| begins(simple, words)))
}

/// Returns `true` if a line only reads.
fn is_looking(ran: &CommandRun) -> bool {
    !ran.edits && ran.kinds.iter().all(|kind| matches!(kind.as_str(), "read" | "ci_query" | "vcs"))
}

/// Returns a line for a sentence.
fn shown(line: &str) -> String {
    let line = beginning(line.lines().next().unwrap_or_default(), 80);
    line.replace('`', "'")
}

/// Creates the finding for a loop of commands.
fn told(answer: Answer, reason: &'static str, ran: &CommandRun, count: usize, steps: Vec<String>) -> DetectedLoop {
    let values = context! { command => shown(&ran.line), count, says => shown(&ran.says) };
    DetectedLoop { answer, reason, values, steps }
}

#[cfg(test)]
mod tests;
