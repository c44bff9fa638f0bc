//! Tests that failed on the way to the judged content, and what the latest run that passed shows of them.
//!
//! A failed test must later pass under its name. Here is read what is known of that: the result that the run named, or,
//! where it did not name the test, the number of its tests and the changes that can keep the test from running.

mod changed_tests;
mod code_changes;
mod compared_runs;
mod dropped_groups;
mod dropped_work;
mod earlier_drafts;
mod exact_surroundings;
mod exact_test;
mod kept_code;
mod looped_tests;
mod new_names;
mod own_failures;
mod own_tests;
mod renamed_code;
mod renamed_tests;
mod reworded_tests;
mod rewritten_tests;
mod same_code;
mod same_names;
mod same_place;
mod same_subject;
mod same_test;
mod test_code;
mod test_words;
mod within_tests;

use std::cell::OnceCell;
use std::collections::BTreeSet;

use jiff::Timestamp;

pub use self::test_code::is_named_by_code;

pub(in crate::collect) use self::changed_tests::ChangedTests;
use self::changed_tests::TestFileChange;
use self::code_changes::CodeChange;
use self::compared_runs::ComparedRuns;
use self::dropped_work::JudgedWork;
use self::exact_test::is_exact;
use self::kept_code::BroughtCode;
use self::own_failures::{is_on_the_way, shares_a_change};
use self::renamed_code::NewNames;
use self::same_code::CodeElsewhere;
use self::same_subject::MovedTest;
use crate::event::test_results::TestResult;
use crate::fact::weakening::{self, DeclaredTest, declared_tests, file_in, is_same_test, is_test_file};
use crate::fact::{Base, CountedTests, Facts, FailedTest, Obstacle};
use crate::git::{GitError, Repo};
use crate::journal::{JournalState, OpenFailure, is_recorded_before};
use crate::oid::Oid;
use crate::policy::{Command, Policy};
use crate::ref_names;
use crate::repo_path::RepoPath;
use crate::runner::end_alike;

/// The number of failed tests that are looked at.
const MAX_FAILED: usize = 64;
/// The number of earlier pushes that are looked at.
const MAX_PUSHES: usize = 8;
/// The largest file that is read for them, in bytes.
const MAX_TEXT: usize = 1 << 20;

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
    let mut elsewhere = CodeElsewhere::default();
    let brought = BroughtCode::default();
    let pushed = pushed_trees(repo, state);
    for command in &policy.commands {
        let key = command.reference().key;
        for open in state.open_failures().iter().filter(|open| open.key == key).take(MAX_FAILED) {
            if was_let_through(&pushed, facts, open) {
                continue;
            }
            if !is_on_the_way(repo, facts, session, open)? && !elsewhere.is_of(repo, facts, open, &brought)? {
                continue;
            }
            if let Some(runs) = ComparedRuns::of(&policy.runners, state, open) {
                let code = OnceCell::new();
                let brought = &brought;
                let failed = FailedWork { repo, facts, command, open, session, runs, code, brought }.read()?;
                let was_told = || {
                    let goes_on = |head| was_pushed_since(repo, state, facts, head);
                    open.head.as_ref().is_some_and(goes_on) || was_branch_pushed_since(state, facts, &open.event)
                };
                found.extend(failed.filter(|failed| failed.established || !was_told()));
            }
        }
    }
    Ok(found)
}

/// Returns the contents that were pushed last, each with the time. A commit that git has deleted since has none.
fn pushed_trees(repo: &Repo, state: &JournalState) -> Vec<(Timestamp, Oid)> {
    let commits = state.push_verdicts().iter().take(MAX_PUSHES);
    let commits = commits.flat_map(|verdict| verdict.commits.iter().map(|commit| (verdict.at, commit)));
    commits.filter_map(|(at, commit)| Some((at, repo.tree_of(commit).ok()?))).collect()
}

/// Returns `true` if exactly the judged content was pushed after a test had failed. Tests that ran on another branch since then say
/// nothing about it.
fn was_let_through(pushed: &[(Timestamp, Oid)], facts: &Facts, open: &OpenFailure) -> bool {
    let is_later = |(at, _): &&(Timestamp, Oid)| is_recorded_before(&open.event, *at);
    let later: BTreeSet<&Oid> = pushed.iter().filter(is_later).map(|(_, tree)| tree).collect();
    let mut judged = facts.subjects.iter().map(|subject| subject.tree.as_ref());
    !later.is_empty() && judged.all(|tree| tree.is_some_and(|tree| later.contains(tree)))
}

/// Returns `true` if a commit that came after `head`, where something failed, was pushed already: what is no more than a note
/// was told then.
pub(in crate::collect) fn was_pushed_since(repo: &Repo, state: &JournalState, facts: &Facts, head: &Oid) -> bool {
    let tips: Vec<&Oid> = facts.subjects.iter().filter_map(|subject| subject.commit.as_ref()).collect();
    let lies_between = |commit: &Oid| {
        let is_before = |tip: &&Oid| *tip != commit && repo.is_ancestor(commit, tip).unwrap_or_default();
        commit != head && repo.is_ancestor(head, commit).unwrap_or_default() && tips.iter().any(is_before)
    };
    let pushed = state.push_verdicts().iter().take(MAX_PUSHES).flat_map(|verdict| &verdict.pushed);
    pushed.filter_map(|pushed| pushed.new.as_ref()).any(lies_between)
}

/// Returns `true` if each judged branch was pushed after an event, perhaps with commits that were amended or rebased since.
fn was_branch_pushed_since(state: &JournalState, facts: &Facts, event: &str) -> bool {
    let later = || state.push_verdicts().iter().filter(|verdict| is_recorded_before(event, verdict.at));
    let is_pushed = |branch: &str| {
        let mut refs = later().flat_map(|verdict| &verdict.pushed).filter(|pushed| pushed.new.is_some());
        refs.any(|pushed| ref_names::short(&pushed.reference) == branch)
    };
    let mut branches = facts.subjects.iter().map(|subject| subject.branch.as_deref());
    !facts.subjects.is_empty() && branches.all(|branch| branch.map(ref_names::short).is_some_and(is_pushed))
}

/// A failed test, and the runs that are compared.
struct FailedWork<'a> {
    repo: &'a Repo,
    facts: &'a Facts,
    command: &'a Command,
    open: &'a OpenFailure,
    /// The session that is judged.
    session: &'a str,
    runs: ComparedRuns<'a>,
    /// The changes of code, once they are read.
    code: OnceCell<Vec<Vec<CodeChange>>>,
    brought: &'a BroughtCode,
}

impl FailedWork<'_> {
    /// Returns what is known of the test, or `None` if it passed under its name and the code changed.
    fn read(&self) -> Result<Option<FailedTest>, GitError> {
        let Self { open, runs, .. } = self;
        let since = runs.result(open);
        let (tree, now) = (&open.tree, &runs.green.run.end.tree);
        if since == Some(TestResult::Missing) && self.is_file_without_tests(tree)? && self.is_file_without_tests(now)? {
            // It could not be loaded, and now it can. Without tests, it will never have a result.
            return Ok(None);
        }
        let passes_as_file = since == Some(TestResult::Missing) && self.all_of_file_pass(tree, now)?;
        let since = if passes_as_file { Some(TestResult::Passed) } else { since };
        let changed = match &open.since_tree {
            Some(passed) if since == Some(TestResult::Passed) => {
                ChangedTests::between(self.repo, &self.command.inputs, tree, passed)?
            }
            _ => ChangedTests::between(self.repo, &self.command.inputs, tree, now)?,
        };
        let failed = FailedTest {
            test: open.test.clone(),
            command: self.command.name.clone(),
            event: open.event.clone(),
            since,
            named: runs.green.run.named,
            count: runs.count(&open.test),
            only_tests: changed.only_tests.clone(),
            ..FailedTest::default()
        };
        let declared = changed.declared(&open.test);
        let rewritten = changed.rewritten(&open.test);
        let rewritten = if rewritten.is_some() && self.is_of_base(declared.as_ref())? { rewritten } else { None };
        let rewritten = rewritten.or_else(|| changed.replacing(declared.as_ref()?));
        let mut failed = FailedTest { rewritten, ..failed };
        if open.in_part {
            // A selected test is tried again and again while it is written, and may have another name in the whole run.
            if failed.only_tests.is_some() && !self.is_of_base(declared.as_ref())? {
                failed.only_tests = None;
            }
            let alike = open.candidates.iter().any(|passed| end_alike(passed, &open.test));
            if since == Some(TestResult::Missing) && alike {
                return Ok(None);
            }
        }
        let another = since == Some(TestResult::Passed) && self.is_answered_by_another(&changed, declared.as_ref());
        let since = if another { Some(TestResult::Missing) } else { since };
        let failed = FailedTest { since, ..failed };
        if since == Some(TestResult::Passed) {
            let known = failed.only_tests.is_some() || failed.rewritten.is_some();
            let has_left = |declared: &(RepoPath, DeclaredTest)| self.has_left_uncertainly(&changed, declared);
            let is_made = self.names_no_file() && declared.as_ref().is_some_and(has_left);
            let differs = |(path, test): &&(RepoPath, DeclaredTest)| {
                let moved = MovedTest { changed: &changed, old: path, test, new: path, new_name: &test.name };
                changed.is_edited(path, test) || !self.has_same_subject(&moved)
            };
            let edited = declared.as_ref().filter(|declared| !known && (is_made || differs(declared)));
            let has_lost = || edited.is_some_and(|(path, test)| changed.loses_assertions(path, test));
            let is_old = edited.is_some() && (self.is_of_base(edited)? || has_lost() && self.is_committed(edited)?);
            let edited = edited.filter(|_| is_made || is_old);
            let failed = FailedTest { edited: edited.map(|(path, _)| path.clone()), ..failed };
            if !known && failed.edited.is_none() {
                return Ok(None);
            }
            let is_old = failed.rewritten.is_some() || failed.edited.is_some();
            let established = is_old || open.in_several_sessions || self.is_committed(declared.as_ref())?;
            return Ok(Some(FailedTest { path: failed.only_tests.clone(), established, ..failed }));
        }
        let (suspicion, path) = match since {
            Some(_) => (Obstacle::None, declared.as_ref().map(|(path, _)| path.clone())),
            None => changed.obstacle(&open.test, declared.as_ref()),
        };
        let may_print = failed.count == CountedTests::Unknown || runs.names_no_more();
        let (suspicion, path) = if suspicion == Obstacle::None && may_print && since.is_none() && !open.in_part {
            let script = changed.script_of(self.repo, self.command, now)?;
            script.map_or((suspicion, path), |script| (Obstacle::Weak, Some(script)))
        } else {
            (suspicion, path)
        };
        if matches!(since, None | Some(TestResult::Missing)) && self.is_removed_by_base(declared.as_ref())? {
            return Ok(None);
        }
        let is_code_kept = self.is_code_kept(declared.as_ref())?;
        let dropped = !is_code_kept && self.is_dropped(&changed, declared.as_ref())?;
        let is_committed = self.is_committed(declared.as_ref())? && (is_code_kept || !self.is_of_dropped_commit()?);
        let is_draft = !is_committed && !is_code_kept && self.is_before_a_branch();
        if is_draft && (dropped || self.is_earlier_draft(declared.as_ref())?) {
            // It may be of any branch that starts there, and nothing of it is in what is judged.
            return Ok(None);
        }
        let (renamed_to, in_place) = match &declared {
            Some(declared) => self.new_names(&changed, declared, since)?,
            None => (None, None),
        };
        let (in_place, differs_in) = in_place.unzip();
        Ok(Some(FailedTest {
            suspicion,
            path,
            renamed_to,
            in_place,
            differs_in: differs_in.unwrap_or_default(),
            established: !dropped && (open.in_several_sessions || is_committed),
            dropped,
            naming: runs.naming(self.command),
            ..failed
        }))
    }

    /// Returns `true` if the file of a test does not declare it any more, and another test of the same name passed. The
    /// runner names no files.
    fn is_answered_by_another(&self, changed: &ChangedTests, declared: Option<&(RepoPath, DeclaredTest)>) -> bool {
        let Some((path, test)) = declared.filter(|_| self.names_no_file()) else { return false };
        let Some(file) = changed.file(path) else { return false };
        let is_gone = file.new.is_none() || file.tests_now().iter().all(|known| known.name != test.name);
        // The code has to be another one as well: a loop may go over nothing.
        let is_made = changed.only_tests.is_none() && changed.is_made_now(&(path.clone(), test.clone()));
        is_gone && !is_made && !changed.is_moved(path, test, &NewNames::of(self.code_changes().unwrap_or_default()))
    }

    /// Returns `true` if the file of a test that passed does not declare it any more, and what passed is not certain to be the
    /// same: code makes a test of its name, or another file has it with other surroundings.
    fn has_left_uncertainly(&self, changed: &ChangedTests, declared: &(RepoPath, DeclaredTest)) -> bool {
        let (path, test) = declared;
        let Some(file) = changed.file(path) else { return false };
        let has_test = |file: &TestFileChange| file.tests_now().iter().any(|known| known.name == test.name);
        let is_same = |home: &TestFileChange| self.is_certain(changed, declared, &home.path, &test.name);
        !has_test(file) && !changed.files.iter().filter(|file| has_test(file)).any(is_same)
    }

    /// Returns `true` if the test `name` in `home` is the failed one, word by word, and nothing around it can have changed what it
    /// asks.
    fn is_certain(
        &self,
        changed: &ChangedTests,
        (path, test): &(RepoPath, DeclaredTest),
        home: &RepoPath,
        name: &str,
    ) -> bool {
        let all = changed.files.iter().flat_map(TestFileChange::tests_now).filter(|known| known.name == name);
        let moved = MovedTest { changed, old: path, test, new: home, new_name: name };
        let [only] = &*all.collect::<Vec<_>>() else { return false };
        is_exact(test, only) && changed.rewritten(&self.open.test).is_none() && moved.has_exact_surroundings()
    }

    fn names_no_file(&self) -> bool {
        file_in(&self.open.test).is_none_or(|file| !file.contains('.'))
    }

    /// Returns `true` if what failed is a file as a whole, and each test that it declared passed, in it or elsewhere.
    fn all_of_file_pass(&self, tree: &Oid, now: &Oid) -> Result<bool, GitError> {
        let Some((path, old)) = self.failed_file(tree)? else { return Ok(false) };
        let new = text(self.repo.blob_at(now, &path)?).unwrap_or_default();
        let (old, new) = (declared_tests(&path, &old), declared_tests(&path, &new));
        let changed = ChangedTests::between(self.repo, &self.command.inputs, tree, now)?;
        let passes = |test: &DeclaredTest| {
            let is_here = new.iter().any(|known| known.name == test.name) && self.passes(&path, &test.name);
            let declared = (path.clone(), test.clone());
            let elsewhere = || self.new_name(&changed, &declared, Some(TestResult::Missing), &NewNames::default());
            is_here || elsewhere().is_some()
        };
        Ok(!old.is_empty() && old.iter().all(passes))
    }

    /// Returns the file that failed as a whole, from the root, with its text in this content. A runner may name it by its whole path.
    fn failed_file(&self, tree: &Oid) -> Result<Option<(RepoPath, String)>, GitError> {
        let mut rest = Some(self.open.test.as_str()).filter(|test| !test.contains("::"));
        while let Some(name) = rest {
            let path = RepoPath::from(name);
            if is_test_file(&path)
                && let Some(text) = text(self.repo.blob_at(tree, &path)?)
            {
                return Ok(Some((path, text)));
            }
            rest = name.split_once('/').map(|(_, rest)| rest);
        }
        Ok(None)
    }

    /// Returns the changes of code that led to the content that passed: since the work left its base, and since the failure.
    fn code_changes(&self) -> Result<&[Vec<CodeChange>], GitError> {
        if let Some(read) = self.code.get() {
            return Ok(read);
        }
        let mut starts = vec![self.open.tree.clone()];
        for subject in &self.facts.subjects {
            if let Base::MergeBase { commit, .. } = &subject.base {
                starts.push(self.repo.tree_of(commit)?);
            }
        }
        starts.dedup();
        let now = &self.runs.green.run.end.tree;
        let changes = starts.iter().map(|start| code_changes::between(self.repo, start, now));
        let changes = changes.collect::<Result<_, GitError>>()?;
        Ok(self.code.get_or_init(|| changes))
    }

    /// Returns `true` if what failed is a file as a whole, and it holds no test in this content.
    fn is_file_without_tests(&self, tree: &Oid) -> Result<bool, GitError> {
        let path = RepoPath::from(self.open.test.as_str());
        let Some(text) = text(self.repo.blob_at(tree, &path)?) else { return Ok(false) };
        Ok(!is_test_file(&path) && declared_tests(&path, &text).is_empty() && !text.contains(">>>"))
    }

    /// Returns `true` if it failed before the first commit of a branch.
    fn is_before_a_branch(&self) -> bool {
        let bases = self.facts.subjects.iter().filter_map(|subject| match &subject.base {
            Base::MergeBase { commit, .. } => Some(commit),
            _ => None,
        });
        self.open.head.as_ref().is_some_and(|head| bases.into_iter().any(|base| base == head))
    }

    /// Returns `true` if the work did not begin the test: where it began, the test was there.
    fn is_of_base(&self, declared: Option<&(RepoPath, DeclaredTest)>) -> Result<bool, GitError> {
        let file = self.open.test.split_once("::").map(|(file, _)| RepoPath::from(file));
        for subject in &self.facts.subjects {
            let Base::MergeBase { commit, .. } = &subject.base else { continue };
            let was_there = match (declared, &file) {
                (Some((path, test)), _) => {
                    let before = text(self.repo.blob_at(commit, path)?);
                    before.is_some_and(|text| declared_tests(path, &text).iter().any(|known| known.name == test.name))
                }
                (None, Some(file)) => text(self.repo.blob_at(commit, file)?).is_none_or(|text| {
                    declared_tests(file, &text).iter().any(|known| is_same_test(&self.open.test, &known.name))
                }),
                (None, None) => true,
            };
            if was_there {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns `true` if the commit on which it failed is on no branch any more, and what is judged changes none of its files.
    fn is_of_dropped_commit(&self) -> Result<bool, GitError> {
        let Some(head) = &self.open.head else { return Ok(false) };
        let shares = self.facts.subjects.iter().any(|subject| shares_a_change(self.repo, subject, head));
        Ok(!shares && !self.repo.is_on_a_branch(head)?)
    }

    /// Returns `true` if the base had the test where the work once left it, and has removed it since: the work was rebased, or the
    /// base was merged.
    fn is_removed_by_base(&self, declared: Option<&(RepoPath, DeclaredTest)>) -> Result<bool, GitError> {
        let (Some((path, test)), Some(head)) = (declared, &self.open.head) else { return Ok(false) };
        let has_it = |commit: &Oid| {
            let before = text(self.repo.blob_at(commit, path)?).unwrap_or_default();
            Ok::<bool, GitError>(declared_tests(path, &before).iter().any(|known| known.name == test.name))
        };
        for subject in &self.facts.subjects {
            let Base::MergeBase { commit, .. } = &subject.base else { return Ok(false) };
            let Some(fork) = self.repo.merge_base(commit, head)? else { return Ok(false) };
            if !has_it(&fork)? || has_it(commit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns `true` if the commit on which it failed has the test.
    fn is_committed(&self, declared: Option<&(RepoPath, DeclaredTest)>) -> Result<bool, GitError> {
        let Some(head) = &self.open.head else { return Ok(true) };
        let Some((path, test)) = declared else {
            // Of a file that could not be read, no test is known.
            let is_file = file_in(&self.open.test).is_some_and(|file| file == self.open.test);
            return Ok(!is_file || self.failed_file(&self.repo.tree_of(head)?)?.is_some());
        };
        let committed = text(self.repo.blob_at(head, path)?);
        Ok(committed.is_some_and(|text| declared_tests(path, &text).iter().any(|known| known.name == test.name)))
    }

    /// Returns `true` if the test is gone together with its work, or with its group and the code of the group. A file does
    /// not declare the tests that a class inherits.
    fn is_dropped(
        &self,
        changed: &ChangedTests,
        declared: Option<&(RepoPath, DeclaredTest)>,
    ) -> Result<bool, GitError> {
        let Some((path, test)) = declared else {
            let since = code_changes::between(self.repo, &self.open.tree, &self.runs.green.run.end.tree)?;
            return Ok(changed.lost_group(&self.open.test, &since));
        };
        let tips: Vec<&Oid> = self.facts.subjects.iter().filter_map(|subject| subject.commit.as_ref()).collect();
        let now = &self.runs.green.run.end.tree;
        let work = JudgedWork { repo: self.repo, open: self.open, path, test, now, tips: &tips };
        Ok(!work.is_still_there()? && (self.is_code_gone(test)? || work.went_with_its_work()?))
    }
}

fn text(bytes: Option<Vec<u8>>) -> Option<String> {
    bytes.filter(|bytes| bytes.len() <= MAX_TEXT).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the place of a part of a text, in bytes.
fn place_in(text: &str, part: &str) -> usize {
    part.as_ptr() as usize - text.as_ptr() as usize
}

/// Returns the words of a code: names, keywords and numbers.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
