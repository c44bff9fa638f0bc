use super::*;
use crate::policy::PathRules;
use crate::runner::ProjectFiles;
use crate::shell_kind::Shell;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A project that has these files.
pub(in crate::command_line) struct TaskFiles(pub(in crate::command_line) BTreeMap<&'static str, &'static str>);

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

pub(super) fn project() -> TaskFiles {
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
        ("virtual/b/Cargo.toml", "[package]\nname = 'b'\n"),
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

/// Returns a line that bash ran in the working tree.
pub(super) fn ran<'a>(
    line: &'a str,
    dir: &'a RepoPath,
    ended: Option<Ended>,
    output: Option<&'a str>,
) -> ObservedLine<'a> {
    let (root, shell) = (Some("/work/repo"), Some(Shell::Bash));
    ObservedLine { line, dir, root, ended, output, cut: false, background: false, shell }
}

/// Returns the proof in one word: `pass`, `fail 101`, `empty`, `masked`, `broken`, or `-`.
pub(super) fn shown(declared: &Command, line: &str, dir: &str, ended: Option<Ended>, output: Option<&str>) -> String {
    let dir = RepoPath::from(dir);
    let told = ran(line, &dir, ended, output);
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

pub(super) const CARGO_OK: &str =
    "test result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";

pub(super) const CARGO_BAD: &str = "test result: FAILED. 11 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n\nerror: test failed, to rerun pass `--lib`\n";

pub(super) const CARGO_NONE: &str = "running 0 tests\n\ntest result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";

pub(super) const JEST_OK: &str = "Test Suites: 3 passed, 3 total\nTests:       21 passed, 21 total\n";

/// Returns the proof of `line`, which ended with this status, for the command `run`: whether it passed.
pub(super) fn ended_with(
    files: &[(&'static str, &'static str)],
    run: &str,
    line: &str,
    status: i32,
    output: &str,
) -> Option<bool> {
    let dir = RepoPath::from("");
    let told = ran(line, &dir, Some(Ended::Exited(status)), Some(output));
    let files = TaskFiles(files.iter().copied().collect());
    let found = witness(&[declared(run, "")], &told, Project::without_runners(&files));
    found.first().filter(|found| found.masked.is_none()).map(|found| found.ended.success())
}

/// Returns the proof of `line`, which passed in a project with these files, for the command `run`.
pub(super) fn proof_with(files: &[(&'static str, &'static str)], run: &str, line: &str, output: &str) -> bool {
    let dir = RepoPath::from("");
    let told = ran(line, &dir, Some(Ended::Exited(0)), Some(output));
    let files = TaskFiles(files.iter().copied().collect());
    let found = witness(&[declared(run, "")], &told, Project::without_runners(&files));
    found.first().is_some_and(|found| found.ended == Ended::Exited(0) && found.masked.is_none())
}

/// The files of a project.
pub(super) type Files = &'static [(&'static str, &'static str)];
/// Files, the declared command, a line, and its output.
type Case<'t> = (Files, &'static str, &'t str, &'t str);

/// Checks that each line proves the command, or that none does.
pub(super) fn check(cases: &[Case<'_>], proves: bool) {
    let wrong = cases.iter().filter(|(files, run, line, output)| proof_with(files, run, line, output) != proves);
    let wrong: Vec<String> = wrong.map(|(_, run, line, output)| format!("{line} for {run}: {output}")).collect();
    assert!(wrong.is_empty(), "not {proves}:\n{}", wrong.join("\n"));
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
fn a_status_that_a_shell_prints_shows_which_shell_it_is() {
    let dir = RepoPath::from("");
    let shown = |line: &str, output: &str| {
        let told = ObservedLine { shell: None, ..ran(line, &dir, Some(Ended::Exited(0)), Some(output)) };
        let files = TaskFiles(BTreeMap::new());
        let found = witness(&[declared("sh t.sh", "")], &told, Project::without_runners(&files));
        found.first().is_some_and(|found| found.ended == Ended::Exited(0) && found.masked.is_none())
    };
    let line = "rm -f t && sh t.sh 2>&1 | tail -3; echo \"exit ${PIPESTATUS[0]}\"";
    assert!(shown(line, "fine\nexit 0\n"));
    assert!(!shown(line, "fine\nexit\n"));
    assert!(!shown(line, "fine\nexit 1\n"));
    assert!(shown(&line.replace("PIPESTATUS[0]", "pipestatus[1]"), "fine\nexit 0\n"));
}

#[test]
fn what_zsh_calls_by_itself_may_hide_a_failure() {
    let dir = RepoPath::from("");
    let shown = |line: &str, shell: Shell| {
        let ended = Some(Ended::Exited(0));
        let told = ObservedLine { shell: Some(shell), ..ran(line, &dir, ended, None) };
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
        "setopt noexec; sh t.sh",
        "setopt NO_EXEC; sh t.sh",
        "unsetopt exec; sh t.sh",
        "hash sh=/bin/true; sh t.sh",
        "commands[sh]=/bin/true; sh t.sh",
    ] {
        assert!(!shown(line, Shell::Zsh), "{line}");
    }
    for line in ["f() { exit 0; }; sh t.sh", "trap 'echo bye' EXIT; sh t.sh"] {
        assert!(shown(line, Shell::Zsh), "{line}");
    }
    assert!(shown("TRAPEXIT() { exit 0; }; sh t.sh", Shell::Bash));
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
        ("pytest", "pytest; pytest | tail -3", 0, twice(PYTEST, PYTEST), "pass"),
        ("pytest", "pytest; pytest | tail -3", 0, PYTEST.to_owned(), "masked"),
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
            "cargo test --workspace --manifest-path b/Cargo.toml",
            "virtual",
            "cargo test --manifest-path b/Cargo.toml",
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
    let told = ObservedLine { root: None, ..ran("cargo test", &dir, Some(Ended::Exited(0)), Some(CARGO_OK)) };
    let found = witness(&[declared("cargo test --workspace", "")], &told, Project::without_runners(&files));
    assert_eq!(found.first().map(|found| found.ended), Some(Ended::Exited(0)), "one package is the whole workspace");
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
fn counts_come_along_where_they_are_its_own() {
    let dir = RepoPath::from("");
    let report = |line: &str, output: &str| {
        let told = ObservedLine { root: None, cut: true, ..ran(line, &dir, Some(Ended::Exited(0)), Some(output)) };
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
        let told = ObservedLine { root: None, ..ran(&line, &dir, ended, Some(&output)) };
        for found in witness(&commands, &told, Project::without_runners(&project())) {
            prop_assert!(found.masked.is_none() || found.ended.success(), "{:?}", found);
        }
        for found in witness(&commands, &ObservedLine { ended: None, output: None, ..told }, Project::without_runners(&project())) {
            prop_assert!(found.masked.is_some() || !found.ended.success(), "{:?}", found);
        }
        prop_assert_eq!(witness(&commands, &ObservedLine { background: true, ..told }, Project::without_runners(&project())), []);
    }
}
