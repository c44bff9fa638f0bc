//! Tests that went away together with the work that brought them: a commit that was reverted, reset or dropped, or code
//! that was removed with its tests. Their failures say nothing about what is judged.

use std::collections::BTreeSet;

use super::code_changes::{self, CodeChange};
use crate::fact::weakening::{DeclaredTest, declared_tests, defined_names};
use crate::git::{GitError, Range, Repo};
use crate::journal::OpenFailure;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The number of commits that are looked at for the one that brought a test.
const MAX_COMMITS: usize = 64;

/// A test that failed, and the content that is judged.
pub(super) struct JudgedWork<'a> {
    pub(super) repo: &'a Repo,
    pub(super) open: &'a OpenFailure,
    /// The file that declared it.
    pub(super) path: &'a RepoPath,
    pub(super) test: &'a DeclaredTest,
    /// The content of the run that passed since.
    pub(super) now: &'a Oid,
    /// The commits that are judged.
    pub(super) tips: &'a [&'a Oid],
}

impl JudgedWork<'_> {
    /// Returns `true` if the test is gone, and so is the work it came with.
    pub(super) fn went_with_its_work(&self) -> Result<bool, GitError> {
        if self.declares(self.now)? {
            return Ok(false);
        }
        if let Some(head) = self.open.head.as_ref()
            && !self.declares(head)?
        {
            // It was never committed where it failed.
            return Ok(self.fate_of_code(&self.repo.tree_of(head)?, &self.open.tree)?.unwrap_or(false));
        }
        let Some((commit, parent)) = self.introduction()? else { return Ok(false) };
        let parent = parent.map_or_else(|| Ok(self.repo.empty_tree()), |parent| self.repo.tree_of(&parent))?;
        match self.fate_of_code(&parent, &self.repo.tree_of(&commit)?)? {
            Some(is_gone) => Ok(is_gone),
            // It brought nothing but the test: that may only go with the commit, and with its file.
            None => Ok(!self.is_judged(&commit)? && self.repo.blob_at(self.now, self.path)?.is_none()),
        }
    }

    fn declares(&self, tree: &Oid) -> Result<bool, GitError> {
        let text = self.repo.blob_at(tree, self.path)?.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(text.is_some_and(|text| declared_tests(self.path, &text).iter().any(|known| known.name == self.test.name)))
    }

    fn is_judged(&self, commit: &Oid) -> Result<bool, GitError> {
        for tip in self.tips {
            if self.repo.is_ancestor(commit, tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commit that brought the test, and its parent, going back from where it failed.
    fn introduction(&self) -> Result<Option<(Oid, Option<Oid>)>, GitError> {
        let Some(head) = self.open.head.clone() else { return Ok(None) };
        if !self.declares(&head)? {
            return Ok(None);
        }
        let range = Range { revisions: vec![head.to_string()], limit: Some(MAX_COMMITS), ..Range::default() };
        let logged = self.repo.log(&range)?.map(|logged| Ok(logged?.commit)).collect::<Result<Vec<_>, GitError>>()?;
        let mut commit = head;
        loop {
            let Some(found) = logged.iter().find(|known| known.id.as_ref() == Some(&commit)) else { return Ok(None) };
            match found.parents.first() {
                Some(parent) if self.declares(parent)? => commit = parent.clone(),
                parent => return Ok(Some((commit, parent.cloned()))),
            }
        }
    }

    /// Returns `true` if the code that came between two trees is gone from what is judged; `None` if none came.
    fn fate_of_code(&self, before: &Oid, after: &Oid) -> Result<Option<bool>, GitError> {
        let old = code_changes::between(self.repo, before, after)?;
        let brought: Vec<String> = old.iter().flat_map(|file| added(&file.old, &file.new)).collect();
        if brought.is_empty() {
            return Ok(None);
        }
        let now = code_changes::between(self.repo, before, self.now)?;
        let left: BTreeSet<String> = now.iter().flat_map(|file| added(&file.old, &file.new)).collect();
        let names = |files: &[CodeChange]| -> BTreeSet<String> {
            let of = |file: &CodeChange| (defined_names(&file.path, &file.old), defined_names(&file.path, &file.new));
            let (before, after): (Vec<_>, Vec<_>) = files.iter().map(of).unzip();
            let before: BTreeSet<String> = before.into_iter().flatten().collect();
            after.into_iter().flatten().filter(|name| !before.contains(name)).collect()
        };
        let is_defined = !names(&old).is_disjoint(&names(&now));
        let remaining = brought.iter().filter(|line| left.contains(*line)).count();
        Ok(Some(!is_defined && remaining * 2 < brought.len()))
    }
}

/// The lines that hold a word and that only the new text has.
fn added(old: &str, new: &str) -> Vec<String> {
    let known: BTreeSet<&str> = old.lines().map(str::trim).collect();
    let lines = new.lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
    lines.filter(|line| !known.contains(line)).map(str::to_owned).collect()
}
