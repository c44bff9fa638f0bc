//! The facts about the judged content: plain values, the only input of gates.
//!
//! Collecting them ([`collect`](crate::collect)) is the last step that reads from outside. Everything after it is a pure
//! function, so that every scenario can be tested, stored and judged again without a repository.

pub(crate) mod assessment;
pub(crate) mod client_hooks;
pub mod commits;
pub(crate) mod contract;
pub(crate) mod decision_change;
pub(crate) mod evidence;
pub(crate) mod failed_test;
pub(crate) mod final_message;
pub(crate) mod hosting;
pub(crate) mod intent;
pub(crate) mod message_sentences;
pub(crate) mod output_patterns;
pub(crate) mod plan;
pub(crate) mod policy_relaxation;
pub(crate) mod regression;
pub(crate) mod review;
pub(crate) mod roles;
pub(crate) mod script_changes;
pub(crate) mod session_steps;
pub(crate) mod subject;
pub(crate) mod unfinished_runs;
pub(crate) mod weakening;
pub(crate) mod word_judgement;

pub use assessment::{Assessment, WorkStatus};
pub use commits::{NewCommits, UnknownCommits, Yardstick};
pub use contract::{ConditionFact, ContractFact, ContractProblem};
pub use decision_change::SubjectDecisions;
pub use evidence::{OtherRun, RunFact, RunProof};
pub use failed_test::{CountedTests, FailedTest, Obstacle, TestDifference};
pub use hosting::{
    Check, CheckKind, Checks, ForgeAnswer, HostedHead, Hosting, Landed, OtherBase, Pull, PullState, RequiredStatus,
    StartedFor, Trouble, TroubleKind, Via,
};
pub use intent::{Intent, IntentKind};
pub use plan::{PlanProgress, PlanStep};
pub use review::{FindingAnswer, ReviewFinding, ReviewRole, ReviewState};
pub use roles::PlannedAct;
pub use session_steps::{CommandRun, Deed, SimpleRun, Step, Story};
pub use subject::{Base, DefaultBranch, RefUpdate, Subject, SubjectKind};
pub use unfinished_runs::OpenRunState;
pub use weakening::Weakening;
pub use word_judgement::{FailedJudge, JudgeReading, WordJudgement};

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::event::Waived;
use crate::moment::Moment;
use crate::policy::QuarantinedTest;
use crate::repo_path::RepoPath;

/// All facts that the gates of one moment may read.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Facts {
    /// The moment of the judgement.
    pub moment: Moment,
    /// The judged subjects: one for each ref of a push; the commit and the working tree at a stop.
    pub subjects: Vec<subject::Subject>,
    /// The waivers of people, for any content.
    pub waivers: Vec<Waived>,
    /// Notes for the verdict: settings that hide edits, damage to the journal.
    pub notes: Vec<Note>,
    /// The intended actions of an agent that touch the safeguards of its work.
    #[serde(default)]
    pub intents: Vec<intent::Intent>,
    /// `true` if the judgement is made at the receiving end of a push: the journal of the author is out of reach.
    pub receiving: bool,
    /// The steps of the current session, as far as its client reports them. Empty if they are unknown or not needed.
    #[serde(default, skip_serializing_if = "session_steps::Story::is_empty")]
    pub story: session_steps::Story,
    /// The context of the task of the session, or `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<crate::event::task_context::TaskContext>,
    /// The plan that the person of the session accepted, or `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<plan::PlanProgress>,
    /// Runs of tests that passed and are not those of a declared command, the newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_runs: Vec<evidence::OtherRun>,
    /// Earlier runs on the same work, in any session, if its change removes something that a failure may have been
    /// about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<session_steps::Story>,
    /// The weakening of tests, by name of the subject.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weakening: BTreeMap<String, weakening::Weakening>,
    /// Tests that failed on the way here and are not known to have passed under their name since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tests: Vec<failed_test::FailedTest>,
    /// The tests in quarantine today.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub quarantine: Vec<QuarantinedTest>,
    /// The subjects that change tests, if a gate requires a proof that these show the change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tested_changes: Vec<regression::TestedChange>,
    /// The forge's answers, or `None` if it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosting: Option<hosting::Hosting>,
    /// Declared commands, by name, that were started and are not known to have ended: they were killed together with
    /// gate, or they are still running.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
    /// The newest runs of declared commands in the session whose status is unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_runs: Vec<unfinished_runs::OpenRun>,
    /// Declared commands, by name, whose folder exists neither in the judged content nor in its base.
    #[serde(default, rename = "astray", skip_serializing_if = "Vec::is_empty")]
    pub folderless: Vec<String>,
    /// Files that the defaults exclude and that count, each with the file that names it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named_texts: BTreeMap<RepoPath, RepoPath>,
    /// Untracked scratch files, such as `todo.txt`, which no content that is judged holds. They count only if
    /// `named_texts` has them, too.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub scratch: BTreeSet<RepoPath>,
    /// The changes to recorded decisions, by subject. Subjects without changes are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<decision_change::SubjectDecisions>,
    /// The roles that the process or the client names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub role_claims: Vec<roles::RoleClaim>,
    /// What a tool call is about to do.
    #[serde(default, skip_serializing_if = "roles::PlannedAct::is_empty")]
    pub planned: roles::PlannedAct,
    /// The contracts that apply, checked on the subjects.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contracts: Vec<contract::ContractFact>,
    /// The agent's assessment of its own work, or `None` if it was not asked for one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<assessment::Assessment>,
    /// The agent's assessment of its own work, if nobody can read it as a form.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread_assessment: Option<String>,
    /// The answer of a judge of last resort, or `None` if none was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub word_judgement: Option<word_judgement::WordJudgement>,
    /// The review of the change by models, or `None` if it was not asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub review: Option<review::ReviewState>,
}

impl Facts {
    /// Returns the entry of a test in quarantine.
    pub fn quarantined(&self, test: &str) -> Option<&QuarantinedTest> {
        self.quarantine.iter().find(|entry| entry.is_about(test))
    }

    /// Creates empty facts for a moment. The other fields are set one by one.
    pub fn at(moment: Moment) -> Self {
        Self { moment, ..Self::default() }
    }
}

/// Information that no gate decides on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    /// A stable word for programs: `assume-unchanged`, `journal-damaged`, `policy-changed`, …
    pub kind: String,
    /// The message, one sentence.
    pub text: String,
    /// The path that it is about, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The line in that file, counted from 1, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Note {
    /// Creates a note without a path.
    pub fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind: kind.into(), text: text.into(), path: None, line: None }
    }

    /// Returns the same note with a path and a line.
    #[must_use]
    pub fn at(self, path: RepoPath, line: Option<u32>) -> Self {
        Self { path: Some(path), line, ..self }
    }
}
