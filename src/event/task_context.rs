//! The context of a session's task, as the person's requests show it.

use serde::{Deserialize, Serialize};

use crate::event::accepted_plan::PlannedTask;
use crate::foreign_text::{one_line, shortened};
use crate::prompt::{PromptEvaluation, TaskType};

/// The longest answer that is kept, in characters.
const MAX_ANSWER: usize = 300;
/// The number of answers that are kept.
const MAX_ANSWERS: usize = 5;

/// The task of a session: its type and class, the score of the request, and the person's answers to questions about it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskContext {
    /// The type of work.
    pub task_type: TaskType,
    /// The class of the request.
    pub class: String,
    /// The score of the request, from 1.0 to 5.0, or `None` if it has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The questions that the agent was given for the person and that are not answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<String>,
    /// The answers, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<TaskAnswer>,
}

/// A person's answer to questions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TaskAnswer {
    /// The questions.
    pub questions: Vec<String>,
    /// The beginning of the answer, secrets removed.
    pub text: String,
}

impl TaskContext {
    /// Returns the context after a request. `asked` are the questions that it leads to, and `text` is the request without
    /// secrets. A request after questions is the answer to them: type, class and score
    /// stay those of the question. `None`: it changes nothing ("go on").
    pub fn after(before: Option<&Self>, evaluation: &PromptEvaluation, asked: Vec<String>, text: &str) -> Option<Self> {
        let Some(before) = before.filter(|before| !before.open.is_empty()) else {
            let score = evaluation.score?;
            let (task_type, class) = (evaluation.task_type, evaluation.class.to_owned());
            return Some(Self { task_type, class, score: Some(score), open: asked, answers: Vec::new() });
        };
        let mut now = before.clone();
        let text = shortened(&one_line(text), MAX_ANSWER);
        now.answers.push(TaskAnswer { questions: std::mem::replace(&mut now.open, asked), text });
        let surplus = now.answers.len().saturating_sub(MAX_ANSWERS);
        now.answers.drain(..surplus);
        Some(now)
    }

    /// Returns the context in lines for people and models.
    pub fn lines(&self) -> Vec<String> {
        let score = self.score.map(|score| format!(", score of the request {score:.1} of 5")).unwrap_or_default();
        let mut lines = vec![format!("type: {}, class {}{score}", self.task_type.as_str(), self.class)];
        for answer in &self.answers {
            lines.push(format!("asked: {}", answer.questions.join(" ")));
            lines.push(format!("answered: {}", answer.text));
        }
        if !self.open.is_empty() {
            lines.push(format!("asked, without an answer: {}", self.open.join(" ")));
        }
        lines
    }
}

/// Returns the context of a task and the tasks of its plan, in order, one line each.
pub fn known_lines<'a>(
    context: Option<&TaskContext>,
    planned: impl IntoIterator<Item = &'a PlannedTask>,
) -> Vec<String> {
    let planned = planned.into_iter().map(|task| format!("planned: {}. {}", task.number, one_line(&task.text)));
    context.into_iter().flat_map(TaskContext::lines).chain(planned).collect()
}
