//! The code that a test calls, as the imports of its file name it.

use super::FailedWork;
use super::changed_tests::ChangedTests;
use super::code_changes::CodeChange;
use super::test_words::{is_word, tokens};
use super::words;
use crate::fact::weakening::{DeclaredTest, adds_replacement, declared_tests, definitions, is_test_file, test_texts};
use crate::repo_path::RepoPath;

/// Words with which a line that names code of another file begins, or which it holds.
const IMPORTS: [&str; 8] = ["import ", "from ", "use ", "require", "include", "#include", "export ", "load "];

impl FailedWork<'_> {
    /// Returns `true` if a test in the file `home` calls the code that a failed one called. The same assertions about something
    /// else are another test.
    pub(super) fn calls_the_same(
        &self,
        changed: &ChangedTests,
        (path, test): &(RepoPath, DeclaredTest),
        home: &RepoPath,
    ) -> bool {
        (is_in_package_of(path, home) || self.has_left_package(path, test))
            && changed.is_nothing_replaced(path, home, test)
            && changed.has_same_subject(path, home, &test.body, |name, module| self.has_left(name, module))
    }

    /// Returns `true` if the code of this name is not in its module any more: the change moved or removed it.
    pub(super) fn has_left(&self, name: &str, module: &str) -> bool {
        let is_module = |path: &RepoPath| {
            let path = path.to_string();
            path.split('/').any(|part| part.split('.').next() == Some(module))
        };
        let code = self.code_changes().unwrap_or_default();
        code.iter().flatten().any(|file| is_module(&file.path) && file.lost_names().iter().any(|lost| lost == name))
    }

    /// Returns `true` if a name that a test of Go uses is not in its package any more.
    fn has_left_package(&self, path: &RepoPath, test: &DeclaredTest) -> bool {
        let code = self.code_changes().unwrap_or_default();
        let of_package = code.iter().flatten().filter(|file| is_in_package_of(path, &file.path));
        let mut lost = of_package.flat_map(CodeChange::lost_names);
        lost.any(|name| words(&test.body).any(|word| word == name))
    }
}

/// Returns `true` if two files are in one package, where the language is Go: a folder. In other languages imports tell.
fn is_in_package_of(path: &RepoPath, other: &RepoPath) -> bool {
    let (path, other) = (path.to_string(), other.to_string());
    let folder = |path: &str| path.rsplit_once('/').map_or_else(String::new, |(folder, _)| folder.to_owned());
    !path.ends_with("_test.go") || folder(&path) == folder(&other)
}

impl ChangedTests {
    /// Returns `true` if nothing that `home` gained stands for something that a test used in its old file: neither a definition
    /// nor what replaces code while tests run.
    pub(super) fn is_nothing_replaced(&self, old: &RepoPath, home: &RepoPath, test: &DeclaredTest) -> bool {
        let Some(was) = self.file(old).and_then(|file| file.old.as_deref()) else { return true };
        let Some(now) = self.file(home).and_then(|file| file.new.as_deref()).filter(|_| is_test_file(home)) else {
            return true;
        };
        let before = self.file(home).and_then(|file| file.old.as_deref()).unwrap_or_default();
        let known = format!("{was}\n{before}");
        let used: Vec<&str> = words(&test.body).collect();
        let mut had = definitions(&known);
        had.extend(known.lines().filter_map(bound_name));
        let is_new = |name: &String| *name != test.name && used.contains(&name.as_str()) && !had.contains(name);
        let rebinds = |line: &str| bound_name(line).is_some_and(|name| is_new(&name));
        !definitions(now).iter().any(is_new)
            && !now.lines().any(rebinds)
            && !adds_replacement(&known, &without_other_tests(home, now, test))
    }

    /// Returns `true` if the names that a test uses come from the same modules in the file `new`, or from where the change
    /// moved them, as `is_moved` says of a name and its old module. Only the last part of a module is compared: a path begins
    /// elsewhere in another folder.
    pub(super) fn has_same_subject(
        &self,
        old: &RepoPath,
        new: &RepoPath,
        body: &str,
        is_moved: impl Fn(&str, &str) -> bool,
    ) -> bool {
        // What stands in a file of code is next to what it tests.
        let of_module = is_test_file(new);
        let is_one_file = old == new;
        let texts = self
            .file(old)
            .and_then(|file| file.old.as_deref())
            .zip(self.file(new).and_then(|file| file.new.as_deref()));
        let Some((old, new)) = texts else { return true };
        let used: Vec<&str> = words(body).collect();
        imports(old).all(|line| {
            if let Some(file) = required_file(line) {
                return imports(new).filter_map(required_file).any(|other| other == file);
            }
            let Some((name, module)) = import_of(line, &used) else { return true };
            // In one file, the whole name of the module stays.
            let whole = module_of(line).filter(|_| is_one_file);
            let is_same = |other: &str| {
                words(other).any(|word| word == name)
                    && words(other).any(|word| word == module)
                    && whole.is_none_or(|whole| module_of(other) == Some(whole))
            };
            !of_module || imports(new).any(is_same) || is_moved(name, module)
        })
    }
}

/// Returns the text of a file of tests without the lines inside of its tests, apart from those of `kept`: what another test
/// replaces is replaced for that one.
fn without_other_tests(path: &RepoPath, text: &str, kept: &DeclaredTest) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut outside = String::new();
    let mut at = 0;
    for ((name, body), declared) in test_texts(path, text).into_iter().zip(declared_tests(path, text)) {
        let start = body.as_ptr() as usize - text.as_ptr() as usize;
        let mut lines = body.split_inclusive('\n');
        let first = lines.next().map_or(0, str::len);
        let below = lines.take_while(|line| line.trim().is_empty() || depth(line) > declared.indent);
        let end = start + first + below.map(str::len).sum::<usize>();
        if name != kept.name && start >= at {
            outside.push_str(&text[at..start]);
            at = end;
        }
    }
    outside.push_str(&text[at..]);
    outside
}

/// Returns the name that a line outside of any function gives to a value: `add = sum`, `const add = (a, b) => a + b`.
fn bound_name(line: &str) -> Option<String> {
    let mut found = tokens(line.strip_prefix("export ").unwrap_or(line)).into_iter();
    let first = found.next().filter(|_| !line.starts_with(char::is_whitespace))?;
    let name = if ["const", "let", "var", "static"].contains(&first.as_str()) { found.next()? } else { first };
    (is_word(&name) && found.next()? == "=").then_some(name)
}

fn imports(text: &str) -> impl Iterator<Item = &str> {
    let is_import = |line: &&str| {
        let line = line.trim_start();
        IMPORTS.iter().any(|word| line.starts_with(word)) || line.contains("require")
    };
    text.lines().filter(is_import)
}

/// Returns the module that a line of Python or JavaScript names, as it is written.
fn module_of(line: &str) -> Option<&str> {
    match line.trim_start().strip_prefix("from ") {
        Some(rest) => rest.split_whitespace().next(),
        None => line.split(['"', '\'']).nth(1),
    }
}

/// Returns the file that a line of Ruby requires, which may define any name.
fn required_file(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("require_relative")?;
    rest.split(['"', '\'']).nth(1)?.rsplit('/').next()
}

/// Returns the first name of an import that is among `used`, and the last part of the module that it is taken from.
fn import_of<'t>(line: &'t str, used: &[&str]) -> Option<(&'t str, &'t str)> {
    let name = words(line).find(|word| used.contains(word))?;
    let quoted = line.split(['"', '\'']).nth(1).filter(|path| path.contains(['/', '.']));
    let line = line.trim_start();
    let module = match (quoted, line.strip_prefix("from "), line.strip_prefix("use ")) {
        (Some(path), ..) => path.rsplit('/').next()?.split('.').next()?,
        (None, Some(rest), _) => rest.split_whitespace().next()?.rsplit('.').next()?,
        (None, None, Some(rest)) => words(rest).take_while(|word| *word != name).last()?,
        (None, None, None) => return None,
    };
    (!module.is_empty()).then_some((name, module))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::failed_tests::changed_tests::TestFileChange;

    fn is_same(old: &str, new: &str) -> bool {
        let body = "assert add(1, 2) == 3\nexpect(add(1, 2)).toBe(3)";
        let file = |path: &str, old: Option<&str>, new: Option<&str>| TestFileChange {
            path: RepoPath::from(path),
            old: old.map(str::to_owned),
            new: new.map(str::to_owned),
        };
        let files = vec![file("tests/a.py", Some(old), None), file("tests/b.py", None, Some(new))];
        let changed = ChangedTests { files, ..ChangedTests::default() };
        changed.has_same_subject(&RepoPath::from("tests/a.py"), &RepoPath::from("tests/b.py"), body, |_, _| false)
    }

    #[test]
    fn what_stands_for_the_code_of_a_test_is_seen() {
        let old = "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n";
        let declared = DeclaredTest {
            name: "test_add".to_owned(),
            body: "test_add():\n    assert add(1, 2) == 3\n".to_owned(),
            skipped: false,
            indent: 0,
        };
        for (new, is) in [
            (old.to_owned(), true),
            (format!("{old}\ndef test_sum():\n    assert add(2, 2) == 4\n"), true),
            (
                format!(
                    "{old}\ndef test_mocked(monkeypatch):\n    monkeypatch.setattr('calc.add', sum)\n    assert run() == 3\n"
                ),
                true,
            ),
            (format!("{old}\n@patch('calc.add')\ndef setup():\n    calc.add = sum\n"), false),
            (format!("{old}\ndef add(a, b):\n    return a + b\n"), false),
            (format!("{old}\nadd = lambda a, b: a + b\n"), false),
            (
                format!(
                    "{old}\n@pytest.fixture(autouse=True)\ndef f(monkeypatch):\n    monkeypatch.setattr('calc.add', sum)\n"
                ),
                false,
            ),
        ] {
            let file = |path: &str, old: Option<&str>, new: Option<&str>| TestFileChange {
                path: RepoPath::from(path),
                old: old.map(str::to_owned),
                new: new.map(str::to_owned),
            };
            let files = vec![file("tests/test_a.py", Some(old), None), file("tests/test_b.py", None, Some(&new))];
            let changed = ChangedTests { files, ..ChangedTests::default() };
            let (was, home) = (RepoPath::from("tests/test_a.py"), RepoPath::from("tests/test_b.py"));
            assert_eq!(changed.is_nothing_replaced(&was, &home, &declared), is, "{new}");
        }
    }

    #[test]
    fn a_moved_test_calls_the_same_code() {
        let python = "from src.calc import add\n";
        let node = "const { add } = require('../src/calc.js');\n";
        for (old, new) in [
            (python, "import os\nfrom calc import add, mul\n"),
            (python, "from src.calc import (add, mul)\n"),
            (node, "import { add } from '../../src/calc.mjs';\n"),
            (node, "const { mul, add } = require(\"./calc\");\n"),
            ("use calc::add;\n", "use calc::{add, sub};\n"),
            ("use calc::sums::add;\n", "use crate::sums::add;\n"),
            ("import pytest\n", "def add(a, b):\n    return a + b\n"),
        ] {
            assert!(is_same(old, new), "{old} {new}");
        }
        for (old, new) in [
            (python, "def add(a, b):\n    return a + b\n"),
            (python, "from tests.fakes import add\n"),
            (python, "from unittest.mock import Mock\nadd = Mock(side_effect=[3, 5])\n"),
            ("use calc::add;\n", "use calc_copy::add;\n"),
            (node, "const add = (a, b) => a + b;\n"),
            (node, "const { add } = require('./stub.js');\n"),
            ("require_relative '../lib/calc'\n", "def add(a, b) = a + b\n"),
        ] {
            assert!(!is_same(old, new), "{old} {new}");
        }
    }
}
