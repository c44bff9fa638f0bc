use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::policy::PathRules;
use crate::runner::ProjectFiles;
use crate::shell_kind::Shell;

/// A project that has these files.
pub(super) struct TaskFiles(pub(super) BTreeMap<&'static str, &'static str>);

impl ProjectFiles for TaskFiles {
    fn read(&self, path: &str) -> Option<String> {
        self.0.get(path).map(|text| (*text).to_owned())
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let below = |path: &&str| match folder {
            "" => Some((*path).to_owned()),
            _ => path.strip_prefix(folder)?.strip_prefix('/').map(str::to_owned),
        };
        let name = |rest: String| rest.split_once('/').map_or_else(|| rest.clone(), |(first, _)| format!("{first}/"));
        let names: std::collections::BTreeSet<String> = self.0.keys().filter_map(below).map(name).collect();
        Some(names.into_iter().collect())
    }
}

fn project() -> TaskFiles {
    TaskFiles(BTreeMap::from([
        (
            "package.json",
            r#"{"scripts":{"test":"jest --ci","lint":"eslint .","both":"npm run lint && npm test","masked":"jest || true","cross":"cross-env NODE_ENV=test jest --ci"}}"#,
        ),
        ("single/Cargo.toml", "[package]\nname = 'a'\n"),
        ("py/pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests/', 'more']\n"),
        ("one/pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"),
        ("ini/pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"),
        ("ini/pytest.ini", "[pytest]\n"),
        ("inner/pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['tests']\n"),
        ("inner/tests/setup.cfg", "[tool:pytest]\n"),
        ("wild/pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['t*']\n"),
        ("virtual/Cargo.toml", "[workspace]\nmembers = ['a']\n"),
        ("rooted/Cargo.toml", "[package]\nname = 'a'\n[workspace]\nmembers = ['b']\n"),
        ("some/Cargo.toml", "[workspace]\nmembers = ['a', 'b']\ndefault-members = ['a']\n"),
        ("web/package.json", r#"{"scripts":{"test":"vitest run"}}"#),
        ("Makefile", "test:\n\tgo test ./...\ncheck: test\n\tgo vet ./...\nsoft:\n\t-go test ./...\n"),
    ]))
}

pub(super) fn declared(run: &str, dir: &str) -> Command {
    Command {
        name: "it".to_owned(),
        gate: "tests".to_owned(),
        run: run.to_owned(),
        dir: RepoPath::from(dir),
        inputs: PathRules::new::<&str>(&["**"], &[]).expect("globs"),
        reports: Vec::new(),
        after_write: false,
    }
}

/// Returns the proof in one word: `pass`, `fail 101`, `empty`, `masked`, `broken`, or `-`.
fn shown(declared: &Command, line: &str, dir: &str, ended: Option<Ended>, output: Option<&str>) -> String {
    let dir = RepoPath::from(dir);
    let told = ObservedLine {
        line,
        dir: &dir,
        root: Some("/work/repo"),
        ended,
        output,
        cut: false,
        background: false,
        shell: Some(Shell::Bash),
    };
    let found = witness(std::slice::from_ref(declared), &told, Project::without_runners(&project()));
    match found.first() {
        None => "-".to_owned(),
        Some(found) => match (found.ended, &found.masked, &found.report) {
            (Ended::Exited(0), Some(_), _) => "masked".to_owned(),
            (Ended::Exited(0), None, Some(report)) if report.failed > 0 => "fail".to_owned(),
            (Ended::Exited(0), None, Some(report)) if report.passed == 0 => "empty".to_owned(),
            (Ended::Exited(0), None, _) => "pass".to_owned(),
            (Ended::Exited(status), ..) => format!("fail {status}"),
            _ => "broken".to_owned(),
        },
    }
}

const CARGO_OK: &str =
    "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
const CARGO_BAD: &str = "test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\nerror: test failed, to rerun pass `--lib`\n";
const CARGO_NONE: &str = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
const JEST_OK: &str = "Test Suites: 3 passed, 3 total\nTests:       21 passed, 21 total\n";

/// Returns the proof of `line`, which ended with this status, for the command `run`: whether it passed.
pub(super) fn ended_with(
    files: &[(&'static str, &'static str)],
    run: &str,
    line: &str,
    status: i32,
    output: &str,
) -> Option<bool> {
    let dir = RepoPath::from("");
    let told = ObservedLine {
        line,
        dir: &dir,
        root: Some("/work/repo"),
        ended: Some(Ended::Exited(status)),
        output: Some(output),
        cut: false,
        background: false,
        shell: Some(Shell::Bash),
    };
    let files = TaskFiles(files.iter().copied().collect());
    witness(&[declared(run, "")], &told, Project::without_runners(&files)).first().map(|found| found.ended.success())
}

/// Returns the proof of `line`, which passed in a project with these files, for the command `run`.
pub(super) fn proof_with(files: &[(&'static str, &'static str)], run: &str, line: &str, output: &str) -> bool {
    let dir = RepoPath::from("");
    let told = ObservedLine {
        line,
        dir: &dir,
        root: Some("/work/repo"),
        ended: Some(Ended::Exited(0)),
        output: Some(output),
        cut: false,
        background: false,
        shell: Some(Shell::Bash),
    };
    let files = TaskFiles(files.iter().copied().collect());
    let found = witness(&[declared(run, "")], &told, Project::without_runners(&files));
    found.first().is_some_and(|found| found.ended == Ended::Exited(0) && found.masked.is_none())
}

#[test]
fn arguments_that_leave_nothing_out_make_no_other_command() {
    const PYTHON: &[(&str, &str)] = &[
        ("pyproject.toml", "[project]\nname = 'a'\n[tool.pytest.ini_options]\naddopts = '-ra'\n"),
        ("src/a.py", ""),
        ("conftest.py", "import sys\n"),
        ("tests/test_a.py", ""),
        ("tests/conftest.py", ""),
        (".venv/lib/test_b.py", ""),
        ("env/pyvenv.cfg", ""),
        ("env/lib/test_c.py", ""),
    ];
    const MAKE: &[(&str, &str)] = &[("Makefile", "all:\n\t$(CC) -o a a.c\ntest:\n\tsh t.sh\nlint:\n\t@echo done\n")];
    for (files, run, line, output) in [
        (PYTHON, "pytest", "pytest tests", "1 passed in 0.1s"),
        (PYTHON, "pytest", "python -m pytest ./tests/ -v", "1 passed in 0.1s"),
        (PYTHON, "pytest tests", "pytest", "1 passed in 0.1s"),
        (PYTHON, "pytest", "pytest .", "1 passed in 0.1s"),
        (PYTHON, "pytest", "pytest -W ignore", "1 passed in 0.1s"),
        (PYTHON, "pytest", "pytest -W error::DeprecationWarning tests", "1 passed in 0.1s"),
        (&[], "prove", "prove -lr", "Result: PASS"),
        (&[], "prove", "prove -lr t", "Result: PASS"),
        (&[], "prove -l", "prove -lvr t/", "Result: PASS"),
        (&[], "npx ava", "npx ava --serial", "  3 tests passed"),
        (&[], "busted", "busted -o TAP", "ok 1 - a"),
        (&[], "busted", "busted spec -v", "3 successes / 0 failures / 0 errors / 0 pending : 0.1 seconds"),
        (&[], "rspec", "rspec spec", "3 examples, 0 failures"),
        (MAKE, "make test", "make all test", "ok"),
        (MAKE, "make test", "make test lint", "ok"),
        (MAKE, "make all test", "make all && make test", "ok"),
        (&[("package.json", r#"{"scripts":{"test":"jest"}}"#)], "npm test", "npm t -- --silent", JEST_OK),
        (&[("package.json", r#"{"scripts":{"test":"sh t.sh"}}"#)], "npm test", "npm test --loglevel=error", "ok"),
    ] {
        assert!(proof_with(files, run, line, output), "{line} for {run}");
    }
}

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
        (python("a.py", ""), "pytest", "pytest tests/test_a.py"),
        (python("a.py", ""), "pytest", "pytest test"),
        (python("a.py", ""), "pytest --doctest-modules", "pytest --doctest-modules tests"),
        (python("pytest.ini", "[pytest]\ntestpaths = other\n"), "pytest", "pytest ."),
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
fn what_zsh_calls_by_itself_may_hide_a_failure() {
    let dir = RepoPath::from("");
    let shown = |line: &str, shell: Shell| {
        let ended = Some(Ended::Exited(0));
        let told = ObservedLine {
            line,
            dir: &dir,
            root: Some("/work/repo"),
            ended,
            output: None,
            cut: false,
            background: false,
            shell: Some(shell),
        };
        let files = TaskFiles(BTreeMap::new());
        let found = witness(&[declared("sh t.sh", "")], &told, Project::without_runners(&files));
        found.first().is_some_and(|found| found.masked.is_none())
    };
    for line in [
        "TRAPZERR() { exit 0; }; sh t.sh",
        "TRAPERR() { exit 0; }; sh t.sh",
        "TRAPEXIT() { exit 0; }; sh t.sh",
        "function TRAPDEBUG { exit 0; }; sh t.sh",
        "zshexit() { exit 0; }; sh t.sh",
        "f() { exit 0; }; zshexit_functions+=(f); sh t.sh",
        "f() { exit 0; }; autoload -Uz add-zsh-hook; add-zsh-hook zshexit f; sh t.sh",
        "trap 'exit 0' ZERR; sh t.sh",
        "trap 'return 0' SIGZERR; sh t.sh",
        "trap 'exit 0' EXIT; sh t.sh",
    ] {
        assert!(!shown(line, Shell::Zsh), "{line}");
    }
    for line in ["f() { exit 0; }; sh t.sh", "trap 'echo bye' EXIT; sh t.sh"] {
        assert!(shown(line, Shell::Zsh), "{line}");
    }
    assert!(shown("TRAPEXIT() { exit 0; }; sh t.sh", Shell::Bash));
}

#[test]
fn the_top_of_the_working_tree_is_a_known_folder() {
    let (declared_at_top, declared_below) = (declared("pytest", ""), declared("pytest", "web"));
    let passed = Some(Ended::Exited(0));
    for line in [
        "cd \"$(git rev-parse --show-toplevel)\" && pytest",
        "cd $(git rev-parse --show-toplevel) && pytest -q",
        "cd -- \"`git rev-parse --show-toplevel`\" && pytest",
        "cd \"$(git rev-parse --show-toplevel 2>/dev/null)\" && pytest",
        "ROOT=$(git rev-parse --show-toplevel); cd \"$ROOT\" && pytest",
        "ROOT=\"$(git rev-parse --show-toplevel)\" && cd \"${ROOT}\" && pytest",
        "(cd \"$(git rev-parse --show-toplevel)\" && pytest)",
        "cd \"$(git rev-parse --show-toplevel)/web\" && cd .. && pytest",
        "pushd \"$(git rev-parse --show-toplevel)\" && pytest",
    ] {
        assert_eq!(shown(&declared_at_top, line, "web", passed, None), "pass", "{line}");
        assert_eq!(shown(&declared_below, line, "web", passed, None), "-", "{line}");
    }
    for line in [
        "cd \"$(git rev-parse --show-toplevel)/web\" && pytest",
        "cd $(git rev-parse --show-toplevel) && cd web && pytest",
        "TOP=$(git rev-parse --show-toplevel); cd $TOP/web && pytest",
    ] {
        assert_eq!(shown(&declared_below, line, "api", passed, None), "pass", "{line}");
        assert_eq!(shown(&declared_at_top, line, "", passed, None), "-", "{line}");
    }
    for line in [
        "cd sub && cd \"$(git rev-parse --show-toplevel)\" && pytest",
        "cd \"$(git -C sub rev-parse --show-toplevel)\" && pytest",
        "cd \"$(git rev-parse --show-superproject-working-tree)\" && pytest",
        "cd \"$(GIT_WORK_TREE=/x git rev-parse --show-toplevel)\" && pytest",
        "export GIT_WORK_TREE=/x; cd \"$(git rev-parse --show-toplevel)\" && pytest",
        "git() { echo /x; }; cd \"$(git rev-parse --show-toplevel)\" && pytest",
        "ROOT=$(git rev-parse --show-toplevel); ROOT=/x; cd \"$ROOT\" && pytest",
        "ROOT=$(git rev-parse --show-toplevel); read ROOT; cd \"$ROOT\" && pytest",
        "ROOT=$(git rev-parse --show-toplevel); true && ROOT=$(pwd -P)/x; cd \"$ROOT\" && pytest",
        "ROOT=$(git rev-parse --show-toplevel); for ROOT in /x; do cd \"$ROOT\" && pytest; done",
        "cd \"$(git rev-parse --show-toplevel)x\" && pytest",
        "cd \"$(git rev-parse --show-toplevel)/..\" && pytest",
        "cd \"$(git rev-parse --show-toplevel)\"; cd ..; cd work/repo; pytest",
    ] {
        assert_eq!(shown(&declared_at_top, line, "", passed, None), "-", "{line}");
    }
    let elsewhere = "cd \"$(git rev-parse --show-toplevel)\" && pytest";
    assert_eq!(shown(&declared_at_top, elsewhere, "/tmp/other", passed, None), "-");
}

#[test]
fn lines_that_run_the_declared_command() {
    let mut wrong = Vec::new();
    for (run, line, status, output, want) in [
        ("cargo test", "cargo test", 0, "", "pass"),
        ("cargo test", "cargo test", 101, "", "fail 101"),
        ("cargo test", "cargo test 2>&1 | tail -5", 0, CARGO_OK, "pass"),
        ("cargo test", "cargo test 2>&1 | tail -5", 0, CARGO_BAD, "fail 1"),
        ("cargo test", "cargo test 2>&1 | tail -5", 0, "Finished\n", "masked"),
        ("cargo test", "cargo test | tail -5; exit ${PIPESTATUS[0]}", 0, CARGO_OK, "pass"),
        ("cargo test", "set -o pipefail; cargo test | tail -5", 101, CARGO_BAD, "fail 101"),
        ("cargo test", "cargo test || true", 0, CARGO_OK, "pass"),
        ("cargo test", "cargo test || true", 0, "", "masked"),
        ("cargo test", "cargo test; echo \"exit: $?\"", 0, "exit: 0\n", "masked"),
        ("cargo test", "cargo test; echo \"exit: $?\"", 0, "exit: 101\n", "fail 1"),
        ("sh test.sh", "sh test.sh; echo \"exit: $?\"", 0, "fine\nexit: 0\n", "pass"),
        ("sh test.sh", "sh test.sh; echo \"exit: $?\"", 0, "bad\nexit: 3\n", "fail 1"),
        ("sh test.sh", "sh test.sh; echo \"exit: $?\"", 0, "exit: 0\nbad\nexit: 3\n", "masked"),
        ("sh test.sh", "sh test.sh; echo \"exit: $?\"", 0, "fine\n", "masked"),
        ("cargo test", "cargo test && cargo clippy", 0, "", "pass"),
        ("cargo test", "cargo build && cargo test", 101, "error: could not compile `x`\n", "-"),
        ("cargo test", "timeout 600 cargo test -q", 0, "", "pass"),
        ("cargo test", "timeout 600 cargo test -q", 124, "", "broken"),
        ("cargo test", "cd /work/repo && RUST_BACKTRACE=1 cargo test --no-fail-fast 2>&1", 0, "", "pass"),
        ("cargo test", "cd /work/repo; cargo test", 0, CARGO_OK, "pass"),
        ("cargo test", "export PATH=\"$HOME/.cargo/bin:$PATH\" && cargo test", 0, "", "pass"),
        (". ~/.cargo/env && cargo test", "source $HOME/.cargo/env; cargo test", 0, "", "pass"),
        ("cargo test", "cargo test", 0, CARGO_NONE, "empty"),
        ("cargo test", "cargo test --jobs 4", 0, CARGO_NONE, "empty"),
        ("cargo test", "cargo test > /tmp/log 2>&1; tail -3 /tmp/log", 0, CARGO_OK, "pass"),
        ("cargo fmt --check && cargo clippy -- -D warnings && cargo test", "cargo test", 101, "", "fail 101"),
        (
            "cargo fmt --check && cargo clippy -- -D warnings && cargo test",
            "cargo clippy -- -D warnings && cargo test && cargo fmt --check && echo all good",
            0,
            "",
            "pass",
        ),
        ("pytest", "source .venv/bin/activate && python -m pytest -q", 0, "12 passed in 0.3s\n", "pass"),
        ("pytest", "python -m pytest -q", 5, "no tests ran in 0.01s\n", "empty"),
        ("uv run pytest", "uv run --frozen pytest -x", 0, "", "pass"),
        ("pytest", "uv run pytest -x", 0, "", "pass"),
        ("npm test", "npm test", 0, "", "pass"),
        ("npm test", "npm run test --silent", 0, "", "pass"),
        ("npm test", "npx jest --ci", 0, "", "pass"),
        ("npx jest --ci", "npm test 2>&1 | tail -4", 0, JEST_OK, "pass"),
        ("npm run both", "npm test && npx eslint .", 0, "", "pass"),
        ("npm test", "npm run both", 0, "", "pass"),
        ("pnpm both", "pnpm lint && pnpm test", 0, "", "pass"),
        ("pnpm run both", "pnpm run lint && pnpm test", 0, "", "pass"),
        ("yarn both", "yarn lint && yarn test", 0, "", "pass"),
        ("bun run both", "bun run lint && bun run test", 0, "", "pass"),
        ("npm run both", "npm run lint && npm test", 0, "", "pass"),
        ("npm run both", "npm run lint; npm test", 0, "", "masked"),
        ("npm run both", "npm run lint || npm test", 0, "", "masked"),
        ("go test ./...", "go test -race -v ./...", 0, "", "pass"),
        ("npm test", "npm run both", 1, "", "masked"),
        ("npm run both", "npm run both", 1, "", "fail 1"),
        ("make check", "go test ./... && go vet ./...", 0, "", "pass"),
        ("go test ./...", "make test", 2, "", "fail 2"),
        ("make check", "make -j4 check V=1", 0, "", "pass"),
        (
            "cargo test",
            "set -e; [ -f x ] || true; test -d a || mkdir -p /tmp/a; cargo test; git switch b",
            0,
            "",
            "pass",
        ),
        ("cargo test", "docker compose up -d && cargo test && docker compose down", 0, "", "pass"),
        ("cargo test", "cargo build; npm ci; cargo test && git switch main", 0, "", "pass"),
        ("npm test", "NODE_ENV=test npm test", 0, "", "pass"),
        ("FOO=1 make check", "FOO=1 go test ./... && FOO=1 go vet ./...", 0, "", "pass"),
        ("FOO=1 npx jest --ci", "CI=1 FOO=1 npm test", 0, "", "pass"),
        ("./ci.sh", "./ci.sh", 0, "all fine\n", "pass"),
        ("./ci.sh", "./ci.sh 2>&1 | tail -3", 0, "all fine\n", "masked"),
        ("./ci.sh", "bash -c './ci.sh' && echo done", 0, "", "pass"),
        ("./ci.sh --all", "./ci.sh --all && git status", 0, "3 failed, 2 passed in 1s\n", "masked"),
        ("docker compose exec -T app pytest", "docker compose exec -T app pytest -q && echo ok", 0, "", "pass"),
        ("cargo test || true", "cargo test || true", 0, "", "masked"),
    ] {
        let found = shown(&declared(run, ""), line, "", Some(Ended::Exited(status)), Some(output));
        if found != want {
            wrong.push(format!("{run} / {line} / {status} / {output}: {found}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn of_one_check_that_runs_twice_the_second_result_decides() {
    const PYTEST: &str = "== 2 passed in 0.10s ==\n";
    const PYTEST_BAD: &str = "== 1 failed, 1 passed in 0.10s ==\n";
    let twice = |first: &str, second: &str| format!("{first}{second}");
    let mut wrong = Vec::new();
    for (run, line, status, output, want) in [
        ("cargo test", "cargo test && cargo test", 0, twice(CARGO_OK, CARGO_OK), "pass"),
        ("cargo test", "cargo test; cargo test", 0, twice(CARGO_OK, CARGO_OK), "pass"),
        ("cargo test", "cargo test -q 2>&1 | tail -3; cargo test", 0, twice(CARGO_OK, CARGO_OK), "pass"),
        ("pytest", "pytest -q; pytest", 0, twice(PYTEST, PYTEST), "pass"),
        ("pytest", "pytest -q; pytest", 0, twice(PYTEST_BAD, PYTEST), "pass"),
        ("pytest", "pytest -q || pytest", 0, String::new(), "masked"),
        ("pytest", "pytest -x tests/test_a.py; pytest", 0, twice(PYTEST_BAD, PYTEST), "pass"),
        ("./ci.sh", "./ci.sh; ./ci.sh", 0, String::new(), "pass"),
        ("npm test", "npm run both && npx jest --ci", 0, String::new(), "pass"),
        ("pytest", "pytest -q; pytest", 1, twice(PYTEST, PYTEST_BAD), "fail 1"),
        ("pytest", "pytest -q && pytest", 1, twice(PYTEST, PYTEST_BAD), "masked"),
        ("pytest", "pytest; pytest | tail -3", 0, twice(PYTEST, PYTEST), "masked"),
        ("pytest", "pytest; pytest || true", 0, twice(PYTEST, PYTEST_BAD), "masked"),
        ("pytest", "pytest; pytest -k login", 0, twice(PYTEST_BAD, PYTEST), "masked"),
        ("pytest", "pytest; pytest tests/test_a.py", 0, twice(PYTEST_BAD, PYTEST), "masked"),
        // They run at the same time.
        ("pytest", "pytest & pytest", 0, twice(PYTEST_BAD, PYTEST), "masked"),
        ("pytest", "pytest; sed -i s/1/2/ a.py; pytest; git checkout a.py", 0, twice(PYTEST_BAD, PYTEST), "masked"),
    ] {
        let found = shown(&declared(run, ""), line, "", Some(Ended::Exited(status)), Some(&output));
        if found != want {
            wrong.push(format!("{run} / {line} / {status} / {output}: {found}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn what_a_project_makes_the_same_check() {
    let mut wrong = Vec::new();
    for (run, dir, line, want) in [
        ("cargo test --workspace", "virtual", "cargo test", "pass"),
        ("cargo test --workspace", "virtual", "cargo test -q --locked --color always --no-fail-fast", "pass"),
        ("cargo test --all", "virtual", "cargo test", "pass"),
        ("cargo nextest run --workspace", "virtual", "cargo nextest run", "pass"),
        ("cargo clippy --workspace -- -D warnings", "virtual", "cargo clippy -- -D warnings", "pass"),
        ("cargo test --workspace", "virtual", "cargo test -p a", "-"),
        ("cargo test --workspace", "virtual", "cargo test --exclude a", "-"),
        ("cargo test --workspace", "virtual", "cargo test --lib", "-"),
        ("cargo test --workspace", "virtual", "cargo test a", "-"),
        (
            "cargo test --workspace --manifest-path a/Cargo.toml",
            "virtual",
            "cargo test --manifest-path a/Cargo.toml",
            "-",
        ),
        ("cargo test --workspace", "rooted", "cargo test", "-"),
        ("cargo test --workspace", "some", "cargo test", "-"),
        ("cargo test --workspace", "nowhere", "cargo test", "-"),
        // It may be a member of a workspace above.
        ("cargo test --workspace", "single", "cargo test", "-"),
    ] {
        let found = shown(&declared(run, dir), line, dir, Some(Ended::Exited(0)), Some(CARGO_OK));
        if found != want {
            wrong.push(format!("{run} in {dir} / {line}: {found}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let files = TaskFiles(BTreeMap::from([("Cargo.toml", "[package]\nname = 'a'\n")]));
    let dir = RepoPath::from("");
    let told = ObservedLine {
        line: "cargo test",
        dir: &dir,
        root: None,
        ended: Some(Ended::Exited(0)),
        output: Some(CARGO_OK),
        cut: false,
        background: false,
        shell: Some(Shell::Bash),
    };
    let found = witness(&[declared("cargo test --workspace", "")], &told, Project::without_runners(&files));
    assert_eq!(found.first().map(|found| found.ended), Some(Ended::Exited(0)), "one package is the whole workspace");
}

#[test]
fn folders_that_a_project_names_are_those_that_are_looked_into() {
    let mut wrong = Vec::new();
    for (run, dir, line, want) in [
        ("pytest", "one", "pytest tests/ -v", "pass"),
        ("pytest tests", "one", "pytest -x", "pass"),
        ("uv run pytest", "one", "uv run pytest tests", "pass"),
        ("pytest", "py", "pytest tests more", "pass"),
        ("pytest", "py", "pytest tests", "-"),
        ("pytest", "one", "pytest tests/unit", "-"),
        ("pytest", "one", "pytest .", "-"),
        ("pytest", "one", "pytest tests -k login", "-"),
        ("pytest", "one", "pytest -c other.ini tests", "-"),
        ("pytest", "one", "pytest -o testpaths=unit", "-"),
        ("pytest", "ini", "pytest tests", "-"),
        ("pytest", "inner", "pytest tests", "-"),
        ("pytest", "wild", "pytest tests", "-"),
        ("pytest", "nowhere", "pytest tests", "-"),
    ] {
        let found = shown(&declared(run, dir), line, dir, Some(Ended::Exited(0)), Some("2 passed in 0.10s\n"));
        if found != want {
            wrong.push(format!("{run} in {dir} / {line}: {found}, not {want}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
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
fn a_log_shows_what_was_written_into_it_as_long_as_nothing_else_was() {
    const PYTEST: &str = "== 12 passed in 0.30s ==\n";
    let mut wrong = Vec::new();
    for (line, output, want) in [
        // Something else may have come into it.
        ("pytest > t.log; sed -i 's/1 failed, //' t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; sed -Ei.bak 's/1 failed, //' ./t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; sed --in-pl 's/1 failed, //' t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; sed -i 's/1 failed, //' *.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; cp old.log t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; mv old.log t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; ln -sf old.log t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; install old.log t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; dd if=old.log of=t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; perl -pi -e 's/1 failed, //' t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; printf '1d\nw\nq\n' | ed -s t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; truncate -s 20 t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; sort -o t.log old.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; python3 -c \"open('t.log', 'w').write(x)\"; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; awk '{print > \"t.log\"}' old.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; cat old.log | tee t.log > /dev/null; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; ./tidy t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; git checkout old -- t.log; tail -1 t.log", PYTEST, "masked"),
        ("pytest > t.log; cd old; tail -1 t.log", PYTEST, "masked"),
        // A part of a line says something else.
        ("pytest 2>&1 | tail -c 24", "10 passed in 0.03s ==\n", "masked"),
        ("pytest 2>&1 | tail -c24", "10 passed in 0.03s ==\n", "masked"),
        ("pytest 2>&1 | tail -24c", "10 passed in 0.03s ==\n", "masked"),
        ("pytest 2>&1 | tail --byt=24", "10 passed in 0.03s ==\n", "masked"),
        ("pytest 2>&1 | tail -c +90", "10 passed in 0.03s ==\n", "masked"),
        ("pytest 2>&1 | tail -qc 24", "10 passed in 0.03s ==\n", "masked"),
        ("pytest > t.log 2>&1; tail -c 24 t.log", "10 passed in 0.03s ==\n", "masked"),
        ("echo tests; pytest 2>&1 | tail -c 24", "tests\n10 passed in 0.03s ==\n", "masked"),
        ("cat notes.py; pytest 2>&1 | tail -c 24", "a note\n10 passed in 0.03s ==\n", "masked"),
        ("pytest 2>&1 | tail -c 24", "\n1 failed, 10 passed in 0.03s ==\n", "fail 1"),
        // These only read, or write elsewhere.
        ("pytest > t.log; tail -1 t.log", PYTEST, "pass"),
        ("pytest > t.log; wc -l t.log; tail -1 t.log", &format!("40 t.log\n{PYTEST}"), "pass"),
        ("pytest > t.log 2>&1; grep -c FAILED t.log; tail -1 t.log", &format!("0\n{PYTEST}"), "pass"),
        ("pytest > t.log; sed -n '$p' t.log", PYTEST, "pass"),
        ("pytest > t.log; ls -la t.log > /dev/null; [ -s t.log ] && tail -1 t.log", PYTEST, "pass"),
        ("pytest > t.log; echo \"exit $?\" >> t.log; tail -2 t.log", &format!("{PYTEST}exit 0\n"), "pass"),
        ("pytest 2>&1 | tee t.log > /dev/null; tail -1 t.log", PYTEST, "pass"),
        ("pytest > t.log; git commit -qm 'no t.log any more'; tail -1 t.log", PYTEST, "pass"),
        ("pytest > t.log; cp a.txt b.txt; tail -1 t.log", PYTEST, "pass"),
        ("pytest > /tmp/t.log; cd old; tail -1 /tmp/t.log", PYTEST, "pass"),
        ("pytest 2>&1 | tail -c 2000", &format!("tests/a.py ....\n{PYTEST}"), "pass"),
        ("echo tests; pytest 2>&1 | tail -c 2000; echo done", &format!("tests\nts/a.py ....\n{PYTEST}done\n"), "pass"),
        ("pytest 2>&1 | tail -n +2", PYTEST, "pass"),
        ("pytest 2>&1 | tail -n5", PYTEST, "pass"),
    ] {
        let found = shown(&declared("pytest", ""), line, "", Some(Ended::Exited(0)), Some(output));
        if found != want {
            wrong.push(format!("{line} / {output}: {found}, not {want}"));
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
        ("set -t; pytest", false),
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
    for line in [
        "cargo --list test",
        "cargo --version test",
        "npm --version test",
        "npm -v test",
        "node -v --test",
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
fn directories_are_those_where_the_checks_run() {
    for (run, dir, line, start, want) in [
        ("npm test", "web", "cd web && npm test", "", "pass"),
        ("npm test", "web", "npm test", "web", "pass"),
        ("npm test", "web", "npm --prefix web test", "", "pass"),
        ("npm test", "web", "cd /work/repo/web && npx vitest run", "api", "pass"),
        ("npm test", "web", "cd ../web && npm test", "api", "pass"),
        ("cd web && npm test", "", "npm test", "web", "pass"),
        ("ctest --test-dir web", "", "cd web && ctest --output-on-failure", "", "pass"),
        ("cd web && uv run pytest", "", "uv run --directory web pytest -q", "", "pass"),
        ("uv run pytest", "web", "uv run --directory=web --cache-dir /tmp/c pytest", "", "pass"),
        ("uv run pytest", "", "uv run --directory web pytest", "", "-"),
        ("make test", "", "make -C .. test", "web", "pass"),
        ("npm test", "web", "npm test", "", "-"),
        ("npm test", "web", "cd web; npm test", "", "pass"),
        ("npm test", "web", "cd /tmp/copy/web && npm test", "", "-"),
    ] {
        let found = shown(&declared(run, dir), line, start, Some(Ended::Exited(0)), Some(""));
        assert_eq!(found, want, "{run} in {dir} / {line} in {start}");
    }
}

#[test]
fn a_runner_that_is_sent_elsewhere_works_there() {
    for (run, dir, line, start, want) in [
        ("npm test", "web", "npm test --prefix web", "", "pass"),
        ("npm test", "", "npm test --prefix web", "", "-"),
        ("npm test", "", "npm test --prefix /work/other", "", "-"),
        ("go test ./...", "", "go -C ../other test ./...", "", "-"),
        ("go test ./...", "lib", "go -C lib test ./...", "", "pass"),
        ("go test ./...", "lib", "go test -C /work/repo/lib ./...", "", "pass"),
        ("cargo test", "single", "cargo test --manifest-path single/Cargo.toml", "", "pass"),
        ("cargo test", "", "cargo test --manifest-path single/Cargo.toml", "", "-"),
        ("cargo test", "single", "cargo test --manifest-path \"$M\"", "", "-"),
        ("make test", "web", "cd nowhere; make -C web test", "", "-"),
        ("make -C web test", "", "cd web && make test", "", "pass"),
        // It chooses the surroundings, and the tests stay those where it is started.
        ("pytest", "web", "uv run --project web pytest", "", "-"),
    ] {
        let found = shown(&declared(run, dir), line, start, Some(Ended::Exited(0)), None);
        assert_eq!(found, want, "{run} in {dir} / {line} in {start}");
    }
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
    let told = ObservedLine {
        line: "cargo test",
        dir: &dir,
        root: None,
        ended: Some(Ended::Exited(0)),
        output: Some(""),
        cut: false,
        background: true,
        shell: Some(Shell::Bash),
    };
    assert_eq!(witness(&[cargo], &told, Project::without_runners(&())), []);
}

#[test]
fn a_line_that_starts_elsewhere_shows_what_it_runs_here() {
    let npm = declared("npm test", "");
    for (line, start, want) in [
        ("cd /work/repo && npm test", "/work/other", "pass"),
        ("cd ../repo && npm test", "/work/other", "pass"),
        ("cd ../repo/web && npm test", "/work/other", "-"),
        ("npm test", "/work/other", "-"),
        ("npm test && cd ../repo", "/work/other", "-"),
        ("cd ../repository && npm test", "/work/other", "-"),
        ("npm test", "/work/repo", "pass"),
    ] {
        assert_eq!(
            shown(&npm, line, start, Some(Ended::Exited(0)), Some("Tests: 3 passed, 3 total\n")),
            want,
            "{line}"
        );
    }
}

#[test]
fn counts_come_along_where_they_are_its_own() {
    let dir = RepoPath::from("");
    let report = |line: &str, output: &str| {
        let told = ObservedLine {
            line,
            dir: &dir,
            root: None,
            ended: Some(Ended::Exited(0)),
            output: Some(output),
            cut: true,
            background: false,
            shell: Some(Shell::Bash),
        };
        witness(&[declared("cargo test", "")], &told, Project::without_runners(&()))
            .pop()
            .and_then(|found| found.report)
    };
    let counted = report("cargo test -q", CARGO_OK).expect("counts");
    assert_eq!((counted.runner.as_str(), counted.passed, counted.failed), ("cargo test", 12, 0));
    assert_eq!(report("cargo test; cargo test -p a", CARGO_OK), None);
    assert_eq!(report("cargo test -q", CARGO_BAD), None, "a status that is its own wins over what it prints");
}

proptest! {
    #[test]
    fn lines_put_together_at_random_show_nothing_without_a_record(
        line in "(cargo test|npm test|make check|jest --ci|pytest|./ci.sh|cd web|export A=b|git stash|x=1|true|. env|[$]X|timeout 5)\
                 (( && | ; | [|][|] | [|] | & |\n)(cargo test|npm test|jest --ci|make check|tail -3|cat|cd [.][.]|git stash pop|echo [$][?]|wait|exit 1|[$](cargo test)|'|[(]cargo test[)])){0,5}",
        status in prop::option::of(-1..256_i32),
        output in "(test result: ok[.] 1 passed; 0 failed; 0 ignored;|1 failed|ok|0|\n| ){0,8}",
    ) {
        let dir = RepoPath::from("");
        let commands = [&line, "cargo test", "npm test", "make check"].map(|run| declared(run, ""));
        let ended = status.map(Ended::Exited);
        let told = ObservedLine { line: &line, dir: &dir, root: None, ended, output: Some(&output), cut: false, background: false, shell: Some(Shell::Bash) };
        for found in witness(&commands, &told, Project::without_runners(&project())) {
            prop_assert!(found.masked.is_none() || found.ended.success(), "{:?}", found);
        }
        for found in witness(&commands, &ObservedLine { ended: None, output: None, ..told }, Project::without_runners(&project())) {
            prop_assert!(found.masked.is_some() || !found.ended.success(), "{:?}", found);
        }
        prop_assert_eq!(witness(&commands, &ObservedLine { background: true, ..told }, Project::without_runners(&project())), []);
    }
}

#[test]
fn surroundings_and_containers_with_these_files_run_the_same_check() {
    for (run, line, want) in [
        ("pytest", "direnv exec . pytest", "pass"),
        ("pytest", "direnv exec /work/other pytest", "-"),
        ("pytest", "nix develop -c pytest", "pass"),
        ("pytest", "nix develop .#ci --command pytest", "pass"),
        ("pytest", "nix develop --impure -c bash -c 'pytest'", "pass"),
        ("pytest", "nix --extra-experimental-features 'nix-command flakes' develop -c pytest", "pass"),
        ("pytest", "nix develop -c pytest -k one", "-"),
        ("pytest", "nix develop -u PYTHONPATH -c pytest", "-"),
        ("pytest", "nix develop", "-"),
        ("pytest", "nix-shell --run \"pytest\"", "pass"),
        ("pytest", "nix-shell --pure --run 'pytest -q'", "pass"),
        ("pytest", "nix-shell --run 'pytest || true'", "masked"),
        ("npm test", "nvm exec 20 npm test", "pass"),
        ("npm test", "nvm exec v20.11.0 npm test", "pass"),
        ("npm test", "proto run npm -- test", "pass"),
        ("npm test", "docker run -v $PWD:/x -w /x image npm test", "pass"),
        ("npm test", "docker run --rm -it -v \"$(pwd)\":/x -w /x -u 1000 node:20 npm test", "pass"),
        ("npm test", "docker run --rm -v \"${PWD}:/x:ro\" -v /x/node_modules --workdir=/x node npm test", "pass"),
        ("npm test", "podman run --mount type=bind,source=.,target=/x -w /x node npm test", "pass"),
        ("npm test", "docker run -v $PWD:/x image npm test", "-"),
        ("npm test", "docker run image npm test", "-"),
        ("npm test", "docker run -v $PWD/tests:/x -w /x image npm test", "-"),
        ("npm test", "docker run -v other:/x -w /x image npm test", "-"),
        ("npm test", "docker run -v $PWD:/x -v $HOME/fake:/x/src -w /x image npm test", "-"),
        ("npm test", "docker run -v $PWD:/x -w /x --entrypoint true image npm test", "-"),
        ("npm test", "docker run -d -v $PWD:/x -w /x image npm test", "-"),
        ("npm test", "docker exec app npm test", "-"),
        ("cargo test", "cargo test --workspace --all-features", "pass"),
    ] {
        let found = shown(&declared(run, ""), line, "", Some(Ended::Exited(0)), Some(""));
        assert_eq!(found, want, "{run} / {line}");
    }
}

#[test]
fn a_service_that_mounts_these_files_runs_the_same_check() {
    let mounted = "services:\n  app:\n    build: .\n    volumes:\n      - .:/app\n      - deps:/app/node_modules\n";
    let shown = |compose: &'static str, docker: &'static str, line: &str| {
        let files = TaskFiles(BTreeMap::from([("compose.yaml", compose), ("Dockerfile", docker)]));
        let dir = RepoPath::from("");
        let told = ObservedLine {
            line,
            dir: &dir,
            root: Some("/work/repo"),
            ended: Some(Ended::Exited(0)),
            output: Some(""),
            cut: false,
            background: false,
            shell: Some(Shell::Bash),
        };
        !witness(&[declared("pytest", "")], &told, Project::without_runners(&files)).is_empty()
    };
    let image = "FROM python:3\nWORKDIR /app\nCOPY . .\n";
    for line in [
        "docker compose run app pytest",
        "docker compose run --rm app pytest -q",
        "docker-compose run --rm -T app pytest",
        "docker compose exec -T app pytest",
    ] {
        assert!(shown(mounted, image, line), "{line}");
        // The image has a copy.
        assert!(!shown("services:\n  app:\n    build: .\n", image, line), "{line}");
        assert!(!shown("services:\n  other:\n    volumes: ['.:/app']\n    working_dir: /app\n", image, line), "{line}");
        assert!(!shown("services:\n  app:\n    image: x\n    volumes: ['.:/app']\n", image, line), "{line}");
        assert!(!shown("services:\n  app: *other\n", image, line), "{line}");
    }
    let inline = "services: {app: {image: x, working_dir: /app, volumes: [{type: bind, source: ., target: /app}]}}";
    assert!(shown(inline, "", "docker compose run app pytest"));
    assert!(!shown(mounted, image, "docker compose run -e PYTEST_ADDOPTS=-kx app pytest"));
    assert!(!shown(mounted, image, "docker compose -f other.yml run app pytest"));
    assert!(!shown(mounted, image, "docker compose run --entrypoint true app pytest"));
}
