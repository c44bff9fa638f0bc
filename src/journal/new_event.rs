//! An event that is to be recorded.

use crate::digest::hex_digest;
use crate::event::{Event, EventKind, Origin};

/// The digits of the time at the start of an id.
const TIME_DIGITS: usize = 12;

/// An event that is to be recorded. Its id and time are given when it is written.
#[derive(Clone, Debug, PartialEq)]
pub struct NewEvent {
    /// The session it belongs to, if it is known.
    pub session: Option<String>,
    /// The way in which it became known.
    pub origin: Origin,
    /// The event itself.
    pub kind: EventKind,
}

/// Gives an event its id and time.
pub(super) fn event(new: NewEvent) -> Event {
    event_after(new, None)
}

/// Gives an event its time, and an id after that of the event before it: the order of ids is that of the journal,
/// whatever the clock says.
pub(super) fn event_after(new: NewEvent, last: Option<&str>) -> Event {
    use std::sync::atomic::{AtomicU16, Ordering};
    static COUNTER: AtomicU16 = AtomicU16::new(0);

    let at = jiff::Timestamp::now();
    let counter = COUNTER.fetch_add(1, Ordering::Relaxed);
    let unique = hex_digest(&[
        &std::process::id().to_be_bytes(),
        &at.as_nanosecond().to_be_bytes(),
        &counter.to_be_bytes(),
        &random().to_be_bytes(),
    ]);
    // Milliseconds, then the order within a process, then what makes it unique among processes and machines.
    let id_at = |millis: i64| format!("{millis:0TIME_DIGITS$x}-{counter:04x}-{}", &unique[..10]);
    let mut id = id_at(at.as_millisecond());
    if let Some(last) = last.filter(|last| id.as_str() <= *last) {
        id = millis_of(last).map_or(id, |millis| id_at(millis.saturating_add(1)));
    }
    Event { id, at, session: new.session, origin: new.origin, kind: new.kind }
}

/// Returns `true` if an event with this id was recorded before `at`, to the millisecond.
pub fn is_recorded_before(id: &str, at: jiff::Timestamp) -> bool {
    millis_of(id).is_some_and(|millis| millis < at.as_millisecond())
}

/// Returns the second in which an event with this id was recorded, since 1970.
pub fn recorded_second(id: &str) -> Option<i64> {
    Some(millis_of(id)?.div_euclid(1000))
}

/// Returns the time in an id, in milliseconds since 1970.
fn millis_of(id: &str) -> Option<i64> {
    i64::from_str_radix(id.get(..TIME_DIGITS)?, 16).ok()
}

/// Returns eight random bytes: the standard library seeds its hash maps from the system.
pub(super) fn random() -> u64 {
    use std::hash::{BuildHasher, Hasher, RandomState};
    RandomState::new().build_hasher().finish()
}
