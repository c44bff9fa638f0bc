//! The code that a test calls, as the imports of its file name it.

use super::changed_tests::ChangedTests;
use super::words;
use crate::repo_path::RepoPath;

/// Words with which a line that names code of another file begins, or which it holds.
const IMPORTS: [&str; 8] = ["import ", "from ", "use ", "require", "include", "#include", "export ", "load "];

impl ChangedTests {
    /// Returns `true` if the names that a test uses come from the same modules in another file. Only the last part of a module
    /// is compared: a path begins elsewhere in another folder.
    pub(super) fn has_same_subject(&self, old: &RepoPath, new: &RepoPath, body: &str) -> bool {
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
            imports(new).any(|line| words(line).any(|word| word == name) && words(line).any(|word| word == module))
        })
    }
}

fn imports(text: &str) -> impl Iterator<Item = &str> {
    let is_import = |line: &&str| {
        let line = line.trim_start();
        IMPORTS.iter().any(|word| line.starts_with(word)) || line.contains("require")
    };
    text.lines().filter(is_import)
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
    let module = match (quoted, line.trim_start().strip_prefix("from ")) {
        (Some(path), _) => path.rsplit('/').next()?.split('.').next()?,
        (None, Some(rest)) => rest.split_whitespace().next()?.rsplit('.').next()?,
        (None, None) => return None,
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
        changed.has_same_subject(&RepoPath::from("tests/a.py"), &RepoPath::from("tests/b.py"), body)
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
            ("import pytest\n", "def add(a, b):\n    return a + b\n"),
        ] {
            assert!(is_same(old, new), "{old} {new}");
        }
        for (old, new) in [
            (python, "def add(a, b):\n    return a + b\n"),
            (python, "from tests.fakes import add\n"),
            (python, "from unittest.mock import Mock\nadd = Mock(side_effect=[3, 5])\n"),
            (node, "const add = (a, b) => a + b;\n"),
            (node, "const { add } = require('./stub.js');\n"),
            ("require_relative '../lib/calc'\n", "def add(a, b) = a + b\n"),
        ] {
            assert!(!is_same(old, new), "{old} {new}");
        }
    }
}
