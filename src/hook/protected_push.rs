//! Checks if a planned push would move a protected branch, as far as this clone knows: the network is not used.

use crate::engine::Workplace;
use crate::fact::{Base, DefaultBranch, Facts, Note, RefUpdate, Subject};
use crate::gates;
use crate::gates::finding::{Effect, Finding, GateResult};
use crate::git::Repo;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::Policy;

/// Judges updates by the gates that decide on refs alone. The other gates judge the push when git has resolved it.
pub(super) fn judge_refs(policy: &Policy, subjects: Vec<Subject>) -> Vec<GateResult> {
    let gates = policy.gates.iter().filter(|gate| gate.kind == gates::protected_branch::KIND.name).cloned().collect();
    gates::judge(&Policy { gates, ..policy.clone() }, &Facts { subjects, ..Facts::at(Moment::Push) })
}

/// Returns a note if a plain `git push` of the current branch would be refused because it moves a protected branch.
pub fn note(place: &Workplace, policy: &Policy) -> Option<Note> {
    let repo = &place.repo;
    let head = repo.head().ok()?;
    let branch = head.branch.as_deref()?.strip_prefix("refs/heads/")?;
    let commit = head.commit.as_ref()?;
    let remote = default_remote(repo, Some(branch));
    let name = destination(repo, branch)?;
    let there = repo.reference(&format!("refs/remotes/{remote}/{name}")).ok()?;
    if there.as_ref() == Some(commit) {
        return None;
    }
    let update = update(repo, &remote, &format!("refs/heads/{name}"), Some(commit));
    let update = RefUpdate { local_ref: head.branch.clone().unwrap_or_default(), old: there, ..update };
    let results = judge_refs(policy, vec![subject(&name, update, Some(branch))]);
    let refusing = results.iter().filter(|result| result.effect() == Effect::Blocks);
    let finding: &Finding = refusing.flat_map(GateResult::decisive).next()?;
    let instead = finding.remedy.as_ref().map(|remedy| format!("; instead: {remedy}")).unwrap_or_default();
    let text = format!("a plain `git push` would be refused here, because {}{instead}", finding.message);
    Some(Note::new("protected-branch", text))
}

/// Returns an update of a ref of a remote to `new`.
pub(super) fn update(repo: &Repo, remote: &str, remote_ref: &str, new: Option<&Oid>) -> RefUpdate {
    let remotes = repo.remotes().unwrap_or_default();
    let url = remotes.into_iter().find(|one| one.name == remote).map_or_else(|| remote.to_owned(), |one| one.push_url);
    let default_branch = match repo.known_default_branch(remote, &url) {
        Some(branch) => DefaultBranch::Known(branch),
        None => DefaultBranch::Unknown("nobody asked".to_owned()),
    };
    RefUpdate {
        local_ref: "HEAD".to_owned(),
        new: new.cloned(),
        remote_ref: remote_ref.to_owned(),
        old: None,
        remote: remote.to_owned(),
        default_branch,
    }
}

/// Returns the subject of such an update. `branch` is the local branch that it comes from.
pub(super) fn subject(name: &str, update: RefUpdate, branch: Option<&str>) -> Subject {
    Subject {
        base: Base::Unknown("it is not pushed yet".to_owned()),
        update: Some(update),
        branch: branch.map(str::to_owned),
        checked_out: Some(true),
        ..Subject::empty(name)
    }
}

/// Returns the remote of a push that names none.
pub(super) fn default_remote(repo: &Repo, current: Option<&str>) -> String {
    let config = |key: &str| repo.config(key).ok().flatten();
    let of_branch = |branch: &str| {
        config(&format!("branch.{branch}.pushRemote"))
            .or_else(|| config("remote.pushDefault"))
            .or_else(|| config(&format!("branch.{branch}.remote")))
    };
    current.and_then(of_branch).unwrap_or_else(|| "origin".to_owned())
}

/// Returns the branch that a push of the current branch goes to by default: its own name, or that of its upstream if
/// git is configured so.
pub(super) fn destination(repo: &Repo, branch: &str) -> Option<String> {
    let config = |key: &str| repo.config(key).ok().flatten();
    match config("push.default").as_deref() {
        Some("upstream" | "tracking") => {
            config(&format!("branch.{branch}.merge"))?.strip_prefix("refs/heads/").map(str::to_owned)
        }
        Some("nothing" | "matching") => None,
        _ => Some(branch.to_owned()),
    }
}
