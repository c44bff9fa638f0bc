use std::fs::OpenOptions;
use std::io::Write as _;

use super::*;

/// A journal of so many runs, most of them longer than the steps in which it is read backwards are even.
fn filled(count: usize) -> (tempfile::TempDir, Journal) {
    let (dir, journal) = scratch();
    let events = (0..count).map(|number| a_run("k", number as u64, number as u64)).collect();
    let ((), recorded) = journal.append_with(|_| (events, ()));
    recorded.unwrap();
    (dir, journal)
}

#[test]
fn the_last_events_are_those_at_the_end_of_all() {
    let (_dir, journal) = filled(700);
    let all = ids(&journal);
    assert_eq!(all.len(), 700);
    for count in [0, 1, 2, 40, 139, 140, 141, 699, 700, 701, 5_000] {
        let (lines, more) = journal.last_events(count).unwrap();
        let last: Vec<String> = lines
            .into_iter()
            .map(|line| if let JournalLine::Event(event) = line { event.id } else { panic!("{line:?}") })
            .collect();
        assert_eq!(last, all[all.len().saturating_sub(count)..], "{count}");
        assert_eq!(more, count < 700, "{count}");
    }
    let (_dir, empty) = scratch();
    assert_eq!(empty.last_events(5).unwrap(), (Vec::new(), false));
}

#[test]
fn damage_near_the_end_is_named_by_its_line() {
    let (dir, journal) = filled(300);
    let path = dir.path().join(".git/gate/journal.jsonl");
    OpenOptions::new().append(true).open(path).unwrap().write_all(b"not a line\n").unwrap();
    let (lines, more) = journal.last_events(5).unwrap();
    assert!(!more && lines.len() == 301, "{}", lines.len());
    assert!(matches!(lines.last(), Some(JournalLine::Damaged { number: 301, .. })), "{:?}", lines.last());
}
