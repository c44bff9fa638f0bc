//! The old part of the journal is compressed by ordinary commands, and everything finds it there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use gate::event::agent_work::{Act, AgentWork};
use gate::event::{EventKind, Run};
use gate::journal::JournalLine;

use crate::project::{Project, finish};
use crate::pruned_journal::{append, journal_of};

const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\n";

fn work(count: usize) -> Vec<EventKind> {
    let act = |number: usize| Act::Said(format!("{number}: a line of a story\n").repeat(40));
    (0..count)
        .map(|number| EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act: act(number) })))
        .collect()
}

/// Appends more runs than are remembered, each on content that is not there, so that earlier ones are only in the journal.
fn forget_runs(project: &Project) {
    let run = journal_of(project).events().unwrap().find_map(|line| match line {
        JournalLine::Event(event) => {
            if let EventKind::Run(run) = event.kind {
                Some(run)
            } else {
                None
            }
        }
        JournalLine::Damaged { .. } => None,
    });
    let run: Run = *run.expect("a run");
    let elsewhere = |number: usize| {
        let mut run = run.clone();
        run.start.tree = format!("{number:040x}").parse().unwrap();
        run.end.tree = run.start.tree.clone();
        EventKind::Run(Box::new(run))
    };
    append(project, (0..200).map(elsewhere).collect());
}

/// A project with a run that only the journal knows, and much after it.
fn with_a_long_journal() -> Project {
    let project = Project::with(POLICY).edited("one").tested();
    forget_runs(&project);
    append(&project, work(1_500));
    project
}

fn parts(project: &Project) -> Vec<PathBuf> {
    let entries = fs::read_dir(project.gate_dir().join("journal.parts")).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

fn size(project: &Project) -> u64 {
    let files = parts(project).into_iter().chain([project.gate_dir().join("journal.jsonl")]);
    files.map(|file| fs::metadata(file).unwrap().len()).sum()
}

#[test]
fn old_entries_are_compressed_and_prove_what_they_proved() {
    let project = with_a_long_journal();
    let before = size(&project);
    assert!(before > 1_500_000, "{before} bytes");
    let mut command = project.command("gate", project.repo.root());
    command.args(["hook", "claude", "Stop"]);
    let payload = serde_json::json!({"session_id": "new", "hook_event_name": "Stop", "stop_hook_active": false});
    finish(command, payload.to_string().as_bytes()).exits(0);
    assert!(size(&project) >= before && parts(&project).is_empty(), "a hook compresses nothing");
    let lines = project.journal();

    project.gate(["status"]);
    assert!(size(&project) < 550_000, "{} bytes", size(&project));
    let is_private = |path: PathBuf, mode: u32| {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, mode, "{}", path.display());
    };
    is_private(project.gate_dir().join("journal.parts"), 0o700);
    is_private(project.gate_dir().join("journal.jsonl"), 0o600);
    for part in parts(&project) {
        is_private(part, 0o600);
    }
    assert_eq!(project.journal()[..lines.len()], lines, "every line is what it was");
    project.gate(["doctor"]).says("the journal is intact");
    let shown = |count: usize| project.gate(["log", "--json", "-n", &count.to_string()]).exits(0).out.lines().count();
    assert!(shown(0) >= 1_700);
    assert_eq!(shown(1_000), 1_000);

    // Without caches, everything is read again.
    fs::remove_file(project.gate_dir().join("state.json")).unwrap();
    fs::remove_dir_all(project.gate_dir().join("run-places")).unwrap();
    let file = parts(&project).pop().unwrap();
    let aside = project.gate_dir().join("aside");
    fs::rename(&file, &aside).unwrap();
    project.push("git push origin feature").exits(1);
    fs::rename(&aside, &file).unwrap();
    fs::remove_file(project.gate_dir().join("state.json")).ok();
    fs::remove_dir_all(project.gate_dir().join("run-places")).ok();
    project.push("git push origin feature").exits(0);
    assert_eq!(parts(&project), [file]);
    project.gate(["uninstall", "--yes", "--purge"]).exits(0);
    assert!(!project.gate_dir().exists());
}

#[test]
fn a_damaged_part_is_reported_as_a_damaged_line_is() {
    let project = with_a_long_journal();
    project.gate(["status"]);
    let file = parts(&project).pop().unwrap();
    let whole = fs::read(&file).unwrap();
    let mut damaged = whole.clone();
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0x55;
    let cut = whole[..middle].to_vec();
    for bytes in [damaged, cut] {
        fs::write(&file, bytes).unwrap();
        project.gate(["doctor"]).says("the journal is damaged").says("unreadable line");
        project.gate(["log", "-n", "0"]).exits(0).says("its compressed part is damaged");
        let journal = journal_of(&project);
        let readable = journal.events().unwrap().filter(|line| matches!(line, JournalLine::Event(_))).count();
        assert!((600..1_700).contains(&readable), "{readable} other lines are still read");
    }
    fs::write(&file, whole).unwrap();
    project.gate(["doctor"]).says("the journal is intact");
}

#[test]
fn whenever_a_command_is_killed_nothing_is_lost_or_left_behind() {
    let project = Project::with(POLICY).edited("one").tested();
    append(&project, work(1_500));
    let mut cut_short = 0;
    for round in 0..24 {
        let lines = project.journal();
        let mut command = project.command("gate", project.repo.root());
        command.arg("status").stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().unwrap();
        // The instant is what is tested; nothing waits for anything.
        thread::sleep(Duration::from_millis(round * 8));
        let _ = child.kill();
        if !child.wait().unwrap().success() {
            cut_short += 1;
        }
        assert!(project.journal().starts_with(&lines), "round {round}");
        append(&project, work(150));
    }
    assert!(cut_short > 0, "some kill came before the end");
    project.gate(["status"]);
    project.gate(["doctor"]).says("the journal is intact");
    assert!(!project.gate_dir().join("journal.jsonl.new").exists());
    assert_eq!(parts(&project).len(), 1);
    assert!(size(&project) < 1_000_000, "{} bytes", size(&project));
}
