//! Has the parts of a change read by both reviewers at the same time.

use std::thread;
use std::time::Duration;

use minijinja::context;

use crate::event::model_call::{CallPurpose, ModelCall};
use crate::fact::{FailedJudge, FindingAnswer, ReviewFinding, ReviewRole};
use crate::judge::ask_and_record;
use crate::judge::quoted_material::PromptMarks;
use crate::judge::word_question::PromptError;
use crate::model::model_settings::ModelSettings;
use crate::review::change_hunks::ChangeHunk;
use crate::review::change_part::{ChangePart, MAX_PARTS, pack};
use crate::review::review_answer::{self, CheckedFindings};
use crate::review::review_store::{HunkReview, KeptFinding, ReviewStore, places};
use crate::templates;

/// The template of the prompt.
pub const TEMPLATE: &str = "judges/review.md";

/// The longest task, in bytes.
pub(super) const MAX_TASK: usize = 8 * 1024;

/// The longest time for one answer: the model's own limit is shorter.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_hours(1);

/// The models in both roles.
#[derive(Clone, Copy, Debug)]
pub struct Reviewers<'m> {
    /// The model that looks at the logic.
    pub reviewer: &'m ModelSettings,
    /// The model that looks at security and at the task.
    pub auditor: &'m ModelSettings,
}

impl Reviewers<'_> {
    /// Has both models work at the same time, each in its role, and joins what they did.
    pub(super) fn at_the_same_time(
        self,
        work: impl Fn(ReviewRole, &ModelSettings) -> ReviewReading + Sync,
    ) -> ReviewReading {
        let work = &work;
        let roles = [(ReviewRole::Reviewer, self.reviewer), (ReviewRole::Auditor, self.auditor)];
        thread::scope(|scope| {
            let working = roles.map(|(role, model)| scope.spawn(move || work(role, model)));
            let mut whole = ReviewReading::default();
            for one in working {
                let reading = one.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                whole.calls.extend(reading.calls);
                whole.failed.extend(reading.failed);
                whole.answers.extend(reading.answers);
            }
            whole
        })
    }
}

/// The result of a reading.
#[derive(Clone, Debug, Default)]
pub struct ReviewReading {
    pub calls: Vec<ModelCall>,
    /// The reviewers that gave no answer.
    pub failed: Vec<FailedJudge>,
    /// The answers to findings.
    pub(super) answers: Vec<(ReviewFinding, FindingAnswer)>,
}

/// Has every hunk read that nobody in a role has seen, and keeps the answers. Each model reads a limited number of parts;
/// the next call goes on.
pub fn read(store: &ReviewStore, hunks: &[ChangeHunk], task: &str, models: Reviewers<'_>) -> ReviewReading {
    models.at_the_same_time(|role, model| read_as(store, hunks, task, role, model))
}

/// Has the hunks read by one model. The first failure ends it: the next part would fail as well.
fn read_as(
    store: &ReviewStore,
    hunks: &[ChangeHunk],
    task: &str,
    role: ReviewRole,
    model: &ModelSettings,
) -> ReviewReading {
    let mut reading = ReviewReading::default();
    let parts = pack(hunks.iter().filter(|hunk| store.find(hunk, role).is_none()));
    for (index, part) in parts.iter().enumerate().take(MAX_PARTS) {
        let question = PartQuestion { part, number: index + 1, of: parts.len(), task, role };
        let answered = question.ask(model, &mut reading.calls);
        let kept = answered
            .and_then(|found| keep(store, hunks, part, (role, model), found).map_err(|error| error.to_string()));
        if let Err(why) = kept {
            reading.failed.push(FailedJudge { judge: model.name.clone(), why });
            break;
        }
    }
    reading
}

/// Keeps the answer about a part with each of its hunks.
fn keep(
    store: &ReviewStore,
    hunks: &[ChangeHunk],
    part: &ChangePart<'_>,
    (role, model): (ReviewRole, &ModelSettings),
    found: CheckedFindings,
) -> std::io::Result<()> {
    let empty = HunkReview { schema_version: 2, by: model.name.clone(), ..HunkReview::default() };
    let mut reviews = vec![empty; part.hunks.len()];
    if let Some(first) = reviews.first_mut() {
        first.dropped = found.dropped;
    }
    for (index, lines, finding) in found.findings {
        let places = places(hunks, &finding.path, &lines, &finding.quote);
        reviews[index].findings.push(KeptFinding { finding, lines, places });
    }
    part.hunks.iter().zip(&reviews).try_for_each(|(hunk, review)| store.keep(hunk, role, model, review))
}

struct PartQuestion<'a> {
    part: &'a ChangePart<'a>,
    number: usize,
    of: usize,
    task: &'a str,
    role: ReviewRole,
}

impl PartQuestion<'_> {
    fn ask(&self, model: &ModelSettings, calls: &mut Vec<ModelCall>) -> Result<CheckedFindings, String> {
        let (prompt, ticket) = self.prompt().map_err(|error| error.to_string())?;
        let (call, answer) = ask_and_record::ask(model, CallPurpose::Review, &prompt, ANSWER_TIMEOUT, |text| {
            review_answer::read(text, &ticket, self.part, self.role, &model.name)
        });
        calls.push(call);
        answer
    }

    /// Returns a prompt with new random words, and the word that the answer repeats.
    fn prompt(&self) -> Result<(String, String), PromptError> {
        let marks = PromptMarks::new()?;
        let (role, focus) = match self.role {
            ReviewRole::Reviewer => (
                "the reviewer",
                "Look for wrong logic, broken callers, missed cases and errors, and for tests that cannot fail.",
            ),
            ReviewRole::Auditor => (
                "the auditor",
                "Look for security holes (injection, secrets, missing checks, unsafe defaults) and for what the task asks and the \
                 change does not do.",
            ),
        };
        let diff = marks.quote(&self.part.text(), usize::MAX).text;
        let task = marks.quote(self.task, MAX_TASK).text;
        let (part, parts) = (self.number, self.of);
        let text = templates::render_with(
            TEMPLATE,
            &context! { fence => &marks.fence, ticket => &marks.ticket, role, focus, diff => &diff, task, part, parts },
            &[("ticket", &marks.ticket), ("diff", &diff)],
        )?;
        Ok((text, marks.ticket))
    }
}
