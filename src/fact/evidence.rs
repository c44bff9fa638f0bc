//! A recorded run, compared with one content.

use serde::{Deserialize, Serialize};

use crate::event::{Ended, Grade, RunReport};
use crate::local_file::LocalFile;
use crate::oid::Oid;
use crate::policy::PathRules;
use crate::repo_path::RepoPath;
use crate::tool_folder::ToolFolder;

/// A run of tests that passed and is not that of a declared command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OtherRun {
    /// Its command line.
    pub line: String,
    /// The content that it ran on.
    pub tree: Oid,
}

/// A run of a declared command, as a gate sees it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[expect(clippy::struct_excessive_bools, reason = "independent fields of a record")]
pub struct RunFact {
    /// The id of its event.
    pub id: String,
    /// The grade of its record.
    pub grade: Grade,
    /// The end of its process.
    pub ended: Ended,
    /// `true` if a time limit ended it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_time: bool,
    /// The report of the runner.
    pub report: Option<RunReport>,
    /// `true` if its line was the declared command word for word.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub verbatim: bool,
    /// The reason why its status 0 proves nothing; see [`crate::event::Run::masked`].
    pub masked: Option<String>,
    /// The content that it started on.
    pub tree: Oid,
    /// The commit that was checked out when it started. Anything that its content had beyond this commit was not
    /// committed then.
    #[serde(default)]
    pub head: Option<Oid>,
    /// The paths that changed while it ran, or `None` if the objects are gone.
    pub changed: Option<Vec<RepoPath>>,
    /// The paths of its content that a tree cannot express.
    pub opaque: Vec<RepoPath>,
    /// The paths of its content that were not in the index: a commit misses them.
    pub untracked: Vec<RepoPath>,
    /// The source files that the work removed from git, that existed when it started, and that no recorded run made.
    #[serde(default)]
    pub left_behind: Vec<RepoPath>,
    /// The untracked folders of tools that existed when it started. They are not part of the content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_folders: Vec<ToolFolder>,
    /// The files that existed when it started and that a checkout elsewhere does not have in the same state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub local_files: Vec<LocalFile>,
    /// Inputs of its command that its content holds and that were not on disk: it ran without them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub absent: Vec<RepoPath>,
    /// The tests that failed, as far as they are known by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_tests: Vec<String>,
    /// `true` if these are all that failed, and every other test ran: nothing else is wrong with the run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed_in_these_alone: bool,
    /// `true` if it ran on a copy of its content in another place, which was not compared with it.
    #[serde(default)]
    pub on_a_copy: bool,
    /// The paths on which its content differs from the subject's, or `None` if the objects are gone.
    pub differs: Option<Vec<RepoPath>>,
}

impl RunFact {
    /// Returns a run of which nothing else is known.
    pub const fn new(id: String, grade: Grade, ended: Ended, tree: Oid) -> Self {
        Self {
            id,
            grade,
            ended,
            over_time: false,
            report: None,
            verbatim: false,
            masked: None,
            tree,
            head: None,
            changed: None,
            opaque: Vec::new(),
            untracked: Vec::new(),
            left_behind: Vec::new(),
            tool_folders: Vec::new(),
            local_files: Vec::new(),
            absent: Vec::new(),
            failed_tests: Vec::new(),
            failed_in_these_alone: false,
            on_a_copy: false,
            differs: None,
        }
    }
}

/// The proof that a run gives, by its status and its runner's report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunProof {
    /// The run passed and executed something.
    Pass,
    /// The run failed.
    Fail,
    /// The run passed and executed nothing.
    Nothing,
    /// The status of the run is not that of its checks.
    Masked,
}

impl RunFact {
    /// Returns the proof that the run gives about the content that it ran on.
    pub fn shows(&self) -> RunProof {
        match (&self.report, self.ended.success()) {
            (_, false) => RunProof::Fail,
            (Some(report), true) if report.failed > 0 => RunProof::Fail,
            (_, true) if self.masked.is_some() => RunProof::Masked,
            (Some(report), true) if report.passed == 0 => RunProof::Nothing,
            (_, true) => RunProof::Pass,
        }
    }

    /// Returns the paths among `inputs` that changed while it ran, or `None` if they are unknown.
    pub fn unsettled(&self, inputs: &PathRules) -> Option<Vec<RepoPath>> {
        Some(self.changed.as_ref()?.iter().filter(|path| inputs.matches(path)).cloned().collect())
    }

    /// Returns `true` if its end says something about the content. A missing program and an interrupted run do not.
    pub fn came_to_an_end(&self) -> bool {
        // What a shell answers for a program that is not there or not executable.
        !matches!(self.ended, Ended::Exited(126 | 127) | Ended::NotStarted) && !self.was_cut_short()
    }

    /// Returns `true` if it was killed, or ended by a time limit, before any of its tests failed.
    pub fn was_cut_short(&self) -> bool {
        let failed = self.report.as_ref().is_some_and(|report| report.failed > 0);
        !failed && (self.over_time || self.ended.killed_by().is_some())
    }

    /// Returns `true` if the content is known not to have changed while it ran, as far as `inputs` match.
    pub fn is_stable(&self, inputs: &PathRules) -> bool {
        self.unsettled(inputs).is_some_and(|paths| paths.is_empty())
    }

    /// Returns `true` if the subject is the tested content, as far as `inputs` match: [`RunFact::disagreement`] is
    /// empty. Stops at the first path that differs.
    pub fn agrees(&self, inputs: &PathRules, subject_opaque: &[RepoPath]) -> bool {
        let mut opaque = self.opaque.iter().chain(subject_opaque);
        let whole = !self.absent.iter().any(|path| inputs.matches(path));
        whole
            && self.differs.as_ref().is_some_and(|differs| !differs.iter().any(|path| inputs.matches(path)))
            && !opaque.any(|path| inputs.matches_below(path))
    }

    /// Returns the paths among `inputs` on which the subject differs from the tested content: none if they agree, or
    /// `None` if they are unknown.
    pub fn disagreement(&self, inputs: &PathRules, subject_opaque: &[RepoPath]) -> Option<Vec<RepoPath>> {
        let opaque = self.opaque.iter().chain(subject_opaque).filter(|path| inputs.matches_below(path));
        let differs = self.differs.as_ref()?.iter().chain(&self.absent).filter(|path| inputs.matches(path));
        let mut paths: Vec<_> = differs.chain(opaque).cloned().collect();
        paths.sort();
        paths.dedup();
        Some(paths)
    }
}
