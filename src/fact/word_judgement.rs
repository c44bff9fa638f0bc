//! The answer of a judge of last resort: a judgement of words, which proves nothing.

use serde::{Deserialize, Serialize};

use crate::policy::Severity;

/// The result of asking the judges.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum WordJudgement {
    /// A judge answered.
    Read(JudgeReading),
    /// No judge has answered yet. The answer comes at the next stop.
    Pending,
    /// A judge answered about an earlier stop, too late for it.
    Late(JudgeReading),
    /// No judge has answered yet, and one answered about an earlier stop, too late for it.
    PendingAfter(JudgeReading),
    /// Every judge failed.
    Failed(Vec<FailedJudge>),
    /// Every judge failed about an earlier stop, too late for it. Nothing has to be read now.
    LateFailed(Vec<FailedJudge>),
}

/// The answer of one judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct JudgeReading {
    /// The judge, by its name in the user's configuration.
    pub judge: String,
    /// `true` if the words say that the task is done.
    pub complete: bool,
    /// The severity.
    pub severity: Severity,
    /// The reason, in one sentence.
    pub reason: String,
    /// The work that is left.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The actions that only a person can take.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub human_actions: Vec<String>,
}

/// A judge that gave no answer, and the reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct FailedJudge {
    /// The judge, by its name in the user's configuration.
    pub judge: String,
    /// The reason.
    pub why: String,
}
