//! Reads the end of a client's own log for the ends of commands, which some hooks do not report.

use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;
#[cfg(target_os = "linux")]
use std::{mem::MaybeUninit, sync::mpsc, thread};

use serde_json::Value;

use super::Client;
use crate::event::Ended;
use crate::source::sessions::open_log;

/// The length of the end of a log that is read, in bytes.
const WINDOW: u64 = 8 << 20;

/// Returns the end of the command of this call from the log, or `None` if it is not there, or not yet.
pub(super) fn status(client: Client, log: &Path, call: &str) -> Option<Ended> {
    about(client, log, call).iter().find_map(|line| codex(line, call))
}

/// Returns `true` if the log says that the command of this call was left running.
pub(super) fn was_left_running(client: Client, log: &Path, call: &str) -> bool {
    let says = |line: &Value| {
        line.get("payload")
            .filter(|payload| payload.get("call_id").and_then(Value::as_str) == Some(call))
            .and_then(shown)
            .is_some_and(|text| own_lines(text).any(|line| line.starts_with("Process running with session ID ")))
    };
    about(client, log, call).iter().any(says)
}

/// Returns the lines at the end of the log that name a call, the last one first. Only Codex's log is read.
fn about(client: Client, log: &Path, call: &str) -> Vec<Value> {
    if client != Client::Codex || call.is_empty() {
        return Vec::new();
    }
    let bytes = end(log, WINDOW).unwrap_or_default();
    let found =
        bytes.rsplit(|byte| *byte == b'\n').filter(|line| memchr::memmem::find(line, call.as_bytes()).is_some());
    found.filter_map(|line| super::payload::parse(line).ok()).collect()
}

/// Reads a line of Codex: an `event_msg` with the item of the command, or the text that its model was shown.
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
        let code = |line: &str| {
            line.strip_prefix("Process exited with code ").or(line.strip_prefix("Exit code: "))?.trim().parse().ok()
        };
        own_lines(shown(payload)?).find_map(code).map(Ended::Exited)
    })
}

/// Returns the text that the model was shown for a call.
fn shown(payload: &Value) -> Option<&str> {
    let output = payload.get("output")?;
    output.as_str().or_else(|| output.get("content")?.as_str())
}

/// Returns the client's own lines of such a text: those before the output.
fn own_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().take_while(|line| *line != "Output:")
}

fn exit_code(value: &Value) -> Option<Ended> {
    let code = value.get("exit_code")?.as_i64()?;
    i32::try_from(code).ok().map(Ended::Exited)
}

/// Returns the end of a file, at most `window` bytes.
pub(super) fn end(path: &Path, window: u64) -> io::Result<Vec<u8>> {
    let mut file = open_log(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(window)))?;
    let mut bytes = Vec::new();
    file.take(window).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Waits for something in the end of a file that its client may be about to write or create, together with its folder.
/// A change of the file or the folder ends each wait.
#[cfg(target_os = "linux")]
pub(super) fn awaited<T: Send + 'static>(
    path: &Path,
    window: u64,
    patience: Duration,
    find: impl Fn(&[u8]) -> Option<T> + Send + 'static,
) -> Option<T> {
    use rustix::fd::OwnedFd;
    use rustix::fs::inotify::{self, CreateFlags, Reader, WatchFlags};

    let folders: Vec<_> = path.ancestors().skip(1).take(2).map(Path::to_owned).collect();
    let follow = move |watch: &OwnedFd| {
        let flags = WatchFlags::CREATE | WatchFlags::MODIFY | WatchFlags::MOVED_TO;
        let watched = folders.iter().filter(|folder| inotify::add_watch(watch, *folder, flags).is_ok());
        watched.count() > 0
    };
    let watch = inotify::init(CreateFlags::CLOEXEC).ok();
    // Before the first look, so that nothing is missed between the two.
    let watch = watch.filter(&follow);
    let look = {
        let path = path.to_owned();
        move || find(&end(&path, window).unwrap_or_default())
    };
    if let Some(found) = look() {
        return Some(found);
    }
    let watch = watch?;
    let (sender, receiver) = mpsc::channel();
    let listener = thread::Builder::new().spawn(move || {
        let mut room = [MaybeUninit::uninit(); 4096];
        let mut events = Reader::new(&watch, &mut room);
        while events.next().is_ok() {
            // The folder may be new, too.
            follow(&watch);
            if let Some(found) = look() {
                // Nobody listens any more once the time is over.
                let _ = sender.send(found);
                return;
            }
        }
    });
    listener.ok().and_then(|_| receiver.recv_timeout(patience).ok())
}

/// Searches the end of a file as it is: this platform does not report its changes.
#[cfg(not(target_os = "linux"))]
pub(super) fn awaited<T>(path: &Path, window: u64, _: Duration, find: impl Fn(&[u8]) -> Option<T>) -> Option<T> {
    find(&end(path, window).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn what_is_written_late_is_awaited() {
        use std::fs::File;
        use std::io::Write as _;

        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        std::fs::write(&log, "first\n").unwrap();
        let has = |word: &'static str| {
            move |bytes: &[u8]| {
                memchr::memmem::find(bytes, word.as_bytes()).map(|_| String::from_utf8_lossy(bytes).into_owned())
            }
        };
        let patience = Duration::from_mins(1);
        assert_eq!(awaited(&log, 64, Duration::ZERO, has("first")).as_deref(), Some("first\n"), "it is there");
        assert_eq!(awaited(&log, 64, Duration::from_millis(1), has("second")), None, "nobody writes it");
        assert_eq!(awaited(&dir.path().join("a/b/log"), 64, patience, has("first")), None, "nobody would tell");
        // In lines, as a client writes them: whichever comes first, the look or the line, it is found.
        let file = File::options().append(true).open(&log).unwrap();
        let writer = thread::spawn(move || (&file).write_all(b"more\n").and_then(|()| (&file).write_all(b"second\n")));
        assert_eq!(awaited(&log, 64, patience, has("second")).as_deref(), Some("first\nmore\nsecond\n"));
        writer.join().unwrap().unwrap();
        // With the folder it lies in.
        let new = dir.path().join("session/log");
        let writer = {
            let new = new.clone();
            thread::spawn(move || {
                std::fs::create_dir(new.parent().unwrap()).and_then(|()| std::fs::write(&new, "first\nsecond\n"))
            })
        };
        assert_eq!(awaited(&new, 64, patience, has("second")).as_deref(), Some("first\nsecond\n"));
        writer.join().unwrap().unwrap();
    }

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
