//! Tests that failed on the way to the judged content, and their results since.
//!
//! A failed test must later pass under its name. A run that names its tests shows if it did. A passing run that does
//! not name its tests shows it too, if no file that decides which tests run was changed in between.

mod dropped_work;

use similar::TextDiff;

use self::dropped_work::JudgedWork;
use crate::event::test_results::TestResult;
use crate::fact::Facts;
use crate::fact::failed_test::FailedTest;
use crate::fact::subject::{Base, Subject};
use crate::fact::weakening::{
    self, DeclaredTest, adds_hiding_word, decides_which_tests_run, declared_tests, is_same_test, is_test_file,
};
use crate::git::{GitError, Repo, TreeDiff, WantedFile};
use crate::journal::{JournalState, OpenFailure, RecordedRun};
use crate::oid::Oid;
use crate::policy::{Command, Policy};
use crate::repo_path::RepoPath;
use crate::runner::Catalogue;

/// The number of failed tests that are looked at.
const MAX_FAILED: usize = 64;
/// The number of changed files that are read for them, and the largest of these, in bytes.
const MAX_FILES: usize = 200;
const MAX_TEXT: usize = 1 << 20;
/// The share of equal text from which a test with another name counts as the same test.
const SAME_BODY: f32 = 0.6;

/// Reads the failed tests of the work that `facts` are about, if a later run of the same command passed. Without such a
/// run, the gate that requires the run reports that.
pub fn read(
    repo: &Repo,
    state: &JournalState,
    policy: &Policy,
    session: &str,
    facts: &Facts,
) -> Result<Vec<FailedTest>, GitError> {
    let mut found = Vec::new();
    let asks = policy.gates.iter().any(|gate| gate.kind == weakening::GATE && gate.moments.contains(&facts.moment));
    if !asks || state.open_failures().is_empty() {
        return Ok(found);
    }
    for command in &policy.commands {
        let key = command.reference().key;
        for open in state.open_failures().iter().filter(|open| open.key == key).take(MAX_FAILED) {
            if !is_on_the_way(repo, facts, session, open)? {
                continue;
            }
            if let Some(green) = passed_since(state, open) {
                found.extend(
                    fate(repo, facts, &policy.runners, command, open, green)?
                        .map(|failed| known_to(session, open, failed)),
                );
            }
        }
    }
    Ok(found)
}

/// Returns `true` if a test failed on a commit between the base and the tip of a subject, or on one that the current
/// session has amended or rebased since, so that no branch has it.
fn is_on_the_way(repo: &Repo, facts: &Facts, session: &str, open: &OpenFailure) -> Result<bool, GitError> {
    let Some(head) = &open.head else { return Ok(true) };
    let checked_out = facts.subjects.iter().find_map(|subject| subject.commit.as_ref());
    for subject in &facts.subjects {
        let Some(tip) = subject.commit.as_ref().or(checked_out) else { continue };
        let since_base = match &subject.base {
            Base::MergeBase { commit, .. } => repo.is_ancestor(commit, head)?,
            _ => true,
        };
        let rewritten = || Ok(open.session.as_deref() == Some(session) && !repo.is_on_a_branch(head)?);
        let is_way = since_base && (repo.is_ancestor(head, tip)? || rewritten()?);
        if is_way && !is_unrelated_draft(repo, subject, head, open)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Returns `true` if a test failed before the first commit of some branch, and this branch changes nothing that was
/// changed there: neither a file of that draft nor one that may hold the test.
fn is_unrelated_draft(repo: &Repo, subject: &Subject, head: &Oid, open: &OpenFailure) -> Result<bool, GitError> {
    let Base::MergeBase { commit, .. } = &subject.base else { return Ok(false) };
    let (true, Some(changed)) = (commit == head, &subject.changed) else { return Ok(false) };
    let Some(TreeDiff::Changes(draft)) = repo.diff_trees(&[(repo.tree_of(head)?, open.tree.clone())])?.pop() else {
        return Ok(false);
    };
    let is_common = |path: &RepoPath| {
        draft.iter().any(|change| change.path == *path) || is_test_file(path) && is_file_of(&open.test, path)
    };
    Ok(!draft.is_empty() && !changed.iter().any(is_common))
}

/// Returns the latest run of the command if it passed after the test had failed.
fn passed_since<'a>(state: &'a JournalState, open: &OpenFailure) -> Option<&'a RecordedRun> {
    let runs = state.runs(&open.key);
    let failed = runs.iter().position(|run| run.run.end.tree == open.tree && !run.run.ended.success());
    let later = &runs[..failed.unwrap_or(runs.len())];
    later.iter().find(|run| run.run.ended.success() && run.run.masked.is_none())
}

/// The same, established if another session saw it.
fn known_to(session: &str, open: &OpenFailure, failed: FailedTest) -> FailedTest {
    let established = failed.established || !failed.dropped && open.session.as_deref() != Some(session);
    FailedTest { established, ..failed }
}

fn fate(
    repo: &Repo,
    facts: &Facts,
    runners: &Catalogue,
    command: &Command,
    open: &OpenFailure,
    green: &RecordedRun,
) -> Result<Option<FailedTest>, GitError> {
    if open.since == Some(TestResult::Passed) {
        return passed_by_its_test(repo, command, open);
    }
    let changed = ChangedTests::between(repo, &open.tree, &green.run.end.tree)?;
    let declared = changed.declared(&open.test);
    let suspect = match open.since {
        Some(_) => declared.as_ref().map(|(path, _)| path.clone()),
        // The run that passed named no tests: it ran this one unless something kept it from that.
        None => match changed.hides(&open.test, declared.as_ref()) {
            Some(path) => Some(path),
            None => return Ok(None),
        },
    };
    let runs = |name: &str| open.since.is_none() || open.candidates.iter().any(|passed| is_same_test(passed, name));
    let new_name = |(path, test): &(RepoPath, DeclaredTest)| {
        changed.renamed(path, test).or_else(|| changed.regrouped(path, test).filter(|_| open.since.is_some()))
    };
    let renamed_to = declared.as_ref().and_then(new_name).filter(|name| runs(name));
    let committed = match (&open.head, &declared) {
        (Some(head), Some((path, test))) => {
            let committed = repo.blob_at(head, path)?.and_then(|bytes| String::from_utf8(bytes).ok());
            committed.is_some_and(|text| declared_tests(path, &text).iter().any(|known| known.name == test.name))
        }
        _ => true,
    };
    let tips: Vec<&Oid> = facts.subjects.iter().filter_map(|subject| subject.commit.as_ref()).collect();
    let dropped = match &declared {
        Some((path, test)) => {
            JudgedWork { repo, open, path, test, now: &green.run.end.tree, tips: &tips }.went_with_its_work()?
        }
        None => false,
    };
    let runner = green.run.report.as_ref().map_or("", |report| report.runner.as_str());
    Ok(Some(FailedTest {
        test: open.test.clone(),
        command: command.name.clone(),
        event: open.event.clone(),
        since: open.since,
        path: suspect,
        renamed_to,
        established: committed && !dropped,
        dropped,
        nameable: names_tests(runners, runner, &command.run),
    }))
}

/// Returns `true` if `gate run` knows the tests of a command by name.
fn names_tests(runners: &Catalogue, runner: &str, line: &str) -> bool {
    let names = runners.runner(runner).and_then(|runner| runner.names.as_ref());
    names
        .is_some_and(|names| !line.split_whitespace().any(|word| names.silenced_by.iter().any(|silent| silent == word)))
}

/// Returns a test that passed after only tests were changed.
fn passed_by_its_test(repo: &Repo, command: &Command, open: &OpenFailure) -> Result<Option<FailedTest>, GitError> {
    let Some(passed) = &open.since_tree else { return Ok(None) };
    let Some(TreeDiff::Changes(changes)) = repo.diff_trees(&[(open.tree.clone(), passed.clone())])?.pop() else {
        return Ok(None);
    };
    let is_about_tests = |path: &RepoPath| is_test_file(path) || decides_which_tests_run(path);
    let Some(first) = changes.first().filter(|_| changes.iter().all(|change| is_about_tests(&change.path))) else {
        return Ok(None);
    };
    Ok(Some(FailedTest {
        test: open.test.clone(),
        command: command.name.clone(),
        event: open.event.clone(),
        since: open.since,
        path: Some(first.path.clone()),
        renamed_to: None,
        established: true,
        dropped: false,
        nameable: true,
    }))
}

/// The files of tests, and those that decide which tests run, that differ between two contents.
#[derive(Debug, Default)]
struct ChangedTests {
    files: Vec<TestFileChange>,
}

#[derive(Debug)]
struct TestFileChange {
    path: RepoPath,
    old: Option<String>,
    new: Option<String>,
}

impl ChangedTests {
    fn between(repo: &Repo, old: &Oid, new: &Oid) -> Result<Self, GitError> {
        let Some(TreeDiff::Changes(changes)) = repo.diff_trees(&[(old.clone(), new.clone())])?.pop() else {
            return Ok(Self::default());
        };
        let concerns = |path: &RepoPath| weakening::concerns(path) || decides_which_tests_run(path);
        let changes: Vec<_> = changes.into_iter().filter(|change| concerns(&change.path)).take(MAX_FILES).collect();
        let wanted: Vec<WantedFile> = changes
            .iter()
            .flat_map(|change| [WantedFile::of(change.before.as_ref()), WantedFile::of(change.after.as_ref())])
            .collect();
        let mut texts = repo.blobs(&wanted)?.into_iter().map(text);
        let file = |change: crate::git::PathChange| {
            let (old, new) = (texts.next().flatten(), texts.next().flatten());
            TestFileChange { path: change.path, old, new }
        };
        Ok(Self { files: changes.into_iter().map(file).collect() })
    }

    /// Returns the old file that declares a test, if it is among those that differ.
    fn declared(&self, test: &str) -> Option<(RepoPath, DeclaredTest)> {
        self.files.iter().filter(|file| is_file_of(test, &file.path)).find_map(|file| {
            let tests = declared_tests(&file.path, file.old.as_deref()?);
            let found = tests.into_iter().find(|known| is_same_test(test, &known.name))?;
            Some((file.path.clone(), found))
        })
    }

    /// Returns the file whose change may keep the test from running.
    fn hides(&self, test: &str, declared: Option<&(RepoPath, DeclaredTest)>) -> Option<RepoPath> {
        let empty = String::new();
        if let Some((path, declared)) = declared {
            let file = self.files.iter().find(|file| file.path == *path)?;
            let now = file.new.as_ref().map(|new| declared_tests(path, new)).unwrap_or_default();
            let same: Vec<_> = now.iter().filter(|known| known.name == declared.name).collect();
            let runs = same.len() == 1 && same.iter().all(|known| !known.skipped);
            let moved = self.is_declared_elsewhere(path, declared);
            let hidden = adds_hiding_word(file.old.as_ref().unwrap_or(&empty), file.new.as_ref().unwrap_or(&empty));
            if (!runs && !moved) || hidden {
                return Some(path.clone());
            }
        } else if let Some(file) = self.files.iter().find(|file| names_file(test, &file.path) && file.new.is_none()) {
            return Some(file.path.clone());
        }
        let decides = self.files.iter().filter(|file| decides_which_tests_run(&file.path));
        let mut hiding = decides
            .filter(|file| adds_hiding_word(file.old.as_ref().unwrap_or(&empty), file.new.as_ref().unwrap_or(&empty)));
        hiding.next().map(|file| file.path.clone())
    }

    /// Returns `true` if another file of tests declares the test now and did not before: it was moved.
    fn is_declared_elsewhere(&self, path: &RepoPath, declared: &DeclaredTest) -> bool {
        let has = |file: &TestFileChange, text: &Option<String>| {
            let tests = text.as_deref().map(|text| declared_tests(&file.path, text)).unwrap_or_default();
            tests.iter().any(|known| known.name == declared.name && !known.skipped)
        };
        let mut others = self.files.iter().filter(|file| file.path != *path && is_collected_like(path, &file.path));
        others.any(|file| has(file, &file.new) && !has(file, &file.old))
    }

    /// Returns the name of a test that is still in its file, with the same code: the group around it has another name.
    fn regrouped(&self, path: &RepoPath, declared: &DeclaredTest) -> Option<String> {
        let file = self.files.iter().find(|file| file.path == *path)?;
        let of_name = |text: &Option<String>| {
            let tests = text.as_deref().map(|text| declared_tests(path, text)).unwrap_or_default();
            tests.into_iter().filter(|test| test.name == declared.name).collect::<Vec<_>>()
        };
        let (old, new) = (of_name(&file.old), of_name(&file.new));
        // Where several tests have one name, none of them may be gone.
        let same = new.iter().find(|test| !test.skipped && has_same_body(declared, test));
        same.filter(|_| old.len() == new.len()).map(|test| test.name.clone())
    }

    /// Returns the new name of a test whose code is in a file of tests under another name.
    fn renamed(&self, path: &RepoPath, declared: &DeclaredTest) -> Option<String> {
        let here = |file: &&TestFileChange| file.path == *path || is_collected_like(path, &file.path);
        let new = self.files.iter().filter(here).flat_map(|file| {
            let tests = |text: &Option<String>| {
                text.as_deref().map(|text| declared_tests(&file.path, text)).unwrap_or_default()
            };
            let old = tests(&file.old);
            tests(&file.new).into_iter().filter(move |test| old.iter().all(|known| known.name != test.name))
        });
        new.into_iter().find(|test| !test.skipped && has_same_body(declared, test)).map(|test| test.name)
    }
}

/// Returns `true` if a runner that collects tests from `old` by its name does so from `new`.
fn is_collected_like(old: &RepoPath, new: &RepoPath) -> bool {
    const MARKS: [&str; 8] = ["test_", "_test.", ".test.", ".spec.", "_spec.", "Test.", "Tests.", "Spec."];
    let base = |path: &RepoPath| path.to_string().rsplit('/').next().unwrap_or_default().to_owned();
    let (old, base_of_new) = (base(old), base(new));
    let mark = MARKS.iter().find(|mark| old.contains(**mark));
    is_test_file(new) && mark.is_none_or(|mark| base_of_new.contains(mark))
}

/// Returns `true` if two tests differ in little more than their name. What they assert is the same.
fn has_same_body(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    // A name that is a string is blank in the code.
    let body = |test: &DeclaredTest| {
        let name = if test.body.contains(&test.name) { test.name.clone() } else { " ".repeat(test.name.len()) };
        test.body.replacen(&name, "", 1)
    };
    let (was, is) = (body(old), body(new));
    let asserts = |text: &str| {
        let lines = text.lines().map(str::trim).filter(|line| line.contains("assert") || line.contains("expect"));
        lines.map(str::to_owned).collect::<Vec<_>>()
    };
    asserts(&was) == asserts(&is) && TextDiff::from_lines(was.as_str(), is.as_str()).ratio() >= SAME_BODY
}

fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.filter(|bytes| bytes.len() <= MAX_TEXT).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns `true` if a name gives this file, as in `tests/test_a.py::test_b`.
fn names_file(test: &str, path: &RepoPath) -> bool {
    test.split_once("::").is_some_and(|(file, _)| path.to_string().ends_with(file))
}

/// Returns `true` if a test can be in this file. A name without a file can be in any.
pub fn is_file_of(test: &str, path: &RepoPath) -> bool {
    let file = test.split_once("::").map_or("", |(file, _)| file);
    !file.contains('.') || names_file(test, path)
}
