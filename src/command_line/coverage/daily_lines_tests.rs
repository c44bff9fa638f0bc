//! Lines of daily work that prove a declared command by another spelling.

use super::tests::{Files, check, ended_with, proof_with};

const DJANGO: &str = "Ran 4 tests in 0.1s\n\nOK\n";
const PYTEST: &str = "4 passed in 0.02s\n";
const MOCHA: &str = "\n  2 passing (3ms)\n";
const NODE: &str =
    "# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 50\n";

#[test]
fn options_of_django() {
    const SHOP: Files = &[(
        "manage.py",
        "#!/usr/bin/env python3\nimport os\nos.environ.setdefault(\"DJANGO_SETTINGS_MODULE\", \"shop.settings\")\n",
    )];
    check(
        &[
            (SHOP, "python manage.py test", "python manage.py test --parallel auto", DJANGO),
            (SHOP, "python manage.py test", "python -Wa manage.py test", DJANGO),
            (SHOP, "python manage.py test", "python -W default manage.py test --parallel", DJANGO),
            (SHOP, "python manage.py test", "python manage.py test --settings=shop.settings", DJANGO),
            (SHOP, "python manage.py test --settings shop.settings", "./manage.py test -v2", DJANGO),
        ],
        true,
    );
    check(
        &[
            (SHOP, "python manage.py test", "python manage.py test --settings=shop.fast", DJANGO),
            (SHOP, "python manage.py test", "python manage.py test --parallel auto shop", DJANGO),
            (&[], "python manage.py test", "python manage.py test --settings=shop.settings", DJANGO),
        ],
        false,
    );
}

#[test]
fn quoted_patterns_of_all_test_files() {
    const JS: Files = &[("package.json", "{}"), ("test/a.test.js", ""), ("test/b/c.test.js", "")];
    check(
        &[
            (JS, "npx mocha --recursive", "npx mocha 'test/**/*.js'", MOCHA),
            (JS, "npx mocha", "npx mocha 'test/**/*.js'", MOCHA),
            (JS, "npx mocha", "npx mocha \"./test/**/*.test.js\"", MOCHA),
            (JS, "node --test", "node --test 'test/**/*.test.js'", NODE),
            (JS, "node --test", "node --test \"test/**/*.js\"", NODE),
        ],
        true,
    );
    check(
        &[
            (JS, "npx mocha --recursive", "npx mocha 'test/*.js'", MOCHA),
            (JS, "npx mocha --recursive", "npx mocha test/**/*.js", MOCHA),
            (JS, "node --test", "node --test 'test/*.test.js'", NODE),
        ],
        false,
    );
}

#[test]
fn parts_of_a_task_one_after_another() {
    const MAKE: Files =
        &[("Makefile", ".PHONY: check lint unit\ncheck: lint unit\nlint:\n\truff check .\nunit:\n\tpytest\n")];
    const NPM: Files = &[(
        "package.json",
        r#"{"scripts":{"test":"npm run lint && npm run unit","lint":"eslint .","unit":"mocha","test-ci":"npm run test --"}}"#,
    )];
    check(
        &[
            (MAKE, "make check", "make lint && make unit", PYTEST),
            (MAKE, "make lint && make unit", "make check", PYTEST),
            (MAKE, "make check", "make lint unit", PYTEST),
            (NPM, "npm test", "npm run lint && npm run unit", MOCHA),
            (NPM, "npm test", "set -e; npm run lint; npm run unit", MOCHA),
            (NPM, "npm test", "npm run test-ci", MOCHA),
        ],
        true,
    );
    check(&[(MAKE, "make check", "make unit", PYTEST), (NPM, "npm test", "npm run unit", MOCHA)], false);
}

#[test]
fn compilers_and_flags_of_make() {
    const MAKE: Files = &[("Makefile", "test:\n\t$(CC) $(CFLAGS) -o t t.c\n\t./t\n")];
    check(
        &[
            (MAKE, "make test", "make test CC=clang-17 CFLAGS='-O2 -g -Wall -Werror -fsanitize=address,undefined'", ""),
            (MAKE, "make test", "CC=gcc make test", ""),
            (MAKE, "make test", "CC='ccache gcc' CFLAGS=-O0 make -j4 test", ""),
        ],
        true,
    );
    check(
        &[
            (MAKE, "make test", "make test CC=true", ""),
            (MAKE, "make test", "CC=true make test", ""),
            (MAKE, "make test", "make test CFLAGS=-DNDEBUG", ""),
            (MAKE, "make test", "make test CFLAGS=-Wl,--wrap=main", ""),
            (MAKE, "make test CC=clang", "make test CC=gcc", ""),
        ],
        false,
    );
}

#[test]
fn scripts_of_the_project_are_what_they_run() {
    const SCRIPTS: Files = &[
        ("scripts/test.sh", "#!/bin/sh\nset -e\ncd \"$(dirname \"$0\")/..\"\necho testing\npytest -q\n"),
        ("scripts/all.sh", "#!/usr/bin/env bash\nset -euo pipefail\nruff check .\npytest\n"),
        ("scripts/soft.sh", "#!/bin/sh\npytest || true\n"),
        ("scripts/some.sh", "#!/bin/sh\npytest \"$@\"\n"),
        ("scripts/last.sh", "#!/bin/sh\nruff check .\npytest\n"),
        ("Makefile", "test:\n\t./scripts/test.sh\n"),
    ];
    check(
        &[
            (SCRIPTS, "pytest", "./scripts/test.sh", PYTEST),
            (SCRIPTS, "pytest", "bash scripts/test.sh", PYTEST),
            (SCRIPTS, "./scripts/test.sh", "pytest", PYTEST),
            (SCRIPTS, "make test", "pytest -v", PYTEST),
            (SCRIPTS, "pytest", "make test", PYTEST),
            (SCRIPTS, "./scripts/all.sh", "ruff check . && pytest", PYTEST),
            (SCRIPTS, "pytest", "scripts/all.sh", PYTEST),
            (SCRIPTS, "pytest", "sh scripts/some.sh", PYTEST),
        ],
        true,
    );
    check(
        &[
            (SCRIPTS, "pytest", "./scripts/soft.sh", ""),
            (SCRIPTS, "pytest", "./scripts/test.sh || true", ""),
            (SCRIPTS, "pytest", "./scripts/some.sh -k login", PYTEST),
            (SCRIPTS, "./scripts/all.sh", "pytest", PYTEST),
            (SCRIPTS, "ruff check .", "./scripts/last.sh", PYTEST),
        ],
        false,
    );
}

#[test]
fn what_runs_only_after_a_build_shows_that_it_passed() {
    const NPM: Files = &[("package.json", r#"{"scripts":{"build":"vite build","test":"mocha"}}"#)];
    let printed = "vite v5.0.0 building for production...\n\n  2 passing (3ms)\n\n M a.js\n";
    check(&[(NPM, "npm run build", "npm run build && npm test; git status --short", printed)], true);
    check(&[(NPM, "npm run build", "npm run build; npm test; git status --short", printed)], false);
}

#[test]
fn scripts_of_the_project() {
    const SCRIPT: Files = &[("scripts/test.sh", "#!/usr/bin/env bash\nset -euo pipefail\n# All tests.\npytest -q\n")];
    const TWO: Files = &[("scripts/test.sh", "#!/bin/sh\nset -e\nruff check .\npytest -q\n")];
    const MASKED: Files = &[("scripts/test.sh", "#!/bin/sh\npytest -q\necho done\n")];
    const PART: Files = &[("scripts/test.sh", "#!/bin/sh\npytest -q tests/unit\n")];
    const BATS: Files =
        &[("test/run", "#!/usr/bin/env bash\nset -e\n\nexec bats ${CI:+--tap} \"${@:-test}\"\n"), ("test/a.bats", "")];
    check(
        &[
            (SCRIPT, "bash scripts/test.sh", "bash scripts/test.sh 2>&1 | tail -5", PYTEST),
            (SCRIPT, "./scripts/test.sh", "./scripts/test.sh | tail -n 20", PYTEST),
            (BATS, "bats test", "test/run", "a.bats\n \u{2713} a\n\n1 test, 0 failures\n"),
            (SCRIPT, "pytest", "cd . && ./scripts/test.sh 2>&1 | tail -20", PYTEST),
            (SCRIPT, "bash scripts/test.sh", "bash scripts/test.sh 2>&1 | tail -5; echo done", PYTEST),
            (
                TWO,
                "bash scripts/test.sh",
                "bash scripts/test.sh 2>&1 | tail -5",
                "All checks passed!\n4 passed in 0.02s\n",
            ),
        ],
        true,
    );
    check(
        &[
            (SCRIPT, "pytest", "PYTEST_ADDOPTS='-k add' bash scripts/test.sh | tail -2", PYTEST),
            (SCRIPT, "bash scripts/test.sh", "QUICK=1 ./scripts/test.sh 2>&1 | tail -2", PYTEST),
            (SCRIPT, "bash scripts/test.sh", "env QUICK=1 bash scripts/test.sh > /tmp/o 2>&1; tail -2 /tmp/o", PYTEST),
            (SCRIPT, "bash scripts/test.sh", "bash scripts/test.sh 2>&1 | tail -5", "1 failed, 3 passed in 0.02s\n"),
            (SCRIPT, "bash scripts/test.sh", "bash scripts/test.sh 2>&1 | tail -5", "done\n"),
            (MASKED, "bash scripts/test.sh", "bash scripts/test.sh 2>&1 | tail -5", "done\n"),
            (BATS, "bats test", "test/run test/a.bats", "a.bats\n \u{2713} a\n\n1 test, 0 failures\n"),
            (PART, "pytest", "bash scripts/test.sh 2>&1 | tail -5", PYTEST),
            (SCRIPT, "bash scripts/test.sh", "bash scripts/test.sh -k add 2>&1 | tail -5", PYTEST),
        ],
        false,
    );
}

#[test]
fn settings_that_a_runner_finds_by_itself() {
    const SETTINGS: Files =
        &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"tests\"]\n"), ("tests/test_a.py", "")];
    const OTHERS: Files = &[("pyproject.toml", "[tool.pytest.ini_options]\n"), ("pytest.ini", "[pytest]\n")];
    const NONE: Files = &[("pyproject.toml", "[project]\n")];
    const TOX: Files = &[
        ("tox.ini", "[tox]\nenvlist = py\n\n[testenv]\ncommands = pytest --doctest-modules src tests\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\ndoctest_optionflags = [\n  \"ELLIPSIS\",\n]\n"),
        ("tests/test_a.py", ""),
        ("src/a.py", ""),
    ];
    const ONE_FILE: Files =
        &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = [\"test.py\"]\n"), ("test.py", "")];
    const INTERROGATE: Files = &[("pyproject.toml", "[tool.interrogate]\nfail-under = 100\n"), ("tests/test_a.py", "")];
    const UNMEASURED: Files =
        &[("pyproject.toml", "[tool.coverage.report]\nfail_under = 90\n"), ("tests/test_a.py", "")];
    const ELSEWHERE: Files = &[
        ("tox.ini", "[testenv:html]\ncommands =\n    coverage run -m pytest\n    coverage html --fail-under=90\n"),
        ("tests/test_a.py", ""),
    ];
    const MEASURED: Files = &[
        ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"--cov\"\n[tool.coverage.report]\nfail_under = 90\n"),
        ("tests/test_a.py", ""),
    ];
    const DOCTESTS: Files =
        &[("tox.ini", "[pytest]\naddopts = --doctest-modules\n"), ("tests/test_a.py", ""), ("a.py", "")];
    check(
        &[
            (SETTINGS, "pytest", "pytest -c pyproject.toml", PYTEST),
            (SETTINGS, "pytest -q tests", "pytest -c pyproject.toml", PYTEST),
            (SETTINGS, "uv run pytest", "uv run --active pytest -q", PYTEST),
            (TOX, "pytest", "pytest tests -q", PYTEST),
            (ONE_FILE, "pytest", "pytest test.py -q", PYTEST),
            (INTERROGATE, "pytest", "pytest -q 2>&1 | grep -E 'passed|failed|error'", PYTEST),
            (UNMEASURED, "pytest", "pytest -q 2>&1 | grep -E 'passed|failed|error'", PYTEST),
            (ELSEWHERE, "pytest", "python -m pytest -q 2>&1 | grep -E 'passed|failed|error'", PYTEST),
        ],
        true,
    );
    check(
        &[
            (OTHERS, "pytest", "pytest -c pyproject.toml", PYTEST),
            (NONE, "pytest", "pytest -c pyproject.toml", PYTEST),
            (SETTINGS, "pytest", "pytest -c fast.toml", PYTEST),
            (DOCTESTS, "pytest", "pytest tests -q", PYTEST),
            (MEASURED, "pytest", "pytest -q 2>&1 | grep -E 'passed|failed|error'", PYTEST),
            (
                ELSEWHERE,
                "pytest",
                "coverage run -m pytest -q 2>&1 | grep -E 'passed|failed|error' && coverage report --fail-under=90",
                PYTEST,
            ),
        ],
        false,
    );
}

#[test]
fn a_text_between_commands_divides_their_output() {
    const BUILT: &str = "gofmt -l .\necho \"=== build ===\"; go build ./... && echo BUILD_OK\n\
                         echo \"=== tests ===\"; go test ./... 2>&1 | tail -4";
    const QUIET: &str = "gofmt -l . 2>&1; echo \"---\"; go build ./... 2>&1 && go vet ./... 2>&1 && go test ./... 2>&1 | grep -v \"^ok\"";
    let all = "a.go\nb.go\n=== build ===\nBUILD_OK\n=== tests ===\nok  \tx/y\t0.01s\n";
    check(&[(&[], "go build ./...", BUILT, all), (&[], "go test ./...", BUILT, all)], true);
    let broken = "a.go\n=== build ===\n# x/y\n./a.go:3:1: b\n=== tests ===\nok  \tx/y\t0.01s\n";
    check(&[(&[], "go build ./...", BUILT, broken)], false);
    // `grep` fails if there is nothing left to print.
    let quiet = |output: &str| ended_with(&[], "go test ./...", QUIET, 1, output);
    assert_eq!(quiet("a.go\nb.go\n---\n"), Some(true));
    for output in ["a.go\n---\n# x/y\n./a.go:5:2: unreachable code\n", "a.go\nb.go\n", "---\na.go\n---\n"] {
        assert_ne!(quiet(output), Some(true), "{output}");
    }
}

#[test]
fn what_git_says_is_no_error_of_a_compiler() {
    const MAKE: Files = &[("Makefile", "all: t\nt: t.c\n\t$(CC) -o t t.c\n")];
    const LINE: &str = "make && ./t; git push origin b";
    let refused = "46 tests, 46 passed, 0 failed\nerror: failed to push some refs to '../o.git'\n";
    assert_eq!(ended_with(MAKE, "make && ./t", LINE, 1, refused), None);
    assert_eq!(ended_with(MAKE, "make && ./t", LINE, 1, "error: expected ';'\n"), Some(false));
}

#[test]
fn one_test_first_and_then_all_of_them() {
    const TWO: &str = "1 passed in 0.01s\n4 passed in 0.02s\n";
    const GO_LINE: &str = "go test -run TestX ./... 2>&1 | tail -6; go build ./... && go test ./... 2>&1 | tail -25";
    const GO_TIMED: &str = "go test -run TestX ./... 2>&1 | tail -6; timeout 60 go test ./... 2>&1 | tail -25";
    const CARGO_LINE: &str = "cargo test --test x 2>&1 | tail -5; cargo test 2>&1 | tail -20";
    const CARGO: &str = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\n\
                         test result: ok. 9 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\n";
    const CARGO_ONE: &str =
        "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\n";
    const PACKAGE: Files = &[("package.json", r#"{"scripts":{"test":"node --test"}}"#)];
    const NODE_LINE: &str = "node --test test/a.test.js; npm test 2>&1 | tail -20";
    const NODE: &str = "# tests 1\n# pass 1\n# fail 0\n# cancelled 0\n# skipped 0\n\n> test\n> node --test\n\n\
                        # tests 4\n# pass 4\n# fail 0\n# cancelled 0\n# skipped 0\n# duration_ms 9\n";
    check(
        &[
            (&[], "pytest", "pytest tests/test_f.py::test_f -q 2>&1 | tail -3; pytest -q 2>&1 | tail -3", TWO),
            (&[], "pytest", "pytest --version; pytest -q 2>&1 | tail -3", "pytest 8.3.2\n4 passed in 0.02s\n"),
            (&[], "pytest", "pytest -q 2>&1 | tail -3; pytest -q -k parse 2>&1 | tail -3", TWO),
            (&[], "go test ./...", GO_LINE, "ok  \tx/y\t0.01s\nok  \tx/y\t0.02s\nok  \tx/z\t0.02s\n"),
            (&[], "cargo test", CARGO_LINE, CARGO),
            (PACKAGE, "npm test", NODE_LINE, NODE),
        ],
        true,
    );
    let failed = NODE.replacen("# pass 4\n# fail 0", "# pass 3\n# fail 1", 1);
    assert!(!proof_with(PACKAGE, "npm test", NODE_LINE, &failed));
    let half = NODE.rsplit_once("# tests").expect("two summaries").0;
    assert!(!proof_with(PACKAGE, "npm test", NODE_LINE, half));
    check(
        &[
            (
                &[],
                "pytest",
                "pytest a.py -q 2>&1 | tail -3; pytest -q 2>&1 | tail -3",
                "1 passed in 0.01s\n1 failed, 3 passed in 0.02s\n",
            ),
            (&[], "pytest", "pytest a.py -q 2>&1 | tail -3; pytest -q 2>&1 | tail -3", "1 passed in 0.01s\n"),
            (
                &[],
                "pytest",
                "pytest a.py -q 2>&1 | tail -3; pytest -q 2>&1 | tail -3",
                "1 failed in 0.01s\n4 passed in 0.02s\n",
            ),
            (&[], "pytest", "pytest a.py -q 2>&1 | tail -3; pytest b.py -q 2>&1 | tail -3", TWO),
            (&[], "go test ./...", GO_LINE, "ok  \tx/y\t0.01s\n"),
            (&[], "go test ./...", GO_LINE, "ok  \tx/y\t0.01s\nok  \tx/z\t0.01s\n# x/z\n./z.go:3:1: undefined: a\n"),
            (&[], "go test ./...", GO_LINE, "ok  \tx/y\t0.01s\nok  \tx/y\t0.01s\nFAIL\tx/z\t0.01s\nFAIL\n"),
            (&[], "go test ./...", GO_TIMED, "ok  \tx/y\t0.01s\nok  \tx/z\t0.01s\n"),
            (&[], "cargo test", CARGO_LINE, CARGO_ONE),
            (&[], "cargo test", "cargo test --test x 2>&1 | tail -5; cargo test --test y 2>&1 | tail -20", CARGO),
        ],
        false,
    );
}

#[test]
fn arguments_and_files_that_a_script_sets_itself() {
    const DEFAULTS: Files = &[("run.sh", "set -e\nif [ $# -eq 0 ]; then set -- tests/unit; fi\nexec pytest \"$@\"\n")];
    const WRAPPED: Files = &[("run.sh", "set -e\nrun() { echo \"+ $*\"; pytest \"$@\"; }\nrun tests/unit -q\n")];
    const SET: Files = &[("run.sh", "set -e\nset -- -k add\npytest \"$@\"\n")];
    const SWAP: Files = &[
        ("run.sh", "set -e\ncp m.py m.bak\ncp old.py m.py\npytest -q\nmv m.bak m.py\n"),
        ("m.py", ""),
        ("old.py", ""),
    ];
    const INNER: Files = &[("run.sh", "set -e\nbash -c 'pytest \"$@\"' x -k add\n")];
    check(
        &[
            (DEFAULTS, "pytest", "bash run.sh", PYTEST),
            (WRAPPED, "pytest", "bash run.sh", PYTEST),
            (SET, "pytest", "bash run.sh", PYTEST),
            (INNER, "pytest", "bash run.sh", PYTEST),
            (SWAP, "pytest", "bash run.sh", PYTEST),
        ],
        false,
    );
}

#[test]
fn files_that_only_find_programs_may_be_read_first() {
    check(
        &[
            (&[], "pytest", "source .venv/bin/activate 2>/dev/null; pytest -q 2>&1 | tail -3", PYTEST),
            (&[], "pytest", "source .venv/bin/activate 2>/dev/null || true; pytest -q", PYTEST),
            (&[], "pytest", "export LC_ALL=C; source .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "V=.venv; source $V/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", ". .venv/bin/activate >/dev/null 2>&1 && python -m pytest -q", PYTEST),
            (&[], "pytest", ". \"$HOME/.bashrc\" 2>/dev/null; pytest -q", PYTEST),
        ],
        true,
    );
    check(
        &[
            (&[], "pytest", "source ./setup.sh 2>/dev/null; pytest -q", PYTEST),
            (&[], "pytest", ". ./setup.sh activate; pytest -q", PYTEST),
            (&[], "pytest", "hash() { export PYTEST_ADDOPTS=-k1; }; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "alias hash='export PYTEST_ADDOPTS=-k1'; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "deactivate() { cd /tmp; }; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "uname() { cd /tmp; }; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "_OLD_VIRTUAL_PATH=/tmp/fake; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "export VIRTUAL_ENV=/tmp/fake; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", "read -r VIRTUAL_ENV < x; . .venv/bin/activate; pytest -q", PYTEST),
            (&[], "pytest", ". /proc/self/cwd/x/bin/activate; pytest -q", PYTEST),
        ],
        false,
    );
}

#[test]
fn a_way_up_and_down_leads_to_the_same_folder() {
    check(
        &[
            (&[], "pytest", "cd /work/other/../repo && pytest -q", PYTEST),
            (&[], "pytest", "cd /work/repo/src/.. && pytest -q", PYTEST),
        ],
        true,
    );
    check(
        &[
            (&[], "pytest", "cd /work/repo/../other && pytest -q", PYTEST),
            (&[], "pytest", "cd -P /work/link/../repo && pytest -q", PYTEST),
            (&[], "pytest", "set -P; cd /work/link/../repo && pytest -q", PYTEST),
            (&[], "pytest", "set -o physical; cd /work/link/../repo && pytest -q", PYTEST),
            (&[], "pytest", "cd /work/link && cd -P .. && cd repo && pytest -q", PYTEST),
            (&[], "pytest", "cd /work/link && cd $(pwd -P)/../repo && pytest -q", PYTEST),
            (&[], "pytest", "cd /work && CDPATH=/work/g2 && cd repo && pytest -q", PYTEST),
            (&[], "pytest", "cd /work && CDPATH=/work/g2 cd repo && pytest -q", PYTEST),
            (&[], "pytest", "cd /work/repo/src/../tests && pytest -q", PYTEST),
        ],
        false,
    );
}

#[test]
fn patterns_of_unittest_that_all_tests_match() {
    const OK: &str =
        "..\n----------------------------------------------------------------------\nRan 2 tests in 0.000s\n\nOK\n";
    const FILES: Files = &[("tests/__init__.py", ""), ("tests/test_a.py", ""), ("tests/test_b.py", "")];
    const OTHER: Files = &[("tests/__init__.py", ""), ("tests/test_a.py", ""), ("tests/testb.py", "")];
    let run = "python -m unittest";
    check(
        &[
            (FILES, run, "python -m unittest discover -s tests -p \"test_*.py\"", OK),
            (FILES, run, "python3 -m unittest discover -s tests -p 'test_*.py' -v 2>&1 | tail -14", OK),
        ],
        true,
    );
    check(&[(OTHER, run, "python -m unittest discover -s tests -p \"test_*.py\"", OK)], false);
}

#[test]
fn options_of_pytest_that_leave_nothing_out() {
    const PLAIN: Files = &[("pyproject.toml", "[project]\nname = 'a'\n"), ("tests/test_a.py", "")];
    check(
        &[
            (PLAIN, "pytest", "pytest -q -p xdist -n 2 --dist loadfile", PYTEST),
            (PLAIN, "pytest", "pytest -q --continue-on-collection-errors", PYTEST),
        ],
        true,
    );
    check(&[(PLAIN, "pytest", "pytest -q -p no:python", PYTEST)], false);
}

#[test]
fn recursion_of_prove_where_no_folder_is_below() {
    const OK: &str = "t/a.t .. ok\nAll tests successful.\nFiles=1, Tests=2,  0 wallclock secs\nResult: PASS\n";
    const FLAT: Files = &[("t/a.t", ""), ("lib/A.pm", "")];
    const DEEP: Files = &[("t/a.t", ""), ("t/b/c.t", "")];
    check(
        &[
            (FLAT, "prove -lr t", "prove -l t", OK),
            (FLAT, "prove -lr t", "prove -lv t 2>&1 | tail -20", OK),
            (FLAT, "prove -lr t", "prove -l", OK),
            (FLAT, "prove -lr t", "prove -lj4 t/", OK),
        ],
        true,
    );
    check(&[(DEEP, "prove -lr t", "prove -l t", OK), (FLAT, "prove -lr t", "prove -r t", OK)], false);
}
