//! The form of an event on disk: one JSON object on one line.
//!
//! `schema_version, v, id, at, session?, by, grade, kind, data, lost?, prev`. `data` is the event itself. It is read
//! only if its `kind` is known and `v` is not newer than this program's version; otherwise it is kept as it is. `prev`
//! is the link of the chain (see [`super::hash_chain`]), `lost` marks a place where lines before this one are known to
//! be missing.

use std::borrow::Cow;

use jiff::Timestamp;
use serde::de::IntoDeserializer;
use serde::{Deserialize, Serialize};
use serde_json::value::{RawValue, to_raw_value};

use crate::event::{Event, EventKind, FORMAT, Grade, Origin};

/// The longest line, in bytes. Outputs are cut long before it; a longer line is damage.
pub const MAX_LINE: usize = 1024 * 1024;

#[derive(Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct StoredLine<'a> {
    /// The same as `v`, under the name that all records have. Older lines do not have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    schema_version: Option<u32>,
    v: u32,
    #[serde(borrow)]
    id: Cow<'a, str>,
    at: Timestamp,
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    session: Option<Cow<'a, str>>,
    #[serde(borrow)]
    by: Cow<'a, str>,
    #[serde(borrow)]
    grade: Cow<'a, str>,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    #[serde(borrow)]
    #[cfg_attr(test, schemars(with = "serde_json::Value"))]
    data: &'a RawValue,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<u64>,
    #[serde(borrow, default)]
    prev: Cow<'a, str>,
}

/// A line that could be read.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Decoded {
    pub(super) event: Event,
    /// The digest of the line before, as the writer saw it.
    pub(super) prev: String,
    /// The number of missing bytes before this line; 0 if the bytes are there but differ.
    pub(super) lost: Option<u64>,
}

/// Returns the event as JSON: the `data` of a line.
pub fn data(kind: &EventKind) -> serde_json::Result<Box<RawValue>> {
    match kind {
        EventKind::Unknown { data, .. } => to_raw_value(data),
        known => to_raw_value(known),
    }
}

/// Returns the bytes of a line, its newline included.
pub(super) fn encode(event: &Event, prev: &str, lost: Option<u64>) -> serde_json::Result<Vec<u8>> {
    let data = data(&event.kind)?;
    written(&StoredLine {
        schema_version: Some(FORMAT),
        v: FORMAT,
        id: Cow::Borrowed(&event.id),
        at: event.at,
        session: event.session.as_deref().map(Cow::Borrowed),
        by: Cow::Borrowed(&event.origin.by),
        grade: Cow::Borrowed(event.origin.grade.as_str()),
        kind: Cow::Borrowed(event.kind.as_str()),
        data: &data,
        lost,
        prev: Cow::Borrowed(prev),
    })
}

/// Returns the same line with another `prev`: everything else stays as its writer, of whatever version, wrote it.
pub(super) fn relink(line: &[u8], prev: &str) -> serde_json::Result<Vec<u8>> {
    let mut wire: StoredLine<'_> = serde_json::from_slice(line)?;
    wire.prev = Cow::Borrowed(prev);
    written(&wire)
}

fn written(wire: &StoredLine<'_>) -> serde_json::Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(wire)?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Reads a line without its newline. The error is its problem.
pub(super) fn decode(line: &[u8]) -> Result<Decoded, String> {
    let wire: StoredLine<'_> = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let kind = if wire.v > FORMAT { unknown(&wire) } else { known(&wire) }.map_err(|error| error.to_string())?;
    // A grade that is not known is worth nothing rather than the whole line.
    let grade: Result<Grade, serde::de::value::Error> = Grade::deserialize((&*wire.grade).into_deserializer());
    Ok(Decoded {
        event: Event {
            id: wire.id.into_owned(),
            at: wire.at,
            session: wire.session.map(Cow::into_owned),
            origin: Origin { by: wire.by.into_owned(), grade: grade.unwrap_or(Grade::Claimed) },
            kind,
        },
        prev: wire.prev.into_owned(),
        lost: wire.lost,
    })
}

fn known(wire: &StoredLine<'_>) -> serde_json::Result<EventKind> {
    let data = wire.data.get();
    Ok(match &*wire.kind {
        "run-started" => EventKind::RunStarted(serde_json::from_str(data)?),
        "run" => EventKind::Run(serde_json::from_str(data)?),
        "tests" => EventKind::Tests(serde_json::from_str(data)?),
        "judged" => EventKind::Judged(serde_json::from_str(data)?),
        "waived" => EventKind::Waived(serde_json::from_str(data)?),
        "appealed" => EventKind::Appealed(serde_json::from_str(data)?),
        "git" => EventKind::Git(serde_json::from_str(data)?),
        "work" => EventKind::Work(serde_json::from_str(data)?),
        "rescue" => EventKind::Rescue(serde_json::from_str(data)?),
        "trial" => EventKind::Trial(serde_json::from_str(data)?),
        "proof" => EventKind::Proof(serde_json::from_str(data)?),
        "posted" => EventKind::Posted(serde_json::from_str(data)?),
        "settings" => EventKind::Settings(serde_json::from_str(data)?),
        "plan" => EventKind::Plan(serde_json::from_str(data)?),
        "task" => EventKind::Task(serde_json::from_str(data)?),
        "model" => EventKind::Model(serde_json::from_str(data)?),
        "damage" => EventKind::Damage(serde_json::from_str(data)?),
        "repaired" => EventKind::Repaired(serde_json::from_str(data)?),
        "head" => EventKind::Head(serde_json::from_str(data)?),
        "pruned" => EventKind::Pruned(serde_json::from_str(data)?),
        _ => unknown(wire)?,
    })
}

fn unknown(wire: &StoredLine<'_>) -> serde_json::Result<EventKind> {
    Ok(EventKind::Unknown { kind: wire.kind.clone().into_owned(), data: serde_json::from_str(wire.data.get())? })
}
