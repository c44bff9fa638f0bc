//! Lessons at both ends of a session: what earlier tasks taught at its start, and one question at the end of a task.
//!
//! The question is asked where a role is set (`GATE_ROLE`). Whatever the answer is, the work goes on.

use std::collections::BTreeMap;

use super::HookDecision;
use super::hook_context::{Desk, clean};
use super::hook_event::Stopping;
use crate::client_definition::ClientFile;
use crate::event::{Act, EventKind, Prompt, SessionSettings, Speaker, StopKind};
use crate::learn::reflection::{Reflection, ReflectionReply};
use crate::learn::strategies::{self, Strategies};
use crate::learn::{self, DEFAULT_ROLE, injection, reflection_store, task_record};
use crate::session;

/// Records the settings of a session that starts, and shows it what earlier ones learned.
pub(super) fn at_start(desk: &mut Desk) -> HookDecision {
    let role = session::role();
    if let Some(malformed) = session::malformed_role() {
        let shown = malformed.escape_debug();
        desk.said
            .push(format!("gate: GATE_ROLE is `{shown}`, which is not the name of a role, so nothing is kept for it"));
    }
    let strategies = strategies(desk);
    if role.is_some() || !strategies.is_empty() {
        desk.append(vec![EventKind::Settings(SessionSettings { role: role.clone(), strategies })]);
    }
    let all = match reflection_store::read(&desk.place.repo.gate_dir()) {
        Ok(all) if all.0.is_empty() => return HookDecision::Allow,
        Ok(all) => all,
        Err(error) => {
            desk.said.push(format!("gate: the reflections cannot be read: {error}"));
            return HookDecision::Allow;
        }
    };
    let policy = desk.place.policy_of_head().ok();
    let exists = |name: &str| learn::exists_below(&desk.root, name);
    let holds = |one: &Reflection| policy.as_ref().is_some_and(|policy| one.cause.holds(policy, &exists));
    let role = role.as_deref().unwrap_or(DEFAULT_ROLE);
    match injection::text(&all, role, &holds) {
        Some(lessons) if ClientFile::of(desk.client.as_str()).prompts.bring_lessons => {
            desk.memory.lessons = lessons;
            desk.remember();
            HookDecision::Allow
        }
        Some(lessons) => HookDecision::Add(lessons),
        None => HookDecision::Allow,
    }
}

/// Returns the values of the strategies for this session.
fn strategies(desk: &mut Desk) -> BTreeMap<String, f64> {
    let variable = std::env::var(strategies::VARIABLE).ok();
    let values = Strategies::read(&desk.root).and_then(|strategies| strategies.values(variable.as_deref()));
    values.unwrap_or_else(|error| {
        desk.said.push(format!("gate: the strategies of this session are not recorded: {error}"));
        BTreeMap::new()
    })
}

/// Takes the answer to the question, if the last stop asked one.
pub(super) fn take_answer(desk: &mut Desk, stop: &Stopping) {
    if !std::mem::take(&mut desk.memory.answers) {
        return;
    }
    desk.remember();
    if stop.how == StopKind::Completed {
        let reply = ReflectionReply::read(&stop.words);
        keep(desk, |reflection| reflection.answered(reply));
    }
}

/// Keeps the reflection of a task that is over, and asks its agent about it, once, if the stop is let go.
pub(super) fn at_stop(desk: &mut Desk, decision: HookDecision) -> HookDecision {
    if matches!(decision, HookDecision::Push(_)) || session::role().is_none() {
        return decision;
    }
    let asks = !matches!(decision, HookDecision::Release(_));
    let Some(reflection) = keep(desk, |reflection| reflection) else { return decision };
    if desk.memory.reflected.as_ref() == Some(&reflection.id) || !asks {
        return decision;
    }
    desk.memory.reflected = Some(reflection.id.clone());
    let question = match learn::question(&reflection) {
        Ok(question) => question.text,
        Err(error) => {
            desk.said.push(format!("gate: {error}"));
            desk.remember();
            return decision;
        }
    };
    desk.memory.answers = true;
    desk.memory.tell(&question);
    desk.remember();
    desk.record(None, Act::Prompt(Prompt { from: Speaker::Hook, text: clean(&question) }));
    HookDecision::Push(question)
}

/// Keeps the reflection of the last task of the session, if it is over.
fn keep(desk: &mut Desk, with: impl FnOnce(Reflection) -> Reflection) -> Option<Reflection> {
    let role = session::role()?;
    let session = &desk.place.session.id;
    let mut events = desk.place.journal.latest_events().ok()?;
    events.retain(|event| event.session.as_ref() == Some(session));
    let task = task_record::tasks(&events).pop().filter(|task| task.is_over)?;
    let policy = desk.place.policy_of_head().ok()?;
    let exists = |name: &str| learn::exists_below(&desk.root, name);
    let reflection = with(Reflection::of(&task, &role)).with_cause(&policy, &exists);
    match reflection_store::add(&desk.place.repo.gate_dir(), reflection) {
        Ok(kept) => Some(kept),
        Err(error) => {
            desk.said.push(format!("gate: a reflection is not kept: {error}"));
            None
        }
    }
}
