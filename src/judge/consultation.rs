//! Asks the judges in order, until one gives a valid answer.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::event::model_call::{CallPurpose, ModelCall};
use crate::fact::word_judgement::{FailedJudge, JudgeReading, WordJudgement};
use crate::judge::answer_form::WordAnswer;
use crate::judge::ask_and_record;
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::ModelSettings;

/// The answer to a question, and the calls that it took.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consultation {
    /// The answer.
    pub judgement: WordJudgement,
    /// The calls, in order.
    pub calls: Vec<ModelCall>,
}

/// Asks the judges in order, until one answers validly or has used up its budget. All of them together get `patience`.
pub fn consult<'m>(
    question: &WordQuestion,
    judges: impl Iterator<Item = &'m ModelSettings>,
    patience: Duration,
) -> Consultation {
    let until = Instant::now() + patience;
    let mut failed = Vec::new();
    let mut calls = Vec::new();
    for judge in judges {
        let left = until.saturating_duration_since(Instant::now());
        let (call, answer) = ask(question, judge, left);
        let is_used_up = call.as_ref().is_some_and(|call| call.not_called);
        calls.extend(call);
        match answer {
            Ok(reading) => return Consultation { judgement: WordJudgement::Read(reading), calls },
            Err(why) => failed.push(FailedJudge { judge: judge.name.clone(), why }),
        }
        // The user limits what judges cost. Another one would cost more.
        if is_used_up {
            break;
        }
    }
    Consultation { judgement: WordJudgement::Failed(failed), calls }
}

/// Asks one judge. Returns the call, if there was one, and the answer.
fn ask(
    question: &WordQuestion,
    judge: &ModelSettings,
    patience: Duration,
) -> (Option<ModelCall>, Result<JudgeReading, String>) {
    if patience.is_zero() {
        return (None, Err("no time was left for it".to_owned()));
    }
    let prompt = match question.prompt() {
        Ok(prompt) => prompt,
        Err(error) => return (None, Err(error.to_string())),
    };
    let (call, answer) = ask_and_record::ask(judge, CallPurpose::Words, &prompt.text, patience, |text| {
        WordAnswer::read(text, &prompt.ticket)
    });
    let reading = |answer: WordAnswer| JudgeReading {
        judge: judge.name.clone(),
        complete: answer.complete,
        severity: answer.severity,
        reason: answer.reason,
        missing: answer.missing,
        human_actions: if answer.requires_human_action { answer.human_actions } else { Vec::new() },
    };
    (Some(call), answer.map(reading))
}
