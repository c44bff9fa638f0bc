//! The tests of every run by name, in little room.
//!
//! Each name is written once, and its number is its place in `names.jsonl`. A run in `runs.jsonl` stores only the results
//! that differ from those of the previous run of the same command. When there are many runs, the older half of them
//! becomes one for each command; when there are too many names, the ledger begins anew. It shows what happened, and
//! nothing is judged by it: what a gate asks for is in the journal.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::result_deltas::{MAX_NAME_BYTES, Results, apply, difference, ids_of, ranges_by_result};
use super::{JournalError, private_files};
use crate::event::test_results::TestResult;
use crate::oid::Oid;

/// The number of runs that are kept one by one, and their largest size, in bytes.
const MAX_LEDGER_RUNS: usize = 1000;
const MAX_RUN_BYTES: usize = 6 * 1024 * 1024;

/// The files of the ledger.
#[derive(Clone, Debug)]
pub struct TestLedger {
    folder: PathBuf,
}

/// One run in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerRun {
    /// The time of its end.
    pub at: Timestamp,
    /// The key of the command: [`crate::event::CommandRef::key`].
    pub key: String,
    /// The name of the declared command, or its line.
    pub command: String,
    /// The session it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The commit that was checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<Oid>,
    /// The content it ran on.
    pub tree: Oid,
    /// `true` if the runner named every test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub complete: bool,
    /// The tests whose result differs from that in the previous run of the command, by their new result.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    changed: BTreeMap<TestResult, String>,
}

impl LedgerRun {
    /// A run of which no result is known yet.
    pub fn new(at: Timestamp, key: String, command: String, tree: Oid) -> Self {
        Self { at, key, command, session: None, head: None, tree, complete: false, changed: BTreeMap::new() }
    }
}

/// The content of the ledger.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TestHistory {
    names: Vec<String>,
    runs: Vec<LedgerRun>,
}

/// The tests of a command after its latest run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LatestTests<'a> {
    /// The latest run.
    pub run: &'a LedgerRun,
    /// The tests, sorted by name.
    pub results: BTreeMap<&'a str, TestResult>,
    /// The tests that passed and failed on the same content.
    pub flaky: BTreeSet<&'a str>,
}

/// A run in which the result of a test changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TestMoment<'a> {
    /// The run.
    pub run: &'a LedgerRun,
    /// The new result.
    pub result: TestResult,
}

impl TestLedger {
    /// Returns the ledger in the folder of gate.
    pub fn of(gate_dir: &Path) -> Self {
        Self { folder: gate_dir.join("tests") }
    }

    /// Adds a run with the results of its tests.
    pub fn append<'t>(
        &self,
        mut run: LedgerRun,
        tests: impl Iterator<Item = (&'t str, TestResult)>,
    ) -> Result<(), JournalError> {
        private_files::create_dir(&self.folder).map_err(JournalError::write(&self.folder))?;
        let lock = self.folder.join("lock");
        let locked = private_files::open(&lock, OpenOptions::new().write(true).create(true));
        let locked = locked.map_err(JournalError::write(&lock))?;
        locked.lock().map_err(JournalError::write(&lock))?;
        let mut history = self.read()?;
        let known = history.names.len();
        let now = history.numbered(tests);
        if history.names.iter().map(String::len).sum::<usize>() > MAX_NAME_BYTES {
            return self.write(&TestHistory::default());
        }
        run.changed = difference(&history.results(&run.key), &now, run.complete);
        let line = json_line(&run)?;
        history.runs.push(run);
        if history.runs.len() > MAX_LEDGER_RUNS || self.run_bytes() + line.len() > MAX_RUN_BYTES {
            history.fold();
            return self.write(&history);
        }
        let names: Result<String, _> = history.names[known..].iter().map(json_line).collect();
        append_to(&self.names_path(), &names?)?;
        append_to(&self.runs_path(), &line)
    }

    /// Reads the ledger. A line that is not whole was never finished.
    pub fn read(&self) -> Result<TestHistory, JournalError> {
        let (names, runs) = (finished_lines(&self.names_path())?, finished_lines(&self.runs_path())?);
        let names = names.lines().map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
        Ok(TestHistory { names, runs: runs.lines().filter_map(|line| serde_json::from_str(line).ok()).collect() })
    }

    fn write(&self, history: &TestHistory) -> Result<(), JournalError> {
        let names: Result<String, _> = history.names.iter().map(json_line).collect();
        let runs: Result<String, _> = history.runs.iter().map(json_line).collect();
        // Runs refer to names: those of the old names must not be read with the new ones.
        replace(&self.runs_path(), "")?;
        replace(&self.names_path(), &names?)?;
        replace(&self.runs_path(), &runs?)
    }

    fn run_bytes(&self) -> usize {
        fs::metadata(self.runs_path()).map_or(0, |meta| usize::try_from(meta.len()).unwrap_or(usize::MAX / 2))
    }

    fn names_path(&self) -> PathBuf {
        self.folder.join("names.jsonl")
    }

    fn runs_path(&self) -> PathBuf {
        self.folder.join("runs.jsonl")
    }
}

impl TestHistory {
    /// Returns the tests of each command after its latest run, the command that ran last first.
    pub fn latest(&self) -> Vec<LatestTests<'_>> {
        let mut keys = BTreeSet::new();
        let newest = self.runs.iter().rev().filter(|run| keys.insert(run.key.as_str()));
        newest.map(|run| self.after(run)).collect()
    }

    fn after<'a>(&'a self, run: &'a LedgerRun) -> LatestTests<'a> {
        let results = self.results(&run.key);
        let known =
            results.iter().enumerate().filter_map(|(id, result)| Some((self.names.get(id)?.as_str(), (*result)?)));
        LatestTests { run, results: known.collect(), flaky: self.flaky(&run.key) }
    }

    /// Returns the runs in which the result of a test changed, oldest first.
    pub fn moments(&self, test: &str) -> Vec<TestMoment<'_>> {
        let Some(id) = self.names.iter().position(|name| name == test) else { return Vec::new() };
        let mut by_key: HashMap<&str, TestResult> = HashMap::new();
        let mut moments = Vec::new();
        for run in &self.runs {
            let changed = run.changed.iter().find(|(_, ids)| ids_of(ids).any(|known| known == id));
            if let Some((&result, _)) = changed
                && by_key.insert(&run.key, result) != Some(result)
            {
                moments.push(TestMoment { run, result });
            }
        }
        moments
    }

    /// Returns the latest run in which a test had this result.
    pub fn last(&self, test: &str, wanted: TestResult) -> Option<&LedgerRun> {
        let id = self.names.iter().position(|name| name == test)?;
        let mut by_key: HashMap<&str, TestResult> = HashMap::new();
        let mut last = None;
        for run in &self.runs {
            let changed = run.changed.iter().find(|(_, ids)| ids_of(ids).any(|known| known == id));
            if let Some((result, _)) = changed {
                by_key.insert(&run.key, *result);
            }
            // A run that names only some of its tests says nothing about the others.
            if by_key.get(run.key.as_str()) == Some(&wanted) && (run.complete || changed.is_some()) {
                last = Some(run);
            }
        }
        last
    }

    /// Returns the contents on which a test passed and failed in runs of one command, each once, the earliest first.
    pub fn contents_with_both(&self, test: &str) -> Vec<&Oid> {
        let Some(id) = self.names.iter().position(|name| name == test) else { return Vec::new() };
        let mut contents: Vec<&Oid> = Vec::new();
        let keys: BTreeSet<&str> = self.runs.iter().map(|run| run.key.as_str()).collect();
        for key in keys {
            let both = self.contents_of_flaky(key).into_iter().filter(|(_, known)| *known == id);
            contents.extend(both.map(|(tree, _)| tree));
        }
        contents.sort_by_key(|tree| self.runs.iter().position(|run| run.tree == **tree));
        contents.dedup();
        contents
    }

    /// Returns the tests whose name holds a text, sorted; the one that is called like it, alone.
    pub fn named(&self, text: &str) -> Vec<&str> {
        if let Some(name) = self.names.iter().find(|name| *name == text) {
            return vec![name];
        }
        let found: BTreeSet<&str> = self.names.iter().map(String::as_str).filter(|name| name.contains(text)).collect();
        found.into_iter().collect()
    }

    /// Returns the tests of a command that passed and failed on the same content.
    fn flaky(&self, key: &str) -> BTreeSet<&str> {
        let both = self.contents_of_flaky(key).into_iter();
        both.filter_map(|(_, id)| self.names.get(id).map(String::as_str)).collect()
    }

    /// Returns the contents on which tests of a command passed and failed, each with the number of the test.
    fn contents_of_flaky<'a>(&'a self, key: &'a str) -> Vec<(&'a Oid, usize)> {
        let mut results: Results = Vec::new();
        let mut outcomes: HashMap<(&Oid, usize), BTreeSet<TestResult>> = HashMap::new();
        // Only a test that failed at some time can be one.
        let suspects: BTreeSet<usize> = self
            .of_key(key)
            .filter_map(|run| run.changed.get(&TestResult::Failed))
            .flat_map(|ids| ids_of(ids))
            .collect();
        for run in self.of_key(key) {
            apply(&mut results, &run.changed);
            for &id in &suspects {
                if let Some(result) = results.get(id).copied().flatten().filter(|_| run.complete || run.names(id)) {
                    outcomes.entry((&run.tree, id)).or_default().insert(result);
                }
            }
        }
        let both = |outcomes: &BTreeSet<TestResult>| {
            outcomes.contains(&TestResult::Passed) && outcomes.contains(&TestResult::Failed)
        };
        outcomes.into_iter().filter(|(_, outcomes)| both(outcomes)).map(|(place, _)| place).collect()
    }

    fn of_key<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a LedgerRun> {
        self.runs.iter().filter(move |run| run.key == key)
    }

    fn results(&self, key: &str) -> Results {
        let mut results = Results::new();
        self.of_key(key).for_each(|run| apply(&mut results, &run.changed));
        results
    }

    /// Returns the results by number, and gives new names a number.
    fn numbered<'t>(&mut self, tests: impl Iterator<Item = (&'t str, TestResult)>) -> BTreeMap<usize, TestResult> {
        let known = self.names.len();
        let mut ids: HashMap<&str, usize> = self.names.iter().map(String::as_str).zip(0..).collect();
        let mut added: Vec<&'t str> = Vec::new();
        let mut numbered = BTreeMap::new();
        for (name, result) in tests {
            let next = known + added.len();
            let id = *ids.entry(name).or_insert(next);
            if id == next {
                added.push(name);
            }
            numbered.insert(id, result);
        }
        self.names.extend(added.into_iter().map(str::to_owned));
        numbered
    }

    /// Makes one run for each command of the older half of the runs.
    fn fold(&mut self) {
        let newer = self.runs.split_off(self.runs.len() / 2);
        let mut keys = BTreeSet::new();
        let mut last: Vec<LedgerRun> = self.runs.iter().rev().filter(|run| keys.insert(&run.key)).cloned().collect();
        for run in &mut last {
            let results = self.results(&run.key);
            let known = results.iter().enumerate().filter_map(|(id, result)| Some((id, (*result)?)));
            run.changed = ranges_by_result(known);
        }
        last.reverse();
        last.extend(newer);
        self.runs = last;
    }
}

impl LedgerRun {
    fn names(&self, id: usize) -> bool {
        self.changed.values().any(|ids| ids_of(ids).any(|known| known == id))
    }
}

fn json_line<T: Serialize + ?Sized>(value: &T) -> Result<String, JournalError> {
    Ok(serde_json::to_string(value)? + "\n")
}

/// Returns the finished lines of a file.
fn finished_lines(path: &Path) -> Result<String, JournalError> {
    let found = private_files::found(private_files::read(path)).map_err(JournalError::read(path))?;
    let bytes = found.unwrap_or_default();
    let mut text =
        String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned());
    text.truncate(text.rfind('\n').unwrap_or(0));
    Ok(text)
}

/// Appends to a file, in place of a line that was never finished.
fn append_to(path: &Path, text: &str) -> Result<(), JournalError> {
    let mut file = private_files::open(path, OpenOptions::new().read(true).append(true).create(true))
        .map_err(JournalError::write(path))?;
    if !ends_with_a_line(&mut file).map_err(JournalError::read(path))? {
        let bytes = private_files::read(path).map_err(JournalError::read(path))?;
        let finished = bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        file.set_len(finished as u64).map_err(JournalError::write(path))?;
    }
    file.write_all(text.as_bytes()).map_err(JournalError::write(path))
}

/// Returns `true` if a file is empty, or its last line is finished.
fn ends_with_a_line(file: &mut File) -> io::Result<bool> {
    let mut last = [b'\n'];
    if file.seek(SeekFrom::End(0))? > 0 {
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
    }
    Ok(last == [b'\n'])
}

fn replace(path: &Path, text: &str) -> Result<(), JournalError> {
    let temporary = path.with_extension("tmp");
    let write = |mut file: File| file.write_all(text.as_bytes());
    private_files::open(&temporary, OpenOptions::new().write(true).create(true).truncate(true))
        .and_then(write)
        .and_then(|()| fs::rename(&temporary, path))
        .map_err(JournalError::write(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(at: i64, tree: char, complete: bool) -> LedgerRun {
        let tree = tree.to_string().repeat(40).parse().unwrap();
        let at = Timestamp::from_second(at).unwrap();
        LedgerRun { complete, ..LedgerRun::new(at, "k".to_owned(), "test".to_owned(), tree) }
    }

    fn ledger() -> (tempfile::TempDir, TestLedger) {
        let folder = tempfile::tempdir().unwrap();
        let ledger = TestLedger::of(folder.path());
        (folder, ledger)
    }

    use TestResult::{Failed, Missing, Passed, Skipped};

    #[test]
    fn a_test_has_a_history() {
        let (_folder, ledger) = ledger();
        ledger.append(run(1, 'a', true), [("one", Passed), ("two", Failed)].into_iter()).unwrap();
        ledger.append(run(2, 'a', true), [("one", Passed), ("two", Failed)].into_iter()).unwrap();
        ledger.append(run(3, 'b', true), [("one", Passed), ("three", Skipped)].into_iter()).unwrap();
        ledger.append(run(4, 'c', false), [("two", Passed)].into_iter()).unwrap();
        let history = ledger.read().unwrap();
        let moments = |name: &str| {
            let moments = history.moments(name).into_iter();
            moments.map(|moment| (moment.run.at.as_second(), moment.result)).collect::<Vec<_>>()
        };
        assert_eq!(moments("one"), [(1, Passed)]);
        assert_eq!(moments("two"), [(1, Failed), (3, Missing), (4, Passed)]);
        assert_eq!(moments("none"), []);
        assert_eq!(history.last("two", Failed).map(|run| run.at.as_second()), Some(2));
        let latest = history.latest();
        assert_eq!(latest[0].results, BTreeMap::from([("one", Passed), ("two", Passed), ("three", Skipped)]));
        assert_eq!(history.named("t"), ["three", "two"]);
        assert_eq!(history.named("two"), ["two"]);
    }

    #[test]
    fn a_test_with_both_outcomes_on_one_content_is_flaky() {
        let (_folder, ledger) = ledger();
        for (at, tree, one, two) in [(1, 'a', Passed, Failed), (2, 'b', Failed, Passed), (3, 'a', Failed, Failed)] {
            ledger.append(run(at, tree, true), [("one", one), ("two", two)].into_iter()).unwrap();
        }
        let history = ledger.read().unwrap();
        assert_eq!(history.latest()[0].flaky, BTreeSet::from(["one"]));
    }

    #[test]
    fn a_line_that_was_never_finished_is_written_again() {
        let (folder, ledger) = ledger();
        ledger.append(run(1, 'a', true), [("one", Passed)].into_iter()).unwrap();
        for file in ["names.jsonl", "runs.jsonl"] {
            let path = folder.path().join("tests").join(file);
            let mut text = fs::read_to_string(&path).unwrap();
            text.push_str("\"half");
            fs::write(&path, text).unwrap();
        }
        ledger.append(run(2, 'a', true), [("one", Passed), ("two", Failed)].into_iter()).unwrap();
        let history = ledger.read().unwrap();
        assert_eq!(history.latest()[0].results, BTreeMap::from([("one", Passed), ("two", Failed)]));
    }

    #[test]
    fn many_runs_of_many_tests_take_little_room() {
        let (folder, ledger) = ledger();
        let names: Vec<String> =
            (0..400).map(|n| format!("tests/unit/test_module_{}.py::test_case_{n}", n / 40)).collect();
        let runs = i64::try_from(MAX_LEDGER_RUNS).unwrap() / 4;
        for at in 0..runs {
            let failing = usize::try_from(at).unwrap() * 7 % names.len();
            let result = |n: usize| if n == failing || n == failing / 2 { Failed } else { Passed };
            let tests = names.iter().enumerate().map(|(n, name)| (name.as_str(), result(n)));
            ledger.append(run(at, 'a', true), tests).unwrap();
        }
        let size = |file: &str| fs::metadata(folder.path().join("tests").join(file)).unwrap().len();
        // 20 MB for 20,000 tests and 1,000 runs: 300 bytes for a name, 14,000 for a run.
        assert!(size("names.jsonl") < 400 * 100, "{}", size("names.jsonl"));
        assert!(size("runs.jsonl") < 300 * u64::try_from(runs).unwrap(), "{}", size("runs.jsonl"));
    }

    #[test]
    fn older_runs_become_one_and_the_latest_results_stay() {
        let (_folder, ledger) = ledger();
        let mut history = TestHistory::default();
        for at in 0..40 {
            let mut next = run(at, 'a', true);
            let now = history.numbered([("one", Passed), ("two", if at == 3 { Failed } else { Passed })].into_iter());
            next.changed = difference(&history.results("k"), &now, true);
            history.runs.push(next);
        }
        history.fold();
        assert_eq!(history.runs.len(), 21);
        private_files::create_dir(&ledger.folder).unwrap();
        ledger.write(&history).unwrap();
        let read = ledger.read().unwrap();
        assert_eq!(read, history);
        assert_eq!(read.latest()[0].results, BTreeMap::from([("one", Passed), ("two", Passed)]));
    }
}
