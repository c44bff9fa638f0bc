//! Makes a handoff packet for the current failure, writes it, and records it in the journal.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;
use minijinja::context;

use super::{FailingCase, folder, internal};
use crate::digest::dated_id;
use crate::engine::Workplace;
use crate::escalation::handoff::packet::{self, Packet, PacketSnapshot};
use crate::escalation::handoff::{TERMINAL_AT, checklist, packet_check};
use crate::escalation::{self, Escalation};
use crate::event::task_context::known_lines;
use crate::event::{EventKind, GivenUp, HandedOver, Origin, Rescue};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::{NewEvent, RescueState};
use crate::oid::Oid;
use crate::redact::redact;
use crate::templates::{RenderedText, TemplateError, sentences::say};
use crate::verdict::assemble::ESCALATES_AT;
use crate::verdict::verdict_files::{write_bytes, write_json};

/// A request for a packet.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The session that failed.
    pub session: &'a str,
    /// The task in the words of its author.
    pub task: String,
    /// The time limit for the failing command on a clean checkout, or `None` if it is not tried there.
    pub patience: Option<Duration>,
    /// `true` if the packet is sent to its helper: each time is an attempt. A packet that is only shown is shown again.
    pub sends: bool,
}

/// The result of a request.
#[derive(Clone, Debug)]
pub enum Handed {
    /// No packet: no gate blocks.
    NothingFails,
    /// A packet, and the file it was written to.
    Packet {
        packet: Box<Packet>,
        /// The packet as text.
        text: String,
        /// The file with that text.
        path: PathBuf,
        /// The error in a template of the user's, if the default one was used instead.
        wrong: Option<String>,
    },
    /// The terminal payload: the rescue is over, too.
    Terminal {
        payload: Box<Escalation>,
        /// The payload as text.
        text: String,
        /// The error in the user's template, if the default one was used instead.
        wrong: Option<String>,
    },
}

/// Makes the next packet of a session that used up its attempts, keeps its snapshot, and records both. `trying` is
/// called with a command before it is tried on a clean checkout.
pub fn hand_over(place: &Workplace, request: &Request<'_>, trying: &mut dyn FnMut(&str)) -> Result<Handed, Failure> {
    let state = place.state()?;
    let known = state.judged(request.session);
    if known.rescue.given_up {
        return Err(over());
    }
    let mut case = FailingCase::now(place, request.session)?;
    let Some(tree) = case.tree.clone().filter(|_| !case.passes()) else { return Ok(Handed::NothingFails) };
    if known.made() < ESCALATES_AT {
        let made = known.made();
        return Err(Failure::new(Exit::Blocked, say("handoff", "too_early", &context! { made, at => ESCALATES_AT }))
            .remedy(say("handoff", "too_early_remedy", &context! {})));
    }
    clean_task(&request.task)?;
    let id = id(request.session);
    let (step, recorded) = place.journal.append_with(|state| {
        let now = &state.judged(request.session).rescue;
        let joins = !request.sends || now.attempts > known.rescue.attempts;
        let step = step(now, &tree, joins);
        let recorded = match &step {
            HandOverStep::Over | HandOverStep::Join(..) => None,
            HandOverStep::GiveUp(attempt) => Some(Rescue::GivenUp(GivenUp { attempt: *attempt })),
            HandOverStep::HandOver(attempt) => {
                let (id, tree) = (id.clone(), Some(tree.clone()));
                Some(Rescue::HandedOver(HandedOver { id, attempt: *attempt, tree }))
            }
        };
        (recorded.into_iter().map(|rescue| event(request.session, rescue)).collect(), step)
    });
    recorded.map_err(internal)?;
    let (id, attempt) = match step {
        // Another process was faster, and there is exactly one terminal payload.
        HandOverStep::Over => return Err(over()),
        HandOverStep::GiveUp(attempt) => {
            let hypotheses = place.state()?.judged(request.session).rescue.hypotheses.clone();
            let payload = terminal(case.payload(None), attempt, &hypotheses);
            let RenderedText { text, wrong } = escalation::told(&payload).map_err(internal)?;
            return Ok(Handed::Terminal { payload: Box::new(payload), text, wrong: said(wrong) });
        }
        HandOverStep::Join(open, attempt) => (open, attempt),
        HandOverStep::HandOver(attempt) => (id, attempt),
    };
    if let Some(patience) = request.patience {
        if let Some(command) = case.untried() {
            trying(command);
        }
        case.prove(patience)?;
    }
    let reference = format!("refs/gate/handoff/{id}");
    let why = format!("gate: the content that was handed over as {id}");
    let commit = place.repo.publish(&tree, case.head.as_ref(), &reference, &why).map_err(internal)?;
    let payload = case.payload(Some(&reference));
    case.write(&payload)?;
    let planned = state.plan(request.session).into_iter().flat_map(|plan| &plan.tasks);
    let packet = Packet {
        schema_version: 1,
        id,
        attempt,
        task: redact(&request.task).into_owned(),
        context: known_lines(state.task(request.session), planned),
        snapshot: PacketSnapshot { reference, commit, tree },
        escalation: payload,
        checklist: checklist(attempt),
        spent: known.rescue.hypotheses.clone(),
    };
    let RenderedText { text, wrong } = packet::told(&packet).map_err(internal)?;
    let path = write(place, &packet, &text).map_err(internal)?;
    Ok(Handed::Packet { packet: Box::new(packet), text, path, wrong: said(wrong) })
}

fn said(wrong: Option<TemplateError>) -> Option<String> {
    wrong.map(|error| say("handoff", "template", &context! { error => error.to_string() }))
}

/// The next step of a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
enum HandOverStep {
    /// No step: the rescue is over.
    Over,
    /// The terminal payload, at this attempt.
    GiveUp(u32),
    /// A packet, at this attempt.
    HandOver(u32),
    /// The unanswered packet of the same content, and its attempt: it is shown again.
    Join(String, u32),
}

/// Returns the next step. `now` is the state of the rescue when the handoff is recorded, under a lock. With `joins`, an
/// unanswered packet of the same content is used, instead of a second one.
fn step(now: &RescueState, tree: &Oid, joins: bool) -> HandOverStep {
    if now.given_up {
        return HandOverStep::Over;
    }
    if let Some(open) = now.open.as_ref().filter(|_| joins && now.tree.as_ref() == Some(tree)) {
        return HandOverStep::Join(open.clone(), now.attempts);
    }
    let attempt = now.attempts.saturating_add(1);
    if attempt > TERMINAL_AT { HandOverStep::GiveUp(attempt) } else { HandOverStep::HandOver(attempt) }
}

fn over() -> Failure {
    Failure::new(Exit::NeedsHuman, say("handoff", "over", &context! {})).remedy(say(
        "handoff",
        "over_remedy",
        &context! {},
    ))
}

/// Refuses a task that contains the failed history: it would pollute every packet.
fn clean_task(task: &str) -> Result<(), Failure> {
    if task.trim().is_empty() {
        return Err(Failure::new(Exit::BadInput, say("handoff", "empty_task", &context! {})).remedy(say(
            "handoff",
            "empty_task_remedy",
            &context! {},
        )));
    }
    let found = packet_check::find_in_task(task);
    let Some(first) = found.first() else { return Ok(()) };
    let what = say("handoff", "polluted_task", &context! { line => first.line, what => &first.what });
    Err(Failure::new(Exit::BadInput, what).remedy(say("handoff", "polluted_task_remedy", &context! {})))
}

/// Returns the payload of the rescue itself, for the next level.
fn terminal(payload: Escalation, attempt: u32, hypotheses: &[String]) -> Escalation {
    let tried: Vec<String> = hypotheses
        .iter()
        .map(|text| escalation::line(&say("escalation", "hypothesis", &context! { text })))
        .filter(|text| !text.is_empty())
        .collect();
    let request = escalation::line(&say("escalation", "terminal_request", &context! {}));
    Escalation {
        attempt,
        what_was_tried: if tried.is_empty() { payload.what_was_tried } else { tried },
        request: if request.is_empty() { payload.request } else { vec![request] },
        ..payload
    }
}

fn event(session: &str, rescue: Rescue) -> NewEvent {
    NewEvent { session: Some(session.to_owned()), origin: Origin::observed(), kind: EventKind::Rescue(rescue) }
}

fn id(session: &str) -> String {
    dated_id('h', Timestamp::now(), session)
}

fn write(place: &Workplace, packet: &Packet, text: &str) -> std::io::Result<PathBuf> {
    let folder = folder(place);
    fs::create_dir_all(&folder)?;
    let path = folder.join(format!("{}.md", packet.id));
    write_json(&path.with_extension("json"), packet)?;
    write_bytes(&path, text.as_bytes())?;
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_packets_have_the_form_by_which_they_are_found_again() {
        assert!(crate::event::rescue::is_name(&id("s")), "{}", id("s"));
    }

    #[test]
    fn only_what_was_answered_or_changed_is_handed_over_again() {
        let tree: Oid = "1".repeat(40).parse().unwrap();
        let other: Oid = "2".repeat(40).parse().unwrap();
        let at = |attempts: u32, open: Option<&str>, tree: &Oid| RescueState {
            attempts,
            open: open.map(str::to_owned),
            tree: Some(tree.clone()),
            ..RescueState::default()
        };
        let over = RescueState { given_up: true, ..at(3, None, &tree) };
        for (now, joins, expected) in [
            (at(0, None, &tree), true, HandOverStep::HandOver(1)),
            (at(1, Some("h1"), &tree), true, HandOverStep::Join("h1".to_owned(), 1)),
            (at(1, Some("h1"), &tree), false, HandOverStep::HandOver(2)),
            (at(1, Some("h1"), &other), true, HandOverStep::HandOver(2)),
            (at(1, None, &tree), true, HandOverStep::HandOver(2)),
            (at(TERMINAL_AT, Some("h3"), &tree), true, HandOverStep::Join("h3".to_owned(), TERMINAL_AT)),
            (at(TERMINAL_AT, Some("h3"), &tree), false, HandOverStep::GiveUp(TERMINAL_AT + 1)),
            (at(TERMINAL_AT, None, &tree), true, HandOverStep::GiveUp(TERMINAL_AT + 1)),
            (over, true, HandOverStep::Over),
        ] {
            assert_eq!(step(&now, &tree, joins), expected, "{now:?}");
        }
    }
}
