//! The files of tests that differ between two contents, and what that means for one test.

use std::cell::OnceCell;

use super::same_test::keeps_assertions;
use super::{test_code, text};
use crate::collect::tested_changes::belongs_to_tests;
use crate::decision::is_same_code;
use crate::fact::failed_test::Obstacle;
use crate::fact::weakening::{
    self, DeclaredTest, adds_hiding_word, decides_which_tests_run, declared_tests, is_code_file, is_collected_like,
    is_file_of, is_same_test, is_script, is_test_data, is_test_file, names_file, sets_choosing_variable, splits_tests,
};
use crate::git::{GitError, PathChange, Repo, TreeDiff, WantedFile};
use crate::oid::Oid;
use crate::policy::{Command, PathRules};
use crate::repo_path::RepoPath;

/// The number of changed files that are read.
const MAX_FILES: usize = 200;
/// The files whose tasks may run a script.
const TASK_FILES: [&str; 7] =
    ["Makefile", "package.json", "noxfile.py", "tox.ini", "justfile", "Taskfile.yml", "pyproject.toml"];

/// The files of tests, and those that decide which tests run, that differ between two contents.
#[derive(Debug, Default)]
pub(in crate::collect) struct ChangedTests {
    pub(super) files: Vec<TestFileChange>,
    /// The files that settings load together with every test.
    pub(super) loaded: Vec<RepoPath>,
    /// All paths that differ.
    pub(super) paths: Vec<RepoPath>,
    /// A file of tests, if nothing but such files differs.
    pub(super) only_tests: Option<RepoPath>,
}

#[derive(Debug, Default)]
pub(super) struct TestFileChange {
    pub(super) path: RepoPath,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
    /// The tests of both texts, once they are read: each failed test is compared with all of them.
    pub(super) before: OnceCell<Vec<DeclaredTest>>,
    pub(super) now: OnceCell<Vec<DeclaredTest>>,
}

impl ChangedTests {
    /// Returns the change of one file.
    #[cfg(test)]
    pub(super) fn of_file(path: &RepoPath, old: &str, new: &str) -> Self {
        let (old, new) = (Some(old.to_owned()), Some(new.to_owned()));
        let file = TestFileChange { path: path.clone(), old, new, ..TestFileChange::default() };
        Self { files: vec![file], ..Self::default() }
    }

    /// Compares two contents. `inputs` are the files that the command of the test reads: others change nothing.
    pub(in crate::collect) fn between(repo: &Repo, inputs: &PathRules, old: &Oid, new: &Oid) -> Result<Self, GitError> {
        let Some(TreeDiff::Changes(changes)) = repo.diff_trees(&[(old.clone(), new.clone())])?.pop() else {
            return Ok(Self::default());
        };
        let loaded = test_code::loaded(repo, &changes, new)?;
        let is_about_tests = |path: &RepoPath| {
            is_test_file(path) || decides_which_tests_run(path) || is_test_data(path) || loaded.contains(path)
        };
        let read = changes.iter().filter(|change| inputs.matches(&change.path));
        let paths = read.clone().map(|change| change.path.clone()).take(MAX_FILES).collect();
        let (about_tests, others): (Vec<_>, Vec<_>) = read.partition(|change| is_about_tests(&change.path));
        let first = match about_tests.first() {
            Some(first) => Some(*first),
            None => test_code::changed_own_tests(repo, &others)?,
        };
        let only_tests = match first {
            Some(first) if test_code::are_unseen(repo, &others, new)? => Some(first.path.clone()),
            _ => None,
        };
        let concerns =
            |path: &RepoPath| weakening::concerns(path) || decides_which_tests_run(path) || splits_tests(path);
        let changes: Vec<_> = changes.into_iter().filter(|change| concerns(&change.path)).take(MAX_FILES).collect();
        let wanted: Vec<WantedFile> = changes.iter().flat_map(PathChange::sides).collect();
        let mut texts = repo.blobs(&wanted)?.into_iter().map(text);
        let file = |change: PathChange| {
            let (old, new) = (texts.next().flatten(), texts.next().flatten());
            TestFileChange { path: change.path, old, new, ..TestFileChange::default() }
        };
        Ok(Self { files: changes.into_iter().map(file).collect(), loaded, paths, only_tests })
    }

    /// Returns `true` if the command reads none of what differs.
    pub(in crate::collect) fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// Returns a file that differs and that a command runs, by its own line or by that of a task in `tree`.
    pub(in crate::collect) fn script_of(
        &self,
        repo: &Repo,
        command: &Command,
        tree: &Oid,
    ) -> Result<Option<RepoPath>, GitError> {
        if self.paths.is_empty() {
            return Ok(None);
        }
        let lines = lines_of(repo, command, tree)?;
        Ok(self.paths.iter().find(|path| is_word_of(&lines, path)).cloned())
    }

    /// Returns all files that differ, if each of them belongs to the tests of a command or is run by it, and none
    /// otherwise.
    pub(in crate::collect) fn if_only_tests(
        self,
        repo: &Repo,
        command: &Command,
        tree: &Oid,
    ) -> Result<Vec<RepoPath>, GitError> {
        if self.paths.is_empty() || self.paths.len() == MAX_FILES {
            return Ok(Vec::new());
        }
        let lines = lines_of(repo, command, tree)?;
        let is_of_tests = |path: &RepoPath| {
            belongs_to_tests(path)
                || decides_which_tests_run(path)
                || is_test_data(path)
                || self.loaded.contains(path)
                || is_source_of_test(&lines, path)
                || (is_script(path) || !is_code_file(path)) && is_word_of(&lines, path)
        };
        Ok(if self.paths.iter().all(is_of_tests) { self.paths } else { Vec::new() })
    }

    pub(super) fn file(&self, path: &RepoPath) -> Option<&TestFileChange> {
        self.files.iter().find(|file| file.path == *path)
    }

    /// Returns the old file that declares a test, if it is among those that differ.
    pub(super) fn declared(&self, test: &str) -> Option<(RepoPath, DeclaredTest)> {
        self.files.iter().filter(|file| is_file_of(test, &file.path)).find_map(|file| {
            let found = file.tests_before().iter().find(|known| is_same_test(test, &known.name))?;
            Some((file.path.clone(), found.clone()))
        })
    }

    /// Returns `true` if the lines of a test differ, and not only in comments and spaces. A test that gets parameters asserts
    /// more than before.
    pub(super) fn is_edited(&self, path: &RepoPath, test: &DeclaredTest) -> bool {
        let Some(file) = self.file(path).filter(|file| !file.gains_parameters()) else { return false };
        let now = file.tests_now();
        let mut same = now.iter().filter(|known| known.name == test.name);
        same.next().is_some_and(|known| !is_same_code(path, own_lines(&test.body), own_lines(&known.body)))
    }

    /// Returns `true` if a test has lost an assertion that it made, or an expected text.
    pub(super) fn loses_assertions(&self, path: &RepoPath, test: &DeclaredTest) -> bool {
        let now = self.file(path).map(TestFileChange::tests_now).unwrap_or_default();
        now.iter().find(|known| known.name == test.name).is_some_and(|now| !keeps_assertions(test, now))
    }

    /// Returns `true` if the file of a test does not declare it any more, and its code makes a test of this name: in a loop, with a
    /// macro or a helper.
    pub(super) fn is_made_now(&self, (path, test): &(RepoPath, DeclaredTest)) -> bool {
        let Some(new) = self.file(path).and_then(|file| file.new.as_deref()) else { return false };
        let is_whole = |(at, name): (usize, &str)| {
            let is_of_word = |c: char| c.is_alphanumeric() || c == '_';
            !new[..at].ends_with(is_of_word) && !new[at + name.len()..].starts_with(is_of_word)
        };
        let declares = |file: &TestFileChange| file.tests_now().iter().any(|known| known.name == test.name);
        !self.files.iter().any(declares) && new.match_indices(test.name.as_str()).any(is_whole)
    }

    /// Returns the file whose change may keep the test from running, and how far it shows that.
    pub(super) fn obstacle(
        &self,
        test: &str,
        declared: Option<&(RepoPath, DeclaredTest)>,
    ) -> (Obstacle, Option<RepoPath>) {
        let own = match declared {
            Some((path, declared)) => (self.of_declared(path, declared), Some(path)),
            None => (Obstacle::Strong, self.removed_file(test)),
        };
        let deciding = self.files.iter().filter(|file| file.can_choose_tests());
        let splitting = self.files.iter().filter(|file| splits_tests(&file.path) && file.old.is_none());
        let others = deciding.chain(splitting).map(|file| (Obstacle::Strong, Some(&file.path)));
        let next_to_it = self.files.iter().filter(|file| file.can_stop_package_of(test));
        let next_to_it = next_to_it.map(|file| (Obstacle::Weak, Some(&file.path)));
        let all = std::iter::once(own).chain(others).chain(next_to_it).filter(|(_, path)| path.is_some());
        // Of several that are alike, the first.
        let worst = all.min_by_key(|(suspicion, _)| std::cmp::Reverse(*suspicion)).unwrap_or_default();
        (worst.0, worst.1.cloned())
    }

    /// Returns the degree to which the file that declared a test keeps it from running now.
    fn of_declared(&self, path: &RepoPath, declared: &DeclaredTest) -> Obstacle {
        let Some(file) = self.file(path) else { return Obstacle::None };
        let now = file.tests_now();
        let same: Vec<_> = now.iter().filter(|known| known.name == declared.name).collect();
        match same.as_slice() {
            _ if file.new.is_some() && file.adds_hiding_word() => Obstacle::Strong,
            [test] if test.skipped => Obstacle::Strong,
            [test] if test.indent != declared.indent => Obstacle::Weak,
            [_] => Obstacle::None,
            _ => self.place_elsewhere(path, declared),
        }
    }

    /// Returns the degree of suspicion for a test that its file does not declare any more: it may have been moved.
    fn place_elsewhere(&self, path: &RepoPath, declared: &DeclaredTest) -> Obstacle {
        let others = self.files.iter().filter(|file| file.path != *path && is_test_file(&file.path));
        let new_homes: Vec<_> = others.filter(|file| file.gains(declared)).map(|file| &file.path).collect();
        match new_homes.as_slice() {
            [] => Obstacle::Strong,
            homes if homes.iter().any(|home| is_collected_like(path, home)) => Obstacle::None,
            _ => Obstacle::Weak,
        }
    }

    /// Returns the removed file that a name gives.
    fn removed_file(&self, test: &str) -> Option<&RepoPath> {
        self.files.iter().find(|file| names_file(test, &file.path) && file.new.is_none()).map(|file| &file.path)
    }
}

/// Returns the body of a test without the marks and comments of the next one, at whose name it ends.
fn own_lines(body: &str) -> &str {
    let is_next = |line: &str| line.is_empty() || ["#[", "@", "//", "#"].iter().any(|mark| line.starts_with(mark));
    let whole = body.rfind('\n').map_or(body, |at| &body[..at]);
    let mut end = whole.trim_end();
    while let Some(start) = end.rfind('\n').filter(|start| is_next(end[start + 1..].trim())) {
        end = end[..start].trim_end();
    }
    end
}

/// Returns the line of a command and the texts of the files beside it whose tasks it may run.
fn lines_of(repo: &Repo, command: &Command, tree: &Oid) -> Result<Vec<String>, GitError> {
    let mut lines = vec![command.run.clone()];
    for name in TASK_FILES {
        let path = command.dir.to_os().join(name);
        lines.extend(text(repo.blob_at(tree, &RepoPath::from(path.to_string_lossy().as_ref()))?));
    }
    Ok(lines)
}

/// Returns `true` if a file is the source of a program that a command runs without arguments: `./t` for `t.c`. A program that
/// is tested gets some.
fn is_source_of_test(lines: &[String], path: &RepoPath) -> bool {
    const COMPILED: [&str; 5] = ["c", "cc", "cpp", "cxx", "m"];
    let path = path.to_string();
    let Some((stem, _)) = path.rsplit_once('.').filter(|(_, ending)| COMPILED.contains(ending)) else { return false };
    let call = format!("./{}", stem.rsplit('/').next().unwrap_or(stem));
    let mut commands = lines.iter().flat_map(|line| line.split(['\n', ';', '&', '|'])).map(str::trim);
    commands.any(|command| command.trim_start_matches('@') == call)
}

fn is_word_of(lines: &[String], path: &RepoPath) -> bool {
    let path = path.to_string();
    let is_path = |word: &str| word == path || word.strip_prefix("./") == Some(&path);
    let ends = [' ', '\t', '\n', '"', '\'', ';', '&', '|', '(', ')'];
    lines.iter().flat_map(|line| line.split(ends)).any(is_path)
}

impl TestFileChange {
    /// Returns `true` if more tests of the file have parameters than before.
    fn gains_parameters(&self) -> bool {
        const MARKS: [&str; 6] = ["parametrize", ".each", "rstest", "#[case", "ParameterizedTest", "subTest"];
        let count = |text: &Option<String>| -> usize {
            let text = text.as_deref().unwrap_or_default();
            MARKS.iter().map(|mark| text.matches(mark).count()).sum()
        };
        count(&self.new) > count(&self.old)
    }

    fn adds_hiding_word(&self) -> bool {
        adds_hiding_word(self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default())
    }

    /// Returns `true` if this file decides which tests run, and a new line of it can leave some out.
    fn can_choose_tests(&self) -> bool {
        let (old, new) = (self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default());
        decides_which_tests_run(&self.path) && self.adds_hiding_word()
            || sets_choosing_variable(&self.path, old, new)
            || self.path.as_bytes().ends_with(b"go.mod") && ignores_folder(new) && !ignores_folder(old)
    }

    /// Returns `true` if this file can keep the tests of its package from running, of which `test` is one, as in Go.
    fn can_stop_package_of(&self, test: &str) -> bool {
        let path = self.path.to_string();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_its = |(package, _): (&str, &str)| format!("/{package}").ends_with(&format!("/{folder}"));
        name.ends_with("_test.go") && test.split_once(' ').is_some_and(is_its) && self.adds_hiding_word()
    }

    /// The tests that it declared.
    pub(super) fn tests_before(&self) -> &[DeclaredTest] {
        self.before.get_or_init(|| self.tests_of(self.old.as_deref()))
    }

    /// The tests that it declares now.
    pub(super) fn tests_now(&self) -> &[DeclaredTest] {
        self.now.get_or_init(|| self.tests_of(self.new.as_deref()))
    }

    fn tests_of(&self, text: Option<&str>) -> Vec<DeclaredTest> {
        text.map(|text| declared_tests(&self.path, text)).unwrap_or_default()
    }

    /// Returns `true` if the file declares a test now and did not before.
    pub(super) fn gains(&self, declared: &DeclaredTest) -> bool {
        let has = |tests: &[DeclaredTest]| tests.iter().any(|known| known.name == declared.name && !known.skipped);
        has(self.tests_now()) && !has(self.tests_before())
    }
}

/// Returns `true` if a `go.mod` has the directive that leaves folders out of `./...`.
fn ignores_folder(text: &str) -> bool {
    text.lines().any(|line| line.split_whitespace().next() == Some("ignore"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Obstacle::{None as Clear, Strong, Weak};

    const GO: &str = "package calc\n\nfunc TestAdd(t *testing.T) {\n\tcheck(t)\n}\n";
    const PYTHON: &str = "def test_add():\n    assert add(1, 2) == 3\n";

    fn suspicion(test: &str, files: &[(&str, &str, &str)]) -> Obstacle {
        let side = |text: &str| Some(text.to_owned()).filter(|text| text != "-");
        let file = |(path, old, new): &(&str, &str, &str)| TestFileChange {
            path: RepoPath::from(*path),
            old: side(old),
            new: side(new),
            ..TestFileChange::default()
        };
        let changed = ChangedTests { files: files.iter().map(file).collect(), ..ChangedTests::default() };
        let declared = changed.declared(test);
        changed.obstacle(test, declared.as_ref()).0
    }

    #[test]
    fn a_change_can_keep_a_test_from_running() {
        let (go, python) = ("x/calc TestAdd", "tests/test_calc.py::test_add");
        let nested = format!("def later():\n    {}", PYTHON.replace('\n', "\n    "));
        let tagged = format!("//go:build never\n\n{GO}");
        let with = |start: &str| format!("{start}\n{PYTHON}");
        for (test, files, expected) in [
            (go, vec![("calc/calc_test.go", GO, tagged.as_str())], Strong),
            (go, vec![("calc/calc_test.go", GO, "-")], Strong),
            (go, vec![("calc/calc_test.go", GO, "-"), ("calc/sums_test.go", "-", GO)], Clear),
            (go, vec![("calc/calc_test.go", GO, "-"), ("calc/calc_windows_test.go", "-", GO)], Weak),
            (go, vec![("calc/calc_windows_test.go", GO, "-"), ("calc/calc_linux_test.go", "-", GO)], Clear),
            (go, vec![("calc/calc_test.go", GO, "-"), ("calc/_calc_test.go", "-", GO)], Weak),
            (go, vec![("calc/calc_test.go", GO, "-"), ("_calc/calc_test.go", "-", GO)], Weak),
            (go, vec![("calc/go.mod", "-", "module y\n")], Strong),
            (go, vec![("go.mod", "module x\n", "module x\n\nrequire y v1.0.0\n")], Clear),
            (go, vec![("go.mod", "module x\n", "module x\n\nignore ./calc\n")], Strong),
            (go, vec![("calc/main_test.go", "-", "func TestMain(m *testing.M) { os.Exit(0) }\n")], Weak),
            (go, vec![("other/main_test.go", "-", "func TestMain(m *testing.M) { os.Exit(0) }\n")], Clear),
            (
                python,
                vec![("tests/test_calc.py", PYTHON, &with("import pytest; pytestmark = pytest.mark.skip"))],
                Strong,
            ),
            (python, vec![("tests/test_calc.py", PYTHON, &with("raise unittest.SkipTest('later')"))], Strong),
            (python, vec![("tests/test_calc.py", PYTHON, &with("# Sums."))], Clear),
            (python, vec![("tests/test_calc.py", PYTHON, &nested)], Weak),
            (python, vec![("tests/test_calc.py", PYTHON, "-"), ("tests/calc_cases.py", "-", PYTHON)], Weak),
            (python, vec![("tests/test_calc.py", PYTHON, "-"), ("tests/test_calc.py.bak", "-", PYTHON)], Strong),
            (python, vec![("tests/test_calc.py", PYTHON, "-"), ("tests/test_sums.py", "-", PYTHON)], Clear),
            (python, vec![("conftest.py", "-", "collect_ignore = ['tests/test_calc.py']\n")], Strong),
            (python, vec![("conftest.py", "-", "import pytest\n")], Clear),
            (python, vec![("vitest.workspace.js", "-", "export default [{ test: { include: ['a'] } }]\n")], Strong),
            (
                python,
                vec![("Makefile", "test:\n\tpytest\n", "export PYTEST_ADDOPTS = -k a\ntest:\n\tpytest\n")],
                Strong,
            ),
            (python, vec![("Makefile", "test:\n\tpytest\n", "build:\n\tpip wheel .\ntest:\n\tpytest\n")], Clear),
            ("adds", vec![("Cargo.toml", "", "[[test]]\nrequired-features = ['slow']\n")], Strong),
            ("adds", vec![], Clear),
        ] {
            assert_eq!(suspicion(test, &files), expected, "{test} {files:?}");
        }
    }
}
