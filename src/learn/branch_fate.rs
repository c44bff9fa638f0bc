//! The fate of a task's commits after its last verdict.

use serde::Serialize;

use crate::git::{GitError, Repo};
use crate::learn::task_record::TaskRecord;
use crate::oid::Oid;
use crate::ref_names;

/// The fate of the work of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BranchFate {
    /// Its commit is on the default branch of a remote.
    Merged,
    /// Its branches are deleted, and its commit is not on a default branch: it was squashed or abandoned.
    Gone,
    /// Anything else.
    Open,
}

/// Returns the last commit of a task, if it holds what was judged and was made during the task. What is not committed is not
/// merged, whatever became of the commit below it.
pub fn own_commit<'t>(repo: &Repo, task: &'t TaskRecord) -> Option<&'t Oid> {
    let commit = task.commits.last().filter(|_| !task.uncommitted)?;
    let is_committed = task.trees.last().is_none_or(|tree| repo.tree_of(commit).is_ok_and(|own| own == *tree));
    (is_committed && is_made_during(repo, task, commit)).then_some(commit)
}

/// Returns `true` if a commit is not older than a task, or is unknown here.
pub fn is_made_during(repo: &Repo, task: &TaskRecord, commit: &Oid) -> bool {
    let time = repo.commit_time(commit).ok().flatten();
    time.is_none_or(|at| at.as_second() >= task.began.as_second())
}

/// Returns the fate of a task's work, as far as this clone knows.
pub fn of(repo: &Repo, task: &TaskRecord) -> Result<BranchFate, GitError> {
    if task.commits.is_empty() {
        return Ok(BranchFate::Open);
    }
    if let Some(commit) = own_commit(repo, task)
        && is_on_default_branch(repo, commit)?
    {
        return Ok(BranchFate::Merged);
    }
    let there = repo.branches()?;
    let exists = |branch: &String| {
        let short = ref_names::short(branch);
        there.iter().any(|name| ref_names::branch(name) == Some(short))
    };
    let is_gone = !task.branches.is_empty() && !task.branches.iter().any(exists);
    Ok(if is_gone { BranchFate::Gone } else { BranchFate::Open })
}

/// Returns `true` if a commit is on the default branch of a remote.
fn is_on_default_branch(repo: &Repo, commit: &Oid) -> Result<bool, GitError> {
    for remote in repo.remotes()? {
        for name in repo.default_tracking_refs(&remote.name)? {
            let Some(tip) = repo.reference(&name)? else { continue };
            // A commit that was deleted here cannot be compared.
            if repo.is_ancestor(commit, &tip).unwrap_or(false) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}
