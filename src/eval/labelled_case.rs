//! A labelled case: the end of a session, and the answers that are right.

use serde::Deserialize;
use serde_json::Value;

use crate::eval::suite_kind::Suite;
use crate::policy::Severity;

/// A labelled case.
#[derive(Clone, Debug, Deserialize)]
pub struct LabelledCase {
    /// Its name in its suite.
    pub id: String,
    /// The end of the session.
    #[serde(default)]
    pub inputs: CaseInputs,
    /// The label.
    #[serde(default)]
    pub expected: CaseLabel,
    /// The class: what decides the case.
    #[serde(default)]
    pub decidable_by: String,
}

/// The end of a session. Each suite has its own words for it.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CaseInputs {
    pub task: String,
    /// The task, after a compaction.
    pub task_summary: String,
    /// The last message of the person.
    pub last_user_message: String,
    /// The calls of tools, in order.
    pub tools: Vec<RecordedCall>,
    /// The names of the tools that were used, with commas between them.
    pub tools_used: String,
    /// The names of the last tools, one a line, with their state.
    pub tool_calls: String,
    /// The numbered steps of a session.
    pub trace: String,
    /// The last message of the agent in the suite `judge`.
    pub agent_response: String,
    /// The last message of the agent in the suites `stuck` and `compaction`.
    pub last_assistant_response: String,
    /// The last message of the agent in the suite `score`.
    pub output: String,
    /// `true` if the turn ended.
    pub message_completed: bool,
    /// `true` if commands of git were run.
    pub has_git_commands: bool,
    /// `true` if the task names a pull request or an issue.
    pub has_pr_issue_ref: bool,
}

/// A call of a tool.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct RecordedCall {
    /// The name of the tool.
    pub tool: String,
    /// Its arguments.
    pub args: Value,
    /// The call as one text.
    pub raw: String,
}

impl CaseInputs {
    /// Returns the task.
    pub fn task(&self) -> &str {
        [&self.task, &self.task_summary, &self.last_user_message]
            .into_iter()
            .find(|text| !text.is_empty())
            .map_or("", String::as_str)
    }

    /// Returns the last message of the agent.
    pub fn last_words(&self) -> &str {
        [&self.agent_response, &self.last_assistant_response, &self.output]
            .into_iter()
            .find(|text| !text.is_empty())
            .map_or("", String::as_str)
    }

    /// Returns the record of what was done, one line for each act.
    pub fn record(&self) -> String {
        let listed = [&self.trace, &self.tool_calls, &self.tools_used];
        if self.tools.is_empty() {
            return listed.into_iter().find(|text| !text.is_empty()).cloned().unwrap_or_default();
        }
        self.tools.iter().map(|call| format!("{}: {}", call.tool, call.raw)).collect::<Vec<_>>().join("\n")
    }
}

/// The label of a case. Each suite uses some of the fields.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct CaseLabel {
    /// `true` if the task is complete.
    pub complete: Option<bool>,
    /// The severities that are right.
    pub severity_in: Vec<Severity>,
    /// `true` if a person must act.
    pub requires_human_action: Option<bool>,
    /// `true` if the session is stuck.
    pub stuck: Option<bool>,
    /// `true` if the session needs a push.
    #[serde(rename = "shouldNudge")]
    pub should_nudge: Option<bool>,
    /// The next steps that are right.
    pub action_in: Vec<String>,
    /// The lowest score that is right.
    pub score_min: Option<u8>,
    /// The highest score that is right.
    pub score_max: Option<u8>,
    /// The verdicts in words that are right.
    pub verdict_in: Vec<String>,
    /// Several labels, each of which is right.
    pub any_of: Vec<Self>,
}

/// The lowest score of an agent that did its task.
pub const DONE_AT: u8 = 3;

impl CaseLabel {
    /// Returns the answers that are right; none if the label says nothing about the answer.
    pub fn accepted(&self, suite: Suite) -> Vec<&str> {
        let word = |said: Option<bool>, [yes, no]: [&'static str; 2]| said.map(|said| if said { yes } else { no });
        let own: Vec<&str> = match suite {
            Suite::Judge => word(self.complete, ["complete", "open"]).into_iter().collect(),
            Suite::Stuck => word(self.stuck.or(self.should_nudge), ["stuck", "not-stuck"]).into_iter().collect(),
            Suite::Compaction => self.action_in.iter().map(String::as_str).collect(),
            Suite::Score => match (self.score_min, self.score_max) {
                (None, None) => Vec::new(),
                (least, _) => vec![if least.is_some_and(|least| least >= DONE_AT) { "done" } else { "open" }],
            },
            Suite::Project => Vec::new(),
        };
        if own.is_empty() {
            return self
                .any_of
                .iter()
                .find_map(|one| Some(one.accepted(suite)).filter(|found| !found.is_empty()))
                .unwrap_or_default();
        }
        own
    }
}

/// Returns `true` for the answer that nothing is left to do.
pub fn is_done(word: &str) -> bool {
    matches!(word, "complete" | "not-stuck" | "task_complete" | "done" | "pass" | "na")
}

impl LabelledCase {
    /// Returns the class: the first letter of what decides the case.
    pub fn class(&self) -> &str {
        self.decidable_by.split([' ', ';', '+']).next().unwrap_or_default()
    }
}
