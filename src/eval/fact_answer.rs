//! The answer that facts alone give to a labelled case: no model is asked.

use crate::eval::labelled_case::CaseInputs;
use crate::eval::session_end;
use crate::eval::suite_kind::Suite;
use crate::fact::{final_message, message_sentences};
use crate::policy::Severity;
use crate::replay::gate_answers::judged;
use crate::replay::{AnswerWord, Case, CaseError};

/// An answer to a labelled case.
#[derive(Clone, Debug, PartialEq)]
pub struct EvalAnswer {
    /// The answer, in a word of the suite.
    pub word: String,
    /// The reason.
    pub why: String,
    /// The severity, if the answer has one.
    pub severity: Option<Severity>,
    /// `true` if a person must act.
    pub needs_person: bool,
    /// The score from 0 to 5, if the answer has one.
    pub score: Option<u8>,
}

/// Returns the answer of the facts.
pub fn of_facts(suite: Suite, inputs: &CaseInputs) -> Result<EvalAnswer, CaseError> {
    if suite == Suite::Compaction {
        return next_step(inputs);
    }
    let [done, open] = match suite {
        Suite::Stuck => ["not-stuck", "stuck"],
        Suite::Score => ["done", "open"],
        _ => ["complete", "open"],
    };
    // No clock decides: of a turn that goes on nothing is said, however long it has been silent.
    if suite == Suite::Stuck && !inputs.message_completed {
        let why = "the turn has not ended".to_owned();
        return Ok(EvalAnswer { word: done.to_owned(), why, severity: None, needs_person: false, score: None });
    }
    let mut end = ended(suite, inputs)?;
    if suite == Suite::Score && end.why.is_none() && only_asks(inputs) {
        end.why = Some("nothing was done, and the last message asks".to_owned());
    }
    let score = (suite == Suite::Score).then(|| score_of(inputs, end.why.is_none(), end.severity));
    let needs_person =
        message_sentences::sentences(inputs.last_words()).iter().any(|one| final_message::only_a_person(one));
    let word = if end.why.is_none() { done } else { open };
    Ok(EvalAnswer {
        word: word.to_owned(),
        why: end.why.unwrap_or_default(),
        severity: Some(end.severity),
        needs_person,
        score,
    })
}

/// Returns `true` if the agent did nothing but ask.
fn only_asks(inputs: &CaseInputs) -> bool {
    let words = final_message::read(inputs.last_words());
    (words.asks || words.waits) && session_end::acts(Suite::Score, inputs).is_empty()
}

/// Returns the score of an agent, from 0 to 5: complete, mostly complete, partial, attempted, failed, not attempted.
pub(super) fn score_of(inputs: &CaseInputs, is_done: bool, severity: Severity) -> u8 {
    let did_nothing = session_end::acts(Suite::Score, inputs).is_empty();
    match (is_done, did_nothing, severity) {
        (true, _, Severity::None | Severity::Low) => 5,
        (true, ..) => 4,
        (false, true, _) => 0,
        (false, false, Severity::Blocker) => 1,
        (false, false, _) => 2,
    }
}

struct JudgedEnd {
    /// The first thing that is open.
    why: Option<String>,
    severity: Severity,
}

/// Judges the end of a session. Its commits are not known, so nothing is asked about them.
fn ended(suite: Suite, inputs: &CaseInputs) -> Result<JudgedEnd, CaseError> {
    let case = Case::read(session_end::case(suite, inputs).to_string().as_bytes())?;
    let (answers, severity) = judged(&case)?;
    let open = answers.gates.iter().find(|(name, said)| *name != "atomic" && said.verdict >= AnswerWord::Warn);
    Ok(JudgedEnd { why: open.map(|(name, said)| format!("{name}: {}", said.why)), severity })
}

/// Returns what is to be done when a session goes on after its context was replaced by a summary.
fn next_step(inputs: &CaseInputs) -> Result<EvalAnswer, CaseError> {
    let words = final_message::read(inputs.last_words());
    let nothing = session_end::acts(Suite::Compaction, inputs).is_empty() && inputs.task().starts_with("(no task");
    let (word, why) = if nothing || words.waits || words.asks {
        ("needs_clarification", "the last message asks".to_owned())
    } else {
        let end = ended(Suite::Compaction, inputs)?;
        match (end.why, inputs.has_git_commands || inputs.has_pr_issue_ref) {
            (None, _) => ("task_complete", String::new()),
            (Some(why), true) => ("needs_github_update", why),
            (Some(why), false) => ("continue_task", why),
        }
    };
    Ok(EvalAnswer { word: word.to_owned(), why, severity: None, needs_person: false, score: None })
}
