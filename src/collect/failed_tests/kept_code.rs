//! The code that a failed test names: if what is judged has it as it was when the test failed, the failure is about that, whatever
//! became of the test and of the commit that brought it.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::code_changes::{self, CodeChange};
use super::{FailedWork, words};
use crate::fact::weakening::{DeclaredTest, declared_tests, definitions, file_in, is_same_test, is_test_file};
use crate::fact::{Base, Facts, Subject};
use crate::git::{GitError, Repo, TreeDiff};
use crate::journal::OpenFailure;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The length from which the text of a definition is recognised under another name, in bytes.
const MIN_TEXT: usize = 24;
/// The number of files of tests in which a test is looked for.
const MAX_FILES: usize = 64;

/// A definition of code: its name, and its text without the first line, blanks, comments and that name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct CodeDefinition {
    name: String,
    text: String,
}

impl CodeDefinition {
    fn is_same(&self, other: &Self) -> bool {
        self.text == other.text && (self.name == other.name || self.text.len() >= MIN_TEXT)
    }
}

/// Some definitions of code.
type CodeDefinitions = BTreeSet<CodeDefinition>;

/// The definitions of code that came between two trees, once they are read.
#[derive(Default)]
pub(super) struct BroughtCode(RefCell<BTreeMap<(Oid, Oid), Rc<CodeDefinitions>>>);

impl BroughtCode {
    fn between(&self, repo: &Repo, before: &Oid, after: &Oid) -> Result<Rc<CodeDefinitions>, GitError> {
        let trees = (before.clone(), after.clone());
        if let Some(known) = self.0.borrow().get(&trees) {
            return Ok(Rc::clone(known));
        }
        let found = Rc::new(brought(&code_changes::between(repo, before, after)?));
        self.0.borrow_mut().insert(trees, Rc::clone(&found));
        Ok(found)
    }

    /// Returns `true` if a subject still has every definition with one of these names that the failed content had and its base had not;
    /// `None` if there is no such definition.
    fn is_kept(
        &self,
        repo: &Repo,
        facts: &Facts,
        open: &OpenFailure,
        named: &BTreeSet<&str>,
    ) -> Result<Option<bool>, GitError> {
        let Some(head) = &open.head else { return Ok(None) };
        let mut found = None;
        for subject in &facts.subjects {
            let Some((before, now)) = sides(repo, subject, head)? else { continue };
            let all = self.between(repo, &before, &open.tree)?;
            let mut wanted = all.iter().filter(|one| named.contains(one.name.as_str())).peekable();
            if wanted.peek().is_none() {
                continue;
            }
            let here = self.between(repo, &before, &now)?;
            if wanted.all(|one| here.iter().any(|other| one.is_same(other))) {
                return Ok(Some(true));
            }
            found = Some(false);
        }
        Ok(found)
    }

    /// Returns the same for a test that failed on another branch, with the names in its file.
    pub(super) fn is_kept_elsewhere(
        &self,
        repo: &Repo,
        facts: &Facts,
        open: &OpenFailure,
    ) -> Result<Option<bool>, GitError> {
        let file = file_in(&open.test).filter(|file| file.contains('.')).map(RepoPath::from);
        let text = match file {
            Some(file) => super::text(repo.blob_at(&open.tree, &file)?),
            None => text_of_new_test(repo, facts, open)?,
        };
        let Some(text) = text else { return Ok(None) };
        self.is_kept(repo, facts, open, &words(&text).collect())
    }
}

impl FailedWork<'_> {
    /// Returns `true` if the work brought code that the failed test names, and a subject has all of it as it was.
    pub(super) fn is_code_kept(&self, declared: Option<&(RepoPath, DeclaredTest)>) -> Result<bool, GitError> {
        let Some((_, test)) = declared else { return Ok(false) };
        let named: BTreeSet<&str> = words(&test.body).collect();
        Ok(self.brought.is_kept(self.repo, self.facts, self.open, &named)?.unwrap_or(false))
    }

    /// Returns `true` if the work brought code that the failed test names, and no subject defines any of it, under whatever name.
    pub(super) fn is_code_gone(&self, test: &DeclaredTest) -> Result<bool, GitError> {
        let Some(head) = &self.open.head else { return Ok(false) };
        let named: BTreeSet<&str> = words(&test.body).collect();
        let mut is_gone = false;
        for subject in &self.facts.subjects {
            let Some((before, now)) = sides(self.repo, subject, head)? else { return Ok(false) };
            let all = self.brought.between(self.repo, &before, &self.open.tree)?;
            let here = self.brought.between(self.repo, &before, &now)?;
            let wanted = || all.iter().filter(|one| named.contains(one.name.as_str()));
            let old = self.brought.between(self.repo, &self.open.tree, &before)?;
            // Others may have had the same text before.
            let is_same = |one: &CodeDefinition, other: &CodeDefinition| {
                other.name == one.name || other.text == one.text && !all.contains(other)
            };
            let is_here = |one: &CodeDefinition| here.iter().chain(&*old).any(|other| is_same(one, other));
            if wanted().any(is_here) {
                return Ok(false);
            }
            is_gone |= wanted().next().is_some();
        }
        Ok(is_gone)
    }
}

/// Returns the text of a test of which the runner names no file, from the files of tests that came with it.
fn text_of_new_test(repo: &Repo, facts: &Facts, open: &OpenFailure) -> Result<Option<String>, GitError> {
    let Some(head) = &open.head else { return Ok(None) };
    for subject in &facts.subjects {
        let Some((before, _)) = sides(repo, subject, head)? else { continue };
        let Some(TreeDiff::Changes(changes)) = repo.diff_trees(&[(before, open.tree.clone())])?.pop() else { continue };
        for change in changes.iter().filter(|change| is_test_file(&change.path)).take(MAX_FILES) {
            let text = super::text(repo.blob_at(&open.tree, &change.path)?).unwrap_or_default();
            let mut tests = declared_tests(&change.path, &text).into_iter();
            if let Some(test) = tests.find(|test| is_same_test(&open.test, &test.name)) {
                return Ok(Some(test.body));
            }
        }
    }
    Ok(None)
}

/// Returns the tree where the work of a subject and that at `head` part, and that of the subject.
fn sides(repo: &Repo, subject: &Subject, head: &Oid) -> Result<Option<(Oid, Oid)>, GitError> {
    let (Base::MergeBase { commit: base, .. }, Some(now)) = (&subject.base, &subject.tree) else { return Ok(None) };
    let Some(fork) = repo.merge_base(base, head)? else { return Ok(None) };
    Ok(Some((repo.tree_of(&fork)?, now.clone())))
}

/// Returns the definitions of code that a change brought or changed.
fn brought(files: &[CodeChange]) -> CodeDefinitions {
    let code = || files.iter().filter(|file| !is_test_file(&file.path));
    let known: CodeDefinitions = code().flat_map(|file| definitions_in(&file.old)).collect();
    code().flat_map(|file| definitions_in(&file.new)).filter(|one| !known.contains(one)).collect()
}

/// Returns the definitions in a text: each ends before the next line that is indented no more, apart from its closing brackets.
fn definitions_in(text: &str) -> Vec<CodeDefinition> {
    let lines: Vec<&str> = code_lines(text);
    let names: Vec<Vec<String>> = lines.iter().map(|line| definitions(line)).collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut found = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        for name in &names[at] {
            let is_inside = |other: &&&str| depth(other) > depth(line) || closes(other);
            let inside: Vec<&str> = lines[at + 1..].iter().take_while(is_inside).copied().collect();
            // What holds other definitions is judged by these.
            if names[at + 1..][..inside.len()].iter().any(|names| !names.is_empty()) {
                continue;
            }
            let inside = inside.iter().filter(|line| !closes(line)).map(|line| bare(line, name));
            let text: String = inside.collect();
            // One that is written in a single line has its text there.
            let own = line.split_once(['{', '=', ':']).map(|(_, rest)| bare(rest, name));
            let text = if text.is_empty() { own.unwrap_or_default() } else { text };
            if !text.is_empty() {
                found.push(CodeDefinition { name: name.clone(), text });
            }
        }
    }
    found
}

/// Returns the lines that hold code.
fn code_lines(text: &str) -> Vec<&str> {
    let mut in_text = false;
    let is_code = |line: &&str| {
        let bare = line.trim();
        let quotes = bare.matches("\"\"\"").count() + bare.matches("'''").count();
        let begins = bare.starts_with("\"\"\"") || bare.starts_with("'''");
        let was_in_text = in_text;
        in_text ^= quotes % 2 == 1 && (in_text || begins);
        let is_comment = ["#", "//", "/*", "*"].iter().any(|start| bare.starts_with(start));
        !was_in_text && !begins && !bare.is_empty() && !is_comment
    };
    text.lines().filter(is_code).collect()
}

fn closes(line: &str) -> bool {
    matches!(line.trim(), "}" | "};" | ")" | ");" | "})" | "});" | "]" | "end" | "):" | ") {")
}

/// Returns a line without blanks, comments at its end, and a name.
fn bare(line: &str, name: &str) -> String {
    let end = [" # ", "  #", " // "].iter().filter_map(|mark| line.find(mark)).min().unwrap_or(line.len());
    let code = line[..end].replace(name, "");
    // A formatter changes lines, quotes, commas and brackets.
    code.chars()
        .filter(|c| !c.is_whitespace() && !";,()".contains(*c))
        .map(|c| if c == '\'' { '"' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_same(old: &str, new: &str) -> bool {
        let (old, new) = (definitions_in(old), definitions_in(new));
        !old.is_empty() && old.iter().all(|one| new.iter().any(|other| one.is_same(other)))
    }

    #[test]
    fn a_definition_is_the_same_whatever_is_around_it() {
        const CODE: &str = "def price(items, rate):\n    total = sum(items)\n    return total * rate\n";
        for (new, same) in [
            (CODE.to_owned(), true),
            (format!("X = 1\n\n\n{CODE}\n\ndef other():\n    pass\n"), true),
            (CODE.replace("    total = sum", "    # The sum.\n    total  =  sum"), true),
            (
                CODE.replace("    total = sum", "    \"\"\"Returns it.\n\n    All of it.\n    \"\"\"\n    total = sum"),
                true,
            ),
            (CODE.replace("price", "cost"), true),
            (CODE.replace("sum(items)", "sum(\n        items,\n    )"), true),
            (CODE.replace("(items, rate)", "(items: list, rate: float) -> float"), true),
            (CODE.replace("total * rate", "total + total * rate"), false),
            ("def other():\n    pass\n".to_owned(), false),
        ] {
            assert_eq!(is_same(CODE, &new), same, "{new}");
        }
        let js = "export function price(items) {\n  return items.length * 2;\n}\n";
        assert!(is_same(js, &format!("{js}\nexport const X = 1;\n")));
        assert!(!is_same(js, &js.replace("* 2", "* 3")));
        assert!(is_same("func Price(n int) int {\n\treturn n * 2\n}\n", "func Price(n int) int {\n\treturn n*2\n}\n"));
        assert!(is_same("def one():\n    return 1\n", "def one():\n    return 1\n"));
        assert!(!is_same("def one():\n    return 1\n", "def two():\n    return 1\n"), "too short to tell");
    }
}
