//! The questions and claims in the final message of a turn. This is a heuristic, which proves nothing and blocks
//! nothing.
//!
//! It decides only if an agent that stops without a claim may wait for its person. The patterns are data:
//! `gates/human-actions.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::embedded;
use crate::fact::message_sentences::{clauses, sentences};
use crate::lazy_patterns::PhrasePatterns;

/// The questions and claims in the final message.
#[expect(clippy::struct_excessive_bools, reason = "each was found or not")]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LastWords {
    /// `true` if the message ends in a question that is not an offer to do the work.
    pub asks: bool,
    /// `true` if it requests something that only a person can do.
    pub waits: bool,
    /// `true` if it claims that the work or its proof is done, or requests something that makes sense only then.
    pub claims: bool,
    /// `true` if it says that the agent waits for something that is still running.
    pub announces: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimPatterns {
    person: PhrasePatterns,
    agent: PhrasePatterns,
    offers: PhrasePatterns,
    choices: PhrasePatterns,
    claims: PhrasePatterns,
    closings: PhrasePatterns,
    reports: PhrasePatterns,
    afterwards: PhrasePatterns,
    confirmations: PhrasePatterns,
    blocked: PhrasePatterns,
    announcements: PhrasePatterns,
    aside: PhrasePatterns,
    proofs: PhrasePatterns,
    denials: PhrasePatterns,
    failures: PhrasePatterns,
    conditions: PhrasePatterns,
    openers: PhrasePatterns,
    answers: PhrasePatterns,
    affirmations: PhrasePatterns,
    rhetorical: PhrasePatterns,
    evidence: PhrasePatterns,
    completion: PhrasePatterns,
    nothing: PhrasePatterns,
    questions: PhrasePatterns,
    addressed: PhrasePatterns,
    failing_test: PhrasePatterns,
    nothing_else: PhrasePatterns,
    failed: PhrasePatterns,
    fixes: PhrasePatterns,
}

static PATTERNS: LazyLock<ClaimPatterns> = LazyLock::new(|| embedded::table("human-actions.toml"));

/// Reads the final message of a turn.
pub fn read(text: &str) -> LastWords {
    let patterns = &*PATTERNS;
    let sentences = sentences(text);
    let claims =
        claimed(&sentences, &patterns.claims) || affirmed(&sentences, &patterns.completion) || proven(&sentences);
    let announces = sentences.iter().any(|sentence| patterns.announcements.is_match(sentence));
    // Whoever waits says so at the end.
    let from = sentences.len().saturating_sub(3);
    let end = &sentences[from..];
    let asks = (from..sentences.len()).any(|at| is_question(&sentences[at]) && !is_answered(&sentences, at))
        && !end.iter().any(|sentence| offers(sentence));
    let waits = end.iter().any(|sentence| {
        patterns.person.is_match(sentence)
            && (PATTERNS.addressed.is_match(sentence) || is_question(sentence))
            && !patterns.agent.is_match(sentence)
    });
    let in_end = |patterns: &PhrasePatterns| end.iter().any(|sentence| patterns.is_match(sentence));
    let follows = (waits || in_end(&patterns.afterwards)) && !in_end(&patterns.blocked);
    let implies = in_end(&patterns.closings) || follows && claimed(&sentences, &patterns.reports);
    LastWords { asks, waits, claims: claims || implies, announces }
}

/// Returns `true` if the final message requests that a person confirm, try or take over the work. After edits this
/// claims the work as clearly as a claim does. A question that must be answered before the work goes on does not.
pub fn asks_to_confirm(text: &str) -> bool {
    let patterns = &*PATTERNS;
    let sentences = sentences(text);
    let end = &sentences[sentences.len().saturating_sub(3)..];
    let in_end = |patterns: &PhrasePatterns| end.iter().any(|sentence| patterns.is_match(sentence));
    (in_end(&patterns.confirmations) || in_end(&patterns.closings)) && !in_end(&patterns.blocked)
}

/// Returns `true` if the end of the final message says that the work cannot go on without an answer.
pub fn cannot_go_on(text: &str) -> bool {
    let sentences = sentences(text);
    sentences[sentences.len().saturating_sub(3)..].iter().any(|sentence| PATTERNS.blocked.is_match(sentence))
}

/// Returns `true` if the final message of a turn claims that the work is proven.
pub fn claims_proof(text: &str) -> bool {
    proven(&sentences(text))
}

fn proven(sentences: &[String]) -> bool {
    let succeeded: Vec<String> =
        sentences.iter().filter(|sentence| !PATTERNS.failures.is_match(sentence)).cloned().collect();
    claimed(&succeeded, &PATTERNS.proofs)
        || succeeded.iter().any(|sentence| claims_proof_in_part(sentence))
        || affirmed(sentences, &PATTERNS.evidence)
}

/// Returns `true` if one clause of a statement claims proof, whatever the others deny.
fn claims_proof_in_part(sentence: &str) -> bool {
    let claims = |clause: &String| PATTERNS.proofs.is_match(clause) && !PATTERNS.denials.is_match(clause);
    !is_question(sentence) && !PATTERNS.conditions.is_match(sentence) && clauses(sentence).iter().any(claims)
}

/// Returns `true` if the author asks about one of these subjects and says yes to it.
fn affirmed(sentences: &[String], subjects: &PhrasePatterns) -> bool {
    sentences.windows(2).any(|pair| {
        is_question(&pair[0])
            && subjects.is_match(&pair[0])
            && (PATTERNS.affirmations.is_match(&pair[1])
                || PATTERNS.rhetorical.is_match(&pair[0])
                    && is_statement(&pair[1])
                    && !PATTERNS.answers.is_match(&pair[1]))
    })
}

/// Returns `true` if the author of a question answers it in the next sentence.
fn is_answered(sentences: &[String], at: usize) -> bool {
    sentences.get(at + 1).is_some_and(|next| {
        !is_question(next)
            && (PATTERNS.answers.is_match(next) || PATTERNS.rhetorical.is_match(&sentences[at]) && is_statement(next))
    })
}

/// Returns `true` if a sentence states something and denies nothing.
fn is_statement(sentence: &str) -> bool {
    !is_question(sentence) && !PATTERNS.denials.is_match(sentence)
}

/// Returns `true` if the last message of a turn say that some work was put aside or is not finished.
pub fn puts_aside(text: &str) -> bool {
    sentences(text).iter().any(|sentence| PATTERNS.aside.is_match(sentence))
}

fn claimed(sentences: &[String], patterns: &PhrasePatterns) -> bool {
    let claims = |clause: &String| patterns.is_match(clause.trim()) && !PATTERNS.denials.is_match(clause);
    sentences.iter().any(|sentence| statements(sentence).iter().any(claims))
}

/// Returns the statements of a sentence. What is denied in one half does not deny the other, and a question may follow
/// a statement in the same sentence.
fn statements(sentence: &str) -> Vec<String> {
    if !is_question(sentence) {
        return sentence.split(';').map(str::to_owned).collect();
    }
    let mut before = clauses(sentence);
    before.pop();
    let asks = PATTERNS.openers.is_match(sentence) || PATTERNS.conditions.is_match(sentence);
    if asks { Vec::new() } else { before }
}

/// Returns `true` if the final message of a turn offers work instead of doing it.
pub fn offer(text: &str) -> bool {
    let sentences = sentences(text);
    let end = &sentences[sentences.len().saturating_sub(3)..];
    end.iter().any(|sentence| offers(sentence))
}

fn offers(sentence: &str) -> bool {
    PATTERNS.offers.is_match(sentence) && !PATTERNS.choices.is_match(sentence)
}

/// Returns `true` if a request is for a test that fails, and for no more than that.
pub fn asks_only_for_a_failing_test(request: &str) -> bool {
    PATTERNS.failing_test.is_match(request) && PATTERNS.nothing_else.is_match(request)
}

/// Returns `true` if the final message of a turn says that a test fails, and does not claim that anything is fixed.
pub fn reports_only_a_failing_test(text: &str) -> bool {
    let sentences = sentences(text);
    let fails = sentences.iter().any(|sentence| PATTERNS.failed.is_match(sentence));
    fails && !claimed(&sentences, &PATTERNS.fixes) && !proven(&sentences)
}

/// Returns `true` if only a person can do the requested action, and no part of it is the agent's.
pub fn only_a_person(item: &str) -> bool {
    PATTERNS.person.is_match(item) && !PATTERNS.agent.is_match(item)
}

/// Returns `true` if an entry of a list says that there is none: "None known".
pub fn nothing(entry: &str) -> bool {
    PATTERNS.nothing.is_match(entry.trim())
}

/// Returns `true` if a sentence is a question.
pub fn is_question(sentence: &str) -> bool {
    PATTERNS.questions.is_match(sentence)
}

#[cfg(test)]
mod tests;
