//! Sessions that are one JSON document and not a line for each record: what `opencode export` prints, and the
//! `session-*.json` of older versions of Gemini CLI.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::event_builder::{ReadLine, Transcript};
use super::lazy_json::{BrokenJson, JsonCursor};
use super::{Client, Error, SessionLog, gemini, line_reader, opencode};

/// The largest document that is read: all of it is in memory.
pub(super) const MAX_DOCUMENT: u64 = 256 * 1024 * 1024;
/// How much of a file is looked at to tell whether it is a document. What stands before the messages is short.
const HEAD: u64 = 256 * 1024;

/// The client whose session a file holds as one document; `None`: it is no such document.
pub(super) fn client(path: &Path) -> io::Result<Option<Client>> {
    Ok(of_head(&head(path)?))
}

fn head(path: &Path) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    line_reader::open(path)?.take(HEAD).read_to_end(&mut head)?;
    Ok(head)
}

fn of_head(head: &[u8]) -> Option<Client> {
    let mut keys = Vec::new();
    // The messages are cut off with the head.
    let _ = JsonCursor::new(head).object(|_, key| {
        keys.push(key);
        Ok(())
    });
    let has = |key: &[u8]| keys.contains(&key);
    if has(b"info") && has(b"messages") {
        Some(Client::Opencode)
    } else if has(b"sessionId") && has(b"messages") {
        Some(Client::Gemini)
    } else {
        None
    }
}

/// The id of the session that a document of Gemini CLI holds; `None`: the file is something else.
pub(super) fn gemini_session(path: &Path) -> io::Result<Option<String>> {
    let head = head(path)?;
    if of_head(&head) != Some(Client::Gemini) {
        return Ok(None);
    }
    let mut session = None;
    let _ = JsonCursor::new(&head).object(|walk, key| {
        if key == b"sessionId" {
            session = walk.text()?.map(Into::into);
        }
        Ok(())
    });
    Ok(session)
}

/// The text of a source that is a document; `None`: it is something else.
pub(super) fn of(source: &SessionLog) -> Result<Option<Vec<u8>>, Error> {
    if !matches!(source.client, Client::Opencode | Client::Gemini) {
        return Ok(None);
    }
    let fail = || Error::read(&source.path);
    if client(&source.path).map_err(fail())? != Some(source.client) {
        return Ok(None);
    }
    if fs::metadata(&source.path).map_err(fail())?.len() > MAX_DOCUMENT {
        return Err(Error::TooLarge { path: source.path.clone() });
    }
    fs::read(&source.path).map(Some).map_err(fail())
}

/// Reads a document of the client whose log this is.
pub(super) fn read(text: &[u8], log: &mut Transcript<'_>) {
    match log.client {
        Client::Opencode => opencode::document(text, log),
        _ => gemini::document(text, log),
    }
}

/// Gives each item of a list at the top of a document to a reader. What cannot be read is counted with its line; behind
/// it, nothing of a list that is cut off can be told apart.
pub(super) fn each(text: &[u8], list: &[u8], log: &mut Transcript<'_>, read: ReadLine) {
    let mut walk = JsonCursor::new(text);
    let mut line = LineCount { text, at: 0, line: 1 };
    let done = walk.object(|walk, key| {
        if key != list {
            return Ok(());
        }
        walk.array(|walk| {
            let from = walk.position();
            let item = walk.raw()?;
            log.memory.lines = line.up_to(from);
            if read(item.bytes(), log).is_err() {
                log.broken();
            }
            Ok(())
        })
    });
    let done = done.and_then(|()| if walk.is_at_end() { Ok(()) } else { Err(BrokenJson) });
    if done.is_err() {
        log.memory.lines = line.up_to(walk.position());
        log.broken();
    }
}

/// Counts the lines of a text once.
struct LineCount<'a> {
    text: &'a [u8],
    at: usize,
    line: u64,
}

impl LineCount<'_> {
    /// The line in which a place lies that is not before the last one.
    fn up_to(&mut self, place: usize) -> u64 {
        let place = place.clamp(self.at, self.text.len());
        self.line += memchr::memchr_iter(b'\n', &self.text[self.at..place]).count() as u64;
        self.at = place;
        self.line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_told_from_lines() {
        for (head, client) in [
            (r#"{"info":{"id":"ses_1"},"messages":[{"info":{"#, Some(Client::Opencode)),
            ("{\n  \"info\": {},\n  \"messages\": []\n}", Some(Client::Opencode)),
            (r#"{"sessionId":"s","projectHash":"h","messages":[{"#, Some(Client::Gemini)),
            (r#"{"sessionId":"s","projectHash":"h","startTime":"t"}"#, None),
            ("{\"$set\":{\"messages\":[]}}\n{}", None),
            (r#"{"type":"user","sessionId":"s","message":{}}"#, None),
            ("[]", None),
            ("\u{0}\u{1}", None),
            ("", None),
        ] {
            assert_eq!(of_head(head.as_bytes()), client, "{head}");
        }
    }

    #[test]
    fn lines_are_counted_once() {
        let mut line = LineCount { text: b"a\nb\n\nc", at: 0, line: 1 };
        assert_eq!([0, 1, 2, 5, 3, 99].map(|place| line.up_to(place)), [1, 1, 2, 4, 4, 4]);
    }
}
