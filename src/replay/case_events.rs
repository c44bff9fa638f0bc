//! The acts of a case as events, in the form in which an agent's client would have reported them.

use jiff::Timestamp;

use crate::event::agent_work::{
    Act as Deed, AgentWork, CommandEnd, Denial, EditKind, FileEdit, Phase, PlanItem, Prompt, ShellCommand, Speaker,
    StopKind, ToolUse, TurnEnd,
};
use crate::event::{Ended, Event, EventKind, GitEvent, Grade, Origin};
use crate::replay::case::{self, CaseAct};
use crate::replay::simulated_repository::World;
use crate::replay::tree_content::{Content, oid};
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;
use crate::timeline::Entry;

/// Returns the events of the latest act of a case.
pub fn entries(seq: u64, act: &CaseAct, world: &World) -> Vec<Entry> {
    kinds(seq, act, world).into_iter().map(|kind| entry(seq, kind)).collect()
}

fn entry(seq: u64, kind: EventKind) -> Entry {
    let by = if matches!(kind, EventKind::Git(_)) { "git" } else { "case" };
    let grade = if by == "git" { Grade::Observed } else { Grade::Hooked };
    let event = Event {
        id: format!("event {seq}"),
        // Only the order counts.
        at: Timestamp::from_second(i64::try_from(seq).unwrap_or(0)).unwrap_or_default(),
        session: None,
        origin: Origin { by: by.to_owned(), grade },
        kind,
    };
    Entry { event, started: None, also: Vec::new(), unjudged: false }
}

fn kinds(seq: u64, act: &CaseAct, world: &World) -> Vec<EventKind> {
    let work = |act: Deed| EventKind::Work(Box::new(AgentWork { actor: None, call: None, head: None, act }));
    let call = |number: u64, actor: Option<String>, act: Deed| {
        EventKind::Work(Box::new(AgentWork { actor, call: Some(format!("call {number}")), head: None, act }))
    };
    let ran = |line: &str, exit: Option<i32>, output: Option<&str>| {
        let start = Some(snapshot(world.start(), world));
        let command = ShellCommand {
            line: line.to_owned(),
            dir: Some(RepoPath::from("")),
            ended: Some(Ended::Exited(exit.unwrap_or(0))),
            tail: output.unwrap_or_default().to_owned(),
            start,
            ..ShellCommand::default()
        };
        (!line.is_empty()).then(|| work(Deed::Command(Box::new(command))))
    };
    match act {
        CaseAct::Prompt(said) => {
            vec![work(Deed::Prompt(Prompt { from: Speaker::Person, text: said.text.clone() }))]
        }
        CaseAct::Say(said) => vec![work(Deed::Said(said.text.clone()))],
        CaseAct::Ask(said) => vec![work(Deed::Asked(said.text.clone()))],
        CaseAct::Plan(said) => vec![work(Deed::Planned(vec![PlanItem { text: said.text.clone(), done: false }]))],
        CaseAct::Tool(tool) => {
            let target = tool.arg.as_str().map_or_else(|| tool.arg.to_string(), str::to_owned);
            let reads = is_reader(&tool.tool);
            vec![work(Deed::Used(ToolUse { tool: tool.tool.clone(), reads, target, failed: false }))]
        }
        CaseAct::Edit(edit) => vec![call(seq, None, Deed::Edited(vec![edited(edit, EditKind::Written, world)]))],
        CaseAct::Delete(edit) => vec![call(seq, None, Deed::Edited(vec![edited(edit, EditKind::Deleted, world)]))],
        CaseAct::Command(command) => vec![call(seq, actor(command), command_deed(command, world))],
        CaseAct::CommandEnd(end) => {
            let ended = CommandEnd { ended: end.exit.map(Ended::Exited), tail: end.output.clone().unwrap_or_default() };
            vec![call(end.for_seq, None, Deed::CommandEnded(ended))]
        }
        CaseAct::Commit(commit) => {
            let action = if crate::replay::case_commits::is_amend(commit) { "commit (amend)" } else { "commit" };
            let event = git(action, &world.branch, commit.parents.first(), Some(&commit.sha), &commit.message);
            ran(&commit.command, commit.exit, commit.output.as_deref()).into_iter().chain([event]).collect()
        }
        CaseAct::Rewrite(rewrite) => {
            let event = git(&rewrite.kind, &world.branch, Some(&rewrite.old), Some(&rewrite.new), &rewrite.command);
            ran(&rewrite.command, None, None).into_iter().chain([event]).collect()
        }
        CaseAct::Switch(switch) => ran(&switch.command, None, None).into_iter().collect(),
        CaseAct::Push(push) => {
            let sent = push.exit.unwrap_or(0) == 0 && !push.dry_run;
            let refs = push.refs.iter().flatten().filter(|_| sent);
            let events = refs
                .map(|pushed| git("push", &pushed.remote_ref, Some(&pushed.remote_sha), Some(&pushed.local_sha), ""));
            ran(&push.command, push.exit, push.output.as_deref()).into_iter().chain(events).collect()
        }
        CaseAct::Compaction => vec![work(Deed::Session(Phase::Compacted))],
        CaseAct::Stop(stop) => {
            vec![work(Deed::Stopped(TurnEnd {
                how: StopKind::Completed,
                text: stop.text.clone(),
                running: world.running(),
                left_alone: None,
            }))]
        }
        CaseAct::RemoteMoved(_) | CaseAct::Pull(_) | CaseAct::Checks(_) | CaseAct::Unknown => Vec::new(),
    }
}

fn actor(command: &case::RecordedCommand) -> Option<String> {
    command.agent_id.clone().or_else(|| command.sidechain.then(|| "sidechain".to_owned()))
}

fn command_deed(command: &case::RecordedCommand, world: &World) -> Deed {
    if command.status.as_deref() == Some("not_executed") {
        let reason = command.output.clone().unwrap_or_default();
        return Deed::Denied(Denial { tool: "shell".to_owned(), what: command.command.clone(), reason });
    }
    let dir = crate::replay::simulated_repository::folder(&command.cwd).map(|dir| RepoPath::from(dir.as_str()));
    let running = command.status.as_deref() == Some("still_running") || command.background;
    Deed::Command(Box::new(ShellCommand {
        line: command.command.clone(),
        dir,
        ended: command.exit.map(Ended::Exited),
        tail: command.output.clone().unwrap_or_default(),
        background: running,
        start: Some(snapshot(world.start(), world)),
        end: None,
        shell: None,
    }))
}

fn snapshot(content: &Content, world: &World) -> KeptSnapshot {
    let head = (!world.head.is_empty()).then(|| oid(&world.head));
    KeptSnapshot { head, ..KeptSnapshot::of_tree(content.id()) }
}

fn edited(edit: &case::CaseEdit, how: EditKind, world: &World) -> FileEdit {
    let before = world.start().text(&edit.path).map(str::to_owned);
    FileEdit {
        path: RepoPath::from(edit.path.as_str()),
        how,
        removed: before.unwrap_or_default(),
        added: edit.content.clone().unwrap_or_default(),
    }
}

fn git(action: &str, reference: &str, old: Option<&String>, new: Option<&String>, message: &str) -> EventKind {
    let id =
        |name: Option<&String>| name.filter(|name| !name.is_empty()).map(|name| oid(name)).filter(|id| !id.is_zero());
    let reference =
        if reference.starts_with("refs/") { reference.to_owned() } else { format!("refs/heads/{reference}") };
    EventKind::Git(GitEvent {
        action: action.to_owned(),
        reference,
        old: id(old),
        new: id(new),
        message: message.to_owned(),
    })
}

/// Returns `true` if a tool of this name only reads, in the words of the known clients.
fn is_reader(tool: &str) -> bool {
    let name = tool.to_lowercase();
    ["read", "grep", "glob", "ls", "list", "search", "fetch", "view", "open", "todo", "find", "stdin", "output"]
        .iter()
        .any(|word| name.contains(word))
}
