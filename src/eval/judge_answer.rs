//! The answer that a judge of words gives to a labelled case, with the prompt that is used at a stop.

use std::time::Duration;

use crate::eval::eval_report::EvalCost;
use crate::eval::fact_answer::{EvalAnswer, score_of};
use crate::eval::labelled_case::{CaseInputs, is_done};
use crate::eval::suite_kind::Suite;
use crate::fact::word_judgement::{JudgeReading, WordJudgement};
use crate::judge::consultation::consult;
use crate::judge::word_question::WordQuestion;
use crate::model::model_settings::ModelSettings;

/// The longest time for one answer: the model's own limit is shorter.
const ANSWER_TIMEOUT: Duration = Duration::from_hours(1);

/// Asks one judge about a case. `open` is what the facts leave open.
pub fn of_judge(
    suite: Suite,
    inputs: &CaseInputs,
    open: &str,
    judge: &ModelSettings,
    cost: &mut EvalCost,
) -> Result<EvalAnswer, String> {
    let question = WordQuestion {
        task: inputs.task().to_owned(),
        context: String::new(),
        record: inputs.record(),
        open: open.to_owned(),
        words: inputs.last_words().to_owned(),
    };
    let consultation = consult(&question, std::iter::once(judge), ANSWER_TIMEOUT);
    for call in consultation.calls.iter().filter(|call| !call.not_called) {
        cost.calls += 1;
        cost.input_tokens += call.input_tokens;
        cost.output_tokens += call.output_tokens;
    }
    match consultation.judgement {
        WordJudgement::Read(reading) | WordJudgement::Late(reading) => Ok(answer(suite, inputs, reading)),
        WordJudgement::Pending | WordJudgement::PendingAfter(_) => Err("the judge has not answered".to_owned()),
        WordJudgement::Failed(failed) | WordJudgement::LateFailed(failed) => {
            Err(failed.into_iter().map(|one| one.why).collect::<Vec<_>>().join("; "))
        }
    }
}

/// Translates a reading into a word of the suite.
fn answer(suite: Suite, inputs: &CaseInputs, reading: JudgeReading) -> EvalAnswer {
    let needs_person = !reading.human_actions.is_empty();
    let follows_forge = inputs.has_git_commands || inputs.has_pr_issue_ref;
    let word = match (suite, reading.complete) {
        (Suite::Stuck, complete) => {
            if complete || needs_person {
                "not-stuck"
            } else {
                "stuck"
            }
        }
        (Suite::Compaction, true) => "task_complete",
        (Suite::Compaction, false) if needs_person => "needs_clarification",
        (Suite::Compaction, false) => {
            if follows_forge {
                "needs_github_update"
            } else {
                "continue_task"
            }
        }
        (Suite::Score, true) => "done",
        (_, true) => "complete",
        (_, false) => "open",
    };
    let severity = Some(reading.severity).filter(|_| suite == Suite::Judge);
    let score = (suite == Suite::Score).then(|| score_of(inputs, reading.complete, reading.severity));
    EvalAnswer { word: word.to_owned(), why: reading.reason, severity, needs_person, score }
}

/// Returns the answer of both: open if one of them says so, since a judge proves nothing.
pub fn of_both(facts: &EvalAnswer, judge: &EvalAnswer) -> EvalAnswer {
    let decides = if is_done(&facts.word) { judge } else { facts };
    EvalAnswer { needs_person: facts.needs_person || judge.needs_person, ..decides.clone() }
}
