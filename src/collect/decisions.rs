//! The changes to recorded decisions in the judged content.

use std::fs;
use std::path::Path;

use super::{decision_index as memory, tree_differences};
use crate::decision::compare::FileStates;
use crate::decision::rules::{DecisionRules, KIND};
use crate::decision::{self, Decision};
use crate::fact::decision_change::{self, DecisionChange, SubjectDecisions};
use crate::fact::{Base, Facts, Subject, SubjectKind};
use crate::git::{GitError, Range, Repo, TreeDiff};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::repo_path::RepoPath;

/// Reads the decisions in every subject of `facts` if the policy requires it at this moment.
///
/// Both states of the changed files are read if the base holds any record at all. The files of the base that hold
/// records are cached between judgements.
pub(super) fn collect(repo: &Repo, policy: &Policy, facts: &mut Facts) -> Result<(), GitError> {
    let Some(rules) = rules(policy, facts.moment) else { return Ok(()) };
    let mut found = Vec::new();
    for subject in &facts.subjects {
        let local = match (&subject.base, &subject.changed, &subject.commit) {
            (Base::Nothing, Some(_), Some(tip)) if subject.role == SubjectKind::Commit => since_local(repo, tip)?,
            _ => None,
        };
        let (base, changed) = match (&subject.base, &subject.changed, &local) {
            (Base::MergeBase { commit, .. }, Some(changed), _) => (commit, changed),
            (_, _, Some((base, changed))) => (base, changed),
            _ => continue,
        };
        let files = || files(repo, subject, base, changed);
        let messages = || messages(repo, facts, subject, base);
        found.extend(of_change(repo, &rules, &subject.name, base, changed, files, messages)?);
    }
    facts.decisions = found;
    Ok(())
}

/// Returns the changes of a commit since its branch left the local default branch, or since its parent on that branch
/// itself. Used if no remote is known. The author of the work can move a local branch, but there is no better base.
fn since_local(repo: &Repo, tip: &Oid) -> Result<Option<(Oid, Vec<RepoPath>)>, GitError> {
    let base = match local_base(repo, tip)? {
        Some(base) if base != *tip => Some(base),
        _ => repo.commit(&format!("{tip}^"))?,
    };
    let Some(base) = base else { return Ok(None) };
    let pair = (repo.tree_of(&base)?, repo.tree_of(tip)?);
    Ok(match repo.diff_trees(&[pair])?.pop() {
        Some(TreeDiff::Changes(changes)) => Some((base, tree_differences::listed(&changes))),
        Some(TreeDiff::Unreadable) | None => None,
    })
}

/// Returns the commit where the history of `tip` leaves the local default branch.
fn local_base(repo: &Repo, tip: &Oid) -> Result<Option<Oid>, GitError> {
    let named = repo.config("init.defaultBranch")?;
    for name in named.iter().map(String::as_str).chain(["main", "master"]) {
        if let Some(main) = repo.commit(&format!("refs/heads/{name}"))? {
            return repo.merge_base(tip, &main);
        }
    }
    Ok(None)
}

/// Returns the base of the commit that is about to be made on `tip` if no remote is known.
pub fn local_base_of_staged(repo: &Repo, tip: &Oid) -> Result<Oid, GitError> {
    Ok(local_base(repo, tip)?.unwrap_or_else(|| tip.clone()))
}

/// A commit that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct Staged<'a> {
    pub name: &'a str,
    /// The commit where its branch left the default branch.
    pub base: &'a Oid,
    /// The commit that is checked out.
    pub tip: &'a Oid,
    /// The index that it is made from, if that is not the repository's own.
    pub index: Option<&'a Path>,
    pub message: &'a str,
}

/// Returns `true` if the policy checks decisions when a commit is made.
pub fn asked_at_commit(policy: &Policy) -> bool {
    rules(policy, Moment::Commit).is_some()
}

/// Reads the decisions in a commit that is about to be made, if the policy requires it. The whole change of its branch
/// and the commit counts, so that a record that moves from one commit to another does not count as removed.
pub fn staged(repo: &Repo, policy: &Policy, commit: Staged<'_>) -> Result<Option<SubjectDecisions>, GitError> {
    let Staged { name, base, tip, index, message } = commit;
    let Some(rules) = rules(policy, Moment::Commit) else { return Ok(None) };
    let changed = repo.staged_paths(base, index)?;
    let files = || {
        let (before, now) = (repo.blobs_at(base, &changed)?, repo.staged_contents(&changed, index)?);
        let pairs = changed.iter().zip(before.into_iter().zip(now));
        Ok(pairs.map(|(path, (before, now))| FileStates { path: path.clone(), before, now }).collect())
    };
    let messages = || {
        let mut messages = logged(repo, tip, base)?;
        messages.push((name.to_owned(), message.to_owned()));
        Ok(messages)
    };
    of_change(repo, &rules, name, base, &changed, files, messages)
}

/// Returns the effect of a change on the decisions, or `None` if there is none.
fn of_change(
    repo: &Repo,
    rules: &DecisionRules,
    name: &str,
    base: &Oid,
    changed: &[RepoPath],
    files: impl FnOnce() -> Result<Vec<FileStates>, GitError>,
    messages: impl FnOnce() -> Result<Vec<(String, String)>, GitError>,
) -> Result<Option<SubjectDecisions>, GitError> {
    if changed.is_empty() {
        return Ok(None);
    }
    // Where nothing is written down, nothing can vanish, come back or be overruled.
    let known = memory::records(repo, base, rules)?;
    if known.files.is_empty() && !changed.iter().any(|path| rules.adr.is_match(path.to_os())) {
        return Ok(None);
    }
    let change = DecisionChange { name, changed, files: &files()?, rejected: &known.rejected };
    decision_change::of(rules, &change, || all(repo, base, rules), messages)
}

/// Returns the rules of the first gate that checks decisions.
pub fn rules(policy: &Policy, moment: Moment) -> Option<DecisionRules> {
    DecisionRules::read(&policy.gates_of(KIND, moment).next()?.params).ok()
}

fn files(repo: &Repo, subject: &Subject, base: &Oid, changed: &[RepoPath]) -> Result<Vec<FileStates>, GitError> {
    let before = repo.blobs_at(base, changed)?;
    // A working tree that was kept is not read from the disk, where another one lies by now.
    let now = match (subject.role, &subject.commit, &subject.tree) {
        (SubjectKind::Commit, Some(tip), _) | (SubjectKind::WorkingTree, _, Some(tip)) => {
            repo.blobs_at(tip, changed)?
        }
        (SubjectKind::Commit, None, _) => vec![None; changed.len()],
        (SubjectKind::WorkingTree, _, None) => changed.iter().map(|path| on_disk(repo, path)).collect(),
    };
    let pairs = changed.iter().zip(before.into_iter().zip(now));
    Ok(pairs.map(|(path, (before, now))| FileStates { path: path.clone(), before, now }).collect())
}

fn on_disk(repo: &Repo, path: &RepoPath) -> Option<Vec<u8>> {
    let file = repo.root()?.join(path.to_os());
    fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()).then(|| fs::read(file).ok()).flatten()
}

/// Returns every record of a commit, in the order of the files. Reads the whole tree, in two or three processes.
pub fn all(repo: &Repo, commit: &Oid, rules: &DecisionRules) -> Result<Vec<Decision>, GitError> {
    let paths = memory::files(repo, commit, rules)?;
    let texts = repo.blobs_at(commit, &paths)?;
    let read = paths.iter().zip(texts).filter_map(|(path, text)| Some(decision::read(path, &text?, &rules.adr)));
    Ok(read.flatten().collect())
}

/// Returns the commits of a subject, by name, with their messages.
fn messages(repo: &Repo, facts: &Facts, subject: &Subject, base: &Oid) -> Result<Vec<(String, String)>, GitError> {
    let known: Vec<_> = facts.subjects.iter().flat_map(|subject| &subject.commits.commits).collect();
    let messages: Vec<(String, String)> =
        known.iter().map(|commit| (commit.short().to_owned(), commit.message.clone())).collect();
    // Where nobody judges commits, they were not read.
    match subject.commit.as_ref().filter(|_| messages.is_empty()) {
        Some(tip) => logged(repo, tip, base),
        None => Ok(messages),
    }
}

/// Returns the commits of a range, by name, with their messages.
fn logged(repo: &Repo, tip: &Oid, base: &Oid) -> Result<Vec<(String, String)>, GitError> {
    let range = Range { revisions: vec![tip.to_string()], exclude: vec![base.to_string()], limit: Some(1000) };
    let mut messages = Vec::new();
    for logged in repo.log(&range)? {
        let commit = logged?.commit;
        messages.push((commit.short().to_owned(), commit.message));
    }
    Ok(messages)
}
