//! `gate escalate`: the payload for what is failing now.

use std::time::Duration;

use anyhow::Result;
use minijinja::context;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::render::ui::Ui;
use crate::rescue::{self, FailingCase};
use crate::templates::sentences::say;
use crate::verdict::escalation;

/// Arguments of `gate escalate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    /// Do not try the failing command on a clean checkout
    #[arg(long)]
    untried: bool,
    /// How long the failing command may run on a clean checkout, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// The session whose attempts are meant; by default the one at work here, else the one that was refused last
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Prints the payload; where nothing fails there is none, and the exit code says so. Nothing is counted; where the attempts
/// are used up, the file beside the verdict says the same afterwards.
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
        ui.line(serde_json::to_string_pretty(&payload)?);
    } else {
        ui.raw(escalation::text(&payload)?);
    }
    if let Some(path) = written {
        ui.say(say("handoff", "lies", &context! { path => path.display().to_string() }));
    }
    Ok(Exit::Pass)
}

/// Says what takes so long.
pub(super) fn trying(command: &str, ui: &mut Ui) {
    ui.say(say("handoff", "trying", &context! { command => escalation::line(command) }));
}
