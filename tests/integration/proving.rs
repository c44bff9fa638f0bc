//! `gate prove`: the tests of a change fail without it and pass with it.

use std::fs;
use std::process::Output;

use serde_json::Value;

use crate::project::Project;
use crate::support::TestRepo;

const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"sh t.sh\"\n";
/// Reports each test in the file of tests; all but `test_always` pass only with the fix.
const RUNNER: &str = "status=0\nfor test in test_add test_always test_old; do\n\
                      grep -q \"def $test\" tests/test_calc.py || continue\n\
                      if grep -q fixed calc.py || [ $test != test_add ]; then word=PASSED; else word=FAILED; status=1; fi\n\
                      echo \"tests/test_calc.py::$test $word\"\ndone\nexit $status\n";
const OLD: &str = "def test_old():\n    assert old() == 1\n";
const ADD: &str = "\ndef test_add():\n    assert add(1, 2) == 3\n";
const ALWAYS: &str = "\ndef test_always():\n    assert 1 == 1\n";

fn repository() -> TestRepo {
    let repo = TestRepo::with_commit();
    repo.write("gate.toml", POLICY).write("t.sh", RUNNER).write("calc.py", "broken\n").write("tests/test_calc.py", OLD);
    repo.commit_all("base");
    repo
}

fn prove(repo: &TestRepo, args: &[&str]) -> (Option<i32>, String) {
    let Output { status, stdout, stderr } = repo.gate([&["prove"], args].concat()).output().unwrap();
    (status.code(), String::from_utf8([stdout, stderr].concat()).unwrap())
}

#[track_caller]
fn says(repo: &TestRepo, args: &[&str], exit: i32, words: &str) {
    let (code, said) = prove(repo, args);
    assert!(code == Some(exit) && said.contains(words), "{said}");
}

#[test]
fn tests_are_named_by_what_they_show() {
    let repo = repository();
    repo.write("calc.py", "fixed\n").write("tests/test_calc.py", format!("{OLD}{ADD}{ALWAYS}"));
    let before = repo.git(["status", "--porcelain"]);
    let (code, said) = prove(&repo, &["--base", "HEAD"]);
    assert_eq!(code, Some(0), "{said}");
    for words in [
        "1 test fails without this change and passes with it\n  tests/test_calc.py::test_add\n",
        "1 test passes without this change, too, and shows nothing about it\n  tests/test_calc.py::test_always\n",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    assert!(!said.contains("test_old"), "it did not change: {said}");
    assert_eq!(repo.git(["status", "--porcelain"]), before, "the working tree is as it was");
}

#[test]
fn a_change_that_no_test_shows_is_not_proven() {
    let repo = repository();
    repo.write("calc.py", "fixed\n");
    says(&repo, &["--base", "HEAD"], 10, "no file of tests changed");
    repo.write("tests/test_calc.py", format!("{OLD}{ALWAYS}"));
    says(&repo, &["--base", "HEAD"], 10, "no test fails without this change and passes with it");
    // The fix is not there: the test fails with the change as well.
    repo.write("calc.py", "broken\n# another\n").write("tests/test_calc.py", format!("{OLD}{ADD}"));
    says(&repo, &["--base", "HEAD"], 10, "1 test does not pass with this change");
}

#[test]
fn a_test_that_moved_did_not_change() {
    let repo = repository();
    let runner = "for file in tests/test_*.py; do for test in test_add test_old; do\n\
                  ! grep -q \"def $test\" $file || echo \"$file::$test PASSED\"\ndone; done\n";
    repo.write("t.sh", runner).commit_all("all files");
    repo.write("calc.py", "fixed\n").remove("tests/test_calc.py").write("tests/test_all.py", OLD);
    let (code, said) = prove(&repo, &["--base", "HEAD"]);
    assert!(code == Some(10) && !said.contains("test_old"), "{said}");
    repo.write("tests/test_all.py", OLD.replace("== 1", "== 2"));
    says(&repo, &["--base", "HEAD"], 10, "test_old");
}

#[test]
fn data_of_tests_shows_what_a_change_does() {
    let repo = repository();
    let runner = "word=PASSED; grep -q new tests/data.txt && ! grep -q fixed calc.py && word=FAILED\n\
                  echo \"tests/test_calc.py::test_old $word\"; [ $word = PASSED ]\n";
    repo.write("t.sh", runner).write("tests/data.txt", "old\n").commit_all("data");
    repo.write("calc.py", "fixed\n").write("tests/data.txt", "old\nnew\n");
    let (code, said) = prove(&repo, &["--base", "HEAD"]);
    let words = "1 test fails without this change and passes with it\n  tests/test_calc.py::test_old\n";
    assert!(code == Some(0) && said.contains(words), "{said}");
}

#[test]
fn a_test_of_what_is_not_there_yet_fails_without_the_change() {
    let repo = repository();
    let runner = format!("test -e new.py || {{ echo 'cannot be loaded'; exit 2; }}\n{RUNNER}");
    repo.write("t.sh", runner).commit_all("runner");
    repo.write("new.py", "new\n").write("calc.py", "fixed\n").write("tests/test_calc.py", format!("{OLD}{ADD}"));
    says(&repo, &["--base", "HEAD"], 0, "1 test fails without this change and passes with it");
}

#[test]
fn what_cannot_be_proven_says_why() {
    let repo = repository();
    repo.write("tests/test_calc.py", format!("{OLD}{ADD}"));
    for (args, exit, words) in [
        (&["--base", "nothing"][..], 65, "`nothing` is not a commit"),
        (&["lint", "--base", "HEAD"], 65, "no declared command is called `lint`"),
        (&[], 12, "gate prove --base REV"),
    ] {
        let (code, said) = prove(&repo, args);
        assert!(code == Some(exit) && said.contains(words), "{args:?}: {said}");
    }
    repo.write("t.sh", "echo fine\n");
    says(&repo, &["--base", "HEAD"], 12, "the tests of `sh t.sh` are not known by name");
    repo.write("t.sh", "echo loading; echo 'Error: x requires y'; exit 4\n");
    let (code, said) = prove(&repo, &["--base", "HEAD"]);
    let words = "`sh t.sh` fails on a clean checkout with the change, and no test ran: Error: x requires y";
    assert!(code == Some(12) && said.contains(words), "{said}");
    repo.write("t.sh", "sleep 60\n");
    says(&repo, &["--base", "HEAD", "--timeout", "1"], 12, "did not end within 1 second on a clean checkout");
}

/// A project whose policy requires a proof, with a fix and its test on the branch.
fn fixed() -> Project {
    let repo = repository();
    let inputs = "inputs = [\"**\"]\nignore = [\"notes/**\"]\n";
    let gate = "[gates.regression]\nmode = \"block\"\n";
    repo.write("gate.toml", format!("{POLICY}{inputs}{gate}")).commit_all("policy");
    let remote = repo.add_bare_remote("origin");
    let project = Project { repo, remote };
    project.share();
    project.repo.write("calc.py", "fixed\n").write("tests/test_calc.py", format!("{OLD}{ADD}")).commit_all("fix: add");
    project
}

#[test]
fn a_policy_can_require_the_proof() {
    let project = fixed().tested();
    let missing = "no record shows that test_add in tests/test_calc.py fails without this change and passes with it";
    project.gate(["check"]).exits(10).says(missing).says("next: gate prove test");
    project.gate(["prove", "test"]).exits(0).says("1 test fails without this change and passes with it");
    project.gate(["check"]).exits(0).says("pass regression: 1 test fails without this change and passes with it");
    project.gate(["log"]).says("prove test: of 1 new or changed test, 1 failed without the change and passed with it");

    // It is of both contents, as far as the command reads them.
    project.repo.write("notes/fix", "why\n").commit_all("docs: why");
    project.gate(["check"]).exits(0);
    project.repo.append("calc.py", "another\n").commit_all("fix: another");
    project.gate(["run", "test"]).exits(0);
    project.gate(["check"]).exits(10).says(missing);
    project.gate(["prove", "test"]).exits(0);
    project.gate(["check"]).exits(0);

    project.repo.write("tests/test_calc.py", format!("{OLD}{ADD}{ALWAYS}")).commit_all("tests: more");
    project.gate(["run", "test"]).exits(0);
    project.gate(["prove"]).exits(0);
    let named = "tests/test_calc.py::test_always passes without it, too, and shows nothing about it";
    project.gate(["check"]).exits(0).says("unknown regression").says(named);

    // Nothing shows a change without a test that fails before it.
    project.repo.write("tests/test_calc.py", format!("{OLD}{ALWAYS}")).commit_all("tests: fewer");
    project.gate(["run", "test"]).exits(0);
    project.gate(["prove"]).exits(10);
    project.gate(["check"]).exits(10).says("test_always passes without this change, too");
}

#[test]
fn a_job_makes_the_proof_that_is_missing_and_its_comment_shows_it() {
    let project = fixed();
    project.repo.git(["push", "-q", "origin", "feature"]);
    project.gate(["ci", "--base", "origin/main"]).exits(10).says("fail regression");
    let said = project.gate(["ci", "--base", "origin/main", "--run", "--artifacts", "../judged"]);
    said.exits(0).says("gate: prove: sh t.sh without the change since");
    let verdict = fs::read(project.repo.outside().join("judged/verdict.json")).unwrap();
    let verdict: Value = serde_json::from_slice(&verdict).unwrap();
    let gates = verdict["gates"].as_array().unwrap();
    let proven = gates.iter().find(|gate| gate["gate"] == "regression").unwrap();
    let message = "1 test fails without this change and passes with it";
    assert_eq!(proven["findings"][0]["message"], message, "{proven}");
    let comment = gate::render::ci::summary::markdown(&serde_json::from_value(verdict).unwrap());
    assert!(comment.contains(&format!("| ✅ | <code>regression</code> | {message}")), "{comment}");
}
