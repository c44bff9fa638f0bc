//! Reads the commits since a person accepted a plan.

use crate::event::accepted_plan::AcceptedPlan;
use crate::fact::plan::PlanProgress;
use crate::git::{GitError, Range, Repo};
use crate::oid::Oid;

/// The largest number of commits that are read for the tasks that they name.
const MAX_COMMITS: usize = 1000;

/// Returns how far a plan is carried out in the history of `tip`.
pub fn read(repo: &Repo, plan: &AcceptedPlan, tip: Option<&Oid>) -> Result<PlanProgress, GitError> {
    let mut commits = Vec::new();
    if let Some(tip) = tip.filter(|tip| plan.head.as_ref() != Some(tip)) {
        let exclude = plan.head.iter().map(ToString::to_string).collect();
        let range = Range { revisions: vec![tip.to_string()], exclude, limit: Some(MAX_COMMITS) };
        for logged in repo.log(&range)? {
            let commit = logged?.commit;
            commits.push((commit.short().to_owned(), commit.message));
        }
    }
    commits.reverse();
    Ok(PlanProgress::of(plan, &commits))
}
