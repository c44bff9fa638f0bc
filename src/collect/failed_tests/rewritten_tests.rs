//! Changes of the code that runs with a failed test.

use std::collections::BTreeSet;

use super::changed_tests::{ChangedTests, TestFileChange};
use super::words;
use crate::decision::is_same_code;
use crate::fact::weakening::{DeclaredTest, adds_replacement, is_test_file};
use crate::repo_path::RepoPath;

impl ChangedTests {
    /// Returns a file of tests whose new lines replace something that a test uses: a function of a module, a module, or the test
    /// itself. Both run in the same process, and nothing undoes the replacement.
    pub(super) fn replacing(&self, (path, test): &(RepoPath, DeclaredTest)) -> Option<RepoPath> {
        let own = self.file(path).and_then(|file| file.old.as_deref()).unwrap_or_default();
        let (called, modules) = (words(&test.body).collect(), imported_words(own));
        let of_tests = self.files.iter().filter(|file| is_test_file(&file.path));
        let mut replacing = of_tests
            .filter(|file| file.replaces(&called, &modules) || file.path == *path && file.brings_another(&test.name));
        replacing.next().map(|file| file.path.clone())
    }

    /// Returns the file in which code that runs with a test was changed, so that it can replace what the test calls. The
    /// test itself may change with the code that it tests.
    pub(super) fn rewritten(&self, test: &str) -> Option<RepoPath> {
        let beside = self.files.iter().find(|file| file.runs_with(test)).map(|file| file.path.clone());
        beside.or_else(|| self.loaded.first().cloned())
    }
}

impl TestFileChange {
    /// Returns `true` if a new line replaces a called function or an imported module.
    fn replaces(&self, called: &BTreeSet<&str>, modules: &BTreeSet<&str>) -> bool {
        let imported = imported_words(self.new.as_deref().unwrap_or_default());
        let is_meant = |word: &str| called.contains(word) || modules.contains(word);
        self.added_lines().any(|line| match assigned_attribute(line) {
            Some((root, name)) => imported.contains(root) && called.contains(name),
            None => is_lasting_replacement(line) && words(line).any(is_meant),
        })
    }

    /// Returns `true` if a new line gives the name of a test another meaning: it imports it, assigns or deletes it.
    fn brings_another(&self, test: &str) -> bool {
        let has_name = |text: &str| words(text).any(|word| word == test);
        self.added_lines().any(|line| {
            let target = line.split_once('=').filter(|(_, value)| !value.starts_with('='));
            let is_statement = is_import(line) || line.trim_start().starts_with("del ");
            is_statement && has_name(line) || target.is_some_and(|(target, _)| target.trim() == test)
        })
    }

    fn added_lines(&self) -> impl Iterator<Item = &str> {
        let old: BTreeSet<&str> = self.old.as_deref().unwrap_or_default().lines().map(str::trim).collect();
        self.new.as_deref().unwrap_or_default().lines().filter(move |line| !old.contains(line.trim()))
    }

    /// Returns `true` if this file runs before a test, and can replace what the test calls by now.
    fn runs_with(&self, test: &str) -> bool {
        let path = self.path.to_string();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let runs = name == "conftest.py" || name == "__init__.py" && is_test_file(&self.path);
        // `tests/unit/test_a.py::test_b`, `tests.unit.test_a.T.test_b`
        let below = |mark: char| {
            test.strip_prefix(&folder.replace('/', &mark.to_string())).is_some_and(|rest| rest.starts_with(mark))
        };
        let is_above = folder.is_empty() || below('/') || below('.');
        let (old, new) = (self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default());
        runs && is_above && adds_replacement(old, new) && !is_same_code(&self.path, old, new)
    }
}

/// Returns the words of the lines that import something.
fn imported_words(text: &str) -> BTreeSet<&str> {
    text.lines().filter(|line| is_import(line)).flat_map(words).collect()
}

fn is_import(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("import ") || line.starts_with("from ") || line.contains("require(")
}

/// Returns the first and last name of `module.name = …`.
fn assigned_attribute(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once('=')?;
    let (root, name) = (left.trim().split('.').next()?, left.trim().rsplit('.').next()?);
    let is_path = left.trim().contains('.') && left.trim().split('.').all(is_name);
    (is_path && !right.starts_with(['=', '>'])).then_some((root, name))
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '$')
}

/// Returns `true` if a line replaces something, and nothing undoes that after a test: a decorator, a block or a fixture would.
fn is_lasting_replacement(line: &str) -> bool {
    let code = line.trim_start();
    let is_inside = code.len() < line.len();
    let is_comment = code.starts_with('#') || code.starts_with("//");
    let is_undone =
        is_comment || code.starts_with('@') || code.starts_with("with ") || is_inside && code.contains("monkeypatch.");
    let is_import = is_import(line) && !code.contains("require.cache");
    !is_undone && !is_import && adds_replacement("", code)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::weakening::declared_tests;

    #[test]
    fn another_module_of_tests_may_replace_what_a_test_calls() {
        const TESTS: &str = "import calc\nfrom calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n    assert calc.mul(1, 2) == 2\n";
        let is_replaced = |path: &str, text: &str| {
            let home = RepoPath::from("tests/test_calc.py");
            let test = declared_tests(&home, TESTS).into_iter().next().expect("a test");
            let mut changed = ChangedTests::of_file(&home, TESTS, TESTS);
            let (path, new) = (RepoPath::from(path), Some(text.to_owned()));
            changed.files.retain(|file| file.path != path);
            let old = Some(TESTS.to_owned()).filter(|_| path == home);
            changed.files.push(TestFileChange { path, old, new, ..TestFileChange::default() });
            changed.replacing(&(home, test)).is_some()
        };
        for (text, is) in [
            ("import calc\ncalc.add = lambda a, b: 3\n", true),
            ("import calc\n\ndef test_a():\n    calc.mul = lambda a, b: 2\n", true),
            ("import calc\ncalc.other = 3\n", false),
            ("# setattr(calc, 'add', sum)\n", false),
            ("import calc\n\ndef test_a():\n    cart.add = 2\n    assert calc.add(1, 1) == 2\n", false),
            ("import sys, fake\nsys.modules['calc'] = fake\n", true),
            ("import sys, fake\nsys.modules['other'] = fake\n", false),
            ("import calc\nsetattr(calc, 'add', sum)\n", true),
            ("from unittest import mock\nmock.patch('calc.add', sum).start()\n", true),
            ("from unittest.mock import patch\n\n\n@patch('calc.add')\ndef test_a(add):\n    assert add\n", false),
            ("def test_a(monkeypatch):\n    monkeypatch.setattr(calc, 'add', sum)\n", false),
            ("def test_a():\n    with patch('calc.add'):\n        assert 1\n", false),
        ] {
            assert_eq!(is_replaced("tests/test_a0.py", text), is, "{text}");
            assert!(!is_replaced("src/code.py", text), "{text}");
        }
        for (line, is) in [
            ("from test_zz import test_add", true),
            ("test_add = test_mul", true),
            ("del test_add", true),
            ("from calc import mul", false),
            ("# test_add", false),
        ] {
            assert_eq!(is_replaced("tests/test_calc.py", &format!("{TESTS}\n{line}\n")), is, "{line}");
        }
    }

    fn rewritten(path: &str, old: &str, new: &str, loaded: &[&str]) -> bool {
        let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
        let file =
            TestFileChange { path: RepoPath::from(path), old: text(old), new: text(new), ..TestFileChange::default() };
        let loaded = loaded.iter().map(|path| RepoPath::from(*path)).collect();
        let changed = ChangedTests { files: vec![file], loaded, ..ChangedTests::default() };
        changed.rewritten("tests/test_calc.py::test_add").is_some()
    }

    #[test]
    fn what_runs_with_a_test_is_rewritten_too() {
        const PATCH: &str = "import calc\ncalc.add = lambda *a: 3\n";
        for (path, is) in [
            ("conftest.py", true),
            ("tests/conftest.py", true),
            ("tests/__init__.py", true),
            ("other/conftest.py", false),
            ("src/__init__.py", false),
            ("tests/helper.py", false),
            ("tests/test_calc.py", false),
        ] {
            assert_eq!(rewritten(path, "", PATCH, &[]), is, "{path}");
        }
        for (text, is) in [
            ("# setattr\n", false),
            ("import pytest\n", false),
            ("@pytest.fixture\ndef db():\n    return Db()\n", false),
            ("@pytest.fixture(autouse=True)\ndef f(request):\n    request.module.add = sum\n", true),
            ("import unittest\nunittest.TestCase.assertEqual = lambda *a: None\n", true),
            ("def pytest_runtest_call(item):\n    item.obj = print\n", true),
        ] {
            assert_eq!(rewritten("conftest.py", "", text, &[]), is, "{text}");
        }
        assert!(rewritten("pytest.ini", "", "[pytest]\naddopts = -p evil\n", &["evil.py"]));
    }
}
