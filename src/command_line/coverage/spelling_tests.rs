//! Lines that run all of a declared command in another spelling, and their twins that do not.

use super::tests::{Files, check};

const PYTEST: &str = "4 passed in 0.02s\n";

#[test]
fn pytest_in_the_folder_of_the_tests() {
    const PLAIN: Files = &[("tests/test_a.py", ""), ("tests/unit/test_b.py", ""), ("calc.py", "")];
    const SET: Files = &[
        ("tests/test_a.py", ""),
        ("tests/unit/test_b.py", ""),
        ("conftest.py", "import calc\n"),
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"),
    ];
    const FILES_SET: Files = &[
        ("tests/test_a.py", ""),
        ("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests', 'check.py']\n"),
    ];
    const APART: Files =
        &[("tests/test_a.py", ""), ("more/test_b.py", ""), ("pytest.ini", "[pytest]\ntestpaths = tests\n")];
    const LISTED: Files = &[("tests/test_a.py", ""), ("pytest.ini", "[pytest]\ntestpaths =\n  tests\n  check.py\n")];
    const UNSET: Files = &[("tests/test_a.py", ""), ("conftest.py", "import calc\n"), ("setup.cfg", "[metadata]\n")];
    const OWN: Files = &[("tests/test_a.py", ""), ("tests/setup.cfg", "[tool:pytest]\n")];
    const RELATIVE: Files = &[("tests/test_a.py", ""), ("pytest.ini", "[pytest]\naddopts = --ignore=unit\n")];
    const OTHERS: Files = &[("tests/test_a.py", ""), ("test_b.py", "")];
    const FAIL_UNDER: Files =
        &[("tests/test_a.py", ""), ("pytest.ini", "[pytest]\naddopts = --cov\n"), (".coveragerc", "fail_under = 90\n")];
    check(
        &[
            (PLAIN, "pytest", "cd tests && pytest -q", PYTEST),
            (PLAIN, "pytest", "(cd tests; python3 -m pytest)", PYTEST),
            (SET, "pytest", "cd tests && pytest .", PYTEST),
            (SET, "pytest", "pytest tests/test_a.py tests/unit/test_b.py", PYTEST),
            (SET, "pytest tests", "cd tests/unit && pytest ..", PYTEST),
            (SET, "pytest tests/unit", "cd tests/unit && pytest; cd ../..", PYTEST),
            (SET, "cd tests && pytest", "pytest", PYTEST),
            (SET, "pytest tests/test_a.py", "cd tests && pytest test_a.py", PYTEST),
        ],
        true,
    );
    check(
        &[
            (PLAIN, "pytest", "cd tests/unit && pytest", PYTEST),
            (SET, "pytest", "cd tests && pytest unit", PYTEST),
            (SET, "pytest", "pytest tests/test_a.py", PYTEST),
            (FILES_SET, "pytest", "pytest tests/test_a.py", PYTEST),
            (LISTED, "pytest", "pytest tests/test_a.py", PYTEST),
            (APART, "pytest tests/test_a.py more/test_b.py", "pytest -q", PYTEST),
            (APART, "pytest tests more", "pytest -q", PYTEST),
            (SET, "pytest", "cd tests && pytest -k a", PYTEST),
            (SET, "pytest", "cd tests && pytest -c other.ini", PYTEST),
            (SET, "pytest --ignore=unit", "cd tests && pytest --ignore=unit", PYTEST),
            (UNSET, "pytest", "cd tests && pytest", PYTEST),
            (OWN, "pytest", "cd tests && pytest", PYTEST),
            (RELATIVE, "pytest", "cd tests && pytest", PYTEST),
            (OTHERS, "pytest", "cd tests && pytest", PYTEST),
            (FAIL_UNDER, "pytest", "cd tests && pytest", PYTEST),
        ],
        false,
    );
}

#[test]
fn all_files_by_their_names() {
    const PY: Files =
        &[("tests/test_a.py", ""), ("tests/test_b.py", ""), ("tests/conftest.py", "import os\n"), ("a.py", "")];
    const HOOKED: Files = &[("tests/test_a.py", ""), ("tests/conftest.py", "def pytest_collect_file(): pass\n")];
    const DEEP: Files = &[("tests/test_a.py", ""), ("tests/unit/test_b.py", "")];
    const MODULES: Files = &[("tests/__init__.py", ""), ("tests/test_a.py", ""), ("tests/test_b.py", "")];
    const NODE: Files =
        &[("test/a.test.js", ""), ("test/b.test.js", ""), ("a.js", ""), ("node_modules/x/x.test.js", "")];
    const HELPED: Files = &[("test/a.test.js", ""), ("test/helper.js", "")];
    const JEST: Files = &[("package.json", "{}"), ("test/a.test.js", ""), ("test/b.test.js", "")];
    const JEST_ELSEWHERE: Files = &[("test/a.test.js", ""), ("src/__tests__/b.js", "")];
    const SPEC: Files = &[("spec/a_spec.rb", ""), ("spec/b_spec.rb", "")];
    const UNITTEST: &str = "Ran 4 tests in 0.001s\n\nOK\n";
    const NODE_OK: &str = "# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n";
    const JEST_OK: &str = "Test Suites: 2 passed, 2 total\nTests:       4 passed, 4 total\n";
    const RSPEC: &str = "3 examples, 0 failures\n";
    check(
        &[
            (PY, "pytest", "pytest tests/*.py", PYTEST),
            (PY, "pytest", "pytest -q tests/test_*.py", PYTEST),
            (PY, "pytest", "pytest tests/test_b.py ./tests/test_a.py", PYTEST),
            (MODULES, "python -m unittest", "python3 -B -u -m unittest", UNITTEST),
            (MODULES, "python -m unittest", "python3 -m unittest tests/test_*.py", UNITTEST),
            (MODULES, "python -m unittest", "python -m unittest tests.test_a tests.test_b", UNITTEST),
            (NODE, "node --test", "node --test test/*.test.js", NODE_OK),
            (NODE, "node --test", "node --test test/", NODE_OK),
            (JEST, "npx jest", "jest test/", JEST_OK),
            (JEST, "npx jest", "npx jest test/*.js", JEST_OK),
            (SPEC, "rspec", "rspec spec/*_spec.rb", RSPEC),
        ],
        true,
    );
    check(
        &[
            (PY, "pytest", "pytest tests/test_a.py", PYTEST),
            (PY, "pytest", "pytest tests/test_[a].py", PYTEST),
            (PY, "pytest", "pytest tests/test_a.py tests/test_b.py::test_x", PYTEST),
            (PY, "pytest", "pytest 'tests/*.py'", PYTEST),
            (HOOKED, "pytest", "pytest tests/test_*.py", PYTEST),
            (DEEP, "pytest", "pytest tests/*.py", PYTEST),
            (MODULES, "python -m unittest", "python -m unittest tests.test_a", UNITTEST),
            (MODULES, "python -m unittest", "python -m unittest tests.test_a tests.test_b.T", UNITTEST),
            (HELPED, "node --test", "node --test test/*.test.js", NODE_OK),
            (NODE, "node --test", "node --test test/a*.test.js", NODE_OK),
            (JEST_ELSEWHERE, "npx jest", "jest test/", JEST_OK),
            (JEST, "npx jest", "jest test/a", JEST_OK),
            (SPEC, "rspec", "rspec spec/a_spec.rb:3 spec/b_spec.rb", RSPEC),
        ],
        false,
    );
}

#[test]
fn scripts_of_the_project() {
    const SH: Files =
        &[("test/run", "#!/bin/sh\necho ok\n"), ("t.py", "#!/usr/bin/env python3\n"), ("plain", "echo ok\n")];
    const BASH: Files = &[("t.sh", "#!/bin/bash\n"), ("strict.sh", "#!/usr/bin/env -S bash -e\n")];
    check(
        &[
            (SH, "./test/run", "sh test/run", "ok\n"),
            (SH, "./test/run", "bash -x ./test/run", "ok\n"),
            (SH, "./test/run", "/work/repo/test/run", "ok\n"),
            (SH, "sh test/run", "test/run", "ok\n"),
            (SH, "./t.py", "python t.py", "ok\n"),
            (SH, "./t.py", ".venv/bin/python3 t.py", "ok\n"),
            (SH, "./plain", "sh plain", "ok\n"),
            (BASH, "./t.sh", "bash t.sh", "ok\n"),
            (BASH, "./strict.sh", "./strict.sh", "ok\n"),
        ],
        true,
    );
    check(
        &[
            (SH, "./test/run", "sh test/other", "ok\n"),
            (SH, "./test/run", "./fake/sh test/run", "ok\n"),
            (SH, "./test/run", "sh test/run -k a", "ok\n"),
            (SH, "./test/run", "sh -n test/run", "ok\n"),
            (SH, "./test/run", "cd test && ./run", "ok\n"),
            (SH, "./t.py", "sh t.py", "ok\n"),
            (BASH, "./t.sh", "sh t.sh", "ok\n"),
            (BASH, "./strict.sh", "bash strict.sh", "ok\n"),
        ],
        false,
    );
}

#[test]
fn packages_and_members_by_other_names() {
    const GO: Files = &[("go.mod", "module example.com/m\n\ngo 1.22\n"), ("m.go", ""), ("sub/s.go", "")];
    const TWO: Files =
        &[("go.mod", "module example.com/m\n"), ("m.go", ""), ("sub/go.mod", "module x\n"), ("sub/s.go", "")];
    const GO_OK: &str = "ok  \texample.com/m\t0.002s\nok  \texample.com/m/sub\t0.003s\n";
    const PNPM: Files = &[
        ("package.json", r#"{"scripts":{"test":"pnpm -r test"}}"#),
        ("pnpm-workspace.yaml", "# All.\npackages:\n  - 'packages/*' # each\nonlyBuiltDependencies:\n  - x\n"),
        ("packages/a/package.json", r#"{"name":"a","scripts":{"test":"jest"}}"#),
        ("packages/b/package.json", r#"{"name":"b","scripts":{"test":"jest"}}"#),
    ];
    const JEST_OK: &str = "Tests:       4 passed, 4 total\nTests:       4 passed, 4 total\n";
    check(
        &[
            (GO, "go test ./...", "go test example.com/m/...", GO_OK),
            (GO, "go test ./...", "cd sub && go test ../...", GO_OK),
            (GO, "go vet ./...", "cd sub && go vet example.com/m/...", "\n"),
            (GO, "go test ./...", "go test example.com/m example.com/m/sub", GO_OK),
            (PNPM, "pnpm -r test", "pnpm recursive run test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter a -F b test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter ./packages/a --filter b run test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm test", JEST_OK),
        ],
        true,
    );
    check(
        &[
            (GO, "go test ./...", "go test example.com/m/sub/...", GO_OK),
            (GO, "go test ./...", "go test example.com/other/...", GO_OK),
            (GO, "go test ./...", "cd sub && go test ./...", GO_OK),
            (TWO, "go test ./...", "cd sub && go test ../...", GO_OK),
            (PNPM, "pnpm -r test", "pnpm --filter a test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter a --filter '!b' test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter packages/a --filter packages/b test", JEST_OK),
        ],
        false,
    );
}

#[test]
fn the_workspace_from_the_folder_of_a_member() {
    const CARGO: &str =
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    const TWO: Files = &[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        ("b/Cargo.toml", "[package]\nname = 'b'\n"),
        ("c/Cargo.toml", "[package]\nname = 'c'\n"),
    ];
    const OWN: Files = &[
        ("Cargo.toml", "[workspace]\nmembers = ['a']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        ("a/.cargo/config.toml", "[build]\n"),
    ];
    check(
        &[
            (TWO, "cargo test --workspace", "cd a && cargo test --all", CARGO),
            (TWO, "cargo test", "cd a/src && cargo test --workspace", CARGO),
            (TWO, "cargo test", "cd a && cargo test --manifest-path ../Cargo.toml", CARGO),
        ],
        true,
    );
    check(
        &[
            (TWO, "cargo test --workspace", "cd a && cargo test", CARGO),
            (TWO, "cargo test --workspace", "cd c && cargo test --workspace", CARGO),
            (TWO, "cargo test --workspace", "cd a && cargo test --workspace --exclude b", CARGO),
            (TWO, "cargo test --workspace", "cd a && cargo test --manifest-path Cargo.toml", CARGO),
            (OWN, "cargo test --workspace", "cd a && cargo test --workspace", CARGO),
        ],
        false,
    );
}

#[test]
fn each_printed_status_belongs_to_its_command() {
    const LINE: &str = "./test.sh; echo \"exit: $?\"; ./lint.sh; echo \"exit: $?\"";
    check(
        &[
            (&[], "./test.sh", LINE, "ok\nexit: 0\nbad\nexit: 1\n"),
            (&[], "./lint.sh", LINE, "bad\nexit: 1\nok\nexit: 0\n"),
            (&[], "./test.sh", "./test.sh; echo $?; ./lint.sh; echo $?", "ok\n0\nbad\n1\n"),
        ],
        true,
    );
    check(
        &[
            (&[], "./test.sh", LINE, "bad\nexit: 1\nok\nexit: 0\n"),
            (&[], "./lint.sh", LINE, "ok\nexit: 0\nbad\nexit: 1\n"),
            (&[], "./test.sh", LINE, "exit: 0\n"),
            (&[], "./test.sh", LINE, "exit: 0\nexit: 1\nexit: 0\n"),
            (&[], "./test.sh", LINE, "…\nexit: 0\nexit: 0\n"),
            (
                &[],
                "./test.sh",
                "./test.sh | cat; echo \"exit: $?\"; ./lint.sh; echo \"exit: $?\"",
                "exit: 0\nexit: 0\n",
            ),
            (
                &[],
                "./test.sh",
                "for f in $FILES; do ./test.sh; echo \"exit: $?\"; done; ./lint.sh; echo \"exit: $?\"",
                "exit: 0\nexit: 0\n",
            ),
        ],
        false,
    );
}

#[test]
fn the_installed_programs_of_the_project_first() {
    const FILES: Files = &[("package.json", r#"{"scripts":{"test":"jest"}}"#)];
    const HIDDEN: Files = &[("src/pytest.py", "")];
    const JEST_OK: &str = "Tests:       4 passed, 4 total\n";
    check(
        &[
            (&[], "pytest", "PATH=$PWD/.venv/bin:$PATH pytest", PYTEST),
            (&[], "pytest", "PATH=\"$(pwd)/venv/bin:$PATH\" pytest", PYTEST),
            (&[], "pytest", "export PATH=.venv/bin:$PATH; pytest -q", PYTEST),
            (&[], "pytest", "env PATH=$PWD/.venv/bin:$PATH pytest", PYTEST),
            (&[], "pytest", "timeout 60 env \"PATH=$PWD/.venv/bin:$PATH\" CI=1 pytest", PYTEST),
            (FILES, "npm test", "env PATH=./node_modules/.bin:$PATH jest", JEST_OK),
            (&[], "pytest", "PYTHONPATH=$PWD pytest", PYTEST),
            (&[], "pytest", "PYTHONPATH=\"$(pwd)/src:$PYTHONPATH\" python -m pytest", PYTEST),
            (&[], "pytest", "export PYTHONPATH=/work/repo/src; pytest", PYTEST),
            (&[], "pytest", "uv run -m pytest -q", PYTEST),
            (&[], "pytest", "uv run --frozen --module pytest", PYTEST),
            (FILES, "npm test", "PATH=$PWD/node_modules/.bin:$PATH jest", JEST_OK),
        ],
        true,
    );
    check(
        &[
            (&[], "pytest", "PATH=$PWD/bin:$PATH pytest", PYTEST),
            (&[], "pytest", "PATH=$PWD/.venv/bin:$PWD/fake:$PATH pytest", PYTEST),
            (&[], "pytest", "PATH=$PWD/.venv/bin/../../fake:$PATH pytest", PYTEST),
            (&[], "pytest", "PATH=$(cat path):$PATH pytest", PYTEST),
            (&[], "pytest", "PATH=$PWD/.venv/bin:$PATH pytest -k a", PYTEST),
            (&[], "pytest", "env PATH=$PWD/fake:$PATH pytest", PYTEST),
            (&[], "pytest", "env PATH=$(cat path):$PATH pytest", PYTEST),
            (&[], "pytest", "export PATH=$(cat path); export PATH=$PATH:/usr/bin; pytest", PYTEST),
            (&[], "pytest", "export PATH=$PWD/fake:$PATH; env PATH=$PWD/.venv/bin:$PATH pytest", PYTEST),
            (HIDDEN, "pytest", "PYTHONPATH=$PWD/src pytest", PYTEST),
            (&[], "pytest", "PYTHONPATH=$OTHER pytest", PYTEST),
            (&[], "pytest", "export PYTHONPATH=$PWD/src; cd tests; pytest ..", PYTEST),
            (&[], "pytest", "uv run -m pytest -k a", PYTEST),
            (&[], "pytest", "uv run --python 3.8 -m pytest", PYTEST),
            (&[], "pytest", "uv run -m unittest", PYTEST),
        ],
        false,
    );
}

#[test]
fn a_word_of_a_script_that_depends_on_a_variable() {
    const BATS: Files = &[("package.json", r#"{"scripts":{"test":"bats ${CI+-t} test"}}"#), ("test/a.bats", "")];
    const FILTER: Files =
        &[("package.json", r#"{"scripts":{"test":"bats ${ONE:+--filter=one} test"}}"#), ("test/a.bats", "")];
    const OPEN: Files = &[("package.json", r#"{"scripts":{"test":"bats ${ARGS} test"}}"#), ("test/a.bats", "")];
    const QUOTED: Files = &[("package.json", r#"{"scripts":{"test":"echo '${CI+-t} x' && bats test"}}"#)];
    const OK: &str = "1..2\nok 1 a\nok 2 b\n";
    check(
        &[
            (BATS, "npm test", "bats test", OK),
            (BATS, "npm test", "npx bats -t test 2>&1", OK),
            (BATS, "bats test", "npm test", OK),
            (QUOTED, "npm test", "bats test", OK),
        ],
        true,
    );
    check(
        &[
            (BATS, "npm test", "bats -f one test", OK),
            (BATS, "npm test", "bats other", OK),
            (FILTER, "npm test", "bats test", OK),
            (FILTER, "bats test", "npm test", OK),
            (OPEN, "npm test", "bats test", OK),
        ],
        false,
    );
}

#[test]
fn the_only_project_of_gradle() {
    const ONE: Files = &[("settings.gradle", "rootProject.name = 'a'\n"), ("build.gradle", "")];
    const TWO: Files = &[("settings.gradle", "include 'a', 'b'\n"), ("build.gradle", "")];
    const NONE: Files = &[("build.gradle", "")];
    const OK: &str = "BUILD SUCCESSFUL in 3s\n";
    check(
        &[
            (ONE, "./gradlew test", "./gradlew :test", OK),
            (ONE, "gradle test", "gradle :check", OK),
            (ONE, "./gradlew :test", "./gradlew test --rerun", OK),
            (TWO, "./gradlew :test", "./gradlew test", OK),
        ],
        true,
    );
    check(
        &[
            (ONE, "./gradlew test", "./gradlew :a:test", OK),
            (ONE, "./gradlew test", "./gradlew :test --tests A", OK),
            (ONE, "./gradlew check", "./gradlew :test", OK),
            (ONE, "./gradlew test", "./gradlew :test || true", ""),
            (TWO, "./gradlew test", "./gradlew :test", OK),
            (NONE, "./gradlew test", "./gradlew :test", OK),
        ],
        false,
    );
}

#[test]
fn options_that_leave_no_test_out() {
    const JEST: &str = "Tests:       4 passed, 4 total\n";
    const VITEST: &str = " Test Files  2 passed (2)\n      Tests  5 passed (5)\n";
    const MAVEN: &str = "[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n";
    const MOCHA: Files = &[("package.json", "{}"), ("test/a.test.js", ""), ("test/b.test.js", "")];
    const MOCHA_OK: &str = "\n  2 passing (3ms)\n";
    const HATCH: Files = &[
        ("tests/test_a.py", ""),
        ("pyproject.toml", "[tool.hatch.envs.default.scripts]\ntest = 'pytest {args:tests}'\n"),
    ];
    const MANAGE: Files = &[("manage.py", "#!/usr/bin/env python3\nimport sys\n")];
    const DJANGO: &str = "Ran 4 tests in 0.1s\n\nOK\n";
    const GO: &str = "ok  \tx.y/z\t0.01s\n";
    const MINIMUM: Files = &[(".coveragerc", "[report]\nfail_under = 90\n")];
    check(
        &[
            (&[], "pytest", "py.test -q", PYTEST),
            (&[], "pytest", "pytest --no-cov", PYTEST),
            (&[], "npx jest", "npx jest --useStderr --no-coverage", JEST),
            (&[], "npx vitest run", "npx vitest run --pool forks --poolOptions.forks.singleFork --retry=0", VITEST),
            (&[], "npx vitest run", "npx vitest run --dir . --sequence.shuffle", VITEST),
            (&[], "mvn test", "mvn -T1C test-compile test -DtrimStackTrace=false", MAVEN),
            (&[], "python manage.py test", "python manage.py test --parallel 4 -v 2 --keepdb", DJANGO),
            (&[], "pytest", "conda run --no-capture-output -n dev python -m pytest -q", PYTEST),
            (MOCHA, "npx mocha", "npx mocha \"test/*.test.js\"", MOCHA_OK),
            (HATCH, "pytest", "hatch run test", PYTEST),
            (MANAGE, "python manage.py test", "coverage run --source=. manage.py test && coverage report", DJANGO),
            (&[], "python manage.py test", "python -m coverage run manage.py test --parallel 2", DJANGO),
            (MANAGE, "python manage.py test", "./manage.py test", DJANGO),
            (MANAGE, "./manage.py test", "python3 ./manage.py test -v 2", DJANGO),
            (&[], "go test ./...", "export PATH=$PATH:$(go env GOPATH)/bin && go test ./...", GO),
            (&[], "bazel test //...", "bazelisk test //...", "Executed 3 out of 3 tests: 3 tests pass.\n"),
            (
                &[],
                "cargo insta test",
                "INSTA_UPDATE=no cargo insta test",
                "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s\n",
            ),
        ],
        true,
    );
    check(
        &[
            (MINIMUM, "pytest", "pytest --no-cov", PYTEST),
            (&[], "npx vitest run", "npx vitest run --dir src", VITEST),
            (&[], "npx vitest run", "npx vitest run --retry=3", VITEST),
            (&[], "mvn test", "mvn test-compile", "[INFO] BUILD SUCCESS\n"),
            (&[], "mvn test", "mvn test -Dcheckstyle.skip", MAVEN),
            (&[], "python manage.py test", "python manage.py test --parallel shop", DJANGO),
            (&[("manage.py", "#!/bin/sh\n")], "python manage.py test", "./manage.py test", DJANGO),
            (&[], "pytest", "PATH=/tmp/fake:$PATH pytest", PYTEST),
            (&[], "pytest", "export PATH=$HOME/fake:$PATH; pytest", PYTEST),
            (&[], "go test ./...", "export PATH=$(go env GOBIN):$PATH; go test ./...", GO),
            (&[], "go test ./...", "export GOPATH=$PWD; export PATH=$(go env GOPATH)/bin:$PATH; go test ./...", GO),
            (
                &[],
                "cargo test",
                "INSTA_UPDATE=always cargo test",
                "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.0s\n",
            ),
        ],
        false,
    );
}
