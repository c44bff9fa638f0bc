//! What reviewers said of the parts of changes: one file for each part and role.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fact::review::{FindingAnswer, ReviewFinding, ReviewRole, ReviewState};
use crate::review::change_parts::ChangePart;
use crate::review::review_answer::confirm;
use crate::verdict::verdict_files::write_json;

/// The findings of one reviewer in one part.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartReview {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The model, by its name in the user's configuration.
    pub by: String,
    /// The findings.
    pub findings: Vec<ReviewFinding>,
    /// The number of findings that were dropped.
    pub dropped: usize,
}

/// The folder of these files.
pub struct ReviewStore(PathBuf);

impl ReviewStore {
    /// Returns the store of a repository.
    pub fn of(gate_dir: &Path) -> Self {
        Self(gate_dir.join("reviews"))
    }

    fn path(&self, part: &ChangePart, role: ReviewRole) -> PathBuf {
        self.0.join(format!("{}-{}.json", part.digest(), role.as_str()))
    }

    /// Returns what was said of a part; `None` if nobody in this role saw it.
    pub fn find(&self, part: &ChangePart, role: ReviewRole) -> Option<PartReview> {
        let mut review: PartReview = serde_json::from_slice(&fs::read(self.path(part, role)).ok()?).ok()?;
        // The part may have moved since.
        for finding in &mut review.findings {
            let (path, line) = part.find(&finding.path.to_string(), finding.line, &finding.quote)?;
            (finding.path, finding.line) = (path, line);
        }
        Some(review)
    }

    /// Keeps what was said of a part.
    pub fn keep(&self, part: &ChangePart, role: ReviewRole, review: &PartReview) -> std::io::Result<()> {
        fs::create_dir_all(&self.0)?;
        write_json(&self.path(part, role), review)
    }

    /// Keeps the answer to a finding of a part. Every equal finding of the part gets it.
    pub fn answer(&self, part: &ChangePart, finding: &ReviewFinding, answer: &FindingAnswer) -> std::io::Result<()> {
        let Some(mut review) = self.find(part, finding.role) else { return Ok(()) };
        let is_meant = |one: &&mut ReviewFinding| one.quote == finding.quote && one.message == finding.message;
        for one in review.findings.iter_mut().filter(is_meant) {
            one.answer = Some(answer.clone());
        }
        self.keep(part, finding.role, &review)
    }

    /// Returns the state of the review of these parts.
    pub fn state(&self, parts: &[ChangePart]) -> ReviewState {
        let mut state = ReviewState { parts: parts.len(), ..ReviewState::default() };
        for part in parts {
            let said = ReviewRole::BOTH.map(|role| self.find(part, role));
            state.unreviewed += usize::from(said.iter().any(Option::is_none));
            for review in said.into_iter().flatten() {
                state.dropped += review.dropped;
                state.findings.extend(review.findings);
            }
        }
        confirm(&mut state.findings);
        state
    }
}
