//! Lines that run the declared command in other directories, or in other surroundings.

use std::collections::BTreeMap;

use super::tests::{TaskFiles, declared, ran, shown};
use super::*;

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
fn folders_that_a_project_names_are_those_that_are_looked_into() {
    let mut wrong = Vec::new();
    for (run, dir, line, want) in [
        ("pytest", "one", "pytest tests/ -v", "pass"),
        ("pytest tests", "one", "pytest -x", "pass"),
        ("uv run pytest", "one", "uv run pytest tests", "pass"),
        ("pytest", "py", "pytest tests more", "pass"),
        ("pytest", "py", "pytest tests", "-"),
        ("pytest", "one", "pytest tests/unit", "-"),
        ("pytest", "one", "pytest .", "pass"),
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
        let told = ran(line, &dir, Some(Ended::Exited(0)), Some(""));
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

#[test]
fn some_runners_look_for_their_files_in_the_folders_above() {
    let cargo: &[(&'static str, &'static str)] =
        &[("Cargo.toml", "[package]\nname = 'a'\n"), ("b/Cargo.toml", "[package]\nname = 'b'\n"), ("src/lib.rs", "")];
    let configured: &[(&'static str, &'static str)] =
        &[("Cargo.toml", "[package]\nname = 'a'\n"), ("src/.cargo/config.toml", "[build]\n"), ("src/lib.rs", "")];
    let npm: &[(&'static str, &'static str)] = &[
        ("package.json", r#"{"scripts":{"test":"jest","off":"jest || true"}}"#),
        ("b/package.json", r#"{"scripts":{"test":"jest"}}"#),
    ];
    for (files, run, line, start, proves) in [
        (cargo, "cargo test", "cargo test", "src", true),
        (cargo, "cargo test", "cargo test -q", "src/deep/er", true),
        (cargo, "cargo test", "cd src && cargo test", "", true),
        (cargo, "cargo build", "cargo build", "src", true),
        (cargo, "cargo test", "cargo test", "b", false),
        (cargo, "cargo test", "cargo test", "b/src", false),
        (cargo, "cargo test", "cargo test --lib", "src", false),
        (cargo, "cargo test", "cargo test --config net.offline=true", "src", false),
        (cargo, "cargo test", "cargo test", "/work/other/src", false),
        (configured, "cargo test", "cargo test", "src", false),
        (configured, "cargo test", "cargo test", "src/deep", false),
        (npm, "npm test", "npm test", "src", true),
        (npm, "npm test", "cd src/a && npm t", "", true),
        (npm, "pnpm test", "pnpm test", "src", true),
        (npm, "yarn test", "yarn test", "src", true),
        (npm, "yarn jest", "yarn jest", "src", false),
        (npm, "pnpm jest", "pnpm jest", "src", false),
        (npm, "npm test", "npm test", "b", false),
        (npm, "npm test", "npm test", "b/src", false),
        (npm, "npm test", "npm run off", "src", false),
        (npm, "npx jest", "npx jest", "src", false),
    ] {
        let dir = RepoPath::from(start);
        let told = ran(line, &dir, Some(Ended::Exited(0)), None);
        let files = TaskFiles(files.iter().copied().collect());
        let found = witness(&[declared(run, "")], &told, Project::without_runners(&files));
        let passed = found.first().is_some_and(|found| found.ended == Ended::Exited(0) && found.masked.is_none());
        assert_eq!(passed, proves, "{line} in {start} for {run}");
    }
}
