use std::fs;

use proptest::prelude::*;

use super::*;
use crate::event::Event;
use crate::journal::{JournalState, MAX_KEYS, MAX_PAIRS, MAX_RUNS, MAX_RUNS_OF_PAIR, MAX_WORKS, state_cache};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn the_checkpoint_changes_nothing(
        events in prop::collection::vec((new_events(), any::<bool>()), 1..40),
    ) {
        let (_dir, journal) = scratch();
        for (new, checkpoint) in events {
            journal.append(new).unwrap();
            if checkpoint {
                state_cache::refresh(&journal);
            }
        }
        let incremental = journal.state().unwrap();
        let _ = fs::remove_file(journal.dir.join("state.json"));
        prop_assert_eq!(&journal.state().unwrap(), &incremental);
        for (name, content) in [("corrupt", "{"), ("of another version", r#"{"format":999}"#)] {
            fs::write(journal.dir.join("state.json"), content).unwrap();
            prop_assert_eq!(&journal.state().unwrap(), &incremental, "{}", name);
        }
    }

    #[test]
    fn the_index_knows_the_runs_of_the_journal(
        pairs in prop::collection::vec((0..3u64, 0..3u64, "[kl]"), 0..20),
        lose in any::<bool>(),
    ) {
        let (_dir, journal) = scratch();
        for (start, end, key) in &pairs {
            journal.append(a_run(key, *start, *end)).unwrap();
        }
        if lose {
            fs::remove_dir_all(journal.dir.join("run-places")).ok();
        }
        for tree in 0..3 {
            for key in ["k", "l"] {
                let expected: Vec<String> = journal.state().unwrap().runs(key).iter()
                    .filter(|run| run.run.start.tree == oid(tree) && run.run.end.tree == oid(tree))
                    .map(|run| run.id.clone()).collect();
                let mut found: Vec<String> =
                    journal.runs_on(key, &oid(tree)).unwrap().into_iter().map(|run| run.id).collect();
                found.truncate(MAX_RUNS_OF_PAIR);
                prop_assert_eq!(found, expected);
            }
        }
    }
}

/// Applies events without a journal.
fn fold(events: impl IntoIterator<Item = NewEvent>) -> JournalState {
    let mut state = JournalState::default();
    for new in events {
        state.apply(&crate::journal::new_event::event(new));
    }
    state
}

fn trees(state: &JournalState, key: &str) -> Vec<(Oid, Oid)> {
    state.runs(key).iter().map(|run| (run.run.start.tree.clone(), run.run.end.tree.clone())).collect()
}

#[test]
fn the_latest_runs_of_a_pair_are_kept() {
    let most = u64::try_from(MAX_RUNS_OF_PAIR).unwrap();
    let state = fold((0..most + 3).map(|_| a_run("k", 1, 1)).chain([a_run("k", 2, 2)]));
    assert_eq!(state.runs("k").len(), MAX_RUNS_OF_PAIR + 1);
    assert_eq!(trees(&state, "k")[0], (oid(2), oid(2)), "newest first");
}

#[test]
fn the_latest_pairs_are_kept() {
    let most = u64::try_from(MAX_PAIRS).unwrap();
    // Pair 0 is run again at the end, so pair 1 is the one that goes.
    let state = fold((0..most).chain([0, most]).map(|tree| a_run("k", tree, tree)));
    let kept = trees(&state, "k");
    assert!(kept.contains(&(oid(0), oid(0))) && kept.contains(&(oid(most), oid(most))));
    assert!(!kept.contains(&(oid(1), oid(1))));
    assert_eq!(kept.len(), MAX_PAIRS + 1, "pair 0 twice");
    // And once all are distinct again.
    let state = fold((0..3 * most).map(|tree| a_run("k", tree, tree)));
    assert_eq!(trees(&state, "k").last(), Some(&(oid(2 * most), oid(2 * most))));
    assert_eq!(state.runs("k").len(), MAX_PAIRS);
}

#[test]
fn keys_and_runs_are_bounded_in_all() {
    let keys = (0..=MAX_KEYS).map(|key| key.to_string());
    let state = fold(keys.map(|key| a_run(&key, 1, 1)));
    assert!(state.runs("0").is_empty(), "the key that was not run for the longest time is gone");
    assert_eq!(state.runs("1").len(), 1);

    let loud = (0..2000).map(|number| a_run("loud", number % 128, number % 128));
    let other = (0..2000).map(|number| a_run("other", number % 128, number % 128));
    let state = fold([a_run("rare", 1, 1)].into_iter().chain(loud).chain(other));
    assert_eq!(state.runs("rare").len(), 1, "a rare command is not crowded out");
    assert_eq!(state.runs("rare").len() + state.runs("loud").len() + state.runs("other").len(), MAX_RUNS);
}

#[test]
fn a_summary_is_small() {
    let mut long = run("k", 1, 1);
    long.tail = "x".repeat(10_000);
    long.command.line = "é".repeat(10_000);
    long.changed = vec![RepoPath::from("a"); 256];
    long.start.untracked = vec![RepoPath::from("a"); 256];
    let state = fold([observed(EventKind::Run(Box::new(long)))]);
    let kept = &state.runs("k")[0].run;
    assert_eq!((kept.tail.len(), kept.changed.len(), kept.start.untracked.len()), (0, 32, 32));
    assert_eq!(kept.command.line, "é".repeat(256));
}

#[test]
fn keys_of_a_name_show_that_its_line_was_changed() {
    let state = fold([a_run("old", 1, 1), a_run("new", 1, 1)]);
    assert_eq!(state.keys_for_name("test").collect::<Vec<_>>(), ["new", "old"]);
    assert_eq!(state.keys_for_name("other").count(), 0);
}

#[test]
fn a_command_that_never_ended_stays_known() {
    let started = || observed(EventKind::RunStarted(RunStarted { command: command("k") }));
    let mut state = fold([started()]);
    let killed: Vec<String> = state.unfinished().map(|(id, _)| id.clone()).collect();
    for new in [started(), a_run("k", 1, 1)] {
        state.apply(&crate::journal::new_event::event(new));
    }
    assert_eq!(state.unfinished().map(|(id, _)| id.clone()).collect::<Vec<_>>(), killed);
    let elsewhere = NewEvent { session: Some("s".to_owned()), ..a_run("k", 1, 1) };
    state.apply(&crate::journal::new_event::event(elsewhere));
    assert_eq!(state.unfinished().count(), 1, "the run of another session is not its end");
}

#[test]
fn what_would_have_blocked_counts_once_for_each_content() {
    let judged = |gate: &str, tree: u64, blocks| {
        let failing = vec![FailingGate { gate: gate.to_owned(), fingerprint: "f".to_owned(), blocks }];
        let (verdict, moment, trees) = ("v".to_owned(), Moment::Stop, vec![oid(tree)]);
        observed(EventKind::Judged(Judged { verdict, trees, failing, blocked: blocks, ..Judged::at(moment) }))
    };
    let state = fold([
        judged("tests", 1, false),
        judged("tests", 1, false),
        judged("tests", 2, false),
        judged("build", 2, false),
        judged("build", 3, true),
    ]);
    let counts: Vec<_> = state.would_block().iter().map(|(gate, count)| (gate.as_str(), *count)).collect();
    assert_eq!(counts, [("build", 1), ("tests", 2)]);
}

#[test]
fn the_decision_sees_the_state_and_its_answer_always_comes_back() {
    let (_dir, journal) = scratch();
    journal.append(a_run("k", 1, 1)).unwrap();
    let (runs, recorded) = journal.append_with(|state| (vec![a_run("k", 2, 2), damage("x")], state.runs("k").len()));
    assert_eq!((runs, recorded.unwrap().events.len()), (1, 2));
    let (runs, recorded) = journal.append_with(|state| (vec![], state.runs("k").len()));
    assert_eq!((runs, recorded.unwrap().events.len()), (2, 0));

    let bare = Journal::open(&journal.journal_path(), None);
    let (answer, recorded) = bare.append_with(|state| (vec![damage("x")], state.runs("k").len()));
    assert_eq!(answer, 0);
    assert!(recorded.unwrap_err().to_string().contains("bare repository"));
}

fn work(session: &str, text: &str) -> NewEvent {
    let work = AgentWork { actor: None, call: None, head: None, act: Act::Said(text.to_owned()) };
    NewEvent { session: Some(session.to_owned()), ..observed(EventKind::Work(Box::new(work))) }
}

fn said(journal: &Journal, session: &str) -> Vec<String> {
    let read = journal.session_events(&journal.state().unwrap(), session).unwrap();
    let text = |event: Event| match event.kind {
        EventKind::Work(work) => match work.act {
            Act::Said(text) => text,
            act => format!("{act:?}"),
        },
        kind => kind.as_str().to_owned(),
    };
    read.events.into_iter().map(text).collect()
}

#[test]
fn a_session_is_read_from_its_first_act_on() {
    let (_dir, journal) = scratch();
    let run = |session: &str| NewEvent { session: Some(session.to_owned()), ..a_run("k", 1, 1) };
    journal.append(run("s")).unwrap();
    assert_eq!(said(&journal, "s"), Vec::<String>::new(), "no client tells of it");
    journal.append(work("other", "x")).unwrap();
    journal.append(work("s", "one")).unwrap();
    for event in [run("s"), run("other"), work("s", "two")] {
        journal.append(event).unwrap();
        state_cache::refresh(&journal);
    }
    assert_eq!(said(&journal, "s"), ["one", "run", "two"]);
    assert_eq!(said(&journal, "other"), ["x", "run"]);
    fs::remove_file(journal.dir.join("state.json")).unwrap();
    assert_eq!(said(&journal, "s"), ["one", "run", "two"], "the checkpoint is a cache");
}

#[test]
fn the_sessions_that_began_last_are_kept() {
    let mut state = JournalState::default();
    let (_dir, journal) = scratch();
    for number in 0..=MAX_WORKS {
        journal.append(work(&number.to_string(), "x")).unwrap();
        state = journal.state().unwrap();
    }
    assert_eq!(state.work_begins("0"), None);
    assert!(state.work_begins("1").is_some());
    assert!(journal.session_events(&state, "0").unwrap().events.is_empty());
}
