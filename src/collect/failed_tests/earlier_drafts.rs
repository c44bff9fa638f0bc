//! Tests that an earlier session wrote, saw fail, and threw away before it committed anything.

use std::collections::BTreeSet;

use super::code_changes::{self, CodeChange};
use super::dropped_work::called;
use super::{FailedWork, words};
use crate::fact::weakening::{DeclaredTest, declared_tests, definitions};
use crate::git::GitError;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

impl FailedWork<'_> {
    /// Returns `true` if a test failed in another session, before the first commit of a branch, in a draft that changed no
    /// code, if nothing that is judged has the test or changes what it calls. It was an idea for other work.
    pub(super) fn is_earlier_draft(&self, declared: Option<&(RepoPath, DeclaredTest)>) -> Result<bool, GitError> {
        let Self { repo, open, .. } = self;
        let (Some((path, test)), Some(head)) = (declared, &open.head) else { return Ok(false) };
        if open.session.is_none() || open.session.as_deref() == Some(self.session) {
            return Ok(false);
        }
        let (base, now) = (repo.tree_of(head)?, &self.runs.green.run.end.tree);
        let draft = code_changes::between(repo, &base, &open.tree)?;
        if draft.iter().any(CodeChange::changes_behaviour) || self.is_judged(path, test, now)? {
            return Ok(false);
        }
        let called: BTreeSet<&str> = called(&test.body).collect();
        let judged = code_changes::between(repo, &base, now)?;
        let touched: BTreeSet<&str> = judged.iter().flat_map(touched_names).collect();
        Ok(touched.is_empty() || !called.is_empty() && called.is_disjoint(&touched))
    }

    /// Returns `true` if the content that passed, or a commit that is judged, has the test.
    fn is_judged(&self, path: &RepoPath, test: &DeclaredTest, now: &Oid) -> Result<bool, GitError> {
        let tips = self.facts.subjects.iter().filter_map(|subject| subject.commit.as_ref());
        for tree in tips.chain([now]) {
            let content = super::text(self.repo.blob_at(tree, path)?).unwrap_or_default();
            if declared_tests(path, &content).iter().any(|known| known.name == test.name) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// Returns the words of the changed lines of a file, and the names of the definitions that these stand in.
fn touched_names(file: &CodeChange) -> Vec<&str> {
    let mut found = changed_names(&file.old, &file.new);
    found.extend(changed_names(&file.new, &file.old));
    found
}

/// Returns the same for the lines of `new` that are not in `old`.
fn changed_names<'t>(old: &str, new: &'t str) -> Vec<&'t str> {
    let known: BTreeSet<&str> = old.lines().map(str::trim).collect();
    let (mut around, mut found) = ("", Vec::new());
    for line in new.lines() {
        if !definitions(line).is_empty() {
            around = line;
        }
        if !known.contains(line.trim()) {
            found.extend(words(around));
            found.extend(words(line));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_touches_the_definition_around_it() {
        const CODE: &str = "def add(a, b):\n    return a + b\n\ndef mul(a, b):\n    c = 1\n    return a * b\n";
        let touched = |new: &str| {
            let file = CodeChange { path: RepoPath::from("calc.py"), old: CODE.to_owned(), new: new.to_owned() };
            ["add", "mul"].map(|name| touched_names(&file).contains(&name))
        };
        assert_eq!(touched(CODE), [false, false]);
        assert_eq!(touched(&CODE.replace("a * b", "b * a")), [false, true]);
        assert_eq!(touched(&CODE.replace("    c = 1\n", "")), [false, true]);
        assert_eq!(touched(&CODE.replace("c = 1", "c = add(1, 2)")), [true, true]);
        assert_eq!(touched(&format!("{CODE}\ndef div(a, b):\n    return 1\n")), [false, false]);
    }
}
