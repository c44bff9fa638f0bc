//! Groups of tests that are gone together with the code that they name. Their tests may be declared elsewhere: a class
//! inherits them.

use std::collections::BTreeSet;

use super::changed_tests::ChangedTests;
use super::code_changes::CodeChange;
use super::words;
use crate::fact::weakening::{defined_names, definitions, is_file_of, is_test_file};

impl ChangedTests {
    /// Returns `true` if the class of a test is gone from its file, and its text names code that `since` took away. If as
    /// much code is defined as before, it may only have another name.
    pub(super) fn lost_group(&self, test: &str, since: &[CodeChange]) -> bool {
        let names = |text: fn(&CodeChange) -> &str| -> Vec<String> {
            since.iter().flat_map(|file| defined_names(&file.path, text(file))).collect()
        };
        let (before, now) = (names(|file| &file.old), names(|file| &file.new));
        let gone: BTreeSet<&str> = before.iter().filter(|name| !now.contains(name)).map(String::as_str).collect();
        if gone.is_empty() || now.len() >= before.len() {
            return false;
        }
        let mut files =
            self.files.iter().filter(|file| is_test_file(&file.path) && is_of(test, &file.path.to_string()));
        files.any(|file| {
            let (old, new) = (file.old.as_deref().unwrap_or_default(), file.new.as_deref().unwrap_or_default());
            let left = definitions(new);
            let mut groups =
                definitions(old).into_iter().filter(|name| is_group_of(test, name) && !left.contains(name));
            is_file_of(test, &file.path)
                && groups
                    .any(|group| block_of(old, &group).is_some_and(|text| words(text).any(|word| gone.contains(word))))
        })
    }
}

/// Returns `true` if a name gives this file or module: `tests/test_a.py::T::test_b`, `tests.test_a.T.test_b`.
fn is_of(test: &str, path: &str) -> bool {
    let module = path.rsplit_once('.').map_or(path, |(module, _)| module);
    let module = module.replace('/', ".");
    test.split_once("::").map_or_else(
        || test.starts_with(&format!("{module}.")) || module.rsplit('.').next().is_some_and(|last| test.contains(last)),
        |(file, _)| path.ends_with(file),
    )
}

/// Returns `true` if a name holds this group before its last part.
fn is_group_of(test: &str, group: &str) -> bool {
    let mut parts = test.split(|c: char| !c.is_alphanumeric() && c != '_').rev().skip(1);
    parts.any(|part| part == group)
}

/// Returns the definition of a group: its line, and the deeper ones below.
fn block_of<'t>(text: &'t str, group: &str) -> Option<&'t str> {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut start = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        match start {
            None if line.trim_start().starts_with("class ") && words(line).any(|word| word == group) => {
                start = Some((at, depth(line)));
            }
            Some((from, outer)) if !line.trim().is_empty() && depth(line) <= outer => return text.get(from..at),
            _ => {}
        }
        at += line.len();
    }
    start.and_then(|(from, _)| text.get(from..))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collect::failed_tests::changed_tests::TestFileChange;
    use crate::repo_path::RepoPath;

    #[test]
    fn a_class_may_go_with_the_code_that_it_names() {
        const LRU: &str = "def lru(x):\n    return x\n";
        const MIXIN: &str = "class TestMru(Mixin):\n    make = staticmethod(mru)\n";
        const OTHER: &str = "class TestLru(Mixin):\n    make = staticmethod(lru)\n";
        let (both, all) = (format!("{LRU}\n\ndef mru(x):\n    return 0\n"), format!("{MIXIN}\n\n{OTHER}"));
        let renamed = both.replace("mru", "mfu");
        let (name, unittest) = ("tests/test_mru.py::TestMru::test_type", "tests.test_mru.TestMru.test_type");
        let name_of_other = "tests/test_mru.py::TestLru::test_type";
        for (test, old, new, code, gone) in [
            (name, MIXIN, "", LRU, true),
            (unittest, MIXIN, "", LRU, true),
            (name, &all, OTHER, LRU, true),
            // The class is still there, its code is, or it has another name.
            (name, &all, &all, LRU, false),
            (name, MIXIN, "", &both, false),
            (name, MIXIN, "", &renamed, false),
            // Another class goes, or a class about other code.
            (name_of_other, &all, OTHER, LRU, false),
            (name_of_other, &all, MIXIN, LRU, false),
            ("tests/test_lru.py::TestMru::test_type", MIXIN, "", LRU, false),
        ] {
            let text = |text: &str| Some(text.to_owned()).filter(|text| !text.is_empty());
            let file = TestFileChange {
                path: RepoPath::from("tests/test_mru.py"),
                old: text(old),
                new: text(new),
                ..TestFileChange::default()
            };
            let changed = ChangedTests { files: vec![file], ..ChangedTests::default() };
            let change = CodeChange { path: RepoPath::from("cache.py"), old: both.clone(), new: code.to_owned() };
            assert_eq!(changed.lost_group(test, &[change]), gone, "{test} {new:?} {code:?}");
        }
    }
}
