//! Detects the client that wrote a log file.

use std::io::{self, Read};
use std::path::Path;

use super::lazy_json::JsonCursor;
use super::line_reader::{self, LogLine, LogLines};
use super::{Client, document};

/// The largest part of a file that is searched. The first line may be one with pictures in it.
const HEAD: u64 = 64 * 1024 * 1024;
/// The first bytes of an `SQLite` database.
const DATABASE: &[u8] = b"SQLite format 3\0";

/// Returns the client that wrote a log, or `None` if it is not a known log.
pub fn recognise(path: &Path) -> io::Result<Option<Client>> {
    let mut file = line_reader::open(path)?.take(HEAD);
    let mut start = Vec::new();
    file.by_ref().take(DATABASE.len() as u64).read_to_end(&mut start)?;
    if start == DATABASE {
        return Ok(Some(Client::Opencode));
    }
    if let Some(client) = document::client(path)? {
        return Ok(Some(client));
    }
    let mut lines = LogLines::new(start.as_slice().chain(file), 0);
    while let Some(line) = lines.next_line()? {
        if let LogLine::Whole(line) | LogLine::Unfinished(line) = line
            && let Some(client) = of_line(line)
        {
            return Ok(Some(client));
        }
    }
    Ok(None)
}

/// Returns the client that writes such lines.
fn of_line(line: &[u8]) -> Option<Client> {
    let (mut kind, mut keys) = (None, Vec::new());
    JsonCursor::new(line)
        .object(|walk, key| {
            keys.push(key);
            if key == b"type" {
                kind = walk.text()?;
            }
            Ok(())
        })
        .ok()?;
    let has = |key: &[u8]| keys.contains(&key);
    let kind = kind.as_deref().unwrap_or_default();
    if has(b"payload") && matches!(kind, "session_meta" | "response_item" | "event_msg" | "turn_context" | "compacted")
    {
        return Some(Client::Codex);
    }
    if has(b"data") && kind.contains('.') {
        return Some(Client::Copilot);
    }
    if has(b"projectHash") || has(b"$set") || kind == "gemini" {
        return Some(Client::Gemini);
    }
    if has(b"sessionId") || has(b"parentUuid") || has(b"leafUuid") {
        return Some(Client::Claude);
    }
    // The oldest form of Codex.
    let is_bare = matches!(kind, "message" | "function_call" | "function_call_output" | "reasoning");
    (has(b"instructions") && has(b"timestamp") || is_bare && !has(b"uuid")).then_some(Client::Codex)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart() {
        for (line, client) in [
            (r#"{"type":"mode","mode":"normal","sessionId":"s"}"#, Some(Client::Claude)),
            (r#"{"type":"summary","summary":"x","leafUuid":"u"}"#, Some(Client::Claude)),
            (r#"{"timestamp":"t","type":"session_meta","payload":{}}"#, Some(Client::Codex)),
            (r#"{"id":"x","timestamp":"t","instructions":null}"#, Some(Client::Codex)),
            (r#"{"type":"message","role":"user","content":[]}"#, Some(Client::Codex)),
            (r#"{"sessionId":"s","projectHash":"h","startTime":"t"}"#, Some(Client::Gemini)),
            (r#"{"type":"session.start","data":{},"id":"x"}"#, Some(Client::Copilot)),
            (r#"{"level":"info","message":"no log of an agent"}"#, None),
            ("[1,2]", None),
            ("plain text", None),
        ] {
            assert_eq!(of_line(line.as_bytes()), client, "{line}");
        }
    }
}
