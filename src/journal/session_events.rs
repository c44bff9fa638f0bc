//! The events of one session, from the first act that its client reported.

use super::read::JournalLine;
use super::{Journal, JournalError, JournalState};
use crate::event::{Event, EventKind};

/// The largest part of the journal that is read for a session, in bytes from its end.
pub const MAX_STORY: u64 = 8 * 1024 * 1024;

/// The acts of one session, as [`Journal::session_events`] reads them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SessionEvents {
    /// The events, oldest first.
    pub events: Vec<Event>,
    /// Earlier ones lie too far back.
    pub cut: bool,
}

impl Journal {
    /// Returns the events of all sessions in the last [`MAX_STORY`] bytes of the journal, the spooled ones last.
    /// Unreadable ones are left out.
    pub fn latest_events(&self) -> Result<Vec<Event>, JournalError> {
        let path = self.journal_path();
        let (mut found, spooled) = self.with_spool(|| {
            let mut found = Vec::new();
            let length = self.end()?;
            let Some(mut lines) = self.raw_lines(length.saturating_sub(MAX_STORY))? else { return Ok(found) };
            while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
                found.extend(line.decode().ok().map(|line| line.event));
            }
            Ok(found)
        })?;
        found.extend(spooled.lines().into_iter().filter_map(|line| match line {
            JournalLine::Event(event) => Some(event),
            JournalLine::Damaged { .. } => None,
        }));
        Ok(found)
    }

    /// Returns the events of a session since its client reported its first act, the spooled ones last: at most those in
    /// the last [`MAX_STORY`] bytes of the journal. If no client reported an act (`state` is that of the journal), the
    /// result is empty and nothing is read. Events that cannot be read are left out.
    pub fn session_events(&self, state: &JournalState, session: &str) -> Result<SessionEvents, JournalError> {
        let own = |event: &Event| event.session.as_deref() == Some(session);
        let begins = state.work_begins(session);
        let path = self.journal_path();
        let (mut found, spooled) = self.with_spool(|| {
            let mut found = SessionEvents::default();
            let Some(begins) = begins else { return Ok(found) };
            let length = self.end()?;
            let from = begins.max(length.saturating_sub(MAX_STORY));
            found.cut = from > begins;
            let Some(mut lines) = self.raw_lines(from)? else { return Ok(found) };
            while let Some(line) = lines.next_line().map_err(JournalError::read(&path))? {
                found.events.extend(line.decode().ok().map(|line| line.event).filter(own));
            }
            Ok(found)
        })?;
        let spooled: Vec<Event> = spooled
            .lines()
            .into_iter()
            .filter_map(|line| match line {
                JournalLine::Event(event) => Some(event).filter(own),
                JournalLine::Damaged { .. } => None,
            })
            .collect();
        if begins.is_some() || spooled.iter().any(|event| own(event) && matches!(event.kind, EventKind::Work(_))) {
            found.events.extend(spooled);
        }
        Ok(found)
    }
}
