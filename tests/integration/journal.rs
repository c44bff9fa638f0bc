//! The journal under what happens to it: writers that are killed, many at once, a full disk, a directory that
//! cannot be written.
//!
//! A writer process is this test binary again: [`writer`] is its entry.

#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use gate::event::{CommandRef, Damage, Event, EventKind, FailingGate, Judged, Origin, Run};
use gate::journal::{Integrity, Journal, JournalLine, NewEvent};
use gate::moment::Moment;
use gate::oid::Oid;
use gate::repo_path::RepoPath;
use gate::snapshot::KeptSnapshot;

use crate::support::TestFolder;

const DIR: &str = "GATE_TEST_JOURNAL";
const COUNT: &str = "GATE_TEST_COUNT";

/// The entry of a writer process: writes COUNT events and prints the id of each that was acknowledged.
#[test]
fn writer() {
    let scratch = Scratch::new();
    let dir = std::env::var_os(DIR).map_or(scratch.0.path().to_owned(), PathBuf::from);
    let count: u64 = std::env::var(COUNT).map_or(1, |count| count.parse().unwrap());
    let journal = journal(&dir);
    for number in 0..count {
        match journal.append(run(number % 7, &"x".repeat(usize::try_from(number % 13).unwrap() * 300))) {
            Ok(appended) => println!("\nid {}{}", appended.event.id, if appended.spooled { " spooled" } else { "" }),
            Err(error) => {
                println!("\nerror {error:?}");
                return;
            }
        }
    }
}

/// A directory that holds a `.git`.
struct Scratch(TestFolder);

impl Scratch {
    fn new() -> Self {
        let dir = TestFolder::new();
        fs::create_dir(dir.path().join(".git")).unwrap();
        Self(dir)
    }

    fn journal(&self) -> Journal {
        journal(self.0.path())
    }

    fn gate_dir(&self) -> PathBuf {
        self.0.path().join(".git/gate")
    }

    fn file(&self) -> PathBuf {
        self.gate_dir().join("journal.jsonl")
    }
}

fn journal(dir: &Path) -> Journal {
    Journal::open(&dir.join(".git/gate"), Some(dir))
}

fn oid(number: u64) -> Oid {
    format!("{number:040x}").parse().unwrap()
}

fn run(tree: u64, tail: &str) -> NewEvent {
    let snapshot = KeptSnapshot::of_tree(oid(tree));
    let run = Run {
        millis: 1,
        tail: tail.to_owned(),
        ..Run::passed(
            CommandRef { name: None, line: "make".to_owned(), dir: RepoPath::default(), key: "k".to_owned() },
            snapshot,
        )
    };
    NewEvent { session: None, origin: Origin::observed(), kind: EventKind::Run(Box::new(run)) }
}

fn events(journal: &Journal) -> Vec<Event> {
    let event = |line| if let JournalLine::Event(event) = line { Some(event) } else { None };
    journal.events().unwrap().filter_map(event).collect()
}

fn ids(journal: &Journal) -> Vec<String> {
    events(journal).into_iter().map(|event| event.id).collect()
}

/// The arguments that make this binary a writer.
fn writer_command(mut command: Command, dir: &Path, count: u64) -> Command {
    command.args(["journal::writer", "--exact", "--nocapture", "--test-threads=1"]);
    command.env(DIR, dir).env(COUNT, count.to_string());
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command
}

fn this_binary() -> PathBuf {
    std::env::current_exe().unwrap()
}

fn start(dir: &Path, count: u64) -> Child {
    writer_command(Command::new(this_binary()), dir, count).spawn().unwrap()
}

/// What a writer said: the ids it was given, those that were spooled, and its error.
#[derive(Default, Debug)]
struct Said {
    ids: Vec<String>,
    spooled: usize,
    error: Option<String>,
}

impl Said {
    fn hear(&mut self, line: &str) {
        if let Some(id) = line.strip_prefix("id ") {
            let id = id.strip_suffix(" spooled").inspect(|_| self.spooled += 1).unwrap_or(id);
            self.ids.push(id.to_owned());
        } else if let Some(error) = line.strip_prefix("error ") {
            self.error = Some(error.to_owned());
        }
    }
}

fn finish(child: Child) -> Said {
    let output = child.wait_with_output().unwrap();
    let mut said = Said::default();
    String::from_utf8(output.stdout).unwrap().lines().for_each(|line| said.hear(line));
    said
}

#[test]
fn sixty_four_writers_at_once_lose_nothing() {
    let scratch = Scratch::new();
    let children: Vec<Child> = (0..64).map(|_| start(scratch.0.path(), 20)).collect();
    let mut written: Vec<String> = children.into_iter().flat_map(|child| finish(child).ids).collect();
    assert_eq!(written.len(), 64 * 20);
    let journal = scratch.journal();
    let mut kept = ids(&journal);
    assert_eq!(kept.len(), written.len(), "nothing twice");
    kept.sort();
    written.sort();
    assert_eq!(kept, written);
    assert!(journal.verify().unwrap().is_intact());
    let on_all: usize = (0..7).map(|tree| journal.runs_on("k", &oid(tree)).unwrap().len()).sum();
    assert_eq!(on_all, written.len(), "the index has them too");
}

#[test]
fn attempts_are_counted_once_each_however_many_ask_at_once() {
    let scratch = Scratch::new();
    let failing = [FailingGate { gate: "tests".to_owned(), fingerprint: "f".to_owned(), blocks: true }];
    let attempt = || {
        let (attempt, recorded) = scratch.journal().append_with(|state| {
            let attempt = state.judged("s").attempt_for(&failing, &[]);
            let (verdict, trees) = (format!("v{attempt}"), vec![oid(1)]);
            let failing = failing.to_vec();
            let judged = {
                let (commits, idle, branches) = (Vec::new(), Vec::new(), Vec::new());
                Judged {
                    verdict,
                    trees,
                    commits,
                    failing,
                    idle,
                    branches,
                    blocked: true,
                    attempt,
                    ..Judged::at(Moment::Stop)
                }
            };
            let kind = EventKind::Judged(judged);
            (vec![NewEvent { session: Some("s".to_owned()), origin: Origin::observed(), kind }], attempt)
        });
        assert!(!recorded.unwrap().spooled);
        attempt
    };
    let mut attempts: Vec<u32> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..16).map(|_| scope.spawn(|| (0..4).map(|_| attempt()).collect::<Vec<_>>())).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    attempts.sort_unstable();
    assert_eq!(attempts, (1..=64).collect::<Vec<_>>());
}

#[test]
fn a_writer_may_be_killed_at_any_time() {
    let scratch = Scratch::new();
    let mut acknowledged = Vec::new();
    let mut after = 1_u64;
    for _ in 0..30 {
        // A small generator: how many lines the first of two writers may finish before it is killed.
        after = (after * 1_103_515_245 + 12_345) % (1 << 31);
        let mut other = start(scratch.0.path(), 1_000_000);
        let mut child = start(scratch.0.path(), 1_000_000);
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut said = Said::default();
        let mut line = String::new();
        let until = usize::try_from(after % 12).unwrap();
        while said.ids.len() < until && reader.read_line(&mut line).unwrap() > 0 {
            said.hear(line.trim_end());
            line.clear();
        }
        child.kill().unwrap();
        other.kill().unwrap();
        reader.lines().map_while(Result::ok).for_each(|line| said.hear(&line));
        child.wait().unwrap();
        acknowledged.extend(said.ids);
        acknowledged.extend(finish(other).ids);
    }
    // The last line a killed writer printed may be cut short; an id is 28 bytes.
    acknowledged.retain(|id| id.len() == 28);
    let journal = scratch.journal();
    acknowledged.push(journal.append(run(1, "")).unwrap().event.id);
    assert!(acknowledged.len() > 100, "{}", acknowledged.len());
    let kept = ids(&journal);
    let missing: Vec<_> = acknowledged.iter().filter(|id| !kept.contains(id)).collect();
    assert!(missing.is_empty(), "{missing:?}");

    let integrity = journal.verify().unwrap();
    assert_eq!((&integrity.cut[..], &integrity.edited[..]), (&[][..], &[][..]), "torn lines at most");
    let state = journal.state().unwrap();
    fs::remove_file(scratch.gate_dir().join("state.json")).ok();
    assert_eq!(journal.state().unwrap(), state, "the checkpoint says what the journal says");
    assert_eq!(state.integrity(), integrity);
    // One more writer has indexed what the killed ones could not.
    let runs = events(&journal).into_iter().filter(|event| matches!(event.kind, EventKind::Run(_))).count();
    let latest = journal.runs_on("k", &oid(1)).unwrap();
    assert_eq!(latest[0].id, *acknowledged.last().unwrap());
    assert!(runs >= acknowledged.len());
}

#[test]
fn a_full_disk_is_said_and_harms_nothing() {
    let scratch = Scratch::new();
    let first = scratch.journal().append(run(1, "")).unwrap().event.id;
    // A limit on the size of files stands for the full disk; without the trap the signal would kill the writer.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 40; exec \"$0\" \"$@\""]).arg(this_binary());
    let said = finish(writer_command(shell, scratch.0.path(), 1_000).spawn().unwrap());
    let error = said.error.clone().unwrap();
    assert!(error.starts_with("Full"), "{error}");
    assert!(said.ids.len() > 2 && said.spooled == 0, "{said:?}");

    let journal = scratch.journal();
    let mut written = vec![first];
    written.extend(said.ids);
    assert_eq!(ids(&journal), written, "the event that did not fit is gone, and nothing else");
    assert!(journal.verify().unwrap().is_intact());
    let appended = journal.append(run(2, "")).unwrap();
    assert_eq!(appended.damage, Vec::<String>::new());
    assert_eq!(journal.state().unwrap().runs("k").len(), events(&journal).len().min(7 * 8));
}

/// A folder in place of the lock: nobody can write the journal, not even root; everything in it can be read.
fn forbid_writing(scratch: &Scratch) {
    let lock = scratch.gate_dir().join("journal.lock");
    let _ = fs::remove_file(&lock);
    fs::create_dir(lock).unwrap();
}

fn allow_writing(scratch: &Scratch) {
    fs::remove_dir(scratch.gate_dir().join("journal.lock")).unwrap();
}

fn spool_files(scratch: &Scratch) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(scratch.0.path().join(".gate/spool")).into_iter().flatten();
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), fs::read(&path).unwrap())).collect()
}

#[test]
fn where_the_journal_cannot_be_written_the_working_tree_keeps_it() {
    let scratch = Scratch::new();
    let journal = scratch.journal();
    let mut all = vec![journal.append(run(9, "")).unwrap().event.id];
    forbid_writing(&scratch);
    for tree in 1..=3 {
        let appended = journal.append(run(tree, "")).unwrap();
        assert!(appended.spooled);
        all.push(appended.event.id);
    }
    assert_eq!(fs::read_to_string(scratch.0.path().join(".gate/.gitignore")).unwrap(), "*\n");
    // Readers see what was spooled.
    assert_eq!(ids(&journal), all);
    assert_eq!(journal.state().unwrap().runs("k").len(), 4);
    assert_eq!(journal.runs_on("k", &oid(2)).unwrap()[0].id, all[2]);
    let (seen, recorded) = journal.append_with(|state| (vec![run(4, "")], state.runs("k").len()));
    assert_eq!(seen, 4);
    assert!(recorded.unwrap().spooled);

    allow_writing(&scratch);
    let all = ids(&journal);
    let appended = journal.append(run(5, "")).unwrap();
    assert!(!appended.spooled);
    assert_eq!(ids(&journal)[..5], all);
    assert_eq!(ids(&journal)[5], appended.event.id);
    assert!(spool_files(&scratch).is_empty());
    assert!(journal.verify().unwrap().is_intact());
    assert_eq!(journal.runs_on("k", &oid(2)).unwrap()[0].id, all[2]);
    let state = journal.state().unwrap();
    fs::remove_dir_all(scratch.0.path().join(".gate")).unwrap();
    assert_eq!(journal.state().unwrap(), state);
}

#[test]
fn a_reader_that_may_write_takes_up_the_spool() {
    let scratch = Scratch::new();
    let journal = scratch.journal();
    journal.append(run(1, "")).unwrap();
    forbid_writing(&scratch);
    assert!(journal.append(run(2, "")).unwrap().spooled);
    allow_writing(&scratch);
    assert_eq!(journal.state().unwrap().runs("k").len(), 2);
    assert!(spool_files(&scratch).is_empty());
    assert_eq!(fs::read_to_string(scratch.file()).unwrap().lines().count(), 2);
}

#[test]
fn a_spool_that_was_taken_up_and_is_back_is_not_taken_up_again() {
    let scratch = Scratch::new();
    let journal = scratch.journal();
    journal.append(run(1, "")).unwrap();
    forbid_writing(&scratch);
    journal.append(run(2, "")).unwrap();
    let files = spool_files(&scratch);
    allow_writing(&scratch);
    journal.append(run(3, "")).unwrap();
    // Its reader died before it could remove the files; or somebody kept a copy, to let an old pass be the newest run.
    for (path, bytes) in &files {
        fs::write(path, bytes).unwrap();
    }
    assert_eq!(ids(&journal).len(), 3, "readers see none of them twice");
    journal.append(run(4, "")).unwrap();
    assert_eq!(ids(&journal).len(), 4);
    assert!(spool_files(&scratch).is_empty());
}

#[test]
fn what_a_checkout_brings_is_no_evidence() {
    let foreign = Scratch::new();
    foreign.journal().append(run(1, "")).unwrap();
    forbid_writing(&foreign);
    foreign.journal().append(run(1, "")).unwrap();
    let (name, bytes) = spool_files(&foreign).remove(0);
    let scratch = Scratch::new();
    let to = scratch.0.path().join(".gate");
    fs::create_dir_all(to.join("spool")).unwrap();
    let journal = scratch.journal();
    let copy = || fs::write(to.join("spool").join(name.file_name().unwrap()), &bytes).unwrap();
    // Before there is a key, and with one.
    copy();
    assert!(journal.state().unwrap().runs("k").is_empty());
    let first = journal.append(run(2, "")).unwrap();
    assert!(first.damage[0].contains("is ignored"), "{:?}", first.damage);
    copy();
    let second = journal.append(run(2, "")).unwrap();
    assert!(second.damage[0].contains("is ignored"), "{:?}", second.damage);
    assert_eq!(ids(&journal), [first.event.id, second.event.id]);
}

#[test]
fn without_a_key_there_is_no_spool() {
    let scratch = Scratch::new();
    // A file where the directory should be: there never was a key.
    fs::write(scratch.gate_dir(), "").unwrap();
    let refused = scratch.journal().append(run(1, "")).unwrap_err().to_string();
    assert!(refused.starts_with("nothing could be recorded") && refused.contains("key"), "{refused}");
    assert!(spool_files(&scratch).is_empty());

    // A gate directory that a checkout could bring has no key that counts.
    let scratch = Scratch::new();
    let elsewhere = Journal::open(&scratch.0.path().join("meta/gate"), Some(scratch.0.path()));
    elsewhere.append(run(1, "")).unwrap();
    fs::remove_file(scratch.0.path().join("meta/gate/journal.lock")).unwrap();
    fs::create_dir(scratch.0.path().join("meta/gate/journal.lock")).unwrap();
    assert!(elsewhere.append(run(2, "")).is_err());

    // Nor is a link that leads elsewhere followed.
    let scratch = Scratch::new();
    scratch.journal().append(run(1, "")).unwrap();
    forbid_writing(&scratch);
    let other = scratch.0.path().join("other");
    fs::create_dir_all(other.join("spool")).unwrap();
    std::os::unix::fs::symlink(&other, scratch.0.path().join(".gate")).unwrap();
    let refused = scratch.journal().append(run(3, "")).unwrap_err().to_string();
    assert!(refused.starts_with("nothing could be recorded"), "{refused}");
}

/// A command that runs its arguments where `dir` cannot be written; `None` where this machine offers no way.
fn with_read_only(dir: &Path) -> Option<Command> {
    const MOUNT: &str = "mount --bind \"$0\" \"$0\" && mount -o remount,bind,ro \"$0\" && exec \"$@\"";
    let command = || {
        let mut command = Command::new("unshare");
        command.args(["-rm", "--", "sh", "-c", MOUNT]).arg(dir);
        command
    };
    let works = command().arg("true").stderr(Stdio::null()).status().is_ok_and(|status| status.success());
    if works {
        return Some(command());
    }
    if rustix::process::geteuid().is_root() {
        return None;
    }
    fs::set_permissions(dir, fs::Permissions::from_mode(0o555)).unwrap();
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        let mode = if path.is_dir() { 0o555 } else { 0o444 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    let mut command = Command::new("env");
    command.arg("--");
    Some(command)
}

#[test]
fn a_read_only_git_directory() {
    let scratch = Scratch::new();
    let journal = scratch.journal();
    let first = journal.append(run(1, "")).unwrap().event.id;
    let before = fs::read(scratch.file()).unwrap();
    let Some(mut command) = with_read_only(&scratch.gate_dir()) else {
        // Root without the right to mount writes everywhere; the file in its place is tested above.
        return;
    };
    command.arg(this_binary());
    let said = finish(writer_command(command, scratch.0.path(), 5).spawn().unwrap());
    assert_eq!((said.ids.len(), said.spooled), (5, 5), "{said:?}");
    assert_eq!(fs::read(scratch.file()).unwrap(), before, "the journal was not touched");
    let mut expected = vec![first];
    expected.extend(said.ids);
    assert_eq!(ids(&journal), expected);
    assert_eq!(journal.state().unwrap().runs("k").len(), 6);
}

#[test]
fn one_garbage_line_is_set_aside_and_nothing_else_is_lost() {
    let scratch = Scratch::new();
    let journal = scratch.journal();
    for tree in 0..3 {
        journal.append(run(tree, "")).unwrap();
    }
    let text = fs::read_to_string(scratch.file()).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    let garbage = "#".repeat(lines[1].len());
    fs::write(scratch.file(), [lines[0], &garbage, lines[2], ""].join("\n")).unwrap();
    let found: Vec<JournalLine> = journal.events().unwrap().collect();
    assert!(matches!(&found[1], JournalLine::Damaged { number: 2, .. }), "{:?}", found[1]);
    assert_eq!(ids(&journal).len(), 2);
    let expected = Integrity { damaged: vec![2], edited: vec![2], faults: 2, ..Integrity::default() };
    assert_eq!(journal.verify().unwrap(), expected);
    let new = NewEvent {
        session: None,
        origin: Origin::observed(),
        kind: EventKind::Damage(Damage { what: "x".to_owned() }),
    };
    journal.append(new).unwrap();
    assert_eq!(ids(&journal).len(), 3);
}
