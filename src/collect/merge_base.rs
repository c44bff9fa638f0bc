//! The commit where a history leaves the branch that it is meant for.

use std::sync::OnceLock;

use crate::fact::{Base, NewCommits, RefUpdate};
use crate::git::{DefaultBranch, GitError, ObjectKind, Repo};
use crate::moment::Moment;
use crate::oid::Oid;

/// A commit, and the commit where its history leaves the default branch.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// The commit.
    pub commit: Oid,
    /// The base of the comparison.
    pub base: Base,
    /// The default branch, as far as it is known.
    pub target: Option<Target>,
    /// The new commits at a moment, if they were read ahead.
    pub(super) ahead: OnceLock<(Moment, NewCommits)>,
}

impl Lineage {
    /// Creates the lineage of `commit` from its base and the branch that its work is meant for.
    pub fn new(commit: Oid, base: Base, target: Option<Target>) -> Self {
        Self { commit, base, target, ahead: OnceLock::new() }
    }
}

/// The branch that work is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name: `origin/main`, or `main` in a repository that receives pushes.
    pub branch: String,
    /// Its last known commit.
    pub tip: Oid,
    /// Something else than its remote moved what stands for it in a clone; `tip` is from before.
    pub moved: bool,
}

/// The repository whose default branch work is compared with.
#[derive(Clone, Copy, Debug)]
pub enum BaseOf<'a> {
    /// The default branch of this remote (its name, or its URL if it has none). If nothing was ever fetched from there,
    /// that of the others: the name of a remote in a push must not select the base.
    Remote(&'a str),
    /// The default branch of `origin`, or of the first remote that has one.
    AnyRemote,
    /// The default branch of this repository, which receives pushes.
    OwnDefault,
}

/// Returns the commit where the history of `commit` leaves the default branch.
///
/// In a clone, only commits that a remote is known to have can be a base: the author of the work can move a local
/// branch.
pub fn lineage(repo: &Repo, commit: &Oid, base: BaseOf<'_>) -> Result<Lineage, GitError> {
    let target = target(repo, base)?;
    let base = match &target {
        None => Base::Nothing,
        Some(Target { branch, tip, .. }) => match repo.merge_base(commit, tip)? {
            Some(base) => Base::MergeBase { commit: base, branch: branch.clone() },
            None if repo.is_shallow() => {
                Base::Unknown(format!("this clone is shallow and does not reach {branch}: git fetch --unshallow"))
            }
            // A history of its own, such as that of a website: everything in it is new.
            None => Base::Nothing,
        },
    };
    Ok(Lineage::new(commit.clone(), base, target))
}

/// Returns the tree of a pushed object that is not a commit. Returns `None` for a deletion, a commit, and an object
/// without a tree.
pub fn pushed_tree(repo: &Repo, update: &RefUpdate) -> Result<Option<Oid>, GitError> {
    let Some(new) = update.new.as_ref() else { return Ok(None) };
    match repo.object_kind(new)? {
        Some(ObjectKind::Tree) => Ok(Some(new.clone())),
        Some(ObjectKind::Tag) if repo.commit(new.as_str())?.is_none() => match repo.tree_of(new) {
            Ok(tree) => Ok(Some(tree)),
            Err(GitError::Missing(_)) => Ok(None),
            Err(error) => Err(error),
        },
        _ => Ok(None),
    }
}

/// Returns the default branch, as far as it is known.
pub fn target(repo: &Repo, base: BaseOf<'_>) -> Result<Option<Target>, GitError> {
    let first = match base {
        BaseOf::OwnDefault => {
            let DefaultBranch::Known(name) = repo.own_default_branch()? else { return Ok(None) };
            let tip = repo.reference(&name)?;
            let branch = name.trim_start_matches("refs/heads/").to_owned();
            return Ok(tip.map(|tip| Target { branch, tip, moved: false }));
        }
        BaseOf::Remote(remote) => {
            if let Some(found) = default_of(repo, remote)? {
                return Ok(Some(found));
            }
            remote
        }
        BaseOf::AnyRemote => "",
    };
    let mut names: Vec<_> =
        repo.remotes()?.into_iter().map(|remote| remote.name).filter(|name| name != first).collect();
    names.sort_by_key(|name| name != "origin");
    for name in names {
        if let Some(found) = default_of(repo, &name)? {
            return Ok(Some(found));
        }
    }
    Ok(None)
}

/// Returns the default branch of one remote as it was last fetched.
fn default_of(repo: &Repo, remote: &str) -> Result<Option<Target>, GitError> {
    let found = |name: String| -> Result<Option<Target>, GitError> {
        let tracked = repo.tracked(&name, remote)?;
        let branch = name.trim_start_matches("refs/remotes/").to_owned();
        Ok(tracked.map(|(tip, moved)| Target { branch, tip, moved }))
    };
    for name in repo.default_tracking_refs(remote)? {
        if let Some(target) = found(name)? {
            return Ok(Some(target));
        }
    }
    Ok(None)
}

/// The default branch of another remote that has the commits already by which an update moves the default branch of its
/// own remote forward: a fork that is brought up to date.
pub fn synced_from(repo: &Repo, update: &RefUpdate) -> Result<Option<String>, GitError> {
    let (Some(new), Some(old)) = (&update.new, &update.old) else { return Ok(None) };
    let is_default = matches!(&update.default_branch, DefaultBranch::Known(branch) if *branch == update.remote_ref);
    if !is_default || update.remote.is_empty() || !repo.is_ancestor(old, new)? {
        return Ok(None);
    }
    for remote in repo.remotes()?.into_iter().filter(|remote| remote.name != update.remote) {
        if let Some(target) = default_of(repo, &remote.name)?
            && repo.is_ancestor(new, &target.tip)?
        {
            return Ok(Some(target.branch));
        }
    }
    Ok(None)
}

/// Returns the commit of a pushed object and the commit where its history leaves the default branch. Returns `None` for
/// a deletion, for an object that is not a commit, and for notes, which have a history of their own.
pub fn pushed(repo: &Repo, update: &RefUpdate, base: BaseOf<'_>) -> Result<Option<Lineage>, GitError> {
    let Some(new) = update.new.as_ref() else { return Ok(None) };
    let commit = match repo.object_kind(new)? {
        Some(ObjectKind::Commit) => Some(new.clone()),
        Some(ObjectKind::Tag) => repo.commit(new.as_str())?,
        Some(ObjectKind::Tree | ObjectKind::Blob) => None,
        None => return Err(GitError::Missing(format!("object {new}"))),
    };
    let found = commit.map(|commit| lineage(repo, &commit, base)).transpose()?;
    let notes = update.remote_ref.starts_with("refs/notes/");
    Ok(found.filter(|lineage| !notes || matches!(lineage.base, Base::MergeBase { .. })))
}
