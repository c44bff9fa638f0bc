//! Work that the agent made and put aside: commits that are not checked out any more, and stashes.
//!
//! A stop judges what is checked out. What the session committed before it went elsewhere is found in the logs of git, and
//! judged with it.

use std::path::{Path, PathBuf};

use minijinja::context;

use super::hook_context::Desk;
use super::session_state::Beginning;
use crate::collect::{self, BaseOf, Sources};
use crate::engine::{Here, Workplace};
use crate::exit::Exit;
use crate::fact::Facts;
use crate::failure::Failure;
use crate::gates;
use crate::git::{GitError, Repo};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Policy;
use crate::ref_names;
use crate::source::head_reflog;
use crate::templates::sentences::say;
use crate::verdict::assemble;

/// The number of commits of a session that are kept in mind.
const MAX_COMMITS: usize = 128;
/// The number of branches and stashes that one stop judges.
const MAX_PUT_ASIDE: usize = 8;
/// The number of refs that are kept in mind.
const MAX_TIPS: usize = 4096;

/// Work that was put aside.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PutAside {
    /// What people call it.
    name: String,
    commit: Oid,
    branch: Option<String>,
    is_stash: bool,
}

/// Work that was put aside and that nothing proves.
#[derive(Debug)]
pub(super) struct Unproven {
    /// What people call it.
    pub(super) name: String,
    facts: Facts,
    remedy: Option<String>,
}

impl Unproven {
    /// What its person is told of it.
    pub(super) fn sentence(&self) -> String {
        say("stop", "put_aside_remark", &context! { name => &self.name, remedy => &self.remedy })
    }

    /// Lets it be judged with what is here. What is here stays the last.
    pub(super) fn add_to(self, facts: &mut Facts) {
        facts.subjects.splice(0..0, self.facts.subjects);
        facts.weakening.extend(self.facts.weakening);
        facts.decisions.extend(self.facts.decisions);
    }
}

/// Notes what is there when a session begins.
pub(super) fn begin(desk: &mut Desk) {
    if desk.store.has_begun() {
        return;
    }
    let mut tips = desk.place.repo.local_tips().unwrap_or_default();
    while tips.len() > MAX_TIPS {
        tips.pop_last();
    }
    if let Err(error) = desk.store.begin(&Beginning { tips }) {
        desk.said.push(format!("gate: the state at the start of the session could not be stored: {error}"));
    }
    skip(desk);
    super::changes::look_at_policy(desk);
    desk.remember();
}

/// A person says what to do. What was done since the last stop was not done by the agent, and what it had put aside by then
/// was told.
pub(super) fn begin_task(desk: &mut Desk) {
    if desk.memory.own.told {
        let head = desk.place.repo.head().ok().and_then(|head| head.commit);
        let own = &mut desk.memory.own;
        let repo = &desk.place.repo;
        own.made.retain(|made| head.as_ref().is_some_and(|head| repo.is_ancestor(made, head).unwrap_or(false)));
        own.left.clear();
        own.stashes.clear();
    }
    skip(desk);
}

/// Passes over what the logs of git show by now.
fn skip(desk: &mut Desk) {
    let common = desk.place.repo.common_dir().to_owned();
    let own = &mut desk.memory.own;
    for git_dir in git_dirs(&common) {
        own.read.insert(git_dir.clone(), head_reflog::size(&git_dir));
    }
    own.known_stashes = head_reflog::stashes(&common);
    own.known_stashes.retain(|stash| !own.stashes.contains(stash));
}

/// The git directories of all working trees.
fn git_dirs(common: &Path) -> Vec<PathBuf> {
    let linked = std::fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten().map(|entry| entry.path());
    std::iter::once(common.to_owned()).chain(linked).collect()
}

/// Notes the commits that the agent made since it was last looked, in this working tree and the others that it changed.
/// Returns `true` if `HEAD` here only went to other commits.
pub(super) fn note(desk: &mut Desk) -> bool {
    let others: Vec<PathBuf> = desk.memory.elsewhere.keys().cloned().collect();
    let others = others.iter().filter_map(|root| Repo::discover(root).ok());
    let git_dirs: Vec<PathBuf> = others.map(|repo| repo.git_dir().to_owned()).collect();
    for git_dir in git_dirs {
        read(desk, git_dir);
    }
    let here = desk.place.repo.git_dir().to_owned();
    read(desk, here)
}

fn read(desk: &mut Desk, git_dir: PathBuf) -> bool {
    let own = &mut desk.memory.own;
    let from = own.read.get(&git_dir).copied().unwrap_or(0);
    let (moves, to) = head_reflog::moves_since(&git_dir, from);
    if to == from {
        return false;
    }
    own.made.extend(moves.iter().filter(|one| one.makes_a_commit()).map(|one| one.new.clone()));
    let surplus = own.made.len().saturating_sub(MAX_COMMITS);
    own.made.drain(..surplus);
    let left: Vec<Oid> = moves.iter().filter_map(|one| one.left_detached()).cloned().collect();
    own.left.extend(left.into_iter().filter(|left| own.made.contains(left)));
    own.read.insert(git_dir, to);
    desk.remember();
    !moves.is_empty() && moves.iter().all(head_reflog::HeadMove::is_checkout)
}

/// Notes the stashes that a line of the agent made. `is_persons`: what it put away was there before the agent began.
pub(super) fn note_stashes(desk: &mut Desk, is_persons: bool) {
    let own = &mut desk.memory.own;
    let listed = head_reflog::stashes(desk.place.repo.common_dir());
    let new = listed.into_iter().filter(|stash| !own.known_stashes.contains(stash) && !own.stashes.contains(stash));
    let new: Vec<Oid> = new.collect();
    let kept = if is_persons { &mut own.known_stashes } else { &mut own.stashes };
    kept.extend(new);
    desk.remember();
}

/// The work of this session that is in nothing that a stop judges, and that no remote has.
pub(super) fn put_aside(desk: &mut Desk) -> Vec<PutAside> {
    note(desk);
    let own = &desk.memory.own;
    let mut found = stashed(desk);
    let repo = &desk.place.repo;
    let Ok(head) = repo.head() else { return found };
    let is_here = |made: &Oid| head.commit.as_ref().is_some_and(|head| repo.is_ancestor(made, head).unwrap_or(false));
    let gone: Vec<Oid> = own.made.iter().filter(|made| !is_here(made)).cloned().collect();
    if !gone.is_empty() {
        // What git cannot say now is judged at its push.
        found.extend(branches(desk, &gone, head.commit).unwrap_or_default());
    }
    found.truncate(MAX_PUT_ASIDE);
    found
}

/// Returns `true` if what is checked out is a commit of others that a remote has, and nothing else: the agent, whose own
/// commits are elsewhere, only looks at it.
pub(super) fn is_visit(desk: &Desk, here: &Here) -> bool {
    let (repo, made) = (&desk.place.repo, &desk.memory.own.made);
    let Some(head) = &here.head.commit else { return false };
    let snapshot = &here.look.snapshot;
    let is_clean = snapshot.dirty.is_empty() && snapshot.opaque.is_empty();
    // What git cannot say is judged.
    let of_others = || made.iter().all(|made| repo.is_ancestor(made, head).is_ok_and(|is_part| !is_part));
    let is_known = || repo.commits_beyond(std::slice::from_ref(head), &fetched(repo)).is_ok_and(|new| new.is_empty());
    is_clean && !made.is_empty() && of_others() && is_known()
}

/// The stashes of the agent that are still there.
fn stashed(desk: &Desk) -> Vec<PutAside> {
    if desk.memory.own.stashes.is_empty() {
        return Vec::new();
    }
    let listed = head_reflog::stashes(desk.place.repo.common_dir());
    let newest_first = listed.iter().rev().enumerate();
    let own = newest_first.filter(|(_, stash)| desk.memory.own.stashes.contains(stash));
    own.map(|(at, stash)| PutAside {
        name: format!("stash@{{{at}}}"),
        commit: stash.clone(),
        branch: None,
        is_stash: true,
    })
    .collect()
}

/// The refs that hold commits of `made` which nothing else has, and such commits that were left without a branch.
fn branches(desk: &Desk, made: &[Oid], head: Option<Oid>) -> Result<Vec<PutAside>, GitError> {
    let repo = &desk.place.repo;
    let began = desk.store.beginning().unwrap_or_default().tips;
    let mut known: Vec<Oid> = began.values().cloned().chain(head).chain(fetched(repo)).collect();
    let others = desk.memory.elsewhere.keys().filter_map(|root| Repo::discover(root).ok()?.head().ok()?.commit);
    known.extend(others);
    let new = repo.commits_beyond(made, &known)?;
    let mut found: Vec<PutAside> = Vec::new();
    let mut add = |one: PutAside| {
        if !found.iter().any(|known| repo.is_ancestor(&one.commit, &known.commit).unwrap_or(false)) {
            found.retain(|known| !repo.is_ancestor(&known.commit, &one.commit).unwrap_or(false));
            found.push(one);
        }
    };
    for (name, tip) in repo.local_tips()? {
        let moved = began.get(&name) != Some(&tip);
        if moved && new.iter().any(|made| repo.is_ancestor(made, &tip).unwrap_or(false)) {
            let branch = ref_names::branch(&name).map(str::to_owned);
            let short = name.strip_prefix("refs/tags/").map(str::to_owned);
            let name = branch.clone().or(short).unwrap_or(name);
            add(PutAside { name, commit: tip, branch, is_stash: false });
        }
    }
    for left in new.into_iter().filter(|made| desk.memory.own.left.contains(made)) {
        add(PutAside { name: left.short().to_owned(), commit: left, branch: None, is_stash: false });
    }
    Ok(found)
}

/// The commits that were last fetched, also from a remote without remote-tracking refs. This repository is not a
/// remote.
fn fetched(repo: &Repo) -> Vec<Oid> {
    let text = std::fs::read_to_string(repo.git_dir().join("FETCH_HEAD")).unwrap_or_default();
    let of_others = text.lines().filter(|line| !line.trim_end().ends_with(" of ."));
    of_others.take(MAX_TIPS).filter_map(|line| line.split_whitespace().next()?.parse().ok()).collect()
}

/// What of `aside` is not proven, as the policy in force asks for it.
pub(super) fn unproven(place: &Workplace, here: &Here, aside: &[PutAside]) -> Result<Vec<Unproven>, Failure> {
    let failed = |error: &dyn std::fmt::Display| Failure::new(Exit::CannotJudge, error);
    let gates = here.policy.gates.iter().filter(|gate| gate.kind == gates::evidence::KIND.name).cloned().collect();
    let asked = Policy { gates, ..here.policy.clone() };
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &here.state, policy: &here.policy };
    let mut found = Vec::new();
    for one in aside {
        let lineage = collect::lineage(&place.repo, &one.commit, BaseOf::AnyRemote).map_err(|error| failed(&error))?;
        let mut facts =
            collect::at_commit(sources, Moment::Stop, &one.name, &lineage).map_err(|error| failed(&error))?;
        for subject in &mut facts.subjects {
            subject.branch.clone_from(&one.branch);
            if one.is_stash {
                // git writes their messages.
                subject.commits = crate::fact::commits::NewCommits::default();
            }
        }
        let results = gates::judge(&asked, &facts);
        if assemble::blocks(&results) {
            let remedy =
                results.iter().flat_map(gates::finding::GateResult::decisive).find_map(|one| one.remedy.clone());
            found.push(Unproven { name: one.name.clone(), facts, remedy });
        }
    }
    Ok(found)
}
