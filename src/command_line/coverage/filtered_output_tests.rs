//! Lines that show only a part of what a check prints.

use super::tests::{Files, check};

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
