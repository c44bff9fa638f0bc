//! What became of the decisions that were written down, in what is judged.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Facts;
use super::decision_memory as memory;
use super::subject::{Base, Role, Subject};
use crate::commit::trailers;
use crate::decision::coherence::{self, Contradiction};
use crate::decision::compare::{self, Change, File, Overruling, Return};
use crate::decision::revision::{Revision, TRAILER};
use crate::decision::rules::{KIND, Rules};
use crate::decision::{self, Decision, Kind};
use crate::git::{GitError, Range, Repo};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Mode, Policy};
use crate::repo_path::RepoPath;

/// What became of the decisions in one subject, against its base.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubjectDecisions {
    /// The subject, by name.
    pub subject: String,
    /// Records that are gone or weaker.
    pub changes: Vec<Change>,
    /// Rejected paths that came back.
    pub returns: Vec<Return>,
    /// New records of one place that claim to overrule one for all.
    pub overrulings: Vec<Overruling>,
    /// Records for all that contradict each other since.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub contradictions: Vec<Contradiction>,
}

impl SubjectDecisions {
    fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.returns.is_empty()
            && self.overrulings.is_empty()
            && self.contradictions.is_empty()
    }
}

/// Looks at the decisions in every subject of `facts`, where the policy asks for that at this moment.
///
/// Both states of the files that changed are read, where the base holds any record at all; which files of it do is kept
/// between judgements.
pub(super) fn collect(repo: &Repo, policy: &Policy, facts: &mut Facts) -> Result<(), GitError> {
    let Some(rules) = rules(policy, facts.moment) else { return Ok(()) };
    let mut found = Vec::new();
    for subject in &facts.subjects {
        let (Base::MergeBase { commit: base, .. }, Some(changed)) = (&subject.base, &subject.changed) else { continue };
        let files = || files(repo, subject, base, changed);
        let messages = || messages(repo, facts, subject, base);
        found.extend(of_change(repo, &rules, &subject.name, base, changed, files, messages)?);
    }
    facts.decisions = found;
    Ok(())
}

/// A commit that is about to be made.
#[derive(Clone, Copy, Debug)]
pub struct Staged<'a> {
    /// How it is called.
    pub name: &'a str,
    /// Where its branch left the default branch.
    pub base: &'a Oid,
    /// The commit that is checked out.
    pub tip: &'a Oid,
    /// The index it is made from, where that is not the repository's own.
    pub index: Option<&'a Path>,
    /// Its message.
    pub message: &'a str,
}

/// Whether anything is asked of decisions when a commit is made.
pub fn asked_at_commit(policy: &Policy) -> bool {
    rules(policy, Moment::Commit).is_some()
}

/// Looks at the decisions in a commit that is about to be made, where the policy asks for that: at everything that its
/// branch and it change, so that what moves from one commit to another is not gone between them.
pub fn staged(repo: &Repo, policy: &Policy, commit: Staged<'_>) -> Result<Option<SubjectDecisions>, GitError> {
    let Staged { name, base, tip, index, message } = commit;
    let Some(rules) = rules(policy, Moment::Commit) else { return Ok(None) };
    let staged = repo.staged_contents(base, index)?;
    let (changed, now): (Vec<RepoPath>, Vec<Option<Vec<u8>>>) = staged.into_iter().unzip();
    let files = || {
        let before = repo.blobs_at(base, &changed)?;
        let pairs = changed.iter().zip(before.into_iter().zip(now.clone()));
        Ok(pairs.map(|(path, (before, now))| File { path: path.clone(), before, now }).collect())
    };
    let messages = || {
        let mut messages = logged(repo, tip, base)?;
        messages.push((name.to_owned(), message.to_owned()));
        Ok(messages)
    };
    of_change(repo, &rules, name, base, &changed, files, messages)
}

/// What a change does to the decisions; `None`: nothing.
fn of_change(
    repo: &Repo,
    rules: &Rules,
    name: &str,
    base: &Oid,
    changed: &[RepoPath],
    files: impl FnOnce() -> Result<Vec<File>, GitError>,
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
    let files = files()?;
    let state = State::of(&files, rules);
    let mut one = SubjectDecisions {
        subject: name.to_owned(),
        changes: Vec::new(),
        returns: compare::returns(&in_force(&known.rejected, &state, changed), &files),
        overrulings: overrulings(repo, base, rules, &state)?,
        contradictions: contradictions(repo, base, rules, changed, &state)?,
    };
    if !compare::changes(&state.before, &state.after, &[]).is_empty() {
        let mut revisions: Vec<Revision> =
            compare::new(&state.before, &state.after).into_iter().filter_map(Revision::of_adr).collect();
        revisions.extend(revisions_in(messages()?));
        one.changes = compare::changes(&state.before, &state.after, &revisions);
    }
    Ok((!one.is_empty()).then_some(one))
}

/// The rules of the first gate that asks.
fn rules(policy: &Policy, moment: Moment) -> Option<Rules> {
    let asked =
        |gate: &&crate::policy::Gate| gate.kind == KIND && gate.mode != Mode::Off && gate.moments.contains(&moment);
    Rules::read(&policy.gates.iter().find(asked)?.params).ok()
}

/// The records before and now, of the files that changed.
struct State {
    before: Vec<Decision>,
    after: Vec<Decision>,
}

impl State {
    fn of(files: &[File], rules: &Rules) -> Self {
        let read = |path: &RepoPath, text: &Option<Vec<u8>>| {
            text.as_deref().map(|text| decision::read(path, text, &rules.adr)).unwrap_or_default()
        };
        Self {
            before: files.iter().flat_map(|file| read(&file.path, &file.before)).collect(),
            after: files.iter().flat_map(|file| read(&file.path, &file.now)).collect(),
        }
    }
}

fn files(repo: &Repo, subject: &Subject, base: &Oid, changed: &[RepoPath]) -> Result<Vec<File>, GitError> {
    let before = repo.blobs_at(base, changed)?;
    // A working tree that was kept is not read from the disk, where another one lies by now.
    let now = match (subject.role, &subject.commit, &subject.tree) {
        (Role::Commit, Some(tip), _) | (Role::WorkingTree, _, Some(tip)) => repo.blobs_at(tip, changed)?,
        (Role::Commit, None, _) => vec![None; changed.len()],
        (Role::WorkingTree, _, None) => changed.iter().map(|path| on_disk(repo, path)).collect(),
    };
    let pairs = changed.iter().zip(before.into_iter().zip(now));
    Ok(pairs.map(|(path, (before, now))| File { path: path.clone(), before, now }).collect())
}

fn on_disk(repo: &Repo, path: &RepoPath) -> Option<Vec<u8>> {
    let file = repo.root()?.join(path.to_os());
    fs::symlink_metadata(&file).is_ok_and(|meta| meta.is_file()).then(|| fs::read(file).ok()).flatten()
}

/// The rejected paths that still hold: of files that changed, those that are there now. What was taken out is a matter
/// of its own.
fn in_force(rejected: &[Decision], state: &State, changed: &[RepoPath]) -> Vec<Decision> {
    let same = |a: &Decision, b: &Decision| a.text == b.text && a.patterns == b.patterns && a.paths == b.paths;
    let stays = |one: &&Decision| !changed.contains(&one.path) || state.after.iter().any(|now| same(one, now));
    rejected.iter().filter(stays).cloned().collect()
}

/// New tags that name an ADR as overruled; the ADRs are looked for only where one does.
fn overrulings(repo: &Repo, base: &Oid, rules: &Rules, state: &State) -> Result<Vec<Overruling>, GitError> {
    let new: Vec<&Decision> = compare::new(&state.before, &state.after)
        .into_iter()
        .filter(|tag| tag.kind != Kind::Adr && tag.overrules())
        .collect();
    if new.is_empty() {
        return Ok(Vec::new());
    }
    let mut global = all_adrs(repo, base, rules)?;
    global.extend(state.after.iter().filter(|one| one.kind == Kind::Adr).cloned());
    Ok(compare::overrulings(&new, &global))
}

fn all_adrs(repo: &Repo, commit: &Oid, rules: &Rules) -> Result<Vec<Decision>, GitError> {
    let mut found = all(repo, commit, rules)?;
    found.retain(|one| one.kind == Kind::Adr);
    Ok(found)
}

/// Every record of a commit, in the order of the files. Reads the whole tree, in two or three processes.
pub fn all(repo: &Repo, commit: &Oid, rules: &Rules) -> Result<Vec<Decision>, GitError> {
    let paths = memory::files(repo, commit, rules)?;
    let texts = repo.blobs_at(commit, &paths)?;
    let read = paths.iter().zip(texts).filter_map(|(path, text)| Some(decision::read(path, &text?, &rules.adr)));
    Ok(read.flatten().collect())
}

/// Contradictions that this change brings among the ADRs; the others are read only where it adds to one.
fn contradictions(
    repo: &Repo,
    base: &Oid,
    rules: &Rules,
    changed: &[RepoPath],
    state: &State,
) -> Result<Vec<Contradiction>, GitError> {
    let new = compare::new(&state.before, &state.after);
    if !new.iter().any(|one| coherence::concerns(one, &state.after)) {
        return Ok(Vec::new());
    }
    let mut everything = all(repo, base, rules)?;
    everything.retain(|one| !changed.contains(&one.path));
    everything.extend(state.after.iter().cloned());
    Ok(coherence::contradictions(&everything, &new))
}

/// The commits of a subject, by name, with their messages.
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

/// The same, of a range.
fn logged(repo: &Repo, tip: &Oid, base: &Oid) -> Result<Vec<(String, String)>, GitError> {
    let range = Range { revisions: vec![tip.to_string()], exclude: vec![base.to_string()], limit: Some(1000) };
    let mut messages = Vec::new();
    for logged in repo.log(&range)? {
        let commit = logged?.commit;
        messages.push((commit.short().to_owned(), commit.message));
    }
    Ok(messages)
}

/// The revisions in the messages of commits.
fn revisions_in(messages: Vec<(String, String)>) -> Vec<Revision> {
    let revision = |(commit, message): (String, String)| {
        let (_, trailers) = trailers::split(message.split_once('\n').map_or("", |(_, rest)| rest));
        let of = |trailer: &trailers::Trailer| Revision::of_trailer(&commit, &trailer.value);
        trailers.iter().filter(|trailer| trailer.is(TRAILER)).map(of).collect::<Vec<_>>()
    };
    messages.into_iter().flat_map(revision).collect()
}
