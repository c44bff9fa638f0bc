//! The commits that are new to the receiver of a push, or on this branch.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;

use super::{GitError, Range, Repo};
use crate::git::refs_and_objects::octal;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The branches of a remote that others build on, for a remote with an unknown default branch.
const USUAL: &[&str] = &["main", "master", "trunk", "develop"];

/// The largest number of references that are read in process.
const FEW: usize = 256;

/// The largest number of new commits that are looked at.
const MAX_NEW: &str = "--max-count=4096";

impl Repo {
    /// Returns the range that a person names: `a..b`, `a...b`, or one revision, which means that commit alone.
    pub fn named_range(&self, text: &str) -> Result<Range, GitError> {
        let dots = if text.contains("...") { "..." } else { ".." };
        let revision = match text.split_once(dots) {
            Some((from, to)) => format!("{}{dots}{}", self.end_of_range(from)?, self.end_of_range(to)?),
            None if text.starts_with('^') => text.to_owned(),
            None => match self.named_commit(text)? {
                Some(commit) => format!("{commit}^!"),
                None => return Err(GitError::Missing(format!("commit {text}"))),
            },
        };
        Ok(Range { revisions: vec![revision], ..Range::default() })
    }

    /// Returns the id of the commit that one end of a range names; an empty end is HEAD.
    fn end_of_range(&self, rev: &str) -> Result<String, GitError> {
        let rev = if rev.is_empty() { "HEAD" } else { rev };
        let commit = self.named_commit(rev)?.ok_or_else(|| GitError::Missing(format!("commit {rev}")))?;
        Ok(commit.to_string())
    }

    /// Returns the commits of `tip` that no remote is known to build on: the work of this branch.
    pub fn new_commits(&self, tip: &Oid) -> Result<Range, GitError> {
        let mut exclude = Vec::new();
        for remote in self.remotes()? {
            exclude.extend(self.branches_to_build_on(&remote.name)?);
        }
        Ok(Range { revisions: vec![tip.to_string()], exclude, limit: None })
    }

    /// Returns the commits that a push of `tip` brings to `remote` (a name; empty, or a URL if it has no name). It
    /// leaves out the commits that the ref has there already (`old`), those that the remote is known to have on any
    /// ref, and those of other remotes' default branches, so that a merge from upstream does not count as new work. The
    /// same rule judges a forced push.
    pub fn pushed_commits(&self, tip: &Oid, old: Option<&Oid>, remote: &str) -> Result<Range, GitError> {
        let mut exclude = Vec::new();
        // The other side may have what was never fetched here.
        if let Some(old) = old
            && self.object_kind(old)?.is_some()
        {
            exclude.push(old.to_string());
        }
        let named = self.remotes()?;
        for other in &named {
            if other.name != remote {
                exclude.extend(self.branches_to_build_on(&other.name)?);
            }
        }
        if named.iter().any(|other| other.name == remote) {
            exclude.extend(self.refs_below(&format!("refs/remotes/{remote}/"))?);
        }
        exclude.sort_unstable();
        exclude.dedup();
        Ok(Range { revisions: vec![tip.to_string()], exclude, limit: None })
    }

    /// Returns the commits that a received push brings: those that no ref of this repository reaches.
    pub fn received_commits(&self, tip: &Oid) -> Result<Range, GitError> {
        let mut exclude = self.refs_below("refs/heads/")?;
        exclude.extend(self.refs_below("refs/tags/")?);
        Ok(Range { revisions: vec![tip.to_string()], exclude, limit: None })
    }

    /// Returns the commits on the first-parent history of `tip` that change `path`, the latest first, at most `max`.
    pub fn versions(&self, tip: &Oid, paths: [&RepoPath; 2], max: usize) -> Result<Vec<Oid>, GitError> {
        let (count, paths) = (format!("--max-count={max}"), paths.map(RepoPath::to_os));
        let args: [&OsStr; 7] = [
            "rev-list".as_ref(),
            "--first-parent".as_ref(),
            count.as_ref(),
            tip.as_str().as_ref(),
            "--".as_ref(),
            paths[0].as_os_str(),
            paths[1].as_os_str(),
        ];
        let printed = self.git(args)?;
        Ok(String::from_utf8_lossy(&printed).lines().filter_map(|line| line.parse().ok()).collect())
    }

    /// Returns `true` if a local branch reaches a commit.
    pub fn is_on_a_branch(&self, commit: &Oid) -> Result<bool, GitError> {
        self.is_below("refs/heads/", commit)
    }

    /// Returns `true` if a remote-tracking branch reaches a commit.
    pub fn is_on_a_remote(&self, commit: &Oid) -> Result<bool, GitError> {
        self.is_below("refs/remotes/", commit)
    }

    fn is_below(&self, refs: &str, commit: &Oid) -> Result<bool, GitError> {
        for tip in self.refs_below(refs)? {
            if tip.parse().is_ok_and(|tip: Oid| self.is_ancestor(commit, &tip).unwrap_or(false)) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the paths of all files in a commit.
    pub fn files_of(&self, commit: &Oid) -> Result<Vec<RepoPath>, GitError> {
        let printed = self.git(["ls-tree", "-r", "-z", "--name-only", "--full-tree", commit.as_str()])?;
        Ok(printed.split(|&byte| byte == 0).filter(|name| !name.is_empty()).map(RepoPath::new).collect())
    }

    /// Returns the entries of a commit or tree, in folders as well, without the folders themselves.
    pub fn tree_entries(&self, commit_or_tree: &Oid) -> Result<Vec<(RepoPath, SnapshotEntry)>, GitError> {
        let printed = self.git(["ls-tree", "-r", "-z", "--full-tree", commit_or_tree.as_str()])?;
        let entry = |record: &[u8]| {
            let tab = record.iter().position(|&byte| byte == b'\t')?;
            let mut words = record[..tab].split(|&byte| byte == b' ');
            let (mode, oid) = (octal(words.next()?), words.nth(1)?);
            let oid = std::str::from_utf8(oid).ok()?.parse().ok()?;
            Some((RepoPath::new(&record[tab + 1..]), SnapshotEntry { mode, oid }))
        };
        Ok(printed.split(|&byte| byte == 0).filter_map(entry).collect())
    }

    /// The local branches and tags, by full name, with the commits that they stand for.
    pub fn local_tips(&self) -> Result<BTreeMap<String, Oid>, GitError> {
        let args = ["for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", "refs/heads/", "refs/tags/"];
        let read = self.library(|library| {
            let mut found = BTreeMap::new();
            for reference in library.references()? {
                let reference = reference?;
                if found.len() >= FEW {
                    return Err(git2::Error::from_str("git reads many faster"));
                }
                let name = String::from_utf8_lossy(reference.name_bytes()).into_owned();
                if name.starts_with("refs/heads/") || name.starts_with("refs/tags/") {
                    let object = reference.peel(git2::ObjectType::Any)?.id().to_string();
                    found.extend(object.parse().ok().map(|object| (name, object)));
                }
            }
            Ok(found)
        });
        if let Some(found) = read {
            return Ok(found);
        }
        let printed = self.git(args)?;
        let tip = |line: &str| {
            let words: Vec<&str> = line.split(' ').collect();
            // A tag with a message stands for what it names.
            let object = words.iter().skip(1).rev().find(|word| !word.is_empty())?;
            Some(((*words.first()?).to_owned(), object.parse().ok()?))
        };
        Ok(String::from_utf8_lossy(&printed).lines().filter_map(tip).collect())
    }

    /// Those of `commits` that no remote-tracking ref reaches, and nothing in `known`.
    pub fn commits_beyond(&self, commits: &[Oid], known: &[Oid]) -> Result<Vec<Oid>, GitError> {
        let wanted = commits.iter().map(|commit| format!("{commit}\n"));
        let input: String = wanted.chain(known.iter().map(|commit| format!("^{commit}\n"))).collect();
        let mut command = self.command();
        command.args(["rev-list", "--ignore-missing", MAX_NEW, "--stdin", "--not", "--remotes"]);
        let printed = super::command::run(&mut command, Some(input.as_bytes()))?;
        let printed = String::from_utf8_lossy(&printed).into_owned();
        let beyond: BTreeSet<&str> = printed.lines().collect();
        Ok(commits.iter().filter(|commit| beyond.contains(commit.as_str())).cloned().collect())
    }

    /// Returns the default branch of a remote, as far as it was fetched.
    fn branches_to_build_on(&self, remote: &str) -> Result<Vec<String>, GitError> {
        let prefix = format!("refs/remotes/{remote}/");
        let mut found = Vec::new();
        let named = self.symbolic_ref(&format!("{prefix}HEAD"))?;
        for name in named.into_iter().chain(USUAL.iter().map(|usual| format!("{prefix}{usual}"))) {
            if let Some(tip) = self.reference(&name)? {
                found.push(tip.to_string());
            }
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    /// Returns the commits that the refs below a prefix point to.
    fn refs_below(&self, prefix: &str) -> Result<Vec<String>, GitError> {
        let read = self.library(|library| {
            let mut found = Vec::new();
            // At any depth: this `*` crosses `/`.
            for reference in library.references_glob(&format!("{prefix}*"))? {
                let reference = reference?;
                if found.len() >= FEW {
                    return Err(git2::Error::from_str("git reads many faster"));
                }
                let object = reference.peel(git2::ObjectType::Any)?;
                if object.kind() == Some(git2::ObjectType::Commit) {
                    found.push(object.id().to_string());
                }
            }
            Ok(found)
        });
        if let Some(mut found) = read {
            found.sort_unstable();
            found.dedup();
            return Ok(found);
        }
        let printed =
            self.git(["for-each-ref", "--format=%(objectname) %(*objectname) %(objecttype) %(*objecttype)", prefix])?;
        let mut found: Vec<String> = String::from_utf8_lossy(&printed)
            .lines()
            .filter_map(|line| {
                let words: Vec<&str> = line.split(' ').collect();
                match words[..] {
                    [object, _, "commit", _] => Some(object.to_owned()),
                    [_, peeled, "tag", "commit"] => Some(peeled.to_owned()),
                    _ => None,
                }
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }
}
