//! The pull requests of tasks, as their forge knows them.

use crate::event::hosting::{Check, PullState, Trouble, TroubleKind};
use crate::git::{GitError, Repo};
use crate::learn::branch_fate;
use crate::learn::metrics::{MeasuredTask, TaskPull};
use crate::learn::task_record::TaskRecord;
use crate::source::forge::repository_url::ForgeSettings;
use crate::source::forge::{self, Forge, OwnJob, Patience, token};

/// The largest number of tasks about which a forge is asked, the newest ones.
const MAX_TASKS: usize = 50;
/// The largest number of commits of a task whose checks are read, the first ones.
const MAX_COMMITS: usize = 5;
/// The conclusions of a check that failed.
const FAILED: [&str; 4] = ["failure", "timed_out", "startup_failure", "error"];

/// The reason why nothing is known from a forge.
#[derive(Debug, thiserror::Error)]
pub(super) enum PullsError {
    #[error(transparent)]
    Git(#[from] GitError),
    #[error("no remote of this repository is on a forge that gate knows")]
    NoForge,
    #[error("the forge gave no answer: {}", .0.what)]
    Trouble(Trouble),
}

impl From<Trouble> for PullsError {
    fn from(trouble: Trouble) -> Self {
        Self::Trouble(trouble)
    }
}

/// Asks the forges of all remotes about the commits of the newest tasks, and notes their pull requests. One forge without
/// an answer is an error only if no other one answers.
pub(super) fn ask(repo: &Repo, tasks: &mut [MeasuredTask]) -> Result<(), PullsError> {
    let known = ForgeSettings::of_process();
    let mut places: Vec<_> = repo.remotes()?.into_iter().filter_map(|remote| known.place(&remote.push_url)).collect();
    places.dedup();
    let mut answer = Err(PullsError::NoForge);
    for place in places {
        let token = token::find(&place, &known);
        let asked = match forge::connect(&place, token.as_ref(), Patience::LONG) {
            Ok(Some(forge)) => ask_one(repo, &*forge, tasks),
            Ok(None) => continue,
            Err(trouble) => Err(trouble.into()),
        };
        if answer.is_err() {
            answer = asked;
        }
    }
    answer
}

/// Asks one forge about the newest tasks whose pull request is not known yet.
fn ask_one(repo: &Repo, forge: &dyn Forge, tasks: &mut [MeasuredTask]) -> Result<(), PullsError> {
    for task in tasks.iter_mut().rev().take(MAX_TASKS).filter(|task| task.pull.is_none()) {
        task.pull = pull_of(repo, forge, &task.record)?;
        task.is_merged |= task.pull.is_some_and(|pull| pull.is_merged);
    }
    Ok(())
}

/// Returns the pull request that holds the last commit of a task, with the results of the checks of its judged commits.
fn pull_of(repo: &Repo, forge: &dyn Forge, task: &TaskRecord) -> Result<Option<TaskPull>, PullsError> {
    let Some(last) = branch_fate::own_commit(repo, task) else { return Ok(None) };
    let pulls = known(forge.pulls_with(last))?.unwrap_or_default();
    if pulls.is_empty() {
        return Ok(None);
    }
    let is_merged = pulls.iter().any(|pull| pull.state == PullState::Merged);
    let mut found = TaskPull { is_merged, checked: 0, failed: 0 };
    let own = task.judged_commits.iter().filter(|commit| branch_fate::is_made_during(repo, task, commit));
    for commit in own.take(MAX_COMMITS) {
        let checks = known(forge.checks(commit, &OwnJob::default()))?.unwrap_or_default();
        let ended: Vec<&Check> = checks.list.iter().filter(|check| check.conclusion.is_some()).collect();
        found.checked += usize::from(!ended.is_empty());
        found.failed += usize::from(ended.iter().any(|check| has_failed(check)));
    }
    Ok(Some(found))
}

fn has_failed(check: &Check) -> bool {
    check.conclusion.as_deref().is_some_and(|conclusion| FAILED.contains(&conclusion))
}

/// Returns an answer, or `None` about a commit that the forge does not have.
fn known<T>(answer: Result<T, Trouble>) -> Result<Option<T>, Trouble> {
    match answer {
        Err(trouble) if trouble.kind == TroubleKind::NotFound => Ok(None),
        answer => answer.map(Some),
    }
}
