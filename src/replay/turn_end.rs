//! The stops of a session.

use crate::event::{Act, Event, EventKind, StopKind, TurnEnd};

/// The end of a turn of the agent itself, not of a sub-agent.
pub(super) fn stop_of(event: &Event) -> Option<&TurnEnd> {
    match &event.kind {
        EventKind::Work(work) if work.actor.is_none() => match &work.act {
            Act::Stopped(stop) => Some(stop),
            _ => None,
        },
        _ => None,
    }
}

/// Returns `true` if the agent stopped of itself: neither a person nor an error interrupted the turn.
pub(super) fn is_stop(event: &Event) -> bool {
    stop_of(event).is_some_and(|stop| stop.how == StopKind::Completed)
}
