//! Carries out a rescue: makes the packet, keeps its snapshot, tries its failing command, and takes the reply.

mod case;
mod clean_run;
mod make_packet;
mod take_reply;

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use minijinja::context;

use crate::engine::Workplace;
use crate::event::{Ended, EventKind, Origin, Rescue, Withdrawn};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::{JournalState, NewEvent};
use crate::run::{BoundedCommand, Returned};
use crate::templates::sentences::say;

pub use self::case::FailingCase;
pub use self::make_packet::{Handed, Request, hand_over};
pub use self::take_reply::{WaitingPacket, receive, waiting};

/// The maximum output of a command that replies, in bytes: far more than a reply needs.
const MAX_REPLY: u64 = 1024 * 1024;

/// Returns the folder of packets and replies.
fn folder(place: &Workplace) -> PathBuf {
    place.repo.gate_dir().join("handoffs")
}

/// Returns the session that failed: the named one, else the current one if it was refused, else the one that was
/// refused last.
pub fn session(place: &Workplace, state: &JournalState, named: Option<&str>) -> String {
    if let Some(named) = named {
        return named.to_owned();
    }
    if state.judged(&place.session.id).made() > 0 {
        return place.session.id.clone();
    }
    state.latest_refused().unwrap_or(&place.session.id).to_owned()
}

fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::CannotJudge, error)
}

/// Passes a packet to a command on its standard input and returns its standard output. The command works in a session
/// of its own, so that its attempts are not those of the agent that failed.
///
/// If there is no such command, the packet does not count as an attempt.
pub fn ask(
    place: &Workplace,
    waiting: &WaitingPacket,
    command: &str,
    packet: &str,
    patience: Duration,
) -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::new(Exit::CannotJudge, say("handoff", "no_reply", &context! { command, why })).remedy(say(
            "handoff",
            "no_reply_remedy",
            &context! {},
        ))
    };
    let folder = tempfile::Builder::new().prefix("gate-unblock-").tempdir().map_err(internal)?;
    let (input, output) = (folder.path().join("packet"), folder.path().join("reply"));
    fs::write(&input, packet).map_err(internal)?;
    let session = format!("rescue-{}", waiting.id);
    let bounded = BoundedCommand::new(command, place.work_tree()?, &output, patience, MAX_REPLY);
    match (BoundedCommand { env: &[("GATE_SESSION".into(), session.into())], input: Some(&input), ..bounded })
        .run()
        .map_err(|error| failed(error.to_string()))?
    {
        Returned::Ended(Ended::Exited(0)) => {
            Ok(String::from_utf8_lossy(&fs::read(&output).map_err(internal)?).into_owned())
        }
        Returned::Ended(Ended::Exited(status @ (126 | 127))) => {
            withdraw(place, waiting)?;
            Err(failed(say("handoff", "no_such_command", &context! { status })))
        }
        Returned::Ended(Ended::Exited(status)) => Err(failed(say("handoff", "ended_badly", &context! { status }))),
        Returned::Ended(Ended::Signalled(signal)) => Err(failed(say("handoff", "ended_badly", &context! { signal }))),
        Returned::Ended(Ended::NotStarted) => Err(failed(say("handoff", "ended_badly", &context! {}))),
        Returned::TooMuch => Err(failed(say("handoff", "too_much_said", &context! { most => MAX_REPLY }))),
        Returned::OutOfTime => {
            Err(failed(say("handoff", "no_reply_in_time", &context! { seconds => patience.as_secs() })))
        }
    }
}

/// Records that a packet reached nobody.
fn withdraw(place: &Workplace, waiting: &WaitingPacket) -> Result<(), Failure> {
    let ((), recorded) = place.journal.append_with(|state| {
        let waits = state.judged(&waiting.session).rescue.open.as_deref() == Some(&waiting.id);
        let event = waits.then(|| NewEvent {
            session: Some(waiting.session.clone()),
            origin: Origin::observed(),
            kind: EventKind::Rescue(Rescue::Withdrawn(Withdrawn { handoff: waiting.id.clone() })),
        });
        (event.into_iter().collect(), ())
    });
    recorded.map(drop).map_err(internal)
}
