//! Journals of any length, written through the library: what months of work leave behind.

use gate::event::{CommandRef, Ended, Event, EventKind, FailingGate, Judged, Origin, Run, RunReport, RunStarted};
use gate::journal::{Journal, NewEvent};
use gate::moment::Moment;
use gate::oid::Oid;
use gate::policy::command_key;
use gate::repo_path::RepoPath;
use gate::snapshot::KeptSnapshot;

/// The command lines that are run, the declared one most often.
const LINES: [&str; 5] = ["true", "true", "true", "cargo build", "cargo clippy"];
/// How many entries are written at once.
const BATCH: usize = 500;
/// So many of the newest entries are about trees that exist; older ones are long gone.
const RECENT: usize = 2_000;
/// How many different trees the older ones are about.
const GONE: usize = 8_000;

/// Writes `entries` entries: commands that start and end on one tree after the other, and verdicts between them.
pub fn fill(journal: &Journal, entries: usize, trees: &[Oid]) {
    let mut written = 0;
    while written < entries {
        let count = BATCH.min(entries - written);
        let events = (written..written + count).map(|number| event(number, entries, trees)).collect();
        let ((), recorded) = journal.append_with(|_| (events, ()));
        recorded.expect("the journal can be written");
        written += count;
    }
}

/// Ten entries are four runs with their beginnings, and two verdicts.
fn event(number: usize, entries: usize, trees: &[Oid]) -> NewEvent {
    let (turn, step) = (number / 10, number % 10);
    let tree = if number + RECENT > entries { trees[turn % trees.len()].clone() } else { gone(turn % GONE) };
    let kind = match step {
        0 | 2 | 4 | 6 => EventKind::RunStarted(RunStarted { command: command(turn + step / 2) }),
        1 | 3 | 5 | 7 => EventKind::Run(Box::new(run(turn + step / 2, tree))),
        _ => EventKind::Judged(judged(number, tree)),
    };
    NewEvent { session: Some(format!("session-{}", turn / 40 % 50)), origin: Origin::observed(), kind }
}

fn gone(number: usize) -> Oid {
    gate::digest::hex_digest(&[&number.to_be_bytes()])[..40].parse().expect("an object id")
}

fn command(number: usize) -> CommandRef {
    let line = LINES[number % LINES.len()];
    let dir = RepoPath::default();
    CommandRef {
        name: (line == "true").then(|| "test".to_owned()),
        line: line.to_owned(),
        key: command_key(line, &dir),
        dir,
    }
}

fn run(number: usize, tree: Oid) -> Run {
    let snapshot = KeptSnapshot::of_tree(tree);
    let failed = u64::from(number % 5 == 4);
    Run {
        ended: Ended::Exited(i32::from(failed > 0)),
        millis: 1_234,
        report: Some(RunReport { runner: "cargo-test".to_owned(), passed: 120, failed, skipped: 1 }),
        tail: "test module::tests::a_name_of_usual_length ... ok\n".repeat(12),
        policy: "0".repeat(64),
        ..Run::passed(command(number), snapshot)
    }
}

fn judged(number: usize, tree: Oid) -> Judged {
    let blocked = number.is_multiple_of(3);
    let failing = FailingGate { gate: "tests".to_owned(), fingerprint: format!("{:064x}", number % 40), blocks: true };
    Judged {
        verdict: format!("v20260102T030405-{number:08x}"),
        trees: vec![tree],
        failing: if blocked { vec![failing] } else { vec![] },
        blocked,
        attempt: u32::from(blocked),
        ..Judged::at(Moment::Stop)
    }
}

/// How many entries a journal has.
pub fn length(journal: &Journal) -> usize {
    let is_event = |line: &gate::journal::JournalLine| matches!(line, gate::journal::JournalLine::Event(Event { .. }));
    journal.events().expect("the journal can be read").filter(is_event).count()
}
