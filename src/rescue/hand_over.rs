//! Making a packet.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use jiff::Timestamp;

use super::{clean_run, folder, internal};
use crate::engine::{Preview, Workplace};
use crate::event::rescue::{GivenUp, HandedOver, Rescue};
use crate::event::{EventKind, Origin};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::handoff::packet::{self, Clean, Failing, Packet, Snapshot};
use crate::handoff::pollution;
use crate::handoff::{TERMINAL_AT, checklist};
use crate::journal::{NewEvent, RescueState};
use crate::oid::Oid;
use crate::redact::redact;
use crate::verdict::Outcome;
use crate::verdict::artifact::{write_bytes, write_json};
use crate::verdict::assemble::ESCALATES_AT;
use crate::verdict::escalation::history::History;
use crate::verdict::escalation::{self, Escalation};

/// What is asked for.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The session that failed.
    pub session: &'a str,
    /// The task in the words of whoever gave it.
    pub task: String,
    /// How long the failing command may run on a clean checkout; `None`: it is not tried there.
    pub patience: Option<Duration>,
}

/// What was made.
#[derive(Clone, Debug)]
pub enum Handed {
    /// Nothing: every gate that blocks lets this through.
    NothingFails,
    /// A packet, and the file it was written to.
    Packet {
        /// The packet.
        packet: Box<Packet>,
        /// As text.
        text: String,
        /// The file with that text.
        path: PathBuf,
    },
    /// The rescue is over too: the one terminal payload.
    Terminal {
        /// The payload.
        payload: Box<Escalation>,
        /// As text.
        text: String,
    },
}

/// Makes the next packet of a session that used up its attempts, keeps its snapshot, and records both.
pub fn hand_over(place: &Workplace, request: &Request<'_>) -> Result<Handed, Failure> {
    let state = place.state()?;
    let known = state.judged(request.session);
    if known.rescue.given_up {
        return Err(over());
    }
    if known.made() < ESCALATES_AT {
        let made = known.made();
        return Err(Failure::new(
            Exit::Blocked,
            format!("[NEED_CONTEXT: escalation_payload] {made} of {ESCALATES_AT} attempts are made; there is nothing to hand over yet"),
        )
        .remedy("gate check says what is missing; gate escalate shows the payload as it is now"));
    }
    clean_task(&request.task)?;
    let Preview { verdict, snapshot, head } = place.preview(request.session)?;
    if verdict.outcome == Outcome::Pass {
        return Ok(Handed::NothingFails);
    }
    let kept = place.repo.keep(&snapshot).map_err(internal)?;
    let id = id(request.session);
    let (step, recorded) = place.journal.append_with(|state| {
        let step = step(&known.rescue, &state.judged(request.session).rescue, &kept.tree);
        let recorded = match &step {
            Step::Over | Step::Join(..) => None,
            Step::GiveUp(attempt) => Some(Rescue::GivenUp(GivenUp { attempt: *attempt })),
            Step::HandOver(attempt) => {
                let (id, tree) = (id.clone(), Some(kept.tree.clone()));
                Some(Rescue::HandedOver(HandedOver { id, attempt: *attempt, tree }))
            }
        };
        (recorded.into_iter().map(|rescue| event(request.session, rescue)).collect(), step)
    });
    recorded.map_err(internal)?;
    let (id, attempt) = match step {
        // Another process was faster, and there is exactly one terminal payload.
        Step::Over => return Err(over()),
        Step::Join(open, attempt) => (open, attempt),
        Step::GiveUp(attempt) | Step::HandOver(attempt) => (id, attempt),
    };
    let history = place.history(request.session);
    let record = format!("gate log --session {}", request.session);
    let mut payload = escalation::derive(&verdict, &history, &record);
    if attempt > TERMINAL_AT {
        payload = terminal(payload, attempt, &place.state()?.judged(request.session).rescue.hypotheses);
        let text = escalation::text(&payload).map_err(internal)?;
        return Ok(Handed::Terminal { payload: Box::new(payload), text });
    }
    let reference = format!("refs/gate/handoff/{id}");
    let why = format!("gate: the content that was handed over as {id}");
    let commit = place.repo.publish(&kept.tree, head.as_ref(), &reference, &why).map_err(internal)?;
    let packet = Packet {
        schema_version: 1,
        id,
        attempt,
        task: redact(&request.task).into_owned(),
        failing: failing(&place.repo, &commit, &history, request.patience),
        snapshot: Snapshot { reference, commit, tree: kept.tree },
        escalation: payload,
        checklist: checklist(attempt),
        spent: known.rescue.hypotheses.clone(),
    };
    let text = packet::text(&packet).map_err(internal)?;
    let path = write(place, &packet, &text).map_err(internal)?;
    Ok(Handed::Packet { packet: Box::new(packet), text, path })
}

/// What becomes of a handoff.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    /// Nothing: the rescue is over.
    Over,
    /// The terminal payload, at this attempt.
    GiveUp(u32),
    /// A packet, at this attempt.
    HandOver(u32),
    /// The packet that another process made meanwhile of the same content, and its attempt: it is one attempt.
    Join(String, u32),
}

/// `before`: how far the rescue was when the handoff was asked for; `now`: when it is recorded, and nobody else can.
fn step(before: &RescueState, now: &RescueState, tree: &Oid) -> Step {
    if now.given_up {
        return Step::Over;
    }
    if let Some(open) = now.open.as_ref().filter(|_| now.attempts > before.attempts && now.tree.as_ref() == Some(tree))
    {
        return Step::Join(open.clone(), now.attempts);
    }
    let attempt = now.attempts.saturating_add(1);
    if attempt > TERMINAL_AT { Step::GiveUp(attempt) } else { Step::HandOver(attempt) }
}

fn over() -> Failure {
    Failure::new(
        Exit::NeedsHuman,
        "the rescue of this session ended with a terminal payload; nothing is handed over again",
    )
    .remedy("a person goes on from here; a run that passes every gate, or a new task, begins anew")
}

/// A task with the failed history in it would pollute every packet.
fn clean_task(task: &str) -> Result<(), Failure> {
    if task.trim().is_empty() {
        return Err(Failure::new(Exit::BadInput, "the task is empty").remedy("name a file with the task: --task FILE"));
    }
    let found = pollution::find(&format!("## Task\n{task}"));
    let Some(first) = found.first() else { return Ok(()) };
    let line = first.line.saturating_sub(1).max(1);
    Err(Failure::new(Exit::BadInput, format!("[NEED_CONTEXT: clean_handoff] line {line} of the task: {}", first.what))
        .remedy("hand over the task as it was given, without what became of it"))
}

fn failing(repo: &Repo, commit: &Oid, history: &History, patience: Option<Duration>) -> Option<Failing> {
    let failure = history.failure.as_ref()?;
    let clean = patience.map_or(Clean::NotTried, |patience| clean_run::outcome(repo, commit, failure, patience));
    Some(Failing {
        command: failure.line.clone(),
        dir: failure.dir.to_string(),
        on_clean_checkout: clean,
        signature: failure.signature.clone(),
    })
}

/// The payload of the rescue itself, for whoever is above it.
fn terminal(payload: Escalation, attempt: u32, hypotheses: &[String]) -> Escalation {
    let tried: Vec<String> = hypotheses
        .iter()
        .map(|text| escalation::line(&format!("hypothesis: {text}")))
        .filter(|text| !text.is_empty())
        .collect();
    Escalation {
        attempt,
        what_was_tried: if tried.is_empty() { payload.what_was_tried } else { tried },
        request: vec![
            "Escalate above reflection layer. Do not re-run coder or reflection with the same context packet."
                .to_owned(),
        ],
        ..payload
    }
}

fn event(session: &str, rescue: Rescue) -> NewEvent {
    NewEvent { session: Some(session.to_owned()), origin: Origin::observed(), kind: EventKind::Rescue(rescue) }
}

fn id(session: &str) -> String {
    let at = Timestamp::now();
    let print = crate::digest::hex_digest(&[
        session.as_bytes(),
        &std::process::id().to_be_bytes(),
        &at.as_nanosecond().to_be_bytes(),
    ]);
    format!("h{}-{}", at.strftime("%Y%m%dT%H%M%S"), &print[..8])
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
    fn handoffs_at_the_same_instant_are_one_attempt() {
        let tree: Oid = "1".repeat(40).parse().unwrap();
        let other: Oid = "2".repeat(40).parse().unwrap();
        let at = |attempts: u32, open: Option<&str>, tree: &Oid| RescueState {
            attempts,
            open: open.map(str::to_owned),
            tree: Some(tree.clone()),
            ..RescueState::default()
        };
        let over = RescueState { given_up: true, ..at(3, None, &tree) };
        for (before, now, expected) in [
            (at(0, None, &tree), at(0, None, &tree), Step::HandOver(1)),
            (at(0, None, &tree), at(1, Some("h1"), &tree), Step::Join("h1".to_owned(), 1)),
            (at(1, Some("h1"), &tree), at(1, Some("h1"), &tree), Step::HandOver(2)),
            (at(1, Some("h1"), &tree), at(2, Some("h2"), &tree), Step::Join("h2".to_owned(), 2)),
            (at(0, None, &tree), at(1, Some("h1"), &other), Step::HandOver(2)),
            (at(0, None, &tree), at(1, None, &tree), Step::HandOver(2)),
            (at(TERMINAL_AT, None, &tree), at(TERMINAL_AT, None, &tree), Step::GiveUp(TERMINAL_AT + 1)),
            (at(TERMINAL_AT, None, &tree), over.clone(), Step::Over),
            (over.clone(), over, Step::Over),
        ] {
            assert_eq!(step(&before, &now, &tree), expected, "{before:?} {now:?}");
        }
    }
}
