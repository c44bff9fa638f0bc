//! Lines that prove nothing, or less than the declared command.

use super::tests::{CARGO_BAD, CARGO_OK, declared, project, proof_with, ran, shown};
use super::*;
use crate::shell_kind::Shell;

#[test]
fn arguments_that_may_leave_something_out_make_another_command() {
    let python = |more: &'static str, text: &'static str| vec![("tests/test_a.py", ""), (more, text)];
    for (files, run, line) in [
        (python("src/test_b.py", ""), "pytest", "pytest tests"),
        (python("test_b.py", ""), "pytest", "pytest tests"),
        (python("src/a_test.py", ""), "pytest", "pytest tests"),
        (python("docs/test_usage.txt", ""), "pytest", "pytest tests"),
        (python("src/conftest.py", ""), "pytest", "pytest tests"),
        (python("conftest.py", "def pytest_collect_file(): pass\n"), "pytest", "pytest tests"),
        (python("pytest.ini", "[pytest]\npython_files = check_*.py\n"), "pytest", "pytest tests"),
        (python("setup.cfg", "[tool:pytest]\naddopts = --doctest-modules\n"), "pytest", "pytest tests"),
        (python("tests/pytest.ini", ""), "pytest", "pytest tests"),
        (python("tests/test_b.py", ""), "pytest", "pytest tests/test_a.py"),
        (python("a.py", ""), "pytest", "pytest test"),
        (python("a.py", ""), "pytest --doctest-modules", "pytest --doctest-modules tests"),
        (python("pytest.ini", "[pytest]\ntestpaths = build\n"), "pytest", "pytest ."),
        (python("pytest.ini", "[pytest]\nfilterwarnings = error\n"), "pytest", "pytest -W ignore"),
        (python("a.py", ""), "pytest -W error", "pytest"),
        (python("a.py", ""), "pytest -W error", "pytest -W ignore"),
        (python("a.py", ""), "pytest -W error", "pytest -W error -W ignore"),
        (vec![], "prove -r", "prove"),
        (vec![(".proverc", "t/unit\n")], "prove", "prove t"),
        (vec![(".busted", "return {}\n")], "busted", "busted spec"),
        (vec![(".rspec", "--default-path checks\n")], "rspec", "rspec spec"),
        (vec![("Makefile", "all:\n\ttrue\ntest:\n\tsh t.sh\n")], "make all test", "make test"),
        (vec![("Makefile", "all:\n\ttrue\ntest:\n\tsh t.sh\n")], "make test", "make -n all test"),
    ] {
        assert!(!proof_with(&files, run, line, "1 passed in 0.1s"), "{line} for {run}");
    }
}

#[test]
fn silence_excludes_a_failure_and_not_that_nothing_was_started() {
    let mut wrong = Vec::new();
    for (run, line, dir, output, want) in [
        // Nothing shows that it was reached.
        ("go test ./...", "if [ -f api/Makefile ]; then cd api && go test ./...; fi", "api", "", "masked"),
        ("go test ./...", "git diff --quiet HEAD -- x || (cd . && go test ./...)", "", "", "masked"),
        ("go test ./...", "[ -f a.go ] || { cd . && go test ./...; }", "", "", "masked"),
        ("go test ./...", "make lint || (cd . && go test ./...)", "", "", "masked"),
        ("go test ./...", "[ -d nosuch ] || exit 0; cd api && go test ./...", "api", "", "masked"),
        ("go test ./...", "case $X in a) cd api && go test ./...;; esac", "api", "", "masked"),
        ("go test ./...", "cd . && [ -f nosuch ] && go test ./...; true", "", "", "masked"),
        ("go test ./...", "for d in $DIRS; do cd . && go test ./...; done", "", "", "masked"),
        ("go test ./...", "go vet ./... && [ -f x ] && go vet ./a && go test ./...; true", "", "", "masked"),
        ("npm test", "make lint || (cd . && npm test)", "", "", "masked"),
        ("cargo test", "[ -f a.rs ] || (cd . && cargo test)", "", "", "masked"),
        ("./ci.sh", "[ -f a.go ] || (cd . && ./ci.sh)", "", "", "masked"),
        ("go build ./...", "if [ -f nosuch ]; then go build ./...; fi", "", "", "masked"),
        ("go build ./...", "[ -d nosuch ] || exit 0; cd . && go build ./...", "", "", "masked"),
        ("go build ./...", "false && go build ./... || true", "", "", "-"),
        ("go build ./...", "case \"$X\" in a) go build ./...;; esac", "", "", "masked"),
        ("go build ./...", "make gen && go build ./... 2>&1 | tail -5", "", "", "masked"),
        // The status is that of something else.
        ("pytest", "pytest >/dev/null 2>&1; case $? in 0|1) ;; *) exit 1;; esac", "", "", "masked"),
        ("pytest", "pytest >/dev/null 2>&1; case $? in [01]) ;; *) exit 1;; esac", "", "", "masked"),
        ("pytest", "trap cleanup EXIT; cleanup() { exit 0; }; pytest >/dev/null 2>&1", "", "", "masked"),
        ("pytest", "c() { :; }; trap c EXIT; function c { exit 0; }; pytest >/dev/null 2>&1", "", "", "masked"),
        ("pytest", "declare -i rc=0; pytest >/dev/null 2>&1 || rc=rc+0; exit $rc", "", "", "masked"),
        ("pytest", "shopt -s extdebug; trap false DEBUG; pytest >/dev/null 2>&1", "", "", "masked"),
        ("pytest", "pytest >/dev/null 2>&1; case $? in 0) ;; *) exit 1;; esac", "", "", "pass"),
        ("pytest", "c() { rm -f x; }; trap c EXIT; pytest >/dev/null 2>&1", "", "", "pass"),
        ("pytest", "trap 'rm -f x' EXIT; pytest >/dev/null 2>&1", "", "", "pass"),
        ("pytest", "declare -i rc=0; pytest >/dev/null 2>&1 || rc=1; exit $rc", "", "", "pass"),
        ("tsc --noEmit", "[ -f a.go ] || tsc --noEmit", "", "", "masked"),
        ("tsc --noEmit", "[ -f nosuch ] && tsc --noEmit; true", "", "", "masked"),
        // A directory that was perhaps never entered is not the one that was asked for.
        ("go build ./...", "[ -d api ] && cd api; go build ./...", "api", "", "-"),
        // These surely ran.
        ("go build ./...", "cd api && go build ./... 2>&1 | tail -5", "api", "", "pass"),
        ("go build ./...", "cd api; go build ./...", "api", "", "pass"),
        ("go build ./...", "go build ./... 2>&1 | head -20; true", "", "", "pass"),
        ("go build ./...", "go vet ./... && go build ./... 2>&1 | tail -5", "", "", "pass"),
        ("go build ./...", "if cd api; then go build ./... | cat; fi", "api", "", "pass"),
        ("tsc --noEmit", "cd web && tsc --noEmit; echo done", "web", "done\n", "pass"),
        ("tsc --noEmit", "cd web && npx tsc --noEmit 2>&1 | head -30", "web", "", "pass"),
        ("go test ./...", "cd api && go vet ./... && go test ./...; echo done", "api", "ok  \ta\t0.1s\ndone\n", "pass"),
        (
            "go test ./...",
            "if [ -d api ]; then cd api && go test ./... && echo fine; fi",
            "api",
            "ok  \ta\t0.1s\nfine\n",
            "pass",
        ),
        ("cargo test", "cd api && cargo test", "api", "", "pass"),
    ] {
        let found = shown(&declared(run, dir), line, "", Some(Ended::Exited(0)), Some(output));
        if found != want {
            wrong.push(format!("{run} / {line} / {output}: {found}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_status_of_nothing_that_was_run_proves_nothing() {
    let mut wrong = Vec::new();
    for (line, passes) in [
        ("python3 -c 'print(1)' -m pytest", false),
        ("setsid -f pytest", false),
        ("pytest -o addopts=\"-k zero\"", false),
        ("env --version pytest", false),
        ("uv run --help pytest", false),
        ("nice --help pytest", false),
        ("flock -nE0 lock pytest", false),
        ("trap 'exit' DEBUG; pytest", false),
        ("trap 'exit 0' CHLD; pytest", false),
        ("set -n; pytest", false),
        ("set -o noexec; pytest", false),
        ("set -en; pytest", false),
        ("shopt -so noexec; pytest", false),
        ("shopt -s pipefail; pytest | tail", false),
        ("shopt -s globstar pipefail; pytest | tail", false),
        ("shopt -s -q pipefail; pytest | tail", false),
        ("shopt -s errexit; pytest; true", false),
        ("set -o pipefail < nosuch; pytest | cat", false),
        ("f() { local -; set -o pipefail; }; f; pytest | cat", false),
        ("true | pytest >/dev/null; exit $PIPESTATUS", false),
        ("pytest >/dev/null; rc=$?; : $((rc-=1)); exit $rc", false),
        ("pytest >/dev/null; rc=$?; echo $((rc=0)); exit $rc", false),
        ("pytest >/dev/null; rc=$?; [[ $((rc=0)) -eq 0 ]]; exit $rc", false),
        ("pytest >/dev/null; rc=$?; declare -n r=rc; r=0; exit $rc", false),
        ("pytest >/dev/null; rc=$?; typeset -n r=rc; read r <<< 0; exit $rc", false),
        ("set -t; pytest", false),
        ("hash pytest=/bin/true; pytest", false),
        ("commands[pytest]=/bin/true; pytest", false),
        ("aliases[pytest]=true; pytest", false),
        ("set -o NO_EXEC; pytest", false),
        ("hash -r; pytest", true),
        ("bash -o noexec -c pytest", false),
        ("bash -o noexec <<X\npytest\nX", false),
        ("BASH_CMDS[pytest]=/x/pytest; pytest", false),
        ("BASH_ALIASES[pytest]=true; pytest", false),
        ("declare -A BASH_ALIASES+=([pytest]=true); pytest", false),
        ("read 'BASH_CMDS[pytest]' <<< /x/pytest; pytest", false),
        ("command_not_found_handle() { echo ok; }; PATH=/bin; pytest", false),
        ("bash --rcfile x -ic pytest", false),
        ("HOME=/x; bash -lc pytest", false),
        ("HOME=/x bash -ic pytest", false),
        ("env HOME=/x bash --login -c pytest", false),
        ("env HOME=/x pytest", true),
        ("bash -lc pytest", true),
        ("shopt -so pipefail; pytest", true),
        ("shopt -s -o pipefail; pytest | tail", true),
        ("shopt -s globstar; pytest", true),
        ("set -o pipefail > /dev/null; pytest | cat", true),
        ("pytest | tail; exit $PIPESTATUS", true),
        ("pytest >/dev/null; rc=$?; echo $((rc+1)); exit $rc", true),
        ("set +t; pytest", true),
        ("chronic pytest", true),
        ("pytest", true),
        ("setsid -w pytest", true),
        ("setsid pytest", true),
        ("pytest -o addopts=''", true),
        ("env CI=1 pytest", true),
        ("nice -n 5 pytest", true),
        ("flock -w 60 lock pytest", true),
        ("flock -n -E 75 lock pytest", true),
        ("trap 'rm -f x' EXIT; pytest", true),
        ("trap 'echo \"+ $BASH_COMMAND\"' DEBUG; pytest", true),
        ("trap 'kill $P' INT TERM; pytest", true),
        ("trap - DEBUG; pytest", true),
        ("set -eu; set +n; pytest", true),
    ] {
        let found = crate::command_line::judge(
            line,
            &crate::command_line::LineRecord {
                status: Some(0),
                output: None,
                background: false,
                shell: Some(Shell::Bash),
            },
            Project::without_runners(&project()),
        );
        if (found.proves == crate::command_line::Proves::FullPass) != passes {
            wrong.push(format!("{line}: {:?} ({})", found.proves, found.reason));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn an_answer_about_the_program_proves_nothing() {
    let mut wrong = Vec::new();
    for line in [
        "cargo --list test", "cargo --version test", "npm --version test", "npm -v test", "node -v --test",
        "node --help --test",
    ] {
        let found = crate::command_line::judge(
            line,
            &crate::command_line::LineRecord {
                status: Some(0),
                output: None,
                background: false,
                shell: Some(Shell::Bash),
            },
            Project::without_runners(&project()),
        );
        if found.proves != crate::command_line::Proves::Nothing {
            wrong.push(format!("{line}: {:?} ({})", found.proves, found.reason));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn lines_that_prove_less_say_nothing() {
    let mut wrong = Vec::new();
    for (run, line) in [
        ("cargo test --all-features", "cargo test"),
        ("cargo test --workspace", "cargo test -p core"),
        ("cargo test", "cargo test parser"),
        ("cargo test", "cargo test --no-run"),
        ("cargo test", "cargo build"),
        ("cargo test", "echo cargo test"),
        ("cargo test", "cd web && cargo test"),
        ("cargo test", "cd /work/other && cargo test"),
        ("cargo test", "cd $DIR && cargo test"),
        ("cargo test", "RUSTFLAGS='--cfg skip' cargo test"),
        ("cargo test", "export RUSTFLAGS=x && cargo test"),
        ("cargo test", "env RUSTFLAGS=x cargo test"),
        ("pytest", "set -a; PYTEST_ADDOPTS='-k test_f'; pytest"),
        ("pytest", "set -a; read PYTEST_ADDOPTS <<< '-k test_f'; pytest"),
        ("pytest", "set -a; printf -v PYTEST_ADDOPTS %s '-k test_f'; pytest"),
        ("pytest", "set -a; for PYTEST_ADDOPTS in '-k test_f'; do pytest; done"),
        ("pytest", "export PYTEST_ADDOPTS=; read PYTEST_ADDOPTS <<< '-k test_f'; pytest"),
        ("pytest", "set -o allexport; PYTEST_ADDOPTS='-k test_f'; set +a; pytest"),
        ("pytest", "export $(cat .env); pytest"),
        ("cargo test", "PATH=/work/repo/fake:$PATH cargo test"),
        ("cargo test", "cargo() { true; }; cargo test"),
        ("cargo test", "alias cargo=true; cargo test"),
        ("cargo test", "source ./setup.sh; cargo test"),
        ("cargo test", "git stash && cargo test; git stash pop"),
        ("cargo test", "trap 'git stash pop' EXIT; git stash; cargo test"),
        ("cargo test", "python3 mutate.py && cargo test; git checkout -- src"),
        ("cargo test", "./mutate src/a.rs; cargo test; git restore src"),
        ("cargo test", "$MUTATE; cargo test; git reset --hard"),
        ("cargo test", "docker run --rm -v .:/src rust cargo test"),
        ("cargo test", "ssh host cargo test"),
        ("cargo test", "cargo test $ARGS"),
        ("cargo test", "cargo test \"$@\""),
        ("cargo fmt --check && cargo test", "cargo test"),
        ("cargo test && ./extra.sh", "cargo test"),
        ("pytest", "uv run --python 3.8 pytest"),
        ("pytest", "pytest --collect-only"),
        ("PYTHONPATH=src pytest", "pytest"),
        ("npm test", "npm run lint"),
        ("npm test", "npm --script-shell=/bin/true test"),
        ("npm test", "npm test --script-shell=/bin/true"),
        ("npm test", "npm test --script-shell /bin/true"),
        ("npm test", "npm test --script-sh=/bin/true"),
        ("npm test", "npm t --userconfig=other"),
        ("npm test", "npm run test --globalconfig other"),
        ("npm test", "npm --prefix web test"),
        ("npm test", "npm test -- -t login"),
        ("npm test", "npm test --workspace a"),
        ("npm run masked", "npx jest"),
        ("npm run cross", "npx jest --ci"),
        ("make check", "make test"),
        ("make soft", "go test ./..."),
        ("make check", "make -n check"),
        ("make check", "make -f other.mk check"),
        ("cargo test || true", "cargo test"),
        ("cargo test | tail", "cargo test"),
        ("$RUNNER test", "cargo test"),
        ("docker compose exec app pytest", "docker compose exec other pytest"),
        ("cargo test", "gate run test"),
        ("vitest run", "vitest watch"),
        // What a task runs has the variables and the wrappers of its call.
        ("npm test", "NODE_OPTIONS=--test-only npm test"),
        ("npm test", "NODE_ENV=production npm test"),
        ("NODE_ENV=test npm test", "npm test"),
        ("npm test", "export NODE_OPTIONS=--test-only; npm test"),
        ("npm run both", "NODE_OPTIONS=--test-only npm run both"),
        ("make test", "GOFLAGS=-run=x make test"),
        ("make check", "GOFLAGS=-run=x make check"),
        ("make test", "uv run --python 3.8 make test"),
    ] {
        let found = shown(&declared(run, ""), line, "", Some(Ended::Exited(0)), Some(CARGO_OK));
        if found != "-" {
            wrong.push(format!("{run} / {line}: {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_was_not_recorded_proves_nothing() {
    let cargo = declared("cargo test", "");
    for (line, ended, output, want) in [
        ("cargo test", None, None, "masked"),
        ("cargo test", None, Some(CARGO_OK), "pass"),
        ("cargo test -q", None, Some(CARGO_BAD), "fail 1"),
        ("cargo test -q", None, None, "masked"),
        ("cargo test -q", Some(Ended::Signalled(9)), Some(""), "broken"),
        ("cargo test", Some(Ended::Signalled(15)), Some(""), "broken"),
        ("cargo test", Some(Ended::Exited(127)), Some("cargo: command not found"), "fail 127"),
        ("cargo test -q; true", Some(Ended::Exited(0)), Some("sh: 1: cargo: not found"), "fail 127"),
        ("cargo test", Some(Ended::Exited(0)), Some("The user doesn't want to proceed with this tool use."), "-"),
        ("cargo test -q", Some(Ended::Exited(0)), Some("Command running in background with ID: 1"), "-"),
        ("cargo test & wait", Some(Ended::Exited(0)), Some(CARGO_OK), "pass"),
        ("cargo test -q && npm run build | tail -1", Some(Ended::Exited(0)), None, "pass"),
    ] {
        assert_eq!(shown(&cargo, line, "", ended, output), want, "{line} {ended:?} {output:?}");
    }
    let dir = RepoPath::from("");
    let told =
        ObservedLine { root: None, background: true, ..ran("cargo test", &dir, Some(Ended::Exited(0)), Some("")) };
    assert_eq!(witness(&[cargo], &told, Project::without_runners(&())), []);
}
