//! The index of runs is built while others write, and a killed build loses nothing.

use std::{fs, thread};

use super::*;
use crate::journal::build_run_index::NewIndex;
use crate::journal::runs_by_tree;

fn found(journal: &Journal, tree: u64) -> Vec<String> {
    journal.runs_on("k", &oid(tree)).unwrap().into_iter().map(|run| run.id).collect()
}

/// A journal with two runs on each of three trees and without an index, and the ids of the runs by tree, newest first.
fn without_index() -> (tempfile::TempDir, Journal, Vec<Vec<String>>) {
    let (dir, journal) = scratch();
    for tree in [0, 1, 2, 0, 1, 2] {
        journal.append(a_run("k", tree, tree)).unwrap();
    }
    let expected = (0..3).map(|tree| found(&journal, tree)).collect();
    fs::remove_dir_all(runs_by_tree::folder(&journal.dir)).unwrap();
    (dir, journal, expected)
}

#[test]
fn a_writer_does_not_wait_for_the_index_and_its_run_is_in_it() {
    let (_dir, journal, mut expected) = without_index();
    let new = NewIndex::of(&journal).unwrap();
    // The journal is read and the new index is not in use yet.
    expected[1].insert(0, journal.append(a_run("k", 1, 1)).unwrap().event.id);
    assert!(!runs_by_tree::exists(&journal.dir), "a writer makes no index that lacks runs");
    assert!(new.take_place(&journal).unwrap());
    expected[2].insert(0, journal.append(a_run("k", 2, 2)).unwrap().event.id);
    for (tree, ids) in (0..).zip(&expected) {
        assert_eq!(&found(&journal, tree), ids, "tree {tree}");
        let indexed = runs_by_tree::read(&journal.dir, &oid(tree)).unwrap().unwrap();
        assert_eq!(indexed.len(), ids.len(), "each run once on tree {tree}");
    }
}

#[test]
fn writers_and_builders_at_the_same_time_lose_nothing() {
    let (_dir, journal, expected) = without_index();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| (0..10).for_each(|_| drop(journal.append(a_run("k", 1, 1)).unwrap())));
            scope.spawn(|| (0..10).for_each(|_| assert!(found(&journal, 1).len() >= expected[1].len())));
        }
    });
    assert_eq!(found(&journal, 0), expected[0]);
    let all = journal.events().unwrap().filter(|line| matches!(line, JournalLine::Event(_))).count();
    assert_eq!(all, 6 + 40);
    assert_eq!(found(&journal, 1).len(), 2 + 40);
}

#[test]
fn a_build_that_was_killed_is_begun_again() {
    let (_dir, journal, expected) = without_index();
    drop(NewIndex::of(&journal).unwrap());
    let left = journal.dir.join("run-index.new/00");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("half.jsonl"), "{\"id\":").unwrap();
    assert_eq!(found(&journal, 2), expected[2]);
    assert!(runs_by_tree::exists(&journal.dir) && !journal.dir.join("run-index.new").exists());
    assert!(!runs_by_tree::folder(&journal.dir).join("00/half.jsonl").exists());
}

#[test]
fn while_another_process_builds_it_the_journal_is_read() {
    let (_dir, journal, expected) = without_index();
    let lock = fs::File::create(journal.dir.join("run-index.lock")).unwrap();
    lock.lock().unwrap();
    assert_eq!(found(&journal, 1), expected[1]);
    assert!(!runs_by_tree::exists(&journal.dir));
    drop(lock);
    assert_eq!(found(&journal, 1), expected[1]);
    assert!(runs_by_tree::exists(&journal.dir));
}

#[test]
fn an_index_of_a_journal_that_was_replaced_does_not_take_its_place() {
    let (_dir, journal, _) = without_index();
    let new = NewIndex::of(&journal).unwrap();
    fs::write(journal.journal_path(), "").unwrap();
    assert!(!new.take_place(&journal).unwrap());
    assert_eq!(found(&journal, 1), Vec::<String>::new());
}
