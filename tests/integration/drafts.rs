//! Tests that failed in other work: in drafts that were thrown away, on other branches, before a rebase.

use crate::failed_tests::{OK, RED, RED_LIST, Scene, WITHOUT_IT, list_without_it};

impl Scene {
    /// Commits a file at a time after each run of these tests.
    fn commit_at(&self, date: &str, path: &str) {
        let mut commit = self.repo.command_in("git", self.repo.root());
        let output =
            commit.args(["commit", "-q", "-m", "work", path]).env("GIT_COMMITTER_DATE", date).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    /// The default branch goes on, as if a colleague pushed.
    fn colleague_pushes(&self) {
        self.repo.git(["switch", "-q", "main"]);
        self.repo.write("notes.md", "x\n").commit_all("docs: notes");
        self.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    }
}

#[test]
fn a_draft_that_failed_says_nothing_about_a_branch_that_changes_something_else() {
    let scene = Scene::new();
    // What the suite prints lies outside, so that it is not a change of a branch.
    scene.repo.git(["switch", "-q", "main"]);
    scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").write("other.py", "a\n").commit_all("suite");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    let suite = |output: &str, status: u8| scene.run_outer(output, status);
    let push = |branch: &str| {
        scene.repo.git(["branch", "-f", "feature", branch]);
        scene.push()
    };
    scene.repo.git(["switch", "-q", "-c", "draft"]);
    scene.repo.write("calc.py", "b\n");
    suite(RED_LIST, 101);
    scene.repo.git(["checkout", "-q", "."]);
    for (branch, path, passes) in
        [("same", "calc.py", false), ("tests", "tests/test_calc.py", false), ("other", "other.py", true)]
    {
        scene.repo.git(["switch", "-q", "-c", branch, "main"]);
        scene.repo.append(path, "# c\n").commit_all(branch);
        suite(&list_without_it(), 0);
        let (through, said) = push(branch);
        assert_eq!((through, said.contains("failed on this branch")), (passes, !passes), "{branch}: {said}");
    }
}

#[test]
fn a_draft_that_another_branch_committed_is_its_own() {
    for (what, committed, is_deleted, told) in [
        ("the branch has it", "tests/test_calc.py", false, false),
        ("the branch has something else", "other.py", false, true),
        ("the branch is gone", "tests/test_calc.py", true, true),
    ] {
        let scene = Scene::new();
        scene.repo.git(["switch", "-q", "main"]);
        scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").write("other.py", "a\n").commit_all("suite");
        scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
        scene.repo.git(["switch", "-q", "-c", "first"]);
        scene.repo.append("tests/test_calc.py", "\ndef test_new():\n    assert add(1, 1) == 2\n");
        scene.run_outer("FAILED tests/test_calc.py::test_new - x\n1 failed in 0.02s\n", 1);
        // A commit of something else, made in between, says nothing.
        scene.repo.git(["stash", "-q"]);
        scene.repo.git(["switch", "-q", "-c", "hotfix", "main"]);
        scene.repo.append("calc.py", "# c\n");
        scene.commit_at("2098-01-02T03:04:05+00:00", "calc.py");
        scene.repo.git(["switch", "-q", "first"]);
        scene.repo.git(["stash", "pop", "-q"]);
        scene.repo.append(committed, "# b\n");
        scene.commit_at("2099-01-02T03:04:05+00:00", committed);
        scene.repo.git(["checkout", "-q", "-f", "-b", "second", "main"]);
        if is_deleted {
            scene.repo.git(["branch", "-q", "-D", "first"]);
        }
        scene
            .repo
            .append("tests/test_calc.py", "\ndef test_other():\n    assert add(2, 1) == 3\n")
            .commit_all("second");
        scene.run_outer("tests/test_calc.py::test_other PASSED\n3 passed in 0.02s\n", 0);
        let (through, said) = scene.push_branch("second");
        assert!(through, "{what}: {said}");
        assert_eq!(said.contains("test_new failed on this branch"), told, "{what}: {said}");
    }
}

#[test]
fn a_draft_is_mentioned_once_however_often_its_branch_is_amended() {
    let scene = Scene::new();
    scene.repo.write("tests/test_new.py", "def test_new():\n    assert False\n");
    scene.repo.write("out", "FAILED tests/test_new.py::test_new - x\n1 failed in 0.02s\n").write("status", "1\n");
    assert_eq!(scene.gate(&["run", "test"]).status.code(), Some(1));
    scene.repo.remove("tests/test_new.py").write("calc.py", "c\n");
    let mut told = Vec::new();
    for message in ["one", "two", "three"] {
        scene.repo.append("calc.py", "# d\n");
        scene.run("2 passed in 0.02s\n", 0);
        scene.repo.git(["reset", "-q", "--soft", "main"]);
        scene.repo.git(["commit", "-q", "-m", message]);
        let (through, said) = scene.push_branch("+feature");
        assert!(through, "{said}");
        told.push(said.contains("test_new failed on this branch"));
    }
    assert_eq!(told, [true, false, false]);
}

#[test]
fn a_draft_that_was_never_committed_may_go() {
    let scene = Scene::new();
    scene.repo.write("tests/test_new.py", "def test_new():\n    assert False\n");
    scene.repo.write("out", "FAILED tests/test_new.py::test_new - x\n1 failed in 0.02s\n").write("status", "1\n");
    assert_eq!(scene.gate(&["run", "test"]).status.code(), Some(1));
    scene.repo.remove("tests/test_new.py").write("calc.py", "c\n");
    scene.run("2 passed in 0.02s\n", 0);
    let (through, said) = scene.push();
    assert!(through && said.contains("test_new failed on this branch"), "{said}");
}

#[test]
fn a_draft_whose_code_is_gone_is_not_mentioned() {
    let scene = Scene::new();
    let passed = "test test_add ... ok\ntest test_twice ... ok\n";
    scene.repo.git(["switch", "-q", "main"]);
    scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").commit_all("suite");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    scene.repo.git(["switch", "-q", "-C", "feature"]);
    let suite = |session: &str, output: &str, status: u8| {
        scene.put_outside(output, status);
        let run = scene.repo.gate(["run", "test"]).env("GATE_SESSION", session).output().unwrap();
        assert_eq!(run.status.code(), Some(i32::from(status)));
    };
    scene.repo.append("tests/test_calc.py", "\ndef test_kelvin():\n    assert kelvin(0) == 273\n");
    scene.repo.append("calc.py", "kelvin = 3\n");
    let red =
        format!("running 3 tests\n{passed}test test_kelvin ... FAILED\ntest result: FAILED. 2 passed; 1 failed\n");
    suite("agent", &red, 1);
    scene.repo.git(["checkout", "-q", "--", "."]);
    scene.repo.append("calc.py", "# later\n").commit_all("fix: later");
    suite("agent", &format!("running 2 tests\n{passed}{OK}"), 0);
    let (through, said) = scene.push();
    assert!(through && !said.contains("test_kelvin"), "{said}");

    // Later on the branch, it is a draft of this branch.
    scene.repo.append("tests/test_calc.py", "\ndef test_kelvin():\n    assert kelvin(0) == 273\n");
    scene.repo.append("calc.py", "kelvin = 3\n");
    suite("agent", &red, 1);
    scene.repo.git(["checkout", "-q", "--", "."]);
    scene.repo.append("calc.py", "# last\n").commit_all("fix: last");
    suite("agent", &format!("running 2 tests\n{passed}{OK}"), 0);
    let (through, said) = scene.push();
    assert!(through && said.contains("test_kelvin") && said.contains("the work that added it is gone, too"), "{said}");
}

#[test]
fn failures_of_other_branches_do_not_count() {
    let scene = Scene::new();
    scene.repo.git(["switch", "-q", "-c", "other"]);
    scene.repo.write("calc.py", "b\n");
    scene.run(RED, 1);
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.write("calc.py", "c\n");
    scene.run("tests/test_calc.py::test_add SKIPPED\n1 passed, 1 skipped in 0.02s\n", 0);
    let (through, said) = scene.push();
    assert!(through, "{said}");
}

#[test]
fn a_failure_is_remembered_after_a_rebase_onto_a_newer_default_branch() {
    let scene = Scene::new();
    scene.repo.write("calc.py", "b\n");
    scene.run(RED, 1);
    scene.repo.write("tests/test_calc.py", WITHOUT_IT).commit_all("test: fewer");
    scene.colleague_pushes();
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.git(["rebase", "-q", "main"]);
    scene.run("tests/test_calc.py::test_twice PASSED\n1 passed in 0.02s\n", 0);
    let (_, said) = scene.push();
    assert!(said.contains("test_add failed on this branch"), "{said}");
}

#[test]
fn failures_of_a_deleted_branch_do_not_count_for_another_one_on_a_newer_default_branch() {
    let scene = Scene::new();
    scene.repo.write("calc.py", "b\n");
    scene.run(RED, 1);
    scene.colleague_pushes();
    scene.repo.git(["branch", "-q", "-D", "feature"]);
    scene.repo.git(["switch", "-q", "-c", "feature"]);
    scene.repo.write("tests/test_calc.py", WITHOUT_IT).commit_all("test: fewer");
    assert_eq!(scene.gate(&["run", "test"]).status.code(), Some(0));
    let (through, said) = scene.push();
    assert!(through && !said.contains("failed earlier"), "{said}");
}

/// Content with a test that was never committed, `draft`, and with what the next session does.
fn after_a_draft(draft: &str, next: &[(&str, &str)]) -> String {
    let scene = Scene::new();
    scene.repo.git(["switch", "-q", "main"]);
    scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n");
    scene.repo.write("calc.py", "def kelvin(c):\n    return c\n\ndef other(c):\n    return c\n").commit_all("suite");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    let suite = |session: &str, output: &str, status: u8| {
        scene.put_outside(output, status);
        let run = scene.repo.gate(["run", "test"]).env("GATE_SESSION", session).output().unwrap();
        assert_eq!(run.status.code(), Some(i32::from(status)));
    };
    let passed = "test test_add ... ok\ntest test_twice ... ok\n";
    scene.repo.git(["switch", "-q", "-c", "idea"]);
    scene.repo.append("tests/test_calc.py", draft);
    let red =
        format!("running 3 tests\n{passed}test test_kelvin ... FAILED\ntest result: FAILED. 2 passed; 1 failed\n");
    suite("first", &red, 1);
    suite("second", &red, 1);
    for line in [&["checkout", "-q", "."][..], &["switch", "-q", "main"], &["branch", "-q", "-D", "idea"]] {
        scene.repo.git(line);
    }
    scene.repo.git(["switch", "-q", "-C", "feature"]);
    for (path, text) in next {
        scene.repo.append(path, text);
    }
    scene.repo.commit_all("feat: next");
    suite("third", &format!("running 2 tests\n{passed}{OK}"), 0);
    let (through, said) = scene.push();
    assert_eq!(through, !said.contains("test_kelvin"), "{said}");
    said
}

#[test]
fn a_test_that_an_earlier_session_threw_away_does_not_count_for_other_work() {
    const DRAFT: &str = "\ndef test_kelvin():\n    assert kelvin(0) == 273\n";
    const OF_OTHER: (&str, &str) = ("tests/test_calc.py", "\ndef test_other():\n    assert other(1) == 1\n");
    let is_told = |next: &[(&str, &str)]| after_a_draft(DRAFT, next).contains("test_kelvin");
    assert!(!is_told(&[OF_OTHER]), "only tests");
    assert!(!is_told(&[OF_OTHER, ("calc.py", "\ndef third(c):\n    return other(c)\n")]), "other code");
    assert!(is_told(&[OF_OTHER, ("calc.py", "\ndef third(c):\n    return kelvin(c)\n")]), "code that calls the same");
}
