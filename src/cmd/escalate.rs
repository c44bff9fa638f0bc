//! `gate escalate`: the payload for what is failing now.

use anyhow::Result;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::render::ui::Ui;
use crate::rescue;
use crate::verdict::Outcome;
use crate::verdict::escalation;

/// Arguments of `gate escalate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
    /// The session whose attempts are meant; by default the one at work here, else the one that was refused last
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// Prints the payload; nothing is counted and nothing is written.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let session = rescue::session(&place, &place.state()?, args.session.as_deref());
    let verdict = place.preview(&session)?.verdict;
    let record = format!("gate log --session {session}");
    let payload = escalation::derive(&verdict, &place.history(&session), &record);
    if args.json {
        ui.line(serde_json::to_string_pretty(&payload)?);
    } else {
        ui.raw(escalation::text(&payload)?);
    }
    if verdict.outcome == Outcome::Pass {
        ui.say("gate: nothing is failing now; there is nothing to escalate");
    }
    Ok(Exit::Pass)
}
