//! A recorded run, compared with one content.

use serde::{Deserialize, Serialize};

use crate::event::{Ended, Grade, RunReport};
use crate::local_file::LocalFile;
use crate::oid::Oid;
use crate::policy::PathRules;
use crate::repo_path::RepoPath;
use crate::tool_folder::ToolFolder;

/// A run of a declared command, as a gate sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct RunFact {
    /// The id of its event.
    pub id: String,
    /// What its record is worth.
    pub grade: Grade,
    /// How it ended.
    pub ended: Ended,
    /// A time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_time: bool,
    /// What the runner said of itself.
    pub report: Option<RunReport>,
    /// Why its status 0 says nothing; see [`crate::event::Run::masked`].
    pub masked: Option<String>,
    /// The content it started on.
    pub tree: Oid,
    /// The commit that was checked out when it started; what of its content this one lacks was not committed then.
    #[serde(default)]
    pub head: Option<Oid>,
    /// Paths that changed while it ran; `None`: cannot be told, the objects are gone.
    pub changed: Option<Vec<RepoPath>>,
    /// Paths of its content that no tree can express.
    pub opaque: Vec<RepoPath>,
    /// Paths of its content that were not in the index: a commit misses what was not added.
    pub untracked: Vec<RepoPath>,
    /// Files of code that the work took out of git, that lay there when it started, and that no recorded run made.
    #[serde(default)]
    pub left_behind: Vec<RepoPath>,
    /// Untracked folders of tools that lay there when it started; they are no content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_folders: Vec<ToolFolder>,
    /// Files that lay there when it started and that a checkout elsewhere does not have as they were.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_files: Vec<LocalFile>,
    /// It ran on a copy of its content in another place, which nobody compared with it.
    #[serde(default)]
    pub on_a_copy: bool,
    /// Where its content differs from the subject's; `None`: cannot be told, the objects are gone.
    pub differs: Option<Vec<RepoPath>>,
}

/// What a run shows, its status and its runner's words taken together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunProof {
    /// It ended well, and something was executed.
    Pass,
    /// It ended badly.
    Fail,
    /// It ended well and executed nothing.
    Nothing,
    /// It ended with a status that is not that of its checks.
    Masked,
}

impl RunFact {
    /// What it shows about the content it ran on.
    pub fn shows(&self) -> RunProof {
        match (&self.report, self.ended.success()) {
            (_, false) => RunProof::Fail,
            (Some(report), true) if report.failed > 0 => RunProof::Fail,
            (_, true) if self.masked.is_some() => RunProof::Masked,
            (Some(report), true) if report.passed == 0 => RunProof::Nothing,
            (_, true) => RunProof::Pass,
        }
    }

    /// The paths, among `inputs`, that changed under it. `None`: cannot be told.
    pub fn unsettled(&self, inputs: &PathRules) -> Option<Vec<RepoPath>> {
        Some(self.changed.as_ref()?.iter().filter(|path| inputs.matches(path)).cloned().collect())
    }

    /// Whether its end says something about the content: a program that is missing and a run that was broken off do not.
    pub fn came_to_an_end(&self) -> bool {
        // What a shell answers for a program that is not there or not executable.
        !matches!(self.ended, Ended::Exited(126 | 127) | Ended::NotStarted) && !self.was_cut_short()
    }

    /// Whether it was killed, or ended by a time limit, before any test of it failed.
    pub fn was_cut_short(&self) -> bool {
        let failed = self.report.as_ref().is_some_and(|report| report.failed > 0);
        !failed && (self.over_time || self.ended.killed_by().is_some())
    }

    /// Whether the content is known not to have changed under it, as far as `inputs` go.
    pub fn is_stable(&self, inputs: &PathRules) -> bool {
        self.unsettled(inputs).is_some_and(|paths| paths.is_empty())
    }

    /// Whether the subject is what was tested, as far as `inputs` go: [`RunFact::disagreement`] is empty. Ends at the
    /// first path that differs.
    pub fn agrees(&self, inputs: &PathRules, subject_opaque: &[RepoPath]) -> bool {
        let mut opaque = self.opaque.iter().chain(subject_opaque);
        self.differs.as_ref().is_some_and(|differs| !differs.iter().any(|path| inputs.matches(path)))
            && !opaque.any(|path| inputs.matches_below(path))
    }

    /// The paths, among `inputs`, on which the subject is not what was tested. Empty: they agree. `None`: cannot be told.
    pub fn disagreement(&self, inputs: &PathRules, subject_opaque: &[RepoPath]) -> Option<Vec<RepoPath>> {
        let opaque = self.opaque.iter().chain(subject_opaque).filter(|path| inputs.matches_below(path));
        let differs = self.differs.as_ref()?.iter().filter(|path| inputs.matches(path));
        let mut paths: Vec<_> = differs.chain(opaque).cloned().collect();
        paths.sort();
        paths.dedup();
        Some(paths)
    }
}
