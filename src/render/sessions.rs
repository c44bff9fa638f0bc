//! The sessions of coding agents, as a list and as JSON lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use jiff::Timestamp;
use serde::Serialize;

use crate::foreign_text::plain;
use crate::render::ui::{DIM, GOOD, STRONG, WARN};
use crate::replay::UnreadRecords;

/// A session, with the numbers of its records. Commands and edits include those of its sub-agents.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Listed {
    /// The version of this form: 1.
    pub schema_version: u32,
    /// The client.
    pub client: String,
    /// Its id of the session.
    pub session: String,
    /// The time at which it began.
    pub began: Option<Timestamp>,
    /// The time of its last record.
    pub last: Option<Timestamp>,
    /// The directory it began in.
    pub dir: Option<String>,
    /// Prompts by a person.
    pub prompts: u64,
    /// Commands that were started.
    pub commands: u64,
    /// Tool calls that changed files.
    pub edits: u64,
    /// Turns that ended.
    pub stops: u64,
    /// Lines that cannot be read.
    pub broken: u64,
    /// The first of them.
    pub first_broken: Option<u64>,
    /// By kind, how often something was not understood.
    pub unknown: BTreeMap<String, u64>,
    /// Sub-agents with a log of their own.
    pub subagents: usize,
    /// The log is from elsewhere.
    pub imported: bool,
    /// Its log, or the imported part of it.
    pub file: PathBuf,
}

/// Returns a session for people, in two lines.
pub fn human(session: &Listed) -> String {
    let time = |at: Option<Timestamp>| at.map(|at| at.strftime("%Y-%m-%d %H:%M:%SZ").to_string()).unwrap_or_default();
    let mut text = format!(
        "{STRONG}{:<8}{STRONG:#} {}  {DIM}{} … {}{DIM:#}\n         ",
        session.client,
        plain(&session.session),
        time(session.began),
        time(session.last),
    );
    counts(&mut text, session);
    if session.imported {
        text.push_str(", imported");
    }
    let _ = write!(text, "  {DIM}{}{DIM:#}", plain(&session.file.display().to_string()));
    text
}

fn counts(text: &mut String, session: &Listed) {
    let count = |count: u64, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    let _ = write!(
        text,
        "{}, {}, {}, {}",
        count(session.prompts, "prompt"),
        count(session.commands, "command"),
        count(session.edits, "edit"),
        count(session.stops, "stop")
    );
    if session.subagents > 0 {
        let _ = write!(text, ", {}", count(session.subagents as u64, "sub-agent"));
    }
    if let Some(unread) = unread_of(session.broken, session.first_broken, &session.unknown) {
        let _ = write!(text, ", {WARN}{unread}{WARN:#}");
    }
}

/// What of a log is not understood, in one line.
pub fn unread(unread: &UnreadRecords) -> String {
    unread_of(unread.broken, unread.first_broken, &unread.unknown).unwrap_or_default()
}

fn unread_of(broken: u64, first: Option<u64>, unknown: &BTreeMap<String, u64>) -> Option<String> {
    let mut parts = Vec::new();
    if broken > 0 {
        let lines = if broken == 1 { "1 line".to_owned() } else { format!("{broken} lines") };
        let first =
            first.map(
                |first| if broken == 1 { format!(" (line {first})") } else { format!(" (the first is line {first})") },
            );
        parts.push(format!("{lines} cannot be read{}", first.unwrap_or_default()));
    }
    if !unknown.is_empty() {
        let kinds: Vec<String> = unknown.iter().map(|(kind, count)| format!("{count} × {}", plain(kind))).collect();
        parts.push(format!("not understood: {}", kinds.join(", ")));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Returns one line of JSON.
pub fn json(session: &Listed) -> serde_json::Result<String> {
    serde_json::to_string(session)
}

/// Returns one line about a log that was imported, or is `known` already.
pub fn imported(session: &Listed, known: bool) -> String {
    let (style, word) = if known { (DIM, "known already") } else { (GOOD, "imported") };
    let mut text = format!("{style}{word}{style:#} {} {}: ", session.client, plain(&session.session));
    counts(&mut text, session);
    text
}
