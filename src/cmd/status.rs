//! `gate status`: on one screen, what is proven for the commit and for the working tree.

use anyhow::Result;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::gates;
use crate::moment::Moment;
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate status`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print it as JSON
    #[arg(long)]
    json: bool,
}

/// Prints the state; nothing is counted and nothing is written.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let here = place.look()?;
    let facts = place.facts_here(&here, Moment::Stop, &place.session.id)?;
    let results = gates::judge(&here.policy, &facts);
    let status = render::status::Status {
        branch: here.head.branch.as_deref(),
        policy: &here.policy,
        facts: &facts,
        results: &results,
        would_block: here.state.would_block(),
        attempts: &here.state.judged(&place.session.id).made_by_gate(),
    };
    if args.json {
        ui.line(render::status::json(&status)?);
    } else {
        ui.raw(render::status::lines(&status));
    }
    Ok(Exit::Pass)
}
