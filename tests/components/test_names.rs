//! The tests of real runners by name: the same as the test files say, and nobody sees that they were requested.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Output;

use serde_json::Value;

use crate::installed::folder;
use crate::support::TestRepo;

struct Suite {
    /// The component, and the folder with its programs.
    component: &'static str,
    programs: &'static str,
    run: &'static str,
    files: &'static [(&'static str, &'static str)],
    /// The tests by result, as `gate status --tests --json` lists them.
    passed: usize,
    failed: &'static [&'static str],
    skipped: &'static [&'static str],
    expected: &'static [&'static str],
}

/// Tests that see the environment as it was: the variables of the hooks are not there.
const JEST: &str = "test('adds', () => { expect(process.env.NODE_OPTIONS).toBe(undefined); \
                    expect(process.env.GATE_TEST_REPORT).toBe(undefined); });\n\
                    test('fails', () => { expect(1).toBe(2); });\n\
                    describe('calc', () => { test('inner', () => {}); test.skip('later', () => {}); test.todo('todo'); test.skip('', () => {}); });\n";
const VITEST: &str = "import { test, describe, expect } from 'vitest';\n\
                      test('adds', () => { expect(process.env.NODE_OPTIONS).toBe(undefined); });\n\
                      test('fails', () => { expect(1).toBe(2); });\n\
                      describe('calc', () => { test('inner', () => {}); test.skip('later', () => {}); \
                      test.fails('wrong', () => { throw new Error('x'); }); });\n";
const MOCHA: &str = "const assert = require('assert');\n\
                     it('adds', () => { assert.equal(process.env.NODE_OPTIONS, undefined); });\n\
                     it('fails', () => { assert.equal(1, 2); });\n\
                     describe('calc', () => { it('inner', () => {}); it.skip('later', () => {}); });\n\
                     describe('hook', () => { beforeEach(() => { throw new Error('x'); }); it('one', () => {}); });\n";
const NODE: &str = "const { test, describe, it } = require('node:test');\n\
                    test('adds', () => { if (process.env.NODE_OPTIONS || process.env.GATE_TEST_REPORT) throw 1; });\n\
                    test('fails', () => { throw new Error('x'); });\n\
                    describe('calc', () => { it('inner', () => {}); it('later', { skip: true }, () => {}); });\n";
const BUN: &str = "import { test, describe, expect } from 'bun:test';\n\
                   test('adds', () => {});\ntest('fails', () => { expect(1).toBe(2); });\n\
                   describe('calc', () => { test('inner', () => {}); test.skip('later', () => {}); });\n";
const DENO: &str = "Deno.test('adds', () => { console.log('hi'); });\nDeno.test('fails', () => { throw new Error('x'); });\n\
                    Deno.test('steps', async (t) => { await t.step('one', () => {}); });\nDeno.test.ignore('later', () => {});\n";
const UNITTEST: &str = "import os, unittest\nclass T(unittest.TestCase):\n    \
                        def test_add(self): self.assertNotIn('GATE_TEST_REPORT', os.environ); self.assertNotIn('PYTHONPATH', os.environ)\n    \
                        def test_fails(self): self.assertEqual(1, 2)\n    \
                        @unittest.skip('later')\n    def test_later(self): pass\n    \
                        @unittest.expectedFailure\n    def test_expected(self): self.fail()\n";
const RUST: &str = "#[test] fn adds() {}\n#[test] fn fails() { assert_eq!(1, 2); }\n#[test] #[ignore] fn later() {}\n";
const CARGO: &str =
    "[package]\nname = \"x\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\npath = \"lib.rs\"\n[workspace]\n";

const SUITES: &[Suite] = &[
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "npm test",
        files: &[
            ("package.json", "{\"scripts\": {\"test\": \"jest --ci\"}}"),
            ("calc.test.js", JEST),
            ("broken.test.js", "require('./nothing');\n"),
        ],
        passed: 2,
        failed: &["broken.test.js", "calc.test.js::fails"],
        skipped: &["calc.test.js::calc > ", "calc.test.js::calc > later", "calc.test.js::calc > todo"],
        expected: &[],
    },
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "npm test",
        files: &[("package.json", "{\"scripts\": {\"test\": \"vitest run\"}}"), ("calc.test.js", VITEST)],
        passed: 2,
        failed: &["calc.test.js::fails"],
        skipped: &["calc.test.js::calc > later"],
        expected: &["calc.test.js::calc > wrong"],
    },
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "npm test",
        files: &[("package.json", "{\"scripts\": {\"test\": \"mocha\"}}"), ("test/calc.js", MOCHA)],
        passed: 2,
        failed: &["test/calc.js::fails", "test/calc.js::hook > one"],
        skipped: &["test/calc.js::calc > later"],
        expected: &[],
    },
    Suite {
        component: "mocha11",
        programs: "node_modules/.bin",
        run: "npm test",
        files: &[("package.json", "{\"scripts\": {\"test\": \"mocha\"}}"), ("test/calc.js", MOCHA)],
        passed: 2,
        failed: &["test/calc.js::fails", "test/calc.js::hook > one"],
        skipped: &["test/calc.js::calc > later"],
        expected: &[],
    },
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "node --test --experimental-test-coverage",
        files: &[("calc.test.js", NODE)],
        // The group is one, too.
        passed: 3,
        failed: &["fails"],
        skipped: &["calc > later"],
        expected: &[],
    },
    Suite {
        component: "runners",
        programs: "node_modules/@oven/bun-linux-x64/bin",
        run: "bun test",
        files: &[("calc.test.js", BUN)],
        passed: 2,
        failed: &["calc.test.js::fails"],
        skipped: &["calc.test.js::calc > later"],
        expected: &[],
    },
    Suite {
        component: "runners",
        programs: "node_modules/@deno/linux-x64-glibc",
        run: "deno test",
        files: &[("calc_test.ts", DENO)],
        passed: 2,
        failed: &["fails"],
        skipped: &["later"],
        expected: &[],
    },
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "python3 -m unittest",
        files: &[("test_calc.py", UNITTEST)],
        passed: 1,
        failed: &["test_calc.T.test_fails"],
        skipped: &["test_calc.T.test_later"],
        expected: &["test_calc.T.test_expected"],
    },
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "cargo test",
        files: &[("Cargo.toml", CARGO), ("lib.rs", RUST)],
        passed: 1,
        failed: &["fails"],
        skipped: &["later"],
        expected: &[],
    },
    Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "cargo nextest run --no-fail-fast",
        files: &[("Cargo.toml", CARGO), ("lib.rs", RUST)],
        // It does not name what it leaves out.
        passed: 1,
        failed: &["x fails"],
        skipped: &[],
        expected: &[],
    },
];

impl Suite {
    fn repository(&self) -> TestRepo {
        let repo = TestRepo::with_commit();
        let mut policy = String::from("version = 1\n[commands.test]\ngate = \"tests\"\n");
        let _ = writeln!(policy, "run = {:?}", self.run);
        repo.write("gate.toml", policy).write(".gitignore", "node_modules\ntarget\nCargo.lock\n__pycache__\n");
        for (path, text) in self.files {
            repo.write(path, text);
        }
        std::os::unix::fs::symlink(folder(self.component).join("node_modules"), repo.root().join("node_modules"))
            .unwrap();
        repo.commit_all("tests");
        repo
    }

    fn run(&self, repo: &TestRepo, program: &str, args: &[&str]) -> Output {
        let mut command = if program == "gate" { repo.gate(args) } else { repo.command_in(program, repo.root()) };
        if program != "gate" {
            command.args(args);
        }
        let programs = folder(self.component).join(self.programs);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::join_paths(std::iter::once(programs).chain(std::env::split_paths(&path))).unwrap();
        let home = std::env::var_os("HOME").unwrap_or_default();
        command.env("PATH", path).env("NO_COLOR", "1").env("HOME", home).env("DENO_DIR", repo.root().join("target"));
        command.output().unwrap()
    }
}

/// The line without its numbers and with one unit for every time: a second run may take "1.02s" instead of "897ms".
fn without_numbers(line: &str) -> String {
    let line = line.replace(|c: char| c.is_ascii_digit() || c == '.', "");
    // Bun shows a time only if it is not too short.
    line.replace("µs", "s").replace("ms", "s").replace(" [s]", "")
}

/// Lines without numbers: times differ, and so do the ids of threads.
fn shape(output: &Output) -> Vec<String> {
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    // What a first run compiles and checks, and estimates that come from it, differ from the second one's.
    let first = ["Compiling", "Finished", "Check ", "Nextest run", "Time:", "Blocking", "gate:"];
    let lines = text.lines().filter(|line| !first.iter().any(|word| line.contains(word)));
    lines.map(without_numbers).collect()
}

#[test]
fn names_and_results_are_those_of_the_suite_and_nothing_else_changes() {
    for suite in SUITES {
        let repo = suite.repository();
        // The first run fills caches, of which runners tell.
        suite.run(&repo, "sh", &["-c", suite.run]);
        let bare = suite.run(&repo, "sh", &["-c", suite.run]);
        let seen = suite.run(&repo, "gate", &["run", "test"]);
        let what = format!("{} ({}):\n{}", suite.run, suite.files[0].0, String::from_utf8_lossy(&seen.stdout));
        assert_eq!(seen.status.code(), bare.status.code(), "{what}");
        let count = |lines: Vec<String>| {
            let mut counts: BTreeMap<String, usize> = BTreeMap::new();
            for line in lines {
                *counts.entry(line).or_default() += 1;
            }
            counts
        };
        assert_eq!(count(shape(&seen)), count(shape(&bare)), "{what}");

        let tests = suite.run(&repo, "gate", &["status", "--tests", "--json"]);
        let tests: Value = serde_json::from_slice(&tests.stdout).unwrap();
        let tests = &tests["commands"][0];
        assert_eq!(tests["complete"], true, "{what}{tests}");
        assert_eq!(tests["passed"], suite.passed, "{what}{tests}");
        for (key, expected) in
            [("failed", suite.failed), ("skipped", suite.skipped), ("expected_failures", suite.expected)]
        {
            assert_eq!(tests[key], serde_json::json!(expected), "{what}{tests}");
        }
    }
}

#[test]
fn a_test_that_is_left_out_after_it_failed_is_missed() {
    for (run, file, red, green) in [
        (
            "python3 -m unittest",
            "test_calc.py",
            UNITTEST,
            "import unittest\nclass T(unittest.TestCase):\n    def test_add(self): pass\n",
        ),
        ("node --test", "calc.test.js", NODE, "process.exit(0);\n"),
        ("cargo nextest run", "lib.rs", RUST, "#[test] fn adds() {}\n"),
    ] {
        let files: &'static [(&'static str, &'static str)] =
            if file == "lib.rs" { &[("Cargo.toml", CARGO)] } else { &[("README", "x\n")] };
        let suite = Suite {
            component: "runners",
            programs: "node_modules/.bin",
            run,
            files,
            passed: 0,
            failed: &[],
            skipped: &[],
            expected: &[],
        };
        let repo = suite.repository();
        repo.write(file, red).commit_all("red");
        assert!(!suite.run(&repo, "gate", &["run", "test"]).status.success(), "{run}");
        repo.write(file, green).commit_all("green");
        assert!(suite.run(&repo, "gate", &["run", "test"]).status.success(), "{run}");
        let check = suite.run(&repo, "gate", &["check"]);
        let check = String::from_utf8_lossy(&check.stdout).into_owned() + &String::from_utf8_lossy(&check.stderr);
        assert!(check.contains("did not run when `test` passed"), "{run}: {check}");
    }
}

#[test]
fn a_file_that_ends_before_its_tests_did_proves_nothing() {
    const TESTS: &str = "const { it, after } = require('node:test');\nconst { add } = require('./calc.js');\n\
                         it('a', () => {});\nit('adds', () => { if (add(1, 2) !== 3) throw 1; });\n";
    const ADD: &str = "exports.add = (a, b) => a + b;\n";
    let suite = Suite {
        component: "runners",
        programs: "node_modules/.bin",
        run: "node --test",
        files: &[("package.json", "{}"), ("calc.test.js", TESTS), ("plain.test.js", "process.exit(0);\n")],
        passed: 0,
        failed: &[],
        skipped: &[],
        expected: &[],
    };
    let repo = suite.repository();
    let ends = "the process of calc.test.js ended before its tests were done";
    for (code, tests, expected) in [
        (ADD, TESTS.to_owned(), "this proves test"),
        (ADD, format!("{TESTS}after(() => process.exit(0));\n"), "this proves test"),
        ("process.exit(0);\n", TESTS.to_owned(), ends),
        ("process.reallyExit(0);\n", TESTS.to_owned(), ends),
        ("exports.add = () => process.exit(0);\n", TESTS.to_owned(), ends),
        ("exports.add = () => 4;\n", format!("{TESTS}after(() => process.exit(0));\n"), ends),
    ] {
        repo.write("calc.js", code).write("calc.test.js", &tests).commit_all("calc");
        let said = suite.run(&repo, "gate", &["run", "test"]);
        let said = String::from_utf8_lossy(&said.stderr).into_owned();
        assert!(said.contains(expected), "{code}{tests}: {said}");
    }
}
