//! A test that failed in a commit which is gone, or that the base had and removed: other work has nothing to do with it.

use crate::failed_tests::Scene;

const TESTS: &str = "#[test]\nfn adds() {\n    assert_eq!(add(1, 2), 3);\n}\n";
const IDEA: &str = "\n#[test]\nfn idea() {\n    assert_eq!(add(1, 2), 4);\n}\n";
const RED: &str =
    "running 2 tests\ntest adds ... ok\ntest idea ... FAILED\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n";
const GREEN: &str = "running 1 test\ntest adds ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored; 0 measured\n";

/// A suite that prints what lies outside, and a branch of an idea that failed in a commit of its own.
fn with_an_idea() -> Scene {
    let scene = suite();
    scene.repo.git(["switch", "-q", "-c", "idea"]);
    scene.repo.append("tests/calc.rs", IDEA).commit_all("test: an idea");
    scene.run_outer(RED, 1);
    scene
}

fn suite() -> Scene {
    let scene = Scene::new();
    scene.repo.git(["switch", "-q", "main"]);
    scene.repo.write("t.sh", "cat ../out\nexit $(cat ../status)\n").write("tests/calc.rs", TESTS).commit_all("suite");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    scene.repo.git(["branch", "-q", "-f", "feature", "main"]);
    scene
}

/// Changes the code and pushes it.
fn push_a_change(scene: &Scene) -> (bool, String) {
    scene.repo.append("calc.py", "b\n").commit_all("feat: b");
    scene.run_outer(GREEN, 0);
    scene.push()
}

#[test]
fn another_branch_owes_nothing_for_an_idea_that_was_dropped() {
    for (what, drop) in [
        ("it is deleted", &[&["switch", "-q", "feature"][..], &["branch", "-q", "-D", "idea"]][..]),
        ("its commit is taken back", &[&["reset", "-q", "--hard", "HEAD~1"], &["switch", "-q", "feature"]]),
        ("it is left", &[&["switch", "-q", "feature"]]),
    ] {
        let scene = with_an_idea();
        for args in drop {
            scene.repo.git(args.iter().copied());
        }
        let (pushed, said) = push_a_change(&scene);
        assert!(pushed && !said.contains("idea failed"), "{what}: {said}");
    }
}

#[test]
fn a_test_whose_commit_was_taken_back_on_its_branch_is_told() {
    let scene = suite();
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.append("tests/calc.rs", IDEA).commit_all("test: an idea");
    scene.run_outer(RED, 1);
    scene.repo.git(["reset", "-q", "--hard", "HEAD~1"]);
    let (pushed, said) = push_a_change(&scene);
    assert!(pushed && said.contains("idea failed on this branch and did not run"), "{said}");
}

#[test]
fn a_test_whose_commit_was_taken_back_while_its_code_stays_is_missed() {
    let scene = suite();
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.append("tests/calc.rs", IDEA).append("calc.py", "x\n").commit_all("feat: an idea");
    scene.run_outer(RED, 1);
    scene.repo.git(["reset", "-q", "--soft", "HEAD~1"]);
    scene.repo.write("tests/calc.rs", TESTS);
    let (pushed, said) = push_a_change(&scene);
    assert!(!pushed && said.contains("idea failed on this branch and did not run"), "{said}");
}

#[test]
fn a_test_that_the_base_has_removed_is_not_missed() {
    let scene = suite();
    scene.repo.append("tests/calc.rs", IDEA).commit_all("test: of a colleague");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    scene.repo.git(["branch", "-q", "-f", "feature", "main"]);
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.append("calc.py", "a\n").commit_all("feat: a");
    scene.run_outer(RED, 1);
    scene.repo.git(["switch", "-q", "main"]);
    scene.repo.write("tests/calc.rs", TESTS).commit_all("test: take it back");
    scene.repo.git(["push", "-q", "--no-verify", "origin", "main"]);
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.git(["rebase", "-q", "main"]);
    let (pushed, said) = push_a_change(&scene);
    assert!(pushed && !said.contains("idea failed"), "{said}");
}

#[test]
fn a_test_of_code_that_stays_as_it_was_is_missed_wherever_its_commit_went() {
    const CODE: &str = "def idea(a, b):\n    total = a + b\n    return total * 2\n";
    const OTHER: &str = "def other():\n    return 1\n";
    let test = "\n#[test]\nfn idea_doubles() {\n    assert_eq!(idea(1, 2), 3);\n}\n";
    let red = RED.replace("test idea", "test idea_doubles");
    for (what, drop, code, through) in [
        ("its commit is taken back", &[&["reset", "-q", "--hard", "HEAD~1"][..]][..], None, false),
        (
            "the code is written again",
            &[&["switch", "-q", "-c", "again", "main"]],
            Some(format!("{OTHER}\n\n{CODE}")),
            false,
        ),
        ("the code changes", &[&["switch", "-q", "-c", "again", "main"]], Some(CODE.replace("* 2", "")), true),
        ("other code is written", &[&["switch", "-q", "-c", "again", "main"]], Some(OTHER.to_owned()), true),
    ] {
        let scene = suite();
        scene.repo.git(["switch", "-q", "feature"]);
        scene.repo.append("calc.py", CODE).commit_all("feat: idea");
        scene.repo.append("tests/calc.rs", test).commit_all("test: idea");
        scene.run_outer(&red, 1);
        for args in drop {
            scene.repo.git(args.iter().copied());
        }
        if let Some(code) = code {
            scene.repo.append("calc.py", &code).commit_all("feat: again");
        }
        scene.run_outer(GREEN, 0);
        let branch = scene.repo.git(["branch", "--show-current"]);
        let (pushed, said) = scene.push_branch(branch.trim());
        assert_eq!(pushed, through, "{what}: {said}");
        assert_eq!(said.contains("idea_doubles failed on this branch"), !through, "{what}: {said}");
    }
}

#[test]
fn work_on_a_branch_beside_it_that_shares_an_unpushed_commit_owes_nothing() {
    let scene = suite();
    scene.repo.git(["switch", "-q", "main"]);
    scene
        .repo
        .append("README.md", "more\n")
        .append("calc.py", "def shared():\n    return 1\n")
        .commit_all("feat: shared");
    scene.repo.git(["switch", "-q", "-C", "idea"]);
    scene.repo.append("tests/calc.rs", IDEA).commit_all("test: an idea");
    scene.run_outer(RED, 1);
    scene.repo.git(["switch", "-q", "-C", "feature", "main"]);
    let (pushed, said) = push_a_change(&scene);
    assert!(pushed && !said.contains("idea failed"), "{said}");
}

#[test]
fn content_that_was_pushed_is_not_refused_because_another_branch_ran_its_tests() {
    let scene = suite();
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.append("tests/calc.rs", IDEA).commit_all("test: an idea");
    scene.run_outer(RED, 1);
    scene.repo.write("tests/calc.rs", format!("{TESTS}{}", IDEA.replace("idea", "thought").replace("4)", "3)")));
    scene.repo.append("calc.py", "def more():\n    return 3\n").commit_all("feat: more");
    scene.run_outer(&GREEN.replace("1 passed", "2 passed").replace("\n\n", "\ntest thought ... ok\n\n"), 0);
    let (pushed, said) = scene.push();
    assert!(pushed, "{said}");
    scene.repo.git(["switch", "-q", "-c", "other", "main"]);
    scene.repo.append("calc.py", "def other():\n    return 3\n").commit_all("feat: other");
    scene.run_outer(GREEN, 0);
    scene.repo.git(["switch", "-q", "feature"]);
    scene.repo.git(["commit", "-q", "--amend", "-m", "feat: still more"]);
    let (pushed, said) = scene.push_branch("+feature");
    assert!(pushed, "{said}");
}

#[test]
fn a_function_that_is_dropped_takes_its_test_along_whatever_came_with_it() {
    const ADD: &str = "pub fn add(a: u8, b: u8) -> u8 {\n    a + b\n}\n";
    const MUL: &str = "\npub fn mul(a: u8, b: u8) -> u8 {\n    a + b\n}\n";
    const TEST: &str = "\n#[test]\nfn idea() {\n    assert_eq!(mul(3, 4), 12);\n}\n";
    for (what, code, is_told) in [
        ("it is gone", ADD.to_owned(), true),
        ("it is still there", format!("{ADD}{MUL}"), false),
        ("it has another name", format!("{ADD}{}", MUL.replace("mul", "times")), false),
        ("it is written in another way", format!("{ADD}{}", MUL.replace("a + b", "b + a")), false),
    ] {
        let scene = suite();
        scene.repo.git(["switch", "-q", "feature"]);
        scene.repo.write("src/ops.rs", format!("{ADD}{MUL}")).append("tests/calc.rs", TEST).commit_all("feat: both");
        scene.run_outer(RED, 1);
        scene.repo.write("src/ops.rs", code).write("tests/calc.rs", TESTS).commit_all("feat: only add");
        scene.run_outer(GREEN, 0);
        let (pushed, said) = scene.push();
        assert!(said.contains("idea failed on this branch"), "{what}: {said}");
        assert_eq!(
            (pushed, said.contains("the work that added it is gone, too")),
            (is_told, is_told),
            "{what}: {said}"
        );
    }
}
