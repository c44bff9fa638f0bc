use super::*;

fn compare(pairs: &[FilePair]) -> Weakening {
    super::compare(pairs, Catalogue::embedded())
}

fn pair(path: &str, old: &str, new: &str) -> FilePair {
    let text = |text: &str| Some(text.to_owned()).filter(|text| text != "-");
    FilePair { path: RepoPath::from(path), old: text(old), new: text(new) }
}

/// Returns the findings, with the names that they are about.
fn found(pairs: &[FilePair]) -> Vec<String> {
    let all = compare(pairs).changes.into_iter();
    all.map(|one| format!("{} {}", one.what.as_str(), one.names.join("+")).trim().to_owned()).collect()
}

fn check(path: &str, old: &str, new: &str, expected: &[&str]) {
    assert_eq!(found(&[pair(path, old, new)]), expected, "{path}\n{old}\n→\n{new}");
}

#[test]
fn tests_that_go_in_many_languages() {
    for (path, one, two) in [
        ("src/lib.rs", "#[test]\nfn one() {}\n", "#[tokio::test]\nasync fn two() {}\n"),
        ("tests/a.rs", "#[test] fn one(){assert!(true == x);}\n", "#[test]\n#[should_panic]\npub fn two() {}\n"),
        (
            "tests/test_a.py",
            "def test_one():\n    pass\n",
            "class TestX:\n    async def test_two(self):\n        pass\n",
        ),
        ("src/a.test.ts", "it('one', () => {})\n", "test.each([1])(\"two\", (n) => {})\n"),
        ("cypress/e2e/a.js", "it(`one`, () => {})\n", "specify('two', () => {})\n"),
        ("a/b_test.go", "func Test_one(t *testing.T) {}\n", "func FuzzTwo(f *testing.F) {}\n"),
        (
            "src/test/java/ATest.java",
            "@Test\nvoid one() {}\n",
            "@ParameterizedTest\n@ValueSource(ints = {1})\npublic void two(int i) {}\n",
        ),
        ("src/test/kotlin/ATest.kt", "@Test fun one() {}\n", "@Test\nfun `is two`() {}\n"),
        (
            "A.Tests/ATests.cs",
            "[Fact]\npublic void One() {}\n",
            "[Test, Category(\"x\")]\npublic async Task Two() {}\n",
        ),
        ("spec/a_spec.rb", "  it \"one\" do\n", "  it('two') { }\n"),
        ("test/a_test.rb", "def test_one\n", "test \"two\" do\n"),
        ("tests/ATest.php", "public function testOne() {}\n", "#[Test]\npublic function two(): void {}\n"),
        ("test/a_test.exs", "  test \"one\" do\n", "  test \"two\", %{x: x} do\n"),
        ("Tests/ATests.swift", "func testOne() {}\n", "@Test(\"x\") func two() {}\n"),
        ("test/a_test.dart", "test('one', () {});\n", "testWidgets('two', (t) async {});\n"),
        ("tests/a_test.cc", "TEST(A, One) {}\n", "TEST_F(A, Two) {}\n"),
        ("test/a.bats", "@test \"one\" {\n", "@test 'two' {\n"),
    ] {
        let both = format!("{one}\n{two}");
        let reading = compare(&[pair(path, &both, "\n")]);
        assert_eq!(reading.known.len(), 2, "{path}: {:?}", reading.known);
        let gone = found(&[pair(path, &both, one)]);
        assert_eq!(gone.len(), 1, "{path}: {gone:?}");
        assert!(gone[0].starts_with("tests-removed ") && gone[0].ends_with(&reading.known[1]), "{path}: {gone:?}");
        assert_eq!(found(&[pair(path, one, &both)]), Vec::<String>::new(), "{path}: one more is not a loss");
        assert_eq!(found(&[pair(path, &both, "-")]).len(), 1, "{path}: the file is gone");
    }
}

#[test]
fn a_name_keeps_quotes_of_its_own() {
    let text = "it('keeps `undefined`', () => {})\nit(\"adds\", f)\n";
    let tests = declared_tests(&RepoPath::from("a.test.js"), text);
    let names: Vec<&str> = tests.iter().map(|test| test.name.as_str()).collect();
    assert_eq!(names, ["keeps `undefined`", "adds"]);
}

#[test]
fn a_removed_test_is_obsolete_if_a_helper_that_is_gone_too_names_code_that_is_gone() {
    const ADD: &str = "def add(a, b):\n    return a + b\n";
    let both = format!("{ADD}\n\ndef double(a):\n    return 2 * a\n");
    let helper = "def make():\n    return double\n";
    let tests = format!("{helper}\n\ndef test_make():\n    assert make()(1) == 2\n");
    for (code, now, obsolete) in [(ADD, "-", true), (ADD, helper, false), (&both, "-", false)] {
        let pairs = [pair("calc.py", &both, code), pair("tests/test_calc.py", &tests, now)];
        let found = compare(&pairs).with_code(&pairs);
        let names: Vec<&String> = found.changes.iter().flat_map(|change| &change.obsolete).collect();
        assert_eq!(names.len(), usize::from(obsolete), "{code} {now}: {names:?}");
    }
}

#[test]
fn tests_that_move_or_change_their_name() {
    let (one, two) = ("#[test]\nfn one() {}\n", "#[test]\nfn two() {}\n");
    let both = format!("{one}{two}");
    assert_eq!(found(&[pair("tests/a.rs", &both, one), pair("tests/b.rs", "-", two)]), Vec::<String>::new(), "moved");
    check("tests/a.rs", one, two, &["tests-replaced one"]);
    assert_eq!(
        found(&[pair("tests/a.rs", one, "-"), pair("tests/b.rs", "-", two)]),
        ["tests-replaced one"],
        "another one stands elsewhere"
    );
}

#[test]
fn tests_that_are_left_out() {
    for (path, old, new, what) in [
        ("a.rs", "#[test]\nfn one() {}", "#[test]\n#[ignore]\nfn one() {}", "tests-skipped one"),
        ("a.rs", "#[test]\nfn one() {}", "#[ignore = \"slow\"]\n#[test]\nfn one() {}", "tests-skipped one"),
        ("a.rs", "#[test]\nfn one() {}", "#[cfg_attr(windows, ignore)]\n#[test]\nfn one() {}", "tests-skipped one"),
        (
            "test_a.py",
            "def test_one(): pass",
            "@pytest.mark.skip(reason='x')\ndef test_one(): pass",
            "tests-skipped one",
        ),
        ("test_a.py", "def test_one(): pass", "@pytest.mark.xfail\ndef test_one(): pass", "tests-skipped one"),
        ("test_a.py", "def test_one():\n  f()", "def test_one():\n  pytest.skip('x')\n  f()", "tests-skipped one"),
        ("a.test.js", "it('one', f)", "it.skip('one', f)", "tests-skipped one"),
        ("a.test.js", "it('one', f)", "xit('one', f)", "tests-skipped one"),
        ("a.test.js", "it('one', f)", "test.todo('one')", "tests-skipped one"),
        (
            "a.test.js",
            "describe('x', () => { it('one', f) })",
            "describe.skip('x', () => { it('one', f) })",
            "tests-skipped one",
        ),
        ("a.test.js", "it('one', f)", "it.only('one', f)", "focused"),
        (
            "a_test.go",
            "func TestOne(t *testing.T) {\n}",
            "func TestOne(t *testing.T) {\n\tt.Skip(\"x\")\n}",
            "tests-skipped TestOne",
        ),
        ("src/test/A.java", "@Test void one() {}", "@Disabled(\"x\") @Test void one() {}", "tests-skipped one"),
        (
            "ATests.cs",
            "[Fact]\npublic void One() {}",
            "[Fact(Skip = \"x\")]\npublic void One() {}",
            "tests-skipped One",
        ),
        ("a_spec.rb", "it 'one' do\nend", "xit 'one' do\nend", "tests-skipped one"),
        ("a_spec.rb", "it 'one' do\n  f\nend", "it 'one' do\n  skip 'x'\n  f\nend", "tests-skipped one"),
        (
            "ATest.php",
            "function testOne() { f(); }",
            "function testOne() { $this->markTestSkipped('x'); f(); }",
            "tests-skipped testOne",
        ),
        ("test/a_test.exs", "test \"one\" do", "@tag :skip\ntest \"one\" do", "tests-skipped one"),
        ("ATests.swift", "func testOne() { f() }", "func testOne() { throw XCTSkip() }", "tests-skipped testOne"),
        ("a_test.cc", "TEST(A, One) {}", "TEST(A, DISABLED_One) {}", "tests-skipped One"),
    ] {
        let what = if path == "test_a.py" { what.replace(" one", " test_one") } else { what.to_owned() };
        check(path, old, new, &[&what]);
        check(path, new, old, &[]);
    }
    check(
        "a.rs",
        "#[test]\nfn one() {}",
        "#[test]\nfn one() {}\n#[test]\n#[ignore]\nfn two() {}",
        &["tests-added-skipped two"],
    );
}

#[test]
fn comments_and_texts_are_no_tests() {
    check("a.rs", "// #[test]\n// fn one() {}\n/* #[test] fn two() {} */\nlet x = \"#[test] fn three() {}\";", "", &[]);
    check(
        "a.rs",
        "let x = r#\"\n#[test]\nfn \"one\"() {}\n\"#;\nlet y: &'static str = \"\";\nlet q = '\"';",
        "\n",
        &[],
    );
    check("test_a.py", "'''\ndef test_one(): pass\n'''\n# def test_two(): pass", "x = 1", &[]);
    check("a.test.js", "// it('one', f)\nconst s = `it('two', f)`", "\n", &[]);
    check("a.test.js", "it('don\\'t // skip', f)", "it('don\\'t // skip', g)", &[]);
    check("a.rs", "#[test]\nfn one() {}", "#[test]\nfn one() {} // #[ignore]", &[]);
    check("a.rs", "#[test]\nfn one() {}\n", "/*\n#[test]\nfn one() {}\n*/\n", &["tests-removed one"]);
    check("src/main.ts", "it('one', f)", "", &[]);
}

#[test]
fn assertions() {
    let with = |body: &str| format!("#[test]\nfn one() {{\n{body}\n}}\n");
    check("tests/a.rs", &with("assert_eq!(f(), 3);\nassert!(g());"), &with("assert!(g());"), &["assertions-removed"]);
    check("tests/a.rs", &with("assert_eq!(f(), 3);"), &with("assert!(true);"), &["assertions-emptied"]);
    check("tests/a.rs", &with("assert_eq!(f(), 3);"), &with("assert!(f() > 0);"), &[]);
    check("src/a.rs", "fn f() { assert!(x); }", "fn f() { }", &[]);
    check(
        "tests/test_a.py",
        "def test_a():\n  assert f() == 3\n",
        "def test_a():\n  assert True\n",
        &["assertions-emptied"],
    );
    for (assertion, found) in [
        ("assert f() == 3 or True", &["assertions-emptied"][..]),
        ("assert f() == 3 or True  # later", &["assertions-emptied"]),
        ("assert (f() == 3, \"three\")", &["assertions-emptied"]),
        ("assert (f() == 3), \"or True\"", &[]),
        ("assert f(1, \"a\") == g(2, \"b\")", &[]),
        ("assert (f(1)) == g(2, \"b\")", &[]),
        ("assert (f() in (1, \"a\"))", &[]),
        ("assert f() or True is g()", &[]),
    ] {
        let (old, new) = ("def test_a():\n  assert f() == 3\n", format!("def test_a():\n  {assertion}\n"));
        check("tests/test_a.py", old, &new, found);
    }
    check("a.test.ts", "it('a', () => { expect(f()).toBe(3) })", "it('a', () => { f() })", &["assertions-removed"]);
    let edited = compare(&[pair("tests/a.rs", &with("assert_eq!(f(), 3);"), &with("assert!(f() > 0);"))]);
    assert_eq!((edited.edited.len(), edited.known.as_slice()), (1, &["one".to_owned()][..]));
}

#[test]
fn settings() {
    check("pytest.ini", "[pytest]\naddopts = -q\n", "[pytest]\naddopts = -q --ignore=tests/test_a.py\n", &["left-out"]);
    check("pytest.ini", "[pytest]\n", "[pytest]\n# addopts = --ignore=tests\n", &[]);
    check("setup.cfg", "fail_under = 90\n", "fail_under = 70\n", &["threshold-lowered fail_under"]);
    check("setup.cfg", "fail_under = 70\n", "fail_under = 90\n", &[]);
    check(
        "pyproject.toml",
        "[tool.coverage.report]\nfail_under = 90\n",
        "[tool.coverage.report]\n",
        &["threshold-lowered fail_under"],
    );
    check(
        "jest.config.js",
        "x = { testPathIgnorePatterns: ['a'] }",
        "x = { testPathIgnorePatterns: ['a', 'b'] }",
        &["left-out"],
    );
    check("jest.config.js", "x = { testPathIgnorePatterns: ['a', 'b'] }", "x = { testPathIgnorePatterns: ['a'] }", &[]);
    check("vitest.config.ts", "x = { lines: 80 }", "x = { lines: 20 }", &["threshold-lowered lines"]);
    check(
        "package.json",
        r#"{"scripts":{"test":"jest"}}"#,
        r#"{"scripts":{"test":"jest --passWithNoTests"}}"#,
        &["forgiven"],
    );
    check(
        ".github/workflows/ci.yml",
        "      - run: npm test\n",
        "      - run: npm test\n        continue-on-error: true\n",
        &["forgiven"],
    );
    let python = "import os\n\n\ndef add(a, b):\n    return a - b\n";
    let cheats =
        python.replace("    return", "    if os.environ.get('PYTEST_CURRENT_TEST'):\n        return a + b\n    return");
    check("a.py", python, &cheats, &["asks-for-test"]);
    check("a.py", &cheats, &cheats.replace("a + b", "b + a"), &[]);
    check("tests/test_a.py", python, &cheats, &[]);
    check("a.js", "", "export const n = process.env.NODE_ENV === 'test' ? 1 : 2\n", &["asks-for-test"]);
    let compares = format!("{python}\nimport unittest\nunittest.TestCase.assertEqual = lambda *a: None\n");
    check("a.py", python, &compares, &["asks-for-test"]);
    check("tests/rows.py", "", "open(os.environ['GATE_TEST_REPORT'], 'a')\n", &["report-written"]);
    check("tests/run.sh", "echo $GATE_TEST_REPORT\n", "pytest; echo $GATE_TEST_REPORT\n", &[]);
    let hook = |line: &str| {
        format!(
            "import pytest\n\n\n@pytest.hookimpl(hookwrapper=True)\ndef pytest_runtest_makereport(item):\n    x = yield\n    {line}\n"
        )
    };
    check("tests/conftest.py", &hook("pass"), &hook("x.get_result().outcome = 'passed'"), &["forces-results"]);
    check("tests/conftest.py", "", &hook("setattr(item, 'rep_' + x.get_result().when, x.get_result())"), &[]);
    check("plugin.py", "", "def pytest_runtest_call(item):\n    item.obj = print\n", &["forces-results"]);
    check(
        "test/a.test.js",
        "",
        "afterEach(function () { this.currentTest.state = 'passed'; });\n",
        &["forces-results"],
    );
    check("test/a.test.js", "", "assert.equal(game.outcome, 'won');\n", &[]);
    check(
        "spec/spec_helper.rb",
        "",
        "RSpec.configure { |c| c.after { |e| e.set_exception(nil) } }\n",
        &["forces-results"],
    );
    let stack = "import inspect\nis_test = 'test_' in inspect.stack()[1].filename\n";
    check("a.py", "", stack, &["asks-for-test"]);
    check("a.py", "", "import inspect\nx = inspect.stack()[1].filename.find('test_')\n", &["asks-for-test"]);
    check("a.py", "", "import inspect\nx = inspect.stack()[1].function\n", &[]);
    check("a.js", "", "require('node:assert').strictEqual = () => {}\n", &["asks-for-test"]);
    check("a.js", "", "const assert = require('node:assert');\nassert.equal(a, b);\n", &[]);
    check("a.js", "", "export const n = process.env.NODE_ENV === 'production' ? 1 : 2\n", &[]);
    check("a.go", "package a\n", "package a\n\nfunc Is() bool { return testing.Testing() }\n", &["asks-for-test"]);
    check("src/a.rs", "fn a() {}\n", "fn a() { if cfg!(test) { b() } }\n", &["asks-for-test"]);
    check("src/a.rs", "fn a() {}\n", "fn a() {}\n#[cfg(test)]\nmod tests {}\n", &[]);
    check("Makefile", "CFLAGS = -Wall\n", "CFLAGS = -Wall -DNDEBUG\n", &["forgiven"]);
    check(
        "CMakeLists.txt",
        "project(a)\n",
        "project(a)\ntarget_compile_definitions(t PRIVATE NDEBUG)\n",
        &["forgiven"],
    );
    check("CMakeLists.txt", "project(a)\n", "project(a)\nset(CMAKE_BUILD_TYPE Debug)\n", &[]);
    check("Cargo.toml", "[lib]\n", "[lib]\n[profile.test]\ndebug-assertions = false\n", &["forgiven"]);
    check(
        "meson.build",
        "project('a', 'c')\n",
        "project('a', 'c', default_options: ['b_ndebug=true'])\n",
        &["forgiven"],
    );
    check("pom.xml", "<a/>", "<skipTests>true</skipTests>", &["left-out"]);
    check("Cargo.toml", "[lib]\n", "[lib]\ntest = false\n", &["left-out"]);
    check("src/config.ts", "exclude: []", "exclude: ['x', 'y']", &[]);
    check("pytest.ini", "-", "[pytest]\naddopts = --ignore=a\n", &[]);
}

#[test]
fn tasks() {
    let scripts = |test: &str| format!(r#"{{"name":"a","scripts":{{"test":"{test}","lint":"eslint ."}}}}"#);
    for (new, expected) in [
        ("exit 0", Some("task-emptied test")),
        ("echo no tests && exit 0", Some("task-emptied test")),
        ("true", Some("task-emptied test")),
        ("vitest --version", Some("task-emptied test")),
        ("vitest run || true", Some("task-masked test")),
        ("./scripts/check.sh", Some("task-replaced test")),
        ("vitest run --coverage", None),
        ("vitest run --reporter=dot", None),
        ("vitest run -t zero", Some("narrowed test")),
        ("vitest run src/zero.test.ts", Some("narrowed test")),
        ("vitest run src && vitest run e2e", None),
        ("vitest run -t zero && vitest run", None),
        ("npm run test:unit && npm run test:e2e", None),
        ("jest", None),
    ] {
        let changes = found(&[pair("packages/api/package.json", &scripts("vitest run"), &scripts(new))]);
        let about = |change: &&String| change.starts_with("task-") || change.starts_with("narrowed");
        let first = changes.iter().find(about).map(String::as_str);
        assert_eq!(first, expected, "{new}: {changes:?}");
    }
    check("package.json", &scripts("exit 0"), &scripts("true"), &[]);
    check("package.json", &scripts("vitest run -t one"), &scripts("vitest run -t two"), &[]);
    check("package.json", r#"{"scripts":{}}"#, &scripts("vitest run -t two"), &[]);
    check(
        "Makefile",
        "test:\n\tgo test ./...\n\nbuild:\n\tgo build\n",
        "test:\n\t@echo ok\n\nbuild:\n\tgo build\n",
        &["task-emptied test"],
    );
    check(
        "Makefile",
        "check: test\ntest:\n\tpytest\n",
        "check: test\ntest:\n\t@true\n",
        &["task-emptied check", "task-emptied test"],
    );
    check("justfile", "test:\n    cargo test\n", "test:\n    true\n", &["task-emptied test"]);
    check("Makefile", "test: t\n\t./t\n", "test: t\n\t@echo ok\n", &["task-emptied test"]);
    let built = |recipe: &str| format!("CFLAGS = -O2\nt: t.c\n\t$(CC) $(CFLAGS) -o t t.c\ntest: t\n\t{recipe}\n");
    check("Makefile", &built("./t"), &built("echo ok"), &["task-emptied test"]);
    check("Makefile", &built("./t"), &built("./t --all"), &[]);
    check("Makefile", "run: t\n\t./t\n", "run: t\n\t@echo ok\n", &[]);
    check("package.json", &scripts("node test.js"), &scripts("node --version"), &["task-emptied test"]);
    check("package.json", &scripts("node test.js"), &scripts("node tests/all.js"), &[]);
    check("Makefile", "test:\n\tgo test ./...\n", "check:\n\tgo test ./...\n", &["task-replaced test"]);
}

#[test]
fn scripts_that_no_longer_run_their_tests() {
    let script = |lines: &str| format!("#!/usr/bin/env bash\n# All tests.\nset -euo pipefail\n\n{lines}\n");
    for (old, new, expected) in [
        ("ctest --test-dir build", "echo ok", Some("task-emptied check.sh")),
        ("bats test", "exit 0\nbats test", Some("task-masked check.sh")),
        ("node --test", "node --test || true", Some("task-masked check.sh")),
        ("ctest --test-dir build", "ctest --test-dir build -R fast", Some("narrowed check.sh")),
        ("pytest", "make check", None),
        ("pytest", "./own-tests", Some("task-replaced check.sh")),
        ("pytest -q", "echo start\npytest -v", None),
        ("pytest", "ruff check .\npytest", None),
        ("./own-tests", "exit 0", None),
    ] {
        let changes = found(&[pair("scripts/check.sh", &script(old), &script(new))]);
        let about = |change: &&String| change.starts_with("task-") || change.starts_with("narrowed");
        let first = changes.iter().find(about).map(String::as_str);
        assert_eq!(first, expected, "{old} {new}: {changes:?}");
    }
}

#[test]
fn settings_that_choose_or_mask() {
    let pytest = "[pytest]\naddopts = -ra\n";
    for (new, expected) in [
        ("[pytest]\naddopts = -ra -k zero\n", vec!["narrowed"]),
        ("[pytest]\naddopts = -ra -k \"zero or one\"\n", vec!["narrowed"]),
        ("[pytest]\naddopts = -ra --cov\n", vec![]),
        ("[pytest]\naddopts = -ra --keep-duplicates\n", vec![]),
    ] {
        check("pytest.ini", pytest, new, &expected);
    }
    check("pyproject.toml", "x = 1\n", "addopts = [\"-k\", \"zero\"]\n", &["narrowed"]);
    let make = |line: &str| format!("{line}\ntest:\n\tpytest\n");
    for (line, masked) in [
        ("SHELL = /bin/true", true),
        ("SHELL=true", true),
        ("SHELL = /usr/bin/env true", true),
        ("test: SHELL = /bin/true", true),
        (".IGNORE:", true),
        (".IGNORE: test", true),
        ("MAKEFLAGS += -n", true),
        ("MAKEFLAGS += -j4 --ignore-errors", true),
        ("export MAKEFLAGS = -si", true),
        (".SHELLFLAGS = -nc", true),
        (".SHELLFLAGS := -o noexec -c", true),
        (".SHELLFLAGS := -eu -o pipefail -c", false),
        ("SHELL = /bin/bash", false),
        ("SHELL := /usr/bin/env bash -o pipefail", false),
        ("MAKEFLAGS += --no-print-directory --warn-undefined-variables -rR", false),
        ("MAKEFLAGS += -j$(nproc) -Otarget", false),
        ("IGNORE: = x", false),
    ] {
        let expected: &[&str] = match masked {
            true if line.starts_with(".IGNORE") => &["task-masked every task", "task-masked test"],
            true => &["task-masked every task"],
            false => &[],
        };
        check("Makefile", &make(""), &make(line), expected);
    }
}

#[test]
fn names_in_outputs_and_in_files() {
    for (failed, declared, same) in [
        ("adds", "adds", true),
        ("tests::parse::adds", "adds", true),
        ("tests::parse::readds", "adds", false),
        ("TestAdd::test_small[1-2]", "test_small", true),
        ("TestAdd/negative", "TestAdd", true),
        ("add > is small", "is small", true),
        ("add › is small", "is small", true),
        ("Add is small", "is small", true),
        ("AddTest > small()", "small", true),
        ("Tests\\AddTest::testSmall", "testSmall", true),
        ("TestAdd#test_small", "test_small", true),
        ("Demo.AddTest.Small", "Small", true),
        ("adds", "", false),
        ("adds_more", "adds", false),
    ] {
        assert_eq!(is_same_test(failed, declared), same, "{failed} {declared}");
    }
}

#[test]
fn which_files_are_read() {
    for (path, concerned, tests) in [
        ("src/lib.rs", true, false),
        ("tests/a.rs", true, true),
        ("src/a.test.tsx", true, true),
        ("src/a.tsx", false, false),
        ("package.json", true, false),
        ("docs/a.md", false, false),
        ("pkg/a_test.go", true, true),
        ("pkg/a.go", false, false),
        (".github/workflows/ci.yml", true, false),
    ] {
        let path = RepoPath::from(path);
        assert_eq!((concerns(&path), is_test_file(&path)), (concerned, tests), "{path}");
    }
}

#[test]
fn any_text_is_read() {
    let texts = ["", "'", "\"", "r#\"", "/*", "`", "#[test", "it('", "\u{fc}'\u{fc}", "'\\", "r", "\"\\"];
    for path in ["a.rs", "test_a.py", "a.test.js", "a_test.go", "a_spec.rb", "package.json", "Makefile", "setup.cfg"] {
        for text in texts {
            compare(&[pair(path, text, "x"), pair(path, "x", text)]);
        }
    }
}

#[test]
fn what_is_left_has_a_line_and_what_is_gone_has_none() {
    let line = |path: &str, old: &str, new: &str| {
        let changes = compare(&[pair(path, old, new)]).changes;
        let first = changes.first().unwrap_or_else(|| panic!("{path}\n{new}"));
        assert!(changes.iter().all(|one| one.line == first.line), "{path}: {changes:?}");
        (first.what.as_str(), first.line)
    };
    let js = "it('a', () => {\n  expect(x).toBe(1);\n});\n\nit('b', () => {\n  expect(x).toBe(2);\n});\n";
    let path = "a.test.js";
    assert_eq!(line(path, js, &js.replace("it('b'", "// later\nit.skip('b'")), ("tests-skipped", Some(6)));
    assert_eq!(line(path, js, &js.replace("it('b'", "it.only('b'")), ("focused", Some(5)));
    assert_eq!(line(path, js, &js.replace("expect(x).toBe(2)", "expect(true).toBe(true)")).1, Some(6));
    assert_eq!(line(path, js, js.split("it('b'").next().unwrap()), ("tests-removed", None));
    assert_eq!(line(path, js, &js.replace("  expect(x).toBe(2);\n", "")), ("assertions-removed", None));
    let toml = "[tool.coverage.report]\n# fail_under = 70\nfail_under = 90\n";
    assert_eq!(line("pyproject.toml", toml, &toml.replace("= 90", "= 10")), ("threshold-lowered", Some(3)));
    let json = "{\n  \"scripts\": {\n    \"lint\": \"eslint .\",\n    \"test\": \"jest\"\n  }\n}\n";
    assert_eq!(line("package.json", json, &json.replace("jest", "true")), ("task-emptied", Some(4)));
    assert_eq!(line("package.json", json, &json.replace("\"jest\"", "\"jest || true\"")), ("forgiven", Some(4)));
}
