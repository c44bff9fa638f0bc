//! The plan that a person accepted, and the tasks of it that commits name.

use serde::{Deserialize, Serialize};

use crate::commit::trailers;
use crate::event::accepted_plan::{AcceptedPlan, PlannedTask};

/// The trailer with which a commit names tasks of the plan: `Plan-Item: 2`, `Plan-Item: 1, 3` or `Plan-Item: all`.
pub const TRAILER: &str = "Plan-Item";

/// A plan, and how far it is carried out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanProgress {
    /// The tasks, in the order in which they are to be done.
    pub steps: Vec<PlanStep>,
    /// `true` if the person wants all of them together.
    pub together: bool,
}

/// A task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlanStep {
    /// The task.
    pub task: PlannedTask,
    /// The first commit since the plan was accepted that names it, shortened, or `None` if none does.
    pub commit: Option<String>,
}

impl PlanProgress {
    /// Compares a plan with the commits since it was accepted: their names and messages, oldest first.
    pub fn of(plan: &AcceptedPlan, commits: &[(String, String)]) -> Self {
        let named = |number: usize| {
            let found = commits.iter().find(|(_, message)| names(message, number));
            found.map(|(commit, _)| commit.clone())
        };
        let steps = plan.tasks.iter().map(|task| PlanStep { task: task.clone(), commit: named(task.number) });
        Self { steps: steps.collect(), together: plan.together }
    }

    /// Returns the tasks that no commit names.
    pub fn open(&self) -> impl Iterator<Item = &PlannedTask> {
        self.steps.iter().filter(|step| step.commit.is_none()).map(|step| &step.task)
    }
}

/// Returns `true` if a trailer of a message names the task.
fn names(message: &str, number: usize) -> bool {
    let (_, trailers) = trailers::split(message.split_once('\n').map_or("", |(_, rest)| rest));
    let values = trailers.iter().filter(|trailer| trailer.is(TRAILER)).map(|trailer| trailer.value.trim());
    values.into_iter().any(|value| {
        value.eq_ignore_ascii_case("all")
            || value.split([',', ' ']).any(|part| part.trim_start_matches('#').parse() == Ok(number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trailer_of_a_commit_names_tasks_of_the_plan() {
        let task = |number| PlannedTask { number, text: format!("task {number}"), touches: Vec::new() };
        let plan = AcceptedPlan { tasks: vec![task(2), task(1), task(12)], ..AcceptedPlan::default() };
        for (message, open) in [
            ("core: a\n\nPlan-Item: 2\n", &[1, 12][..]),
            ("core: a\n\nplan-item: 1, 12\nSigned-off-by: a <a@b>\n", &[2]),
            ("core: a\n\nPlan-Item: #2 #1\n", &[12]),
            ("core: a\n\nPlan-Item: all\n", &[]),
            ("core: a\n\nPlan-Item: 3\n", &[2, 1, 12]),
            ("core: a\n\nPlan-Item: 1st\n", &[2, 1, 12]),
            ("core: Plan-Item: 2", &[2, 1, 12]),
            ("core: a\n\nThe text says Plan-Item: 2 in passing.\n\nMore text.\n", &[2, 1, 12]),
        ] {
            let commits = [("abc1234".to_owned(), message.to_owned())];
            let left: Vec<usize> = PlanProgress::of(&plan, &commits).open().map(|task| task.number).collect();
            assert_eq!(left, open, "{message}");
        }
    }
}
