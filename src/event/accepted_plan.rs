//! The order that a person chose for the tasks of one request.

use serde::{Deserialize, Serialize};

use crate::oid::Oid;
use crate::prompt::TaskInPrompt;

/// A person chose the order of several tasks: the plan of the session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct AcceptedPlan {
    /// The tasks, in the order in which they are to be done.
    pub tasks: Vec<PlannedTask>,
    /// `true` if the person wants all of them together.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
    /// The commit that was checked out, or `None` if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
}

impl AcceptedPlan {
    /// Puts the tasks with these numbers in their order. A number without a task is left out.
    pub fn ordered(tasks: &[PlannedTask], numbers: &[usize], together: bool, head: Option<Oid>) -> Self {
        let chosen = numbers.iter().filter_map(|number| tasks.iter().find(|task| task.number == *number));
        Self { tasks: chosen.cloned().collect(), together, head }
    }
}

/// One task of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlannedTask {
    /// Its number in the list that the person saw.
    pub number: usize,
    /// The task in the person's words, secrets removed.
    pub text: String,
    /// The files that it would touch, as far as its words name them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<String>,
}

/// Returns the tasks of a request with their numbers. `clean` removes what is not to be stored.
pub fn numbered(tasks: &[TaskInPrompt], clean: impl Fn(&str) -> String) -> Vec<PlannedTask> {
    let task = |(task, number): (&TaskInPrompt, usize)| {
        let (text, touches) = (clean(&task.text), task.touches.clone());
        PlannedTask { number, text, touches }
    };
    tasks.iter().zip(1..).map(task).collect()
}
