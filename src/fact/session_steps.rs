//! What one session did, step by step: who did what, on which content, and what came of it.
//!
//! Made of events alone ([`Story::of`]), so that a live session, a log and a case that is replayed give the same story.
//! A step says what was recorded; whether it was good is for the gates.

mod command_run;
mod content_tracking;
mod from_events;
mod output_similarity;
#[cfg(test)]
pub(crate) mod test_builder;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub(super) use self::command_run::bounded;
pub use self::command_run::{CommandRun, SimpleRun};

use crate::command_line::CheckOutcome;
use crate::event::agent_work::{Denial, EditKind, Phase, PlanItem, Speaker, StopKind};
use crate::event::{FailingGate, GitEvent, Grade};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::runner::ProjectFiles;
use crate::timeline::Entry;

/// How many steps are kept, the latest ones.
pub const MOST: usize = 4_000;

/// The steps of one session, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Story {
    /// The session; `None`: whatever was recorded, whoever did it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What was done.
    pub steps: Vec<Step>,
    /// Earlier steps are left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// One thing that was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    /// The id of the event.
    pub id: String,
    /// What its record is worth.
    pub grade: Grade,
    /// The sub-agent that did it; `None`: the agent of the session, a person, or a program of theirs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub actor: Option<String>,
    /// The client's id of the tool call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// The content of the working tree before.
    pub before: ContentId,
    /// The content of the working tree after.
    pub content: ContentId,
    /// What.
    pub deed: Deed,
}

/// The name of a content of the working tree within one story. Equal names: equal content, as far as is known. Where the
/// effect of an edit is not known, the name is a new one.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(transparent)]
pub struct ContentId(String);

impl ContentId {
    /// The name itself: a tree where a snapshot was taken, else something of no meaning outside of the story.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The vocabulary of steps.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// The session began, went on, was shortened or ended.
    Session(Phase),
    /// Somebody or something wrote to the agent.
    Prompted {
        /// Who.
        from: Speaker,
        /// What.
        text: String,
    },
    /// The agent wrote.
    Said(String),
    /// The agent asked the person something.
    Asked(String),
    /// The agent wrote down or changed its plan.
    Planned(Vec<PlanItem>),
    /// A tool was used that changes nothing.
    Used {
        /// The client's name of it.
        tool: String,
        /// Whether it only reads.
        reads: bool,
        /// What it was used on.
        target: String,
        /// Whether it failed.
        failed: bool,
    },
    /// Files were changed by a tool of the client.
    Edited(Vec<TouchedFile>),
    /// A command line was run.
    Ran(Box<CommandRun>),
    /// git recorded something: a commit, a push, a movement of a ref.
    Git {
        /// What it recorded.
        event: GitEvent,
        /// It is a push of content that no verdict let through.
        unjudged: bool,
    },
    /// A verdict was given.
    Judged {
        /// When it was asked for.
        moment: Moment,
        /// Whether it blocked.
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
        /// Whether it started.
        started: bool,
    },
    /// The agent ended its turn.
    Stopped {
        /// How it came to end.
        how: StopKind,
        /// Its last words.
        text: String,
        /// Commands still running.
        running: u32,
    },
}

/// A file that was changed by a tool of the client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct TouchedFile {
    /// The file; absolute where it lies outside of the working tree.
    pub path: RepoPath,
    /// What was done with it.
    pub how: EditKind,
    /// Lines that went, bounded; empty where the reporter does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub removed: String,
    /// Lines that came, bounded; empty where the reporter does not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub added: String,
}

impl Story {
    /// The story of `session` (`None`: of all that is there) in `entries`. What git recorded belongs to it where it
    /// happened between the session's own events. `files` are those of the root of the working tree: task files say
    /// what a command line means.
    ///
    /// Several reports of one tool call become one step, and the end of a command in the background that of its start.
    pub fn of(entries: &[Entry], session: Option<&str>, files: &dyn ProjectFiles) -> Self {
        from_events::story(entries, session, files)
    }

    /// Nothing is known of what was done.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// The command lines, with their steps.
    pub fn runs(&self) -> impl DoubleEndedIterator<Item = (&Step, &CommandRun)> {
        self.steps.iter().filter_map(|step| match &step.deed {
            Deed::Ran(ran) => Some((step, &**ran)),
            _ => None,
        })
    }

    /// The steps since the last prompt of a person, or all where there is none.
    pub fn turn(&self) -> &[Step] {
        let person = |step: &Step| matches!(&step.deed, Deed::Prompted { from: Speaker::Person, .. });
        let from = self.steps.iter().rposition(person).unwrap_or(0);
        &self.steps[from..]
    }
}

impl Step {
    /// The commit that git recorded with it.
    pub fn commit(&self) -> Option<&Oid> {
        match &self.deed {
            Deed::Git { event, .. } if event.action.starts_with("commit") => event.new.as_ref(),
            _ => None,
        }
    }

    /// Whether it is the run of a check that ended badly.
    pub fn is_failed_check(&self) -> bool {
        matches!(&self.deed, Deed::Ran(ran) if ran.result == Some(CheckOutcome::Fail))
    }
}
