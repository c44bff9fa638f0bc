//! Lines that run the tests of a declared command in other words, because of what the project is.

use super::tests::{Files, check, ended_with, proof_with};
use crate::command_line::{LineRecord, judge};
use crate::runner::Project;
use crate::shell_kind::Shell;

const PY_OK: &str =
    "....\n----------------------------------------------------------------------\nRan 4 tests in 0.001s\n\nOK\n";
const PYTEST_OK: &str = "1 passed in 0.1s\n";

#[test]
fn discovery_of_unittest_in_the_folder_that_has_all_tests() {
    const PACKAGE: Files =
        &[("tests/__init__.py", ""), ("tests/test_a.py", "import os\n"), ("src/lib/__init__.py", "import os\n")];
    const FLAT: Files = &[
        ("tests/test_a.py", "import os\nfrom lib import f\n"),
        ("lib/__init__.py", "from .a import f\n"),
        ("lib/sub/__init__.py", "# Nothing.\n"),
        ("setup.py", ""),
    ];
    const INNER: Files = &[("lib/__init__.py", ""), ("lib/tests/test_a.py", "")];
    const ROOT: Files = &[("tests/test_a.py", ""), ("test_b.py", "")];
    const OTHER: Files = &[("tests/test_a.py", ""), ("lib/__init__.py", ""), ("lib/test_b.py", "")];
    const UNLOADED: Files = &[("tests/test_a.py", "import library\n"), ("lib/__init__.py", "import os\n")];
    const HOOK: Files = &[("tests/test_a.py", ""), ("tests/__init__.py", "def load_tests(): pass\n")];
    const CASES: Files =
        &[("tests/test_a.py", "import lib\n"), ("lib/__init__.py", "class A(unittest.TestCase): pass\n")];
    check(
        &[
            (PACKAGE, "python -m unittest", "python3 -m unittest", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -v", PY_OK),
            (PACKAGE, "python -m unittest discover", "python -m unittest -v", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (
                PACKAGE,
                "python -m unittest discover",
                "python3 -m unittest discover --start-directory=./tests/ -b",
                PY_OK,
            ),
            (PACKAGE, "python -m unittest", "python3 -m unittest discover -s tests -t .", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover tests", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s .", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests -p 'test*.py'", PY_OK),
            (FLAT, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (FLAT, "python -m unittest discover tests", "python -m unittest discover -s tests", PY_OK),
            (FLAT, "python -m unittest discover -s tests", "python3 -m unittest discover -v -s tests/", PY_OK),
            (INNER, "python -m unittest", "python3 -m unittest discover -v -s lib/tests", PY_OK),
        ],
        true,
    );
    check(
        &[
            (ROOT, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (OTHER, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (UNLOADED, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (HOOK, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (CASES, "python -m unittest", "python -m unittest discover -s tests", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests -k one", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests -p 'test_a*.py'", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests -t src", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests/unit", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s ../tests", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest tests", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest tests.test_a.T", PY_OK),
            (PACKAGE, "python -m unittest", "python -m unittest discover -s tests || true", ""),
            // Without a start folder it looks into packages alone.
            (FLAT, "python -m unittest discover -s tests", "python -m unittest", PY_OK),
            (FLAT, "python -m unittest discover tests", "python -m unittest tests", PY_OK),
            (FLAT, "python -m unittest discover -s tests -t .", "python -m unittest discover -s tests", PY_OK),
        ],
        false,
    );
}

#[test]
fn folders_that_the_settings_of_pytest_name() {
    const TESTS: (&str, &str) = ("tests/test_a.py", "");
    const INI: Files = &[("pytest.ini", "[pytest]\ntestpaths = tests\n"), TESTS];
    const LINES: Files = &[("pytest.ini", "[pytest]\ntestpaths =\n    tests\n    more/unit\naddopts = -ra\n"), TESTS];
    const CFG: Files = &[("setup.cfg", "[metadata]\nname = a\n\n[tool:pytest]\ntestpaths = tests\n"), TESTS];
    const TOX: Files = &[
        ("tox.ini", "[tox]\nenvlist = py\n\n[pytest]\ntestpaths = tests\n"),
        ("pyproject.toml", "[build-system]\n"),
        ("setup.cfg", "[flake8]\n"),
        TESTS,
    ];
    const TOML: Files =
        &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"), ("tox.ini", "[tox]\n"), TESTS];
    const TEXT: Files = &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = 'tests more'\n"), TESTS];
    const BOTH: Files = &[("pytest.ini", "[pytest]\ntestpaths = tests\n"), (".pytest.ini", ""), TESTS];
    const OTHER: Files =
        &[("tox.ini", "[pytest]\ntestpaths = tests\n"), ("pyproject.toml", "[tool.pytest.ini_options]\n"), TESTS];
    const OVER: Files = &[("setup.cfg", "[tool:pytest]\ntestpaths = tests\n"), ("tox.ini", "[pytest]\n"), TESTS];
    const SECTION: Files = &[("setup.cfg", "[pytest]\ntestpaths = tests\n"), ("test_b.py", ""), TESTS];
    const ABOVE: Files = &[("pytest.ini", "[pytest]\ntestpaths = more/unit\n"), ("more/tox.ini", "[pytest]\n")];
    const COMMENT: Files = &[("pytest.ini", "[pytest]\ntestpaths = tests # more\n"), TESTS];
    check(
        &[
            (INI, "pytest", "pytest tests", PYTEST_OK),
            (INI, "pytest", "pytest tests/", PYTEST_OK),
            (INI, "pytest", "python -m pytest ./tests -q", PYTEST_OK),
            (INI, "pytest tests", "pytest", PYTEST_OK),
            (LINES, "pytest", "pytest tests more/unit/", PYTEST_OK),
            (CFG, "pytest", "pytest tests", PYTEST_OK),
            (TOX, "pytest", "pytest tests", PYTEST_OK),
            (TOML, "pytest", "pytest ./tests/", PYTEST_OK),
            (TEXT, "pytest", "pytest tests more", PYTEST_OK),
        ],
        true,
    );
    check(
        &[
            (LINES, "pytest", "pytest tests", PYTEST_OK),
            (INI, "pytest", "pytest tests/unit", PYTEST_OK),
            (INI, "pytest", "pytest tests -k login", PYTEST_OK),
            (INI, "pytest", "pytest tests --deselect tests/test_a.py::test_b", PYTEST_OK),
            (INI, "pytest", "pytest tests | tail -5", ""),
            (BOTH, "pytest", "pytest tests", PYTEST_OK),
            (OTHER, "pytest", "pytest tests", PYTEST_OK),
            (OVER, "pytest", "pytest tests", PYTEST_OK),
            (SECTION, "pytest", "pytest tests", PYTEST_OK),
            (ABOVE, "pytest", "pytest more/unit", PYTEST_OK),
            (COMMENT, "pytest", "pytest tests", PYTEST_OK),
        ],
        false,
    );
}

#[test]
fn configuring_building_and_testing_with_cmake() {
    const OK: &str = "100% tests passed, 0 tests failed out of 3\n";
    const BUILD: &str = "cmake -S . -B build && cmake --build build";
    const TEST: &str =
        "cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure --no-tests=error";
    const LISTS: Files = &[("CMakeLists.txt", "enable_testing()\n")];
    check(
        &[
            (LISTS, TEST, "cmake -B build && cmake --build build && ctest --test-dir build", OK),
            (LISTS, TEST, "cmake -B build . && cmake --build build && ctest --test-dir build", OK),
            (LISTS, TEST, "cmake -B build -S . -G Ninja && cmake --build build -j4 && ctest --test-dir build -j4", OK),
            (
                LISTS,
                TEST,
                "cmake -S. -B build/ -G 'Unix Makefiles' && cmake --build build -- -j4 && cd build && ctest",
                OK,
            ),
            (
                LISTS,
                TEST,
                "cmake -B build -Wno-dev && cmake --build build && (cd build && ctest --output-on-failure)",
                OK,
            ),
            (
                LISTS,
                TEST,
                "cmake -B build -DCMAKE_EXPORT_COMPILE_COMMANDS=ON && cmake --build build && ctest --test-dir build",
                OK,
            ),
            (
                LISTS,
                TEST,
                "cmake -B build -D CMAKE_CXX_COMPILER_LAUNCHER=ccache && cmake --build build -t all && ctest --test-dir build",
                OK,
            ),
            (LISTS, "cmake -B build && cmake --build build && ctest --test-dir build", TEST, OK),
            (LISTS, "ctest --test-dir build", "cmake --build build && ctest --test-dir build", OK),
            (LISTS, BUILD, "cmake -B build && cmake --build build && ctest --test-dir build", OK),
        ],
        true,
    );
    check(
        &[
            (LISTS, TEST, "cmake -B build -DBUILD_TESTING=OFF && cmake --build build && ctest --test-dir build", OK),
            (
                LISTS,
                TEST,
                "cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build && ctest --test-dir build",
                OK,
            ),
            (LISTS, TEST, "cmake -S other -B build && cmake --build build && ctest --test-dir build", OK),
            (LISTS, TEST, "cmake -B other && cmake --build build && ctest --test-dir build", OK),
            (LISTS, TEST, "cmake -B build && cmake --build build --target a && ctest --test-dir build", OK),
            (LISTS, TEST, "cmake -B build && cmake --build build -- a && ctest --test-dir build", OK),
            (LISTS, TEST, "cmake -B build && cmake --build build && ctest --test-dir build -R one", OK),
            (LISTS, TEST, "cmake -B build && cmake --build build && ctest --test-dir build | tail -3", ""),
            (LISTS, TEST, "cmake -B build; cmake --build build; ctest --test-dir build", OK),
            // A test in a new file may not be a part of what was configured before.
            (LISTS, TEST, "cmake --build build && ctest --test-dir build", OK),
        ],
        false,
    );
}

#[test]
fn tests_in_the_folder_of_a_build() {
    const OK: &str = "100% tests passed, 0 tests failed out of 3\n";
    const LISTS: Files = &[("CMakeLists.txt", "enable_testing()\n")];
    check(
        &[
            (LISTS, "ninja -C build test", "cd build && ninja test", OK),
            (LISTS, "cd build && ninja test", "ninja -j4 -C build test", OK),
            (LISTS, "ninja -C build", "cd build && ninja -v", ""),
            (LISTS, "make -C build test", "(cd build && make -s test)", OK),
            (LISTS, "cmake --build build --target test", "cmake --build build/ -t test -j 4", OK),
            (LISTS, "ctest --test-dir build", "cd build && ctest", OK),
        ],
        true,
    );
    check(
        &[
            (LISTS, "ninja -C build test", "ninja test", OK),
            (LISTS, "ninja -C build test", "ninja -C other test", OK),
            (LISTS, "ninja -C build test", "ninja -C build", OK),
            (LISTS, "ninja -C build test", "ninja -n -C build test", OK),
            (LISTS, "ninja -C build test", "ninja -f other.ninja -C build test", OK),
            (LISTS, "ninja -C build test", "ninja -C build test | tail -1", ""),
            (LISTS, "cmake --build build --target test", "cmake --build build", OK),
            (LISTS, "cmake --build build --target test", "cmake --build other -t test", OK),
        ],
        false,
    );
}

#[test]
fn ava_with_another_reporter() {
    const PACKAGE: Files = &[("package.json", r#"{"scripts":{"test":"ava"}}"#)];
    const OK: &str = "TAP version 13\nok 1 - a\nok 2 - b\n\n1..2\n# tests 2\n# pass 2\n# fail 0\n\n";
    const BAD: &str = "TAP version 13\nok 1 - a\nnot ok 2 - b\n\n1..2\n# tests 2\n# pass 1\n# fail 1\n\n";
    check(
        &[
            (PACKAGE, "npm test", "npx ava --tap", OK),
            (PACKAGE, "npm test", "npm test -- --tap", OK),
            (PACKAGE, "npm test", "npx ava --tap 2>&1 | tail -6", "1..2\n# tests 2\n# pass 2\n# fail 0\n\n"),
        ],
        true,
    );
    check(
        &[
            (PACKAGE, "npm test", "npx ava --tap | tail -6", "1..2\n# tests 2\n# pass 1\n# fail 1\n\n"),
            (PACKAGE, "npm test", "npx ava --tap | tail -2", "# fail 0\n\n"),
            (PACKAGE, "npm test", "npx ava --tap --match='*a*'", OK),
            (PACKAGE, "npm test", "npx ava --tap || true", BAD),
        ],
        false,
    );
}

#[test]
fn npm_that_says_less() {
    const PACKAGE: Files = &[("package.json", r#"{"scripts":{"test":"jest"}}"#)];
    const OK: &str = "Test Suites: 3 passed, 3 total\nTests:       21 passed, 21 total\n";
    for line in [
        "npm --loglevel=error test",
        "npm --loglevel error test",
        "npm --loglevel=silent run test",
        "npm --silent test",
        "npm -s run test",
        "npm run --silent test",
        "npm --no-color --loglevel=warn test 2>&1 | tail -4",
        "npm test --loglevel=error",
    ] {
        assert!(proof_with(PACKAGE, "npm test", line, OK), "{line}");
    }
    for line in
        ["npm --loglevel=error run lint", "npm --silent test -- -t one", "npm --loglevel error --if-present run other"]
    {
        assert!(!proof_with(PACKAGE, "npm test", line, OK), "{line}");
    }
}

#[test]
fn paths_from_the_top_of_the_file_system() {
    const TESTS: Files = &[("tests/test_a.py", ""), ("tests/test_b.py", ""), ("a.py", "")];
    check(
        &[
            (TESTS, "pytest", "pytest /work/repo/tests", PYTEST_OK),
            (TESTS, "pytest", "python -m pytest /work/repo/", PYTEST_OK),
            (TESTS, "pytest", "pytest --rootdir=/work/repo", PYTEST_OK),
            (TESTS, "pytest", "pytest --rootdir /work/repo tests", PYTEST_OK),
            (TESTS, "pytest", "cd tests && pytest /work/repo/tests", PYTEST_OK),
            (TESTS, "sh t.sh", "sh /work/repo/t.sh", ""),
        ],
        true,
    );
    check(
        &[
            (TESTS, "pytest", "pytest /work/repo/tests/test_a.py", PYTEST_OK),
            (TESTS, "pytest", "pytest /work/repository/tests", PYTEST_OK),
            (TESTS, "pytest", "pytest /work/repo/../tests", PYTEST_OK),
            (TESTS, "pytest", "pytest --rootdir=/work/repo/tests", PYTEST_OK),
            (TESTS, "pytest", "cd tests && pytest /work/repo/tests/test_a.py", PYTEST_OK),
            (TESTS, "sh t.sh", "sh /work/t.sh", ""),
        ],
        false,
    );
}

#[test]
fn a_run_that_did_not_understand_its_arguments_is_none() {
    const TESTS: Files = &[("tests/test_a.py", "")];
    let usage = "ERROR: usage: pytest [options]\npytest: error: unrecognized arguments: --cov=x\n";
    assert_eq!(ended_with(TESTS, "pytest", "pytest --cov=x", 4, usage), None);
    for (line, status) in [("pytest --cov=x", 1), ("pytest --cov=x", 5), ("python -m pytest", 2), ("pytest", 4)] {
        assert_eq!(ended_with(TESTS, "pytest", line, status, ""), Some(false), "{line} {status}");
    }
}

#[test]
fn options_of_make_that_only_show_more_or_work_faster() {
    const OPAQUE: Files = &[("Makefile", "test: t.sh\n\t$(RUN) $<\nlint:\n\t$(LINT)\n")];
    for line in [
        "make -j 2", "make -j", "make -s", "make -s test", "make -j2 test", "make -j 2 test", "make -j test",
        "make test -s -j4 -k", "make -w -C . test",
    ] {
        assert!(proof_with(OPAQUE, "make test", line, "ok"), "{line}");
    }
    for line in ["make -n test", "make -sn test", "make -i test", "make -t test", "make -s lint"] {
        assert!(!proof_with(OPAQUE, "make test", line, "ok"), "{line}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "tables")]
fn folders_and_suites_that_are_all_there_is() {
    const UNITTEST: &str = "Ran 3 tests in 0.001s\n\nOK\n";
    const CARGO: &str = "running 2 tests\ntest result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s\n\nrunning 1 test\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s\n";
    const CRATE: Files = &[("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n"), ("src/lib.rs", "")];
    const GO: Files = &[("go.mod", "module example.com/a\n"), ("a_test.go", "package a\n")];
    const PHP: &str = "OK (3 tests, 4 assertions)\n";
    const SUITE: Files = &[
        (
            "phpunit.xml.dist",
            "<phpunit>\n<testsuites>\n  <testsuite name=\"all of it\">\n    <directory>tests</directory>\n  </testsuite>\n</testsuites>\n</phpunit>",
        ),
        ("tests/ATest.php", ""),
    ];
    const SUITES: Files = &[
        (
            "phpunit.xml.dist",
            "<testsuites><testsuite name=\"a\"><directory>tests</directory></testsuite><testsuite name=\"b\"><directory>more</directory></testsuite></testsuites>",
        ),
        ("tests/ATest.php", ""),
    ];
    const LOCAL: Files = &[("phpunit.xml", "<phpunit/>"), SUITE[0]];
    const RUBY: &str = "3 examples, 0 failures\n";
    const SPECS: Files = &[("spec/unit/a_spec.rb", ""), ("spec/spec_helper.rb", ""), (".rspec", "--warnings\n")];
    const BOTH: Files = &[("spec/unit/a_spec.rb", ""), ("spec/slow/b_spec.rb", "")];
    const PYTHON: &str = "3 passed in 0.01s\n";
    const FLAGS: Files = &[
        ("pyproject.toml", "[tool.pytest.ini_options]\ndoctest_optionflags = ['ELLIPSIS']\n"),
        ("tests/test_a.py", ""),
    ];
    const DOCTESTS: Files =
        &[("pyproject.toml", "[tool.pytest.ini_options]\naddopts = '--doctest-modules'\n"), ("tests/test_a.py", "")];
    const ALL: Files = &[("Makefile", "CC ?= cc\nall: prog run\nprog: t.c\n\t$(CC) t.c\nrun: prog\n\t./prog\n")];
    const TESTPATHS: Files =
        &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['testing']\n"), ("testing/test_a.py", "")];
    const NATIVE: Files = &[("pyproject.toml", "[tool.pytest]\ntestpaths = ['testing']\n"), ("testing/test_a.py", "")];
    const UNSET: Files = &[("Makefile", "test:\n\tpython -m unittest -v ${tests}\n.PHONY: test\n")];
    const SET: Files =
        &[("Makefile", "tests ?= tests.test_a\ntest:\n\tpython -m unittest -v ${tests}\n.PHONY: test\n")];
    const NAMED: Files = &[(
        "Makefile",
        "CC = gcc\nall: test other\n.PHONY: test other\ntest: t.c\n\t$(CC) -o $@ t.c\n\t./$@\nother: t.c\n\t$(CC) -DX -o $@ t.c\n\t./$@\n",
    )];
    const OPAQUE: Files = &[("Makefile", "all: run\nrun: t.c\n\t@$(CC) $<\nclean:\n\trm -f prog\n.PHONY: all run\n")];
    const BELOW: Files = &[("tests/Makefile", OPAQUE[0].1)];
    const HELPED: Files =
        &[("Makefile", "all: run more\nrun: t.c\n\t@$(CC) $<\nmore: run\n\t./more\n.PHONY: all run more\n")];
    const LATER: Files = &[("Makefile", "prog: t.c\n\t$(CC) t.c\nall: prog\n\t./prog\n")];
    const GOAL: Files = &[("Makefile", ".DEFAULT_GOAL := help\nall: prog\n\t./prog\nhelp:\n\tcat Makefile\n")];
    const BLANK_GOAL: Files = &[("Makefile", "all: prog\n\t./prog\n  .DEFAULT_GOAL := help\nhelp:\n\tcat Makefile\n")];
    const OVERRIDDEN: Files =
        &[("Makefile", "all: prog\n\t./prog\noverride .DEFAULT_GOAL = help\nhelp:\n\tcat Makefile\n")];
    const TWO_GOALS: Files =
        &[("Makefile", ".DEFAULT_GOAL := all\nall: prog\n\t./prog\nhelp:\n\ttrue\n.DEFAULT_GOAL := help\n")];
    const DECOY: Files = &[
        (
            "phpunit.xml.dist",
            "<phpunit>\n<!-- <testsuites><testsuite name=\"a\"><directory>tests</directory></testsuite></testsuites> -->\n<testsuites><testsuite name=\"a\"><directory>unit</directory></testsuite><testsuite name=\"b\"><directory>tests</directory></testsuite></testsuites>\n</phpunit>",
        ),
        ("tests/ATest.php", ""),
    ];
    const INCLUDED: Files = &[("Makefile", "include rules.mk\nall: prog\n\t./prog\n")];
    check(
        &[
            (SUITE, "phpunit", "phpunit tests", PHP),
            (SUITE, "vendor/bin/phpunit", "vendor/bin/phpunit tests/", PHP),
            (SUITE, "phpunit", "phpunit -c phpunit.xml.dist", PHP),
            (SUITE, "phpunit", "phpunit --configuration=phpunit.xml.dist", PHP),
            (SUITE, "phpunit", "phpunit -c .", PHP),
            (SUITE, "phpunit", "phpunit --testsuite 'all of it'", PHP),
            (SUITE, "vendor/bin/phpunit", "composer exec phpunit", PHP),
            (SPECS, "rspec", "rspec spec/unit", RUBY),
            (SPECS, "bundle exec rspec", "ruby -S rspec", RUBY),
            (FLAGS, "pytest", "pytest tests -q", PYTHON),
            (CRATE, "cargo test", "cargo test --all-targets && cargo test --doc", CARGO),
            (CRATE, "cargo test", "cargo test -q --all-targets && cargo test --doc -q", CARGO),
            (CRATE, "cargo test", "cargo test -p a", CARGO),
            (CRATE, "cargo test", "RUSTFLAGS='-D warnings' cargo test", CARGO),
            (GO, "go test ./...", "GOFLAGS=-count=1 go test ./...", "ok  \texample.com/a\t0.1s\n"),
            (
                GO,
                "go test ./...",
                "CGO_ENABLED=1 GOMAXPROCS=2 go test -mod=mod -run . ./...",
                "ok  \texample.com/a\t0.1s\n",
            ),
            (CRATE, "cargo test", "RUSTC_WRAPPER= CARGO_PROFILE_DEV_DEBUG=0 cargo test --features x", CARGO),
            (FLAGS, "pytest", "PYTHONPATH=src TZ=UTC pytest --timeout=60 --import-mode=importlib", PYTHON),
            (SPECS, "rspec", "RUBYOPT=-W0 rspec", RUBY),
            (ALL, "make", "make all", "ok\n"),
            (ALL, "make all", "make", "ok\n"),
            (TESTPATHS, "pytest", "pytest . -q", PYTHON),
            (NATIVE, "pytest", "pytest testing/ -v", PYTHON),
            (SUITE, "phpunit", "phpunit 2>&1 | grep -E 'OK|FAILURES|Tests:'", PHP),
            (TESTPATHS, "pytest testing", "pytest ./", PYTHON),
            (UNSET, "make test", "python -m unittest -v", UNITTEST),
            (UNSET, "make test", "make test", UNITTEST),
            (NAMED, "make test", "make", "ok\n"),
            (NAMED, "make test", "make all", "ok\n"),
            (NAMED, "make test", "make -B test other", "ok\n"),
            (OPAQUE, "make", "make all", "ok\n"),
            (OPAQUE, "make", "make run", "ok\n"),
            (OPAQUE, "make run", "make", "ok\n"),
            (OPAQUE, "make", "make clean all", "ok\n"),
            (OPAQUE, "make all", "make -j2", "ok\n"),
            (BELOW, "make -C tests", "make -C tests all", "ok\n"),
            (BELOW, "make -C tests", "cd tests && make all", "ok\n"),
        ],
        true,
    );
    check(
        &[
            (SUITES, "phpunit", "phpunit tests", PHP),
            (SUITES, "phpunit", "phpunit --testsuite a", PHP),
            (SUITE, "phpunit", "phpunit other", PHP),
            (SUITE, "phpunit", "phpunit --testsuite other", PHP),
            (SUITE, "phpunit", "phpunit -c other.xml", PHP),
            (LOCAL, "phpunit", "phpunit -c phpunit.xml.dist", PHP),
            (LOCAL, "phpunit", "phpunit tests", PHP),
            (&[], "phpunit", "phpunit tests", PHP),
            (BOTH, "rspec", "rspec spec/unit", RUBY),
            (BOTH, "rspec", "rspec spec/unit/a_spec.rb", RUBY),
            (DOCTESTS, "pytest", "pytest tests -q", PYTHON),
            (CRATE, "cargo test", "cargo test --all-targets", CARGO),
            (CRATE, "cargo test", "cargo test --all-targets && cargo test --doc --no-run", CARGO),
            (CRATE, "cargo test", "cargo test --lib && cargo test --doc", CARGO),
            (CRATE, "cargo test --all-features", "cargo test --all-targets && cargo test --doc", CARGO),
            (CRATE, "cargo test", "RUSTFLAGS='--cfg skip' cargo test", CARGO),
            (GO, "go test ./...", "GOFLAGS='-count=1 -run=TestA' go test ./...", "ok  \texample.com/a\t0.1s\n"),
            (GO, "go test ./...", "GOFLAGS=-count=0 go test ./...", "ok  \texample.com/a\t0.1s\n"),
            (GO, "go test ./...", "go test -vet=off ./...", "ok  \texample.com/a\t0.1s\n"),
            (GO, "go test ./...", "CGO_ENABLED=0 go test ./...", "ok  \texample.com/a\t0.1s\n"),
            (CRATE, "cargo test", "cargo test --no-default-features --features x", CARGO),
            (FLAGS, "pytest", "PYTHONPATH=/tmp/x pytest", PYTHON),
            (FLAGS, "pytest", "PYTHONPATH=../x pytest", PYTHON),
            (LATER, "make", "make all", "ok\n"),
            (OPAQUE, "make", "make clean", "ok\n"),
            (HELPED, "make", "make run", "ok\n"),
            (OPAQUE, "make", "make all T=1", "ok\n"),
            (BELOW, "make -C tests", "make all", "ok\n"),
            (TESTPATHS, "pytest", "pytest other", PYTHON),
            (TESTPATHS, "pytest ../testing", "pytest .", PYTHON),
            (TESTPATHS, "pytest", "pytest . --ignore=testing", PYTHON),
            (SET, "make test", "python -m unittest -v", UNITTEST),
            (UNSET, "make test", "tests=tests.test_a make test", UNITTEST),
            (UNSET, "make test", "make test tests=tests.test_a", UNITTEST),
            (NAMED, "make", "make test", "ok\n"),
            (NAMED, "make test", "make other", "ok\n"),
            (GOAL, "make", "make all", "ok\n"),
            (BLANK_GOAL, "make", "make all", "ok\n"),
            (OVERRIDDEN, "make", "make all", "ok\n"),
            (TWO_GOALS, "make", "make all", "ok\n"),
            (DECOY, "phpunit", "phpunit tests", PHP),
            (INCLUDED, "make", "make all", "ok\n"),
        ],
        false,
    );
}

#[test]
fn the_default_task_of_rake() {
    const OK: &str = "3 runs, 4 assertions, 0 failures, 0 errors, 0 skips\n";
    const SYNTAX_OK: &str = "Syntax OK\n3 runs, 4 assertions, 0 failures, 0 errors, 0 skips\n";
    const PLAIN: Files = &[("Rakefile", "Rake::TestTask.new(:test)\ntask default: :test\n")];
    const BOTH: Files = &[("Rakefile", "task :default => [:test, :rubocop]\n")];
    const OTHER: Files = &[("Rakefile", "task default: :build\n")];
    const TWO: Files = &[("Rakefile", "task default: :test\n"), ("lib/Rakefile", "task default: :test\n")];
    const SECOND: Files = &[("Rakefile", "task default: :build\n"), ("Other", "task default: :test\n")];
    const ADDED: Files =
        &[("Rakefile", "task default: :test\n"), ("rakelib/lint.rake", "task default: :lint\ntask(:lint) { abort }\n")];
    const LOADED: Files = &[("Rakefile", "task default: :test\nload 'lint.rake'\n")];
    const GUARDED: Files = &[("Rakefile", "if ENV['CI']\n  task default: :test\nend\n")];
    check(
        &[
            (PLAIN, "rake test", "ruby -c lib/a.rb && rake test TESTOPTS=-v 2>&1 | tail -20", SYNTAX_OK),
            (PLAIN, "rake test", "TESTOPTS=-v rake test", OK),
            (PLAIN, "rake test", "TESTOPTS='--seed 7 -v' rake test", OK),
            (PLAIN, "rake test", "rake", OK),
            (PLAIN, "bundle exec rake test", "bundle exec rake", OK),
            (PLAIN, "rake", "rake test", OK),
            (PLAIN, "rake test", "rake default", OK),
            (PLAIN, "rake test", "rake test TESTOPTS=-v", OK),
            (PLAIN, "rake test", "rake -q", OK),
            (BOTH, "rake test", "rake", OK),
            (PLAIN, "rake test", "cd lib && rake test", OK),
            (PLAIN, "rake test", "cd lib/a && rake", OK),
        ],
        true,
    );
    check(
        &[
            (BOTH, "rake", "rake test", OK),
            (OTHER, "rake test", "rake", OK),
            (ADDED, "rake", "rake test", OK),
            (ADDED, "rake test", "rake", OK),
            (LOADED, "rake", "rake test", OK),
            (GUARDED, "rake test", "rake", OK),
            (&[], "rake test", "rake", OK),
            (PLAIN, "rake test", "rake -n", OK),
            (PLAIN, "rake test", "TESTOPTS=-n/one/ rake test", OK),
            (PLAIN, "rake test", "rake TESTOPTS=-n/one/", OK),
            (PLAIN, "rake test", "rake test TEST=test/test_a.rb", OK),
            (TWO, "rake test", "cd lib && rake test", OK),
            (PLAIN, "rake test", "cd .. && rake test", OK),
            (PLAIN, "rake test", "rake -f Other", OK),
            (PLAIN, "rake test", "rake -r ./stub", OK),
            (SECOND, "rake test", "rake -f Other", OK),
        ],
        false,
    );
}

#[test]
fn a_pipe_behind_meson_names_the_command_that_would_prove_it() {
    const SUMMARY: &str = "1/1 t OK 0.01s\n\nOk:                 1\nFail:               0\n";
    let record = LineRecord { status: Some(0), output: Some("done\n"), background: false, shell: Some(Shell::Bash) };
    let judged = judge("meson test -C build | tail", &record, Project::without_runners(&()));
    assert_eq!(judged.would_prove.as_deref(), Some("cd build && meson test"), "{}", judged.reason);
    assert!(!proof_with(&[], "meson test -C build", "meson test -C build | tail", "done\n"));
    let again = "rm -rf build && meson setup build && meson test -C build 2>&1 | tail -20";
    assert!(proof_with(&[], "meson test -C build", again, SUMMARY));
    assert!(proof_with(&[], "meson test -C build", "cd build && meson test -t 3", SUMMARY));
    assert!(proof_with(&[], "bats test", "bats --tap test/", "1..1\nok 1 a\n"));
    assert!(proof_with(&[], "bats test", "bats -r test", "1..1\nok 1 a\n"));
    assert!(!proof_with(&[], "bats -r test", "bats test", "1..1\nok 1 a\n"));
    assert!(proof_with(&[], "meson test -C build", "meson test -C build -v", "done\n"));
}

#[test]
fn a_task_runner_that_failed_says_so_in_its_last_line() {
    const OWN: Files = &[("Makefile", "test: t.c\n\tcc -o t t.c\n\t./t\n.PHONY: test\n")];
    const KEEPS: Files = &[("Makefile", "MAKEFLAGS += -k\ntest: t.c\n\t./t\n.PHONY: test\n")];
    const KNOWN: Files = &[("Makefile", "test:\n\tpytest\n.PHONY: test\n")];
    const SHOWN: &str = "./t\nTests failed: 0\nTests passed: 349\n";
    check(
        &[
            (OWN, "make test", "make test 2>&1 | tail -20", SHOWN),
            (OWN, "make test", "make -s test 2>&1 | tail -2", SHOWN),
            (OWN, "make test", "make test 2>&1 | head -20", SHOWN),
            (OWN, "make test", "make -B test | tail -20", SHOWN),
            (OWN, "make test", "make clean && make test 2>&1 | tail -30", SHOWN),
            (OWN, "make test", "gcc -fsyntax-only t.c && make test 2>&1 | tail -30", SHOWN),
        ],
        true,
    );
    check(
        &[
            (OWN, "make test", "make test 2>&1 | tail -20", "FAIL x\nmake: *** [Makefile:12: test] Error 1\n"),
            (OWN, "make test", "make test 2>&1 | tail -20", "bash: line 1: 7 Killed make test 2>&1 | tail -20\n"),
            (OWN, "make test", "make test 2>&1 | tail -20", "bash: make: command not found\n"),
            (OWN, "make test", "make test 2>&1 | tail -20", ""),
            (OWN, "make test", "make test 2>&1 | tail -0", ""),
            (OWN, "make test", "make test 2>/dev/null | tail -20", SHOWN),
            (OWN, "make test", "make test 2>&1 | head -1", "./t\n"),
            (OWN, "make test", "make -j4 test 2>&1 | tail -20", SHOWN),
            (OWN, "make test", "make -k test 2>&1 | tail -20", SHOWN),
            (OWN, "make test", "make -sk test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "make -sj4 test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "make --keep test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "MAKEFLAGS=k make test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "export MAKEFLAGS=-k; make test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "make MAKEFLAGS=k test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "make test 2>&1 | tail -1", "make: Target 'test' not remade because of errors.\n"),
            (KEEPS, "make test", "make test 2>&1 | tail -1", SHOWN),
            (OWN, "make test", "make -i test 2>&1 | tail -20", SHOWN),
            (OWN, "make test", "make -n test 2>&1 | tail -20", SHOWN),
            (OWN, "make test", "make test 2>&1 | grep passed", "Tests passed: 349\n"),
            (OWN, "make test", "make test 2>&1 | sed 's/x/y/' | tail", SHOWN),
            (OWN, "make test", "true || make test 2>&1 | tail -20", SHOWN),
            (OWN, "make test", "false && make test 2>&1 | tail -20; echo ok", "ok\n"),
            (KNOWN, "make test", "make test 2>&1 | tail -20", "ok\n"),
        ],
        false,
    );
}

#[test]
fn a_runner_that_always_prints_and_printed_nothing_ran_no_test() {
    const SWITCHED: Files =
        &[("Makefile", "ifdef FULL\n.PHONY: test\ntest:\n\tpytest -q\nelse\n.PHONY: test\ntest:\n\t@true\nendif\n")];
    const PLAIN: Files = &[("Makefile", "test:\n\tpytest -q\n.PHONY: test\n")];
    const OWN: Files = &[("Makefile", "test:\n\t@sh t.sh\n.PHONY: test\n")];
    check(
        &[
            (OWN, "make test", "make test", "\n"),
            (PLAIN, "make test", "make test", "3 passed in 0.01s\n"),
            (PLAIN, "make test", "make test >/dev/null 2>&1", "\n"),
            (PLAIN, "make test", "make test", ""),
        ],
        true,
    );
    check(
        &[
            (SWITCHED, "make test", "make test", "\n"),
            (PLAIN, "make test", "make test", "\n"),
            (PLAIN, "pytest", "pytest", "\n"),
        ],
        false,
    );
}

#[test]
fn coverage_decides_only_where_a_setting_asks_for_a_minimum() {
    const JEST: Files = &[
        ("package.json", r#"{"scripts":{"test":"jest --coverage"}}"#),
        ("jest.config.js", "module.exports = {\n  verbose: true,\n};\n"),
    ];
    const MINIMUM: Files = &[(
        "package.json",
        r#"{"scripts":{"test":"jest --coverage"},"jest":{"coverageThreshold":{"global":{"lines":90}}}}"#,
    )];
    const ELSEWHERE: Files = &[
        ("package.json", r#"{"scripts":{"test":"jest --coverage"}}"#),
        ("jest.config.js", "module.exports = {...require('./base')};\n"),
    ];
    const VITEST: Files = &[
        ("package.json", r#"{"scripts":{"test":"vitest run --coverage"}}"#),
        (
            "vite.config.ts",
            "import { defineConfig } from 'vitest/config'\nexport default defineConfig({ test: { coverage: { include: ['src'] } } })\n",
        ),
    ];
    const STRICT: Files = &[
        ("package.json", r#"{"scripts":{"test":"vitest run --coverage"}}"#),
        ("vitest.config.ts", "export default { test: { coverage: { thresholds: { lines: 90 } } } }\n"),
    ];
    const JEST_OK: &str = "Tests:       3 passed, 3 total\n";
    const VITEST_OK: &str = " Test Files  2 passed (2)\n      Tests  5 passed (5)\n";
    check(
        &[
            (JEST, "npm test", "npx jest", JEST_OK),
            (JEST, "npm test", "npx jest --ci", JEST_OK),
            (JEST, "jest", "npm test", JEST_OK),
            (VITEST, "npm test", "npx vitest run", VITEST_OK),
        ],
        true,
    );
    check(
        &[
            (MINIMUM, "npm test", "npx jest", JEST_OK),
            (ELSEWHERE, "npm test", "npx jest", JEST_OK),
            (JEST, "npm test", "npx jest -t one", JEST_OK),
            (JEST, "npm test", "npx jest -c other.js", JEST_OK),
            (JEST, "npx jest --coverage --coverageThreshold={}", "npx jest", JEST_OK),
            (STRICT, "npm test", "npx vitest run", VITEST_OK),
        ],
        false,
    );
}

#[test]
fn the_only_test_file_is_all_of_them() {
    const ONE: Files = &[("schedule.py", ""), ("test_schedule.py", ""), ("tox.ini", "[tox]\n"), ("docs/conf.py", "")];
    const TWO: Files = &[("test_schedule.py", ""), ("sub/test_other.py", "")];
    const DOCTESTS: Files = &[("test_schedule.py", ""), ("pytest.ini", "[pytest]\naddopts = --doctest-modules\n")];
    const HOOKED: Files = &[("test_schedule.py", ""), ("sub/conftest.py", "")];
    check(
        &[
            (ONE, "pytest", "pytest test_schedule.py", PYTEST_OK),
            (ONE, "pytest", "python -m pytest ./test_schedule.py -q", PYTEST_OK),
            (ONE, "pytest test_schedule.py", "pytest", PYTEST_OK),
        ],
        true,
    );
    check(
        &[
            (ONE, "pytest", "pytest test_schedule.py::test_a", PYTEST_OK),
            (ONE, "pytest", "pytest schedule.py", PYTEST_OK),
            (ONE, "pytest", "pytest test_missing.py", PYTEST_OK),
            (TWO, "pytest", "pytest test_schedule.py", PYTEST_OK),
            (DOCTESTS, "pytest", "pytest test_schedule.py", PYTEST_OK),
            (HOOKED, "pytest", "pytest test_schedule.py", PYTEST_OK),
        ],
        false,
    );
}

#[test]
fn a_count_of_failures_that_is_zero_is_no_failure_of_a_build() {
    const MAKE: Files = &[("Makefile", "all:\n\t$(CC) -o a a.c\n")];
    for (output, expected) in [("PASSED: 16\nFAILED: 0\n", Some(true)), ("FAILED: a.o\n", Some(false))] {
        assert_eq!(ended_with(MAKE, "make", "make 2>&1 | tail -3", 0, output), expected, "{output}");
    }
}

#[test]
fn the_name_of_a_test_that_passed_is_no_failure() {
    const LINES: &str = "=== RUN   TestErrors\n--- PASS: TestErrors (0.00s)\nPASS\n";
    check(&[(&[], "go test -v ./...", "go test -v ./... 2>&1 | grep -v '^ok'", LINES)], true);
    let failed = LINES.replace("--- PASS", "--- FAIL");
    assert!(!proof_with(&[], "go test -v ./...", "go test -v ./... 2>&1 | grep -v '^ok'", &failed));
}

#[test]
fn make_alone_makes_its_first_target() {
    const FIRST: Files = &[
        ("Makefile", "-include local.mk\ninclude config.mk\ntest: t1\nt1:\n\t$(CC) -o a\n.PHONY: test\n"),
        ("config.mk", "CC = gcc\n"),
    ];
    const OTHER: Files = &[("Makefile", "all: a\na:\n\t$(CC) -o a\ntest: a\n\t./a\n.PHONY: test\n")];
    const INCLUDED: Files = &[
        ("Makefile", "include config.mk\ntest: t1\nt1:\n\t$(CC) -o a\n.PHONY: test\n"),
        ("config.mk", "lib:\n\tcc lib.c\n"),
    ];
    const UNKNOWN: Files = &[("Makefile", "include $(DEPS)\ntest: t1\nt1:\n\t$(CC) -o a\n.PHONY: test\n")];
    check(
        &[
            (FIRST, "make test", "make", "ok\n"),
            (FIRST, "make test", "make 2>&1 | tail -3", "PASSED: 16\nFAILED: 0\n"),
            (FIRST, "make", "make test", "ok\n"),
            (FIRST, "make test", "make -s test", "ok\n"),
        ],
        true,
    );
    check(
        &[
            (FIRST, "make test", "make -n", "ok\n"),
            (OTHER, "make test", "make", "ok\n"),
            (INCLUDED, "make test", "make", "ok\n"),
            (UNKNOWN, "make test", "make", "ok\n"),
        ],
        false,
    );
}
