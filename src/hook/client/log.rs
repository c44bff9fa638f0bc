//! The end of a client's own log, for the one thing that some hooks do not tell: how a command ended.

use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::Client;
use crate::event::Ended;

/// How much of the end of a log is looked at, in bytes.
const WINDOW: u64 = 8 << 20;

/// How the command of this call ended, as the log says; `None` where it does not say, or not yet.
pub(super) fn status(client: Client, log: &Path, call: &str) -> Option<Ended> {
    if client != Client::Codex || call.is_empty() {
        return None;
    }
    let bytes = end(log, WINDOW).ok()?;
    let found =
        bytes.rsplit(|byte| *byte == b'\n').filter(|line| memchr::memmem::find(line, call.as_bytes()).is_some());
    found.filter_map(|line| serde_json::from_slice::<Value>(line).ok()).find_map(|line| codex(&line, call))
}

/// Codex: `event_msg` with the item of the command, or the text that its model was shown.
fn codex(line: &Value, call: &str) -> Option<Ended> {
    let payload = line.get("payload")?;
    let of = |value: &Value, key: &str| value.get(key).and_then(Value::as_str) == Some(call);
    if let Some(item) = payload.get("item").filter(|item| of(item, "id")) {
        return exit_code(item);
    }
    if !of(payload, "call_id") {
        return None;
    }
    exit_code(payload).or_else(|| {
        let output = payload.get("output")?;
        let text = output.as_str().or_else(|| output.get("content")?.as_str())?;
        let shown = |line: &str| {
            line.strip_prefix("Process exited with code ").or(line.strip_prefix("Exit code: "))?.trim().parse().ok()
        };
        // Only the lines before the output are the client's own words.
        text.lines().take_while(|line| *line != "Output:").find_map(shown).map(Ended::Exited)
    })
}

fn exit_code(value: &Value) -> Option<Ended> {
    let code = value.get("exit_code")?.as_i64()?;
    i32::try_from(code).ok().map(Ended::Exited)
}

/// The end of a file, at most `window` bytes.
pub(super) fn end(path: &Path, window: u64) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(window)))?;
    let mut bytes = Vec::new();
    file.take(window).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_found_by_the_call() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("rollout.jsonl");
        let lines = [
            r#"{"type":"event_msg","payload":{"type":"item_completed","item":{"type":"CommandExecution","id":"call_1","exit_code":3,"aggregated_output":"call_2"}}}"#,
            r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"call_2","output":"Chunk ID: x\nProcess exited with code 0\nOutput:\nProcess exited with code 9\n"}}"#,
            r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"call_3","output":"Process running with session ID 7\nOutput:\n"}}"#,
            "not json call_4",
        ];
        std::fs::write(&log, lines.join("\n")).unwrap();
        for (call, ended) in [
            ("call_1", Some(Ended::Exited(3))),
            ("call_2", Some(Ended::Exited(0))),
            ("call_3", None),
            ("call_4", None),
            ("", None),
        ] {
            assert_eq!(status(Client::Codex, &log, call), ended, "{call}");
        }
        assert_eq!(status(Client::Codex, &dir.path().join("none"), "call_1"), None);
        assert_eq!(end(&log, 4).unwrap(), b"ll_4");
    }
}
