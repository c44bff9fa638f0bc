use std::fs;
use std::io::Write;

use super::*;
use crate::journal::{Integrity, JournalError, MAX_LINE};

/// Some events of all sizes, and the bytes they are on disk.
fn five(journal: &Journal) -> Vec<u8> {
    for number in 0..5 {
        journal.append(if number % 2 == 0 { damage("x") } else { a_run("k", number, number) }).unwrap();
    }
    fs::read(journal.journal_path()).unwrap()
}

fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|byte| *byte == b'\n').collect()
}

#[test]
fn a_writer_may_die_at_any_byte() {
    let (dir, journal) = scratch();
    let whole = five(&journal);
    let all = ids(&journal);
    fs::remove_dir_all(dir.path().join(".git/gate")).unwrap();
    for length in 0..=whole.len() {
        let (_dir, journal) = scratch();
        fs::create_dir_all(&journal.dir).unwrap();
        fs::write(journal.journal_path(), &whole[..length]).unwrap();
        // A line without its newline has lost nothing.
        let complete = lines(&whole)
            .iter()
            .scan(0, |end, line| {
                *end += line.len();
                Some(*end)
            })
            .filter(|end| length + 1 >= *end)
            .count();
        let torn = length > 0 && whole[length - 1] != b'\n' && whole.get(length) != Some(&b'\n');
        let before = journal.state().unwrap();
        assert!(before.integrity().is_intact(), "{length}: a line that may still grow is not damage");

        let appended = journal.append(damage("next")).unwrap();
        assert_eq!(appended.damage.len(), usize::from(torn), "{length}: said once");
        assert!(journal.append(damage("last")).unwrap().damage.is_empty(), "{length}: and not again");

        let kept = ids(&journal);
        assert_eq!(kept[..complete], all[..complete], "{length}");
        assert_eq!(kept.len(), complete + usize::from(torn) + 2, "{length}");
        assert_eq!(kept[kept.len() - 2], appended.event.id);
        let after = fs::read(journal.journal_path()).unwrap();
        assert_eq!(after[..length], whole[..length], "{length}: what is there is not touched");
        let damaged = if torn { vec![complete as u64 + 1] } else { vec![] };
        let expected = Integrity { faults: damaged.len() as u64, damaged, ..Integrity::default() };
        assert_eq!(journal.verify().unwrap(), expected, "{length}");
        assert_eq!(journal.state().unwrap().integrity(), expected, "{length}");
    }
}

#[test]
fn cut_edit_and_reorder_are_found() {
    type Change = fn(&[&[u8]]) -> Vec<u8>;
    let cases: &[(&str, Change, Integrity)] = &[
        ("nothing", |l| l.concat(), Integrity::default()),
        ("the last line cut", |l| l[..4].concat(), Integrity { cut: vec![5], faults: 1, ..Integrity::default() }),
        ("all cut", |_| vec![], Integrity { cut: vec![1], faults: 1, ..Integrity::default() }),
        (
            "the first removed",
            |l| l[1..].concat(),
            Integrity { cut: vec![5], edited: vec![1], faults: 2, ..Integrity::default() },
        ),
        (
            "one edited",
            |l| String::from_utf8(l.concat()).unwrap().replacen("\"x\"", "\"y\"", 1).into_bytes(),
            Integrity { edited: vec![1], faults: 1, ..Integrity::default() },
        ),
        (
            "two exchanged",
            |l| [l[0], l[2], l[1], l[3], l[4]].concat(),
            Integrity { edited: vec![1, 2, 3], faults: 3, ..Integrity::default() },
        ),
        (
            "one overwritten",
            |l| [l[0], l[1], b"garbage\n", l[3], l[4]].concat(),
            // It is shorter now, so that the end is not where it was either.
            Integrity { edited: vec![3], damaged: vec![3], cut: vec![6], faults: 3, ..Integrity::default() },
        ),
    ];
    for (name, change, expected) in cases {
        let (_dir, journal) = scratch();
        let whole = five(&journal);
        fs::write(journal.journal_path(), change(&lines(&whole))).unwrap();
        let found = journal.verify().unwrap();
        assert_eq!(&found, expected, "{name}");
        assert_eq!(journal.state().unwrap().integrity().is_intact(), expected.is_intact(), "{name}");
        assert_eq!(&journal.verify().unwrap(), expected, "{name}: a cut stays known after it was recorded");
    }
}

#[test]
fn a_cut_is_known_for_ever_and_told_once() {
    let (_dir, journal) = scratch();
    let whole = five(&journal);
    fs::write(journal.journal_path(), lines(&whole)[..3].concat()).unwrap();
    let appended = journal.append(damage("next")).unwrap();
    assert!(appended.damage[0].contains("missing"), "{:?}", appended.damage);
    assert!(journal.append(damage("again")).unwrap().damage.is_empty());
    let expected = Integrity { cut: vec![4], faults: 1, ..Integrity::default() };
    assert_eq!(journal.verify().unwrap(), expected);
    assert_eq!(journal.state().unwrap().integrity(), expected);
}

#[test]
fn what_was_acknowledged_is_no_fault_until_the_lines_change_again() {
    let repaired = |journal: &Journal| {
        let repaired = journal.verify().unwrap().to_repaired();
        observed(EventKind::Repaired(repaired))
    };
    let expected = |acknowledged| Integrity { acknowledged, ..Integrity::default() };
    let (_dir, journal) = scratch();
    let whole = five(&journal);
    let mut bytes = lines(&whole)[..4].concat();
    bytes.extend_from_slice(b"garbage\n");
    fs::write(journal.journal_path(), bytes).unwrap();
    let found = journal.verify().unwrap();
    assert_eq!((found.damaged.clone(), found.cut.clone()), (vec![5], vec![6]));
    let event = repaired(&journal);
    journal.append(event).unwrap();
    assert_eq!(journal.verify().unwrap(), expected(found.faults));
    assert_eq!(journal.state().unwrap().integrity(), expected(found.faults));
    // An earlier line is edited afterwards: that is new.
    let bytes = fs::read(journal.journal_path()).unwrap();
    let edited = String::from_utf8(bytes).unwrap().replacen("\"x\"", "\"y\"", 1);
    fs::write(journal.journal_path(), edited).unwrap();
    let after = journal.verify().unwrap();
    assert_eq!((after.edited, after.faults, after.acknowledged), (vec![1], 1, found.faults));
}

#[test]
fn a_spoiled_anchor_is_made_again() {
    for spoiled in [String::new(), "garbage".to_owned(), "9".repeat(300)] {
        let (_dir, journal) = scratch();
        five(&journal);
        fs::write(journal.lock_path(), &spoiled).unwrap();
        assert!(journal.append(damage("next")).unwrap().damage.is_empty(), "{spoiled}");
        assert!(crate::journal::state_cache::read_anchor(&journal.lock_path()).is_some(), "{spoiled}");
        assert!(journal.verify().unwrap().is_intact());
    }
}

#[test]
fn an_endless_line_is_passed_over() {
    let (_dir, journal) = scratch();
    journal.append(damage("before")).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(journal.journal_path()).unwrap();
    file.write_all(&vec![b'x'; 3 * MAX_LINE]).unwrap();
    let appended = journal.append(damage("after")).unwrap();
    assert_eq!(appended.damage.len(), 1);
    assert_eq!(ids(&journal).len(), 3);
    assert_eq!(journal.verify().unwrap(), Integrity { damaged: vec![2], faults: 1, ..Integrity::default() });
}

#[test]
fn an_event_that_is_too_long_is_refused_and_harms_nothing() {
    let (_dir, journal) = scratch();
    journal.append(damage("before")).unwrap();
    let refused = journal.append(damage(&"x".repeat(MAX_LINE)));
    assert!(matches!(refused, Err(JournalError::TooLong { .. })), "{refused:?}");
    journal.append(damage("after")).unwrap();
    assert_eq!(ids(&journal).len(), 2);
    assert!(journal.verify().unwrap().is_intact());
}

#[test]
fn reading_creates_nothing() {
    let (dir, journal) = scratch();
    assert_eq!(journal.state().unwrap(), crate::journal::JournalState::default());
    assert_eq!(journal.events().unwrap().count(), 0);
    assert!(journal.runs_on("k", &oid(1)).unwrap().is_empty());
    assert!(journal.verify().unwrap().is_intact());
    assert_eq!(fs::read_dir(dir.path().join(".git")).unwrap().count(), 0);
}

#[cfg(unix)]
#[test]
fn only_the_owner_reads_it() {
    use std::os::unix::fs::PermissionsExt;
    let (_dir, journal) = scratch();
    journal.append(a_run("k", 1, 1)).unwrap();
    let mode = |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&journal.dir), 0o700);
    assert_eq!(mode(&journal.dir.join("run-places/00")), 0o700);
    assert_eq!(mode(&journal.journal_path()), 0o600);
    assert_eq!(mode(&journal.lock_path()), 0o600);
    assert_eq!(mode(&journal.dir.join("token")), 0o600);
}

#[test]
fn a_run_that_only_a_cache_tells_of_does_not_count() {
    let (_dir, journal) = scratch();
    journal.append(a_run("k", 1, 1)).unwrap();
    journal.append(damage("something behind it")).unwrap();
    let tree = run("k", 1, 1).start.tree;
    let real = journal.runs_on("k", &tree).unwrap();
    assert_eq!(real.len(), 1);
    assert!(journal.holds(&real[0]));
    // Somebody writes another place, another id and another command into the cache.
    let index = journal.dir.join("run-places").join(&tree.as_str()[..2]).join(format!("{}.jsonl", &tree.as_str()[2..]));
    let line = fs::read_to_string(&index).unwrap();
    for (old, new) in [
        (real[0].id.as_str(), "ffffffffffff-0000-0000000000"),
        ("\"key\":\"k\"", "\"key\":\"l\""),
        ("\"offset\":0", "\"offset\":7"),
        ("\"offset\":0", "\"nothing\":0"),
    ] {
        let forged = line.replacen(old, new, 1);
        assert_ne!(forged, line, "{old}");
        fs::write(&index, forged).unwrap();
        assert_eq!(journal.runs_on("k", &tree).unwrap(), [], "{old} -> {new}");
    }
    fs::write(&index, &line).unwrap();
    assert_eq!(journal.runs_on("k", &tree).unwrap(), real);
    // Without the journal nothing is left of it.
    fs::remove_file(journal.journal_path()).unwrap();
    assert_eq!(journal.runs_on("k", &tree).unwrap(), []);
}

#[test]
fn ids_follow_the_order_of_the_journal_when_the_clock_goes_back() {
    let (_dir, journal) = scratch();
    // The last entry is from a machine whose clock was years ahead.
    let mut ahead = crate::journal::new_event::event(damage("ahead"));
    ahead.id = format!("{:012x}-ffff-ffffffffff", 9_000_000_000_000_u64);
    fs::create_dir_all(&journal.dir).unwrap();
    let line = crate::journal::line_format::encode(&ahead, crate::journal::hash_chain::GENESIS, None).unwrap();
    fs::write(journal.journal_path(), line).unwrap();
    let mut last = ahead.id;
    for _ in 0..3 {
        let ((), recorded) = journal.append_with(|_| (vec![damage("one"), damage("two")], ()));
        for event in recorded.unwrap().events {
            assert!(event.id > last, "{} is not behind {last}", event.id);
            last = event.id;
        }
    }
}
