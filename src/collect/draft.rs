//! A subject that is not compared yet.

use crate::collect::merge_base::{Lineage, Target};
use crate::collect::tree_differences;
use crate::fact::subject::{Base, Subject, SubjectKind};
use crate::git::{GitError, Repo, TreeDiff};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::Snapshot;

/// A subject with what it is compared from.
pub(super) struct Draft<'a> {
    pub(super) subject: Subject,
    /// The tree that the comparisons start from: the subject's own, or that of `HEAD` for a working tree.
    pub(super) tree: Option<Oid>,
    /// The tree of the whole content, if it is known without writing it.
    pub(super) whole: Option<Oid>,
    pub(super) base_tree: Option<Oid>,
    pub(super) snapshot: Option<&'a Snapshot>,
}

impl<'a> Draft<'a> {
    pub(super) fn empty(name: &str) -> Self {
        let subject = Subject::empty(name);
        Self { subject, tree: None, whole: None, base_tree: None, snapshot: None }
    }

    pub(super) fn commit(name: &str, repo: &Repo, lineage: &Lineage) -> Result<Self, GitError> {
        let mut draft = Self::empty(name);
        let tree = repo.tree_of(&lineage.commit)?;
        draft.base_tree = base_tree(repo, &lineage.base)?;
        draft.subject.commit = Some(lineage.commit.clone());
        draft.subject.tree = Some(tree.clone());
        draft.subject.base = lineage.base.clone();
        draft.whole = Some(tree.clone());
        draft.tree = Some(tree);
        Ok(draft)
    }

    /// Returns a tree that does not belong to a commit, compared with the tip of the default branch.
    pub(super) fn tree(name: &str, repo: &Repo, tree: Oid, target: Option<&Target>) -> Result<Self, GitError> {
        let mut draft = Self::empty(name);
        let base = target.map(|target| Base::MergeBase { commit: target.tip.clone(), branch: target.branch.clone() });
        draft.subject.base = base.unwrap_or(Base::Nothing);
        draft.base_tree = base_tree(repo, &draft.subject.base)?;
        draft.subject.tree = Some(tree.clone());
        draft.tree = Some(tree);
        Ok(draft)
    }

    pub(super) fn working_tree(repo: &Repo, head: Option<&Lineage>, snapshot: &'a Snapshot) -> Result<Self, GitError> {
        let mut draft = Self::empty("working tree");
        draft.subject.role = SubjectKind::WorkingTree;
        draft.subject.base = head.map_or(Base::Nothing, |head| head.base.clone());
        draft.subject.opaque.clone_from(&snapshot.opaque);
        draft.subject.checked_out = Some(true);
        draft.base_tree = base_tree(repo, &draft.subject.base)?;
        draft.tree = Some(snapshot.base.clone());
        draft.whole = repo.tree_id(snapshot);
        draft.snapshot = Some(snapshot);
        Ok(draft)
    }

    /// Returns a working tree of an earlier time, as it was kept.
    pub(super) fn kept(name: &str, repo: &Repo, base: Base, tree: &Oid) -> Result<Self, GitError> {
        let mut draft = Self::empty(name);
        draft.subject.role = SubjectKind::WorkingTree;
        draft.base_tree = base_tree(repo, &base)?;
        draft.subject.base = base;
        draft.subject.tree = Some(tree.clone());
        draft.whole = Some(tree.clone());
        draft.tree = Some(tree.clone());
        Ok(draft)
    }

    /// Returns the paths on which the content at the other end of `diff` differs from this subject.
    pub(super) fn differing(&self, diff: &TreeDiff) -> Option<Vec<RepoPath>> {
        let TreeDiff::Changes(changes) = diff else { return None };
        Some(match self.snapshot {
            Some(snapshot) => tree_differences::differing(changes, &snapshot.dirty),
            None => tree_differences::listed(changes),
        })
    }
}

/// Returns the tree of the base, the empty tree if there is no base, or `None` if the base is unknown.
pub(super) fn base_tree(repo: &Repo, base: &Base) -> Result<Option<Oid>, GitError> {
    match base {
        Base::MergeBase { commit, .. } => repo.tree_of(commit).map(Some),
        Base::Nothing => Ok(Some(repo.empty_tree())),
        Base::Unknown(_) => Ok(None),
    }
}
