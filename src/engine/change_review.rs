//! The hunks of a change that reviewers read, and what they said of them.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::{Uncommitted, Workplace};
use crate::fact::{Base, Facts, ReviewState};
use crate::gates::review;
use crate::model::model_settings::UserSettings;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::review::change_hunks::{self, ChangeHunk};
use crate::review::review_store::ReviewStore;
use crate::snapshot::Snapshot;

/// The file with the revision that a person compares with where nothing else says where the work began.
const BASE: &str = "review-base";

/// A change cannot be read for its review.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnreadableChange(String);

impl UnreadableChange {
    fn of(error: &impl ToString) -> Self {
        Self(error.to_string())
    }
}

impl Workplace {
    /// Returns the hunks of the change from `base` to `tree`. `work` is the working tree, if `tree` is its content.
    pub fn change_hunks(
        &self,
        base: &Oid,
        tree: &Oid,
        work: Option<&Snapshot>,
    ) -> Result<Vec<ChangeHunk>, UnreadableChange> {
        let withheld = work
            .map(|snapshot| self.repo.withheld(snapshot))
            .transpose()
            .map_err(|error| UnreadableChange::of(&error))?;
        if let Some([first, others @ ..]) = withheld.as_deref() {
            let more = if others.is_empty() { String::new() } else { format!(" (and {} more)", others.len()) };
            let what = format!(
                "{first}{more} looks like a secret, so it is not stored: move it out of the repository, or name it in .gitignore"
            );
            return Err(UnreadableChange(what));
        }
        self.repo
            .function_diff(base, tree)
            .map(|diff| change_hunks::split(&diff))
            .map_err(|error| UnreadableChange::of(&error))
    }

    /// Returns the store of reviews.
    pub fn reviews(&self, settings: &UserSettings) -> ReviewStore {
        ReviewStore::of(&self.repo.gate_dir(), settings)
    }

    /// Keeps the revision that a person compares with.
    pub fn keep_review_base(&self, base: &Oid) -> io::Result<()> {
        let path = self.review_base_path();
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, format!("{}\n", base.as_str()))
    }

    fn review_base_path(&self) -> PathBuf {
        self.repo.gate_dir().join(BASE)
    }

    /// Adds what reviewers said of the judged content, if a gate asks for it. No model is asked.
    pub(super) fn add_review(&self, policy: &Policy, facts: &mut Facts, uncommitted: Option<Uncommitted<'_>>) {
        if facts.review.is_some() || !review::is_asked(policy, facts) {
            return;
        }
        facts.review = match self.judged_hunks(facts, uncommitted) {
            Ok(Some(hunks)) => Some(match UserSettings::read() {
                Ok(settings) => self.reviews(&settings).state(&hunks),
                Err(error) => ReviewState { unreadable: Some(error.to_string()), ..ReviewState::default() },
            }),
            Ok(None) => None,
            Err(error) => Some(ReviewState { unreadable: Some(error.to_string()), ..ReviewState::default() }),
        };
    }

    /// Returns the hunks of the judged change; `None` if nothing is left that could be read, as after a deletion.
    fn judged_hunks(
        &self,
        facts: &Facts,
        uncommitted: Option<Uncommitted<'_>>,
    ) -> Result<Option<Vec<ChangeHunk>>, UnreadableChange> {
        let Some(subject) = facts.subjects.last() else { return Ok(None) };
        let work = if let Some(Uncommitted::Work(snapshot)) = uncommitted { Some(snapshot) } else { None };
        let tree = match (&subject.tree, &subject.commit, work) {
            (Some(tree), ..) => tree.clone(),
            (None, _, Some(snapshot)) => self.repo.keep(snapshot).map_err(|error| UnreadableChange::of(&error))?.tree,
            (None, Some(commit), None) => commit.clone(),
            (None, None, None) => return Ok(None),
        };
        let base = facts.subjects.iter().find_map(|subject| match &subject.base {
            Base::MergeBase { commit, .. } => Some(commit.clone()),
            Base::Nothing | Base::Unknown(_) => None,
        });
        let base = base.or_else(|| self.kept_review_base()).ok_or_else(|| {
            UnreadableChange(
                "gate cannot tell where this work began; a person says it: gate review --base REV".to_owned(),
            )
        })?;
        self.change_hunks(&base, &tree, work).map(Some)
    }

    fn kept_review_base(&self) -> Option<Oid> {
        let text = fs::read_to_string(self.review_base_path()).ok()?;
        text.trim().parse().ok()
    }
}
