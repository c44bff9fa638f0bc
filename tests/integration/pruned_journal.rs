//! Old entries leave the journal by ordinary commands, and what they prove stays proven.

use std::fs;

use gate::event::agent_work::{Act, AgentWork};
use gate::event::{EventKind, Origin, Run};
use gate::journal::{Journal, JournalLine, NewEvent};
use serde_json::Value;

use crate::project::{Project, finish};

const POLICY: &str = "version = 1\n[commands.test]\ngate = \"tests\"\nrun = \"true\"\n[retention]\ndays = 30\n";

/// Opens the journal of a project.
pub fn journal_of(project: &Project) -> Journal {
    Journal::open(&project.gate_dir(), Some(project.repo.root()))
}

/// Appends events of one session.
pub fn append(project: &Project, kinds: Vec<EventKind>) {
    let event = |kind| NewEvent { session: Some("over".to_owned()), origin: Origin::observed(), kind };
    let ((), recorded) = journal_of(project).append_with(|_| (kinds.into_iter().map(event).collect(), ()));
    recorded.unwrap();
}

/// Makes everything in the journal so many days older, as it would be if it had been written then.
fn let_days_pass(project: &Project, days: i64) {
    let journal = project.gate_dir().join("journal.jsonl");
    let (mut text, mut prev) = (String::new(), "0".repeat(64));
    for mut line in project.journal() {
        let at: jiff::Timestamp = line["at"].as_str().unwrap().parse().unwrap();
        line["at"] = (at - jiff::SignedDuration::from_hours(days * 24)).to_string().into();
        line["prev"] = prev.into();
        let line = line.to_string();
        prev = gate::digest::hex_digest(&[line.as_bytes()]);
        text.push_str(&line);
        text.push('\n');
    }
    fs::write(journal, text).unwrap();
    for name in ["journal.lock", "state.json"] {
        fs::remove_file(project.gate_dir().join(name)).ok();
    }
    for name in ["run-places", "journal.parts"] {
        fs::remove_dir_all(project.gate_dir().join(name)).ok();
    }
}

fn work(count: usize) -> Vec<EventKind> {
    let act = || Act::Said("a line of a story that is over\n".repeat(60));
    (0..count)
        .map(|_| EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act: act() })))
        .collect()
}

/// Returns so many runs like this one, each on content that is gone.
fn runs_elsewhere(run: &Run, count: usize) -> Vec<EventKind> {
    let elsewhere = |number: usize| {
        let mut run = run.clone();
        run.start.tree = format!("{number:040x}").parse().unwrap();
        run.end.tree = run.start.tree.clone();
        EventKind::Run(Box::new(run))
    };
    (0..count).map(elsewhere).collect()
}

#[test]
fn old_entries_go_and_what_a_branch_rests_on_stays() {
    let project = Project::with(POLICY).edited("one").tested();
    let run = journal_of(&project).events().unwrap().find_map(|line| match line {
        JournalLine::Event(event) => {
            if let EventKind::Run(run) = event.kind {
                Some(run)
            } else {
                None
            }
        }
        JournalLine::Damaged { .. } => None,
    });
    // Later runs, of which only so many are remembered.
    append(&project, runs_elsewhere(&run.unwrap(), 200));
    append(&project, work(1_000));
    let_days_pass(&project, 40);
    let size = || fs::metadata(project.gate_dir().join("journal.jsonl")).unwrap().len();
    project.sh("git switch --quiet -c later main");
    let before = size();
    assert!(before > 1_500_000, "{before} bytes");
    for event in ["PostToolUse", "Stop"] {
        let mut command = project.command("gate", project.repo.root());
        command.args(["hook", "claude", event]);
        let payload = serde_json::json!({
            "session_id": "new", "hook_event_name": event, "tool_name": "Write", "tool_use_id": "t",
            "tool_input": {"file_path": "src/lib.sh", "content": "x"}, "stop_hook_active": false,
        });
        finish(command, payload.to_string().as_bytes()).exits(0);
    }
    assert!(size() >= before, "a hook removes nothing");
    project.check();
    assert!(size() < 400_000, "{} bytes", size());
    project.gate(["doctor"]).says("the journal is intact");
    project.gate(["log"]).exits(0).says("old entries removed");
    let kinds: Vec<Value> = project.journal().into_iter().map(|line| line["kind"].clone()).collect();
    assert_eq!(kinds.first().unwrap(), "head");
    // The content of a branch was run on 40 days ago.
    project.push("git push origin feature").exits(0);
    // A test that was never run is still none.
    project.sh("git switch --quiet feature").exits(0);
    project.edit("two");
    project.push("git push origin feature").exits(1);
}

#[test]
fn a_journal_without_much_that_is_old_stays_as_it_is() {
    let project = Project::with(POLICY);
    append(&project, work(400));
    let_days_pass(&project, 40);
    append(&project, work(400));
    project.check();
    assert!(project.journal().iter().all(|line| line["kind"] != "head"), "it is less than 1 MiB");
    append(&project, work(400));
    let_days_pass(&project, 40);
    project.check();
    assert_eq!(project.journal()[0]["kind"], "head");
}

#[test]
fn a_journal_that_is_too_large_keeps_a_week() {
    for (policy, old, is_pruned) in [
        (format!("{POLICY}megabytes = 1\n"), 8, true),
        (format!("{POLICY}megabytes = 1\n"), 6, false),
        (format!("{POLICY}megabytes = 4\n"), 8, false),
    ] {
        let project = Project::with(&policy);
        append(&project, work(800));
        let_days_pass(&project, old);
        project.check();
        assert_eq!(project.journal()[0]["kind"] == "head", is_pruned, "{old} days, {policy}");
    }
}
