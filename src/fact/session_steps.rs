//! The steps of one session: for each, the actor, the content, and the result.
//!
//! Made from events alone ([`Story::of`]), so that a live session, a log and a replayed case give the same story. A
//! step holds what was recorded; gates judge it.

mod command_run;
mod content_tracking;
mod from_events;
mod known_runs;
mod output_similarity;
#[cfg(test)]
pub(crate) mod test_builder;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use self::command_run::{CommandRun, SimpleRun};

pub use self::known_runs::KnownRuns;

use crate::event::{Denial, EditKind, FailingGate, GitEvent, Grade, Phase, PlanItem, Speaker, StopKind};
use crate::moment::Moment;
use crate::repo_path::RepoPath;
use crate::runner::Project;
use crate::timeline::Entry;

/// The maximum number of steps that are kept, the latest ones.
pub const MAX_STEPS: usize = 4_000;

/// The steps of one session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Story {
    /// The session, or `None` for everything that was recorded, in any session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The steps.
    pub steps: Vec<Step>,
    /// `true` if earlier steps are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// One recorded action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The id of the event.
    pub id: String,
    /// The grade of its record.
    pub grade: Grade,
    /// The sub-agent that did it, or `None` for the agent of the session, a person, or a program of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The client's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The content of the working tree before.
    pub before: ContentId,
    /// The content of the working tree after.
    pub content: ContentId,
    /// The action.
    pub deed: Deed,
}

/// The name of a content of the working tree within one story. Equal names mean equal content, as far as is known. An
/// edit with an unknown effect leads to a new name.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ContentId(String);

impl ContentId {
    /// Returns the name itself: a tree if a snapshot was taken, otherwise a text without a meaning outside of the
    /// story.
    #[cfg(test)]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The vocabulary of steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// The session began, continued, was compacted or ended.
    Session(Phase),
    /// A person or a program wrote to the agent.
    Prompted {
        /// The sender.
        from: Speaker,
        /// The text.
        text: String,
    },
    /// The agent wrote.
    Said(String),
    /// The agent asked the person a question.
    Asked(String),
    /// The agent wrote down or changed its plan.
    Planned(Vec<PlanItem>),
    /// A tool was used that changes no files.
    Used {
        /// The client's name of the tool.
        tool: String,
        /// `true` if it only reads.
        reads: bool,
        /// The target that it was used on.
        target: String,
        /// `true` if it failed.
        failed: bool,
    },
    /// A tool of the client changed files.
    Edited(Vec<TouchedFile>),
    /// A command line was run.
    Ran(Box<CommandRun>),
    /// git recorded something: a commit, a push, a movement of a ref.
    Git {
        /// The event.
        event: GitEvent,
        /// `true` if it is a push of content that no verdict let through.
        unjudged: bool,
    },
    /// A verdict was given.
    Judged {
        /// The moment of the judgement.
        moment: Moment,
        /// `true` if it blocked.
        blocked: bool,
        /// The gates that failed.
        failing: Vec<FailingGate>,
    },
    /// A tool call was refused before it ran.
    Denied(Denial),
    /// A sub-agent started (`true`) or ended.
    Subagent {
        /// Its id.
        id: String,
        /// `true` if it started.
        started: bool,
    },
    /// The agent ended its turn.
    Stopped {
        /// The way in which the turn ended.
        how: StopKind,
        /// The final message.
        text: String,
        /// The number of commands that were still running.
        running: u32,
    },
}

/// A file that a tool of the client changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TouchedFile {
    /// The file. The path is absolute if it is outside of the working tree.
    pub path: RepoPath,
    /// The kind of the edit.
    pub how: EditKind,
    /// The removed lines, bounded. Empty if the reporter does not give them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub removed: String,
    /// The added lines, bounded. Empty if the reporter does not give them.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub added: String,
}

impl Story {
    /// Makes the story of `session` (`None` for all sessions) from `entries`. Events of git belong to it if they
    /// happened between the session's own events. `project` is seen from the root of the working tree: its runners and
    /// task files define the meaning of a command line.
    ///
    /// Several reports of one tool call become one step, and the end of a command in the background joins the step of
    /// its start.
    pub fn of(entries: &[Entry], session: Option<&str>, project: Project<'_>) -> Self {
        from_events::story(entries, session, project, None)
    }

    /// Does the same where the lines that an earlier story had are known.
    pub fn of_known(entries: &[Entry], session: Option<&str>, project: Project<'_>, known: &mut KnownRuns) -> Self {
        from_events::story(entries, session, project, Some(known))
    }

    /// Returns `true` if there are no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the command lines, with their steps.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (&Step, &CommandRun)> {
        self.steps.iter().filter_map(|step| match &step.deed {
            Deed::Ran(ran) => Some((step, &**ran)),
            _ => None,
        })
    }

    /// Returns the steps since the last prompt of a person, or all steps if there is none.
    pub fn turn(&self) -> &[Step] {
        let person = |step: &Step| matches!(&step.deed, Deed::Prompted { from: Speaker::Person, .. });
        let from = self.steps.iter().rposition(person).unwrap_or(0);
        &self.steps[from..]
    }
}

/// Returns the last text that the agent wrote in these steps.
pub fn last_words(steps: &[Step]) -> Option<&str> {
    steps.iter().rev().find_map(|step| match &step.deed {
        Deed::Stopped { text, .. } | Deed::Said(text) if !text.trim().is_empty() => Some(text.as_str()),
        _ => None,
    })
}
