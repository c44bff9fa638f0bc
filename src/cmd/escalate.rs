//! `gate escalate`: prints the payload for the current failure.

use std::time::Duration;

use anyhow::Result;
use minijinja::context;

use crate::engine::Workplace;
use crate::escalation;
use crate::escalation::rescue::{self, FailingCase};
use crate::exit::Exit;
use crate::render::ui::Ui;
use crate::templates::sentences::say;

/// Arguments of `gate escalate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print the payload as JSON
    #[arg(long)]
    json: bool,
    /// Do not try the failing command on a clean checkout
    #[arg(long)]
    untried: bool,
    /// The time limit for the failing command on a clean checkout, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// The session to report on; by default, the one that works here, or else the one that was refused last
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Prints the payload. If nothing fails there is none, and the exit code says so. No attempt is counted. If the
/// attempts are used up, the file next to the verdict gets the same payload.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let session = rescue::session(&place, &place.state()?, args.session.as_deref());
    let mut case = FailingCase::now(&place, &session)?;
    if case.passes() {
        ui.say(say("handoff", "nothing_escalates", &context! {}));
        return Ok(Exit::NothingFails);
    }
    if let Some(command) = case.untried().filter(|_| !args.untried) {
        trying(command, ui);
        case.prove(Duration::from_secs(args.timeout))?;
    }
    let payload = case.payload(None);
    let written = case.write(&payload)?;
    if args.json {
        ui.json(&payload)?;
    } else {
        ui.raw(escalation::text(&payload)?);
    }
    if let Some(path) = written {
        ui.say(say("handoff", "lies", &context! { path => path.display().to_string() }));
    }
    Ok(Exit::Pass)
}

/// Prints which command is being tried.
pub(super) fn trying(command: &str, ui: &mut Ui) {
    ui.say(say("handoff", "trying", &context! { command => escalation::line(command) }));
}
