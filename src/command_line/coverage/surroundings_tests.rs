//! Lines that run a declared command without a variable, or several times in a loop.

use super::tests::{Files, check, proof_with};

const PYTEST: &str = "4 passed in 0.02s\n";

#[test]
fn variables_that_the_line_takes_away() {
    check(
        &[
            (&[], "pytest", "unset DATABASE_URL; pytest", PYTEST),
            (&[], "pytest", "unset -v A B && python -m pytest 2>&1 | tail -5", PYTEST),
            (&[], "pytest", "unset PYTEST_ADDOPTS PYTHONPATH; pytest", PYTEST),
            (&[], "pytest", "export A=1; unset A; pytest", PYTEST),
            (&[], "pytest", "unset -f pytest; pytest", PYTEST),
            (&[], "pytest", "env -u A -uB --unset=C --unset D pytest -q", PYTEST),
            (&[], "pytest", "env -u PYTEST_ADDOPTS CI=1 pytest", PYTEST),
            (&[], "env -u A pytest", "unset A; pytest", PYTEST),
            (&[], "unset A; pytest", "env -u A -u B pytest", PYTEST),
            (&[], "A=1 pytest", "unset A; export A=1; pytest", PYTEST),
        ],
        true,
    );
    check(
        &[
            (&[], "pytest", "unset PATH; pytest", PYTEST),
            (&[], "pytest", "env -u HOME pytest", PYTEST),
            (&[], "pytest", "unset \"$NAME\"; pytest", PYTEST),
            (&[], "pytest", "env -u $NAME pytest", PYTEST),
            (&[], "pytest", "unset A; pytest -k a", PYTEST),
            (&[], "pytest", "env -u A pytest || true", ""),
            (&[], "pytest", "unset PYTEST_ADDOPTS; export PYTEST_ADDOPTS='-k a'; pytest", PYTEST),
            (&[], "pytest", "(unset PYTEST_ADDOPTS); PYTEST_ADDOPTS='-k a' pytest", PYTEST),
            (&[], "pytest", "export PYTEST_ADDOPTS='-k a'; [ -f x ] && unset PYTEST_ADDOPTS; pytest", PYTEST),
            (&[], "pytest", "export PYTEST_ADDOPTS='-k a'; env -u A pytest", PYTEST),
            (&[], "env -u A pytest", "pytest", PYTEST),
            (&[], "env -u A pytest", "unset A; A=1 pytest", PYTEST),
            (&[], "A=1 pytest", "A=1 env -u A pytest", PYTEST),
            (&[], "A=1 pytest", "env A=1 env -u A pytest", PYTEST),
            (&[], "A=1 pytest", "export A=1; unset A; pytest", PYTEST),
        ],
        false,
    );
}

#[test]
fn runs_in_the_rounds_of_a_loop() {
    const TWICE: &str = "4 passed in 0.02s\n4 passed in 0.02s\n";
    const THRICE: &str = "4 passed in 0.02s\n4 passed in 0.02s\n4 passed in 0.02s\n";
    const CRASH: &str = "4 passed in 0.02s\nSegmentation fault (core dumped)\n";
    const FAILURE: &str = "4 passed in 0.02s\n1 failed, 3 passed in 0.02s\n";
    const GO: &str = "ok  \tx.y/z\t0.01s\nok  \tx.y/z/a\t0.01s\n";
    const GO_TWICE: &str = "ok  \tx.y/z\t0.01s\nok  \tx.y/z/a\t0.01s\nok  \tx.y/z\t0.02s\nok  \tx.y/z/a\t0.03s\n";
    const GO_CUT: &str = "ok  \tx.y/z\t0.01s\nok  \tx.y/z/a\t0.01s\nok  \tx.y/z\t0.02s\n";
    const JEST: &str = "Test Suites: 1 passed, 1 total\nTests:       4 passed, 4 total\n";
    const JEST_TWICE: &str = "Test Suites: 1 passed, 1 total\nTests: 4 passed, 4 total\nTest Suites: 1 passed, 1 total\nTests: 4 passed, 4 total\n";
    check(
        &[
            (&[], "pytest", "for i in 1 2; do pytest || break; done", TWICE),
            (&[], "pytest", "for i in $(seq 3); do pytest -q || break; done", THRICE),
            (&[], "pytest", "for i in {1..3}; do pytest -q 2>&1 | tail -1; done", THRICE),
            (
                &[],
                "pytest",
                "for i in 1 2; do echo \"run $i\"; pytest -q 2>&1 | tail -1; done",
                "run 1\n4 passed in 0.02s\nrun 2\n4 passed in 0.02s\n",
            ),
            (&[], "pytest", "for i in $(seq 1 3); do pytest || exit 1; done", ""),
            (&[], "./test.sh", "set -e; for i in 1 2; do ./test.sh; done", ""),
            (&[], "./test.sh", "for i in $(seq 5); do ./test.sh || exit 1; done", ""),
            (&[], "npx jest", "for i in 1 2; do npx jest || break; done", JEST_TWICE),
            (&[], "go test ./...", "for i in $(seq 2); do go test -count=1 ./... || break; done", GO_TWICE),
        ],
        true,
    );
    check(
        &[
            (&[], "pytest", "for i in 1 2; do pytest || break; done", PYTEST),
            (&[], "pytest", "for i in 1 2; do pytest || break; done", CRASH),
            (&[], "pytest", "for i in 1 2; do pytest || break; done", FAILURE),
            (&[], "pytest", "for i in $(seq 3); do pytest -q || true; done", TWICE),
            (&[], "pytest", "for i in {1..3}; do pytest -q 2>&1 | tail -1; done", TWICE),
            (&[], "pytest", "for i in 1 2; do pytest -q tests/$i.py | tail -1; done", TWICE),
            (&[], "pytest", "for i in 1 2; do pytest -k a || break; done", TWICE),
            (&[], "pytest", "for i in $(seq 0); do pytest || exit 1; done", ""),
            (&[], "pytest", "for i in $(seq $N); do pytest || exit 1; done", ""),
            (&[], "./test.sh", "for i in 1 2; do ./test.sh || break; done", "ok\nok\n"),
            (&[], "npx jest", "for i in 1 2; do npx jest || break; done", JEST),
            (&[], "go test ./...", "for i in 1 2; do go test -count=1 ./... || break; done", GO),
            (&[], "go test ./...", "for i in 1 2; do go test -count=1 ./... || break; done", GO_CUT),
        ],
        false,
    );
}

#[test]
fn settings_that_a_line_writes_for_its_checks() {
    const GO: &str = "ok  \tx.y/z\t0.01s\n";
    check(
        &[
            (&[], "go test ./...", "go env -w GOFLAGS=-run=Add; go test ./...; go env -u GOFLAGS", GO),
            (&[], "pytest", "npm config set script-shell /bin/true; pytest", PYTEST),
        ],
        false,
    );
    check(
        &[
            (&[], "go test ./...", "go env GOFLAGS; go test ./...", GO),
            (&[], "pytest", "npm config set fund false; pytest", PYTEST),
        ],
        true,
    );
}

#[test]
fn a_check_that_is_repeated_if_it_fails() {
    const AT_LAST: &str = "1 failed, 3 passed in 0.02s\n4 passed in 0.02s\n";
    const NOTHING: &str = "no tests ran in 0.01s\n";
    const MASKED: &[(&str, &str)] = &[("package.json", r#"{"scripts":{"test":"jest || true"}}"#)];
    const RUNNER: &[(&str, &str)] = &[
        ("Cargo.toml", "[package]\nname = 'a'\n"),
        (".cargo/config.toml", "[target.'cfg(all())']\nrunner = 'true'\n"),
    ];
    check(
        &[
            (&[], "pytest", "pytest || pytest", PYTEST),
            (&[], "pytest", "pytest -q || pytest -q", AT_LAST),
            (&[], "pytest", "pytest || (sleep 1; pytest)", AT_LAST),
            (&[], "./test.sh", "./test.sh || ./test.sh", ""),
            (&[], "./test.sh", "cd . && (./test.sh || ./test.sh) && git status", ""),
        ],
        true,
    );
    check(
        &[
            (&[], "pytest", "pytest || pytest || true", AT_LAST),
            (&[], "pytest", "pytest || pytest --lf", AT_LAST),
            (&[], "pytest", "pytest || A=1 pytest", AT_LAST),
            (&[], "pytest", "pytest | tail -1 || pytest", AT_LAST),
            (&[], "pytest", "true || pytest || pytest", ""),
            (&[], "pytest", "pytest || pytest", NOTHING),
            (&[], "pytest", "pytest || pytest; true", AT_LAST),
            (MASKED, "npm test", "npm test > /dev/null || npm test > /dev/null", ""),
            (RUNNER, "cargo test", "cargo test > /dev/null || cargo test > /dev/null", ""),
            (&[], "pytest", "pytest() { true; }; pytest || pytest", ""),
            (&[], "./test.sh", "alias ./test.sh=true; ./test.sh || ./test.sh", ""),
            (&[], "./test.sh", "./test.sh || ./test.sh &", ""),
            (&[], "./test.sh", "./test.sh || ./test.sh; true", ""),
        ],
        false,
    );
}

#[test]
fn a_sourced_file_of_the_project_only_finds_programs() {
    const REAL: Files = &[(
        ".venv/bin/activate",
        "# Use it with source.\ndeactivate () {\n    if [ -n \"${_OLD_VIRTUAL_PATH:-}\" ] ; then\n        PATH=\"${_OLD_VIRTUAL_PATH}\"\n        export PATH\n    fi\n    unset -f deactivate\n}\nif [ \"$0\" = x ]; then\n    exit 33\nfi\nVIRTUAL_ENV=/work/repo/.venv\nexport VIRTUAL_ENV\nPATH=\"$VIRTUAL_ENV/bin:$PATH\"\nexport PATH\nhash -r 2> /dev/null\n",
    )];
    let line = "source .venv/bin/activate && pytest -q > log 2>&1";
    check(&[(REAL, "pytest", line, ""), (&[], "pytest", line, "")], true);
    check(&[(REAL, "pytest", ". \"$PWD/.venv/bin/activate\" && pytest -q > log 2>&1", "")], true);
    for text in [
        "export PYTEST_ADDOPTS=\"-k money\"\n",
        "cd /work/other\n",
        "exit 0\n",
        "  exit\n",
        "set -n\n",
        "trap 'exit 0' ERR EXIT\n",
        "pytest() { :; }\n",
        "alias pytest=true\n",
    ] {
        let files = [(".venv/bin/activate", text)];
        assert!(!proof_with(&files, "pytest", line, ""), "{text}");
        assert!(!proof_with(&files, "pytest", "cd /work/repo && . .venv/bin/activate; pytest", PYTEST), "{text}");
        assert!(!proof_with(&files, "pytest", ". \"$PWD/.venv/bin/activate\"; pytest", PYTEST), "{text}");
        assert!(!proof_with(&files, "pytest", ". $X/work/repo/.venv/bin/activate; pytest", PYTEST), "{text}");
    }
}
