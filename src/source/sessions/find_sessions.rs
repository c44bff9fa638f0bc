//! Finds the sessions for a repository: those that began in one of its working trees.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::lazy_json::JsonCursor;
use super::line_reader::{self, LogLine, LogLines};
use super::repository_paths::Roots;
use super::{Client, SessionLog, document, opencode};
use crate::digest::sha256;

/// The largest part of the head of a log that is read. Codex writes its instructions into the first line, a first
/// prompt may have pictures in it, and a session that continues in another log may begin with many summaries.
const HEAD: u64 = 64 * 1024 * 1024;
/// The longest name of a directory that Claude Code makes of a path without shortening it.
const MAX_NAME_LENGTH: usize = 180;

/// A session that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSession {
    /// The client's id of it.
    pub id: String,
    /// Its log.
    pub log: SessionLog,
    /// The logs of its sub-agents.
    pub subagents: Vec<SessionLog>,
}

/// Finds the sessions of all clients that began inside `roots`, by client and file. Unreadable ones are skipped.
pub fn find(roots: &Roots, env: &dyn Fn(&str) -> Option<OsString>) -> Vec<FoundSession> {
    let home = env("HOME").or_else(|| env("USERPROFILE")).filter(|home| !home.is_empty()).map(PathBuf::from);
    let mut found = Vec::new();
    for client in Client::ALL {
        let mut seen: Vec<PathBuf> = Vec::new();
        for place in client.places() {
            let named = place.variable.as_deref().and_then(env).filter(|value| !value.is_empty());
            let dir = match (named, &home) {
                (Some(named), _) => PathBuf::from(named).join(&place.below),
                (None, Some(home)) => home.join(&place.home),
                (None, None) => continue,
            };
            if seen.contains(&dir) {
                continue;
            }
            found.extend(match client {
                Client::Claude => claude(&dir, roots),
                Client::Codex => codex(&dir, roots),
                Client::Opencode => opencode(&dir, roots),
                Client::Gemini => gemini(&dir, roots),
                Client::Copilot => copilot(&dir, roots),
            });
            seen.push(dir);
        }
    }
    found
}

fn entries(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
    paths.sort();
    paths
}

fn is_jsonl(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "jsonl")
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The facts about a session in the head of its log.
#[derive(Default)]
pub(super) struct LogHead {
    pub(super) session: Option<String>,
    pub(super) dir: Option<String>,
    /// The id of the log itself, if it is a sub-agent's.
    pub(super) agent: Option<String>,
    pub(super) project: Option<String>,
    is_codex: bool,
}

/// Reads the head of a log of any client that writes lines: until it is known whose session it is, and where it was.
pub(super) fn head(path: &Path) -> io::Result<LogHead> {
    let mut head = LogHead::default();
    let mut lines = LogLines::new(line_reader::open(path)?.take(HEAD), 0);
    // Where a session of Gemini CLI was stands in no line of its log.
    while head.session.is_none() || head.dir.is_none() && head.project.is_none() {
        match lines.next_line()? {
            // What is broken says nothing, and what is beyond measure is passed over, as everywhere.
            Some(LogLine::Whole(line) | LogLine::Unfinished(line)) => {
                let _ = JsonCursor::new(line).object(|walk, key| field(&mut head, walk, key));
            }
            Some(LogLine::TooLong) => {}
            None => break,
        }
    }
    Ok(head)
}

fn field<'a>(head: &mut LogHead, walk: &mut JsonCursor<'a>, key: &'a [u8]) -> Result<(), super::lazy_json::BrokenJson> {
    match key {
        b"sessionId" | b"session_id" => head.session = walk.text()?.map(Into::into).or(head.session.take()),
        b"id" if head.session.is_none() && head.is_codex => {
            head.session = walk.text()?.map(Into::into);
        }
        b"cwd" => head.dir = walk.text()?.map(Into::into).or(head.dir.take()),
        b"agentId" => head.agent = walk.text()?.map(Into::into),
        b"thread_source" if walk.raw()?.bytes() == b"\"subagent\"" => head.agent = Some(String::new()),
        b"source" => walk.object(|_, key| {
            if key == b"subagent" || key == b"subAgent" {
                head.agent = Some(String::new());
            }
            Ok(())
        })?,
        b"projectHash" => head.project = walk.text()?.map(Into::into),
        b"type" => {
            head.is_codex |= walk.text()?.as_deref() == Some("session_meta");
        }
        b"payload" | b"data" | b"context" => walk.object(|walk, key| field(head, walk, key))?,
        _ => {}
    }
    Ok(())
}

/// Puts the logs of sub-agents to their sessions. A sub-agent whose session has no log is one of its own.
fn together(logs: Vec<(String, bool, SessionLog)>) -> Vec<FoundSession> {
    let mut found: BTreeMap<String, FoundSession> = BTreeMap::new();
    let (subagents, sessions): (Vec<_>, Vec<_>) = logs.into_iter().partition(|(_, is_subagent, _)| *is_subagent);
    // Gemini CLI makes an empty file when a session goes on in its old one.
    for (id, _, log) in sessions.into_iter().chain(subagents) {
        match found.get_mut(&id) {
            Some(found) => found.subagents.push(log),
            None => {
                found.insert(id.clone(), FoundSession { id, log, subagents: Vec::new() });
            }
        }
    }
    found.into_values().collect()
}

fn claude(dir: &Path, roots: &Roots) -> Vec<FoundSession> {
    let encode = |root: &Path| -> String {
        let name: String =
            root.to_string_lossy().chars().map(|char| if char.is_ascii_alphanumeric() { char } else { '-' }).collect();
        name.chars().take(MAX_NAME_LENGTH).collect()
    };
    let names: Vec<String> = roots.paths().iter().map(|root| encode(root)).collect();
    let mut logs = Vec::new();
    for project in entries(dir) {
        let name = project.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if !names.iter().any(|root| name.starts_with(root.as_str())) {
            continue;
        }
        for path in entries(&project) {
            let mut files = vec![path.clone()];
            if path.is_dir() {
                files = entries(&path.join("subagents"));
            }
            for path in files.into_iter().filter(|path| is_jsonl(path)) {
                let Ok(head) = head(&path) else { continue };
                let is_subagent = stem(&path).starts_with("agent-");
                // A summary of another session's log alone is not a session.
                let Some(cwd) = head.dir else { continue };
                if roots.contain(Path::new(&cwd)) {
                    let id = if is_subagent { head.session.unwrap_or_default() } else { stem(&path) };
                    logs.push((id, is_subagent, SessionLog::new(Client::Claude, path)));
                }
            }
        }
    }
    together(logs)
}

fn codex(dir: &Path, roots: &Roots) -> Vec<FoundSession> {
    let mut logs = Vec::new();
    let mut folders = vec![(dir.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        for path in entries(&folder) {
            if path.is_dir() && depth < 4 {
                folders.push((path, depth + 1));
            } else if is_jsonl(&path) && stem(&path).starts_with("rollout-") {
                let Ok(head) = head(&path) else { continue };
                let (Some(id), Some(cwd)) = (head.session, head.dir) else { continue };
                if roots.contain(Path::new(&cwd)) {
                    logs.push((id, head.agent.is_some(), SessionLog::new(Client::Codex, path)));
                }
            }
        }
    }
    together(logs)
}

fn copilot(dir: &Path, roots: &Roots) -> Vec<FoundSession> {
    let mut logs = Vec::new();
    for entry in entries(dir) {
        let path = if is_jsonl(&entry) { entry } else { entry.join("events.jsonl") };
        let Ok(head) = head(&path) else { continue };
        let (Some(id), Some(cwd)) = (head.session, head.dir) else { continue };
        if roots.contain(Path::new(&cwd)) {
            logs.push((id, false, SessionLog::new(Client::Copilot, path)));
        }
    }
    together(logs)
}

fn whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    line_reader::open(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Finds the sessions of Gemini CLI. The directory of a project has a name that the file `projects.json` maps its path
/// to, or the digest of the path.
fn gemini(dir: &Path, roots: &Roots) -> Vec<FoundSession> {
    let mut names: BTreeMap<String, String> = BTreeMap::new();
    for root in roots.paths() {
        names.insert(sha256(root.as_os_str().as_encoded_bytes()), root.to_string_lossy().into_owned());
    }
    if let Some(map) = dir.parent().and_then(|parent| whole(&parent.join("projects.json")).ok()) {
        let _ = JsonCursor::new(&map).object(|walk, key| {
            if key != b"projects" {
                return Ok(());
            }
            walk.object(|walk, project| {
                let project = String::from_utf8_lossy(project).into_owned();
                if let Some(name) = walk.text()?
                    && roots.contain(Path::new(&project))
                {
                    names.insert(name.into_owned(), project);
                }
                Ok(())
            })
        });
    }
    let mut logs = Vec::new();
    for (name, project) in names {
        let mut folders = vec![(dir.join(name).join("chats"), 0)];
        while let Some((folder, depth)) = folders.pop() {
            for path in entries(&folder) {
                if path.is_dir() && depth == 0 {
                    folders.push((path, 1));
                } else if let Some(id) = gemini_session(&path) {
                    // A sub-agent's log lies in a directory with the name of its session.
                    let parent =
                        (depth == 1).then(|| folder.file_name().map(|name| name.to_string_lossy().into_owned()));
                    let (id, is_subagent) = parent.flatten().map_or((id, false), |parent| (parent, true));
                    let log = SessionLog { dir: Some(project.clone()), ..SessionLog::new(Client::Gemini, path) };
                    logs.push((id, is_subagent, log));
                }
            }
        }
    }
    together(logs)
}

/// The session that a log of Gemini CLI is of. Older versions wrote one document for each session.
fn gemini_session(path: &Path) -> Option<String> {
    if is_jsonl(path) {
        return head(path).ok()?.session;
    }
    let is_document = path.extension().is_some_and(|extension| extension == "json");
    // A newer version that resumes such a session copies it to lines.
    if is_document && !path.with_extension("jsonl").exists() { document::gemini_session(path).ok()? } else { None }
}

fn opencode(path: &Path, roots: &Roots) -> Vec<FoundSession> {
    let Ok(sessions) = opencode::open(path).and_then(|connection| opencode::sessions(&connection)) else {
        return Vec::new();
    };
    let logs = sessions.iter().filter(|session| roots.contain(Path::new(&session.dir))).map(|session| {
        let log =
            SessionLog { session: Some(session.id.clone()), ..SessionLog::new(Client::Opencode, path.to_owned()) };
        (opencode::root_of(session, &sessions).to_owned(), session.parent.is_some(), log)
    });
    together(logs.collect())
}
