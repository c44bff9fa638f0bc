//! Changes of the code that runs with a failed test.

use super::changed_tests::{ChangedTests, TestFileChange};
use crate::decision::is_same_code;
use crate::fact::weakening::{adds_replacement, is_test_file};
use crate::repo_path::RepoPath;

impl ChangedTests {
    /// Returns the file in which code that runs with a test was changed, so that it can replace what the test calls. The
    /// test itself may change with the code that it tests.
    pub(super) fn rewritten(&self, test: &str) -> Option<RepoPath> {
        let beside = self.files.iter().find(|file| file.runs_with(test)).map(|file| file.path.clone());
        beside.or_else(|| self.loaded.first().cloned())
    }
}

impl TestFileChange {
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

#[cfg(test)]
mod tests {
    use super::*;

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
