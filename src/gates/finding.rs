//! The answers and findings of gates.

use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::policy::{Mode, OnUnknown, Severity};
use crate::repo_path::RepoPath;

/// An answer, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// The gate does not apply.
    Skip,
    /// The requirement is proven.
    Pass,
    /// The requirement is not proven, and a person waived it for this content.
    Waived,
    /// The result is not decided yet, by a forge or a person: it is shown and does not block. If the caller waits for a
    /// decision, the answer is `unknown`.
    Pending,
    /// The result is unknown, which is never a pass and never a failure.
    Unknown,
    /// The requirement is not proven, or is disproven.
    Fail,
}

/// One answer about one subject, and for an evidence gate about one command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Finding {
    /// The subject, by name.
    pub subject: String,
    /// The answer.
    pub answer: Answer,
    /// A stable code for programs: `passed`, `missing`, `stale`, `vacuous`, `protected`, …
    pub reason: String,
    /// One sentence for people and agents.
    pub message: String,
    /// The declared command it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The paths it is about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<RepoPath>,
    /// The line in the first of them, counted from 1, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The events that it is based on, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The smallest command that clears it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// The remedy, if no single command clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// The actions that only a person can take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persons: Vec<String>,
    /// The severity of a failure, if it is not the gate's: the one that a judge or reviewer named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<Severity>,
}

impl Finding {
    /// Returns the digest of the failure without the content: it is equal for the same failure on other content.
    pub fn fingerprint(&self) -> String {
        let command = self.command.as_deref().unwrap_or_default();
        hex_digest(&[self.reason.as_bytes(), command.as_bytes(), self.subject.as_bytes()])[..16].to_owned()
    }
}

/// The result of one gate in one verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateResult {
    /// The id of the gate.
    pub gate: String,
    /// Its title.
    pub title: String,
    /// The worst answer of its findings, or `skip` if there are none.
    pub answer: Answer,
    /// The effect of a failure.
    pub mode: Mode,
    /// The effect of `unknown`.
    pub on_unknown: OnUnknown,
    /// The severity of a failure.
    pub severity: Severity,
    /// The findings, one for each subject and command.
    pub findings: Vec<Finding>,
}

/// The effect of a result on the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The result is not shown.
    Silent,
    /// The result is shown.
    Said,
    /// The result blocks, because it could not be judged.
    CannotJudge,
    /// The result blocks, because it failed.
    Blocks,
}

/// Returns the results that stop the work.
pub fn stopping(results: &[GateResult]) -> impl Iterator<Item = &GateResult> {
    results.iter().filter(|result| result.effect() >= Effect::CannotJudge)
}

impl GateResult {
    /// Returns the effect, by answer and mode.
    pub fn effect(&self) -> Effect {
        match (self.answer, self.mode) {
            (Answer::Skip | Answer::Pass, _) | (_, Mode::Off | Mode::Observe) => Effect::Silent,
            (Answer::Waived | Answer::Pending, _) | (_, Mode::Warn) => Effect::Said,
            (Answer::Fail, Mode::Block) => Effect::Blocks,
            (Answer::Unknown, Mode::Block) => match self.on_unknown {
                OnUnknown::Warn => Effect::Said,
                OnUnknown::Block => Effect::CannotJudge,
            },
        }
    }

    /// Returns the findings that decided the answer.
    pub fn decisive(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.answer == self.answer)
    }
}
