//! Runs of tests that failed without naming a test, and passed after nothing but tests had changed: a suite of shell scripts,
//! for example. Where the output names what failed, the failed tests are followed one by one.

use super::judged_work;
use crate::collect::failed_tests::{ChangedTests, was_pushed_since};
use crate::fact::{Base, Facts, Note, Subject};
use crate::git::{GitError, Repo};
use crate::journal::{JournalState, RecordedRun};
use crate::oid::Oid;
use crate::plural::counted;
use crate::policy::{Command, Policy};
use crate::repo_path::RepoPath;

/// The number of earlier runs of a command that are looked at.
const MAX_EARLIER: usize = 16;
/// Words of a shell with which a script can hide that something failed.
const HIDING: [&str; 6] = ["exit 0", "|| true", "|| :", "set +e", "trap", "return 0"];
/// The maximum number of files in a note.
const MAX_SHOWN: usize = 3;

/// The journal, and the work that is judged.
struct JudgedRecord<'a> {
    repo: &'a Repo,
    state: &'a JournalState,
    /// The current session.
    session: &'a str,
    facts: &'a Facts,
}

/// Returns a note for each command of tests whose latest pass on the content of a subject followed such a failure.
pub fn notes(
    repo: &Repo,
    state: &JournalState,
    policy: &Policy,
    session: &str,
    facts: &Facts,
) -> Result<Vec<Note>, GitError> {
    let record = JudgedRecord { repo, state, session, facts };
    let mut found = Vec::new();
    for command in policy.commands.iter().filter(|command| command.gate == "tests") {
        for subject in &facts.subjects {
            let note = record.note(command, subject)?;
            found.extend(note.filter(|note| !found.contains(note)));
        }
    }
    Ok(found)
}

impl JudgedRecord<'_> {
    fn note(&self, command: &Command, subject: &Subject) -> Result<Option<Note>, GitError> {
        let Some(tree) = &subject.tree else { return Ok(None) };
        let runs = self.state.runs(&command.reference().key);
        let Some(now) = runs.iter().position(|run| run.run.end.tree == *tree && run.run.shows_pass()) else {
            return Ok(None);
        };
        let mut passed = &runs[now];
        for run in runs[now..].iter().skip(1).take(MAX_EARLIER) {
            if run.run.shows_pass() {
                passed = run;
            } else if failed_without_names(run) && self.is_on_the_way(command, subject, run)? {
                let paths = self.changed_tests(command, run, passed)?;
                if !paths.is_empty() {
                    return Ok(Some(Note::new("only-tests-changed", sentence(command, &paths))));
                }
                let script = self.loosened_script(command, run, passed)?;
                return Ok(script.map(|script| Note::new("script-changed-with-code", with_code(command, &script))));
            }
        }
        Ok(None)
    }

    /// Returns `true` if a run failed on the way to a subject, and no commit after it was pushed.
    fn is_on_the_way(&self, command: &Command, subject: &Subject, run: &RecordedRun) -> Result<bool, GitError> {
        let (Some(tip), Some(head)) = (&subject.commit, &run.run.end.head) else { return Ok(subject.commit.is_none()) };
        let is_own = run.session.as_deref() == Some(self.session) && !self.repo.is_on_a_branch(head)?;
        let belongs = judged_work::belongs(self.repo, subject, tip, head, is_own)?;
        // A draft of tests that was tried where the branch begins may be of any branch.
        let is_before = matches!(&subject.base, Base::MergeBase { commit, .. } if commit == head);
        let is_of_any = is_before && !self.changes_code(command, head, &run.run.end.tree)?;
        Ok(belongs && !is_of_any && !was_pushed_since(self.repo, self.state, self.facts, head))
    }

    /// Returns `true` if more than tests differs between a commit and a tree.
    fn changes_code(&self, command: &Command, commit: &Oid, tree: &Oid) -> Result<bool, GitError> {
        let base = self.repo.tree_of(commit)?;
        let changed = ChangedTests::between(self.repo, &command.inputs, &base, tree)?;
        Ok(!changed.is_empty() && changed.if_only_tests(self.repo, command, tree)?.is_empty())
    }

    /// Returns a script of the command that failed as it was committed, and that asks less or can hide a failure since.
    fn loosened_script(
        &self,
        command: &Command,
        failed: &RecordedRun,
        passed: &RecordedRun,
    ) -> Result<Option<RepoPath>, GitError> {
        let (old, new) = (&failed.run.end.tree, &passed.run.start.tree);
        let changed = ChangedTests::between(self.repo, &command.inputs, old, new)?;
        let Some(script) = changed.script_of(self.repo, command, new)? else { return Ok(None) };
        let text = |tree: &Oid| -> Result<String, GitError> {
            let bytes = self.repo.blob_at(tree, &script)?.unwrap_or_default();
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let committed = match &failed.run.end.head {
            Some(head) => text(head)? == text(old)?,
            None => false,
        };
        Ok((committed && is_loosened(&text(old)?, &text(new)?)).then_some(script))
    }

    /// Returns the files of tests that differ between a failure and the next pass, if nothing else differs and one of them
    /// failed as it was committed.
    fn changed_tests(
        &self,
        command: &Command,
        failed: &RecordedRun,
        passed: &RecordedRun,
    ) -> Result<Vec<RepoPath>, GitError> {
        let (old, new) = (&failed.run.end.tree, &passed.run.start.tree);
        let changed = ChangedTests::between(self.repo, &command.inputs, old, new)?;
        let paths = changed.if_only_tests(self.repo, command, new)?;
        let Some(head) = &failed.run.end.head else { return Ok(paths) };
        // A test that was being written is not one that failed.
        for path in &paths {
            let committed = self.repo.blob_at(head, path)?;
            if committed.is_some() && committed == self.repo.blob_at(old, path)? {
                return Ok(paths);
            }
        }
        Ok(Vec::new())
    }
}

/// Returns `true` if a script lost a line, or gained one that can hide a failure.
fn is_loosened(old: &str, new: &str) -> bool {
    let lines = |text: &str| -> Vec<String> { text.lines().map(|line| line.trim().to_owned()).collect() };
    let (was, is) = (lines(old), lines(new));
    let hides = |line: &&String| HIDING.iter().any(|word| line.contains(word));
    was.iter().any(|line| !is.contains(line)) || is.iter().filter(|line| !was.contains(line)).any(|line| hides(&line))
}

fn failed_without_names(run: &RecordedRun) -> bool {
    let run = &run.run;
    let is_failure = !run.ended.success() && run.ended.killed_by().is_none() && !run.over_time;
    is_failure && run.named.is_none()
}

fn with_code(command: &Command, script: &RepoPath) -> String {
    format!("`{}` failed, and passed after both the code and its script changed: {script}", command.run)
}

fn sentence(command: &Command, paths: &[RepoPath]) -> String {
    let shown: Vec<String> = paths.iter().take(MAX_SHOWN).map(RepoPath::to_string).collect();
    let more = match paths.len() - shown.len() {
        0 => String::new(),
        more => format!(" and {}", counted(more, "more file")),
    };
    format!("`{}` failed, and passed after only its tests changed: {}{more}", command.run, shown.join(", "))
}
