//! The verdict: one record for each evaluation, the same at every moment.

pub(crate) mod assemble;
pub mod feedback;
pub(crate) mod forge_record;
pub(crate) mod push_command;
pub(crate) mod verdict_files;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::Grade;
use crate::exit::Exit;
use crate::fact::{Hosting, Note};
use crate::gates::finding::GateResult;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{PolicySource, Severity};

/// The version of the JSON form. It increases when a field is removed or changes its meaning.
pub const SCHEMA_VERSION: u32 = 1;

/// The subjects, the policy and the results of one judgement.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// The version of this form, [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Unique, and sortable by time.
    pub id: String,
    /// The time.
    #[cfg_attr(test, schemars(with = "String"))]
    pub at: Timestamp,
    /// The moment of the judgement.
    pub moment: Moment,
    /// The outcome.
    pub outcome: Outcome,
    /// `true` if all requirements are met: nothing blocks and nothing is unknown.
    pub complete: bool,
    /// The worst severity among the gates that failed, or `LOW` if none failed and something is open.
    pub severity: Severity,
    /// The name of the repository: that of its working tree or git directory.
    pub repository: String,
    /// The judged subjects.
    pub subjects: Vec<SubjectRecord>,
    /// The policy in force.
    pub policy: PolicyRecord,
    /// The session that did the work.
    pub session: String,
    /// The number of refusals in a row in this session on these branches, or 0 if nothing blocks or if nobody claimed
    /// to be finished.
    pub attempt: u32,
    /// `true` if the same failure of the same content was reported before.
    pub repeated: bool,
    /// The results, one for each evaluated gate.
    pub gates: Vec<GateResult>,
    /// The evidence that the answers are based on.
    pub evidence: Vec<EvidenceRecord>,
    /// The forge's answers, if it was asked: bounded, secrets removed. They are enough to judge the verdict again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosting: Option<Hosting>,
    /// The notes.
    pub notes: Vec<Note>,
    /// `true` if only a person can continue.
    pub requires_human_action: bool,
    /// The actions for the person.
    pub human_actions: Vec<String>,
    /// The next actions for the agent: commands that clear a finding, each once, in the order of the gates.
    pub next_actions: Vec<String>,
    /// The feedback for the agent.
    pub feedback: String,
}

/// The outcome of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing blocks.
    Pass,
    /// Something blocks, and the caller can clear it.
    Blocked,
    /// Something blocks, and a person must continue.
    NeedsHuman,
    /// Something that is required could not be judged.
    CannotJudge,
}

impl Outcome {
    /// Returns the exit code of a command that ends with this verdict.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Pass => Exit::Pass,
            Self::Blocked => Exit::Blocked,
            Self::NeedsHuman => Exit::NeedsHuman,
            Self::CannotJudge => Exit::CannotJudge,
        }
    }
}

/// One judged subject.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubjectRecord {
    /// The name for people.
    pub name: String,
    /// The ref that it goes to on the remote, at a push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_ref: Option<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Oid>,
    /// The commit that was refused before it was made, which gate keeps in its own object store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Oid>,
    /// Its tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Oid>,
    /// The commit it was compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Oid>,
    /// The other data of the update of that ref.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateRecord>,
}

/// An update of a ref on the remote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UpdateRecord {
    /// The local ref.
    pub local_ref: String,
    /// The object that the ref pointed to. Missing if it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Oid>,
    /// The name of the remote.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remote: String,
    /// The full name of the default branch of the remote, if it is known. Empty if there was none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
}

/// The policy in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicyRecord {
    /// The source that it was read from.
    pub source: PolicySource,
    /// Its digest.
    pub digest: String,
}

/// A piece of evidence that an answer is based on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceRecord {
    /// The id of the event in the journal.
    pub id: String,
    /// The grade of its record.
    pub grade: Grade,
    /// The declared command.
    pub command: String,
    /// The content it ran on.
    pub tree: Oid,
}

/// The number of refusals in a row in this session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// The attempt, counted from 1, or 0 if nothing blocks.
    pub number: u32,
    /// `true` if the same failure of the same content was reported before.
    pub repeated: bool,
}
