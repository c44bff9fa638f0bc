//! Records of tests that passed, in lines where something else failed or may have failed.

use super::tests::{Files, check, ended_with, proof_with};

#[test]
fn a_summary_shows_no_pass_where_something_else_may_have_failed() {
    const JEST: Files = &[
        ("package.json", r#"{"scripts":{"test":"jest --coverage"}}"#),
        ("jest.config.js", "module.exports = { coverageThreshold: {} }\n"),
    ];
    const FREE: Files = &[("package.json", r#"{"scripts":{"test":"jest --coverage"}}"#)];
    const PYTEST: Files =
        &[("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"--cov=a --cov-fail-under=90\"\n")];
    const NYC: Files = &[("package.json", r#"{"scripts":{"test":"nyc --check-coverage mocha"}}"#)];
    const RSPEC: Files =
        &[("spec/spec_helper.rb", "SimpleCov.start { minimum_coverage 90 }\n"), ("spec/a_spec.rb", "")];
    const NODE: Files = &[("package.json", r#"{"scripts":{"test":"node --test"}}"#)];
    const CUSTOM: Files = &[
        ("package.json", r#"{"scripts":{"test":"jest --config=jest.unit.js"}}"#),
        ("jest.unit.js", "module.exports = { coverageThreshold: {} }\n"),
    ];
    const STEPS: Files =
        &[("package.json", r#"{"scripts":{"test":"run-s unit other","unit":"mocha","other":"./x.sh"}}"#)];
    const BESIDE: Files =
        &[("package.json", r#"{"scripts":{"test":"concurrently 'npm:unit' './x.sh'","unit":"mocha"}}"#)];
    const SUITE: &str = "Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nSnapshots:   0 total\nTime:        1 s\nRan all test suites.\n";
    const TABLE: &str = "a.js | 100 |\n-----|-----|\nTest Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\nTime: 1 s\nRan all test suites.\n";
    const MOCHA: &str = "  1 passing (3ms)\n";
    const COUNTS: &str = "# tests 2\n# pass 2\n# fail 0\n";
    check(
        &[
            (JEST, "npm test", "npm test 2>&1 | tail -6", TABLE),
            (JEST, "npm test", "npm test", SUITE),
            (FREE, "npm test", "npm test 2>&1 | tail -5", SUITE),
            (FREE, "npm test", "npm test 2>&1 | grep -E '^Tests:'", "Tests:       1 passed, 1 total\n"),
            (PYTEST, "pytest", "pytest 2>&1 | tail -3", "a.py 100%\n\n1 passed in 0.03s\n"),
            (NYC, "npm test", "npm test 2>&1 | tail -20", MOCHA),
            (RSPEC, "rspec", "rspec 2>&1 | tail -20", "1 example, 0 failures\n"),
            (
                &[],
                "pytest",
                "pytest -q 2>&1 | tail -20",
                "Killed\n\u{1b}[32m\u{1b}[1m1 passed\u{1b}[0m in 0.08s\u{1b}[0m\n",
            ),
            (NODE, "npm test", "npm test 2>&1 | grep -E '^(#|ℹ) (pass|fail|tests)'", COUNTS),
            (
                NODE,
                "npm test",
                "npm test 2>&1 | grep -E '^(#|ℹ) (pass|fail|cancelled)'",
                "# pass 2\n# fail 0\n# cancelled 0\n",
            ),
        ],
        true,
    );
    check(
        &[
            (JEST, "npm test", "npm test 2>&1 | tail -5", SUITE),
            (JEST, "npm test", "npm test 2>&1 | grep -E '^Tests:'", "Tests:       1 passed, 1 total\n"),
            (
                FREE,
                "npx jest --coverage --coverageThreshold={}",
                "npx jest --coverage --coverageThreshold={} 2>&1 | tail -5",
                SUITE,
            ),
            (PYTEST, "pytest", "pytest 2>&1 | tail -1", "1 passed in 0.03s\n"),
            (PYTEST, "pytest", "pytest 2>&1 | grep -E 'passed|failed'", "1 passed in 0.03s\n"),
            (NYC, "npm test", "npm test 2>/dev/null | tail -20", MOCHA),
            (NYC, "npm test", "npm test 2>&1 | grep -E 'passing|failing'", MOCHA),
            (RSPEC, "rspec", "rspec 2>&1 | grep -E 'examples?,'", "1 example, 0 failures\n"),
            (&[], "rspec", "rspec 2>&1 | tail -20", "139 examples, 0 failures, 1 error occurred outside of examples\n"),
            (NODE, "npm test", "npm test 2>&1 | grep -E '^(#|ℹ) (pass|fail|tests)'", "# tests 2\n# pass 1\n# fail 0\n"),
            (NODE, "npm test", "npm test 2>&1 | grep -E '^(#|ℹ) (pass|fail)'", "# pass 1\n# fail 0\n"),
            (
                &[],
                "npx mocha",
                "npx mocha 2>&1 | tail",
                "  1 passing (49ms)\n    throw err;\n\nError: late\n\nNode.js v20.20.2\n",
            ),
            (&[], "pytest", "pytest -q 2>&1 | tail -20", "1 passed in 0.08s\nFatal Python error: Segmentation fault\n"),
            (&[], "pytest", "pytest -q 2>&1 | tail -20", "1 passed in 0.08s\nSegmentation fault (core dumped)\n"),
            (
                &[],
                "pytest",
                "pytest -q 2>&1 | tail -20",
                "\u{1b}[32m1 passed\u{1b}[0m in 0.08s\n\u{1b}[31mAborted\u{1b}[0m\n",
            ),
            (CUSTOM, "npm test", "npm test 2>&1 | grep -E '^Tests:'", "Tests:       1 passed, 1 total\n"),
            (STEPS, "npm test", "npm test 2>&1 | tail -20", MOCHA),
            (BESIDE, "npm test", "npm test 2>&1 | tail -20", MOCHA),
        ],
        false,
    );
}

#[test]
fn an_error_that_the_tests_may_have_printed_is_not_that_of_a_later_command() {
    const UVU: Files = &[("package.json", r#"{"scripts":{"test":"uvu -r esm test"}}"#)];
    const JEST: Files = &[("package.json", r#"{"scripts":{"test":"jest"}}"#)];
    const SYNTAX: &str =
        "> uvu -r esm test\n\nfile:///x/src/index.js:90\n(((  oops\n^\n\nSyntaxError: Unexpected token\n";
    const TYPES: &str = "FAIL test/a.test.js\n    src/a.ts:3:1 - error TS2322: Type x\n\nTest Suites: 1 failed, 1 total\nTests:       0 total\n";
    const PASSED: &str =
        "Test Suites: 1 passed, 1 total\nTests:       3 passed, 3 total\nsrc/a.ts:3:1 - error TS2322: Type x\n";
    assert_ne!(ended_with(UVU, "npm test", "npm test && node --check src/index.js", 1, SYNTAX), Some(true));
    assert_ne!(ended_with(JEST, "npm test", "npm test && npx tsc --noEmit", 1, TYPES), Some(true));
    assert_ne!(
        ended_with(JEST, "npm test", "npm test && npx tsc --noEmit; echo \"exit $?\"", 0, &format!("{TYPES}exit 1\n")),
        Some(true)
    );
    let rake = "rake aborted!\n/x/lib/a.rb:9: expected local variable\n((( oops\n\nTasks: TOP => test\n";
    assert_ne!(ended_with(&[], "rake", "bundle exec rake && ruby -c lib/a.rb", 1, rake), Some(true));
    let cut = TYPES.split("\nTest Suites").next().unwrap_or_default();
    assert_ne!(ended_with(JEST, "npm test", "npm test && npx tsc --noEmit", 1, cut), Some(true));
    assert_eq!(ended_with(JEST, "npm test", "npm test && npx tsc --noEmit", 1, PASSED), Some(true));
}

#[test]
fn a_part_that_printed_no_summary_may_have_crashed() {
    const OK: &str = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
    let line = "cargo test 2>&1 | grep 'test result'";
    let package = ("Cargo.toml", "[package]\nname = \"a\"\nversion = \"0.1.0\"\n");
    let files = [package, ("src/lib.rs", ""), ("tests/a.rs", ""), ("tests/b.rs", ""), ("tests/common/mod.rs", "")];
    assert!(proof_with(&files, "cargo test", line, &OK.repeat(4)));
    assert!(!proof_with(&files, "cargo test", line, &OK.repeat(3)));
    assert!(!proof_with(&files, "cargo test", "cargo test 2>/dev/null | grep -E 'test result: ok'", &OK.repeat(2)));
    // With other targets the number of parts is not known.
    let files =
        [("Cargo.toml", "[package]\nname = \"a\"\n[lib]\ndoctest = false\n"), ("src/lib.rs", ""), ("tests/a.rs", "")];
    assert!(proof_with(&files, "cargo test", line, &OK.repeat(2)));
    // Those in the virtual workspace are those of its members.
    let files = [("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n"), ("a/src/lib.rs", "")];
    assert!(proof_with(&files, "cargo test", line, OK));
}
