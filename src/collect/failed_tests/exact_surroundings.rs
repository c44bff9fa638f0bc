//! The surroundings of a test where nothing can have changed what it asks.

use std::collections::BTreeSet;

use super::same_names::{SameNames, bound, imported, is_dynamic, last_part, places, surroundings, surroundings_at};
use super::same_subject::MovedTest;
use super::words;
use crate::collect::tested_changes::belongs_to_tests;
use crate::fact::weakening::{adds_replacement, is_test_file};
use crate::repo_path::RepoPath;
use crate::surroundings::{OuterStatement, OuterStatementKind, Surroundings};

/// The names of what a runner calls before a test.
pub(super) const PREPARING: [&str; 8] =
    ["setUp", "setUpClass", "setup_method", "setup", "beforeEach", "beforeAll", "before", "let"];
/// The beginnings of a statement of Python that only a script runs, as people write it.
const MAINS: [&str; 2] = ["if __name__ == \"__main__\":", "if __name__ == '__main__':"];

impl MovedTest<'_> {
    /// Returns `true` if nothing around the test can have changed what it asks: each name that it uses comes from the same place,
    /// and no statement is new that could replace anything. Where the names are not read, the lines that import decide.
    pub(super) fn has_exact_surroundings(&self) -> bool {
        let Some((was, before, now)) = self.texts() else { return false };
        let old = surroundings(self.old, was, &self.test.name).and_then(|found| found.into_iter().next());
        let new = surroundings(self.new, now, self.new_name);
        let (Some(old), Some([new])) = (old, new.as_deref()) else { return self.has_same_words(|_, _| false) };
        let end = before.trim_end().len().saturating_sub(1);
        let before = surroundings_at(self.new, before, end).unwrap_or_default();
        let tests: Vec<usize> = places(self.new, now).into_iter().map(|(_, at)| at).collect();
        let names = SameNames { moved: self, was: &old, now: new, known: "", tests: &tests };
        let known: Vec<&OuterStatement> = old.statements.iter().chain(&before.statements).collect();
        let is_known = |statement: &&OuterStatement| known.iter().any(|other| other.text == statement.text);
        let is_code = |statement: &&OuterStatement| statement.depth == 0 && !is_test_file(self.new);
        let mut added = new.statements.iter().filter(|statement| !is_known(statement) && !is_code(statement));
        names.all_used().iter().all(|name| names.is_exact_name(name))
            && names.stars(&old) == names.stars(new)
            && new.bases == old.bases
            && !names.has_changed_helper()
            && added.all(|statement| names.cannot_replace(statement))
    }
}

impl SameNames<'_> {
    /// Returns all names that the test, its decorators and its classes use.
    fn all_used(&self) -> BTreeSet<&str> {
        let head = self.moved.test.body.lines().next().unwrap_or_default();
        let head = words(head.strip_prefix(self.moved.test.name.as_str()).unwrap_or_default());
        let is_decorator = |statement: &&OuterStatement| statement.kind == OuterStatementKind::Decorator;
        let decorators = self.now.statements.iter().filter(is_decorator).flat_map(|decorator| words(&decorator.text));
        let bases = self.now.bases.iter().flat_map(|bases| words(bases));
        self.was.used.iter().map(String::as_str).chain(head).chain(decorators).chain(bases).collect()
    }

    /// Returns `true` if a name is bound by the same code and the same imports in both files.
    fn is_exact_name(&self, name: &str) -> bool {
        let code = |of: &Surroundings, path: &RepoPath| -> Vec<String> {
            let is_code = |statement: &OuterStatement| statement.depth == 0 && !is_test_file(path);
            let found = bound(of, name).into_iter().filter(|statement| !is_code(statement));
            found.map(|statement| statement.text.clone()).collect()
        };
        let imports = |of: &Surroundings, path: &RepoPath| -> Vec<(String, Option<String>)> {
            let all = imported(of, name).into_iter();
            let mut all: Vec<_> = all.map(|import| (resolved(path, &import.module), import.name.clone())).collect();
            all.dedup();
            all
        };
        let (old, new) = (self.moved.old, self.moved.new);
        code(self.was, old) == code(self.now, new) && imports(self.was, old) == imports(self.now, new)
    }

    /// Returns the modules of which a file takes all names.
    fn stars(&self, of: &Surroundings) -> Vec<String> {
        let path = if std::ptr::eq(of, self.was) { self.moved.old } else { self.moved.new };
        let stars = of.imports.iter().filter(|import| import.local.is_none());
        stars.map(|star| resolved(path, &star.module)).collect()
    }

    /// Returns `true` if a new statement cannot give anything that the test uses another meaning.
    fn cannot_replace(&self, statement: &OuterStatement) -> bool {
        let text = &statement.text;
        let is_plain = !self.sets_member(text) && !is_dynamic(text) && !adds_replacement("", text);
        match &statement.kind {
            // Other parameters count if there are as many.
            OuterStatementKind::Decorator => text.starts_with("@pytest.mark.parametrize("),
            OuterStatementKind::Import => !self.imports_changed_file(statement),
            OuterStatementKind::Definition(name) => {
                let is_of_compiler = ["mod ", "pub mod ", "macro_rules!"].iter().any(|start| text.starts_with(start));
                is_plain && !is_of_compiler && !PREPARING.contains(&name.as_str()) && name != self.moved.new_name
            }
            OuterStatementKind::Assignment(names) => {
                is_plain && names.iter().all(|name| !self.was.used.contains(name) && name != "pytestmark")
            }
            OuterStatementKind::Other => {
                let is_main = MAINS.iter().any(|start| text.starts_with(start));
                is_plain && (is_main || self.is_test(statement) || !words(text).any(|word| self.is_watched(word)))
            }
        }
    }

    /// Returns `true` if a file of helpers that the test uses differs between both contents, or one that a runner loads itself.
    fn has_changed_helper(&self) -> bool {
        let modules: BTreeSet<&str> = self.now.imports.iter().map(|import| last_part(&import.module)).collect();
        self.other_files().any(|path| {
            let text = path.to_string();
            text.ends_with("conftest.py") || modules.contains(stem_of(&text)) && belongs_to_tests(path)
        })
    }

    /// Returns `true` if a statement imports a file that differs between both contents, and is not what the test is about.
    fn imports_changed_file(&self, statement: &OuterStatement) -> bool {
        let named: BTreeSet<&str> = words(&statement.text).collect();
        let is_known = |stem: &str| self.was.imports.iter().any(|import| last_part(&import.module) == stem);
        self.other_files().any(|path| {
            let path = path.to_string();
            let stem = stem_of(&path);
            named.contains(stem) && !is_known(stem)
        })
    }

    /// Returns the files that differ between both contents, apart from those of the test.
    fn other_files(&self) -> impl Iterator<Item = &RepoPath> {
        let files = self.moved.changed.files.iter().map(|file| &file.path);
        files.filter(|path| *path != self.moved.new && *path != self.moved.old)
    }
}

/// Returns the name of a file without its last ending.
fn stem_of(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}

/// Returns a module as it is seen from the root, if a path from its file names it: `../src/calc.js` in `test/a.js` is `src/calc`.
fn resolved(path: &RepoPath, module: &str) -> String {
    let path = path.to_string();
    let mut folder: Vec<&str> = path.split('/').collect();
    folder.pop();
    if module.starts_with("./") || module.starts_with("../") || module == "." || module == ".." {
        for part in module.split('/') {
            match part {
                "." | "" => {}
                ".." => drop(folder.pop()),
                part => folder.push(part),
            }
        }
        let whole = folder.join("/");
        let stem = last_part(&whole).len() + whole.rfind('/').map_or(0, |at| at + 1);
        return whole.get(..stem).unwrap_or(&whole).to_owned();
    }
    let dots = module.len() - module.trim_start_matches('.').len();
    if dots > 0 {
        folder.truncate(folder.len().saturating_sub(dots - 1));
        folder.extend(module.trim_start_matches('.').split('.').filter(|part| !part.is_empty()));
        return folder.join(".");
    }
    module.to_owned()
}
