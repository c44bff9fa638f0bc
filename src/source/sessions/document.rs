//! Sessions that are one JSON document and not a line for each record: what `opencode export` prints, and the
//! `session-*.json` of older versions of Gemini CLI.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use super::event_builder::Transcript;
use super::lazy_json::JsonCursor;
use super::{Client, Error, SessionLog, gemini, line_reader, opencode};

/// The largest document that is read: all of it is in memory.
pub(super) const MAX_DOCUMENT: u64 = 256 * 1024 * 1024;
/// How much of a file is looked at to tell whether it is a document. What stands before the messages is short.
const HEAD: u64 = 256 * 1024;

/// The client whose session a file holds as one document, or `None` if it is not such a document.
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

/// The id of the session that a document of Gemini CLI holds, or `None` if the file is something else.
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

/// The text of a source that is a document, or `None` if it is something else.
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
    if log.client == Client::Opencode { opencode::document(text, log) } else { gemini::document(text, log) }
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
}
