//! Work that was refused: its branches and its content, and the end of its attempts.

use super::{Uncommitted, Workplace};
use crate::fact::{Base, Facts, Subject, SubjectKind};
use crate::failure::Failure;
use crate::gates;
use crate::journal::SessionState;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::ref_names;
use crate::verdict::assemble::{self, ESCALATES_AT};

impl Workplace {
    /// Starts the attempts again if everything that the session was refused for is proven on the current content. A
    /// session that used up its attempts may stop without a verdict, so its next work is new, even if it never stopped
    /// in between.
    pub fn reset_attempts_if_proven(&self) -> Result<(), Failure> {
        if self.state()?.judged(&self.session.id).made() < ESCALATES_AT {
            return Ok(());
        }
        let here = self.look()?;
        let facts = self.facts_here(&here, Moment::Stop, &self.session.id)?;
        if !assemble::blocks(&gates::judge(&here.policy, &facts)) {
            self.judge(&here.policy, &here.state, facts, None);
        }
        Ok(())
    }

    /// Returns the branches that `facts` are about, and those with a failure that are gone or whose content the facts
    /// continue.
    pub(super) fn branches(&self, facts: &Facts, told: &SessionState) -> Vec<String> {
        let Ok(head) = self.repo.head() else { return Vec::new() };
        let is_here = |subject: &Subject| subject.role == SubjectKind::WorkingTree || subject.checked_out == Some(true);
        let here = head.branch.as_ref().filter(|_| facts.subjects.iter().any(is_here));
        let of_subjects = facts.subjects.iter().filter_map(|subject| subject.branch.as_ref());
        let mut found: Vec<String> = of_subjects.chain(here).map(|name| ref_names::short(name).to_owned()).collect();
        found.sort_unstable();
        found.dedup();
        let tips =
            || facts.subjects.iter().filter_map(|subject| subject.commit.clone().or_else(|| head.commit.clone()));
        for branch in told.failing_on() {
            let goes_on = || match self.repo.reference(&format!("refs/heads/{branch}")) {
                Ok(Some(left)) => tips().any(|tip| self.repo.is_ancestor(&left, &tip).unwrap_or(false)),
                Ok(None) => true,
                Err(_) => false,
            };
            if !found.iter().any(|known| known == branch) && goes_on() {
                found.push(branch.to_owned());
            }
        }
        found
    }

    /// Keeps refused content. Returns the id of a commit that was about to be made. If the content cannot be kept, it
    /// cannot be judged again, and nothing else is lost.
    pub(super) fn keep_refused(&self, facts: &mut Facts, uncommitted: Uncommitted<'_>) -> Option<Oid> {
        let its = |subject: &&mut Subject| subject.role == SubjectKind::WorkingTree && subject.tree.is_none();
        let subject = facts.subjects.iter_mut().find(its)?;
        match uncommitted {
            Uncommitted::Work(snapshot) => {
                subject.tree = self.repo.keep(snapshot).ok().map(|kept| kept.tree);
                None
            }
            Uncommitted::Draft(index) => {
                let commit = subject.commits.commits.first()?;
                let kept = self.repo.keep_draft(index, commit).ok()?;
                if let Some(parent) = commit.parents.first() {
                    subject.base = Base::MergeBase { commit: parent.clone(), branch: String::new() };
                }
                Some(kept)
            }
        }
    }
}
