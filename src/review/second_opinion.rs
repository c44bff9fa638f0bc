//! Has a finding of one reviewer answered by the other one.

use minijinja::context;
use serde::Deserialize;

use crate::event::model_call::{CallPurpose, ModelCall};
use crate::fact::review::{FindingAnswer, ReviewFinding, ReviewRole};
use crate::fact::word_judgement::FailedJudge;
use crate::judge::answer_form::object;
use crate::judge::quoted_material::PromptMarks;
use crate::judge::recorded_call;
use crate::judge::word_question::PromptError;
use crate::model::model_settings::ModelSettings;
use crate::policy::Severity;
use crate::review::change_parts::ChangePart;
use crate::review::reading::{ANSWER_TIMEOUT, MAX_TASK, ReviewReading, Reviewers};
use crate::review::review_answer::is_same;
use crate::review::review_store::ReviewStore;
use crate::templates;

/// The template of the prompt.
pub const TEMPLATE: &str = "judges/answer.md";

/// The longest reason, in bytes.
const MAX_REASON: usize = 1000;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OpinionForm {
    ticket: String,
    stands: bool,
    reason: String,
}

/// Has each finding answered that only one of the two reports, that is at least of this severity, and that nobody
/// answered before. Both models answer at the same time.
pub fn answer(
    store: &ReviewStore,
    parts: &[ChangePart],
    task: &str,
    models: Reviewers<'_>,
    from: Severity,
) -> ReviewReading {
    models.at_the_same_time(|role, model| answer_as(store, parts, task, (role, model), from))
}

/// Has the findings of the other role answered by one model. The first failure ends it.
fn answer_as(
    store: &ReviewStore,
    parts: &[ChangePart],
    task: &str,
    (role, model): (ReviewRole, &ModelSettings),
    from: Severity,
) -> ReviewReading {
    let mut reading = ReviewReading::default();
    for part in parts {
        let [own, other] = [role, role.other()].map(|role| store.find(part, role).unwrap_or_default().findings);
        let is_open = |finding: &&ReviewFinding| {
            finding.severity >= from && finding.answer.is_none() && !own.iter().any(|own| is_same(finding, own))
        };
        for finding in other.iter().filter(is_open) {
            let answered = ask(model, part, task, finding, &mut reading.calls);
            let kept =
                answered.and_then(|answer| store.answer(part, finding, &answer).map_err(|error| error.to_string()));
            if let Err(why) = kept {
                reading.failed.push(FailedJudge { judge: model.name.clone(), why });
                return reading;
            }
        }
    }
    reading
}

fn ask(
    model: &ModelSettings,
    part: &ChangePart,
    task: &str,
    finding: &ReviewFinding,
    calls: &mut Vec<ModelCall>,
) -> Result<FindingAnswer, String> {
    let (prompt, ticket) = prompt(part, task, finding).map_err(|error| error.to_string())?;
    let (call, answer) =
        recorded_call::ask(model, CallPurpose::Review, &prompt, ANSWER_TIMEOUT, |text| read(text, &ticket, model));
    calls.push(call);
    answer
}

fn read(text: &str, ticket: &str, model: &ModelSettings) -> Result<FindingAnswer, String> {
    let form: OpinionForm = object(text)?;
    if form.ticket != ticket {
        return Err("it does not have the ticket of the question".to_owned());
    }
    if form.reason.trim().is_empty() {
        return Err("it has no reason".to_owned());
    }
    let reason = form.reason[..form.reason.floor_char_boundary(MAX_REASON)].to_owned();
    Ok(FindingAnswer { by: model.name.clone(), is_person: false, stands: form.stands, reason })
}

/// Returns a prompt with new random words, and the word that the answer repeats.
fn prompt(part: &ChangePart, task: &str, finding: &ReviewFinding) -> Result<(String, String), PromptError> {
    let marks = PromptMarks::new()?;
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let said =
        format!("{}{line} ({})\n{}\n{}", finding.path, finding.severity.as_str(), finding.quote, finding.message);
    let [diff, task, said] = [(&*part.text, usize::MAX), (task, MAX_TASK), (&*said, usize::MAX)]
        .map(|(text, most)| marks.quote(text, most).text);
    let values = context! { fence => &marks.fence, ticket => &marks.ticket, diff => &diff, task, finding => &said };
    let text =
        templates::render_with(TEMPLATE, &values, &[("ticket", &marks.ticket), ("diff", &diff), ("finding", &said)])?;
    Ok((text, marks.ticket))
}
