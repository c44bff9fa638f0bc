//! Old entries go, and nothing that proves anything.

use std::collections::HashSet;
use std::fs;

use jiff::Timestamp;
use proptest::prelude::*;

use super::*;
use crate::event::test_results::{EarlierFailure, TestResult, TestResults};
use crate::journal::hash_chain::{GENESIS, line_digest};
use crate::journal::{JournalRetention, MAX_PAIRS, line_format};

fn prune(journal: &Journal, since: Timestamp, live: &[Oid]) -> u64 {
    let live: HashSet<Oid> = live.iter().cloned().collect();
    journal.prune(JournalRetention { since, live: &live }).unwrap()
}

fn of(session: &str, kind: EventKind) -> NewEvent {
    NewEvent { session: Some(session.to_owned()), ..observed(kind) }
}

fn work(session: &str, text: &str) -> NewEvent {
    let act = Act::Said(text.to_owned());
    of(session, EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act })))
}

/// Appends what is not old.
fn go_on(journal: &Journal) -> Timestamp {
    let since = Timestamp::now();
    journal.append(work("new", "a")).unwrap();
    journal.append(work("new", "b")).unwrap();
    since
}

fn lines(journal: &Journal) -> Vec<Vec<u8>> {
    let bytes = fs::read(journal.journal_path()).unwrap();
    bytes.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
}

/// Returns what a judgement asks of a state, without the positions in the file.
fn what_proves(journal: &Journal) -> impl PartialEq + std::fmt::Debug {
    let state = journal.state().unwrap();
    let runs = |key: &str| -> Vec<String> { state.runs(key).iter().map(|run| run.id.clone()).collect() };
    let attempts = ["", "s", "t"].map(|session| state.judged(session).clone());
    (
        ["a", "b", "c", "k"].map(runs),
        state.waivers().to_vec(),
        attempts,
        state.unfinished().cloned().collect::<Vec<_>>(),
        state.open_failures().to_vec(),
        state.push_verdicts().to_vec(),
        state.would_block().clone(),
        state.integrity(),
    )
}

/// Returns the runs that a judgement of these trees finds.
fn found(journal: &Journal) -> Vec<String> {
    let keys = ["a", "b", "c", "k"].into_iter();
    let runs = keys.flat_map(|key| (0..4).flat_map(move |tree| journal.runs_on(key, &oid(tree)).unwrap()));
    runs.map(|run| run.id).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn pruning_changes_nothing_that_proves(events in prop::collection::vec(new_events(), 1..60)) {
        let (_dir, journal) = scratch();
        for new in events {
            journal.append(new).unwrap();
        }
        let since = go_on(&journal);
        let (proves, runs, length) = (what_proves(&journal), found(&journal), ids(&journal).len() as u64);
        for _ in 0..2 {
            let before = ids(&journal).len() as u64;
            let gone = prune(&journal, since, &[]);
            // A head and a line that names it came.
            prop_assert_eq!(ids(&journal).len() as u64, if gone > 0 { before - gone + 2 } else { before });
            prop_assert_eq!(&what_proves(&journal), &proves);
            prop_assert_eq!(&found(&journal), &runs);
            prop_assert!(journal.verify().unwrap().is_intact(), "{:?} of {length}", journal.verify());
            let kept = journal.state().unwrap();
            fs::remove_file(journal.dir.join("state.json")).ok();
            prop_assert_eq!(&journal.state().unwrap(), &kept);
            journal.append(damage("more")).unwrap();
        }
    }
}

#[test]
fn old_runs_stay_where_they_are_remembered_or_their_content_is_live() {
    let (_dir, journal) = scratch();
    let count = MAX_PAIRS as u64 + 20;
    for tree in 0..count {
        journal.append(observed(EventKind::RunStarted(crate::event::RunStarted { command: command("k") }))).unwrap();
        journal.append(a_run("k", tree, tree)).unwrap();
    }
    let since = go_on(&journal);
    let before = fs::metadata(journal.journal_path()).unwrap().len();
    assert_eq!(prune(&journal, since, &[oid(3)]), 38, "the beginnings and the runs of nineteen trees");
    let on = |tree| journal.runs_on("k", &oid(tree)).unwrap().len();
    let there: Vec<u64> = (0..count).filter(|tree| on(*tree) == 1).collect();
    assert_eq!(there, [3].into_iter().chain(20..count).collect::<Vec<_>>());
    assert_eq!(journal.state().unwrap().unfinished().count(), 0);
    assert!(fs::metadata(journal.journal_path()).unwrap().len() < before - 5_000);
    // The content is no longer live, so the next pruning removes it.
    let since = go_on(&journal);
    assert_eq!(prune(&journal, since, &[]), 4, "a beginning, a run, the head and the line that named it");
    assert_eq!(on(3), 0);
    assert!(journal.verify().unwrap().is_intact());
}

#[test]
fn a_failure_stays_with_what_became_of_it() {
    let (_dir, journal) = scratch();
    let tests = |session: &str, tree, failed: &[&str], earlier: Vec<EarlierFailure>| {
        journal.append(of(session, EventKind::Run(Box::new(run("k", tree, tree + 100))))).unwrap();
        let failed = failed.iter().map(|&name| name.to_owned()).collect();
        let (key, tree, families) = ("k".to_owned(), oid(tree + 100), std::collections::BTreeMap::new());
        let results =
            TestResults { key, head: None, tree, named: 2, complete: true, part: false, failed, families, earlier };
        journal.append(of(session, EventKind::Tests(Box::new(results)))).unwrap();
    };
    let passed = |test: &str| EarlierFailure {
        test: test.to_owned(),
        result: TestResult::Passed,
        candidates: Vec::new(),
        family: 0,
    };
    tests("one", 0, &["x", "y"], Vec::new());
    tests("two", 1, &["x"], vec![passed("y")]);
    tests("two", 2, &[], Vec::new());
    for tree in 3..3 + MAX_PAIRS as u64 {
        journal.append(of("three", EventKind::Run(Box::new(run("k", tree, tree + 200))))).unwrap();
    }
    let before = journal.state().unwrap().open_failures().to_vec();
    assert!(before.iter().any(|one| one.in_several_sessions) && before.iter().any(|one| one.since.is_some()));
    let since = go_on(&journal);
    assert_eq!(prune(&journal, since, &[]), 2, "the run that says nothing of them, and its tests");
    assert_eq!(journal.state().unwrap().open_failures(), before);
}

#[test]
fn a_session_that_goes_on_keeps_its_story_and_one_that_is_over_does_not() {
    let (_dir, journal) = scratch();
    for session in ["new", "over"] {
        journal.append(work(session, &"long ago".repeat(200))).unwrap();
    }
    let since = go_on(&journal);
    assert_eq!(prune(&journal, since, &[]), 1);
    let state = journal.state().unwrap();
    let told = |session: &str| journal.session_events(&state, session).unwrap().events.len();
    assert_eq!((told("new"), told("over")), (3, 0));
}

#[test]
fn what_is_changed_after_pruning_is_found() {
    let pruned = || {
        let (dir, journal) = scratch();
        (0..3).for_each(|tree| drop(journal.append(a_run("k", tree, tree)).unwrap()));
        journal.append(work("over", &"x".repeat(2_000))).unwrap();
        let since = go_on(&journal);
        assert_eq!(prune(&journal, since, &[]), 1);
        (dir, journal)
    };
    let (_dir, journal) = pruned();
    assert!(journal.verify().unwrap().is_intact());
    let (whole, anchor) = (lines(&journal), fs::read(journal.lock_path()).unwrap());
    assert_eq!(whole.len(), 1 + 3 + 2 + 1, "a head, runs, acts, and the line that names the head");
    let text = |line: &[u8]| String::from_utf8(line.to_vec()).unwrap();
    let forged = |from: &str, to: &str, at: usize| {
        let mut lines = whole.clone();
        lines[at] = text(&lines[at]).replacen(from, to, 1).into_bytes();
        assert_ne!(lines, whole);
        lines
    };
    let faults = |lines: &[Vec<u8>]| {
        fs::write(journal.journal_path(), lines.concat()).unwrap();
        fs::write(journal.lock_path(), &anchor).unwrap();
        fs::remove_file(journal.dir.join("state.json")).ok();
        let state = journal.state().unwrap();
        let doubted: Vec<bool> =
            (1..4).map(|at| state.doubts(&line_format::decode(whole[at].trim_ascii_end()).unwrap().event.id)).collect();
        assert!(!journal.verify().unwrap().is_intact());
        (journal.verify().unwrap(), doubted)
    };
    // A run is edited: it proves nothing, wherever it lies.
    assert_eq!(faults(&forged("\"exited\":0", "\"exited\":1", 1)).1, [true, false, false]);
    assert_eq!(faults(&forged("\"exited\":0", "\"exited\":1", 3)).1, [false, false, true]);
    // A run is taken out, or all of them.
    faults(&[&whole[..2], &whole[3..]].concat());
    faults(&whole[1..]);
    faults(&whole[4..]);
    // The end is cut off, with the line that names the head.
    faults(&whole[..6]);
    // The head is written again without the last run, and all positions and links are right.
    let mut decoded = line_format::decode(whole[0].trim_ascii_end()).unwrap().event;
    let EventKind::Head(head) = &mut decoded.kind else { panic!("no head") };
    head.carried = (2, (whole[1].len() + whole[2].len()) as u64);
    head.ends = line_digest(whole[2].trim_ascii_end());
    let mut lines = whole.clone();
    lines[0] = line_format::encode(&decoded, GENESIS, None).unwrap();
    lines.remove(3);
    let (found, doubted) = faults(&lines);
    assert_eq!((found.cut.len(), found.faults, doubted), (1, 1, vec![false; 3]));
    // A person may acknowledge it, as any fault.
    let _ = journal.append(damage("settled"));
    journal.append(observed(EventKind::Repaired(journal.verify().unwrap().to_repaired()))).unwrap();
    assert!(journal.verify().unwrap().is_intact());
    assert!(journal.state().unwrap().integrity().is_intact());
}

#[test]
fn faults_stay_known_and_stop_the_pruning_until_somebody_saw_them() {
    let (_dir, journal) = scratch();
    journal.append(work("over", "a")).unwrap();
    fs::write(journal.journal_path(), [fs::read(journal.journal_path()).unwrap(), b"garbage\n".to_vec()].concat())
        .unwrap();
    journal.append(work("over", &"b".repeat(3_000))).unwrap();
    let since = go_on(&journal);
    assert_eq!(prune(&journal, since, &[]), 0);
    let found = journal.verify().unwrap();
    journal.append(observed(EventKind::Repaired(found.to_repaired()))).unwrap();
    assert!(prune(&journal, since, &[]) > 0);
    // The acknowledgement lies in the rest, and is about lines that are gone.
    let after = journal.verify().unwrap();
    assert_eq!((after.faults, after.acknowledged), (0, found.faults));
    assert_eq!(journal.state().unwrap().integrity(), after);
}

#[test]
fn writers_at_the_same_time_lose_nothing() {
    let (_dir, journal) = scratch();
    (0..200).for_each(|number| drop(journal.append(work("over", &format!("{number} {}", "x".repeat(500)))).unwrap()));
    journal.append(a_run("k", 1, 1)).unwrap();
    let since = go_on(&journal);
    fs::write(journal.dir.join("journal.jsonl.new"), "what a process that was killed has left").unwrap();
    let written: Vec<String> = std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| -> Vec<String> {
                    (0..40).map(|_| journal.append(work("new", "y")).unwrap().event.id).collect()
                })
            })
            .collect();
        let pruner = scope.spawn(|| while prune(&journal, since, &[]) == 0 {});
        pruner.join().unwrap();
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let there: HashSet<String> = ids(&journal).into_iter().collect();
    assert!(written.iter().all(|id| there.contains(id)));
    assert!(journal.verify().unwrap().is_intact(), "{:?}", journal.verify());
    assert_eq!(journal.runs_on("k", &oid(1)).unwrap().len(), 1);
    assert!(there.len() < 180, "{}", there.len());
    assert!(!journal.dir.join("journal.jsonl.new").exists());
}

#[test]
fn little_is_left_to_later() {
    let (_dir, journal) = scratch();
    journal.append(work("over", "a")).unwrap();
    journal.append(work("over", "b")).unwrap();
    let since = go_on(&journal);
    assert!(journal.has_old(since, 1).unwrap() && !journal.has_old(since, 10_000).unwrap());
    assert!(!journal.has_old(Timestamp::MIN, 1).unwrap());
}
