//! Old entries lie in compressed parts, and nothing else changes.

use std::collections::HashSet;
use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;

use super::*;
use crate::journal::JournalRetention;

fn work(session: &str, bytes: usize) -> NewEvent {
    let act = Act::Said("text ".repeat(bytes / 5));
    let kind = EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act }));
    NewEvent { session: Some(session.to_owned()), ..observed(kind) }
}

/// Appends so many entries of 4 KB, each with a run on a tree of its own.
fn go_on(journal: &Journal, session: &str, trees: std::ops::Range<u64>) {
    for tree in trees {
        let new = vec![a_run("k", tree, tree), work(session, 4_000)];
        journal.append_with(|_| (new, ())).1.unwrap();
    }
}

fn parts(journal: &Journal) -> Vec<PathBuf> {
    fs::read_dir(journal.dir.join("journal.parts")).into_iter().flatten().map(|part| part.unwrap().path()).collect()
}

fn plain(journal: &Journal) -> u64 {
    journal.file().unwrap().unwrap().plain()
}

/// Returns all that is read from a journal.
fn seen(journal: &Journal) -> impl PartialEq + std::fmt::Debug {
    let runs: Vec<_> = (0..8).flat_map(|tree| journal.runs_on("k", &oid(tree * 20)).unwrap()).collect();
    let last: Vec<_> = [1, 50, 200, 10_000].map(|count| journal.last_events(count).unwrap()).into();
    (journal.events().unwrap().collect::<Vec<_>>(), runs, last, journal.state().unwrap(), journal.verify().unwrap())
}

#[test]
fn compressing_changes_nothing_that_is_read() {
    let (_dir, journal) = scratch();
    journal.append(damage("before")).unwrap();
    journal.compress().unwrap();
    assert!(parts(&journal).is_empty(), "it would save nothing");
    go_on(&journal, "s", 0..60);
    // Lines that are longer than a part.
    journal.append(work("s", 700_000)).unwrap();
    journal.append(work("s", 300_000)).unwrap();
    for round in 1..4 {
        go_on(&journal, "s", round * 60..round * 60 + 60);
        let (before, length) = (seen(&journal), journal.size().unwrap());
        let plain_before = plain(&journal);
        journal.compress().unwrap();
        assert!(plain(&journal) > plain_before && journal.size().unwrap() < length - 100_000);
        let kept = journal.end().unwrap() - plain(&journal);
        assert!((250_000..270_000).contains(&kept), "{kept} bytes are as they were");
        assert_eq!(seen(&journal), before);
        journal.compress().unwrap();
        fs::remove_file(journal.dir.join("state.json")).ok();
        fs::remove_dir_all(journal.dir.join("run-places")).unwrap();
        assert_eq!(seen(&journal), before);
    }
    assert_eq!(parts(&journal).len(), 1);
    assert!(journal.verify().unwrap().is_intact());
}

#[test]
fn what_a_killed_process_left_does_not_count_and_goes() {
    let (_dir, journal) = scratch();
    go_on(&journal, "s", 0..150);
    journal.compress().unwrap();
    let part = parts(&journal).pop().unwrap();
    let counting = fs::read(&part).unwrap();
    go_on(&journal, "s", 150..250);
    fs::write(&part, [&counting[..], &counting[..counting.len() / 2]].concat()).unwrap();
    fs::write(journal.dir.join("journal.jsonl.new"), "half").unwrap();
    fs::write(part.with_file_name("99999999"), "another").unwrap();
    let before = seen(&journal);
    journal.compress().unwrap();
    assert_eq!(seen(&journal), before);
    assert!(fs::read(&part).unwrap().starts_with(&counting));
    assert_eq!(parts(&journal), std::slice::from_ref(&part));
    assert!(!journal.dir.join("journal.jsonl.new").exists());
    // Nothing is due, but something is left.
    fs::write(part.with_file_name("99999999"), "another").unwrap();
    journal.compress().unwrap();
    assert_eq!(parts(&journal), [part]);
}

#[test]
fn entries_are_removed_from_compressed_parts() {
    let prune = |journal: &Journal, since: Timestamp| {
        let live = HashSet::from([oid(3)]);
        journal.prune(JournalRetention { since, live: &live }).unwrap()
    };
    // The time from which on nothing goes lies in the compressed part, or after it.
    for later in [400, 20] {
        let (_dir, journal) = scratch();
        go_on(&journal, "over", 0..400);
        let since = Timestamp::now();
        go_on(&journal, "new", 400..400 + later);
        journal.compress().unwrap();
        let old = parts(&journal);
        let young = journal.runs_on("k", &oid(405)).unwrap();
        assert!(journal.has_old(since, 1_000_000).unwrap() && !journal.has_old(since, 2_500_000).unwrap());
        let gone = prune(&journal, since);
        assert!(gone > 600, "{gone}");
        assert_eq!(parts(&journal).is_empty(), later == 20);
        assert!(parts(&journal).iter().all(|part| !old.contains(part)));
        for _ in 0..2 {
            assert!(journal.verify().unwrap().is_intact(), "{:?}", journal.verify());
            assert_eq!(journal.runs_on("k", &oid(405)).unwrap(), young, "its position is what it was");
            assert_eq!(journal.runs_on("k", &oid(3)).unwrap().len(), 1);
            let state = journal.state().unwrap();
            fs::remove_file(journal.dir.join("state.json")).ok();
            assert_eq!(journal.state().unwrap(), state);
            assert!(!journal.has_old(since, 1).unwrap());
            go_on(&journal, "new", 900..1_000);
            journal.compress().unwrap();
        }
        assert_eq!(parts(&journal).len(), 1);
        assert_eq!(prune(&journal, Timestamp::MIN), 0);
    }
}

#[test]
fn readers_and_writers_at_the_same_time_see_no_damage() {
    let (_dir, journal) = scratch();
    go_on(&journal, "over", 0..200);
    let since = Timestamp::now();
    let journal = &journal;
    let written: Vec<String> = std::thread::scope(|scope| {
        let append = move |_| journal.append(work("new", 4_000)).unwrap().event.id;
        let write = move || -> Vec<String> { (0..150).map(append).collect() };
        let writers: Vec<_> = (0..3).map(|_| scope.spawn(write)).collect();
        // The last line may still be growing.
        let read = move || {
            let lines: Vec<JournalLine> = journal.events().unwrap().collect();
            let whole = lines.len().saturating_sub(1);
            assert!(lines[..whole].iter().all(|line| matches!(line, JournalLine::Event(_))), "of {whole}");
        };
        let readers: Vec<_> = (0..2).map(|_| scope.spawn(move || (0..6).for_each(|_| read()))).collect();
        scope.spawn(move || {
            for _ in 0..12 {
                journal.compress().unwrap();
                journal.prune(JournalRetention { since, live: &HashSet::new() }).unwrap();
            }
        });
        for reader in readers {
            reader.join().unwrap();
        }
        writers.into_iter().flat_map(|writer| writer.join().unwrap()).collect()
    });
    let there: HashSet<String> = ids(journal).into_iter().collect();
    assert!(written.iter().all(|id| there.contains(id)));
    journal.compress().unwrap();
    assert!(journal.verify().unwrap().is_intact() && plain(journal) > 0);
}
