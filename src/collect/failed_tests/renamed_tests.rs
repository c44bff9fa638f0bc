//! Tests that are still there under another name, in another group or in another file.

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::changed_tests::{ChangedTests, TestFileChange};
use super::renamed_code::NewNames;
use super::same_place::{asks_as_much, is_little_changed};
use super::same_test::{is_assertion, is_part_of, lines_below};
use crate::fact::weakening::{DeclaredTest, empty_assertions, is_collected_like, is_test_file};
use crate::repo_path::RepoPath;

/// A test that is declared now: its file and its name.
pub(super) type FoundTest = (RepoPath, String);

impl ChangedTests {
    /// Returns the tests whose code is in a file of tests under another name or in another place, those that kept their
    /// name first. `anywhere`: a run named it, so that the place of the file does not matter.
    pub(super) fn renamed(
        &self,
        path: &RepoPath,
        declared: &DeclaredTest,
        anywhere: bool,
        names: &NewNames,
    ) -> Vec<FoundTest> {
        let before = self.file(path).map(TestFileChange::tests_before).unwrap_or_default();
        // A test with the name of another old one is that one.
        let is_another =
            |test: &DeclaredTest| test.name != declared.name && before.iter().any(|known| known.name == test.name);
        let mut found = Vec::new();
        for file in &self.files {
            let may_hold = is_test_file(&file.path) || holds_tests_beside_code(&file.path);
            let is_here = file.path == *path || (anywhere && may_hold) || is_collected_like(path, &file.path);
            if !is_here {
                continue;
            }
            let old = file.tests_before();
            let new = file.tests_now().iter().filter(|test| old.iter().all(|known| known.name != test.name));
            // A run that named it as passed shows that a condition did not skip it.
            let may_run = |test: &DeclaredTest| if anywhere { !test.is_newly_skipped(declared) } else { !test.skipped };
            let same = new.filter(|test| may_run(test) && !is_another(test) && names.is_same_test(declared, test));
            found.extend(same.map(|test| (file.path.clone(), test.name.clone())));
        }
        found.sort_by_key(|(_, name)| *name != declared.name);
        found
    }

    /// Returns the name of a test that is still in its file, with the same code: the group around it has another name.
    pub(super) fn regrouped(&self, path: &RepoPath, declared: &DeclaredTest, names: &NewNames) -> Option<FoundTest> {
        let same = self.of_same_name(path, declared);
        let same = same.into_iter().find(|test| !test.is_newly_skipped(declared) && names.is_same_test(declared, test));
        same.map(|test| (path.clone(), test.name))
    }

    /// Returns the tests of the file that still have the name of a test. Where several have it, none of them may be gone.
    pub(super) fn of_same_name(&self, path: &RepoPath, declared: &DeclaredTest) -> Vec<DeclaredTest> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let of_name = |tests: &[DeclaredTest]| -> Vec<DeclaredTest> {
            tests.iter().filter(|test| test.name == declared.name).cloned().collect()
        };
        let (old, new) = (of_name(file.tests_before()), of_name(file.tests_now()));
        if old.len() == new.len() { new } else { Vec::new() }
    }

    /// Returns `true` if another file gains a test of this name that is the same or asks as much.
    pub(super) fn is_moved(&self, path: &RepoPath, declared: &DeclaredTest, names: &NewNames) -> bool {
        let others = self.files.iter().filter(|file| file.path != *path);
        let mut gained = others.filter(|file| file.gains(declared)).flat_map(TestFileChange::tests_now);
        let is_it = |test: &DeclaredTest| names.is_same_test(declared, test) || asks_as_much(declared, test, names);
        gained.any(|test| test.name == declared.name && is_it(test))
    }

    /// Returns the tests that stand in the place of a test and ask as much of the same code, with other expectations:
    /// between the same neighbours, or under the same name in another group or file.
    pub(super) fn in_place(&self, path: &RepoPath, declared: &DeclaredTest, names: &NewNames) -> Vec<FoundTest> {
        let Some(file) = self.file(path) else { return Vec::new() };
        let (old, new) = (file.tests_before(), file.tests_now());
        let mut found: Vec<(&RepoPath, DeclaredTest)> = Vec::new();
        found.extend(self.of_same_name(path, declared).into_iter().map(|test| (path, test)));
        // What is another old test under a new name is not this one.
        let is_another = |test: &DeclaredTest| {
            old.iter().any(|other| other != declared && other.name != test.name && names.is_same_test(other, test))
        };
        let between = between_same_neighbours(declared, old, new).iter().filter(|test| !is_another(test));
        found.extend(between.map(|test| (path, test.clone())));
        for other in self.files.iter().filter(|file| file.path != *path && is_test_file(&file.path)) {
            if other.gains(declared) {
                let same = other.tests_now().iter().filter(|test| test.name == declared.name);
                found.extend(same.map(|test| (&other.path, test.clone())));
            }
        }
        let empties = |path: &RepoPath| {
            let of = |text: &Option<String>| text.as_deref().map_or(0, |text| empty_assertions(path, text));
            self.file(path).map_or((0, 0), |file| (of(&file.old), of(&file.new)))
        };
        found.retain(|(path, test)| {
            let (before, now) = empties(path);
            !test.is_newly_skipped(declared) && now <= before && asks_as_much(declared, test, names)
        });
        found.into_iter().map(|(path, test)| (path.clone(), test.name)).collect()
    }

    /// Returns the new file that holds most tests of a file that is gone, this one among them with few changes.
    pub(super) fn moved_file(&self, path: &RepoPath, declared: &DeclaredTest) -> Option<&RepoPath> {
        let gone = self.file(path).filter(|file| file.new.is_none())?;
        let old = gone.tests_before();
        let of_name = |tests: &[DeclaredTest]| {
            tests.iter().filter(|test| test.name == declared.name).cloned().collect::<Vec<_>>()
        };
        let was = of_name(old);
        let is_new_home = |file: &&TestFileChange| {
            let new = file.tests_now();
            let kept = old.iter().filter(|test| new.iter().any(|other| other.name == test.name)).count();
            let is = of_name(new);
            file.old.is_none()
                && is_test_file(&file.path)
                && kept * 2 > old.len()
                && was.len() == is.len()
                && was.iter().zip(&is).all(|(was, is)| is_little_changed(was, is))
        };
        self.files.iter().find(is_new_home).map(|file| &file.path)
    }

    /// Returns the names of the new tests of the same file into which a test was split. Each of them is the test
    /// without some of its assertions, and all assertions are left. `passes` says which tests passed.
    pub(super) fn parts(
        &self,
        path: &RepoPath,
        declared: &DeclaredTest,
        passes: impl Fn(&RepoPath, &str) -> bool,
    ) -> Option<String> {
        let file = self.file(path)?;
        let (old, mut parts) = (file.tests_before(), file.tests_now().to_vec());
        parts.retain(|test| {
            let is_new = old.iter().all(|known| known.name != test.name);
            is_new && !test.is_newly_skipped(declared) && passes(path, &test.name) && is_part_of(test, declared)
        });
        let kept: Vec<String> = parts.iter().flat_map(|part| lines_below(part).1).collect();
        let mut asserted = lines_below(declared).1.into_iter().filter(|line| is_assertion(line)).peekable();
        asserted.peek()?;
        let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
        asserted.all(|line| kept.contains(&line)).then(|| names.join(", "))
    }
}

/// Returns `true` if tests may stand in the file of the code, as in Rust.
fn holds_tests_beside_code(path: &RepoPath) -> bool {
    path.as_bytes().ends_with(b".rs")
}

/// Returns the new tests that stand where an old one stood, in the order of the file: those between the same neighbours.
fn between_same_neighbours<'a>(
    declared: &DeclaredTest,
    old: &[DeclaredTest],
    new: &'a [DeclaredTest],
) -> &'a [DeclaredTest] {
    let names = |tests: &[DeclaredTest]| tests.iter().map(|test| test.name.clone()).collect::<Vec<_>>();
    let Some(at) = old.iter().position(|test| test == declared) else { return &[] };
    for change in capture_diff_slices(Algorithm::Myers, &names(old), &names(new)) {
        let DiffOp::Replace { old_index, old_len, new_index, new_len } = change else { continue };
        if (old_index..old_index + old_len).contains(&at) {
            return &new[new_index..new_index + new_len];
        }
    }
    &[]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_is_split_only_if_every_assertion_is_left_with_all_that_it_needs() {
        let def = |name: &str, lines: &[&str]| format!("def {name}():\n    {}\n\n\n", lines.join("\n    "));
        let split = |old: &[&str], parts: &[&[&str]]| {
            let new: String = parts.iter().enumerate().map(|(at, lines)| def(&format!("test_{at}"), lines)).collect();
            let path = RepoPath::from("test_m.py");
            let changed = ChangedTests::of_file(&path, &def("test_m", old), &new);
            let (_, declared) = changed.declared("test_m.py::test_m").expect("a test");
            changed.parts(&path, &declared, |_, name| name != "test_2").is_some()
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
    fn a_test_that_a_condition_may_skip_is_still_the_same_one() {
        const OLD: &str =
            "def test_a():\n    try:\n        assert f() == 3\n    except OSError:\n        pytest.skip('x')\n";
        let path = RepoPath::from("test_m.py");
        for (old, anywhere, found) in
            [(OLD, true, true), (OLD, false, false), ("def test_a():\n    assert f() == 3\n", true, false)]
        {
            let new = OLD.replace("test_a", "test_b");
            let changed = ChangedTests::of_file(&path, old, &new);
            let (_, declared) = changed.declared("test_m.py::test_a").expect("a test");
            let same = changed.renamed(&path, &declared, anywhere, &NewNames::default());
            assert_eq!(!same.is_empty(), found, "{old} {anywhere}");
        }
    }

    #[test]
    fn a_test_has_its_place_between_the_same_neighbours() {
        let tests = |names: &str| -> Vec<DeclaredTest> {
            let test =
                |name: &str| DeclaredTest { name: name.to_owned(), body: String::new(), ..DeclaredTest::default() };
            names.split_whitespace().map(test).collect()
        };
        for (old, new, expected) in [
            ("a b c", "a x c", "x"),
            ("b", "x", "x"),
            ("a b c", "a x y c", "x y"),
            ("a b c d", "a x y d", "x y"),
            ("a b c d", "a x y z d", "x y z"),
            // There is none.
            ("a b c", "a c x", ""),
            ("a b c", "a c", ""),
            ("a b c", "a b x c", ""),
        ] {
            let (old, new) = (tests(old), tests(new));
            let declared = old.iter().find(|test| test.name == "b").expect("a test");
            let found = between_same_neighbours(declared, &old, &new).iter().map(|test| test.name.as_str());
            assert_eq!(found.collect::<Vec<_>>().join(" "), expected, "{new:?}");
        }
    }
}
