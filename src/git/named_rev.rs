//! Which commit a name from outside means: a branch before all else, and never a tag that stands in its way.
//!
//! git prefers a tag to a branch of the same name, and whoever may push may push a tag.

use super::{GitError, Repo};
use crate::oid::Oid;

/// What the name at the beginning of a revision means.
enum NameMeaning {
    /// What git makes of the revision: there is nothing to confuse it with.
    AsGitDoes,
    /// This reference.
    Reference(String),
    /// Nothing here.
    Nothing,
}

impl Repo {
    /// The commit that a revision from outside means; `None` where there is none. A short name is that of a
    /// remote-tracking branch (`origin/main`), else that of a local branch, else that of a tag or another reference,
    /// where it cannot be taken for a branch of a remote. An error where it can.
    pub fn named_commit(&self, rev: &str) -> Result<Option<Oid>, GitError> {
        let end = ["~", "^", ":", "@{"].iter().filter_map(|mark| rev.find(mark)).min().unwrap_or(rev.len());
        let (name, rest) = rev.split_at(end);
        match self.meaning_of(name)? {
            NameMeaning::AsGitDoes => self.commit(rev),
            NameMeaning::Reference(full) => self.commit(&format!("{full}{rest}")),
            NameMeaning::Nothing => Ok(None),
        }
    }

    fn meaning_of(&self, name: &str) -> Result<NameMeaning, GitError> {
        let is_pseudo = name.ends_with("HEAD") && !name.contains('/');
        if name.is_empty() || name == "@" || is_pseudo || name.parse::<Oid>().is_ok() {
            return Ok(NameMeaning::AsGitDoes);
        }
        let is_there = |full: &String| -> Result<bool, GitError> {
            Ok(git2::Reference::is_valid_name(full) && self.reference(full)?.is_some())
        };
        let first = |full: Vec<String>| -> Result<Option<String>, GitError> {
            for full in full {
                if is_there(&full)? {
                    return Ok(Some(full));
                }
            }
            Ok(None)
        };
        if name.starts_with("refs/") {
            let full = name.to_owned();
            return Ok(if is_there(&full)? { NameMeaning::Reference(full) } else { NameMeaning::Nothing });
        }
        let has_kind = ["heads/", "remotes/", "tags/"].iter().any(|kind| name.starts_with(kind));
        let below_refs = format!("refs/{name}");
        let mut branches = vec![format!("refs/remotes/{name}"), format!("refs/heads/{name}")];
        branches.push(format!("refs/remotes/{name}/HEAD"));
        if has_kind {
            branches.insert(0, below_refs.clone());
        }
        if let Some(full) = first(branches)? {
            return Ok(NameMeaning::Reference(full));
        }
        let Some(found) = first(vec![format!("refs/tags/{name}"), below_refs])? else {
            return Ok(NameMeaning::AsGitDoes);
        };
        let mut meant = Vec::new();
        for remote in self.remotes()? {
            let tracking = format!("refs/remotes/{}/{name}", remote.name);
            if is_there(&tracking)? {
                meant.push(tracking);
            } else if name.strip_prefix(&remote.name).is_some_and(|rest| rest.starts_with('/')) {
                meant.push(format!("refs/remotes/{name}"));
            }
        }
        meant.extend(self.object_abbreviated(name)?.map(|object| object.to_string()));
        if meant.is_empty() {
            return Ok(NameMeaning::Reference(found));
        }
        Err(GitError::Ambiguous { name: name.to_owned(), found, meant: meant.join(" or ") })
    }

    /// An object whose id begins with `text`, where that can be an abbreviated id.
    fn object_abbreviated(&self, text: &str) -> Result<Option<Oid>, GitError> {
        if text.len() < 4 || !text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Ok(None);
        }
        let printed = self.git(["rev-parse", &format!("--disambiguate={text}")])?;
        Ok(String::from_utf8_lossy(&printed).lines().find_map(|line| line.parse().ok()))
    }
}
