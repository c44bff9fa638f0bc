//! What a gate answers.

use serde::{Deserialize, Serialize};

use crate::digest::hex_digest;
use crate::policy::{Mode, OnUnknown, Severity};
use crate::repo_path::RepoPath;

/// An answer, from best to worst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// Not asked for here.
    Skip,
    /// Proven.
    Pass,
    /// Not proven, and a person let it pass for this content.
    Waived,
    /// Not decided yet, by whoever decides it: said, and stops nobody. Where a decision is waited for, that is `unknown`.
    Pending,
    /// Could not be told. Never a pass and never a fail.
    Unknown,
    /// Not proven, or disproven.
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
    /// The line of the first of them, counted from 1, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The events it rests on, by id.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// The smallest command that clears it, where one does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
    /// What to do where no single command clears it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fix: Option<String>,
    /// What only a person can do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub persons: Vec<String>,
}

impl Finding {
    /// What failed and how, without the content: equal for the same failure on other content.
    pub fn fingerprint(&self) -> String {
        let command = self.command.as_deref().unwrap_or_default();
        hex_digest(&[self.reason.as_bytes(), command.as_bytes(), self.subject.as_bytes()])[..16].to_owned()
    }
}

/// What one gate says in one verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct GateResult {
    /// The id of the gate.
    pub gate: String,
    /// Its title.
    pub title: String,
    /// The worst of its findings; `skip` without any.
    pub answer: Answer,
    /// What a failure does.
    pub mode: Mode,
    /// What `unknown` does.
    pub on_unknown: OnUnknown,
    /// How bad a failure is.
    pub severity: Severity,
    /// One for each subject and command.
    pub findings: Vec<Finding>,
}

/// What a result does to whoever waits for the verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// Nothing.
    Silent,
    /// It is said.
    Said,
    /// It stops, because it could not be judged.
    CannotJudge,
    /// It stops, because it failed.
    Blocks,
}

impl GateResult {
    /// What it does, by answer and mode.
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

    /// The findings that made the answer what it is.
    pub fn decisive(&self) -> impl Iterator<Item = &Finding> {
        self.findings.iter().filter(|finding| finding.answer == self.answer)
    }
}
