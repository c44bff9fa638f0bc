//! The records of git itself: the reflogs of HEAD, of branches and of remote-tracking refs.
//!
//! git writes them whatever hooks ran or were skipped: `update by push` shows a push that no hook saw. They are local,
//! they expire, and a bare repository has none by default.

use std::collections::BTreeMap;
use std::io;
use std::process::Command;

use jiff::Timestamp;

use crate::digest::hex_digest;
use crate::event::{Event, EventKind, GitEvent, Grade, Origin};
use crate::oid::Oid;

/// The reporter of everything read here.
pub const REPORTER: &str = "git";

/// The movements of one ref, oldest first. Times are whole seconds.
#[derive(Clone, Debug, PartialEq)]
pub struct Reflog {
    /// The full name of the ref: `HEAD`, `refs/heads/main`, …
    pub reference: String,
    /// Its movements.
    pub events: Vec<Event>,
}

/// The reason why the reflogs could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReflogError {
    /// git could not be started.
    #[error("cannot start git to read its reflogs: {0}")]
    Spawn(#[from] io::Error),
    /// git refused.
    #[error("git could not read its reflogs: {0}")]
    Git(String),
}

/// Reads the last `limit` movements of all refs, HEAD's first, then those of branches, then of the others. One spawn
/// of git, which `git` prepares: program, repository, environment.
pub fn read(git: impl FnOnce() -> Command, limit: usize) -> Result<Vec<Reflog>, ReflogError> {
    let mut command = git();
    // git's own walk, and not the files: it knows reftable too.
    command.args(["log", "--walk-reflogs", "--all", "-z", "--date=raw", "--no-show-signature"]);
    command.arg("--format=%gD%x00%H%x00%gs").arg(format!("--max-count={limit}"));
    let output = command.output()?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(ReflogError::Git(said.lines().next().unwrap_or("no reason given").to_owned()));
    }
    Ok(parse(&output.stdout))
}

/// Reads triples of `ref@{seconds zone}`, object id and message, each ended by NUL, newest first.
fn parse(output: &[u8]) -> Vec<Reflog> {
    let mut logs: BTreeMap<(u8, String), Vec<Event>> = BTreeMap::new();
    let fields: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    for entry in fields.chunks_exact(3) {
        let Some((reference, event)) = movement(entry) else { continue };
        let log = logs.entry((order(&reference), reference)).or_default();
        // The entry before, in time, is where this one started from.
        if let (Some(EventKind::Git(later)), EventKind::Git(earlier)) =
            (log.last_mut().map(|event: &mut Event| &mut event.kind), &event.kind)
        {
            later.old.clone_from(&earlier.new);
        }
        log.push(event);
    }
    logs.into_iter()
        .map(|((_, reference), mut events)| {
            events.reverse();
            Reflog { reference, events }
        })
        .collect()
}

/// Returns the rank of a reference: HEAD comes first, since its log holds the order of all events in one working tree.
fn order(reference: &str) -> u8 {
    match reference {
        "HEAD" => 0,
        _ if reference.starts_with("refs/heads/") => 1,
        _ => 2,
    }
}

fn movement(entry: &[&[u8]]) -> Option<(String, Event)> {
    let selector = String::from_utf8_lossy(entry[0]).into_owned();
    let (reference, time) = selector.rsplit_once("@{")?;
    let seconds: i64 = time.split(' ').next()?.parse().ok()?;
    let at = Timestamp::from_second(seconds).ok()?;
    let new: Oid = std::str::from_utf8(entry[1]).ok()?.parse().ok()?;
    let message = String::from_utf8_lossy(entry[2]).into_owned();
    let digest = hex_digest(&[entry[0], entry[1], entry[2]]);
    let event = Event {
        id: format!("{:012x}-git-{}", at.as_millisecond().max(0), &digest[..10]),
        at,
        session: None,
        origin: Origin { by: REPORTER.to_owned(), grade: Grade::Observed },
        kind: EventKind::Git(GitEvent {
            action: action(&message),
            reference: reference.to_owned(),
            old: None,
            new: Some(new),
            message,
        }),
    };
    Some((reference.to_owned(), event))
}

/// Returns the word for the event: the text before the colon, without its arguments.
fn action(message: &str) -> String {
    if message.starts_with("update by push") {
        return "push".to_owned();
    }
    let Some((head, _)) = message.split_once(':') else { return "update".to_owned() };
    let name = head.split(' ').next().unwrap_or_default();
    match head.rfind(" (") {
        Some(at) if head.ends_with(')') => format!("{name}{}", &head[at..]),
        _ => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions() {
        for (message, expected) in [
            ("commit: fix: a colon", "commit"),
            ("commit (initial): one", "commit (initial)"),
            ("commit (amend): one (two)", "commit (amend)"),
            ("commit (merge): Merge branch 'x'", "commit (merge)"),
            ("rebase -i (finish): refs/heads/x onto 1234", "rebase (finish)"),
            ("rebase (pick): message", "rebase (pick)"),
            ("pull --rebase origin main: Fast-forward", "pull"),
            ("reset: moving to HEAD~1", "reset"),
            ("checkout: moving from main to x", "checkout"),
            ("update by push", "push"),
            ("update by push (forced)", "push"),
            ("branch: Created from HEAD", "branch"),
            ("", "update"),
            ("anything at all", "update"),
        ] {
            assert_eq!(action(message), expected, "{message}");
        }
    }

    #[test]
    fn each_ref_is_a_log_and_garbage_is_passed_over() {
        let (a, b) = ("a".repeat(40), "b".repeat(40));
        let mut output = Vec::new();
        for (selector, oid, message) in [
            ("refs/remotes/o/main@{30 +0000}", b.as_str(), &b"update by push"[..]),
            ("refs/heads/main@{20 +0100}", &b, b"commit: na\xefve"),
            ("HEAD@{20 +0100}", &b, b"commit: na\xefve"),
            ("no selector", &b, b""),
            ("HEAD@{soon}", &b, b""),
            ("refs/heads/main@{10 +0000}", &a, b"commit (initial): x"),
        ] {
            for field in [selector.as_bytes(), oid.as_bytes(), message] {
                output.extend_from_slice(field);
                output.push(0);
            }
        }
        let logs = parse(&output);
        let names: Vec<&str> = logs.iter().map(|log| log.reference.as_str()).collect();
        assert_eq!(names, ["HEAD", "refs/heads/main", "refs/remotes/o/main"]);
        let EventKind::Git(last) = &logs[1].events[1].kind else { panic!("not a git event") };
        assert_eq!((last.old.as_ref(), last.new.as_ref()), (a.parse().ok().as_ref(), b.parse().ok().as_ref()));
        assert_eq!(last.message, "commit: na\u{fffd}ve");
        assert_eq!(parse(&output[..output.len() / 2]).len(), 2, "half an answer gives what it holds");
        assert!(parse(b"").is_empty());
    }
}
