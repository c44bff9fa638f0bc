//! The command lines of all sessions, as far as each is one plain command.

use super::CuratorSources;
use super::plain_command::PlainCommand;
use crate::command_line::CheckOutcome;
use crate::event::Ended;
use crate::fact::session_steps::{CommandRun, Deed, Story};

/// A run of one plain command.
pub(super) struct SeenRun<'s> {
    /// The index of its story.
    pub(super) story: usize,
    /// The session.
    pub(super) session: &'s str,
    /// The index of its step.
    pub(super) step: usize,
    /// The id of its event.
    pub(super) id: &'s str,
    /// The command.
    pub(super) command: PlainCommand,
    /// The run.
    pub(super) ran: &'s CommandRun,
    /// The end of its output.
    pub(super) output: &'s str,
}

impl SeenRun<'_> {
    /// Returns `true` if it is known to have succeeded.
    pub(super) fn passed(&self) -> bool {
        match self.ran.result {
            Some(result) => result == CheckOutcome::Pass,
            None => self.ran.ended.is_some_and(Ended::success),
        }
    }
}

/// Returns the runs of all stories, in order.
pub(super) fn all<'s>(sources: &CuratorSources<'s>) -> Vec<SeenRun<'s>> {
    sources.stories.iter().enumerate().flat_map(|(at, story)| of(at, story, sources)).collect()
}

fn of<'s>(at: usize, story: &'s Story, sources: &CuratorSources<'s>) -> Vec<SeenRun<'s>> {
    let session = story.session.as_deref().unwrap_or("unknown");
    let outputs = sources.outputs;
    let seen = |(step, one): (usize, &'s crate::fact::session_steps::Step)| {
        let Deed::Ran(ran) = &one.deed else { return None };
        let command = PlainCommand::of(&ran.line).filter(|_| !ran.background)?;
        let output = outputs.get(&one.id).map(String::as_str).unwrap_or_default();
        Some(SeenRun { story: at, session, step, id: &one.id, command, ran, output })
    };
    story.steps.iter().enumerate().filter_map(seen).collect()
}
