//! Has a finding of one reviewer answered by the other one.

use minijinja::context;
use serde::Deserialize;

use crate::event::model_call::{CallPurpose, ModelCall};
use crate::fact::{FailedJudge, FindingAnswer, ReviewFinding, ReviewRole};
use crate::judge::answer_form::object;
use crate::judge::ask_and_record;
use crate::judge::quoted_material::PromptMarks;
use crate::judge::word_question::PromptError;
use crate::model::model_settings::ModelSettings;
use crate::policy::Severity;
use crate::review::change_hunks::ChangeHunk;
use crate::review::change_part::{ChangePart, pack};
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
    #[serde(rename = "ticket")]
    _ticket: String,
    stands: bool,
    reason: String,
}

/// Has each finding answered that only one of the two reports, that is at least of this severity, and that nobody
/// answered before. Both models answer at the same time.
pub fn answer(
    store: &ReviewStore,
    hunks: &[ChangeHunk],
    task: &str,
    models: Reviewers<'_>,
    from: Severity,
) -> ReviewReading {
    let findings = store.state(hunks).findings;
    let mut reading = models.at_the_same_time(|role, model| answer_as(&findings, hunks, task, (role, model), from));
    for (finding, answer) in std::mem::take(&mut reading.answers) {
        if let Err(error) = store.answer(hunks, &finding, &answer) {
            reading.failed.push(FailedJudge { judge: answer.by, why: error.to_string() });
        }
    }
    reading
}

/// Has the findings of the other role answered by one model. The first failure ends it.
fn answer_as(
    findings: &[ReviewFinding],
    hunks: &[ChangeHunk],
    task: &str,
    (role, model): (ReviewRole, &ModelSettings),
    from: Severity,
) -> ReviewReading {
    let mut reading = ReviewReading::default();
    let parts = pack(hunks);
    // What it said of an earlier state of the code is not an answer to the present one.
    let own: Vec<&ReviewFinding> = findings.iter().filter(|one| one.role == role && !one.earlier).collect();
    let is_open = |finding: &&ReviewFinding| {
        let by_other = finding.role != role && finding.answer.is_none();
        by_other && finding.severity >= from && !own.iter().any(|own| is_same(finding, own))
    };
    for finding in findings.iter().filter(is_open) {
        let place = |hunk: &&ChangeHunk| hunk.path == finding.path && hunk.find(finding.line, &finding.quote).is_some();
        let Some(part) = parts.iter().find(|part| part.hunks.iter().any(place)) else { continue };
        match ask(model, part, task, finding, &mut reading.calls) {
            Ok(answer) => reading.answers.push((finding.clone(), answer)),
            Err(why) => {
                reading.failed.push(FailedJudge { judge: model.name.clone(), why });
                return reading;
            }
        }
    }
    reading
}

fn ask(
    model: &ModelSettings,
    part: &ChangePart<'_>,
    task: &str,
    finding: &ReviewFinding,
    calls: &mut Vec<ModelCall>,
) -> Result<FindingAnswer, String> {
    let (prompt, ticket) = prompt(part, task, finding).map_err(|error| error.to_string())?;
    let (call, answer) =
        ask_and_record::ask(model, CallPurpose::Review, &prompt, ANSWER_TIMEOUT, |text| read(text, &ticket, model));
    calls.push(call);
    answer
}

fn read(text: &str, ticket: &str, model: &ModelSettings) -> Result<FindingAnswer, String> {
    let form: OpinionForm = object(text, ticket)?;
    if form.reason.trim().is_empty() {
        return Err("it has no reason".to_owned());
    }
    let reason = form.reason[..form.reason.floor_char_boundary(MAX_REASON)].to_owned();
    Ok(FindingAnswer { by: model.name.clone(), is_person: false, stands: form.stands, reason })
}

/// Returns a prompt with new random words, and the word that the answer repeats.
fn prompt(part: &ChangePart<'_>, task: &str, finding: &ReviewFinding) -> Result<(String, String), PromptError> {
    let marks = PromptMarks::new()?;
    let line = finding.line.map(|line| format!(":{line}")).unwrap_or_default();
    let said =
        format!("{}{line} ({})\n{}\n{}", finding.path, finding.severity.as_str(), finding.quote, finding.message);
    let [diff, task, said] = [(&*part.text(), usize::MAX), (task, MAX_TASK), (&*said, usize::MAX)]
        .map(|(text, most)| marks.quote(text, most).text);
    let values = context! { fence => &marks.fence, ticket => &marks.ticket, diff => &diff, task, finding => &said };
    let text =
        templates::render_with(TEMPLATE, &values, &[("ticket", &marks.ticket), ("diff", &diff), ("finding", &said)])?;
    Ok((text, marks.ticket))
}
