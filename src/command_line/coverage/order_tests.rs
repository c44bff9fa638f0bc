//! Tests of what the order of commands shows: in a line, in a script, in a recipe.

use super::tests::check;

const LINT: &str = "npm run lint && npm run mocha";
const MOCHA: &str = "  ....\n\n  1977 passing (3s)\n";
const ESLINT: &str = "\n/a/b.js\n  1:1  error  'x' is not defined  no-undef\n\n✖ 1 problem (1 error, 0 warnings)\n";
const TSTYCHE: &str =
    "Targets:    1 passed, 1 total\nTest files: 1 passed, 1 total\nAssertions: 50 passed, 50 total\nDuration:   8.3s\n";
const TSTYCHE_BAD: &str = "Targets:    1 failed, 1 total\nTest files: 1 failed, 1 total\nAssertions: 1 failed, 49 passed, 50 total\nDuration:   8.3s\n";

/// Scripts, of which `test` is `first && second`.
const NPM: &[(&str, &str)] = &[(
    "package.json",
    r#"{"scripts":{"test":"npm run lint && npm run mocha","lint":"eslint .","mocha":"mocha -R dot","ts":"tstyche",
    "unit":"c8 --100 node --test","both":"npm run unit && npm run ts","back":"mocha && eslint .","wild":"mocha && node x.js",
    "any":"npm run lint; npm run mocha","or":"npm run lint || npm run mocha","twice":"mocha a && mocha b",
    "after":"mocha","postafter":"node x.js","echo":"eslint . && mocha && echo fine","other":"node x.js && npm run mocha",
    "beside":"eslint . & mocha","typed":"mocha && tsc --noEmit"}}"#,
)];
const MAKE: &[(&str, &str)] = &[(
    "Makefile",
    "test: lint unit\nlint:\n\tflake8 .\nunit:\n\tpytest -q\nsoft: \n\t-flake8 .\n\tpytest -q\nclean: unit\n\trm -rf tmp\n",
)];
const PYTEST: &str = "== 12 passed in 0.10s ==\n";

#[test]
fn the_last_command_of_a_task_shows_that_all_passed() {
    check(
        &[
            (NPM, "npm test", "npm test 2>&1 | grep -E 'passing|failing'", "  1977 passing (3s)\n"),
            (NPM, "npm test", "npm test 2>&1 | tail -20", MOCHA),
            (
                NPM,
                "npm test",
                "npm run lint && npm run mocha 2>&1 | grep -E 'passing|failing'",
                "  1977 passing (3s)\n",
            ),
            (NPM, "npm run both", "npm run both 2>&1 | tail -20", TSTYCHE),
            (NPM, "npm run both", "npm run unit && npm run ts 2>&1 | tail -15", TSTYCHE),
            (NPM, "npm run other", "npm run other 2>&1 | grep -E 'passing|failing'", "  3 passing (3s)\n"),
            (NPM, "npm run echo", "npm run echo 2>&1 | tail -20", MOCHA),
            (NPM, "npm run back", "npm run back 2>&1 | tail -20", MOCHA),
            (NPM, "npm run typed", "npm run typed 2>&1 | tail -20", MOCHA),
            (MAKE, "make test", "make test 2>&1 | grep -E 'passed|failed|error'", PYTEST),
            (MAKE, "make lint unit", "make lint unit 2>&1 | tail -3", PYTEST),
            (MAKE, "make clean", "make clean 2>&1 | tail -3", "== 12 passed in 0.10s ==\nrm -rf tmp\n"),
        ],
        true,
    );
    check(
        &[
            (NPM, "npm test", "npm test 2>&1 | grep passing", "  1977 passing (3s)\n"),
            (NPM, "npm test", "npm test 2>&1 | grep -E 'passing|failing'", "  1976 passing (3s)\n  1 failing\n"),
            (NPM, "npm test", "npm test 2>&1 | tail -20", ESLINT),
            (NPM, "npm test", "npm test 2>&1 | tail -20", "> a test\n"),
            (NPM, "npm run both", "npm run both 2>&1 | tail -20", TSTYCHE_BAD),
            (NPM, "npm run both", "npm run both 2>&1 | tail -20", "# tests 3\n# pass 3\n# fail 0\n"),
            (NPM, "npm run both", "npm run both 2>&1 | grep Assertions", "Assertions: 50 passed, 50 total\n"),
            (
                NPM,
                "npm run back",
                "npm run back 2>&1 | tail -20",
                "  3 passing (3s)\n\n✖ 1 problem (1 error, 0 warnings)\n",
            ),
            (NPM, "npm run back", "npm run back 2>&1 | grep -E 'passing|failing'", "  3 passing (3s)\n"),
            (
                NPM,
                "npm run typed",
                "npm run typed 2>&1 | tail -20",
                "  3 passing (3s)\n\na.ts(1,2): error TS2322: Type\n",
            ),
            (NPM, "npm run wild", "npm run wild 2>&1 | tail -20", MOCHA),
            (NPM, "npm run after", "npm run after 2>&1 | tail -20", MOCHA),
            (NPM, "npm run any", "npm run any 2>&1 | grep -E 'passing|failing'", "  3 passing (3s)\n"),
            (NPM, "npm run or", "npm run or 2>&1 | grep -E 'passing|failing'", "  3 passing (3s)\n"),
            (NPM, "npm run beside", "npm run beside 2>&1 | grep -E 'passing|failing'", "  3 passing (3s)\n"),
            (MAKE, "make test", "make -j2 test 2>&1 | grep -E 'passed|failed|error'", PYTEST),
            (MAKE, "make test", "make -k test 2>&1 | grep -E 'passed|failed|error'", PYTEST),
            (MAKE, "make test", "make -i test 2>&1 | tail", PYTEST),
            (
                MAKE,
                "make clean",
                "make clean 2>&1 | tail -3",
                "== 12 passed in 0.10s ==\nmake: *** [Makefile:9: clean] Error 1\n",
            ),
            (MAKE, "make clean", "make clean 2>&1 | grep -E 'passed|failed|error'", PYTEST),
        ],
        false,
    );
}

#[test]
fn pnpm_says_at_its_end_that_a_script_failed() {
    const BUILD: &[(&str, &str)] = &[("package.json", r#"{"scripts":{"build":"node build.js","test":"node run.js"}}"#)];
    const BUILT: &str = "> node build.js\n\nbuilt dist (1 kB)\n";
    const FAILED: &str = "built dist (1 kB)\n ELIFECYCLE  Command failed with exit code 3.\n";
    const HINT: &str = " WARN   Local package.json exists, but node_modules missing, did you mean to install?\n";
    check(
        &[
            (BUILD, "pnpm run build", "pnpm build 2>&1 | tail -5", BUILT),
            (BUILD, "pnpm run build", "pnpm build 2>&1 | head -20", BUILT),
            (BUILD, "pnpm build", "pnpm run build 2>&1 | tail -1", "built dist (1 kB)\n"),
        ],
        true,
    );
    check(
        &[
            (BUILD, "pnpm run build", "pnpm build 2>&1 | tail -5", FAILED),
            (BUILD, "pnpm run build", "pnpm build 2>&1 | tail -1", HINT),
            (BUILD, "pnpm run build", "pnpm build 2>&1 | tail -5", "working\nKilled\n"),
            (BUILD, "pnpm run build", "pnpm build 2>&1 | head -3", BUILT),
            (BUILD, "pnpm run build", "pnpm build 2>/dev/null | tail -5", BUILT),
            (BUILD, "pnpm run build", "pnpm --silent build 2>&1 | tail -5", BUILT),
            (BUILD, "pnpm run build", "pnpm -r build 2>&1 | tail -5", BUILT),
            (BUILD, "pnpm run build", "npm_config_reporter=silent pnpm build 2>&1 | tail -5", BUILT),
        ],
        false,
    );
}

#[test]
fn more_folders_than_those_of_the_setting_are_more_tests() {
    const SET: &[(&str, &str)] = &[("pyproject.toml", "[tool.pytest.ini_options]\ntestpaths = ['testing']\n")];
    const PLAIN: &[(&str, &str)] = &[("a.py", "")];
    check(&[(SET, "pytest", "pytest src testing", PYTEST), (SET, "pytest", "pytest ./testing src/a -q", PYTEST)], true);
    check(
        &[
            (SET, "pytest", "pytest src", PYTEST),
            (SET, "pytest", "pytest src testing/a.py", PYTEST),
            (SET, "pytest", "pytest src testing -k a", PYTEST),
            (SET, "pytest", "pytest ../other testing", PYTEST),
            (SET, "pytest src testing", "pytest", PYTEST),
            (SET, "pytest src testing", "pytest testing", PYTEST),
            (PLAIN, "pytest testing", "pytest src testing", PYTEST),
        ],
        false,
    );
}

#[test]
fn a_check_that_starts_only_after_others_shows_that_they_passed() {
    check(
        &[
            (NPM, "npm test", "(npm run lint && npm run mocha) 2>&1 | tail -25", MOCHA),
            (NPM, LINT, "{ npm run lint && npm run mocha; } 2>&1 | tail -25", MOCHA),
            (NPM, "npm run both", "(npm run unit && npm run ts) 2>&1 | tail -4", TSTYCHE),
            (NPM, "npm test", "(npm run lint && npm run mocha) > /tmp/l 2>&1; tail -5 /tmp/l", MOCHA),
            (
                &[],
                "cmake --build build && ctest --test-dir build",
                "(cmake --build build && ctest --test-dir build) 2>&1 | tail -5",
                "100% tests passed, 0 tests failed out of 4\n",
            ),
        ],
        true,
    );
    check(
        &[
            (NPM, "npm test", "(npm run lint; npm run mocha) 2>&1 | tail -25", MOCHA),
            (NPM, "npm test", "(npm run lint || npm run mocha) 2>&1 | tail -25", MOCHA),
            (NPM, "npm test", "(npm run lint | tail -3 && npm run mocha) 2>&1 | tail -25", MOCHA),
            (NPM, "npm test", "(npm run lint & npm run mocha) 2>&1 | tail -25", MOCHA),
            (NPM, "npm test", "(npm run lint && npm run mocha) 2>&1 | tail -25", ESLINT),
            (NPM, "npm test", "(npm run lint && npm run mocha) 2>&1 | grep passing", "  1977 passing (2s)\n"),
            (NPM, "npm test", "(npm run lint && npm run mocha) 2>&1 | tail -25", "  3 passing (2s)\n  1 failing\n"),
            (NPM, LINT, "(npx eslint --quiet --exit-zero . && npm run mocha) 2>&1 | tail -25", MOCHA),
            (NPM, "npm run twice", "(mocha a && mocha b) 2>&1 | tail -25", MOCHA),
            (NPM, "npm run both", "(npm run unit -- a.js && npm run ts) 2>&1 | tail -4", TSTYCHE),
            (NPM, "npm test", "(for d in a b; do npm run lint && npm run mocha; done) 2>&1 | tail -25", MOCHA),
        ],
        false,
    );
}

#[test]
fn a_makefile_that_only_looks_generated_is_read() {
    const FAKE: &[(&str, &str)] = &[("Makefile", "# CMAKE generated file: DO NOT EDIT!\ntest:\n\t@true\n")];
    const REAL: &[(&str, &str)] = &[(
        "Makefile",
        "# CMAKE generated file: DO NOT EDIT!\ntest:\n\t/usr/bin/ctest --force-new-ctest-process $(ARGS)\n",
    )];
    check(&[(REAL, "make test", "make test >/dev/null", "")], true);
    check(&[(FAKE, "make test", "make test >/dev/null", "")], false);
}
