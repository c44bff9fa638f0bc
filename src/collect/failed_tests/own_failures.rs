//! The failures that belong to the judged work: they happened on the way from its base to its tip.

use crate::collect::judged_work;
use crate::fact::weakening::{is_file_of, is_test_file};
use crate::fact::{Base, Facts, Subject};
use crate::git::{GitError, PathChange, Repo, TreeDiff};
use crate::journal::{OpenFailure, recorded_second};
use crate::oid::Oid;
use crate::ref_names;
use crate::repo_path::RepoPath;
use crate::source::head_reflog::{is_of_another_branch, left_branch, next_commits_on};

/// Returns `true` if a test failed on a commit between the base and the tip of a subject, or on one that the current
/// session has amended or rebased since, so that no branch has it.
pub(super) fn is_on_the_way(repo: &Repo, facts: &Facts, session: &str, open: &OpenFailure) -> Result<bool, GitError> {
    let Some(head) = &open.head else { return Ok(true) };
    let checked_out = facts.subjects.iter().find_map(|subject| subject.commit.as_ref());
    for subject in &facts.subjects {
        let Some(tip) = subject.commit.as_ref().or(checked_out) else { continue };
        let is_elsewhere =
            || subject.branch.as_ref().is_some_and(|branch| is_of_other_work(repo, subject, branch, head));
        let own = open.session.as_deref() == Some(session) && !repo.is_on_a_branch(head)? && !is_elsewhere();
        let is_way = judged_work::belongs(repo, subject, tip, head, own)?;
        if is_way && !is_unrelated_draft(repo, subject, head, open)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if a commit that no branch has was one of another branch, as the logs of git tell it.
fn is_of_other_work(repo: &Repo, subject: &Subject, branch: &str, head: &Oid) -> bool {
    let was_left = || left_branch(repo.git_dir(), head).is_some_and(|left| left != branch);
    is_of_another_branch(repo.common_dir(), branch, head) || was_left() && !shares_a_change(repo, subject, head)
}

/// Returns `true` if the work up to `head` changed a file that a subject changes, or if that cannot be told.
pub(super) fn shares_a_change(repo: &Repo, subject: &Subject, head: &Oid) -> bool {
    let Base::MergeBase { commit, .. } = &subject.base else { return true };
    judged_work::shares_a_change(repo, subject, commit, head).unwrap_or(true)
}

/// Returns `true` if a test failed before the first commit of some branch, and this branch changes nothing that was
/// changed there: neither a file of that draft nor one that may hold the test.
fn is_unrelated_draft(repo: &Repo, subject: &Subject, head: &Oid, open: &OpenFailure) -> Result<bool, GitError> {
    let Base::MergeBase { commit, .. } = &subject.base else { return Ok(false) };
    let (true, Some(changed)) = (commit == head, &subject.changed) else { return Ok(false) };
    let Some(TreeDiff::Changes(draft)) = repo.diff_trees(&[(repo.tree_of(head)?, open.tree.clone())])?.pop() else {
        return Ok(false);
    };
    if is_committed_elsewhere(repo, subject, head, open, &draft)? {
        return Ok(true);
    }
    let is_common = |path: &RepoPath| {
        draft.iter().any(|change| change.path == *path) || is_test_file(path) && is_file_of(&open.test, path)
    };
    Ok(!draft.is_empty() && !changed.iter().any(is_common))
}

/// Returns `true` if the first commit on top of `head` that has a file of the draft in which a test failed is one of another branch.
fn is_committed_elsewhere(
    repo: &Repo,
    subject: &Subject,
    head: &Oid,
    open: &OpenFailure,
    draft: &[PathChange],
) -> Result<bool, GitError> {
    let (Some(second), Some(judged)) = (recorded_second(&open.event), &subject.branch) else { return Ok(false) };
    let before = repo.tree_of(head)?;
    for (branch, commit) in next_commits_on(repo.common_dir(), head, second) {
        if repo.commit(&format!("refs/heads/{branch}"))?.is_none() {
            continue;
        }
        let trees = [(before.clone(), repo.tree_of(&commit)?)];
        let Some(TreeDiff::Changes(made)) = repo.diff_trees(&trees)?.pop() else { return Ok(false) };
        if draft.iter().any(|change| made.iter().any(|other| other.path == change.path)) {
            return Ok(branch != ref_names::short(judged));
        }
    }
    Ok(false)
}
