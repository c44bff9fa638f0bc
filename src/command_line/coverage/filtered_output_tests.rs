//! Lines that show only a part of what a check prints.

use super::tests::{Files, check, proof_with};

#[test]
fn counts_of_node_through_a_pattern() {
    const TAP: &str = "# tests 2\n# pass 2\n# fail 0\n";
    const SPEC: &str = "ℹ tests 2\nℹ pass 2\nℹ fail 0\n";
    const PACKAGE: Files = &[("package.json", r#"{"scripts":{"test":"node --test"}}"#)];
    check(
        &[
            (PACKAGE, "npm test", "npm test 2>&1 | grep -E '^# (pass|fail|tests)'", TAP),
            (&[], "node --test", "node --test 2>&1 | grep -E '^# '", TAP),
            (PACKAGE, "npm test", "npm test 2>&1 | grep '^#'", TAP),
            (&[], "node --test", "node --test 2>&1 | grep -E '^(not ok|# )'", TAP),
            (&[], "node --test", "node --test 2>&1 | grep -E '^ℹ (tests|pass|fail)'", SPEC),
        ],
        true,
    );
    check(
        &[
            (&[], "node --test", "node --test 2>&1 | grep -E '^# (pass|tests)'", "# tests 2\n# pass 2\n"),
            (&[], "node --test", "node --test 2>&1 | grep -E '^# fail'", "# fail 0\n"),
            (
                &[],
                "node --test",
                "node --test 2>&1 | grep '^#' | head -4",
                "# tests 4\n# suites 0\n# pass 3\n# fail 0\n",
            ),
            (&[], "node --test", "node --test 2>&1 | grep -m4 '^ℹ'", "ℹ tests 4\nℹ suites 0\nℹ pass 3\nℹ fail 0\n"),
            (&[], "node --test", "node --test 2>&1 | tail -8 | head -4", "# tests 4\n# suites 0\n# pass 3\n# fail 0\n"),
            (&[], "node --test", "node --test 2>&1 | grep -E '^# (pass|fail)'", "# pass 2\n# fail 1\n"),
            (&[], "node --test", "node --test 2>&1 | grep -E '^# (pass|fail)'", "# pass 2\n# fail 0\n"),
            (&[], "node --test", "node --test 2>&1 | grep -E '^(# pass|ℹ fail)'", "# pass 2\n"),
        ],
        false,
    );
}

#[test]
fn a_build_of_npm_that_prints_nothing_behind_a_pipe() {
    const PACKAGE: Files = &[("package.json", r#"{"scripts":{"build":"tsc -p .","bundle":"node build.js"}}"#)];
    const QUIET: Files = &[("package.json", r#"{"scripts":{"build":"tsc -p . >/dev/null"}}"#)];
    const AFTER: Files = &[("package.json", r#"{"scripts":{"build":"test -f x && tsc -p ."}}"#)];
    const FRAMED: Files = &[("package.json", r#"{"scripts":{"prebuild":"test -f x","build":"tsc -p ."}}"#)];
    const BANNER: &str = "\n> clock@1.0.0 build\n> tsc -p .\n\n";
    check(
        &[
            (PACKAGE, "npm run build", "npm run build 2>&1 | tail -5", BANNER),
            (
                PACKAGE,
                "npm run build",
                "pytest 2>&1 | tail -9; npm run build 2>&1 | tail -5",
                "collected 4 items\n\n4 passed in 0.1s\n\n> clock@1.0.0 build\n> tsc -p .\n\n",
            ),
            (
                PACKAGE,
                "npm run build",
                "npm run build 2>&1 | tail -5; pytest 2>&1 | tail -9",
                "\n> clock@1.0.0 build\n> tsc -p .\n\ncollected 4 items\n\n4 passed in 0.1s\n",
            ),
            (
                PACKAGE,
                "npm run build",
                "npm run build 2>&1 | tail -20; echo done",
                "\n> clock@1.0.0 build\n> tsc -p .\n\ndone\n",
            ),
        ],
        true,
    );
    check(
        &[
            (PACKAGE, "npm run build", "npm run build 2>&1 | tail -5", "src/a.ts(3,1): error TS2322: no\n"),
            (
                PACKAGE,
                "npm run build",
                "pytest | tail -3; npm run build 2>&1 | tail -5",
                "4 passed in 0.1s\n\n> clock@1.0.0 build\n> tsc -p .\n\nsrc/a.ts(3,1): error TS2322: no\n",
            ),
            (PACKAGE, "npm run build", "npm run build 2>&1 | tail -5", ""),
            (PACKAGE, "npm run build", "npm run build 2>&1 | head -3", BANNER),
            (QUIET, "npm run build", "npm run build 2>&1 | tail -5", "\n> a@1.0.0 build\n> tsc -p . >/dev/null\n\n"),
            (AFTER, "npm run build", "npm run build 2>&1 | tail -5", "\n> a@1.0.0 build\n> test -f x && tsc -p .\n\n"),
            (FRAMED, "npm run build", "npm run build 2>&1 | tail -5", "\n> a@1.0.0 prebuild\n> test -f x\n\n"),
            (PACKAGE, "npm run build", "npm run build 2>&1 | grep -v error", BANNER),
            (PACKAGE, "npm run bundle", "npm run bundle 2>&1 | tail -5", "\n> clock@1.0.0 bundle\n> node build.js\n\n"),
        ],
        false,
    );
}

#[test]
fn a_word_or_the_log() {
    const LOG: &str = "cargo test > /tmp/ct.log 2>&1 && echo OK || tail -40 /tmp/ct.log";
    check(
        &[
            (&[], "cargo test", LOG, "OK\n"),
            (&[], "pytest", "pytest > L 2>&1 && echo OK || cat L", "OK\n"),
            (&[], "npm test", "npm test > L 2>&1 && echo PASS || tail -40 L", "PASS\n"),
        ],
        true,
    );
    check(
        &[
            (&[], "cargo test", LOG, "error: could not compile\n"),
            (&[], "pytest", "pytest > /tmp/log 2>&1 && echo OK || tail -40 /tmp/other", "OK\n"),
            (&[], "pytest", "pytest > /tmp/log 2>&1 && echo OK || cat docs/ok.txt", "OK\n"),
            (&[], "npm test", "npm test > L 2>&1 && echo PASS || tail -5 L", "PASS\n"),
            (&[], "./t.sh", "./t.sh > L 2>&1 && echo PASS || tail -40 L", "PASS\n"),
            (&[], "cargo test", "cargo test > L 2>&1 || echo OK; tail -40 L", "OK\n"),
            (&[], "cargo test", "cargo test > L 2>&1 && true || echo OK", "OK\n"),
            (&[], "cargo test", "cargo test > L 2>&1; echo OK", "OK\n"),
        ],
        false,
    );
}

#[test]
fn silent_tasks_beside_other_checks() {
    const TS: Files = &[(
        "package.json",
        r#"{"name":"a","scripts":{"build":"tsc -p .","typecheck":"tsc --noEmit","test":"vitest run"}}"#,
    )];
    const LINE: &str = "npx tsc --noEmit && npm run build 2>&1 | tail -3 && npx vitest run 2>&1 | tail -15";
    const TASKS: &str = "npm run typecheck 2>&1 | tail -5; npm run build 2>&1 | tail -5; npm test 2>&1 | tail -9";
    let vitest = " Test Files  1 passed (1)\n      Tests  3 passed (3)\n";
    let built = format!("\n> a@1.0.0 build\n> tsc -p .\n\n{vitest}");
    let checked = format!(
        "\n> a@1.0.0 typecheck\n> tsc --noEmit\n\n\n> a@1.0.0 build\n> tsc -p .\n\n\n> a@1.0.0 test\n> vitest run\n\n{vitest}"
    );
    check(
        &[
            (TS, "npm run build", LINE, &built),
            (TS, "npm run typecheck", TASKS, &checked),
            (TS, "npm run build", TASKS, &checked),
            (TS, "npm test", TASKS, &checked),
        ],
        true,
    );
    let broken = checked.replace("> tsc -p .\n", "> tsc -p .\nsrc/a.ts(1,2): error TS2322: no\n");
    let untyped = checked.replace("> tsc --noEmit\n", "> tsc --noEmit\nsrc/a.ts(1,2): error TS2322: no\n");
    let twice = format!("{built}\n> a@1.0.0 build\n> tsc -p .\n");
    check(
        &[
            (TS, "npm run build", TASKS, &broken),
            (TS, "npm run typecheck", TASKS, &untyped),
            (TS, "npm run build", LINE, vitest),
            (TS, "npm run build", LINE, &twice),
            (TS, "npm run build", "npm run build | tail -3; npm run build | tail -3; npx vitest run", &twice),
        ],
        false,
    );
}

#[test]
fn a_style_check_of_the_project_prints_no_summary_of_tests() {
    const NODE: Files = &[(
        "package.json",
        r#"{"name":"a","scripts":{"lint":"node scripts/lint.mjs","look":"node scripts/look.mjs","test":"node --test"}}"#,
    )];
    let tap = "\n> a@1.0.0 lint\n> node scripts/lint.mjs\n\n# tests 3\n# suites 0\n# pass 3\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 60\n";
    check(&[(NODE, "npm test", "npm run lint 2>&1 | tail -3; npm test 2>&1 | tail -12", tap)], true);
    check(&[(NODE, "npm test", "npm run lint && npm test 2>&1 | tail -12", tap)], true);
    check(&[(NODE, "npm test", "npm test 2>&1 | tail -12; cat log", tap)], false);
}

#[test]
fn what_comes_before_two_checks_behind_one_filter() {
    const NPM: Files = &[("package.json", r#"{"scripts":{"test":"node --test"}}"#)];
    let tap = "=== tests ===\n# tests 3\n# suites 0\n# pass 3\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 60\n";
    let line = |before: &str, between: &str| {
        format!("{before}; {{ (cd api && pytest -q) {between} npm test; }} 2>&1 | tail -8; git status --short")
    };
    for before in ["echo \"=== tests ===\"", "ls", "git log --oneline -1", "true"] {
        assert!(proof_with(NPM, "cd api && pytest", &line(before, "&&"), tap), "{before}");
        assert!(!proof_with(NPM, "cd api && pytest", &line(before, ";"), tap), "{before}");
    }
}

#[test]
fn what_django_prints_through_a_pattern() {
    let passed = "Ran 3 tests in 0.010s\nOK\n";
    let failed = "Ran 3 tests in 0.010s\nFAILED (failures=1)\n";
    for pattern in ["^(Ran|OK|FAILED)", "^Ran|^OK|^FAILED", "Ran |OK|FAILED|Error"] {
        let line = format!("python manage.py test 2>&1 | grep -E \"{pattern}\"");
        assert!(proof_with(&[], "python manage.py test", &line, passed), "{pattern}");
        assert!(!proof_with(&[], "python manage.py test", &line, failed), "{pattern}");
    }
    assert!(!proof_with(&[], "python manage.py test", "python manage.py test 2>&1 | grep -E '^(Ran|OK)'", passed));
}

#[test]
fn subshells_inside_a_subshell() {
    const NPM: Files = &[("web/package.json", r#"{"scripts":{"test":"node --test"}}"#)];
    let tap = "# tests 3\n# suites 0\n# pass 3\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0\n# duration_ms 60\n";
    let line = "((cd api && pytest -q) && (cd web && npm test)) 2>&1 | tail -8";
    check(&[(NPM, "cd web && npm test", line, tap), (NPM, "cd api && pytest", line, tap)], true);
    check(&[(NPM, "cd api && pytest", &line.replace(") &&", ");"), tap)], false);
}

#[test]
fn parts_that_a_filter_or_a_limit_may_hide() {
    const NPM: Files = &[
        ("package.json", r#"{"workspaces":["packages/*"],"scripts":{"test":"jest"}}"#),
        ("packages/a/package.json", r#"{"name":"a","scripts":{"test":"jest"}}"#),
        ("packages/b/package.json", r#"{"name":"b","scripts":{"test":"jest"}}"#),
    ];
    const FRAMED: Files = &[("package.json", r#"{"scripts":{"pretest":"node check.js","test":"jest"}}"#)];
    const SILENT: Files = &[("package.json", r#"{"name":"a","scripts":{"build":"tsc"}}"#)];
    let lib = "test result: ok. 1 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let jest = "Test Suites: 1 passed, 1 total\nTests:       4 passed, 4 total\nRan all test suites.\n";
    let banner = "\n> a@1.0.0 build\n> tsc\n\n";
    check(
        &[
            (&[], "cargo test", "cargo test 2>&1 | grep '^test result'", lib),
            (&[], "cargo test", "timeout 60 cargo test 2>&1 | tail -4", lib),
            (FRAMED, "npm test", "npm test 2>&1 | tail -9", jest),
            (SILENT, "npm run build", "npm run build 2>&1 | tail -3", banner),
        ],
        true,
    );
    check(
        &[
            (&[], "cargo test", "timeout 60 cargo test 2>&1 | grep '^test result'", lib),
            (NPM, "npm test -w a -w b", "npm test -w a -w b 2>&1 | tail -6", jest),
            (FRAMED, "npm test", "npx jest", jest),
            (SILENT, "npm run build", "timeout 60 npm run build 2>&1 | tail -3", banner),
            (SILENT, "npm run build", "npm run build > b.log 2>&1 & sleep 2; tail -3 b.log", banner),
        ],
        false,
    );
}
