//! The files of tests that differ between two contents, and what that means for one test.

use similar::TextDiff;

use super::{test_code, text};
use crate::fact::failed_test::Obstacle;
use crate::fact::weakening::{
    self, DeclaredTest, adds_hiding_word, decides_which_tests_run, declared_tests, is_collected_like, is_file_of,
    is_same_test, is_test_data, is_test_file, names_file, sets_choosing_variable, splits_tests,
};
use crate::git::{GitError, PathChange, Repo, TreeDiff, WantedFile};
use crate::oid::Oid;
use crate::policy::PathRules;
use crate::repo_path::RepoPath;

/// The number of changed files that are read.
const MAX_FILES: usize = 200;
/// The share of equal text from which a test with another name counts as the same test.
const SAME_BODY: f32 = 0.6;

/// The files of tests, and those that decide which tests run, that differ between two contents.
#[derive(Debug, Default)]
pub(super) struct ChangedTests {
    pub(super) files: Vec<TestFileChange>,
    /// The files that settings load together with every test.
    pub(super) loaded: Vec<RepoPath>,
    /// A file of tests, if nothing but such files differs.
    pub(super) only_tests: Option<RepoPath>,
}

#[derive(Debug)]
pub(super) struct TestFileChange {
    pub(super) path: RepoPath,
    pub(super) old: Option<String>,
    pub(super) new: Option<String>,
}

impl ChangedTests {
    /// Compares two contents. `inputs` are the files that the command of the test reads: others change nothing.
    pub(super) fn between(repo: &Repo, inputs: &PathRules, old: &Oid, new: &Oid) -> Result<Self, GitError> {
        let Some(TreeDiff::Changes(changes)) = repo.diff_trees(&[(old.clone(), new.clone())])?.pop() else {
            return Ok(Self::default());
        };
        let loaded = test_code::loaded(repo, &changes, new)?;
        let is_about_tests = |path: &RepoPath| {
            is_test_file(path) || decides_which_tests_run(path) || is_test_data(path) || loaded.contains(path)
        };
        let read = changes.iter().filter(|change| inputs.matches(&change.path));
        let (about_tests, others): (Vec<_>, Vec<_>) = read.partition(|change| is_about_tests(&change.path));
        let only_tests = match about_tests.first() {
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
            TestFileChange { path: change.path, old, new }
        };
        Ok(Self { files: changes.into_iter().map(file).collect(), loaded, only_tests })
    }

    /// Returns the old file that declares a test, if it is among those that differ.
    pub(super) fn declared(&self, test: &str) -> Option<(RepoPath, DeclaredTest)> {
        self.files.iter().filter(|file| is_file_of(test, &file.path)).find_map(|file| {
            let tests = declared_tests(&file.path, file.old.as_deref()?);
            let found = tests.into_iter().find(|known| is_same_test(test, &known.name))?;
            Some((file.path.clone(), found))
        })
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
        let Some(file) = self.files.iter().find(|file| file.path == *path) else { return Obstacle::None };
        let now = file.new.as_ref().map(|new| declared_tests(path, new)).unwrap_or_default();
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

    /// Returns the name of a test that is still in its file, with the same code: the group around it has another name.
    pub(super) fn regrouped(&self, path: &RepoPath, declared: &DeclaredTest) -> Option<String> {
        let file = self.files.iter().find(|file| file.path == *path)?;
        let of_name = |text: &Option<String>| {
            let tests = text.as_deref().map(|text| declared_tests(path, text)).unwrap_or_default();
            tests.into_iter().filter(|test| test.name == declared.name).collect::<Vec<_>>()
        };
        let (old, new) = (of_name(&file.old), of_name(&file.new));
        // Where several tests have one name, none of them may be gone.
        let same = new.iter().find(|test| !test.skipped && has_same_body(declared, test));
        same.filter(|_| old.len() == new.len()).map(|test| test.name.clone())
    }

    /// Returns the names of the new tests of the same file into which a test was split. Each of them is the test
    /// without some of its assertions, and all assertions are left. `passes` says which tests passed.
    pub(super) fn parts(
        &self,
        path: &RepoPath,
        declared: &DeclaredTest,
        passes: impl Fn(&str) -> bool,
    ) -> Option<String> {
        let file = self.files.iter().find(|file| file.path == *path)?;
        let old = declared_tests(path, file.old.as_deref()?);
        let mut parts = declared_tests(path, file.new.as_deref()?);
        parts.retain(|test| {
            let is_new = old.iter().all(|known| known.name != test.name);
            is_new && !test.skipped && passes(&test.name) && is_part_of(test, declared)
        });
        let kept: Vec<String> = parts.iter().flat_map(|part| lines_below(part).1).collect();
        let mut asserted = lines_below(declared).1.into_iter().filter(|line| is_assertion(line)).peekable();
        asserted.peek()?;
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        asserted.all(|line| kept.contains(&line)).then(|| names.join(", "))
    }

    /// Returns the new name of a test whose code is in a file of tests under another name.
    /// `anywhere`: a run named it, so that the place of the file does not matter.
    pub(super) fn renamed(&self, path: &RepoPath, declared: &DeclaredTest, anywhere: bool) -> Option<String> {
        let here = |file: &&TestFileChange| {
            file.path == *path || (anywhere && is_test_file(&file.path)) || is_collected_like(path, &file.path)
        };
        let new = self.files.iter().filter(here).flat_map(|file| {
            let tests = |text: &Option<String>| {
                text.as_deref().map(|text| declared_tests(&file.path, text)).unwrap_or_default()
            };
            let old = tests(&file.old);
            tests(&file.new).into_iter().filter(move |test| old.iter().all(|known| known.name != test.name))
        });
        new.into_iter().find(|test| !test.skipped && has_same_body(declared, test)).map(|test| test.name)
    }
}

impl TestFileChange {
    fn adds_hiding_word(&self) -> bool {
        adds_hiding_word(self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default())
    }

    /// Returns `true` if this file decides which tests run, and a new line of it can leave some out.
    fn can_choose_tests(&self) -> bool {
        let (old, new) = (self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default());
        decides_which_tests_run(&self.path) && self.adds_hiding_word() || sets_choosing_variable(&self.path, old, new)
    }

    /// Returns `true` if this file can keep the tests of its package from running, of which `test` is one, as in Go.
    fn can_stop_package_of(&self, test: &str) -> bool {
        let path = self.path.to_string();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", &path));
        let is_its = |(package, _): (&str, &str)| format!("/{package}").ends_with(&format!("/{folder}"));
        name.ends_with("_test.go") && test.split_once(' ').is_some_and(is_its) && self.adds_hiding_word()
    }

    /// Returns `true` if the file declares a test now and did not before.
    fn gains(&self, declared: &DeclaredTest) -> bool {
        let has = |text: &Option<String>| {
            let tests = text.as_deref().map(|text| declared_tests(&self.path, text)).unwrap_or_default();
            tests.iter().any(|known| known.name == declared.name && !known.skipped)
        };
        has(&self.new) && !has(&self.old)
    }
}

/// Returns `true` if two tests differ in little more than their name and layout. What they assert is the same.
fn has_same_body(old: &DeclaredTest, new: &DeclaredTest) -> bool {
    // A name that is a string is blank in the code.
    let body = |test: &DeclaredTest| {
        let name = if test.body.contains(&test.name) { test.name.clone() } else { " ".repeat(test.name.len()) };
        test.body.replacen(&name, "", 1)
    };
    let (was, is) = (bare_lines(&body(old)), bare_lines(&body(new)));
    let asserts = |lines: &[String]| {
        let asserting = lines.iter().filter(|line| line.contains("assert") || line.contains("expect"));
        asserting.cloned().collect::<Vec<_>>()
    };
    let ratio = || TextDiff::from_slices(&as_texts(&was), &as_texts(&is)).ratio();
    asserts(&was) == asserts(&is) && ratio() >= SAME_BODY
}

/// Returns `true` if a test is another one without some of its assertions, down to its own last one.
fn is_part_of(part: &DeclaredTest, whole: &DeclaredTest) -> bool {
    let ((head, lines), (whole_head, whole_lines)) = (lines_below(part), lines_below(whole));
    let Some(last) = lines.iter().rposition(|line| is_assertion(line)) else { return false };
    let mut rest = whole_lines.iter();
    // What stands before an assertion decides what it shows, so nothing else may be missing there.
    let follows = |(at, line): (usize, &String)| {
        let skipped: Vec<&String> = rest.by_ref().take_while(|other| *other != line).collect();
        at > last || skipped.into_iter().all(|other| is_assertion(other))
    };
    let is_within = lines.iter().all(|line| whole_lines.contains(line));
    head == whole_head && is_within && lines.iter().enumerate().all(follows)
}

fn is_assertion(line: &str) -> bool {
    line.trim_start().starts_with("assert") || line.contains("expect(")
}

/// Returns the first line of a test without its name, and the others with their depth below the first of them.
fn lines_below(test: &DeclaredTest) -> (String, Vec<String>) {
    let mut lines = test.body.lines().filter(|line| !line.trim().is_empty());
    let head = lines.next().unwrap_or_default().replacen(&test.name, "", 1);
    let lines: Vec<&str> = lines.collect();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let start = lines.first().map_or(0, |line| depth(line));
    let below = |line: &&str| format!("{}{}", " ".repeat(depth(line) - start), line.trim());
    // The text goes on to the name of the next test.
    let inside = lines.iter().take_while(|line| depth(line) >= start);
    (head.trim().to_owned(), inside.map(below).collect())
}

/// Returns the lines of a text without blanks and comments, as far as these change nothing.
fn bare_lines(text: &str) -> Vec<String> {
    let is_comment = |line: &str| line.starts_with("//") || line.starts_with("# ") || line == "#";
    let lines = text.lines().map(|line| {
        let line = line.trim();
        let end = [" # ", "  #", " // "].iter().filter_map(|mark| line.find(mark)).min();
        let code = end.map(|end| &line[..end]).filter(|code| code.matches(['"', '\'']).count() % 2 == 0);
        code.unwrap_or(line)
    });
    let code = lines.filter(|line| !is_comment(line));
    let bare = code.map(|line| line.chars().filter(|c| !c.is_whitespace()).collect::<String>());
    // A test in a class has its object as a parameter.
    let bare = bare.map(|line| without_message(&line).replace("(self)", "()").replace("(self,", "("));
    bare.filter(|line| !line.is_empty()).collect()
}

/// Returns an assertion of Python without the text that it prints when it fails.
fn without_message(line: &str) -> &str {
    let is_text = line.starts_with("assert") && !line.starts_with("assert(") && line.ends_with(['"', '\'']);
    let message = [",\"", ",'", ",f\"", ",f'"].iter().filter_map(|start| line.rfind(start)).max();
    message.filter(|_| is_text).map_or(line, |at| &line[..at])
}

fn as_texts(lines: &[String]) -> Vec<&str> {
    lines.iter().map(String::as_str).collect()
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

    #[test]
    fn a_test_is_split_only_if_every_assertion_is_left_with_all_that_it_needs() {
        let def = |name: &str, lines: &[&str]| format!("def {name}():\n    {}\n\n\n", lines.join("\n    "));
        let split = |old: &[&str], parts: &[&[&str]]| {
            let new: String = parts.iter().enumerate().map(|(at, lines)| def(&format!("test_{at}"), lines)).collect();
            let path = RepoPath::from("test_m.py");
            let file = TestFileChange { path: path.clone(), old: Some(def("test_m", old)), new: Some(new) };
            let changed = ChangedTests { files: vec![file], ..ChangedTests::default() };
            let (_, declared) = changed.declared("test_m.py::test_m").expect("a test");
            changed.parts(&path, &declared, |name| name != "test_2").is_some()
        };
        let (one, two) = ("assert inc(1) == 2", "assert inc(5) == 6");
        assert!(split(&[one, two], &[&[one], &[two]]));
        assert!(split(&["x = 1", one, two], &[&["x = 1", one], &["x = 1", two]]));
        assert!(!split(&[one, two], &[&[one]]), "an assertion is gone");
        assert!(!split(&[one, two], &[&[one], &["assert inc(5) == 5"]]), "an assertion is another one");
        assert!(!split(&[one, two], &[&[one], &["if False:", "    assert inc(5) == 6"]]), "it is never reached");
        assert!(!split(&[one, two], &[&[one], &["return", two]]), "it is never reached");
        assert!(!split(&[one, two], &[&[one], &[], &[two]]), "the part with it did not pass");
        let vacuous: &[&str] = &["r = []", "assert all(r)"];
        assert!(!split(&["r = []", "r.append(f())", one, "assert all(r)"], &[&[one], vacuous]), "a step is gone");
    }

    #[test]
    fn a_test_with_another_layout_is_the_same_one() {
        let test =
            |body: &str| DeclaredTest { name: "test_add".to_owned(), body: body.to_owned(), skipped: false, indent: 0 };
        let old = test("test_add():\n    x = add(1,2)\n    assert x==3\n");
        for (body, same) in [
            ("test_add(self):\n        x = add(1, 2)\n        assert x == 3\n", true),
            ("test_add():\n    # Sums.\n    x = add(1, 2)\n    assert x == 3  # three\n", true),
            ("test_add():\n    x = add(1, 2)\n    assert x == 3, \"adds them\"\n", true),
            ("test_add():\n    x = add(1, 2)\n    assert x == 4\n", false),
            ("test_add():\n    x = add(1, 2)\n    assert x in (3, \"a\")\n", false),
            ("test_add():\n    x = add(1, 2)\n    # assert x == 3\n", false),
            ("test_add():\n    x = add(1, 2)\n", false),
        ] {
            assert_eq!(has_same_body(&old, &test(body)), same, "{body}");
        }
    }
}
