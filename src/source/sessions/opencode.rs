//! OpenCode: `opencode/opencode.db`, an `SQLite` database in WAL mode with a row for each session, message and part.
//!
//! Parts are rewritten while they grow; each is recorded once, when it is done. Ids grow with time, so the order of the
//! ids is that of the acts. A sub-agent is a session with a parent. A fork holds copies of messages that are older than
//! itself.

mod export;
mod part;

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

pub(super) use self::export::document;
use self::part::part_of;
use super::SessionLog;
use super::event_builder::Transcript;
use super::lazy_json::{BrokenJson, JsonCursor};
use crate::event::agent_work::{Act, Phase, StopKind};

/// The time to wait for the client, which writes at the same time.
const DATABASE_TIMEOUT: Duration = Duration::from_secs(2);

/// A session of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OpencodeSession {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) dir: String,
    pub(super) created: i64,
}

/// Opens the database for reading. Nothing of it is changed.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
    // A pipe would be waited for.
    if path.metadata().is_ok_and(|metadata| !metadata.is_file()) {
        return Err(rusqlite::Error::InvalidPath(path.to_owned()));
    }
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let first = Connection::open_with_flags(path, flags).and_then(probe);
    match first {
        // A reader shares memory with writers through a file beside it. Where it cannot be made nobody writes either.
        Err(rusqlite::Error::SqliteFailure(error, _))
            if matches!(error.code, ErrorCode::CannotOpen | ErrorCode::ReadOnly) && path.is_file() =>
        {
            let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
            let flags = flags | OpenFlags::SQLITE_OPEN_URI;
            Connection::open_with_flags(format!("file:{name}?immutable=1"), flags).and_then(probe)
        }
        other => other,
    }
}

fn probe(connection: Connection) -> rusqlite::Result<Connection> {
    connection.busy_timeout(DATABASE_TIMEOUT)?;
    connection.query_row("select count(*) from sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// Returns all sessions, oldest first.
pub(super) fn sessions(connection: &Connection) -> rusqlite::Result<Vec<OpencodeSession>> {
    let mut query =
        connection.prepare("select id, parent_id, directory, time_created from session order by time_created, id")?;
    let rows = query.query_map([], |row| {
        Ok(OpencodeSession { id: row.get(0)?, parent: row.get(1)?, dir: row.get(2)?, created: row.get(3)? })
    })?;
    rows.collect()
}

/// Returns the session above all sub-agents that one belongs to.
pub(super) fn root_of<'s>(session: &'s OpencodeSession, sessions: &'s [OpencodeSession]) -> &'s str {
    let mut at = session;
    // A ring of parents would have no root.
    for _ in 0..sessions.len() {
        let above = at.parent.as_ref().and_then(|parent| sessions.iter().find(|session| session.id == *parent));
        let Some(parent) = above else { break };
        at = parent;
    }
    &at.id
}

/// The mark of the last message that was read to its end.
const MESSAGE: &str = "message";

/// Reads the messages of a session that have not been read yet.
pub(super) fn read(
    connection: &Connection,
    session: &OpencodeSession,
    root: &str,
    log: &mut Transcript<'_>,
) -> rusqlite::Result<()> {
    if log.memory.session.is_none() {
        begin(session, root, log);
    }
    let after = log.memory.marks.get(MESSAGE).cloned().unwrap_or_default();
    let mut messages =
        connection.prepare("select id, data from message where session_id = ?1 and id > ?2 order by id")?;
    let mut parts = connection.prepare("select id, data from part where message_id = ?1 order by id")?;
    let mut rows = messages.query([&session.id, &after])?;
    let mut is_complete = true;
    while let Some(row) = rows.next()? {
        let Some((id, data)) = columns(row) else {
            log.broken();
            continue;
        };
        let Ok(message) = SessionMessage::read(id, data) else {
            log.broken();
            continue;
        };
        let created = begins(&message, session, log);
        let mut rows = parts.query([id])?;
        while let Some(row) = rows.next()? {
            let told =
                columns(row).ok_or(BrokenJson).and_then(|(part, data)| part_of(part, data, &message, created, log));
            if told.is_err() {
                log.broken();
            }
        }
        ends(&message, created, log);
        is_complete &= message.is_done();
        // What follows an unfinished message is read again with it.
        if is_complete {
            log.memory.marks.insert(MESSAGE.to_owned(), id.to_owned());
            log.memory.told.clear();
        }
    }
    Ok(())
}

/// A message begins. Returns when it was made.
fn begins(message: &SessionMessage<'_>, session: &OpencodeSession, log: &mut Transcript<'_>) -> Option<Timestamp> {
    let created = message.created.and_then(|created| Timestamp::from_millisecond(created).ok());
    log.line(message.id, created);
    log.memory.copied = message.created.is_some_and(|created| created + 1000 < session.created);
    if let Some(cwd) = &message.cwd {
        log.enter(cwd);
    }
    created
}

/// All parts of a message were read.
fn ends(message: &SessionMessage<'_>, created: Option<Timestamp>, log: &mut Transcript<'_>) {
    let end = format!("{} end", message.id);
    log.line(&end, message.completed.and_then(|at| Timestamp::from_millisecond(at).ok()).or(created));
    if message.is_done() && is_new(&end, log) {
        ended(message, log);
    }
}

/// Returns the models that answered in a session; the one that answered last is at the end.
pub(super) fn models(log: &SessionLog) -> rusqlite::Result<Vec<String>> {
    let connection = open(&log.path)?;
    let mut named = connection.prepare(
        "select json_extract(data, '$.modelID') from message
         where session_id = ?1 and json_valid(data) and json_type(data, '$.modelID') = 'text'
         group by 1 order by max(id)",
    )?;
    let models = named.query_map([log.session.as_deref().unwrap_or_default()], |row| row.get(0))?;
    models.collect()
}

fn columns<'r>(row: &'r Row<'_>) -> Option<(&'r str, &'r [u8])> {
    let ValueRef::Text(id) = row.get_ref(0).ok()? else { return None };
    let (ValueRef::Text(data) | ValueRef::Blob(data)) = row.get_ref(1).ok()? else { return None };
    Some((std::str::from_utf8(id).ok()?, data))
}

fn begin(session: &OpencodeSession, root: &str, log: &mut Transcript<'_>) {
    log.memory.session = Some(root.to_owned());
    log.enter(&session.dir);
    log.line(&session.id, Timestamp::from_millisecond(session.created).ok());
    if session.parent.is_some() {
        log.act(None, Act::SubagentStarted(session.id.clone()));
        log.memory.actor = Some(session.id.clone());
    } else {
        log.session(Phase::Started);
    }
}

fn is_new(id: &str, log: &mut Transcript<'_>) -> bool {
    if log.memory.told.iter().any(|told| told == id) {
        return false;
    }
    log.memory.told.push(id.to_owned());
    true
}

/// A message without its parts.
#[derive(Default)]
struct SessionMessage<'a> {
    id: &'a str,
    is_user: bool,
    created: Option<i64>,
    completed: Option<i64>,
    finish: Option<Cow<'a, str>>,
    error: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    is_summary: bool,
}

impl<'a> SessionMessage<'a> {
    fn read(id: &'a str, data: &'a [u8]) -> Result<Self, BrokenJson> {
        let mut message = Self { id, ..Self::default() };
        JsonCursor::new(data).object(|walk, key| {
            match key {
                b"role" => message.is_user = walk.raw()?.bytes() == b"\"user\"",
                b"time" => walk.object(|walk, key| {
                    match key {
                        b"created" => message.created = walk.raw()?.number(),
                        b"completed" => message.completed = walk.raw()?.number(),
                        _ => {}
                    }
                    Ok(())
                })?,
                b"finish" => message.finish = walk.text()?,
                b"error" => walk.object(|walk, key| {
                    if key == b"name" {
                        message.error = walk.text()?;
                    }
                    Ok(())
                })?,
                b"path" => walk.object(|walk, key| {
                    if key == b"cwd" {
                        message.cwd = walk.text()?;
                    }
                    Ok(())
                })?,
                b"summary" => message.is_summary = walk.raw()?.is_true(),
                _ => {}
            }
            Ok(())
        })?;
        Ok(message)
    }

    fn is_done(&self) -> bool {
        self.is_user || self.completed.is_some() || self.error.is_some()
    }
}

fn ended(message: &SessionMessage<'_>, log: &mut Transcript<'_>) {
    let words = log.memory.closing.take().filter(|closing| closing.message == message.id).map(|closing| closing.text);
    let words = words.unwrap_or_default();
    match (message.error.as_deref(), message.finish.as_deref()) {
        _ if message.is_user || message.is_summary => {}
        (Some("MessageAbortedError"), _) => log.stopped(StopKind::Aborted, words),
        (Some(_), _) => log.stopped(StopKind::Failed, words),
        (None, Some("tool-calls" | "unknown")) => {}
        (None, _) => log.stopped(StopKind::Completed, words),
    }
}
