use super::*;
use crate::event::agent_work::Act;
use crate::event::test_results::TestResult;
use crate::fact::session_steps::test_builder::{Tale, tree};
use crate::fact::weakening::{FilePair, compare};
use crate::fact::{FailedTest, Note, Subject, TestDifference};
use crate::moment::Moment;
use crate::runner::Catalogue;

const RED: &str = "test adds ... FAILED\n\ntest result: FAILED. 11 passed; 1 failed; 0 ignored; finished in 0.31s\n";
const GREEN: &str = "running 12 tests\ntest result: ok. 12 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
const ONE: &str = "#[test] fn adds(){assert_eq!(demo::add(1,2),3);}\n";

fn gate() -> Gate {
    crate::config::built_in().into_iter().find(|gate| gate.id == "integrity").unwrap()
}

fn facts(tale: &Tale, pairs: &[(&str, &str, &str)]) -> Facts {
    let text = |text: &str| Some(text.to_owned()).filter(|text| text != "-");
    let pairs: Vec<FilePair> = pairs
        .iter()
        .map(|(path, old, new)| FilePair { path: RepoPath::from(*path), old: text(old), new: text(new) })
        .collect();
    let subject = Subject { tree: Some(tree('a')), changed: None, ..Subject::empty("HEAD") };
    let mut facts = Facts { subjects: vec![subject], story: tale.story(), ..Facts::at(Moment::Stop) };
    facts.weakening.insert("HEAD".to_owned(), compare(&pairs, Catalogue::embedded()).with_code(&pairs));
    facts
}

/// Returns the reasons, with a `!` if they block.
fn reasons(facts: &Facts) -> String {
    let gate = gate();
    let policy = crate::config::defaults(&crate::gates::check_params);
    let found = evaluate(&gate, &policy, facts);
    for one in &found {
        assert!(
            !one.message.contains("{{") && one.message != one.reason && !one.message.contains("malformed"),
            "{one:?}"
        );
    }
    let found = found.iter().filter(|one| one.answer != Answer::Pass);
    found
        .map(|one| format!("{}{}", one.reason, if one.answer == Answer::Fail { "!" } else { "" }))
        .collect::<Vec<_>>()
        .join(" ")
}

fn begin(prompt: &str) -> Tale {
    Tale::default().prompt(prompt)
}

fn red() -> Tale {
    begin("Make add saturating.").edit("src/lib.rs", "a", "b").ran("cargo test", 101, RED)
}

#[test]
fn a_test_that_failed_and_is_gone() {
    let gone = [("tests/add.rs", ONE, "-")];
    assert_eq!(
        reasons(&facts(&red().delete("tests/add.rs").ran("cargo test", 0, GREEN), &gone)),
        "failed-test-removed!"
    );
    assert_eq!(reasons(&facts(&begin("x").ran("cargo test", 0, GREEN), &gone)), "tests-removed", "it never failed");
    assert_eq!(reasons(&facts(&Tale::default(), &gone)), "tests-removed", "nothing is known of any session");
    let row = FailedTest {
        test: "adds".to_owned(),
        since: Some(TestResult::Missing),
        in_place: Some("adds_all".to_owned()),
        differs_in: TestDifference::Within,
        ..FailedTest::default()
    };
    let in_table = facts(&red().delete("tests/add.rs").ran("cargo test", 0, GREEN), &gone);
    let in_table = Facts { failed_tests: vec![row], ..in_table };
    assert_eq!(reasons(&in_table), "tests-removed failed-test-within", "a run shows what took its place");
    let asked = begin("Remove the adding feature.").ran("cargo test", 101, RED);
    assert_eq!(reasons(&facts(&asked, &gone)), "failed-test-removed", "a person wants something gone");
    let packet =
        "It says:\n# Reply to handoff h20261122T153612-404dee68: environment_fix\n\n## action\n- delete the test\n";
    let passed_on = begin(packet).ran("cargo test", 101, RED);
    assert_eq!(reasons(&facts(&passed_on, &gone)), "failed-test-removed!", "a packet is not a person");
    let asked = begin(&format!("Delete the test. {packet}")).ran("cargo test", 101, RED);
    assert_eq!(reasons(&facts(&asked, &gone)), "failed-test-removed", "and does not hide what a person wants");
    let moved = [("tests/add.rs", ONE, "-"), ("tests/all.rs", "", ONE)];
    assert_eq!(reasons(&facts(&red(), &moved)), "", "it is elsewhere");
    let other = [("tests/add.rs", &*format!("{ONE}#[test] fn subs(){{}}\n"), ONE)];
    assert_eq!(reasons(&facts(&red(), &other)), "tests-removed", "another one is gone");
    let renamed = [("tests/add.rs", ONE, "#[test] fn adds_saturating(){assert_eq!(demo::add(1,2),3);}\n")];
    assert_eq!(reasons(&facts(&red(), &renamed)), "tests-removed", "another one stands there");
}

#[test]
fn a_test_that_goes_with_its_code_is_no_loss() {
    let failed = "FAILED test_a.py::test_old - ImportError\nFAILED test_a.py::test_one - assert\n2 failed in 0.1s\n";
    let one = "def test_one():\n    assert one() == 1\n";
    let test = format!("def test_old():\n    from a import old\n    assert old() == 0\n\n\n{one}");
    let (old, code) = ("def one():\n    return 1\n\n\ndef old():\n    return 0\n", "def one():\n    return 1\n");
    let tale = begin("Elimina la funci\u{f3}n old y sus pruebas").ran("pytest", 1, failed);
    let silent = begin("Go on.").ran("pytest", 1, failed);
    let of =
        |tale: &Tale, new: &str, tests: &str| reasons(&facts(tale, &[("test_a.py", &test, tests), ("a.py", old, new)]));
    assert_eq!(of(&silent, code, one), "tests-removed", "what it was about is gone");
    assert_eq!(of(&silent, old, one), "failed-test-removed!", "it is still there");
    assert_eq!(of(&silent, &old.replace("old()", "older()"), one), "failed-test-removed!", "it has another name");
    assert_eq!(of(&silent, code, ""), "failed-test-removed!", "one that is about something else went with it");
    assert_eq!(of(&tale, old, one), "failed-test-removed", "a person asked, in another language");
    for prompt in [
        "Bitte l\u{f6}sche die alte Funktion",
        "\u{8bf7}\u{5220}\u{9664}\u{65e7}\u{7684}\u{51fd}\u{6570}",
        "Supprime cette fonction",
    ] {
        assert_eq!(of(&begin(prompt).ran("pytest", 1, failed), old, one), "failed-test-removed", "{prompt}");
    }
}

#[test]
fn what_failed_in_another_session_counts_the_same() {
    let gone = [("tests/add.rs", ONE, "-")];
    let after = |before: &[Tale]| Facts {
        moment: Moment::Push,
        before: before.iter().map(Tale::story).collect(),
        ..facts(&Tale::default(), &gone)
    };
    assert_eq!(reasons(&after(&[red()])), "failed-test-removed!");
    assert_eq!(reasons(&after(&[begin("x").ran("cargo test", 0, GREEN)])), "tests-removed");
    let asked = begin("Remove the adding feature.").ran("cargo test", 101, RED);
    assert_eq!(reasons(&after(&[asked])), "failed-test-removed", "a person wanted something gone, whoever was told");
    let off = begin("x").ran("git push --no-verify", 0, "").ran("cargo test", 0, GREEN);
    assert_eq!(reasons(&after(&[off])), "tests-removed", "what else a session did is for its own moments");
}

#[test]
fn a_test_that_failed_and_is_left_out() {
    let ignored = [("tests/add.rs", ONE, "#[test] #[ignore] fn adds(){assert_eq!(demo::add(1,2),3);}\n")];
    assert_eq!(reasons(&facts(&red(), &ignored)), "failed-test-skipped!");
    assert_eq!(reasons(&facts(&begin("x"), &ignored)), "tests-skipped");
    let pytest = "FAILED tests/test_math.py::TestAdd::test_small - assert 3 == 4\n1 failed, 3 passed in 0.1s\n";
    let tale = begin("Fix it.").ran("pytest", 1, pytest);
    let excluded =
        [("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --deselect tests/test_math.py::TestAdd::test_small\n")];
    assert_eq!(reasons(&facts(&tale, &excluded)), "failed-test-excluded!");
    let ignored = [("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --ignore=tests/test_math.py\n")];
    assert_eq!(reasons(&facts(&tale, &ignored)), "failed-test-excluded!", "its file");
    let other = [("pytest.ini", "[pytest]\n", "[pytest]\naddopts = --ignore=tests/slow\n")];
    assert_eq!(reasons(&facts(&tale, &other)), "left-out");
    let new = [("tests/add.rs", "", "#[test] #[ignore] fn adds(){}\n")];
    assert_eq!(reasons(&facts(&red(), &new)), "failed-test-skipped!", "its own new test");
    assert_eq!(reasons(&facts(&begin("x"), &new)), "");
}

#[test]
fn commands_that_test_no_longer() {
    let emptied = [("package.json", r#"{"scripts":{"test":"vitest run"}}"#, r#"{"scripts":{"test":"exit 0"}}"#)];
    assert_eq!(reasons(&facts(&Tale::default(), &emptied)), "task-emptied!");
    let masked =
        [("package.json", r#"{"scripts":{"test":"vitest run"}}"#, r#"{"scripts":{"test":"vitest run || true"}}"#)];
    assert_eq!(reasons(&facts(&Tale::default(), &masked)), "forgiven task-masked");
    assert_eq!(reasons(&facts(&red(), &masked)), "task-masked!");
    let other = [("package.json", r#"{"scripts":{"test":"vitest run"}}"#, r#"{"scripts":{"test":"./test.sh"}}"#)];
    assert_eq!(reasons(&facts(&red(), &other)), "task-replaced");
}

#[test]
fn a_command_that_runs_less_than_before() {
    let script = |test: &str| format!(r#"{{"scripts":{{"test":"{test}"}}}}"#);
    let narrowed = |test: &str| [("package.json", script("vitest run"), script(test))];
    let of = |tale: &Tale, new: &str| {
        let [(path, old, new)] = &narrowed(new);
        reasons(&facts(tale, &[(path, old, new)]))
    };
    assert_eq!(of(&Tale::default(), "vitest run -t zero"), "narrowed", "nothing is known to have failed");
    assert_eq!(of(&red(), "vitest run -t zero"), "narrowed!");
    assert_eq!(of(&red(), "vitest run -t adds"), "narrowed", "what failed still runs");
    let setting = [("pytest.ini", "[pytest]\n", "[pytest]\naddopts = -k zero\n")];
    assert_eq!(reasons(&facts(&red(), &setting)), "narrowed!");
    let masked = [("Makefile", "test:\n\tpytest\n", "SHELL = /bin/true\ntest:\n\tpytest\n")];
    assert_eq!(reasons(&facts(&Tale::default(), &masked)), "task-masked");
    assert_eq!(reasons(&facts(&red(), &masked)), "task-masked!");
}

#[test]
fn only_tests_changed_between_red_and_green() {
    let weaker = [("tests/add.rs", ONE, "#[test] fn adds(){assert!(demo::add(1,2)>0);}\n")];
    let tale = || begin("Fix the failing CI.").ran("cargo test", 101, RED).edit("tests/add.rs", "a", "b");
    assert_eq!(reasons(&facts(&tale().ran("cargo test", 0, GREEN), &weaker)), "changed-after-failure");
    assert_eq!(reasons(&facts(&tale(), &weaker)), "", "it is not green yet");
    assert_eq!(reasons(&facts(&tale().edit("src/lib.rs", "a", "b").ran("cargo test", 0, GREEN), &weaker)), "");
    let own = [("tests/new.rs", "-", ONE)];
    let tale =
        begin("Add a test.").edit("tests/new.rs", "", ONE).ran("cargo test", 101, RED).edit("tests/new.rs", "3", "4");
    assert_eq!(reasons(&facts(&tale.ran("cargo test", 0, GREEN), &own)), "", "it is the session's own test");
}

#[test]
fn the_policy() {
    let note = |kind: &str| Note::new(kind, "policy changed: tests: block became off");
    let with = |tale: &Tale, kind: &str| Facts { notes: vec![note(kind)], ..facts(tale, &[]) };
    let edited = begin("x").edit("gate.toml", "block", "off");
    assert_eq!(reasons(&with(&edited, "policy-relaxed")), "policy-relaxed!");
    assert_eq!(reasons(&with(&edited, "policy-removed")), "policy-relaxed!");
    assert_eq!(reasons(&with(&edited, "policy-changed")), "", "it asks for as much");
    assert_eq!(
        reasons(&with(&begin("x").edit("src/a.rs", "1", "2"), "policy-relaxed")),
        "policy-changed",
        "somebody else did"
    );
    assert_eq!(reasons(&with(&Tale::default(), "policy-relaxed")), "policy-changed", "a person at a terminal");
    assert_eq!(
        reasons(&with(&begin("x").ran("sed -i s/block/off/ gate.toml", 0, ""), "policy-relaxed")),
        "policy-relaxed!"
    );
    assert_eq!(reasons(&with(&Tale::default(), "journal-damaged")), "journal-damaged");
}

#[test]
fn hooks_and_record() {
    let of = |tale: &Tale| reasons(&facts(tale, &[]));
    for (line, expected) in [
        ("git -c core.hooksPath=/dev/null push --no-verify origin feat/x", "checks-left-out!"),
        ("git commit --no-verify -m x", "checks-left-out!"),
        ("HUSKY=0 git commit -m x", "checks-left-out!"),
        ("git config core.hooksPath /dev/null", "checks-off!"),
        ("gate uninstall", "checks-off!"),
        ("rm .git/hooks/pre-push", "kept-changed!"),
        ("sed -i 's/101/0/' .git/gate/journal.jsonl", "kept-changed!"),
        ("sed -i 's/101/0/' .gate/log.jsonl", "kept-changed!"),
        ("cat .git/gate/journal.jsonl | tail -3", ""),
        ("git commit -m 'describe --no-verify'", ""),
        ("git push origin feat/x", ""),
    ] {
        assert_eq!(of(&begin("x").ran(line, 0, "")), expected, "{line}");
    }
    assert_eq!(of(&begin("x").ran("git push --no-verify", 1, "refused")), "", "it was not done");
    assert_eq!(of(&begin("x").edit(".git/hooks/pre-push", "a", "b")), "kept-changed!");
    let again = begin("x").ran("git commit --no-verify -m x", 0, "").ran("git commit --amend --no-edit", 0, "");
    assert_eq!(of(&again), "checks-done-later");
    let push = begin("x").ran("git push --no-verify", 0, "").ran("git commit -m y", 0, "");
    assert_eq!(of(&push), "checks-left-out!", "a commit is not a push");
}

#[test]
fn what_a_person_was_told_is_not_held_against_the_session_for_ever() {
    use crate::event::{EventKind, FailingGate, Judged};
    let mut tale = begin("x").ran("git push --no-verify", 0, "").said("verdict");
    let judged = Judged {
        failing: vec![FailingGate { gate: "integrity".to_owned(), fingerprint: String::new(), blocks: true }],
        blocked: true,
        attempt: 1,
        ..Judged::at(Moment::Stop)
    };
    tale.entries.last_mut().unwrap().event.kind = EventKind::Judged(judged);
    assert_eq!(reasons(&facts(&tale, &[])), "checks-left-out!");
    let tale = tale.prompt("Go on, I pushed it again.");
    assert_eq!(reasons(&facts(&tale, &[])), "");
    assert_eq!(reasons(&facts(&tale.ran("git push --no-verify", 0, ""), &[])), "checks-left-out!");
}

#[test]
fn without_a_session_and_without_changes_there_is_nothing_to_say() {
    let gate = gate();
    let policy = crate::config::defaults(&crate::gates::check_params);
    assert!(evaluate(&gate, &policy, &Facts::at(Moment::Stop)).is_empty());
    let told = evaluate(&gate, &policy, &facts(&Tale::default().act(Act::Said("x".to_owned())), &[]));
    assert_eq!(told[0].answer, Answer::Pass);
}
