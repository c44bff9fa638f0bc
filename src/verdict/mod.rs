//! The verdict: one record for each evaluation, the same at every moment.

pub mod assemble;
pub mod escalation;
pub mod feedback;
pub mod forge_record;
pub mod push_command;
pub mod verdict_files;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::event::Grade;
use crate::exit::Exit;
use crate::fact::Note;
use crate::fact::hosting::Hosting;
use crate::gates::finding::GateResult;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{PolicySource, Severity};

/// The version of the JSON form; it grows when a field changes its meaning or goes.
pub const SCHEMA_VERSION: u32 = 1;

/// What was judged, by what, and what came out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Verdict {
    /// [`SCHEMA_VERSION`].
    pub schema_version: u32,
    /// Unique, and sortable by time.
    pub id: String,
    /// When.
    #[cfg_attr(test, schemars(with = "String"))]
    pub at: Timestamp,
    /// The moment at which it was asked for.
    pub moment: Moment,
    /// What came out.
    pub outcome: Outcome,
    /// Whether what was asked for is done: nothing blocks and nothing is unknown.
    pub complete: bool,
    /// The worst severity among the gates that failed; `LOW` where none did and something is left open.
    pub severity: Severity,
    /// The repository, as its working tree or git directory is called.
    pub repository: String,
    /// What was judged.
    pub subjects: Vec<SubjectRecord>,
    /// By which policy.
    pub policy: PolicyRecord,
    /// Whose work it is.
    pub session: String,
    /// How often this session has been told no in a row on these branches; 0 when nothing blocks, and where nobody claimed
    /// to be finished.
    pub attempt: u32,
    /// The same failure of the same content has been told before.
    pub repeated: bool,
    /// One entry for each gate that was asked.
    pub gates: Vec<GateResult>,
    /// The evidence the answers rest on.
    pub evidence: Vec<EvidenceRecord>,
    /// What the forge said, where it was asked: bounded, secrets removed. From this the verdict is judged again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosting: Option<Hosting>,
    /// What was noticed on the way.
    pub notes: Vec<Note>,
    /// Whether only a person can go on.
    pub requires_human_action: bool,
    /// What the person would do.
    pub human_actions: Vec<String>,
    /// What the agent would do next: commands that clear a finding, each once, in the order of the gates.
    pub next_actions: Vec<String>,
    /// What the agent is told.
    pub feedback: String,
}

/// What came out of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Nothing blocks.
    Pass,
    /// Something blocks that the caller can clear.
    Blocked,
    /// Something blocks, and a person must go on.
    NeedsHuman,
    /// Something could not be judged that must be.
    CannotJudge,
}

impl Outcome {
    /// The exit code of a command that ends with this verdict.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Pass => Exit::Pass,
            Self::Blocked => Exit::Blocked,
            Self::NeedsHuman => Exit::NeedsHuman,
            Self::CannotJudge => Exit::CannotJudge,
        }
    }
}

/// One thing that was judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SubjectRecord {
    /// How people call it.
    pub name: String,
    /// The ref it goes to on the other side, at a push.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remote_ref: Option<String>,
    /// The commit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<Oid>,
    /// The commit that it would have been, where it was refused before it was made: kept in gate's own object store.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub draft: Option<Oid>,
    /// Its tree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tree: Option<Oid>,
    /// The commit it was compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<Oid>,
    /// What else is known of the update of that ref.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<UpdateRecord>,
}

/// An update of a ref on the other side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct UpdateRecord {
    /// The ref on this side.
    pub local_ref: String,
    /// Where the ref stood; none: it was created.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old: Option<Oid>,
    /// The remote, as git calls it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub remote: String,
    /// The full name of the default branch of the other side, where it is known; empty: there was none yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
}

/// The policy in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PolicyRecord {
    /// Where it was read.
    pub source: PolicySource,
    /// Its digest.
    pub digest: String,
}

/// A piece of evidence that an answer rests on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EvidenceRecord {
    /// The id of the event in the journal.
    pub id: String,
    /// What its record is worth.
    pub grade: Grade,
    /// The declared command.
    pub command: String,
    /// The content it ran on.
    pub tree: Oid,
}
