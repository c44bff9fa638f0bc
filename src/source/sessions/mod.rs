//! The logs that coding agents' clients keep of their sessions, read as events.
//!
//! A log records an agent's acts, with or without a hook. It is written by a program that the agent can write to as
//! well, and by many versions of it: unknown parts are skipped, broken ones are counted, and nothing panics. A log is
//! read line by line in bounded memory; if it grew, only the new part is read ([`newer`]).

mod claude;
mod client;
mod codex;
mod copilot;
mod detect_client;
mod document;
mod document_items;
mod event_builder;
mod find_sessions;
mod gemini;
mod imported;
mod incremental_read;
mod kept_text;
mod lazy_json;
mod line_reader;
mod opencode;
mod patch;
mod repository_paths;
mod tool_input;
pub(crate) mod usage;

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::event::Event;

pub use self::client::{Client, UnknownClient};
pub use self::detect_client::recognise;
pub use self::event_builder::SessionCounts;
use self::event_builder::{ReadLine, Transcript, TranscriptState};
pub use self::find_sessions::{FoundSession, find};
pub(crate) use self::gemini::{OutputTrailer as GeminiTrailer, without_hook_context};
pub use self::imported::{Import, Imported, events as imported_events, import, list as imported};
pub use self::incremental_read::{Cursor, Cursors, Newer, newer};
pub use self::line_reader::open as open_log;
use self::line_reader::{LogLine, LogLines};
pub use self::repository_paths::{Roots, is_absolute};

/// The reason why a log could not be read.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The file could not be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The document is too large to be read at once.
    #[error("{} is larger than {} MB and was not read", path.display(), document::MAX_DOCUMENT >> 20)]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
    /// The kept events could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The database could not be read.
    #[error("cannot read {} as a database: {source}", path.display())]
    Database {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: rusqlite::Error,
    },
}

impl Error {
    fn read(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self::Read { path, source }
    }
}

fn opencode_error(path: &Path) -> impl FnOnce(rusqlite::Error) -> Error {
    let path = path.to_owned();
    |source| Error::Database { path, source }
}

/// A log: whose, and where it lies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionLog {
    /// The client that writes it.
    pub client: Client,
    /// The file.
    pub path: PathBuf,
    /// The session, if a file holds several, or `None` for all of them.
    pub session: Option<String>,
    /// The directory of the session, if the log itself does not record it.
    pub dir: Option<String>,
}

impl SessionLog {
    /// Returns the log in a file of a client.
    pub const fn new(client: Client, path: PathBuf) -> Self {
        Self { client, path, session: None, dir: None }
    }

    fn memory(&self) -> TranscriptState {
        TranscriptState { home: self.dir.clone(), dir: self.dir.clone(), ..TranscriptState::default() }
    }
}

/// The facts about a session without its events.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionSummary {
    /// The session, as the client names it.
    pub session: Option<String>,
    /// The sub-agent whose log it is.
    pub actor: Option<String>,
    /// The directory it began in.
    pub dir: Option<String>,
    /// The time at which it began.
    pub began: Option<Timestamp>,
    /// The time of its last record.
    pub last: Option<Timestamp>,
    /// The numbers of records.
    pub counts: SessionCounts,
}

impl SessionSummary {
    /// Returns the summary. Open records count as if nothing followed.
    fn of(memory: &TranscriptState) -> Self {
        let TranscriptState { session, actor, home, began, last, mut counts, .. } = memory.clone();
        counts.stops += u64::from(memory.ends());
        counts.commands += memory.pending.values().filter(|call| call.is_command()).count() as u64;
        Self { session, actor, dir: home, began, last, counts }
    }
}

/// The contents of a log.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogContents {
    /// The summary of the session.
    pub summary: SessionSummary,
    /// The events, in the order of the log.
    pub events: Vec<Event>,
}

/// Reads a whole log. Paths become relative to `roots`.
pub fn read(source: &SessionLog, roots: &Roots) -> Result<LogContents, Error> {
    let mut events = Vec::new();
    let summary = read_each(source, roots, &mut |event| events.push(event))?;
    Ok(LogContents { summary, events })
}

/// Does the same in bounded memory: each event is given to `sink`.
pub fn read_each(source: &SessionLog, roots: &Roots, sink: &mut dyn FnMut(Event)) -> Result<SessionSummary, Error> {
    let mut log = Transcript::new(source.client, source.memory(), roots, sink);
    if let Some(text) = document::of(source)? {
        document::read(&text, &mut log);
    } else if source.client == Client::Opencode {
        read_rows(source, &mut log).map_err(opencode_error(&source.path))?;
    } else {
        let file = line_reader::open(&source.path).map_err(Error::read(&source.path))?;
        read_lines(file, 0, reader(source.client), true, &mut log).map_err(Error::read(&source.path))?;
    }
    log.finish();
    Ok(SessionSummary::of(&log.memory))
}

fn reader(client: Client) -> ReadLine {
    match client {
        Client::Claude => claude::line,
        Client::Codex => codex::line,
        Client::Gemini => gemini::line,
        Client::Copilot => copilot::line,
        // A database has no lines.
        Client::Opencode => |_, _| Err(lazy_json::BrokenJson),
    }
}

/// Reads the rows of a session, or of all sessions of a database.
fn read_rows(source: &SessionLog, log: &mut Transcript<'_>) -> rusqlite::Result<()> {
    let connection = opencode::open(&source.path)?;
    let sessions = opencode::sessions(&connection)?;
    for session in &sessions {
        if source.session.as_ref().is_none_or(|id| *id == session.id) {
            if source.session.is_none() {
                log.memory = source.memory();
            }
            opencode::read(&connection, session, opencode::root_of(session, &sessions), log)?;
        }
    }
    Ok(())
}

/// Reads lines from `offset` on. Returns the place where the next reading continues: before a line that is not
/// finished, which is read only if there is `no_more`.
fn read_lines(
    from: impl Read,
    offset: u64,
    read: ReadLine,
    no_more: bool,
    log: &mut Transcript<'_>,
) -> io::Result<u64> {
    let mut lines = LogLines::new(from, offset);
    while let Some(line) = lines.next_line()? {
        log.memory.lines += u64::from(no_more || !matches!(line, LogLine::Unfinished(_)));
        let done = match line {
            LogLine::Whole(line) if line.trim_ascii().is_empty() => Ok(()),
            LogLine::Whole(line) => read(line, log),
            LogLine::TooLong => Err(lazy_json::BrokenJson),
            LogLine::Unfinished(line) if no_more => read(line, log),
            LogLine::Unfinished(_) => break,
        };
        if done.is_err() {
            log.broken();
        }
    }
    Ok(lines.offset())
}
