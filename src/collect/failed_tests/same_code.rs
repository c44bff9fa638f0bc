//! Failures on other branches whose code is part of the judged work.

use std::collections::BTreeMap;

use super::file_in;
use super::kept_code::BroughtCode;
use crate::fact::weakening::is_code_file;
use crate::fact::{Base, Facts, Subject};
use crate::git::{GitError, Repo, TreeDiff};
use crate::journal::OpenFailure;
use crate::oid::Oid;

/// The largest number of changed files that are compared.
const MAX_FILES: usize = 64;
/// The largest number of contents that are compared, those in which tests failed last.
const MAX_CONTENTS: usize = 16;

/// The contents on which tests failed on other branches, and whether the judged work holds their code.
#[derive(Debug, Default)]
pub(super) struct CodeElsewhere {
    /// By the commit that was checked out, the content, and the file of the test, or the test.
    known: BTreeMap<(Oid, Oid, String), bool>,
}

impl CodeElsewhere {
    /// Returns `true` if a subject holds the code with which a test failed on another branch: it was picked, squashed or
    /// written again.
    pub(super) fn is_of(
        &mut self,
        repo: &Repo,
        facts: &Facts,
        open: &OpenFailure,
        brought: &BroughtCode,
    ) -> Result<bool, GitError> {
        let Some(head) = &open.head else { return Ok(false) };
        let home = file_in(&open.test).unwrap_or(&open.test).to_owned();
        let content = (head.clone(), open.tree.clone(), home);
        if let Some(is_held) = self.known.get(&content) {
            return Ok(*is_held);
        }
        if self.known.len() == MAX_CONTENTS {
            return Ok(false);
        }
        let mut found = brought.is_kept_elsewhere(repo, facts, open)?;
        for subject in &facts.subjects {
            if found.is_none() && holds_code(repo, subject, head, &open.tree)? {
                found = Some(true);
            }
        }
        let found = found.unwrap_or(false);
        self.known.insert(content, found);
        Ok(found)
    }
}

/// Returns `true` if a subject changes all code that differs between the fork of both branches and a content, and has it as
/// it is there. What both have from a common commit is the work of neither.
fn holds_code(repo: &Repo, subject: &Subject, head: &Oid, content: &Oid) -> Result<bool, GitError> {
    let (Base::MergeBase { commit: base, .. }, Some(changed)) = (&subject.base, &subject.changed) else {
        return Ok(false);
    };
    let tip = subject.commit.as_ref().unwrap_or(base);
    let (Some(now), Some(fork)) = (&subject.tree, repo.merge_base(tip, head)?) else { return Ok(false) };
    let trees = [(repo.tree_of(&fork)?, content.clone()), (content.clone(), now.clone())];
    let mut diffs = repo.diff_trees(&trees)?.into_iter();
    let (Some(TreeDiff::Changes(work)), Some(TreeDiff::Changes(since))) = (diffs.next(), diffs.next()) else {
        return Ok(false);
    };
    let code: Vec<_> = work.iter().map(|change| &change.path).filter(|path| is_code_file(path)).collect();
    let is_here = |path: &&_| changed.contains(*path) && !since.iter().any(|change| change.path == **path);
    Ok(!code.is_empty() && code.len() <= MAX_FILES && code.iter().all(is_here))
}
