//! The gate `pull-request`: exactly one open pull request comes from the judged branch, and its last commit is the
//! judged one.
//!
//! A list of pull requests may be about other branches: GitHub ignores a `head` without owner and then lists all of
//! them, and may list one of another branch at the same commit. So repository, branch and commit are compared again
//! here.

use minijinja::{Value, context};
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::finding_text::list_of;
use super::forge_gates::{self, Offline, cure, unreadable, why};
use super::{GateKind, protected_branch};
use crate::fact::{Base, Facts, ForgeAnswer, Hosting, Pull, PullState, Via};
use crate::gates::finding_text::plain;
use crate::globs::Globs;
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Gate, ParamError, Policy, read_params};
use crate::shell_quote::shell_word;

/// The kind `pull-request`.
pub const KIND: GateKind = GateKind { name: "pull-request", words: "pull-request", check, evaluate };

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    required: bool,
    draft: Taken,
    forks: Taken,
    bases: Vec<String>,
    offline: Offline,
}

/// The treatment of a case: accepted or refused.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Taken {
    #[default]
    Accept,
    Refuse,
}

fn check(params: &toml::Table) -> Result<(), ParamError> {
    forge_gates::check_globs("bases", &read_params::<Params>(params)?.bases)
}

fn evaluate(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    let (Ok(params), Some(hosting)) = (read_params::<Params>(&gate.params), &facts.hosting) else {
        return Vec::new();
    };
    vec![forge_gates::finding(gate, facts, hosting, answer(gate, policy, &params, facts, hosting))]
}

type PullAnswer = (Answer, &'static str, Value);

fn answer(gate: &Gate, policy: &Policy, params: &Params, facts: &Facts, hosting: &Hosting) -> PullAnswer {
    let skip = |reason| (Answer::Skip, reason, context! {});
    let head = &hosting.head;
    match head.via {
        Via::MergeQueue => return skip("merge-queue"),
        Via::Landed if hosting.landed.is_empty() => return skip("landed"),
        Via::Landed => return brought(gate, params, facts.moment, hosting),
        Via::Branch => {}
    }
    let Some(branch) = head.branch.as_deref() else { return skip("detached") };
    let is_own = |repository: &str| head.repository.as_deref().is_some_and(|own| same_repository(own, repository));
    if hosting.default_branch.as_deref() == Some(branch) && is_own(&hosting.repository) {
        return skip("default-branch");
    }
    if forge_gates::subject(facts, hosting).is_some_and(|subject| match &subject.base {
        Base::MergeBase { commit, .. } => *commit == head.commit,
        Base::Nothing | Base::Unknown(_) => false,
    }) {
        return skip("nothing-new");
    }
    let pulls = match &hosting.pulls {
        ForgeAnswer::Known(pulls) => pulls,
        ForgeAnswer::Unreadable(trouble) => {
            let (answer, reason) = unreadable(gate, facts.moment, params.offline, trouble);
            return (answer, reason, context! { why => why(trouble), cure => cure(trouble) });
        }
    };
    // What a job was started for is known by its number, whatever became of the repository it comes from.
    let started_for = hosting.started_for.as_ref().map(|pull| pull.number);
    let ours = |pull: &&Pull| {
        Some(pull.number) == started_for
            || (pull.head_branch == branch && pull.head_repository.as_deref().is_some_and(is_own))
    };
    let ours: Vec<&Pull> = pulls.iter().filter(ours).collect();
    let mut open: Vec<&Pull> = ours.iter().copied().filter(|pull| pull.state == PullState::Open).collect();
    open.sort_by_key(|pull| pull.number);
    open.dedup_by_key(|pull| pull.number);
    match &open[..] {
        [] => without(params, facts.moment, hosting, branch, &ours),
        [pull] => of_one(policy, params, facts.moment, hosting, pull),
        several => {
            let numbers: Vec<_> = several.iter().map(|pull| format!("#{}", pull.number)).collect();
            (Answer::Fail, "several", context! { count => several.len(), numbers => list_of(&numbers) })
        }
    }
}

/// Checks that every commit that landed came through a pull request that was merged into its branch. One that was
/// merged into another branch was not reviewed for this one.
fn brought(gate: &Gate, params: &Params, moment: Moment, hosting: &Hosting) -> PullAnswer {
    let unread = hosting.landed.iter().find_map(|landed| landed.pulls.trouble());
    let here = |pull: &Pull| hosting.default_branch.as_ref().is_none_or(|branch| *branch == pull.base_branch);
    let merged = |pulls: &Vec<Pull>| pulls.iter().any(|pull| pull.state == PullState::Merged && here(pull));
    let direct: Vec<_> =
        hosting.landed.iter().filter(|landed| landed.pulls.known().is_some_and(|pulls| !merged(pulls))).collect();
    if !direct.is_empty() {
        let commits: Vec<_> = direct.iter().map(|landed| landed.commit.short().to_owned()).collect();
        return (Answer::Fail, "direct", context! { count => direct.len(), commits => list_of(&commits) });
    }
    match unread {
        Some(trouble) => {
            let (answer, reason) = unreadable(gate, moment, params.offline, trouble);
            (answer, reason, context! { why => why(trouble), cure => cure(trouble) })
        }
        None => (Answer::Pass, "brought", context! { count => hosting.landed.len() }),
    }
}

/// Returns the result if no pull request is open, by the state of the last one.
fn without(params: &Params, moment: Moment, hosting: &Hosting, branch: &str, ours: &[&Pull]) -> PullAnswer {
    let last = ours.iter().max_by_key(|pull| pull.number);
    let here = &hosting.head.commit;
    // Of a repository that was deleted only the owner is known, by which the reader chose.
    let orphan = |pull: &&Pull| pull.head_branch == branch && pull.head_repository.is_none();
    let orphans = || hosting.pulls.known().into_iter().flatten().filter(orphan);
    let merged = |pull: &&Pull| pull.state == PullState::Merged && pull.head == *here;
    if let Some(merged) = ours.iter().copied().chain(orphans()).find(merged) {
        return (Answer::Pass, "merged", context! { number => merged.number });
    }
    let missing = if params.required || moment == Moment::Ci { Answer::Fail } else { Answer::Pending };
    if let Some(orphan) = orphans().find(|pull| pull.state == PullState::Open) {
        return (missing, "deleted-fork", context! { number => orphan.number });
    }
    if let Some(closed) = last.filter(|pull| pull.state == PullState::Closed) {
        return (Answer::Fail, "closed", context! { number => closed.number });
    }
    let reason = if hosting.head.pushed.as_ref() == Some(here) { "none" } else { "unpushed" };
    (missing, reason, context! {})
}

fn of_one(policy: &Policy, params: &Params, moment: Moment, hosting: &Hosting, pull: &Pull) -> PullAnswer {
    let here = &hosting.head.commit;
    let about = context! {
        number => pull.number,
        url => plain(&pull.url),
        draft => pull.draft,
        head => pull.head.short(),
        base => plain(&pull.base_branch),
        head_repository => pull.head_repository.as_deref().map(plain),
    };
    if pull.head != *here {
        return elsewhere(moment, hosting.head.pushed.as_ref() == Some(here), about);
    }
    if let Some(job) = hosting.started_for.as_ref().filter(|job| job.base_branch != pull.base_branch) {
        return (Answer::Unknown, "other-goal", context! { meant => plain(&job.base_branch), ..about });
    }
    let from_fork =
        pull.head_repository.as_deref().is_none_or(|repository| !same_repository(repository, &hosting.repository));
    if from_fork && params.forks == Taken::Refuse {
        return (Answer::Fail, "fork", about);
    }
    if !params.bases.is_empty() && !Globs::new(&params.bases).is_ok_and(|bases| bases.is_match(&pull.base_branch)) {
        return (Answer::Fail, "other-base", context! { bases => list_of(&params.bases), ..about });
    }
    if pull.draft && params.draft == Taken::Refuse {
        return (Answer::Fail, "draft", about);
    }
    if params.bases.is_empty() && aims_elsewhere(policy, hosting, &pull.base_branch) {
        let default = hosting.default_branch.as_deref().unwrap_or_default();
        let names = context! { default => plain(default), word => shell_word(&plain(default)) };
        return (Answer::Pending, "unknown-base", context! { ..names, ..about });
    }
    (Answer::Pass, "open", about)
}

/// Returns `true` if nothing shows that work is meant for `base`: it is not a default branch, it is not protected, here
/// or on the forge, and no pull request that this one could be stacked on comes from it. Unknown facts count as shown.
fn aims_elsewhere(policy: &Policy, hosting: &Hosting, base: &str) -> bool {
    let (Some(default), Some(known)) = (&hosting.default_branch, &hosting.base) else { return false };
    default != base && !known.protected && !known.proposed && !protected_branch::is_listed(policy, base)
}

/// Returns the result if the one pull request is at another commit.
fn elsewhere(moment: Moment, pushed: bool, about: Value) -> PullAnswer {
    match (moment, pushed) {
        // Whoever made the event has gone on since; there will be another.
        (Moment::Ci, _) => (Answer::Unknown, "moved", about),
        // What was pushed a moment ago is not in every answer yet.
        (_, true) => (Answer::Pending, "lags", about),
        (_, false) => (Answer::Fail, "other-head", about),
    }
}

/// Returns `true` if two `owner/name` are one repository: forges ignore case.
fn same_repository(a: &str, b: &str) -> bool {
    a.eq_ignore_ascii_case(b)
}

/// Returns the open pull request of the judged commit, if there is exactly one.
pub fn open_pull(hosting: &Hosting) -> Option<&Pull> {
    let own = hosting.head.repository.as_deref().unwrap_or(&hosting.repository);
    let here: &Oid = &hosting.head.commit;
    let fits = |pull: &&Pull| {
        pull.state == PullState::Open
            && pull.head == *here
            && Some(pull.head_branch.as_str()) == hosting.head.branch.as_deref()
            && pull.head_repository.as_deref().is_some_and(|repository| same_repository(repository, own))
    };
    let mut found = hosting.pulls.known()?.iter().filter(fits);
    found.next().filter(|_| found.next().is_none())
}

#[cfg(test)]
mod tests;
