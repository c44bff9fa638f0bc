//! Asks for the checks after a write, and tells the agent what they find.

use super::hook_context::Desk;
use super::hook_event::{HookEvent, ToolAction};
use super::{Client, HookDecision, command_weight};
use crate::event::agent_work::{FileEdit, Phase};
use crate::hook::after_write::{CheckAnswer, CheckFiles, CheckRequest, is_wanted};

fn files(desk: &Desk) -> CheckFiles {
    CheckFiles::of(&desk.place.repo.gate_dir(), &desk.place.session.id)
}

/// Begins to look at what is there before the agent changes anything; forgets it when the session ends.
pub(super) fn begin(desk: &mut Desk, phase: Phase) {
    match phase {
        Phase::Ended => files(desk).forget(),
        Phase::Started if is_wanted(&desk.root) => {
            ask(desk, &CheckRequest { is_baseline: true, ..CheckRequest::default() });
        }
        _ => {}
    }
}

/// Asks for the checks of what a call changed, and tells what they, or earlier ones, find.
pub(super) fn after(desk: &mut Desk, told: &HookEvent, does: &ToolAction) -> HookDecision {
    // These clients hear nothing after a call: a stop tells it.
    let is_deaf = matches!(desk.client, Client::Copilot | Client::Opencode);
    if !is_wanted(&desk.root) {
        return HookDecision::Allow;
    }
    let answer = match changed(desk, told, does) {
        Some(request) => {
            let id = ask(desk, &request);
            if is_deaf { None } else { id.and_then(|id| files(desk).wait(&id)) }
        }
        None if is_deaf => None,
        None => files(desk).take(),
    };
    words(desk, answer).map_or(HookDecision::Allow, HookDecision::Add)
}

/// Returns the request for what a call changed, or `None` if it changed nothing here.
fn changed(desk: &Desk, told: &HookEvent, does: &ToolAction) -> Option<CheckRequest> {
    match does {
        ToolAction::Edits(edits) => {
            let inner = |edit: &FileEdit| Some(desk.path(&edit.path, told)).filter(|path| path.to_os().is_relative());
            let edited = edits.iter().filter_map(inner).map(|path| path.to_string()).collect();
            let request = CheckRequest { edited, ..CheckRequest::default() };
            (!request.edited.is_empty()).then_some(request)
        }
        ToolAction::Shell { line, dir, .. } => {
            let at = dir.as_deref().or(told.dir.as_deref()).unwrap_or(&desk.root);
            let line = command_weight::understand(line, at)?;
            let edits = line.purposes.iter().any(|purpose| purpose.edits);
            edits.then(|| CheckRequest { other_edits: true, ..CheckRequest::default() })
        }
        _ => None,
    }
}

fn ask(desk: &mut Desk, request: &CheckRequest) -> Option<String> {
    match files(desk).ask(&desk.root, &desk.place.session.id, request) {
        Ok(id) => Some(id),
        Err(error) => {
            desk.said.push(format!("gate: the check after this write could not be started: {error}"));
            None
        }
    }
}

/// Adds the answer that the agent has not heard yet to the decision at a stop.
pub(super) fn at_stop(desk: &mut Desk, decision: HookDecision) -> HookDecision {
    if desk.subagent().is_some() || !is_wanted(&desk.root) {
        return decision;
    }
    let files = files(desk);
    let answer = match files.request().filter(|request| !request.is_baseline && files.is_running()) {
        Some(request) => files.wait(&request.id),
        None => files.take(),
    };
    let Some(words) = words(desk, answer) else { return decision };
    match decision {
        HookDecision::Push(reason) => HookDecision::Push(format!("{reason}\n{words}")),
        HookDecision::Release(told) => HookDecision::Release(format!("{told}\n{words}")),
        _ => HookDecision::Push(words),
    }
}

fn words(desk: &mut Desk, answer: Option<CheckAnswer>) -> Option<String> {
    let words = answer?.words()?;
    // Some clients repeat it as a prompt.
    desk.memory.tell(&words);
    desk.remember();
    Some(words)
}
