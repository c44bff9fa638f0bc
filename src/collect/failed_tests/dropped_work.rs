//! Tests that went away together with the work that brought them: a commit that was reverted, reset or dropped, or code
//! that was removed with its tests. Their failures say nothing about what is judged.

use std::collections::BTreeSet;

use super::code_changes::{self, CodeChange};
use super::words;
use crate::commit::message::CommitMessage;
use crate::fact::weakening::{DeclaredTest, declared_tests, defined_names, test_texts};
use crate::git::{GitError, Range, Repo, TreeDiff, WantedFile};
use crate::journal::OpenFailure;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The number of commits that are looked at for the one that brought a test.
const MAX_COMMITS: usize = 64;
/// The number of changed files that are looked at for the text of a test.
const MAX_FILES: usize = 200;

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
    /// Returns `true` if the judged content declares the test, or its text is in another file now.
    pub(super) fn is_still_there(&self) -> Result<bool, GitError> {
        Ok(self.declares(self.now)? || self.stands_elsewhere()?)
    }

    /// Returns `true` if the work that brought a test is gone. The test itself is not there any more.
    pub(super) fn went_with_its_work(&self) -> Result<bool, GitError> {
        if let Some(head) = self.open.head.as_ref()
            && !self.declares(head)?
        {
            // It was never committed where it failed.
            return Ok(self.fate_of_code(&self.repo.tree_of(head)?, &self.open.tree)?.unwrap_or(false));
        }
        let introduction = match self.reverted()? {
            None => self.introduction()?,
            reverted => reverted,
        };
        let Some((commit, parent)) = introduction else { return Ok(false) };
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

    /// Returns `true` if the text of the test is in another file now, of whichever kind: it was moved.
    fn stands_elsewhere(&self) -> Result<bool, GitError> {
        let red = &self.open.tree;
        let text = super::text(self.repo.blob_at(red, self.path)?);
        let Some(lines) = text.as_deref().and_then(|text| lines_of(self.path, text, &self.test.name)) else {
            return Ok(false);
        };
        let Some(TreeDiff::Changes(changes)) = self.repo.diff_trees(&[(red.clone(), self.now.clone())])?.pop() else {
            return Ok(false);
        };
        let others = changes.iter().filter(|change| change.path != *self.path && change.after.is_some());
        let wanted: Vec<WantedFile> =
            others.take(MAX_FILES).map(|change| WantedFile::of(change.after.as_ref())).collect();
        let texts = self.repo.blobs(&wanted)?.into_iter().filter_map(super::text);
        Ok(texts.into_iter().any(|text| holds(&text, &lines)))
    }

    fn is_judged(&self, commit: &Oid) -> Result<bool, GitError> {
        for tip in self.tips {
            if self.repo.is_ancestor(commit, tip)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// The commit that brought the test, and its parent, if a judged commit says that it reverts that one.
    fn reverted(&self) -> Result<Option<(Oid, Option<Oid>)>, GitError> {
        let revisions: Vec<String> = self.tips.iter().map(ToString::to_string).collect();
        if revisions.is_empty() {
            return Ok(None);
        }
        for logged in self.repo.log(&Range { revisions, limit: Some(MAX_COMMITS), ..Range::default() })? {
            for id in CommitMessage::parse(&logged?.commit.message, &[], &[]).reverts.unwrap_or_default() {
                let Some(commit) = self.repo.commit(&id)? else { continue };
                let parent = self.repo.commit(&format!("{commit}^"))?;
                let was_there = parent.as_ref().map_or(Ok(false), |parent| self.declares(parent))?;
                if self.declares(&commit)? && !was_there {
                    return Ok(Some((commit, parent)));
                }
            }
        }
        Ok(None)
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
        Ok(Some(!is_defined && !self.is_called_there(&old, &now) && remaining * 2 < brought.len()))
    }
}

impl JudgedWork<'_> {
    /// Returns `true` if most of what the test calls came with the work and is still in its files.
    fn is_called_there(&self, brought: &[CodeChange], now: &[CodeChange]) -> bool {
        let all = |side: fn(&CodeChange) -> &str, files: &[CodeChange]| -> BTreeSet<String> {
            files.iter().flat_map(|file| words(side(file))).map(str::to_owned).collect()
        };
        let (before, after) = (all(|file| &file.old, brought), all(|file| &file.new, brought));
        let of_work = now.iter().filter(|file| brought.iter().any(|other| other.path == file.path));
        let left: BTreeSet<&str> = of_work.flat_map(|file| words(&file.new)).collect();
        let called: BTreeSet<&str> =
            called(&self.test.body).filter(|word| after.contains(*word) && !before.contains(*word)).collect();
        let still = called.iter().filter(|word| left.contains(**word)).count();
        !called.is_empty() && still * 2 >= called.len()
    }
}

/// The lines of a test with a word in them: the first begins with its name, and the last is whole.
fn lines_of(path: &RepoPath, text: &str, name: &str) -> Option<Vec<String>> {
    let body = test_texts(path, text).into_iter().find(|(known, _)| known == name)?.1;
    let whole = body.rfind('\n').map_or(body, |end| &body[..end]);
    let lines: Vec<String> = whole.lines().map(str::trim).filter(|line| has_word(line)).map(str::to_owned).collect();
    (!lines.is_empty()).then_some(lines)
}

/// Returns `true` if a text holds a test: its first line, and nearly all others.
fn holds(text: &str, lines: &[String]) -> bool {
    let there: BTreeSet<&str> = text.lines().map(str::trim).collect();
    let Some((first, others)) = lines.split_first() else { return false };
    let found = others.iter().filter(|line| there.contains(line.as_str())).count();
    text.contains(first.as_str()) && found * 4 >= others.len() * 3
}

fn has_word(line: &str) -> bool {
    line.contains(char::is_alphanumeric)
}

/// Returns the names in a text that are called.
pub(super) fn called(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('(').filter_map(|(at, _)| {
        let before = text[..at].trim_end_matches('!');
        before.rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().filter(|word| !word.is_empty())
    })
}

/// The lines that hold a word and that only the new text has.
fn added(old: &str, new: &str) -> Vec<String> {
    let known: BTreeSet<&str> = old.lines().map(str::trim).collect();
    let lines = new.lines().map(str::trim).filter(|line| has_word(line));
    lines.filter(|line| !known.contains(line)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_was_moved_is_still_there() {
        const TESTS: &str = "describe('calc', () => {\n it('adds', () => {\n  assert.equal(add(1, 2), 3);\n });\n it('adds two', () => {\n  \
                             assert.equal(add(2, 2), 4);\n });\n});\n";
        let holds = |text: &str| {
            let path = RepoPath::from("test/calc.test.js");
            lines_of(&path, TESTS, "adds").is_some_and(|lines| holds(text, &lines))
        };
        assert!(holds(TESTS));
        assert!(holds(&TESTS.replace("describe('calc'", "describe('sums'")));
        assert!(holds(&format!("/*\n{TESTS}*/\n")));
        assert!(!holds(&TESTS.replace("'adds'", "'sums'")));
        assert!(!holds("it('adds', () => {\n});\n"));
        assert!(!holds(""));
    }

    #[test]
    fn what_a_test_calls_may_still_be_there() {
        let called = |text: &str| called(text).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(called("adds() {\n    assert_eq!(x::double(2), 4);\n}\n"), ["adds", "assert_eq", "double"]);
        assert_eq!(called("(a, b)"), Vec::<String>::new());
    }
}
