//! `gate status`: on one screen, what is proven for the commit and for the working tree.

use anyhow::Result;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::fact::collect::{self, BaseOf, Sources};
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
    place.repo.work_tree()?;
    let state = place.state()?;
    let head = place.repo.head()?;
    let lineage =
        head.commit.as_ref().map(|commit| collect::lineage(&place.repo, commit, BaseOf::AnyRemote)).transpose()?;
    let (policy, notes) = place.policy(lineage.as_ref())?;
    let sources = Sources { repo: &place.repo, journal: &place.journal, state: &state, policy: &policy };
    let mut facts = collect::at_stop(sources, Moment::Stop, lineage.as_ref(), &place.repo.snapshot()?)?;
    facts.notes.extend(notes);
    let results = gates::judge(&policy, &facts);
    let status = render::status::Status {
        branch: head.branch.as_deref(),
        policy: &policy,
        facts: &facts,
        results: &results,
        would_block: state.would_block(),
        attempts: &state.judged(&place.session.id).attempts,
    };
    if args.json {
        ui.line(render::status::json(&status)?);
    } else {
        ui.raw(render::status::lines(&status));
    }
    Ok(Exit::Pass)
}
