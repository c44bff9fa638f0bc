//! The queries to a forge about one commit, their order, and the cases in which there are none.

use std::collections::BTreeSet;

use crate::fact::{
    Check, Checks, ForgeAnswer, HostedHead, Hosting, Landed, Note, OtherBase, Pull, PullState, RefUpdate, StartedFor,
    Trouble, TroubleKind, Via,
};
use crate::git::{DefaultBranch, GitError, Head, Repo};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::policy::{Gate, Mode, ModeFrom, Policy};
use crate::ref_names;
use crate::source::forge::repository_url::{ForgeRepository, ForgeSettings};
use crate::source::forge::{self, Forge, MergeRules, OwnJob, Patience, ssh_alias, token};

/// The kinds of gates that read only [`Hosting`].
const KINDS: [&str; 2] = ["pull-request", "ci-green"];

/// The query, in addition to the data about the head in [`Hosting`].
#[derive(Clone, Debug)]
pub struct Question {
    /// The commit, and the branch that it was pushed to.
    pub head: HostedHead,
    /// The default branch, if it is known already.
    pub default_branch: Option<String>,
    /// The branch that the commit is meant for, or `None` for that of its pull request, else the default branch.
    pub base: Option<String>,
    /// The pull request that the job was started for.
    pub started_for: Option<StartedFor>,
    /// The job that queries the forge.
    pub own: OwnJob,
    /// The commits that landed, whose pull requests are to be found.
    pub landed: Vec<Oid>,
}

/// Returns the gates that need the forge at `moment`.
fn asking(policy: &Policy, moment: Moment) -> impl Iterator<Item = &Gate> {
    // Others take what the forge's checks prove, where they name some.
    let names_checks =
        |gate: &Gate| gate.params.get("checks").and_then(|list| list.as_array()).is_some_and(|list| !list.is_empty());
    let asks =
        move |gate: &&Gate| (KINDS.contains(&gate.kind.as_str()) || names_checks(gate)) && gate.is_asked_at(moment);
    policy.gates.iter().filter(asks)
}

/// Returns the gates that need the forge at `moment` and that the policy names.
fn named(policy: &Policy, moment: Moment) -> impl Iterator<Item = &Gate> {
    asking(policy, moment).filter(|gate| gate.mode_from == ModeFrom::Entry)
}

/// Returns a note if gates that the policy names found no forge to query.
pub fn nobody_to_ask(repo: &Repo, policy: &Policy, moment: Moment) -> Result<Option<Note>, GitError> {
    let gates: Vec<&str> = named(policy, moment).map(|gate| gate.id.as_str()).collect();
    if gates.is_empty() || repo.remotes()?.is_empty() {
        return Ok(None);
    }
    let text =
        format!("{} asked nobody: what this branch is pushed to is on no forge that gate knows", gates.join(", "));
    Ok(Some(Note::new("forge-unknown", text)))
}

/// Returns `true` if any gate needs the forge at `moment`.
pub fn is_wanted(policy: &Policy, moment: Moment) -> bool {
    asking(policy, moment).next().is_some()
}

/// Returns a note if a push creates a branch on a forge: it can have no pull request yet, so none is required.
pub fn no_pull_yet<'a>(policy: &Policy, updates: impl Iterator<Item = &'a RefUpdate>, url: &str) -> Option<Note> {
    if !policy.gates.iter().any(|gate| gate.kind == KINDS[0] && gate.mode != Mode::Off) {
        return None;
    }
    let made = |update: &RefUpdate| {
        let DefaultBranch::Known(default) = &update.default_branch else { return None };
        let made = update.new.is_some() && update.old.is_none() && update.remote_ref != *default;
        ref_names::branch(&update.remote_ref).filter(|_| made).map(str::to_owned)
    };
    let branches: Vec<String> = updates.filter_map(made).collect();
    let (first, more) = branches.split_first()?;
    ForgeSettings::of_process().place(url)?;
    let names = if more.is_empty() { first.clone() } else { format!("{first} and {} more", more.len()) };
    Some(Note::new("first-push", format!("{names}: new there, so without a pull request; next: gh pr create --fill")))
}

/// Returns the forge's answers about the commit that is checked out, or `None` if there is no forge, or if no gate
/// needs it.
///
/// If the policy names none of the gates, the forge is not queried without a token or for a branch that was never
/// pushed, so that any other repository on a forge is judged fast.
pub fn about_checkout(repo: &Repo, policy: &Policy, moment: Moment, head: &Head) -> Result<Option<Hosting>, GitError> {
    let Some(commit) = head.commit.clone().filter(|_| is_wanted(policy, moment)) else { return Ok(None) };
    let known = ForgeSettings::of_process();
    let named = named(policy, moment).next().is_some();
    // Looking a name up starts a program: for those who want to know.
    let place = |url: &str| if named { known.place_behind(url, ssh_alias::host) } else { known.place(url) };
    let Some(Checkout { to, from, branch, pushed }) =
        checkout(repo, place, head.branch.as_deref().and_then(ref_names::branch))?
    else {
        return Ok(None);
    };
    if !named && pushed.is_none() {
        return Ok(None);
    }
    let token = token::find(&to, &known);
    if !named && token.is_none() {
        return Ok(None);
    }
    let question = Question {
        head: HostedHead { commit, via: Via::Branch, branch, repository: Some(from.full_name()), pushed },
        default_branch: None,
        base: None,
        started_for: None,
        own: OwnJob::default(),
        landed: Vec::new(),
    };
    Ok(about(&to, token.as_ref(), Patience::SHORT, &question))
}

/// Returns the answers of the forge at `place`, or `None` for a forge that is not supported.
pub fn about(
    place: &ForgeRepository,
    token: Option<&token::Token>,
    patience: Patience,
    question: &Question,
) -> Option<Hosting> {
    let forge = match forge::connect(place, token, patience) {
        Ok(forge) => forge?,
        Err(trouble) => return Some(silent(place.full_name(), question, &trouble)),
    };
    let hosting = put(&*forge, place.full_name(), question);
    // What was pushed to a fork is proposed to the repository it was forked from.
    if !hosting.pulls.known().is_some_and(Vec::is_empty) || question.started_for.is_some() {
        return Some(hosting);
    }
    let parent = forge.repository().ok().and_then(|repository| place.other(&repository.parent?));
    match parent.map(|parent| (forge::connect(&parent, token, patience), parent)) {
        Some((Ok(Some(forge)), parent)) => Some(put(&*forge, parent.full_name(), question)),
        _ => Some(hosting),
    }
}

/// Returns a result without any answer.
fn silent(repository: String, question: &Question, trouble: &Trouble) -> Hosting {
    Hosting {
        repository,
        head: question.head.clone(),
        default_branch: question.default_branch.clone(),
        pulls: ForgeAnswer::Unreadable(trouble.clone()),
        checks: ForgeAnswer::Unreadable(trouble.clone()),
        required: ForgeAnswer::Unreadable(trouble.clone()),
        started_for: question.started_for.clone(),
        base: None,
        landed: Vec::new(),
    }
}

/// Queries one repository.
fn put(forge: &dyn Forge, repository: String, question: &Question) -> Hosting {
    let mut head = question.head.clone();
    let default_branch = match &question.default_branch {
        Some(branch) => Some(branch.clone()),
        None => match forge.repository() {
            Ok(repository) => Some(repository.default_branch),
            // Who does not answer this answers nothing.
            Err(trouble) => return silent(repository, question, &trouble),
        },
    };
    let pulls = pulls(forge, &repository, question, default_branch.as_deref());
    let open = pulls.as_ref().ok().and_then(|pulls| pulls.iter().find(|pull| is_of(pull, &head)));
    if open.is_some() {
        head.pushed = Some(head.commit.clone());
    }
    let asked = head.via != Via::Branch || head.pushed.as_ref() == Some(&head.commit);
    let checks = if asked { forge.checks(&head.commit, &question.own) } else { Ok(Checks::default()) };
    let checks = checks.map(|checks| of_branch(checks, &head));
    let base = question.base.as_deref().or(open.map(|pull| pull.base_branch.as_str())).or(default_branch.as_deref());
    let rules = match base.filter(|_| asked && (open.is_some() || head.via != Via::Landed)) {
        Some(base) => forge.rules(base),
        None => Ok(MergeRules::default()),
    };
    let other_base = open.map(|pull| pull.base_branch.as_str()).filter(|base| Some(*base) != default_branch.as_deref());
    let other_base = other_base.and_then(|goal| {
        let rules = if base == Some(goal) { rules.clone() } else { forge.rules(goal) };
        about_base(forge, &repository, goal, rules.ok()?.protected)
    });
    // Whatever was read is about a commit that is no longer the head, if it has moved meanwhile.
    let moved = open.and_then(|pull| match forge.pull(pull.number) {
        Ok(now) if now.head == head.commit => None,
        Ok(now) => Some(Trouble {
            kind: TroubleKind::Moved,
            what: format!("#{} moved on to {} while its checks were read", now.number, now.head.short()),
            needs: None,
        }),
        Err(trouble) => Some(trouble),
    });
    let checks = moved.map_or(checks, Err);
    Hosting {
        repository,
        head,
        default_branch,
        pulls: reading(pulls),
        checks: reading(checks),
        required: reading(rules.map(|rules| rules.required)),
        started_for: question.started_for.clone(),
        base: other_base,
        landed: landed(forge, &question.landed),
    }
}

fn pulls(
    forge: &dyn Forge,
    repository: &str,
    question: &Question,
    default_branch: Option<&str>,
) -> Result<Vec<Pull>, Trouble> {
    let head = &question.head;
    let Some(branch) = head.branch.as_deref().filter(|_| head.via == Via::Branch) else { return Ok(Vec::new()) };
    let own = head.repository.as_deref().unwrap_or(repository);
    if own.eq_ignore_ascii_case(repository) && default_branch == Some(branch) && question.started_for.is_none() {
        return Ok(Vec::new());
    }
    let mut list = forge.pulls(own, branch)?;
    let number = question.started_for.as_ref().map(|pull| pull.number);
    if let Some(number) = number.filter(|number| list.iter().all(|pull| pull.number != *number)) {
        list.push(forge.pull(number)?);
    }
    Ok(list)
}

/// Returns the facts about the branch that a pull request goes to, or `None` if they are unknown.
fn about_base(forge: &dyn Forge, repository: &str, branch: &str, protected: bool) -> Option<OtherBase> {
    // One that is protected needs no other word for it.
    let of_it = if protected { Vec::new() } else { forge.pulls(repository, branch).ok()? };
    let is_here = |pull: &Pull| {
        pull.head_repository.as_deref().is_some_and(|repository_of| repository_of.eq_ignore_ascii_case(repository))
    };
    let proposed = of_it.iter().any(|pull| pull.state == PullState::Open && is_here(pull));
    Some(OtherBase { protected, proposed })
}

/// Removes the checks that ran for pull requests of other branches at the same commit, if the same checks ran for this
/// one. They tested another merge, and the newer of the two would hide the other.
fn of_branch(mut checks: Checks, head: &HostedHead) -> Checks {
    let (Some(branch), Some(repository)) = (&head.branch, &head.repository) else { return checks };
    let is_own = |from: &str| {
        from.split_once(':').is_some_and(|(owner, name)| name == branch && owner.eq_ignore_ascii_case(repository))
    };
    let of_pull = |check: &Check| check.event.as_ref().is_some_and(|event| event.starts_with("pull_request"));
    let what = |check: &Check| (check.workflow.clone(), check.event.clone());
    let own = |check: &Check| check.from.as_deref().is_some_and(is_own);
    let known: BTreeSet<_> = checks.list.iter().filter(|check| of_pull(check) && own(check)).map(what).collect();
    checks.list.retain(|check| !of_pull(check) || check.from.is_none() || own(check) || !known.contains(&what(check)));
    checks
}

/// Finds the pull requests that brought each commit. Stops the queries after the first error.
fn landed(forge: &dyn Forge, commits: &[Oid]) -> Vec<Landed> {
    let mut list: Vec<Landed> = Vec::new();
    for commit in commits {
        let before = list.last().and_then(|last| last.pulls.trouble());
        let pulls = before.map_or_else(|| forge.pulls_with(commit), |trouble| Err(trouble.clone()));
        list.push(Landed { commit: commit.clone(), pulls: reading(pulls) });
    }
    list
}

fn is_of(pull: &Pull, head: &HostedHead) -> bool {
    pull.state == PullState::Open
        && pull.head == head.commit
        && Some(pull.head_branch.as_str()) == head.branch.as_deref()
}

fn reading<T>(result: Result<T, Trouble>) -> ForgeAnswer<T> {
    match result {
        Ok(value) => ForgeAnswer::Known(value),
        Err(trouble) => ForgeAnswer::Unreadable(trouble),
    }
}

/// The repositories of a branch.
struct Checkout {
    /// The repository that pull requests go to.
    to: ForgeRepository,
    /// The repository that the branch is pushed to.
    from: ForgeRepository,
    /// The name of the branch there.
    branch: Option<String>,
    /// The commit of the branch there, as far as this clone knows.
    pushed: Option<Oid>,
}

/// Returns the repository that the current branch is pushed to, and the one that pull requests from there go to: the
/// one that `gh` was set to, the remote `upstream`, or else the one that it is pushed to.
fn checkout(
    repo: &Repo,
    place: impl Fn(&str) -> Option<ForgeRepository>,
    branch: Option<&str>,
) -> Result<Option<Checkout>, GitError> {
    let remotes = repo.remotes()?;
    let on_forge: Vec<(&str, ForgeRepository)> =
        remotes.iter().filter_map(|remote| Some((remote.name.as_str(), place(&remote.push_url)?))).collect();
    if on_forge.is_empty() {
        return Ok(None);
    }
    let config = repo.config_entries()?;
    let value = |key: &str| config.iter().rev().find(|entry| entry.key == key).map(|entry| entry.value.as_str());
    let of_branch = |key: &str| value(&format!("branch.{}.{key}", branch?));
    let named = |name: &str| on_forge.iter().find(|(remote, _)| *remote == name);
    let pushed_to = of_branch("pushremote").or_else(|| value("remote.pushdefault")).or_else(|| of_branch("remote"));
    let from = match pushed_to {
        Some(name) => named(name),
        None => named("origin").or(on_forge.first().filter(|_| on_forge.len() == 1)),
    };
    let Some((remote, from)) = from else { return Ok(None) };
    let told = remotes.iter().find(|remote| {
        value(&format!("remote.{}.gh-resolved", remote.name)).is_some_and(|resolved| resolved == "base")
    });
    let to = told.and_then(|remote| named(&remote.name)).or_else(|| named("upstream"));
    let to = to.map_or(from, |(_, place)| place);
    // A pull request does not cross hosts.
    let to = if to.host == from.host { to } else { from };

    let Some(branch) = branch else {
        return Ok(Some(Checkout { to: to.clone(), from: from.clone(), branch: None, pushed: None }));
    };
    // Git pushes to the branch of the same name, unless it was told another one for the same remote.
    let upstream = of_branch("merge").filter(|_| of_branch("remote") == Some(*remote));
    let upstream = upstream.and_then(ref_names::branch);
    let mut there = (branch.to_owned(), None);
    for name in [Some(branch), upstream].into_iter().flatten() {
        if let Some(at) = repo.reference(&format!("refs/remotes/{remote}/{name}"))? {
            there = (name.to_owned(), Some(at));
            break;
        }
    }
    Ok(Some(Checkout { to: to.clone(), from: from.clone(), branch: Some(there.0), pushed: there.1 }))
}
