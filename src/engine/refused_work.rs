//! Work that was refused: its branches and its content, and the end of its attempts.

use std::collections::BTreeSet;

use super::{Uncommitted, Workplace};
use crate::fact::{Base, Facts, Subject, SubjectKind};
use crate::failure::Failure;
use crate::gates;
use crate::git::{GitError, TreeDiff};
use crate::journal::SessionState;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::ref_names;
use crate::repo_path::RepoPath;
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

    /// Returns the branches that `facts` are about, and those with a failure whose work goes on here. A verdict that passes is
    /// about deleted ones as well, because nobody can show any more that they pass.
    pub(super) fn branches(&self, facts: &Facts, told: &SessionState, blocked: bool) -> Vec<String> {
        let Ok(head) = self.repo.head() else { return Vec::new() };
        let is_here = |subject: &Subject| subject.role == SubjectKind::WorkingTree || subject.checked_out == Some(true);
        let here = head.branch.as_ref().filter(|_| facts.subjects.iter().any(is_here));
        let of_subjects = facts.subjects.iter().filter_map(|subject| subject.branch.as_ref());
        let mut found: Vec<String> = of_subjects.chain(here).map(|name| ref_names::short(name).to_owned()).collect();
        found.sort_unstable();
        found.dedup();
        let left: Vec<&str> = told.failing_on().filter(|branch| !found.iter().any(|known| known == branch)).collect();
        for branch in left {
            let goes_on = match self.repo.reference(&format!("refs/heads/{branch}")) {
                Ok(Some(tip)) => self.is_carried_on(facts, head.commit.as_ref(), &tip, told.refused_trees(branch)),
                Ok(None) if blocked => self.holds_refused(facts, told.refused_trees(branch)),
                Ok(None) => Ok(true),
                Err(_) => Ok(false),
            };
            if goes_on.unwrap_or(false) {
                found.push(branch.to_owned());
            }
        }
        found
    }

    /// Returns `true` if a subject continues the branch that ends at `tip`. A branch without commits of its own is continued where
    /// something of the content that was refused on it is.
    fn is_carried_on(
        &self,
        facts: &Facts,
        head: Option<&Oid>,
        tip: &Oid,
        refused: Option<&[Oid]>,
    ) -> Result<bool, GitError> {
        for subject in &facts.subjects {
            let Some(commit) = subject.commit.as_ref().or(head) else { continue };
            if !self.repo.is_ancestor(tip, commit)? {
                continue;
            }
            let is_of_base = match &subject.base {
                Base::MergeBase { commit, .. } => self.repo.is_ancestor(tip, commit)?,
                _ => false,
            };
            if !is_of_base || self.holds_refused(facts, refused)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` if a subject contains new lines of refused content, or if nobody can tell.
    fn holds_refused(&self, facts: &Facts, refused: Option<&[Oid]>) -> Result<bool, GitError> {
        let Some(refused) = refused.filter(|trees| !trees.is_empty()) else { return Ok(true) };
        for subject in &facts.subjects {
            let (Base::MergeBase { commit: base, .. }, Some(changed)) = (&subject.base, &subject.changed) else {
                return Ok(true);
            };
            let base = self.repo.tree_of(base)?;
            for content in refused {
                if self.share_work(&base, content, subject.tree.as_ref(), changed)? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Returns `true` if `now` and `refused` share a line in a changed file that `base` does not have. Unknown content shares every
    /// changed file.
    fn share_work(&self, base: &Oid, refused: &Oid, now: Option<&Oid>, changed: &[RepoPath]) -> Result<bool, GitError> {
        let Some(TreeDiff::Changes(work)) = self.repo.diff_trees(&[(base.clone(), refused.clone())])?.pop() else {
            return Ok(true);
        };
        for path in work.iter().map(|change| &change.path).filter(|path| changed.contains(*path)) {
            let Some(now) = now else { return Ok(true) };
            let text = |tree: &Oid| Ok::<_, GitError>(self.repo.blob_at(tree, path)?.unwrap_or_default());
            if share_a_line(&text(base)?, &text(refused)?, &text(now)?) {
                return Ok(true);
            }
        }
        Ok(false)
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

/// Returns `true` if two texts are equal, or share a line with a letter or digit that the text before them does not have.
fn share_a_line(before: &[u8], one: &[u8], other: &[u8]) -> bool {
    let lines =
        |text| String::from_utf8_lossy(text).lines().map(|line| line.trim().to_owned()).collect::<BTreeSet<_>>();
    let (before, one, other) = (lines(before), lines(one), lines(other));
    let is_new = |line: &&String| !before.contains(*line) && line.contains(char::is_alphanumeric);
    one == other || one.intersection(&other).any(|line| is_new(&line))
}
