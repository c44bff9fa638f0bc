//! From the event of a job to the judged commit, the base that it is compared with, and the policy that counts.

use crate::collect::merge_base::{Lineage, Target};
use crate::exit::Exit;
use crate::fact::{Base, HostedHead, Via};
use crate::failure::Failure;
use crate::git::{GitError, Repo};
use crate::oid::Oid;
use crate::ref_names;
use crate::source::forge::github_actions::{EventPull, Happening, JobEvent};

/// The subject of a job's judgement.
#[derive(Clone, Debug)]
pub struct JobTarget {
    /// The name that people use.
    pub name: String,
    /// The commit and where its history left the base.
    pub lineage: Lineage,
    /// The tip of the base, whose policy counts, or `None` if it has no base.
    pub base: Option<Oid>,
    /// The branch it is meant for.
    pub base_branch: Option<String>,
    /// The commit to ask the forge about, or `None` if there is no forge.
    pub head: Option<HostedHead>,
    /// The number of the pull request it is of.
    pub number: Option<u64>,
    /// The commits that landed on the branch with this event, newest first.
    pub landed: Vec<Oid>,
}

/// Returns the target of `event`, or `None` if a ref was deleted, and nothing is left to judge.
pub fn of_event(repo: &Repo, event: &JobEvent) -> Result<Option<JobTarget>, Failure> {
    match &event.what {
        Happening::Pull(pull) => of_pull(repo, pull).map(Some),
        Happening::MergeGroup { head, base, base_branch } => {
            let via = HostedHead {
                commit: head.clone(),
                via: Via::MergeQueue,
                branch: None,
                repository: None,
                pushed: Some(head.clone()),
            };
            let lineage = lineage(repo, head, base, base_branch)?;
            Ok(Some(JobTarget {
                name: format!("merge into {base_branch}"),
                lineage,
                base: Some(base.clone()),
                base_branch: Some(base_branch.clone()),
                head: Some(via),
                number: None,
                landed: Vec::new(),
            }))
        }
        Happening::Push { after: None, .. } => Ok(None),
        Happening::Push { name, before, after: Some(after) } => {
            of_push(repo, event, name, before.as_ref(), after).map(Some)
        }
        Happening::Asked => {
            let head = repo.head().map_err(internal)?;
            let commit = head.commit.ok_or_else(|| Failure::new(Exit::Usage, "nothing is committed here"))?;
            let branch = head.branch.and_then(|name| ref_names::branch(&name).map(str::to_owned));
            of_branch(repo, event, branch, &commit).map(Some)
        }
    }
}

/// Returns the target for two revisions, without an event.
pub fn of_revisions(repo: &Repo, base: &str, head: &str) -> Result<JobTarget, Failure> {
    let find = |rev: &str| {
        repo.named_commit(rev).map_err(internal)?.ok_or_else(|| {
            Failure::new(Exit::CannotJudge, format!("`{rev}` is not a commit of this clone")).remedy(DEPTH)
        })
    };
    let (base_commit, head_commit) = (find(base)?, find(head)?);
    Ok(JobTarget {
        name: head.to_owned(),
        lineage: lineage(repo, &head_commit, &base_commit, base)?,
        base: Some(base_commit),
        base_branch: Some(base.to_owned()),
        head: None,
        number: None,
        landed: Vec::new(),
    })
}

fn of_pull(repo: &Repo, pull: &EventPull) -> Result<JobTarget, Failure> {
    let head = HostedHead {
        commit: pull.head.clone(),
        via: Via::Branch,
        branch: Some(pull.head_branch.clone()),
        repository: pull.head_repository.clone(),
        pushed: Some(pull.head.clone()),
    };
    Ok(JobTarget {
        name: format!("#{}", pull.number),
        lineage: lineage(repo, &pull.head, &pull.base, &pull.base_branch)?,
        base: Some(pull.base.clone()),
        base_branch: Some(pull.base_branch.clone()),
        head: Some(head),
        number: Some(pull.number),
        landed: Vec::new(),
    })
}

/// The largest number of commits that are judged one by one after a push.
pub const MAX_LANDED: usize = 100;

fn of_push(repo: &Repo, event: &JobEvent, name: &str, before: Option<&Oid>, after: &Oid) -> Result<JobTarget, Failure> {
    let branch = ref_names::branch(name).map(str::to_owned);
    if branch.is_none() || branch != event.default_branch {
        return of_branch(repo, event, branch, after);
    }
    let mut judged = of_branch(repo, event, branch.clone(), after)?;
    let base = before.filter(|before| matches!(repo.object_kind(before), Ok(Some(_))));
    judged.lineage = match base {
        Some(before) => lineage(repo, after, before, branch.as_deref().unwrap_or_default())?,
        None => Lineage::new(after.clone(), Base::Nothing, None),
    };
    judged.base = base.cloned();
    judged.landed = first_parents(repo, base, after)?;
    if let Some(head) = &mut judged.head {
        head.via = Via::Landed;
    }
    Ok(judged)
}

/// Returns the commits that a push brought to its branch itself, not by the second parent of a merge: one more than are
/// judged, so that a longer list is known to be one.
fn first_parents(repo: &Repo, before: Option<&Oid>, after: &Oid) -> Result<Vec<Oid>, Failure> {
    let mut args = vec!["rev-list".to_owned(), "--first-parent".to_owned(), format!("--max-count={}", MAX_LANDED + 1)];
    args.push(after.to_string());
    args.extend(before.map(|before| format!("^{before}")));
    args.push("--".to_owned());
    let printed = repo.git(args).map_err(internal)?;
    Ok(String::from_utf8_lossy(&printed).lines().filter_map(|line| line.parse().ok()).collect())
}

fn of_branch(repo: &Repo, event: &JobEvent, branch: Option<String>, commit: &Oid) -> Result<JobTarget, Failure> {
    present(repo, commit)?;
    let base_branch = event.default_branch.clone();
    let tip = match &base_branch {
        Some(base) => repo.reference(&format!("refs/remotes/origin/{base}")).map_err(internal)?,
        None => None,
    };
    let lineage = match (&tip, &base_branch) {
        (Some(tip), Some(base)) => lineage(repo, commit, tip, base)?,
        _ => Lineage::new(commit.clone(), Base::Nothing, None),
    };
    let head = HostedHead {
        commit: commit.clone(),
        via: Via::Branch,
        branch: branch.clone(),
        repository: Some(event.repository.clone()),
        pushed: Some(commit.clone()),
    };
    let name = branch.unwrap_or_else(|| commit.short().to_owned());
    Ok(JobTarget { name, lineage, base: tip, base_branch, head: Some(head), number: None, landed: Vec::new() })
}

const DEPTH: &str = "check out the whole history: actions/checkout with `fetch-depth: 0`, GIT_DEPTH: 0 in GitLab";

/// Returns the lineage of `commit`, from the point where it left `base`; both must be here.
fn lineage(repo: &Repo, commit: &Oid, base: &Oid, branch: &str) -> Result<Lineage, Failure> {
    present(repo, commit)?;
    present(repo, base)?;
    let target = Some(Target { branch: branch.to_owned(), tip: base.clone(), moved: false });
    let base = match repo.merge_base(commit, base).map_err(internal)? {
        Some(found) => Base::MergeBase { commit: found, branch: branch.to_owned() },
        None if repo.is_shallow() => {
            let what = format!("where {} left {branch} is not in this shallow clone", commit.short());
            return Err(Failure::new(Exit::CannotJudge, what).remedy(DEPTH));
        }
        None => Base::Nothing,
    };
    Ok(Lineage::new(commit.clone(), base, target))
}

fn present(repo: &Repo, commit: &Oid) -> Result<(), Failure> {
    if repo.object_kind(commit).map_err(internal)?.is_some() {
        return Ok(());
    }
    let what = format!("commit {} of the event is not in this clone", commit.short());
    Err(Failure::new(Exit::CannotJudge, what).remedy(DEPTH))
}

fn internal(error: GitError) -> Failure {
    Failure::new(Exit::CannotJudge, error)
}
