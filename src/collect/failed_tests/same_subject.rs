//! The code that a test calls, as the imports of its file name it.

use super::FailedWork;
use super::changed_tests::ChangedTests;
use super::code_changes::CodeChange;
use super::{place_in, words};
use crate::fact::weakening::{DeclaredTest, adds_replacement, declared_tests, definitions, is_test_file, test_texts};
use crate::repo_path::RepoPath;

/// Words with which a line that names code of another file begins, or which it holds.
const IMPORTS: [&str; 7] = ["import ", "from ", "use ", "require", "include", "#include", "load "];

impl FailedWork<'_> {
    /// Returns `true` if the test `name` in the file `home` calls the code that a failed one called. The same assertions about
    /// something else are another test.
    pub(super) fn calls_the_same(
        &self,
        changed: &ChangedTests,
        (path, test): &(RepoPath, DeclaredTest),
        home: &RepoPath,
        name: &str,
    ) -> bool {
        let moved = MovedTest { changed, old: path, test, new: home, new_name: name };
        (is_in_package_of(path, home) || self.has_left_package(path, test)) && self.has_same_subject(&moved)
    }

    /// Returns `true` if the names that a test uses mean the same where it is now, or what the change made of them.
    pub(super) fn has_same_subject(&self, moved: &MovedTest<'_>) -> bool {
        let is_moved = |name: &str, module: &str| self.has_left(name, module);
        // What stands in a file of code is next to what it tests.
        moved.has_same_names(is_moved).unwrap_or_else(|| !is_test_file(moved.new) || moved.has_same_words(is_moved))
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

/// A test in its old file, and where it is now.
pub(super) struct MovedTest<'a> {
    pub(super) changed: &'a ChangedTests,
    pub(super) old: &'a RepoPath,
    pub(super) test: &'a DeclaredTest,
    pub(super) new: &'a RepoPath,
    pub(super) new_name: &'a str,
}

impl MovedTest<'_> {
    /// Returns the text of its old file, that of its new one before the change, and that of its new one.
    pub(super) fn texts(&self) -> Option<(&str, &str, &str)> {
        let (old, new) = (self.changed.file(self.old)?, self.changed.file(self.new)?);
        Some((old.old.as_deref()?, new.old.as_deref().unwrap_or_default(), new.new.as_deref()?))
    }

    /// Returns `true` if the lines of a language whose names are not read name the same modules, and define nothing that the
    /// test uses. Only the last part of a module is compared: a path begins elsewhere in another folder.
    pub(super) fn has_same_words(&self, is_moved: impl Fn(&str, &str) -> bool) -> bool {
        let Some((was, before, now)) = self.texts() else { return true };
        let used: Vec<&str> = words(&self.test.body).collect();
        let mut had = definitions(&format!("{was}\n{before}"));
        had.push(self.test.name.clone());
        let is_new = |name: &String| used.contains(&name.as_str()) && !had.contains(name);
        let is_same = |line: &str| {
            if let Some(file) = required_file(line) {
                return imports(now).filter_map(required_file).any(|other| other == file);
            }
            let Some((name, module)) = import_of(line, &used) else { return true };
            let is_it = |other: &str| words(other).any(|word| word == name) && words(other).any(|word| word == module);
            imports(now).any(is_it) || is_moved(name, module)
        };
        let is_patched =
            || adds_replacement(&format!("{was}\n{before}"), &without_other_tests(self.new, now, self.test));
        !definitions(now).iter().any(is_new) && imports(was).all(is_same) && !is_patched()
    }
}

/// Returns the text of a file of tests without the lines inside of its tests, apart from those of `kept`: what another test
/// replaces is replaced for that one.
fn without_other_tests(path: &RepoPath, text: &str, kept: &DeclaredTest) -> String {
    let depth = |line: &str| line.len() - line.trim_start().len();
    let mut outside = String::new();
    let mut at = 0;
    for ((name, body), declared) in test_texts(path, text).into_iter().zip(declared_tests(path, text)) {
        let start = place_in(text, body);
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

    /// A test that moved from one file to another, each with its text.
    fn is_same(old: (&str, &str), new: (&str, &str), name: &str) -> bool {
        let file = |(path, text): (&str, &str), is_old: bool| TestFileChange {
            path: RepoPath::from(path),
            old: is_old.then(|| text.to_owned()),
            new: (!is_old).then(|| text.to_owned()),
            ..TestFileChange::default()
        };
        let changed = ChangedTests { files: vec![file(old, true), file(new, false)], ..ChangedTests::default() };
        let (path, home) = (RepoPath::from(old.0), RepoPath::from(new.0));
        let test = declared_tests(&path, old.1).into_iter().find(|test| test.name == name).expect("a test");
        let moved = MovedTest { changed: &changed, old: &path, test: &test, new: &home, new_name: name };
        let is_moved = |_: &str, _: &str| false;
        moved.has_same_names(is_moved).unwrap_or_else(|| moved.has_same_words(is_moved))
    }

    #[test]
    fn a_moved_test_of_python_uses_the_same_names() {
        const TEST: &str = "def test_add():\n    assert add(1, 2) == 3\n";
        let import = "from calc import add\n";
        for (before, after, is) in [
            (import, "from calc import add\n\n", true),
            (import, "import os\nfrom src.calc import add, mul\n", true),
            (import, "from calc import (\n    mul,\n    add,\n)\n", true),
            (import, "from .calc import add\n", true),
            (import, "from calc import *\n", true),
            (import, "from calc import add\nimport sys\nsys.path.insert(0, 'lib/calc')\n", true),
            (import, "from calc import add\n\n\ndef test_twice():\n    add = max\n    assert add(2, 0) == 2\n", true),
            (import, "from calc import add\n\n\ndef numbers():\n    return add(1, 2)\n", true),
            (
                import,
                "from calc import add\n\n\ndef test_m(monkeypatch):\n    monkeypatch.setattr('calc.add', sum)\n",
                true,
            ),
            (import, "\"\"\"Tests of add.\"\"\"\n# add\nfrom calc import add\n\nSUMS = [add(1, 1)]\n", true),
            (import, "from calc import add\n@pytest.mark.slow\n", true),
            ("from calc import *\n", "from calc import add\n", true),
            ("import pytest\n", "import pytest\n", true),
            (import, "from src import calc\n", true),
            (import, "from fakes import calcs as calc\n", false),
            (import, "", false),
            (import, "from tests.fakes import add\n", false),
            (import, "from calc import sub as add\n", false),
            (import, "from calc import add\nfrom operator import add\n", false),
            (import, "from operator import add\nfrom calc import add\n", false),
            (import, "from calc import add\nfrom operator import *\n", false),
            (import, "try:\n    from operator import add\nexcept ImportError:\n    from calc import add\n", false),
            (import, "from calc import add\nadd = sum\n", false),
            (import, "from calc import add\ncalc = add = sum\n", false),
            (import, "from calc import add\nfor add in [sum]:\n    pass\n", false),
            (import, "from calc import add\nif True:\n    add = sum\n", false),
            (import, "from calc import add\nimport operator\nglobals()['add'] = operator.add\n", false),
            (import, "from calc import add\nglobals().update(fakes)\n", false),
            (import, "from calc import add\nimport sys\nsys.modules['calc'].add = sum\n", false),
            (import, "from calc import add\n\n\ndef add(a, b):\n    return a + b\n", false),
            (import, "from calc import add\n\n\nclass add:\n    pass\n", false),
            (import, "from calc import add\n\n\ndef setup_module():\n    global add\n    add = sum\n", false),
            (import, "from calc import add\n\n\n@pytest.fixture(autouse=True)\ndef f():\n    calc.add = sum\n", false),
            (import, "from calc import add\n\n\n@off\n", false),
            (import, "from calc import add\n\n\n@pytest.mark.usefixtures('off')\n", false),
            ("import calc\nadd = calc.add\n", "import calc\nadd = calc.sub\n", false),
        ] {
            let text = |head: &str| format!("{head}{TEST}");
            let (was, now) = (text(before), text(after));
            assert_eq!(
                is_same(("tests/test_a.py", &was), ("tests/test_b.py", &now), "test_add"),
                is,
                "{before} {after}"
            );
        }
        let was = format!("{import}{TEST}");
        for below in ["test_add = lambda: None\n", "def test_add():\n    pass\n", "add = sum\n", "del add\n"] {
            let now = format!("{was}\n\n{below}");
            assert!(!is_same(("tests/test_a.py", &was), ("tests/test_b.py", &now), "test_add"), "{below}");
        }
    }

    #[test]
    fn a_renamed_test_may_import_through_the_package() {
        let test = |module: &str, name: &str| {
            format!("from {module} import add\n\n\ndef {name}():\n    assert add(1, 2) == 3\n")
        };
        for (module, is) in [("shop.calc", true), ("shop", true), ("tests.shop.calc", false), ("fakes.calc", false)] {
            let (old, new) = (test("shop.calc", "test_add"), test(module, "test_sum"));
            let path = RepoPath::from("tests/test_a.py");
            let changed = ChangedTests::of_file(&path, &old, &new);
            let declared = declared_tests(&path, &old).into_iter().next().expect("a test");
            let moved = MovedTest { changed: &changed, old: &path, test: &declared, new: &path, new_name: "test_sum" };
            assert_eq!(moved.has_same_names(|_, _| false), Some(is), "{module}");
            assert_eq!(moved.has_exact_surroundings(), module == "shop.calc", "{module}");
        }
    }

    #[test]
    fn a_new_module_that_a_moved_test_imports_replaces_nothing() {
        let test = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n";
        for (helper, is) in [
            ("import calc\n\nNUMBERS = [1, 2]\n", true),
            ("import calc\n\ncalc.add = lambda a, b: a + b\n", false),
            ("import calc\n\nsetattr(calc, 'add', sum)\n", false),
        ] {
            let file = |path: &str, old: Option<&str>, new: Option<&str>| TestFileChange {
                path: RepoPath::from(path),
                old: old.map(str::to_owned),
                new: new.map(str::to_owned),
                ..TestFileChange::default()
            };
            let now = format!("import aaa\n{test}");
            let files = vec![
                file("tests/test_a.py", Some(test), None),
                file("tests/test_b.py", None, Some(&now)),
                file("tests/aaa.py", None, Some(helper)),
            ];
            let changed = ChangedTests { files, ..ChangedTests::default() };
            let (path, home) = (RepoPath::from("tests/test_a.py"), RepoPath::from("tests/test_b.py"));
            let test = declared_tests(&path, test).into_iter().next().expect("a test");
            let moved = MovedTest { changed: &changed, old: &path, test: &test, new: &home, new_name: "test_add" };
            assert_eq!(moved.has_same_names(|_, _| false), Some(is), "{helper}");
        }
    }

    #[test]
    fn a_moved_method_of_a_class_uses_the_same_names() {
        let with = |head: &str| {
            format!(
                "import calc\n\n\nclass TestSum:\n{head}    def test_add(self):\n        assert self.run(calc.add(1, 2)) == 3\n"
            )
        };
        let run = "    def run(self, value):\n        return value\n\n";
        for (now, is) in [
            (with(run), true),
            (with(&format!("    ROUNDS = 2\n\n{run}")), true),
            (with(&run.replace("return value", "return 3")), false),
            (with(&format!("{run}    @off\n")), false),
            (with(run).replace("class TestSum", "@off\nclass TestSum"), false),
            (with(run).replace("import calc", "import fakes as calc"), false),
        ] {
            assert_eq!(is_same(("tests/test_a.py", &with(run)), ("tests/test_b.py", &now), "test_add"), is, "{now}");
        }
    }

    #[test]
    fn a_moved_test_of_javascript_uses_the_same_names() {
        let with = |head: &str| format!("{head}\ntest('adds', () => {{\n  expect(add(1, 2)).toBe(3);\n}});\n");
        let required = "const { add } = require('../src/calc.js');";
        for (after, is) in [
            (required, true),
            ("import { add } from '../../src/calc.mjs';", true),
            ("const { mul, add } = require(\"./calc\");", true),
            ("import { expect, test } from 'vitest';\nimport { add } from './calc';", true),
            ("const { add } = require('./stub.js');", false),
            ("const add = (a, b) => a + b;", false),
            ("let { add } = require('./calc');\nadd = (a, b) => a + b;", false),
            ("const { add } = require('./calc');\nconst expect = () => ({ toBe() {} });", false),
            ("const calc = require('./calc');\ncalc.add = sum;\nconst { add } = calc;", false),
        ] {
            let (was, now) = (with(required), with(after));
            assert_eq!(is_same(("test/a.test.js", &was), ("test/b.test.js", &now), "adds"), is, "{after}");
        }
        let grouped = format!(
            "{required}\ndescribe('add', () => {{\n  test('adds', () => {{\n    expect(add(1, 2)).toBe(3);\n  }});\n}});\n"
        );
        assert!(is_same(("test/a.test.js", &with(required)), ("test/b.test.js", &grouped), "adds"));
    }

    #[test]
    fn a_moved_test_of_other_languages_uses_the_same_names() {
        let rust = |head: &str| format!("{head}\n#[test]\nfn adds() {{\n    assert_eq!(add(1, 2), 3);\n}}\n");
        for (before, after, is) in [
            ("use calc::add;", "use calc::{add, sub};", true),
            ("use calc::sums::add;", "use crate::sums::add;", true),
            ("use calc::add;", "use calc::*;", true),
            ("use calc::add;", "use calc_copy::add;", false),
            ("use calc::add;", "fn add(a: u8, b: u8) -> u8 { a + b }", false),
            ("use calc::add;", "use calc::sub as add;", false),
        ] {
            let (was, now) = (rust(before), rust(after));
            assert_eq!(is_same(("tests/a.rs", &was), ("tests/b.rs", &now), "adds"), is, "{before} {after}");
        }
        let ruby = |head: &str| {
            format!("{head}\nclass T < Minitest::Test\n  def test_add\n    assert_equal 3, add(1, 2)\n  end\nend\n")
        };
        for (after, is) in [
            ("require_relative '../lib/calc'", true),
            ("require_relative '../../lib/calc'\ndef twice(a) = a * 2", true),
            ("require_relative '../lib/fake'", false),
            ("require_relative '../lib/calc'\ndef add(a, b)\n  a + b\nend", false),
        ] {
            let (was, now) = (ruby("require_relative '../lib/calc'"), ruby(after));
            assert_eq!(is_same(("test/a_test.rb", &was), ("test/b_test.rb", &now), "test_add"), is, "{after}");
        }
    }
}
