//! What is known about what is judged: plain values that gates read and nothing else.
//!
//! Collecting them ([`collect`]) is the last step that touches the outside; from here on everything is a pure
//! function, so that every scenario can be tested, stored and judged again without a repository.

mod abreast;
pub mod assessment;
pub mod attested;
pub mod changed_files;
pub mod client_hooks;
pub mod collect;
mod commit_queue;
pub mod commits;
pub mod decision_change;
mod decision_index;
pub mod decisions;
pub mod earlier_runs;
pub mod evidence;
pub mod failed_tests;
pub mod final_message;
pub mod forge_query;
pub mod from_verdict;
#[cfg(feature = "symbols")]
pub mod functions;
pub mod hosting;
pub mod intent;
pub mod merge_base;
mod named_texts;
pub mod output_patterns;
pub mod policy_change;
mod run_comparison;
mod script_changes;
pub mod session_steps;
pub mod subject;
mod test_changes;
pub mod unfinished_runs;
pub mod weakening;
mod working_tree_diff;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::event::Waived;
use crate::moment::Moment;
use crate::repo_path::RepoPath;

/// Everything that the gates of one moment may look at.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Facts {
    /// When the judgement is asked for.
    pub moment: Moment,
    /// What is judged: one for each ref of a push; the commit and the working tree at a stop.
    pub subjects: Vec<subject::Subject>,
    /// What a person waived, for whichever content.
    pub waivers: Vec<Waived>,
    /// What was noticed on the way and belongs into the verdict: settings that hide edits, damage to the journal.
    pub notes: Vec<Note>,
    /// What an agent is about to do that touches what guards its work.
    #[serde(default)]
    pub intents: Vec<intent::Intent>,
    /// The judgement is made where the work is pushed to: the journal of whoever did it is out of reach.
    pub receiving: bool,
    /// What the session at work did, as far as its client tells. Empty where that is not asked or not known.
    #[serde(default, skip_serializing_if = "session_steps::Story::is_empty")]
    pub story: session_steps::Story,
    /// What was run on the same work before, whoever did, where its change takes away what a failure may have asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<session_steps::Story>,
    /// By name of the subject: what its change takes away from the tests.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub weakening: BTreeMap<String, weakening::Weakening>,
    /// Tests that failed on the way here and are not known to have passed under their name since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tests: Vec<failed_tests::FailedTest>,
    /// What the forge says; `None`: it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosting: Option<hosting::Hosting>,
    /// Declared commands, by name, whose run was begun and has not ended, as far as is known: it was killed together with
    /// the gate, or it still runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unfinished: Vec<String>,
    /// The newest runs of declared commands in the session, where no status says how they ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_runs: Vec<unfinished_runs::OpenRun>,
    /// Declared commands, by name, whose folder is nowhere: neither in what is judged nor in what it began from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub astray: Vec<String>,
    /// Files that the defaults leave out and that count, each with the file that names it.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub named_texts: BTreeMap<RepoPath, RepoPath>,
    /// What became of decisions that were written down, by subject; those where nothing did are not here.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub decisions: Vec<decision_change::SubjectDecisions>,
    /// What the agent says of its own work; `None`: it was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assessment: Option<assessment::Assessment>,
}

impl Facts {
    /// Nothing but the moment. What is known is added field by field.
    pub const fn at(moment: Moment) -> Self {
        Self {
            moment,
            subjects: Vec::new(),
            waivers: Vec::new(),
            notes: Vec::new(),
            intents: Vec::new(),
            receiving: false,
            story: session_steps::Story { session: None, steps: Vec::new(), cut: false },
            before: Vec::new(),
            weakening: BTreeMap::new(),
            failed_tests: Vec::new(),
            hosting: None,
            unfinished: Vec::new(),
            open_runs: Vec::new(),
            astray: Vec::new(),
            named_texts: BTreeMap::new(),
            decisions: Vec::new(),
            assessment: None,
        }
    }
}

/// Something noticed that no gate decides.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Note {
    /// A stable word for programs: `assume-unchanged`, `journal-damaged`, `policy-changed`, …
    pub kind: String,
    /// One sentence.
    pub text: String,
    /// The path it is about, where it is about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<RepoPath>,
    /// The line there, counted from 1, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl Note {
    /// A note about no path.
    pub fn new(kind: impl Into<String>, text: impl Into<String>) -> Self {
        Self { kind: kind.into(), text: text.into(), path: None, line: None }
    }

    /// The same note about a line of a path.
    #[must_use]
    pub fn at(self, path: RepoPath, line: Option<u32>) -> Self {
        Self { path: Some(path), line, ..self }
    }
}
