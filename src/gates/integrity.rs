//! The gate `integrity`: no safeguard was weakened: tests, settings, policy, hooks, journal.
//!
//! Findings in texts only advise; recorded facts block.

mod failed_tests;
mod record_changes;
mod removal_request;
mod tests_weakened;

use std::collections::BTreeSet;

use minijinja::{Value, context};
use serde::Deserialize;

use super::GateKind;
use super::finding::{Answer, Finding};
use super::finding_text::{self, list};
use crate::event::agent_work::Speaker;
use crate::fact::{Deed, Facts, Step, Story};
use crate::policy::{Gate, ParamError, Policy, read_params};
use crate::repo_path::RepoPath;

/// The kind `integrity`.
pub const KIND: GateKind = GateKind { name: "integrity", words: "integrity", check, evaluate };

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Params {
    removal_request: removal_request::RequestWords,
    /// More words that ask for tests or code to go: the name of the list in policies that set it themselves.
    #[serde(default)]
    removal_words: Vec<String>,
}

impl Params {
    fn read(params: &toml::Table) -> Result<Self, ParamError> {
        let mut read: Self = read_params(params)?;
        read.removal_request.add_removal(std::mem::take(&mut read.removal_words));
        Ok(read)
    }
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    Params::read(params).map(drop)
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Ok(params) = Params::read(&gate.params) else { return Vec::new() };
    let steps = untold(&gate.id, &facts.story);
    let before: Vec<&[Step]> = facts.before.iter().map(|story| untold(&gate.id, story)).collect();
    let mut noticed = tests_weakened::notice(&params, facts, steps, &before);
    // What a text shows is not said twice.
    let told: BTreeSet<RepoPath> =
        noticed.iter().filter(|one| one.answer == Answer::Fail).flat_map(|one| one.paths.clone()).collect();
    let hidden = failed_tests::notice(facts, asked_for_removal(&params, steps, &before));
    noticed.extend(
        hidden.into_iter().filter(|one| one.paths.is_empty() || !one.paths.iter().all(|path| told.contains(path))),
    );
    noticed.extend(record_changes::notice(facts, steps));
    if noticed.is_empty() {
        let asked = !facts.story.is_empty() || !facts.weakening.is_empty();
        let words =
            finding_text::FindingText { message: "no test or check was weakened".to_owned(), remedy: None, fix: None };
        let subject = default_subject(facts);
        return asked.then(|| finding(&subject, Answer::Pass, "passed", words, &[], Vec::new())).into_iter().collect();
    }
    noticed
        .into_iter()
        .map(|one| {
            let words =
                finding_text::say(gate, one.reason, &context! { paths => list(&one.paths), ..one.values.clone() });
            let line = one.line;
            Finding { line, ..finding(&one.subject, one.answer, one.reason, words, &one.paths, one.steps) }
        })
        .collect()
}

/// Returns `true` if a person asked for something to go, in this session or in an earlier one on the same work.
fn asked_for_removal(params: &Params, steps: &[Step], before: &[&[Step]]) -> bool {
    before.iter().copied().chain([steps]).any(|steps| tests_weakened::asks_for_removal(params, steps))
}

/// Returns the name of the subject for a finding that is about no single one: the subject with the current content, so
/// that a person can waive the finding for it.
fn default_subject(facts: &Facts) -> String {
    facts.subjects.last().map_or("session", |subject| subject.name.as_str()).to_owned()
}

fn finding(
    subject: &str,
    answer: Answer,
    reason: &str,
    words: finding_text::FindingText,
    paths: &[RepoPath],
    evidence: Vec<String>,
) -> Finding {
    Finding { paths: paths.to_vec(), evidence, ..words.finding(subject, answer, reason) }
}

/// A weakened safeguard.
#[derive(Debug)]
struct WeakenedProof {
    subject: String,
    answer: Answer,
    reason: &'static str,
    values: Value,
    paths: Vec<RepoPath>,
    /// The line in the first of them, if it is known.
    line: Option<u32>,
    /// The ids of the steps that it is based on.
    steps: Vec<String>,
}

/// Returns the steps that were not reported to a person: those after the first prompt of a person that followed a
/// verdict with this gate.
fn untold<'a>(gate: &str, story: &'a Story) -> &'a [Step] {
    let (mut from, mut told) = (0, false);
    for (at, step) in story.steps.iter().enumerate() {
        match &step.deed {
            Deed::Judged { failing, .. } => told |= failing.iter().any(|failing| failing.gate == gate),
            Deed::Prompted { from: Speaker::Person, .. } if told => (from, told) = (at, false),
            _ => {}
        }
    }
    &story.steps[from..]
}

#[cfg(test)]
mod tests;
