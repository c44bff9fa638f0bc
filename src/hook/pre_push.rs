//! The hooks `pre-push` and `pre-receive`: judge every ref of a push, from commits and recorded snapshots only.
//!
//! The working tree is not read, so the cost does not grow with the repository. No tests are run: the connection is
//! open by then.

use std::ffi::OsString;
use std::mem::ManuallyDrop;
use std::path::Path;
use std::thread;

use crate::attest::NOTES;
use crate::collect::attested::AttestedRuns;
use crate::collect::merge_base::Target;
use crate::collect::{self, BaseOf, Lineage, Sources, forge_query};
use crate::engine::{Judgement, Workplace};
use crate::exit::Exit;
use crate::fact::subject::{Base, RefUpdate, Subject};
use crate::fact::{Facts, Note, roles};
use crate::failure::Failure;
use crate::gates;
use crate::gates::finding::GateResult;
use crate::git::{DefaultBranch, GitError, PlannedPush, Repo, is_dry_run};
use crate::hook::missing_runs::missing_runs;
use crate::hook::{GitHook, enclosing_line};
use crate::journal::JournalState;
use crate::oid::Oid;
use crate::policy::{Command, Policy, PushRuns};
use crate::redact::redact;

/// The answer to a push.
pub enum PushAnswer {
    /// Nothing is pushed.
    Nothing,
    /// A verdict.
    Judged(Box<Judgement>),
    /// The policy makes the hook run these declared commands, by name, before it judges.
    RunFirst(Vec<String>),
}

/// Judges the push that git describes to `pre-push` or `pre-receive`. With `may_run`, the answer may be to run the
/// missing commands first.
pub fn judge(hook: &GitHook<'_>, may_run: bool) -> anyhow::Result<PushAnswer> {
    if hook.stdin.trim_ascii().is_empty() {
        return Ok(PushAnswer::Nothing);
    }
    // The process ends with this: to free what git's library keeps takes longer than to leave it.
    let place = ManuallyDrop::new(Workplace::of_hook()?);
    if hook.name == "pre-push" {
        enclosing_line::record_before_push(&place);
    }
    let Some(mut described) = described(&place, hook)? else { return Ok(PushAnswer::Nothing) };
    if may_run && hook.name == "pre-push" && described.policy.push_runs == PushRuns::Missing {
        let preview = PushPreview::of(described);
        // What a run cannot prove is refused below, with the reason.
        let names: Vec<String> = preview
            .missing_runs(&place)
            .map(|commands| commands.iter().map(|command| command.name.clone()).collect())
            .unwrap_or_default();
        if !names.is_empty() {
            return Ok(PushAnswer::RunFirst(names));
        }
        described = preview.described;
    }
    let Described { policy, state, facts } = described;
    // What a dry run would be told is not an attempt, and where a push arrives nobody knows whose attempt it is.
    let promised: Vec<_> = facts.contracts.iter().map(|one| (one.name.clone(), one.subject.clone())).collect();
    let judgement = place.judge_if(&policy, &state, facts, None, || hook.name == "pre-push" && !is_dry_run());
    if !is_dry_run() {
        place.note_met_contracts(&judgement.verdict, &promised);
    }
    Ok(PushAnswer::Judged(Box::new(judgement)))
}

/// The judgement of a push that has not begun.
pub struct PushPreview {
    described: Described,
    /// The results of the gates.
    pub results: Vec<GateResult>,
}

impl PushPreview {
    fn of(described: Described) -> Self {
        Self { results: gates::judge(&described.policy, &described.facts), described }
    }

    /// Returns the policy that it is judged by.
    pub fn policy(&self) -> &Policy {
        &self.described.policy
    }

    /// Returns the declared commands that would clear the refusal; see [`missing_runs()`].
    pub fn missing_runs(&self, place: &Workplace) -> anyhow::Result<Vec<&Command>> {
        missing_runs(place, self.policy(), self.subjects(), &self.results)
    }

    /// Returns the subjects that would be pushed.
    pub fn subjects(&self) -> &[Subject] {
        &self.described.facts.subjects
    }
}

/// Judges a push that has not begun, without counting an attempt or writing a record. Returns `None` if nothing would
/// be pushed.
pub fn preview(place: &Workplace, planned: &PlannedPush) -> anyhow::Result<Option<PushPreview>> {
    with_hook(planned, |hook| Ok(described(place, hook)?.map(PushPreview::of)))
}

/// Judges a push that has not begun as its hook would: the attempt is counted and the verdict is written.
pub fn judge_planned(place: &Workplace, planned: &PlannedPush) -> anyhow::Result<Option<Judgement>> {
    with_hook(planned, |hook| {
        let described = described(place, hook)?;
        Ok(described.map(|Described { policy, state, facts }| place.judge(&policy, &state, facts, None)))
    })
}

fn with_hook<T>(planned: &PlannedPush, ask: impl FnOnce(&GitHook<'_>) -> T) -> T {
    let args = [OsString::from(&planned.remote), OsString::from(&planned.url)];
    ask(&GitHook { name: "pre-push", args: &args, stdin: &planned.updates })
}

/// A push, with the policy and the record that it is judged by.
struct Described {
    policy: Policy,
    state: JournalState,
    facts: Facts,
}

/// Reads the push that git describes to its hook. Returns `None` if nothing is pushed.
fn described(place: &Workplace, hook: &GitHook<'_>) -> anyhow::Result<Option<Described>> {
    let receiving = hook.name == "pre-receive";
    let word =
        |index: usize| hook.args.get(index).map(OsString::as_os_str).unwrap_or_default().to_string_lossy().into_owned();
    let (remote, url) = if receiving { (String::new(), String::new()) } else { (word(0), word(1)) };
    let mut updates =
        collect::parse_updates(hook.stdin, &redact(&remote)).map_err(|what| malformed(hook.name, &what))?;
    if updates.is_empty() {
        return Ok(None);
    }
    let repo = &place.repo;
    let head = repo.head()?;
    // What is recorded and said must neither hold the secret of an address nor miss it in a command to type.
    let aliases = follow_symbolic_refs(repo, receiving, &url, &mut updates)?;
    let name = Some(&remote).filter(|remote| **remote == url).and_then(|_| repo.remote_named(&url));
    if let Some(name) = name {
        for update in &mut updates {
            update.remote.clone_from(&name);
        }
    }
    let begun = updates.first().and_then(|update| collect::begin_push(repo, update, receiving));
    let refs: Vec<_> = updates.iter().map(|update| (update.remote_ref.as_str(), update.old.is_some())).collect();
    let default_branch =
        if receiving { own_default_branch(repo)? } else { repo.default_branch_for_push(&remote, &url, &refs) };
    for update in &mut updates {
        update.default_branch = default_branch.clone();
        // People know their branch by its name.
        if let Some(branch) = head.branch.as_ref().filter(|_| update.local_ref == "HEAD" && update.new == head.commit) {
            update.local_ref.clone_from(branch);
        }
    }
    if !receiving {
        updates.extend(untold_deletion(repo, &updates, &remote, &default_branch)?);
    }
    let named = repo.recorded_for(&remote, &url);
    let base = if receiving { BaseOf::OwnDefault } else { BaseOf::Remote(named.as_deref().unwrap_or(&remote)) };
    let (pushed, state) = thread::scope(|scope| {
        let state = scope.spawn(|| place.state());
        let pushed = Pushed::of(place, hook.name, updates, base, head.commit.as_ref().filter(|_| !receiving));
        (pushed, state.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (Pushed { updates, target, policy, notes }, state) = (pushed?, state?);
    let sources = Sources { repo, journal: &place.journal, state: &state, policy: &policy };
    let mut facts = collect::at_push(sources, &updates, &head, target.as_ref(), receiving, begun)?;
    facts.notes.extend(notes);
    facts.notes.extend(aliases);
    facts.notes.extend(if receiving { Vec::new() } else { place.hooks_off() });
    if receiving {
        attested(place, &updates)?.add_to(repo, &policy, &mut facts)?;
    } else {
        facts.notes.extend(forge_query::no_pull_yet(&policy, updates.iter().map(|(update, _)| update), &url));
        place.add_contracts(&policy, &mut facts)?;
        facts.role_claims = roles::of_process().into_iter().collect();
        place.add_session_facts(&state, &policy, &place.session.id, &mut facts);
    }
    Ok(Some(Described { policy, state, facts }))
}

/// Replaces each symbolic ref of the remote by its target. Only this repository, or a remote on a local path, is read
/// for that.
fn follow_symbolic_refs(
    repo: &Repo,
    receiving: bool,
    url: &str,
    updates: &mut [RefUpdate],
) -> Result<Vec<Note>, GitError> {
    let other = if receiving { None } else { local_repository(repo, url) };
    let Some(there) = other.as_ref().or_else(|| receiving.then_some(repo)) else { return Ok(Vec::new()) };
    let mut notes = Vec::new();
    for update in updates {
        let target = there.pushed_ref(&update.remote_ref)?;
        if target != update.remote_ref {
            let text = format!("{} is a symbolic ref there: a push to it moves {target}", update.remote_ref);
            notes.push(Note::new("symbolic-ref", text));
            update.remote_ref = target;
        }
    }
    Ok(notes)
}

/// Returns the repository at a URL that is a path of this machine.
fn local_repository(repo: &Repo, url: &str) -> Option<Repo> {
    let path = Path::new(url.strip_prefix("file://").unwrap_or(url));
    let path = repo.root().unwrap_or(repo.git_dir()).join(path);
    path.is_dir().then(|| Repo::discover(&path).ok()).flatten()
}

/// The updates of a push, and the base that they are judged by.
struct Pushed {
    /// The updates, and the commit where the history of each left the default branch.
    updates: Vec<(RefUpdate, Option<Lineage>)>,
    /// The default branch.
    target: Option<Target>,
    policy: Policy,
    /// Notes about the choice of the default branch.
    notes: Vec<Note>,
}

impl Pushed {
    /// Reads the updates of a push. `hook` is the name of the hook, `head` the commit that is checked out where the
    /// push is made.
    fn of(
        place: &Workplace,
        hook: &str,
        updates: Vec<RefUpdate>,
        base: BaseOf<'_>,
        head: Option<&Oid>,
    ) -> anyhow::Result<Self> {
        let repo = &place.repo;
        let lineage = |update: RefUpdate| match collect::pushed(repo, &update, base) {
            Ok(lineage) => Ok((update, lineage)),
            Err(error @ GitError::Missing(_)) => Err(malformed(hook, &error.to_string()).into()),
            Err(error) => Err(error.into()),
        };
        let updates: Vec<_> = updates.into_iter().map(lineage).collect::<anyhow::Result<_>>()?;
        let lineages: Vec<_> =
            updates.iter().filter_map(|(_, lineage): &(_, Option<Lineage>)| lineage.as_ref()).collect();
        let target = collect::target(repo, base)?;
        let (policy, notes) = match head.filter(|_| lineages.is_empty()) {
            // A deletion brings no policy. That of the work here counts, and what is to be said of it is said there.
            Some(commit) => {
                (place.policy_of_push(&[&collect::lineage(repo, commit, base)?], target.as_ref())?.0, Vec::new())
            }
            None => place.policy_of_push(&lineages, target.as_ref())?,
        };
        Ok(Self { updates, target, policy, notes })
    }
}

/// Returns the attested runs in this repository about the commits of a push, by the current signers of the default
/// branch.
fn attested(place: &Workplace, updates: &[(RefUpdate, Option<Lineage>)]) -> anyhow::Result<AttestedRuns> {
    let Some(Target { tip, branch, .. }) = collect::target(&place.repo, BaseOf::OwnDefault)? else {
        return Ok(AttestedRuns::default());
    };
    let pushed: Vec<&Lineage> = updates.iter().filter_map(|(_, lineage)| lineage.as_ref()).collect();
    let heads: Vec<&Oid> = pushed.iter().map(|lineage| &lineage.commit).collect();
    let Some(first) = pushed.first() else { return Ok(AttestedRuns::default()) };
    let at_tip = Lineage::new(first.commit.clone(), Base::MergeBase { commit: tip.clone(), branch }, None);
    // A policy that cannot be read names nobody; what it asks for is refused where it is read to be obeyed.
    let Ok((policy, _)) = place.policy_of_push(&[&at_tip], None) else { return Ok(AttestedRuns::default()) };
    let notes =
        updates.iter().find(|(update, _)| update.remote_ref == NOTES).and_then(|(update, _)| update.new.as_ref());
    Ok(AttestedRuns::received(&place.repo, &policy, &tip, &heads, notes)?)
}

/// Returns the deletion that `git push --mirror` does not report to its hook (`transport.c` skips refs without a
/// source). A mirror is recognised by its setting, or by the remote-tracking refs that only a mirror pushes. Of the
/// refs that exist only on the remote, the default branch is known.
fn untold_deletion(
    repo: &Repo,
    updates: &[RefUpdate],
    remote: &str,
    default_branch: &DefaultBranch,
) -> Result<Option<RefUpdate>, GitError> {
    let DefaultBranch::Known(branch) = default_branch else { return Ok(None) };
    let mirror = updates.iter().any(|update| update.remote_ref.starts_with("refs/remotes/"))
        || repo.config(&format!("remote.{remote}.mirror"))?.is_some_and(|value| value != "false");
    if !mirror || updates.iter().any(|update| update.remote_ref == *branch) || repo.reference(branch)?.is_some() {
        return Ok(None);
    }
    Ok(Some(RefUpdate {
        local_ref: "(delete)".to_owned(),
        new: None,
        remote_ref: branch.clone(),
        old: None,
        remote: remote.to_owned(),
        default_branch: default_branch.clone(),
    }))
}

fn malformed(name: &str, what: &str) -> Failure {
    Failure::new(Exit::BadInput, what)
        .remedy(format!("git calls `gate hook git {name}`; by hand, `gate check` judges what is here"))
}

/// The default branch of the repository that receives the push. Where it cannot be told, nothing is judged: whoever pushes
/// would bring the policy.
fn own_default_branch(repo: &Repo) -> anyhow::Result<DefaultBranch> {
    let why = match repo.own_default_branch()? {
        DefaultBranch::Unknown(why) => why,
        known => return Ok(known),
    };
    let branches = repo.branches()?;
    let usual = branches.iter().find(|name| ["refs/heads/main", "refs/heads/master"].contains(&name.as_str()));
    let branch = usual.or(branches.first()).map_or("refs/heads/main", String::as_str);
    let what = format!("the repository that is pushed to does not say which of its branches is the default one: {why}");
    let remedy = format!("its owner names that branch there, for example: git symbolic-ref HEAD {branch}");
    Err(Failure::new(Exit::CannotJudge, what).remedy(remedy).into())
}
