//! Ways to raise the reward without better work. None of them may.

use std::collections::BTreeMap;

use crate::command_line::Proves;
use crate::event::{
    Act, AgentWork, CommandRef, EarlierFailure, EditKind, Ended, Event, EventKind, FileEdit, Run, ShellCommand,
    TestResult, TestResults, ToolUse, Waived,
};
use crate::learn::reward::Reward;
use crate::learn::reward_numbers::{self, RewardSources, numbers};
use crate::learn::task_record::tests::{event, judged, prompt};
use crate::moment::Moment;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

fn tree(digit: char) -> Oid {
    digit.to_string().repeat(40).parse().unwrap()
}

fn work(act: Act) -> EventKind {
    EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act }))
}

fn edit(path: &str, lines: usize) -> EventKind {
    let path = RepoPath::from(path);
    let added = "x\n".repeat(lines);
    work(Act::Edited(vec![FileEdit { path, how: EditKind::Written, removed: String::new(), added }]))
}

pub(super) fn run(status: i32, on: char) -> EventKind {
    let snapshot = KeptSnapshot::of_tree(tree(on));
    let name = Some("test".to_owned());
    let command = CommandRef { name, line: "cargo test".to_owned(), dir: RepoPath::default(), key: "k".to_owned() };
    EventKind::Run(Box::new(Run { ended: Ended::Exited(status), millis: 1_000, ..Run::passed(command, snapshot) }))
}

/// A run of a command that nobody declared.
pub(super) fn undeclared(line: &str, status: i32) -> EventKind {
    let EventKind::Run(mut run) = run(status, 'a') else { unreachable!("it is a run") };
    run.command = CommandRef { name: None, line: line.to_owned(), dir: RepoPath::default(), key: line.to_owned() };
    EventKind::Run(run)
}

/// Returns `true` if a run is a check: one that is declared, or a run of pytest.
fn is_check(run: &Run) -> bool {
    let proves = if run.command.line == "pytest" { Proves::FullPass } else { Proves::Nothing };
    reward_numbers::is_check(run, proves)
}

/// A run whose tests are named: those that failed, and those that failed before and pass now.
fn named(on: char, failed: &[&str], passed: &[&str]) -> EventKind {
    let earlier = |test: &&str| EarlierFailure {
        test: (*test).to_owned(),
        result: TestResult::Passed,
        candidates: Vec::new(),
        family: 0,
    };
    EventKind::Tests(Box::new(TestResults {
        key: "k".to_owned(),
        head: None,
        tree: tree(on),
        named: 9,
        complete: true,
        part: false,
        failed: failed.iter().map(|test| (*test).to_owned()).collect(),
        families: BTreeMap::new(),
        earlier: passed.iter().map(earlier).collect(),
    }))
}

/// The paths that differ between the trees of these sessions.
#[expect(clippy::unnecessary_wraps, reason = "a repository may not have a tree")]
fn changed(from: &Oid, to: &Oid) -> Option<Vec<String>> {
    let files = |tree: &Oid| -> &[(&str, u8)] {
        match tree.as_str().as_bytes()[0] {
            b'a' => &[("src/a.rs", 1), ("tests/a.rs", 1)],
            // A new test, which fails.
            b'b' => &[("src/a.rs", 1), ("tests/a.rs", 2)],
            // The code that makes it pass.
            b'c' => &[("src/a.rs", 2), ("tests/a.rs", 2)],
            // The test was made to pass.
            b'd' => &[("src/a.rs", 1), ("tests/a.rs", 3)],
            // The code was broken.
            b'e' => &[("src/a.rs", 9), ("tests/a.rs", 2)],
            _ => &[],
        }
    };
    let (from, to) = (files(from), files(to));
    Some(from.iter().zip(to).filter(|(one, other)| one != other).map(|(one, _)| one.0.to_owned()).collect())
}

/// Returns the low end of the reward of a session that does these things, one each ten seconds.
fn reward(kinds: Vec<EventKind>, reverts: u32, tokens: Option<u64>) -> f64 {
    let events: Vec<Event> = (0..).map(|at| at * 10).zip(kinds).map(|(at, kind)| event(at, "s", kind)).collect();
    let EventKind::Judged(before) = judged(Moment::Push, &[], 0) else { unreachable!("it is a verdict") };
    let before = Some(&before);
    let sources =
        RewardSources { events: &events, before, base: None, reverts, tokens, changed: &changed, is_check: &is_check };
    Reward::of("s", numbers(&sources)).low
}

fn passes() -> EventKind {
    judged(Moment::Stop, &[], 0)
}

/// Returns the same work with further acts right after the person's words.
fn honest(between: Vec<EventKind>) -> Vec<EventKind> {
    let mut kinds = vec![prompt("make it work"), run(0, 'a')];
    kinds.extend(between);
    kinds.extend([edit("src/a.rs", 10), run(0, 'd'), named('d', &[], &[]), passes()]);
    kinds
}

#[test]
fn ten_ways_to_game_the_reward_do_not_raise_it() {
    let base = reward(honest(Vec::new()), 0, Some(10_000));
    let same = |extra: Vec<EventKind>| reward(honest(extra), 0, Some(10_000));
    let waive = || {
        EventKind::Waived(Waived {
            gate: "tests".to_owned(),
            tree: tree('a'),
            reason: "x".to_owned(),
            by: "me".to_owned(),
        })
    };
    let read = || work(Act::Used(ToolUse { tool: "Read".into(), reads: true, target: "x".into(), failed: false }));
    let command = |line: &str| {
        work(Act::Command(Box::new(ShellCommand {
            line: line.to_owned(),
            ended: Some(Ended::Exited(0)),
            ..ShellCommand::default()
        })))
    };
    let many = |kind: &dyn Fn() -> EventKind| (0..40).map(|_| kind()).collect::<Vec<_>>();
    let flipped = vec![run(101, 'b'), named('b', &["t"], &[]), run(0, 'd'), named('d', &[], &["t"])];
    let restored = vec![run(101, 'e'), named('e', &["t"], &[]), run(0, 'b'), named('b', &[], &["t"])];
    for (name, gamed) in [
        ("tiny commits", same(many(&|| command("git commit -m x")))),
        ("empty tests", same(many(&|| edit("tests/empty.rs", 3)))),
        ("long files", same(vec![edit("src/long.rs", 100_000)])),
        ("many files", same((0..40).map(|n| edit(&format!("src/f{n}.rs"), 1)).collect())),
        ("calls that do nothing", same(many(&read))),
        ("a test that was made to fail and then to pass", same(flipped)),
        ("code that was broken and restored", same(restored)),
        ("a failure that was made and cleared", same(vec![judged(Moment::Stop, &["tests"], 1), run(0, 'a')])),
        ("a waiver", same(vec![judged(Moment::Stop, &["tests"], 1), waive()])),
        ("a deleted log", reward(honest(Vec::new()), 0, None)),
        ("a revert and a second try", reward(honest(Vec::new()), 1, Some(10_000))),
        ("a stop without a check", reward(vec![prompt("make it work"), edit("src/a.rs", 10)], 0, Some(10_000))),
        ("many passes", same(many(&passes))),
        ("claims in words", same(many(&|| work(Act::Said("Outcome: success. All tests pass.".to_owned()))))),
    ] {
        assert!(gamed <= base + 1e-9, "{name}: {gamed} is more than {base}");
    }
}

/// A run that names the commit that is checked out, which has the content `a`.
fn run_at_commit(status: i32, on: char) -> EventKind {
    let EventKind::Run(mut run) = run(status, on) else { unreachable!("it is a run") };
    run.start.head = Some(tree('a'));
    EventKind::Run(run)
}

#[test]
fn a_test_that_is_written_before_the_first_run_counts() {
    let prompt = || prompt("make it work");
    let with = vec![
        prompt(),
        run_at_commit(101, 'b'),
        named('b', &["t"], &[]),
        run_at_commit(0, 'c'),
        named('c', &[], &["t"]),
        passes(),
    ];
    let without = vec![prompt(), run_at_commit(0, 'c'), named('c', &[], &[]), passes()];
    let plain = reward(without, 0, Some(10_000));
    assert!(reward(with, 0, Some(10_000)) > plain + 0.05);
    // Code that was broken before the first run, and restored, proves nothing.
    let restored = vec![
        prompt(),
        run_at_commit(101, 'e'),
        named('e', &["t"], &[]),
        run_at_commit(0, 'b'),
        named('b', &[], &["t"]),
        passes(),
    ];
    assert!(reward(restored, 0, Some(10_000)) <= plain);
}

#[test]
fn a_session_in_which_no_check_passed_earns_nothing() {
    let tasks = |kinds: Vec<EventKind>| {
        let events: Vec<Event> = (0..).zip(kinds).map(|(at, kind)| event(at, "s", kind)).collect();
        let sources = RewardSources {
            events: &events,
            before: None,
            base: None,
            reverts: 0,
            tokens: Some(0),
            changed: &changed,
            is_check: &is_check,
        };
        numbers(&sources).proven_tasks
    };
    for (kinds, expected) in [
        (vec![passes()], 0),
        (vec![passes(), passes()], 0),
        (vec![run(101, 'a'), passes()], 0),
        (vec![run(0, 'a'), passes()], 1),
        (vec![prompt("x"), passes()], 0),
        (vec![run(0, 'a'), prompt("x"), passes()], 0),
        (vec![prompt("x"), run(0, 'a'), passes()], 1),
        (vec![prompt("x"), run(0, 'a'), passes(), prompt("thanks"), passes()], 1),
        (vec![prompt("x"), passes(), run(0, 'a')], 0),
        (vec![prompt("x"), undeclared("true", 0), passes()], 0),
        (vec![undeclared("true", 0), passes()], 0),
        (vec![prompt("x"), undeclared("pytest", 0), passes()], 1),
    ] {
        let shown = format!("{kinds:?}");
        assert_eq!(tasks(kinds), expected, "{shown}");
    }
}

#[test]
fn better_work_does_raise_it() {
    let base = reward(honest(Vec::new()), 0, Some(10_000));
    let tested = vec![run(101, 'b'), named('b', &["t"], &[]), run(0, 'c'), named('c', &[], &["t"])];
    assert!(reward(honest(tested), 0, Some(10_000)) > base + 0.05, "a test that failed first");
    assert!(reward(honest(Vec::new()), 0, Some(5_000)) > base, "fewer tokens");
    let failing = vec![run(101, 'a'), run(101, 'a')];
    assert!(reward(honest(failing), 0, Some(10_000)) < base, "more errors");
}
