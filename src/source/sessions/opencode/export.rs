//! What `opencode export` prints: a session with its messages and their parts, as the database has them.

use super::super::document_items;
use super::super::event_builder::Transcript;
use super::super::lazy_json::{BrokenJson, JsonCursor, Raw};
use super::part::part_of;
use super::{OpencodeSession, SessionMessage, begin, begins, ends};

/// Reads an exported session.
pub(in super::super) fn document(text: &[u8], log: &mut Transcript<'_>) {
    let session = session(text);
    begin(&session, session.parent.as_deref().unwrap_or(&session.id), log);
    log.memory.marks.insert(CREATED.to_owned(), session.created.to_string());
    document_items::each(text, b"messages", log, message);
}

/// The mark of the time at which the session was made, which a fork's messages may be older than.
const CREATED: &str = "created";

/// The session, as far as the document goes.
fn session(text: &[u8]) -> OpencodeSession {
    let mut session = OpencodeSession { id: String::new(), parent: None, dir: String::new(), created: 0 };
    let _ = JsonCursor::new(text).object(|walk, key| if key == b"info" { session.field(walk) } else { Ok(()) });
    session
}

impl OpencodeSession {
    fn field(&mut self, walk: &mut JsonCursor<'_>) -> Result<(), BrokenJson> {
        walk.object(|walk, key| {
            match key {
                b"id" => self.id = walk.raw()?.text_or_empty().into_owned(),
                b"parentID" => self.parent = walk.text()?.map(Into::into),
                b"directory" => self.dir = walk.raw()?.text_or_empty().into_owned(),
                b"time" => walk.object(|walk, key| {
                    if key == b"created" {
                        self.created = walk.raw()?.number().unwrap_or_default();
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })
    }
}

/// Reads a message with its parts.
fn message(item: &[u8], log: &mut Transcript<'_>) -> Result<(), BrokenJson> {
    let (mut info, mut parts) = (None, None);
    JsonCursor::new(item).object(|walk, key| {
        match key {
            b"info" => info = Some(walk.raw()?),
            b"parts" => parts = Some(walk.raw()?),
            _ => {}
        }
        Ok(())
    })?;
    let info = info.ok_or(BrokenJson)?;
    let id = id_of(info)?;
    let message = SessionMessage::read(&id, info.bytes())?;
    let created = log.memory.marks.get(CREATED).and_then(|created| created.parse().ok()).unwrap_or_default();
    let session = OpencodeSession { id: String::new(), parent: None, dir: String::new(), created };
    let created = begins(&message, &session, log);
    // What is told twice is told by parts of one message.
    log.memory.told.clear();
    let mut number = 0;
    if let Some(parts) = parts {
        parts.walk().array(|walk| {
            let part = walk.raw()?;
            number += 1;
            let id = id_of(part).map(|id| if id.is_empty() { format!("{} {number}", message.id) } else { id });
            if id.and_then(|id| part_of(&id, part.bytes(), &message, created, log)).is_err() {
                log.broken();
            }
            Ok(())
        })?;
    }
    ends(&message, created, log);
    Ok(())
}

fn id_of(raw: Raw<'_>) -> Result<String, BrokenJson> {
    let mut id = String::new();
    raw.walk().object(|walk, key| {
        if key == b"id" {
            id = walk.raw()?.text_or_empty().into_owned();
        }
        Ok(())
    })?;
    Ok(id)
}
