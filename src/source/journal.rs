//! The events of the journal.

use crate::event::{Damage, Event, EventKind, Origin};
use crate::journal::{Journal, JournalError, JournalLine};

/// Returns all events of the journal, in its order. A line that cannot be read is a `damage` event at the time of the
/// line before it, so that a gap is seen at its place.
pub fn read(journal: &Journal) -> Result<Vec<Event>, JournalError> {
    Ok(events(journal.events()?))
}

/// Returns the last events, as [`read`] does, and `true` if there are earlier ones.
pub fn read_last(journal: &Journal, count: usize) -> Result<(Vec<Event>, bool), JournalError> {
    let (lines, more) = journal.last_events(count)?;
    Ok((events(lines), more))
}

fn events(lines: impl IntoIterator<Item = JournalLine>) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    for line in lines {
        let event = match line {
            JournalLine::Event(event) => event,
            JournalLine::Damaged { number, reason } => Event {
                id: format!("line-{number}"),
                at: events.last().map(|event| event.at).unwrap_or_default(),
                session: None,
                origin: Origin::observed(),
                kind: EventKind::Damage(Damage {
                    what: format!("line {number} of the journal cannot be read: {reason}"),
                }),
            },
        };
        events.push(event);
    }
    events
}
