//! Carrying out a rescue: making the packet and keeping its snapshot, proving its failing command, taking a reply.

mod case;
mod clean_run;
mod hand_over;
mod receive;

use std::path::{Path, PathBuf};
use std::time::Duration;

use minijinja::context;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::BINDING;
use crate::journal::State;
use crate::templates::words::say;

pub use self::case::Case;
pub use self::hand_over::{Handed, Request, hand_over};
pub use self::receive::{Accepted, Waiting, receive, waiting};

/// Where packets and replies lie.
fn folder(place: &Workplace) -> PathBuf {
    place.repo.gate_dir().join("handoffs")
}

/// The session whose attempts are meant: the one that is named, else the one at work here where it was refused, else the
/// one that was refused last.
pub fn session(place: &Workplace, state: &State, named: Option<&str>) -> String {
    if let Some(named) = named {
        return named.to_owned();
    }
    if state.judged(&place.session.id).made() > 0 {
        return place.session.id.clone();
    }
    state.latest_refused().unwrap_or(&place.session.id).to_owned()
}

fn internal(error: impl std::fmt::Display) -> Failure {
    Failure::new(Exit::Internal, error)
}

/// Gives `packet` to a command on its standard input and returns what it says on its standard output. It works in a
/// session of its own, so that its attempts are not those of the agent that failed.
pub fn ask(root: &Path, command: &str, packet: &str, id: &str, patience: Duration) -> Result<String, Failure> {
    let failed = |why: String| {
        Failure::new(Exit::CannotJudge, say("handoff", "no_reply", &context! { command, why })).remedy(say(
            "handoff",
            "no_reply_remedy",
            &context! {},
        ))
    };
    let mut asked = duct::cmd("sh", ["-c", command])
        .dir(root)
        .stdin_bytes(packet)
        .stdout_capture()
        .unchecked()
        .env("GATE_SESSION", format!("rescue-{id}"));
    for name in BINDING {
        asked = asked.env_remove(name);
    }
    let running = asked.start().map_err(|error| failed(error.to_string()))?;
    match running.wait_timeout(patience).map_err(|error| failed(error.to_string()))? {
        Some(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).into_owned()),
        Some(done) => Err(failed(done.status.to_string())),
        None => {
            let _ = running.kill();
            Err(failed(say("handoff", "no_reply_in_time", &context! { seconds => patience.as_secs() })))
        }
    }
}
