//! The review of a change by models: what they found, bound to the parts of the change that they saw.

use serde::{Deserialize, Serialize};

use crate::fact::word_judgement::FailedJudge;
use crate::policy::Severity;
use crate::repo_path::RepoPath;

/// The state of the review of one content.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReviewState {
    /// The parts of the change: hunks, with the functions around them.
    pub parts: usize,
    /// The parts that a reviewer or the auditor has not seen.
    pub unreviewed: usize,
    /// The findings.
    pub findings: Vec<ReviewFinding>,
    /// The findings that were dropped, because their quote is not in the change.
    pub dropped: usize,
    /// The reason why the change cannot be read, or why nobody knows what it is. Then it is not reviewed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
    /// The reviewers that gave no answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed: Vec<FailedJudge>,
}

/// The role of a reviewer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "kebab-case")]
pub enum ReviewRole {
    /// It looks at the logic.
    Reviewer,
    /// It looks at security and at the task.
    Auditor,
}

as_str!(ReviewRole);

impl ReviewRole {
    /// Both roles.
    pub const BOTH: [Self; 2] = [Self::Reviewer, Self::Auditor];
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ReviewFinding {
    /// The role of its reviewer.
    pub role: ReviewRole,
    /// The model, by its name in the user's configuration.
    pub by: String,
    /// The file.
    pub path: RepoPath,
    /// The line in the new file, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The severity. A finding is a blocker only if both see it or a person confirms it.
    pub severity: Severity,
    /// `true` if it is about security.
    pub security: bool,
    /// The quoted lines of the change.
    pub quote: String,
    /// The problem.
    pub message: String,
    /// The answer of the other reviewer or of a person, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<FindingAnswer>,
    /// `true` if it was reported of an earlier state of the code there. The lines that it quotes are still the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub earlier: bool,
}

impl ReviewFinding {
    /// Returns `true` if the other reviewer answered that there is no such problem.
    pub fn is_refuted(&self) -> bool {
        self.answer.as_ref().is_some_and(|answer| !answer.stands)
    }
}

/// An answer to a finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FindingAnswer {
    /// The model, by its name in the user's configuration, or the person.
    pub by: String,
    /// `true` if a person answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_person: bool,
    /// `true` if the finding stands.
    pub stands: bool,
    /// The reason, in a sentence.
    pub reason: String,
}
