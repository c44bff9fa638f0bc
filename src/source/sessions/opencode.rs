//! OpenCode: `opencode/opencode.db`, an `SQLite` database in WAL mode with a row for each session, message and part.
//!
//! Parts are rewritten while they come about; each is told once, when it is done. Ids grow with time, so the order of
//! the ids is that of the acts. A sub-agent is a session with a parent. A fork holds copies of messages that are older
//! than itself.

use std::borrow::Cow;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OpenFlags, Row};

use super::client::{Client, Role};
use super::json::{Broken, Raw, Walk};
use super::patch;
use super::text::{self, LINE, SHORT, Sides, WORDS};
use super::transcript::{Call, Outcome, Transcript};
use crate::event::Ended;
use crate::event::work::{Act, EditKind, Phase, PlanItem, Speaker, StopKind};

/// How long to wait for the client, which writes in between.
const PATIENCE: Duration = Duration::from_secs(2);

/// A session of the database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Session {
    pub(super) id: String,
    pub(super) parent: Option<String>,
    pub(super) dir: String,
    pub(super) created: i64,
}

/// Opens the database for reading. Nothing of it is changed.
pub(super) fn open(path: &Path) -> rusqlite::Result<Connection> {
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
    connection.busy_timeout(PATIENCE)?;
    connection.query_row("select count(*) from sqlite_master", [], |_| Ok(()))?;
    Ok(connection)
}

/// All sessions, oldest first.
pub(super) fn sessions(connection: &Connection) -> rusqlite::Result<Vec<Session>> {
    let mut query =
        connection.prepare("select id, parent_id, directory, time_created from session order by time_created, id")?;
    let rows = query.query_map([], |row| {
        Ok(Session { id: row.get(0)?, parent: row.get(1)?, dir: row.get(2)?, created: row.get(3)? })
    })?;
    rows.collect()
}

/// The session above all sub-agents that one belongs to.
pub(super) fn root_of<'s>(session: &'s Session, sessions: &'s [Session]) -> &'s str {
    let mut at = session;
    // A ring of parents would have no root.
    for _ in 0..sessions.len() {
        let above = at.parent.as_ref().and_then(|parent| sessions.iter().find(|session| session.id == *parent));
        let Some(parent) = above else { break };
        at = parent;
    }
    &at.id
}

/// The mark of the last message that was told to its end.
const MESSAGE: &str = "message";

/// Reads the messages of a session that have not been told.
pub(super) fn read(
    connection: &Connection,
    session: &Session,
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
        let Ok(message) = Message::read(id, data) else {
            log.broken();
            continue;
        };
        let created = message.created.and_then(|created| Timestamp::from_millisecond(created).ok());
        log.line(id, created);
        log.memory.copied = message.created.is_some_and(|created| created + 1000 < session.created);
        if let Some(cwd) = &message.cwd {
            log.enter(cwd);
        }
        let mut rows = parts.query([id])?;
        while let Some(row) = rows.next()? {
            let told = columns(row).ok_or(Broken).and_then(|(part, data)| part_of(part, data, &message, created, log));
            if told.is_err() {
                log.broken();
            }
        }
        log.line(
            &format!("{id} end"),
            message.completed.and_then(|at| Timestamp::from_millisecond(at).ok()).or(created),
        );
        is_complete &= message.is_done();
        if message.is_done() && is_new(&format!("{id} end"), log) {
            ended(&message, log);
        }
        // What follows an unfinished message is read again with it.
        if is_complete {
            log.memory.marks.insert(MESSAGE.to_owned(), id.to_owned());
            log.memory.told.clear();
        }
    }
    Ok(())
}

fn columns<'r>(row: &'r Row<'_>) -> Option<(&'r str, &'r [u8])> {
    let ValueRef::Text(id) = row.get_ref(0).ok()? else { return None };
    let (ValueRef::Text(data) | ValueRef::Blob(data)) = row.get_ref(1).ok()? else { return None };
    Some((std::str::from_utf8(id).ok()?, data))
}

fn begin(session: &Session, root: &str, log: &mut Transcript<'_>) {
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
struct Message<'a> {
    id: &'a str,
    is_user: bool,
    created: Option<i64>,
    completed: Option<i64>,
    finish: Option<Cow<'a, str>>,
    error: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    is_summary: bool,
}

impl<'a> Message<'a> {
    fn read(id: &'a str, data: &'a [u8]) -> Result<Self, Broken> {
        let mut message = Self { id, ..Self::default() };
        Walk::new(data).object(|walk, key| {
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

fn ended(message: &Message<'_>, log: &mut Transcript<'_>) {
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

/// A part of a message.
#[derive(Default)]
struct Part<'a> {
    kind: Cow<'a, str>,
    text: Option<Raw<'a>>,
    is_synthetic: bool,
    is_of_gate: bool,
    end: Option<i64>,
    tool: Cow<'a, str>,
    call: Cow<'a, str>,
    state: State<'a>,
}

/// What became of a tool call.
#[derive(Default)]
struct State<'a> {
    status: Cow<'a, str>,
    input: Option<Raw<'a>>,
    output: Option<Raw<'a>>,
    error: Option<Raw<'a>>,
    end: Option<i64>,
    exit: Option<i64>,
    shown: Option<Raw<'a>>,
    diff: Option<Raw<'a>>,
    file: Option<Cow<'a, str>>,
    session: Option<Cow<'a, str>>,
}

impl<'a> Part<'a> {
    fn read(data: &'a [u8]) -> Result<Self, Broken> {
        let mut part = Self::default();
        let mut walk = Walk::new(data);
        walk.object(|walk, key| {
            match key {
                b"type" => part.kind = walk.raw()?.text_or_empty(),
                b"text" => part.text = Some(walk.raw()?),
                b"synthetic" | b"ignored" => part.is_synthetic |= walk.raw()?.is_true(),
                b"metadata" => walk.object(|walk, key| {
                    if key == b"gate" {
                        part.is_of_gate = walk.raw()?.is_set();
                    }
                    Ok(())
                })?,
                b"time" => part.end = end(walk)?,
                b"tool" => part.tool = walk.raw()?.text_or_empty(),
                b"callID" => part.call = walk.raw()?.text_or_empty(),
                b"state" => part.state.read(walk)?,
                _ => {}
            }
            Ok(())
        })?;
        if walk.is_at_end() { Ok(part) } else { Err(Broken) }
    }
}

fn end(walk: &mut Walk<'_>) -> Result<Option<i64>, Broken> {
    let mut found = None;
    walk.object(|walk, key| {
        if key == b"end" {
            found = walk.raw()?.number();
        }
        Ok(())
    })?;
    Ok(found)
}

impl<'a> State<'a> {
    fn read(&mut self, walk: &mut Walk<'a>) -> Result<(), Broken> {
        walk.object(|walk, key| {
            match key {
                b"status" => self.status = walk.raw()?.text_or_empty(),
                b"input" => self.input = Some(walk.raw()?),
                b"output" => self.output = Some(walk.raw()?),
                b"error" => self.error = Some(walk.raw()?),
                b"time" => self.end = end(walk)?,
                b"metadata" => walk.object(|walk, key| {
                    match key {
                        b"exit" => self.exit = walk.raw()?.number(),
                        b"output" => self.shown = Some(walk.raw()?),
                        b"diff" => self.diff = Some(walk.raw()?),
                        b"filepath" => self.file = walk.text()?,
                        b"sessionId" => self.session = walk.text()?,
                        _ => {}
                    }
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })
    }
}

fn part_of(
    id: &str,
    data: &[u8],
    message: &Message<'_>,
    created: Option<Timestamp>,
    log: &mut Transcript<'_>,
) -> Result<(), Broken> {
    let part = Part::read(data)?;
    let at = |end: Option<i64>| end.and_then(|end| Timestamp::from_millisecond(end).ok()).or(created);
    let words = part.text.map(|text| text::start_of(text, WORDS)).unwrap_or_default();
    match &*part.kind {
        "text" if message.is_user && is_new(id, log) => {
            log.line(id, created);
            let from = match (part.is_of_gate, part.is_synthetic) {
                (true, _) => Speaker::Hook,
                (false, true) => Speaker::Client,
                (false, false) => Speaker::Person,
            };
            log.prompt(from, words);
        }
        // A summary of what was before is no word of the agent to anybody.
        "text" if !message.is_user && !message.is_summary && (part.end.is_some() || message.is_done()) => {
            log.line(id, at(part.end));
            if is_new(id, log) {
                log.said(words.clone());
            }
            log.closes(message.id, &words);
        }
        "compaction" if is_new(id, log) => {
            log.line(id, created);
            log.session(Phase::Compacted);
        }
        "tool" if matches!(&*part.state.status, "completed" | "error") && is_new(id, log) => {
            log.line(id, at(part.state.end));
            tool(&part, log)?;
        }
        _ => {}
    }
    Ok(())
}

/// The arguments of a call that matter.
#[derive(Default)]
struct Input<'a> {
    what: Option<Raw<'a>>,
    file: Option<Raw<'a>>,
    dir: Option<Cow<'a, str>>,
    old: Option<Raw<'a>>,
    new: Option<Raw<'a>>,
    patch: Option<Raw<'a>>,
    plan: Vec<PlanItem>,
}

impl<'a> Input<'a> {
    fn read(raw: Option<Raw<'a>>) -> Result<Self, Broken> {
        let mut input = Self::default();
        let Some(raw) = raw else { return Ok(input) };
        raw.walk().object(|walk, key| {
            match key {
                b"command" | b"pattern" | b"query" | b"url" | b"prompt" if input.what.is_none() => {
                    input.what = Some(walk.raw()?);
                }
                b"filePath" | b"path" => input.file = Some(walk.raw()?),
                b"workdir" => input.dir = walk.text()?,
                b"oldString" => input.old = Some(walk.raw()?),
                b"newString" | b"content" => input.new = Some(walk.raw()?),
                b"patchText" => input.patch = Some(walk.raw()?),
                b"questions" => walk.array(|walk| {
                    walk.object(|walk, key| {
                        if key == b"question" && input.what.is_none() {
                            input.what = Some(walk.raw()?);
                        }
                        Ok(())
                    })
                })?,
                b"todos" => walk.array(|walk| {
                    let mut item = PlanItem { text: String::new(), done: false };
                    walk.object(|walk, key| {
                        match key {
                            b"content" => item.text = text::start_of(walk.raw()?, SHORT),
                            b"status" => item.done = walk.raw()?.bytes() == b"\"completed\"",
                            _ => {}
                        }
                        Ok(())
                    })?;
                    input.plan.push(item);
                    Ok(())
                })?,
                _ => {}
            }
            Ok(())
        })?;
        Ok(input)
    }
}

fn tool(part: &Part<'_>, log: &mut Transcript<'_>) -> Result<(), Broken> {
    let state = &part.state;
    let role = Client::Opencode.role(&part.tool);
    let input = Input::read(state.input)?;
    let most = if role == Role::Shell { LINE } else { WORDS };
    let what = input.what.or(input.file).map(|what| text::start_of(what, most)).unwrap_or_default();
    let id = &*part.call;
    let mut call = Call::new(&part.tool, role, what);
    call.dir = log.dir(input.dir.as_deref());
    let error = state.error.map(|error| text::start_of(error, SHORT)).unwrap_or_default();
    let failed = state.status == "error";
    let rejected = failed && (error.contains("rejected permission") || error.contains("prevents you from using"));
    match role {
        Role::Plan => log.planned(id, input.plan),
        Role::Ask => log.act(Some(id), Act::Asked(call.what)),
        _ if rejected => log.denied(id, call, &error),
        Role::Shell if failed && error.contains("abort") => {
            log.command(id, call, Outcome { ended: None, tail: String::new(), background: false });
        }
        // A command that fails is no error of the tool: it was not run.
        Role::Shell if failed => log.denied(id, call, &error),
        Role::Shell => {
            let ended = state.exit.and_then(|code| i32::try_from(code).ok()).map(Ended::Exited);
            let tail = state.shown.or(state.output).map(text::tail).unwrap_or_default();
            log.command(id, call, Outcome { ended, tail, background: false });
        }
        Role::Edit if !failed => {
            let edits = match (input.patch, state.file.clone().or(input.file.and_then(Raw::text))) {
                (Some(patch), _) => patch::edits(&patch.text_or_empty(), log),
                (None, Some(file)) => {
                    let side =
                        |raw: Option<Raw<'_>>| raw.map(|raw| text::start_of(raw, text::SIDE)).unwrap_or_default();
                    let sides = match state.diff {
                        Some(diff) => Sides::of_diff(diff.start_of_text(64 * 1024).0.lines()),
                        None => Sides { removed: side(input.old), added: side(input.new) },
                    };
                    vec![log.edit(&file, EditKind::Written, sides)]
                }
                (None, None) => Vec::new(),
            };
            log.edited(id, edits);
        }
        Role::Agent => {
            if let Some(agent) = &state.session {
                log.act(Some(id), Act::SubagentEnded(agent.to_string()));
            }
        }
        _ => log.used(id, call, failed),
    }
    Ok(())
}
