//! The tests that the output of a runner names. The outputs are those of the runners themselves.

use gate::runner::{Catalogue, NamedTests};

struct Case {
    runner: &'static str,
    output: &'static str,
    names: &'static [(&'static str, &'static str)],
    complete: bool,
}

/// Names of tests of Node's own runner that hold the signs with which it ends a line.
const NODE_SIGNS: &[(&str, &str)] = &[
    ("a\\ (2ms) # todo", "failed"),
    ("adds a # b", "passed"),
    ("adds a # skip it", "passed"),
    ("group # 1 (5ms)", "passed"),
    ("group # 1 (5ms) > \\#", "expected-failure"),
    ("group # 1 (5ms) > x # 1", "passed"),
    ("group # 1 (5ms) > x # 2", "skipped"),
    ("slow in 3ms", "passed"),
];

const CASES: &[Case] = &[
    Case {
        runner: "cargo nextest",
        output: "    Starting 2 tests across 1 binary (1 test skipped)
        PASS [   0.043s] (1/2) nx tests::adds
        FAIL [   0.259s] (2/2) nx tests::fails
  stdout ───
    running 1 test
    test tests::fails ... FAILED
     Summary [   0.260s] 2 tests run: 1 passed, 1 failed, 1 skipped
        FAIL [   0.259s] (2/2) nx tests::fails
error: test run failed\n",
        names: &[("nx tests::adds", "passed"), ("nx tests::fails", "failed")],
        complete: true,
    },
    Case {
        runner: "bun test",
        output: "calc.test.js:
(pass) adds
      at <anonymous> (/x/calc.test.js:3:33)
(fail) fails [0.04ms]
(pass) calc > inner
(skip) calc > later
(todo) calc > todo

2 tests failed:
(fail) fails [0.04ms]

 2 pass
Ran 5 tests across 1 file. [41.00ms]\n",
        names: &[
            ("calc.test.js::adds", "passed"),
            ("calc.test.js::calc > inner", "passed"),
            ("calc.test.js::calc > later", "skipped"),
            ("calc.test.js::calc > todo", "skipped"),
            ("calc.test.js::fails", "failed"),
        ],
        complete: true,
    },
    Case {
        // In the terminal of an agent it prints failures only.
        runner: "bun test",
        output: "calc.test.js:\n(fail) fails [0.04ms]\n 4 pass\n 1 fail\nRan 5 tests across 1 file. [41.00ms]\n",
        names: &[("calc.test.js::fails", "failed")],
        complete: false,
    },
    Case {
        runner: "deno test",
        output: "running 4 tests from ./calc_test.ts
adds ...
------- output -------
hi
----- output end -----
adds ... ok (6ms)
fails ... FAILED (706µs)
sub ...
  one ... ok (0ms)
sub ... ok (3ms)
later ... ignored (0ms)
FAILED | 2 passed (1 step) | 1 failed | 1 ignored (34ms)\n",
        names: &[("adds", "passed"), ("fails", "failed"), ("later", "skipped"), ("sub", "passed")],
        complete: true,
    },
    Case {
        runner: "ctest",
        output: "    Start 1: adds
1/4 Test #1: adds .............................   Passed    0.03 sec
    Start 2: fails
2/4 Test #2: fails ............................***Failed    0.02 sec
3/4 Test #3: later ............................***Skipped   0.02 sec
4/4 Test #4: dis ..............................***Not Run (Disabled)   0.00 sec

67% tests passed, 1 tests failed out of 3\n",
        names: &[("adds", "passed"), ("dis", "skipped"), ("fails", "failed"), ("later", "skipped")],
        complete: true,
    },
    Case {
        runner: "node --test",
        output: "TAP version 13
# Subtest: adds
ok 1 - adds
  ---
  duration_ms: 1.4
  ...
# Subtest: fails
not ok 2 - fails
  ---
  duration_ms: 1.1
  ...
# Subtest: calc
    # Subtest: inner
    ok 1 - inner
    # Subtest: skipped
    ok 2 - skipped # SKIP later
    # Subtest: todo
    not ok 3 - todo # TODO
    1..3
ok 3 - calc
  ---
  type: 'suite'
  ...
# Subtest: /x/exit.test.js
ok 4 - /x/exit.test.js
1..4
# tests 6
# suites 1
# pass 3\n",
        names: &[
            ("/x/exit.test.js", "passed"),
            ("adds", "passed"),
            ("calc", "passed"),
            ("calc > inner", "passed"),
            ("calc > skipped", "skipped"),
            ("calc > todo", "expected-failure"),
            ("fails", "failed"),
        ],
        complete: true,
    },
    Case {
        runner: "node --test",
        output: "✔ adds (1.310227ms)
✖ fails (13.211694ms)
  AssertionError [ERR_ASSERTION]: 2 == 3
▶ calc
  ✔ inner (0.276298ms)
  ﹣ skipped (0.129222ms) # later
  ✖ todo (0.144701ms) # TODO
✔ calc (1.085746ms)
▶ parent
  ✔ child (0.171221ms)
✔ parent (0.516378ms)
ℹ tests 7
ℹ suites 1
ℹ pass 4

✖ failing tests:

test at calc.test.js:4:1
✖ fails (13.211694ms)\n",
        names: &[
            ("adds", "passed"),
            ("calc", "passed"),
            ("calc > inner", "passed"),
            ("calc > skipped", "skipped"),
            ("calc > todo", "expected-failure"),
            ("fails", "failed"),
            ("parent", "passed"),
            ("parent > child", "passed"),
        ],
        complete: true,
    },
    Case {
        // In TAP a backslash stands before some signs.
        runner: "node --test",
        output: "# Subtest: adds a \\# b
ok 1 - adds a \\# b
# Subtest: adds a \\# skip it
ok 2 - adds a \\# skip it
# Subtest: a\\\\ (2ms) \\# todo
not ok 3 - a\\\\ (2ms) \\# todo
# Subtest: slow in 3ms
ok 4 - slow in 3ms
# Subtest: group \\# 1 (5ms)
    # Subtest: x \\# 1
    ok 1 - x \\# 1
    # Subtest: x \\# 2
    ok 2 - x \\# 2 # SKIP rea \\# son
    # Subtest: \\\\\\#
    not ok 3 - \\\\\\# # TODO
    1..3
ok 5 - group \\# 1 (5ms)
# tests 7
# suites 1\n",
        names: NODE_SIGNS,
        complete: true,
    },
    Case {
        runner: "node --test",
        output: "✔ adds a # b (6.199658ms)
✔ adds a # skip it (0.196787ms)
✖ a\\ (2ms) # todo (0.140943ms)
✔ slow in 3ms (0.134301ms)
▶ group # 1 (5ms)
  ✔ x # 1 (0.293116ms)
  ﹣ x # 2 (0.232113ms) # rea # son
  ✖ \\# (1.080875ms) # some day
✔ group # 1 (5ms) (16.513155ms)
ℹ tests 7
ℹ suites 1\n",
        names: NODE_SIGNS,
        complete: true,
    },
    Case {
        runner: "bats",
        output: "1..3\nok 1 adds\nnot ok 2 fails\n# (in test file t.bats, line 2)\nok 3 later # skip x\n",
        names: &[("adds", "passed"), ("fails", "failed"), ("later", "skipped")],
        complete: true,
    },
    Case {
        runner: "bats",
        output: "t.bats\n ✓ adds\n ✗ fails\n   (in test file t.bats, line 2)\n - later (skipped: x)\n\n3 tests, 1 failure, 1 skipped\n",
        names: &[("adds", "passed"), ("fails", "failed"), ("later", "skipped")],
        complete: true,
    },
    Case {
        runner: "bats",
        output: "1..4\nok 1 slow in 3ms\nok 2 slow in 4ms\nnot ok 3 late # timeout after 1s\nok 4 a # b\n",
        names: &[("a # b", "passed"), ("late", "failed"), ("slow in 3ms", "passed"), ("slow in 4ms", "passed")],
        complete: true,
    },
    Case {
        // With `--timing`, each line has a duration.
        runner: "bats",
        output: "1..3\nok 1 slow in 3ms in 80ms\nnot ok 2 fails in 9ms\nok 3 later in 76ms # skip not now\n",
        names: &[("fails", "failed"), ("later", "skipped"), ("slow in 3ms", "passed")],
        complete: true,
    },
    Case {
        runner: "bats",
        output: "t.bats\n ✓ adds [1]\n ✓ adds [2]\n ✗ late [timeout: 1]\n\n3 tests, 1 failure\n",
        names: &[("adds [1]", "passed"), ("adds [2]", "passed"), ("late", "failed")],
        complete: true,
    },
    Case {
        runner: "vitest",
        output: " ❯ calc.test.js (6 tests | 1 failed | 2 skipped) 60ms
   × fails 37ms
 FAIL  broken.test.js [ broken.test.js ]
Error: Cannot find module './nothing'
 FAIL  calc.test.js > calc > fails
AssertionError: expected 1 to be 2\n",
        names: &[("broken.test.js", "failed"), ("calc.test.js::calc > fails", "failed")],
        complete: false,
    },
    Case {
        runner: "cargo test",
        output: "\nrunning 3 tests\n.i 2/3\ntests::fails --- FAILED\n\nfailures:\n\n---- tests::fails stdout ----\n",
        names: &[("tests::fails", "failed")],
        complete: false,
    },
    Case {
        runner: "dotnet test",
        output: "  Passed N.CalcTests.Adds [3 ms]\n  Failed N.CalcTests.Fails(a: 1) [12 ms]\n  Skipped N.CalcTests.Later [1 ms]\n",
        names: &[
            ("N.CalcTests.Adds", "passed"),
            ("N.CalcTests.Fails(a: 1)", "failed"),
            ("N.CalcTests.Later", "skipped"),
        ],
        complete: false,
    },
    Case {
        runner: "phpunit",
        output: "There was 1 failure:\n\n1) App\\CalcTest::testAdds\nFailed asserting that 2 matches expected 3.\n",
        names: &[("App\\CalcTest::testAdds", "failed")],
        complete: false,
    },
];

fn read(case: &Case, output: &str) -> NamedTests {
    let runner = Catalogue::embedded().runner(case.runner).unwrap_or_else(|| panic!("{}", case.runner));
    NamedTests::of_runners(Catalogue::embedded(), output, true, &[runner])
}

#[test]
fn names_and_results_are_those_of_the_runner() {
    for case in CASES {
        let tests = read(case, case.output);
        let results: Vec<_> = tests.results().map(|(name, result)| (name, result.as_str())).collect();
        assert_eq!(results, case.names, "{}", case.runner);
        assert_eq!(tests.is_complete(), case.complete, "{}", case.runner);
    }
}

#[test]
fn an_output_without_one_of_its_lines_is_not_complete() {
    for case in CASES.iter().filter(|case| case.complete) {
        for (name, _) in case.names {
            let last = name.rsplit([':', '>']).next().unwrap_or(name).trim();
            let mut cut = true;
            let kept = case.output.lines().filter(|line| {
                let unescaped = line.replace("\\#", "#").replace("\\\\", "\\");
                let is_result = (line.contains(last) || unescaped.contains(last))
                    && !line.contains("Subtest")
                    && !line.contains("▶ ")
                    && !line.contains("Start")
                    && !line.ends_with("...");
                !is_result || !std::mem::take(&mut cut)
            });
            let kept = kept.fold(String::new(), |text, line| text + line + "\n");
            let tests = read(case, &kept);
            assert!(!tests.is_complete(), "{} without {name}:\n{kept}", case.runner);
        }
    }
}
