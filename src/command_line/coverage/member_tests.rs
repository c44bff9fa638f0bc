//! Members of a workspace and packages of a module, tested one by one.

use super::tests::{Files, check};

#[test]
fn members_of_a_workspace_one_by_one() {
    const CARGO_OK: &str =
        "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.10s\n";
    const JEST_OK: &str = "Test Suites: 3 passed, 3 total\nTests:       21 passed, 21 total\n";
    const CARGO: Files = &[
        (
            "Cargo.toml",
            "[workspace]\nmembers = ['crates/*', 'b']\n[workspace.dependencies]\na = { path = 'crates/a' }\n",
        ),
        (
            "crates/a/Cargo.toml",
            "[package]\nname = 'a'\n[dependencies]\nserde = { version = '1', features = ['derive'] }\n",
        ),
        (
            "b/Cargo.toml",
            "[package]\nname = 'b'\n[dependencies]\na = { workspace = true }\n[[bin]]\npath = 'src/x.rs'\n",
        ),
    ];
    const NPM: Files = &[
        ("package.json", r#"{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces","unit":"jest"}}"#),
        ("packages/a/package.json", r#"{"name":"@x/a","scripts":{"test":"jest"}}"#),
        ("packages/b/package.json", r#"{"name":"b","scripts":{"test":"jest"}}"#),
    ];
    const NPM_WITH_SETTINGS: Files = &[
        ("package.json", r#"{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces"}}"#),
        ("packages/a/package.json", r#"{"name":"a","scripts":{"test":"jest"}}"#),
        ("packages/a/.npmrc", "script-shell=true\n"),
    ];
    const FEATURE: Files = &[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        ("b/Cargo.toml", "[package]\nname = 'b'\n[dev-dependencies]\na = { path = '../a', features = ['x'] }\n"),
    ];
    const OF_FEATURE: Files = &[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        ("b/Cargo.toml", "[package]\nname = 'b'\n[dependencies]\na.path = '../a'\n[features]\ndefault = ['a/x']\n"),
    ];
    const LINKED: Files = &[
        ("Cargo.toml", "[workspace]\nmembers = ['a', 'b']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n[dependencies]\nc.path = '../c'\n"),
        ("b/Cargo.toml", "[package]\nname = 'b'\n"),
        ("c/Cargo.toml", "[package]\nname = 'c'\n"),
    ];
    const ROOTED: Files = &[
        ("Cargo.toml", "[package]\nname = 'r'\n[workspace]\nmembers = ['a']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
    ];
    const ROOTED_WITH_DEFAULT: Files = &[
        ("Cargo.toml", "[package]\nname = 'r'\n[workspace]\nmembers = ['a']\ndefault-members = ['a']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
    ];
    const ROOTED_WITH_CONFIG: Files = &[
        ("Cargo.toml", "[package]\nname = 'r'\n[workspace]\nmembers = ['a']\n"),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        ("a/.cargo/config.toml", "[build]\nrustflags = ['--cfg', 'skip']\n"),
    ];
    const ROOTED_WITH_FEATURE: Files = &[
        (
            "Cargo.toml",
            "[package]\nname = 'r'\n[dependencies]\na = { path = 'a', features = ['x'] }\n[workspace]\nmembers = ['a']\n",
        ),
        ("a/Cargo.toml", "[package]\nname = 'a'\n"),
    ];
    const NEXTEST_OK: &str = "     Summary [   0.107s] 2 tests run: 2 passed, 0 skipped\n";
    const OWN: Files = &[
        ("package.json", r#"{"workspaces":["packages/**"],"scripts":{"test":"jest"}}"#),
        ("packages/a/package.json", r#"{"name":"a","scripts":{"test":"jest"}}"#),
    ];
    check(
        &[
            (CARGO, "cargo test --workspace", "cargo test -p a && cargo test -p b", CARGO_OK),
            (CARGO, "cargo test", "cargo test --package b -q && cargo test -p a --no-fail-fast", CARGO_OK),
            (CARGO, "cargo test --workspace", "cargo test -p a -p b", CARGO_OK),
            (
                CARGO,
                "cargo test --workspace --locked",
                "cargo test -p a && cargo fmt --check && cargo test -p b",
                CARGO_OK,
            ),
            (CARGO, "cargo test --release", "cargo test -p a --release && cargo test -p b --release", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test && cargo test -p a", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test -p r && cargo test -p a", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test && (cd a && cargo test)", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test -p r -p a", CARGO_OK),
            (ROOTED, "cargo test", "cargo test -p r", CARGO_OK),
            (CARGO, "cargo test --workspace", "(cd crates/a && cargo test) && cd b && cargo test -q", CARGO_OK),
            (
                CARGO,
                "cargo nextest run --workspace",
                "cargo nextest run -p a && cargo nextest run --package b",
                NEXTEST_OK,
            ),
            (
                CARGO,
                "cargo clippy --workspace -- -D warnings",
                "cargo clippy -p a -- -D warnings && cargo clippy -p b -- -D warnings",
                "",
            ),
            (CARGO, "cargo check --workspace", "cargo check -p a && cargo check -p b", ""),
            (CARGO, "cargo build", "cargo build -p a && cargo build -p b", ""),
            (NPM, "npm test --workspaces", "npm test -w @x/a && npm test -w b", JEST_OK),
            (NPM, "npm test -ws", "npm test --workspace=packages/a && npm run test -w ./packages/b/", JEST_OK),
            (NPM, "npm test --workspaces", "npm test -w @x/a -w packages/b", JEST_OK),
            (NPM, "npm test", "npm test -w packages/a && npm test -w packages/b", JEST_OK),
            (NPM, "npm test --workspaces", "npm test -ws", JEST_OK),
            (NPM, "npm test --workspaces --if-present", "npm test --workspace=@x/a && npm test --workspace=b", JEST_OK),
            (NPM, "npm test", "cd packages/a && npm test && cd ../b && npm test", JEST_OK),
            (NPM, "npm test", "(cd packages/a && npm test) && npm --prefix packages/b test", JEST_OK),
        ],
        true,
    );
    check(
        &[
            (CARGO, "cargo test --workspace", "cargo test -p a", CARGO_OK),
            (CARGO, "cargo test --workspace", "cargo test -p a && cargo test -p a", CARGO_OK),
            (CARGO, "cargo test --workspace", "cargo test -p a && cargo test -p b parser", CARGO_OK),
            (CARGO, "cargo test --workspace", "cargo test -p a && cargo test -p b --lib", CARGO_OK),
            (CARGO, "cargo test --workspace", "cargo test -p a; cargo test -p b", CARGO_OK),
            (CARGO, "cargo test --workspace", "cargo test -p a && cargo test -p b | tail -1", ""),
            (CARGO, "cargo test --workspace --all-features", "cargo test -p a && cargo test -p b", CARGO_OK),
            (CARGO, "cargo test -p a", "cargo test --workspace", CARGO_OK),
            (FEATURE, "cargo test --workspace", "cargo test -p a && cargo test -p b", CARGO_OK),
            (OF_FEATURE, "cargo test --workspace", "cargo test -p a && cargo test -p b", CARGO_OK),
            (LINKED, "cargo test --workspace", "cargo test -p a && cargo test -p b", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test -p a", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test; cargo test -p a", CARGO_OK),
            (ROOTED, "cargo test --workspace", "cargo test && cd a && cargo test --lib", CARGO_OK),
            (ROOTED_WITH_DEFAULT, "cargo test --workspace", "cargo test && cargo test -p a", CARGO_OK),
            (ROOTED_WITH_CONFIG, "cargo test --workspace", "cargo test && cd a && cargo test", CARGO_OK),
            (ROOTED_WITH_FEATURE, "cargo test --workspace", "cargo test && cargo test -p a", CARGO_OK),
            (ROOTED, "cargo nextest run --workspace", "cargo nextest run && cargo test -p a", CARGO_OK),
            (
                CARGO,
                "cargo clippy --workspace -- -D warnings",
                "cargo clippy -p a -- -D warnings && cargo clippy -p b",
                "",
            ),
            (CARGO, "cargo check --workspace", "cargo check -p a && cargo check -p a", ""),
            (NPM, "npm test --workspaces", "npm test -w b", JEST_OK),
            (NPM, "npm test --workspaces", "npm test -w @x/a --if-present", JEST_OK),
            (NPM, "npm test --workspaces", "npm test -w @x/a && npm test -w b -- -t one", JEST_OK),
            (NPM, "npm test --workspaces", "npm test -w @x/a; npm test -w b", JEST_OK),
            (NPM, "npm test", "cd packages/a && npm test", JEST_OK),
            (NPM, "npm test", "cd packages/a && npm test && cd ../b && npm test -- -t one", JEST_OK),
            (NPM_WITH_SETTINGS, "npm test", "cd packages/a && npm test", JEST_OK),
            (NPM, "npm run unit --workspaces", "npx jest", JEST_OK),
            (OWN, "npm test --workspaces", "npm test -w a", JEST_OK),
            (OWN, "npm test --workspaces", "npx jest", JEST_OK),
        ],
        false,
    );
}

#[test]
fn packages_of_a_module_one_by_one() {
    const OK: &str = "ok  \tx.y/z\t0.01s\n";
    const ONE: Files = &[("go.mod", "module x.y/z\n"), ("z.go", ""), ("z_test.go", ""), ("testdata/t.go", "")];
    const MORE: Files = &[
        ("go.mod", "module x.y/z\n"),
        ("z.go", ""),
        ("a/a.go", ""),
        ("a/b/b.go", ""),
        ("a/testdata/t.go", ""),
        ("vendor/v/v.go", ""),
        ("tools/go.mod", "module x.y/tools\n"),
        ("tools/t.go", ""),
    ];
    const FLAT: Files = &[("go.mod", "module x.y/z\n"), ("a/a.go", ""), ("b/b.go", "")];
    check(
        &[
            (ONE, "go test ./...", "go test", OK),
            (ONE, "go test ./...", "go test . -v", OK),
            (ONE, "go test", "go test ./...", OK),
            (ONE, "go build ./...", "go build", ""),
            (ONE, "go vet ./...", "go vet .", ""),
            (MORE, "go test ./...", "go test . ./a ./a/b", OK),
            (MORE, "go test ./...", "go test . && go test ./a/...", OK),
            (MORE, "go test ./...", "go test ./a/b/ && go test -v ./a . ", OK),
            (MORE, "go test . ./a/b", "go test ./...", OK),
            (MORE, "go test -race ./...", "go test -race && go test -race ./a/...", OK),
            (FLAT, "go test ./...", "go test ./a && go test ./b", OK),
            (FLAT, "go build ./...", "go build ./a && go build ./b", ""),
        ],
        true,
    );
    check(
        &[
            (MORE, "go test ./...", "go test", OK),
            (MORE, "go test ./...", "go test ./a/...", OK),
            (MORE, "go test ./...", "go test . ./a", OK),
            (MORE, "go test ./...", "go test .; go test ./a/...", OK),
            (MORE, "go test ./...", "go test . && go test -run One ./a/...", OK),
            (MORE, "go test ./...", "go test . && go vet ./a/...", OK),
            (MORE, "go test -race ./...", "go test -race && go test ./a/...", OK),
            (FLAT, "go test ./...", "go test ./a", OK),
            (FLAT, "go test ./...", "go test ./a ./c", OK),
            (FLAT, "go test ./...", "go test ./a && cd b && go test -short", OK),
        ],
        false,
    );
}

#[test]
fn members_that_lack_the_task_or_are_named_by_patterns() {
    const JEST_OK: &str = "Test Suites: 3 passed, 3 total\nTests:       21 passed, 21 total\n";
    const A: (&str, &str) = ("packages/a/package.json", r#"{"name":"a","scripts":{"test":"jest"}}"#);
    const B: (&str, &str) = ("packages/b/package.json", r#"{"name":"b","scripts":{"test":"jest"}}"#);
    const C: (&str, &str) = ("packages/c/package.json", r#"{"name":"c"}"#);
    const ROOT: (&str, &str) = ("package.json", r#"{"workspaces":["packages/*"]}"#);
    const PNPM_ROOT: (&str, &str) = ("package.json", "{}");
    const YAML: (&str, &str) = ("pnpm-workspace.yaml", "packages:\n  - 'packages/*'\n");
    const ALL: Files = &[ROOT, A, B];
    const SOME: Files = &[ROOT, A, B, C];
    const PNPM: Files = &[PNPM_ROOT, YAML, A, B];
    const PNPM_SOME: Files = &[PNPM_ROOT, YAML, A, B, C];
    check(
        &[
            (ALL, "npm test --workspaces --if-present", "npm test --workspaces", JEST_OK),
            (ALL, "npm test --workspaces", "npm run test -ws --if-present", JEST_OK),
            (ALL, "npm test --workspaces --if-present", "npm test -w a -w b", JEST_OK),
            (ALL, "npm test --workspaces", "npm test -w a --if-present && npm test -w b --if-present", JEST_OK),
            (SOME, "npm test --workspaces --if-present", "npm test -w a && npm test -w b", JEST_OK),
            (SOME, "npm test --workspaces --if-present", "npm test -w a -w b", JEST_OK),
            (ALL, "yarn workspaces run test", "yarn workspace a test && yarn workspace b run test", JEST_OK),
            (ALL, "yarn workspaces run test", "cd packages/a && yarn test && cd ../b && yarn test", JEST_OK),
            (ALL, "yarn workspace a test", "yarn workspaces run test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter '*' test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter './packages/*' run test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm -r --if-present test", JEST_OK),
            (PNPM_SOME, "pnpm -r test", "pnpm -F a test && pnpm -F b test", JEST_OK),
        ],
        true,
    );
    check(
        &[
            (SOME, "npm test --workspaces", "npm test --workspaces --if-present", JEST_OK),
            (SOME, "npm test --workspaces", "npm test -w a && npm test -w b", JEST_OK),
            (SOME, "npm test --workspaces --if-present", "npm test -w a", JEST_OK),
            (SOME, "npm test --workspaces --if-present", "npm test -w a -w c --if-present", JEST_OK),
            (ALL, "npm test --workspaces --if-present", "npm test --workspaces -- -t one", JEST_OK),
            (ALL, "npm test --workspaces --if-present", "npm test --workspaces || true", ""),
            (ALL, "npm run unit --workspaces", "npm test --workspaces", JEST_OK),
            (ALL, "yarn workspaces run test", "yarn workspace a test", JEST_OK),
            (ALL, "yarn workspaces run test", "yarn workspace a test; yarn workspace b test", JEST_OK),
            (ALL, "yarn workspaces run test", "yarn workspace a test && yarn workspace b test -t one", JEST_OK),
            (ALL, "yarn workspace a test", "yarn workspace b test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter 'a*' test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter '*' --filter '!b' test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm --filter './other/*' test", JEST_OK),
            (PNPM, "pnpm -r test", "pnpm -F a test", JEST_OK),
        ],
        false,
    );
}

#[test]
fn programs_of_the_tasks_of_members() {
    const JEST: &str = "Test Suites: 1 passed, 1 total\nTests:       4 passed, 4 total\nSnapshots:   0 total\nTime:        0.4 s\nRan all test suites.\n";
    const NPM: Files = &[
        ("package.json", r#"{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces"}}"#),
        ("packages/api/package.json", r#"{"name":"@acme/api","scripts":{"test":"jest"}}"#),
        ("packages/core/package.json", r#"{"name":"@acme/core","scripts":{"test":"jest"}}"#),
    ];
    const PART: Files = &[
        ("package.json", r#"{"workspaces":["packages/*"],"scripts":{"test":"npm test --workspaces"}}"#),
        ("packages/api/package.json", r#"{"name":"@acme/api","scripts":{"test":"jest"}}"#),
        ("packages/core/package.json", r#"{"name":"@acme/core","scripts":{"test":"jest && node check.js"}}"#),
    ];
    let twice = format!("{JEST}{JEST}");
    let named = format!("\n> @acme/core@1.0.0 test\n> jest\n\n{JEST}\n> @acme/api@1.0.0 test\n> jest\n\n{JEST}");
    let cds = "cd packages/core && npx jest 2>&1 | tail -8 && cd ../api && npx jest 2>&1 | tail -8";
    let in_turn = "(cd packages/core && npx jest) && (cd packages/api && npx jest)";
    let by_name = "npm test -w @acme/core 2>&1 | tail -9; npm test -w @acme/api 2>&1 | tail -9";
    let rounds = "for p in core api; do npm test -w @acme/$p 2>&1 | tail -9; done";
    check(
        &[
            (NPM, "npm test", cds, &twice),
            (NPM, "npm test", in_turn, ""),
            (NPM, "npm test", by_name, &named),
            (NPM, "npm test", rounds, &named),
        ],
        true,
    );
    let failed = named.replacen("4 passed, 4 total", "1 failed, 3 passed, 4 total", 1);
    check(
        &[
            (NPM, "npm test", cds, JEST),
            (NPM, "npm test", "(cd packages/core && npx jest)", ""),
            (PART, "npm test", in_turn, ""),
            (NPM, "npm test", by_name, &failed),
            (NPM, "npm test", by_name, JEST),
            (NPM, "npm test", rounds, JEST),
            (NPM, "npm test", "for p in core core; do npm test -w @acme/$p 2>&1 | tail -9; done", &named),
        ],
        false,
    );
}
