//! Requests for a check after a write, and its answers: files of a session that the hook and the process that runs the
//! check share. The newest request counts; the check of an older one is ended.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::config;
use crate::diagnostics::{Diagnostic, KnownDiagnostics};
use crate::regular_file;
use crate::run::start_itself;
use crate::verdict::verdict_files;

/// The time that a hook waits for the check. A later answer comes at the next call.
const WAIT: Duration = Duration::from_secs(10);

/// The pause between two looks at the answer.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// The largest number of edited paths that are remembered.
const MAX_PATHS: usize = 1000;

/// The largest number of problems in one answer.
pub const MAX_TOLD: usize = 10;

/// A request for a check.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CheckRequest {
    /// Its id, by which requests sort.
    pub id: String,
    /// The paths that the session edited, relative to the root.
    pub edited: BTreeSet<String>,
    /// `true` if the paths are not all known.
    pub other_edits: bool,
    /// `true` if nothing was edited yet: what is found was there before the session.
    pub is_baseline: bool,
}

/// The answer to a request.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct CheckAnswer {
    /// The id of the request.
    pub request: String,
    /// The new problems, by command line.
    pub found: BTreeMap<String, Vec<Diagnostic>>,
    /// The failures without a problem that can be read, by command line.
    pub failed: BTreeMap<String, String>,
}

impl CheckAnswer {
    /// Returns the words for the agent, or `None` if there is nothing to tell.
    pub fn words(&self) -> Option<String> {
        let mut lines = Vec::new();
        let mut left = MAX_TOLD;
        for (command, found) in self.found.iter().filter(|(_, found)| !found.is_empty()) {
            let noun = if found.len() == 1 { "problem that is new" } else { "problems that are new" };
            lines.push(format!("gate: `{command}` finds {} {noun} since the last check:", found.len()));
            let shown = found.iter().take(left);
            lines.extend(shown.map(ToString::to_string));
            let more = found.len().saturating_sub(left);
            left = left.saturating_sub(found.len());
            if more > 0 {
                lines.push(format!("and {more} more"));
            }
        }
        lines.extend(self.failed.iter().map(|(command, why)| format!("gate: `{command}` failed: {why}")));
        (!lines.is_empty()).then(|| lines.join("\n"))
    }
}

/// The files of a session.
#[derive(Clone, Debug)]
pub struct CheckFiles {
    folder: PathBuf,
    stem: String,
}

impl CheckFiles {
    /// Returns the files of a session below gate's folder.
    pub fn of(gate_dir: &Path, session: &str) -> Self {
        Self { folder: gate_dir.join("after-write"), stem: verdict_files::file_stem(session) }
    }

    fn path(&self, kind: &str) -> PathBuf {
        self.folder.join(format!("{}.{kind}", self.stem))
    }

    fn write(&self, kind: &str, value: &impl Serialize) -> io::Result<()> {
        fs::create_dir_all(&self.folder)?;
        verdict_files::write_json(&self.path(kind), value)
    }

    fn read<T: DeserializeOwned>(&self, kind: &str) -> Option<T> {
        serde_json::from_slice(&fs::read(self.path(kind)).ok()?).ok()
    }

    /// Returns the newest request.
    pub fn request(&self) -> Option<CheckRequest> {
        self.read("request.json")
    }

    /// Returns the problems that are known of each command line, or `None` if no check has ended yet.
    pub fn known(&self) -> Option<BTreeMap<String, KnownDiagnostics>> {
        self.read("known.json")
    }

    /// Keeps the problems that are known.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn keep_known(&self, known: &BTreeMap<String, KnownDiagnostics>) -> io::Result<()> {
        self.write("known.json", known)
    }

    /// Returns the id of the last request that was answered.
    pub fn done(&self) -> Option<String> {
        self.read("done.json")
    }

    /// Keeps the id of the last request that was answered.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn keep_done(&self, id: &str) -> io::Result<()> {
        self.write("done.json", &id)
    }

    /// Returns the answer that nobody has told yet.
    pub fn answer(&self) -> Option<CheckAnswer> {
        self.read("answer.json")
    }

    /// Keeps an answer.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn keep_answer(&self, answer: &CheckAnswer) -> io::Result<()> {
        self.write("answer.json", answer)
    }

    /// Takes the lock of the process that runs the check, and writes its id into it. Returns `None` if another one has
    /// it.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn lock(&self) -> io::Result<Option<File>> {
        fs::create_dir_all(&self.folder)?;
        let path = self.path("lock");
        let mut file = fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        if file.try_lock().is_err() {
            return Ok(None);
        }
        file.set_len(0)?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Some(file))
    }

    /// Returns the process that runs a check now.
    fn runner(&self) -> Option<i32> {
        let mut file = fs::OpenOptions::new().read(true).write(true).open(self.path("lock")).ok()?;
        if file.try_lock().is_ok() {
            return None;
        }
        let mut text = String::new();
        file.rewind().ok()?;
        file.read_to_string(&mut text).ok()?;
        text.trim().parse().ok()
    }

    /// Asks for a check. The check of an older request is ended.
    ///
    /// # Errors
    ///
    /// The request cannot be written, or the process cannot be started.
    pub fn ask(&self, root: &Path, session: &str, edits: &CheckRequest) -> io::Result<String> {
        let mut request = self.request().unwrap_or_default();
        request.id = Timestamp::now().strftime("%Y%m%dT%H%M%S%.9f").to_string();
        request.is_baseline = edits.is_baseline && request.edited.is_empty();
        request.other_edits |= edits.other_edits;
        request.edited.extend(edits.edited.iter().take(MAX_PATHS.saturating_sub(request.edited.len())).cloned());
        self.write("request.json", &request)?;
        if let Some(runner) = self.runner() {
            end(runner);
        }
        start_itself(root, &["hook", "after-write", session])?;
        Ok(request.id)
    }

    /// Takes the answer to a request, or to a later one, as soon as it is there. Returns `None` if it takes too long.
    pub fn wait(&self, id: &str) -> Option<CheckAnswer> {
        let began = Instant::now();
        while began.elapsed() < WAIT {
            if self.answer().is_some_and(|answer| answer.request.as_str() >= id) {
                return self.take();
            }
            thread::sleep(POLL_INTERVAL);
        }
        None
    }

    /// Takes the answer out. One of several callers gets it.
    pub fn take(&self) -> Option<CheckAnswer> {
        let own = self.path(&format!("told-{}", std::process::id()));
        fs::rename(self.path("answer.json"), &own).ok()?;
        let answer = serde_json::from_slice(&fs::read(&own).ok()?).ok();
        let _ = fs::remove_file(own);
        answer
    }

    /// Returns `true` if a check runs now.
    pub fn is_running(&self) -> bool {
        self.runner().is_some()
    }

    /// Deletes the files.
    pub fn forget(&self) {
        for kind in ["request.json", "known.json", "answer.json", "done.json"] {
            let _ = fs::remove_file(self.path(kind));
        }
    }
}

/// Ends the process that runs a check, and with it the check.
fn end(runner: i32) {
    #[cfg(unix)]
    if let Some(pid) = rustix::process::Pid::from_raw(runner) {
        let _ = rustix::process::kill_process(pid, rustix::process::Signal::TERM);
    }
    #[cfg(not(unix))]
    let _ = runner;
}

/// Returns `true` if the policy file of a working tree names a check after writes. Nothing else is opened for it.
pub fn is_wanted(root: &Path) -> bool {
    regular_file::read_text(&root.join(config::FILE)).is_ok_and(|text| text.contains("after_write"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_ten_problems_are_told() {
        let one =
            |line| Diagnostic { file: "a.c".to_owned(), line, column: Some(1), text: "x".to_owned(), warning: false };
        let found = BTreeMap::from([("make".to_owned(), (1..=14).map(one).collect())]);
        let words = CheckAnswer { found, ..CheckAnswer::default() }.words().unwrap();
        assert_eq!(words.lines().count(), 12, "{words}");
        assert!(words.ends_with("a.c:10:1 x\nand 4 more"), "{words}");
        assert_eq!(CheckAnswer::default().words(), None);
    }

    #[test]
    fn an_answer_is_told_once() {
        let dir = tempfile::tempdir().unwrap();
        let files = CheckFiles::of(dir.path(), "s");
        files.keep_answer(&CheckAnswer { request: "2".to_owned(), ..CheckAnswer::default() }).unwrap();
        assert!(files.wait("1").is_some() && files.take().is_none());
        let lock = files.lock().unwrap();
        assert!(lock.is_some() && files.is_running() && files.lock().unwrap().is_none());
        drop(lock);
        assert!(!files.is_running());
    }
}
