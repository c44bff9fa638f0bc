//! The parts of a change that reviewers read, and what they said of them.

use super::{Uncommitted, Workplace};
use crate::fact::subject::Base;
use crate::fact::{Facts, Note};
use crate::gates::review;
use crate::git::GitError;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::review::change_parts::{self, ChangePart};
use crate::review::review_store::ReviewStore;

impl Workplace {
    /// Returns the parts of the change from `base` to `tree`.
    pub fn change_parts(&self, base: &Oid, tree: &Oid) -> Result<Vec<ChangePart>, GitError> {
        Ok(change_parts::split(&self.repo.function_diff(base, tree)?))
    }

    /// Returns the store of reviews.
    pub fn reviews(&self) -> ReviewStore {
        ReviewStore::of(&self.repo.gate_dir())
    }

    /// Adds what reviewers said of the judged content, if a gate asks for it. No model is asked.
    pub(super) fn add_review(&self, policy: &Policy, facts: &mut Facts, uncommitted: Option<Uncommitted<'_>>) {
        if facts.review.is_some() || !review::is_asked(policy, facts) {
            return;
        }
        match self.judged_parts(facts, uncommitted) {
            Ok(Some(parts)) => facts.review = Some(self.reviews().state(&parts)),
            Ok(None) => {}
            Err(error) => {
                facts
                    .notes
                    .push(Note::new("review-unreadable", format!("the change cannot be read for its review: {error}")));
            }
        }
    }

    fn judged_parts(
        &self,
        facts: &Facts,
        uncommitted: Option<Uncommitted<'_>>,
    ) -> Result<Option<Vec<ChangePart>>, GitError> {
        let Some(subject) = facts.subjects.last() else { return Ok(None) };
        let base = facts.subjects.iter().find_map(|subject| match &subject.base {
            Base::MergeBase { commit, .. } => Some(commit),
            Base::Nothing | Base::Unknown(_) => None,
        });
        let tree = match (&subject.tree, &subject.commit, uncommitted) {
            (Some(tree), ..) => Some(tree.clone()),
            (None, _, Some(Uncommitted::Work(snapshot))) => Some(self.repo.keep(snapshot)?.tree),
            (None, commit, _) => commit.clone(),
        };
        base.zip(tree).map(|(base, tree)| self.change_parts(base, &tree)).transpose()
    }
}
