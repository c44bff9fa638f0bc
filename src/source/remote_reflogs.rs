//! The pushes in the reflogs of remote-tracking refs, read from their files without starting a process. If git keeps
//! its refs in another form (reftable), nothing is found here, and `gate log` asks git.

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::SystemTime;

use jiff::Timestamp;

use crate::event::pushes::SeenPush;

/// The largest number of files and folders that are visited.
const MAX_ENTRIES: usize = 4096;
/// The largest part of the end of a reflog that is read, in bytes.
const MAX_TAIL: u64 = 16 * 1024;

/// Returns the pushes since then, in their order. `common_dir` is the git directory that all working trees share.
pub fn pushes_since(common_dir: &Path, since: SystemTime) -> Vec<SeenPush> {
    let mut found = Vec::new();
    let mut folders = vec![common_dir.join("logs/refs/remotes")];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                break;
            }
            match entry.metadata() {
                Ok(meta) if meta.is_dir() => folders.push(entry.path()),
                Ok(meta) => {
                    let written = meta.modified().ok().filter(|at| *at >= since);
                    if let Some(written) = written {
                        read(common_dir, &entry.path(), written, &mut found);
                    }
                }
                Err(_) => {}
            }
        }
    }
    found.retain(|push| SystemTime::from(push.at) >= since);
    found.sort_by_key(|push| push.at);
    found
}

/// Reads the reflog in the file `path`, which was `written` last at that time.
fn read(common_dir: &Path, path: &Path, written: SystemTime, found: &mut Vec<SeenPush>) {
    let Some(tracking) = path.strip_prefix(common_dir.join("logs")).ok().and_then(Path::to_str) else { return };
    let tracking = tracking.replace('\\', "/");
    let text = tail(path).unwrap_or_default();
    let first = found.len();
    found.extend(String::from_utf8_lossy(&text).lines().filter_map(|line| push(&tracking, line)));
    // Lines have whole seconds; the file says when the last of them was written.
    if let (Some(last), Ok(written)) = (found[first..].last_mut(), Timestamp::try_from(written))
        && last.at.as_second() == written.as_second()
    {
        last.at = written;
    }
}

fn tail(path: &Path) -> std::io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(MAX_TAIL)))?;
    let mut text = Vec::new();
    file.take(MAX_TAIL).read_to_end(&mut text)?;
    Ok(text)
}

/// Reads `OLD NEW NAME <MAIL> SECONDS ZONE\tMESSAGE`.
fn push(tracking: &str, line: &str) -> Option<SeenPush> {
    let (head, message) = line.split_once('\t')?;
    let new = head.split(' ').nth(1)?.parse().ok()?;
    let seconds: i64 = head.rsplit(' ').nth(1)?.parse().ok()?;
    let is_push = message.starts_with("update by push");
    let at = Timestamp::from_second(seconds).ok()?;
    is_push.then(|| SeenPush { tracking: tracking.to_owned(), new, at })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_a_reflog() {
        let (old, new) = ("a".repeat(40), "b".repeat(40));
        let line = |message: &str| format!("{old} {new} A <a@example.com> 1700000000 +0100\t{message}");
        let found = push("refs/remotes/origin/main", &line("update by push")).unwrap();
        assert_eq!((found.new.as_str(), found.at.as_second()), (new.as_str(), 1_700_000_000));
        assert_eq!(push("refs/remotes/origin/main", &line("fetch: fast-forward")), None);
        assert_eq!(push("refs/remotes/origin/main", "cut off"), None);
    }
}
