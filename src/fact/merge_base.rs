//! Where the history of a commit leaves the branch it is meant for.

use std::sync::OnceLock;

use crate::fact::commits::NewCommits;
use crate::fact::subject::{Base, RefUpdate};
use crate::git::{GitError, ObjectKind, Repo};
use crate::moment::Moment;
use crate::oid::Oid;

/// A commit and where its history leaves the default branch.
#[derive(Clone, Debug)]
pub struct Lineage {
    /// The commit.
    pub commit: Oid,
    /// What it is compared with.
    pub base: Base,
    /// The default branch, as far as it is known here.
    pub target: Option<Target>,
    /// The commits that are new with it at a moment, where they were read ahead.
    pub(super) ahead: OnceLock<(Moment, NewCommits)>,
}

impl Lineage {
    /// Where `commit` left the branch that its work is meant for.
    pub fn new(commit: Oid, base: Base, target: Option<Target>) -> Self {
        Self { commit, base, target, ahead: OnceLock::new() }
    }
}

/// The branch that work is meant for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    /// Its name: `origin/main`, or `main` where others push to.
    pub branch: String,
    /// The last commit of it that is known.
    pub tip: Oid,
    /// What stands for it in a clone was moved by hand since the remote was asked; `tip` is from before.
    pub moved: bool,
}

/// Whose default branch work is compared with.
#[derive(Clone, Copy, Debug)]
pub enum BaseOf<'a> {
    /// That of this remote (its name, or its URL where it has none); where nothing was ever fetched from there, that
    /// of the others: whoever pushes must not choose a base by choosing how to call the remote.
    Remote(&'a str),
    /// That of `origin`, or of the first remote that has one.
    AnyRemote,
    /// That of this repository itself, to which others push.
    OwnDefault,
}

/// Where the history of `commit` leaves the default branch.
///
/// In a clone, only what a remote is known to have is a base: a local branch can be moved by whoever is judged.
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

/// The tree behind a pushed object that is no commit. `None` for a deletion, a commit, and an object that is no tree.
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

/// The default branch, as far as it is known here.
pub fn target(repo: &Repo, base: BaseOf<'_>) -> Result<Option<Target>, GitError> {
    let first = match base {
        BaseOf::OwnDefault => {
            let Some(name) = repo.symbolic_ref("HEAD")? else { return Ok(None) };
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

/// The default branch of one remote as it was last fetched.
fn default_of(repo: &Repo, remote: &str) -> Result<Option<Target>, GitError> {
    let prefix = format!("refs/remotes/{remote}/");
    let found = |name: String| -> Result<Option<Target>, GitError> {
        let tracked = repo.tracked(&name)?;
        let branch = name.trim_start_matches("refs/remotes/").to_owned();
        Ok(tracked.map(|(tip, moved)| Target { branch, tip, moved }))
    };
    if let Some(name) = repo.symbolic_ref(&format!("{prefix}HEAD"))?
        && let Some(target) = found(name)?
    {
        return Ok(Some(target));
    }
    let said = repo.said_default_branch(remote);
    let said = said.as_deref().and_then(|name| name.strip_prefix("refs/heads/")).map(str::to_owned);
    for branch in said.into_iter().chain(["main".to_owned(), "master".to_owned()]) {
        if let Some(target) = found(format!("{prefix}{branch}"))? {
            return Ok(Some(target));
        }
    }
    Ok(None)
}

/// The commit behind a pushed object and where its history leaves the default branch. `None` for a deletion, an object
/// that is no commit, and for notes, which are records about commits: those have a history of their own.
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
