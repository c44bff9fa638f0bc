//! The commits that belong to the judged work, those that were amended or rebased since included.

use crate::fact::subject::{Base, Subject};
use crate::git::{GitError, Repo, TreeDiff};
use crate::oid::Oid;

/// Returns `true` if `head` is a commit of the work between the base and `tip`, the tip of a subject. `own` says that the
/// current session was there: then the commit may have been amended or rebased since, so that `tip` does not contain it.
pub(super) fn belongs(repo: &Repo, subject: &Subject, tip: &Oid, head: &Oid, own: bool) -> Result<bool, GitError> {
    let Base::MergeBase { commit: base, .. } = &subject.base else {
        return Ok(own || repo.is_ancestor(head, tip)?);
    };
    if repo.is_ancestor(base, head)? {
        return Ok(own || repo.is_ancestor(head, tip)?);
    }
    Ok(own && shares_a_change(repo, subject, base, head)?)
}

/// Returns `true` if the work up to `head` changed a file that the subject changes: it was amended or rebased.
pub(super) fn shares_a_change(repo: &Repo, subject: &Subject, base: &Oid, head: &Oid) -> Result<bool, GitError> {
    let Some(changed) = &subject.changed else { return Ok(false) };
    let Some(fork) = repo.merge_base(base, head)?.filter(|fork| fork != head) else { return Ok(false) };
    let trees = [(repo.tree_of(&fork)?, repo.tree_of(head)?)];
    let Some(TreeDiff::Changes(before)) = repo.diff_trees(&trees)?.pop() else { return Ok(false) };
    Ok(before.iter().any(|change| changed.contains(&change.path)))
}
