//! The tests of a run by name: from a report requested in a way that changes nothing that anybody sees, from report files
//! that the run wrote, and from its output.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::embedded;
use crate::event::test_results::TestResult;
use crate::foreign_text::one_line;
use crate::git::Repo;
use crate::run::{self, Finished};
use crate::runner::name_source::{HookVariable, REPORT_VARIABLE, ReportHook};
use crate::runner::{Catalogue, CommandKind, NamedTests, Runner, read_junit_names};

/// The largest report that is read, in bytes.
const MAX_REPORT: u64 = 64 * 1024 * 1024;

/// The runners whose hooks are loaded by a line with no program that is known: a script may start one of them.
const IN_SCRIPTS: [&str; 2] = ["pytest", "jest"];

/// The first word of the row that a hook writes when its runner starts.
const BEGIN: &str = "begin";
/// The folder of the hooks next to the report. Coverage of JavaScript leaves out what lies in a folder of this name.
const HOOKS: &str = "node_modules";
/// The file next to the report that lists the working trees of the repository, that of the run first.
const TREES: &str = "work-trees";

/// A run whose tests are to be known by name.
pub(super) struct TestReport<'a> {
    line: String,
    /// The runners of tests in its line.
    runners: Vec<&'a Runner>,
    catalogue: &'a Catalogue,
    folder: Option<TempDir>,
    environment: Vec<(OsString, OsString)>,
    /// The report of the hooks, read once the run has ended.
    written: OnceCell<String>,
    /// The run may leave out tests that the run before it had.
    varies: bool,
}

/// The report files after a run.
pub(super) struct ReportFiles<'a> {
    /// Those that the run wrote.
    pub(super) written: &'a [PathBuf],
    /// `true` if there are others: of a task that did not run this time, or of tests that are gone.
    pub(super) others: bool,
    /// The number of tests in the closing lines.
    pub(super) counted: Option<u64>,
}

impl<'a> TestReport<'a> {
    /// Prepares the hooks of the runners in `line`, which are some of those in `catalogue`. `trees` are the working trees of
    /// the repository, that of the run first.
    pub(super) fn prepare(line: &str, runners: &[&'a Runner], catalogue: &'a Catalogue, trees: &[PathBuf]) -> Self {
        let mut tests: Vec<&'a Runner> = Vec::new();
        for &runner in runners.iter().filter(|runner| may_name_tests(runner)) {
            if !tests.iter().any(|known| known.id == runner.id) {
                tests.push(runner);
            }
        }
        let is_script = tests.is_empty() && runners.iter().all(|runner| runner.task.is_some());
        let in_scripts = IN_SCRIPTS.iter().filter(|_| is_script).filter_map(|id| catalogue.runner(id));
        let hooks: Vec<&ReportHook> =
            tests.iter().copied().chain(in_scripts).filter_map(|runner| hook_for(line, runner)).collect();
        let varies = runners.iter().filter_map(|runner| runner.names.as_ref()).any(|names| names.varies(line));
        let mut report = Self {
            line: line.to_owned(),
            runners: tests,
            catalogue,
            folder: None,
            environment: Vec::new(),
            written: OnceCell::new(),
            varies,
        };
        // Without a folder no names are requested, and the run is what it was.
        if let Some(folder) = (!hooks.is_empty()).then(|| written(&hooks, trees)).flatten() {
            report.environment = environment(folder.path(), &hooks);
            report.folder = Some(folder);
        }
        report
    }

    /// The variables that load the hooks and tell them where to write.
    pub(super) fn environment(&self) -> &[(OsString, OsString)] {
        &self.environment
    }

    /// Returns `true` if a hook names the tests, and each run has the same ones.
    pub(super) fn names_each_time(&self) -> bool {
        !self.varies && self.runners.iter().any(|runner| self.is_hooked(runner))
    }

    /// Returns `true` if a hook was there to name the tests, and wrote nothing.
    pub(super) fn is_silent(&self) -> bool {
        self.folder.is_some() && self.report().is_empty()
    }

    /// Returns `true` if names may be anywhere in the output.
    pub(super) fn needs_output(&self) -> bool {
        self.runners.iter().any(|runner| !self.is_hooked(runner))
    }

    /// Returns the tests of the run that ended.
    pub(super) fn read(&self, finished: &Finished, files: &ReportFiles<'_>) -> NamedTests {
        let hooked = self.runners.iter().filter(|runner| self.is_hooked(runner)).count();
        let reported = NamedTests::of_report(self.report(), hooked);
        let rest: Vec<&Runner> =
            self.runners.iter().filter(|runner| reported.is_empty() || !self.is_hooked(runner)).copied().collect();
        let (from_files, from_output): (Vec<&Runner>, Vec<&Runner>) =
            rest.into_iter().partition(|runner| runner.names.as_ref().is_some_and(|names| names.files));
        let mut parts = Vec::new();
        if !reported.is_empty() {
            parts.push(reported);
        }
        if !from_files.is_empty() {
            parts.push(in_files(finished, files));
        }
        if !from_output.is_empty() || parts.is_empty() {
            parts.push(in_output(finished, self.catalogue, &from_output));
        }
        let tests = NamedTests::joined(parts);
        if self.varies { tests.incomplete() } else { tests }
    }

    /// Returns a file of another working tree that the tests loaded, if a hook reports one.
    pub(super) fn loaded_elsewhere(&self) -> Option<String> {
        self.rows("elsewhere").next()
    }

    /// Returns the reason why a run with status 0 shows nothing: a runner whose hook reports its end (`["begin", "ends"]`)
    /// began and did not come to it, or a file was opened and not closed.
    pub(super) fn broken_off(&self) -> Option<String> {
        if self.rows(BEGIN).filter(|text| text == "ends").count() > self.rows("end").count() {
            return Some("the runner began and ended before its tests were done".to_owned());
        }
        let closed: BTreeSet<String> = self.rows("closed").collect();
        let file = self.rows("opened").find(|file| !closed.contains(file))?;
        Some(format!("the process of {} ended before its tests were done, with status 0", one_line(&file)))
    }

    /// Returns `true` if a hook reports that a runner began.
    pub(super) fn has_begun(&self) -> bool {
        self.rows(BEGIN).next().is_some()
    }

    /// Returns the tests that failed by what the hooks reported and that no later start of a runner saw pass, if there are any. A
    /// closing line and a status can be patched by the tests, and a script can lose the status.
    pub(super) fn failed(&self) -> Option<Vec<String>> {
        let rows = self.report().lines().filter_map(|line| serde_json::from_str::<(&str, String)>(line).ok());
        let (mut failed, mut of_start, mut passed) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
        for (word, test) in rows.chain([(BEGIN, String::new())]) {
            match TestResult::named(word) {
                Some(TestResult::Failed) if !test.is_empty() => drop(of_start.insert(test)),
                Some(TestResult::Passed) => drop(passed.insert(test)),
                _ if word == BEGIN => {
                    failed.retain(|test| !passed.contains(test));
                    failed.append(&mut of_start);
                    passed.clear();
                }
                _ => {}
            }
        }
        Some(failed.into_iter().collect::<Vec<_>>()).filter(|failed| !failed.is_empty())
    }

    /// Returns the texts of the rows that begin with this word.
    fn rows(&self, word: &str) -> impl Iterator<Item = String> {
        let start = format!("[\"{word}\"");
        let lines = self.report().lines().filter(move |line| line.starts_with(&start));
        lines.filter_map(|line| serde_json::from_str(line).ok()).map(|(_, text): (&str, String)| text)
    }

    fn is_hooked(&self, runner: &Runner) -> bool {
        self.folder.is_some() && hook_for(&self.line, runner).is_some_and(|hook| !hook.nameless)
    }

    fn report(&self) -> &str {
        self.written.get_or_init(|| self.folder.as_ref().map(|folder| read_report(folder.path())).unwrap_or_default())
    }
}

/// Returns the content of the report in a folder; nothing if it is too large.
fn read_report(folder: &Path) -> String {
    let file = report_in(folder);
    let is_small = std::fs::metadata(&file).is_ok_and(|meta| meta.len() <= MAX_REPORT);
    if is_small { std::fs::read_to_string(&file).unwrap_or_default() } else { String::new() }
}

/// Returns `true` for a runner of tests, and for one of tasks that passes a hook on.
fn may_name_tests(runner: &Runner) -> bool {
    if runner.task.is_some() {
        return runner.names.as_ref().is_some_and(|names| names.hook.is_some());
    }
    runner.kinds.contains(&CommandKind::Test)
}

fn hook_for<'a>(line: &str, runner: &'a Runner) -> Option<&'a ReportHook> {
    let hook = runner.names.as_ref()?.hook.as_ref()?;
    // A line that sets the variable itself replaces what loads the hook, and one that names the report may write it.
    let sets = |variable: &HookVariable| line.contains(&format!("{}=", variable.name));
    (!line.contains(REPORT_VARIABLE) && !hook.variable.iter().any(sets)).then_some(hook)
}

/// Returns the existing working trees of a repository, the present one first.
pub(super) fn work_trees(repo: &Repo) -> Vec<PathBuf> {
    repo.work_trees().iter().filter_map(|root| root.canonicalize().ok()).collect()
}

/// Writes the hooks into a new folder, each into one of its own.
fn written(hooks: &[&ReportHook], trees: &[PathBuf]) -> Option<TempDir> {
    let folder = tempfile::Builder::new().prefix("gate-tests-").tempdir().ok()?;
    // Variables that are lists of words cannot hold it.
    if folder.path().to_str()?.contains(char::is_whitespace) {
        return None;
    }
    for file in hooks.iter().flat_map(|hook| &hook.files) {
        let path = folder.path().join(HOOKS).join(file);
        std::fs::create_dir_all(path.parent()?).ok()?;
        std::fs::write(&path, embedded::file(embedded::HOOKS, file)?).ok()?;
    }
    let trees: Option<Vec<&str>> = trees.iter().map(|root| root.to_str()).collect();
    if let Some(trees) = trees.filter(|trees| !trees.is_empty()) {
        std::fs::write(folder.path().join(TREES), trees.join("\n")).ok()?;
    }
    Some(folder)
}

fn environment(folder: &Path, hooks: &[&ReportHook]) -> Vec<(OsString, OsString)> {
    let mut all: Vec<(OsString, OsString)> = vec![(REPORT_VARIABLE.into(), report_in(folder).into())];
    for hook in hooks {
        let home = hook.files.first().and_then(|file| file.split('/').next()).unwrap_or_default();
        for variable in &hook.variable {
            let known = all.iter().position(|(name, _)| *name == *variable.name);
            let rest = known.map(|at| all.remove(at).1).or_else(|| std::env::var_os(&variable.name));
            all.push((variable.name.clone().into(), value_of(variable, &folder.join(HOOKS).join(home), rest)));
        }
    }
    all
}

/// Returns the value of a variable, before what it holds already.
fn value_of(variable: &HookVariable, folder: &Path, rest: Option<OsString>) -> OsString {
    let mut value: OsString = variable.value.replace("{folder}", &folder.to_string_lossy()).into();
    if let Some(rest) = rest.filter(|rest| !rest.is_empty() && *rest != value) {
        value.push(if variable.before == ":" && cfg!(windows) { ";" } else { &variable.before });
        value.push(rest);
    }
    value
}

fn report_in(folder: &Path) -> PathBuf {
    folder.join("report.jsonl")
}

/// Returns the tests in the report files that the run wrote.
fn in_files(finished: &Finished, files: &ReportFiles<'_>) -> NamedTests {
    let read = |path: &PathBuf| read_junit_names(&std::fs::read(path).ok()?).ok();
    let cases: Vec<_> = files.written.iter().filter_map(read).flatten().collect();
    let all_counted = files.counted == Some(cases.len() as u64);
    let complete = finished.ended.success() && !cases.is_empty() && (!files.others || all_counted);
    NamedTests::of_cases(cases, complete)
}

/// Returns the tests that the output names.
fn in_output(finished: &Finished, catalogue: &Catalogue, runners: &[&Runner]) -> NamedTests {
    let all = finished.output.all();
    let text = run::plain_text(&all.clone().unwrap_or_else(|| finished.output.end()));
    NamedTests::of_runners(catalogue, &text, all.is_some(), runners)
}
