//! `gate check`: judges the current content before a claim that it is done.

use anyhow::Result;

use crate::cmd::housekeeping::tidy;
use crate::cmd::{named_commit, offer_decision};
use crate::collect::{self, BaseOf, Sources};
use crate::engine::Uncommitted;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hook::protected_push;
use crate::moment::Moment;
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate check`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Ask the gates that belong to this moment
    #[arg(long, value_enum, default_value_t = Moment::Stop)]
    moment: Moment,
    /// Judge this commit instead of the current content
    #[arg(long, value_name = "REV")]
    rev: Option<String>,
    /// Claim that the work is done: a refusal counts as an attempt, and after the fourth a person takes over
    #[arg(long)]
    done: bool,
    /// Print the verdict as JSON
    #[arg(long)]
    json: bool,
}

/// Judges and prints the verdict.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = super::place_of_agent()?;
    let repo = &place.repo;
    let (policy, state, facts, snapshot) = match &args.rev {
        Some(rev) => {
            let commit = named_commit(repo, rev)?.ok_or_else(|| no_commit(rev))?;
            let lineage = collect::lineage(repo, &commit, BaseOf::AnyRemote)?;
            let (policy, notes) = place.policy(Some(&lineage))?;
            let state = place.state()?;
            let sources = Sources { repo, journal: &place.journal, state: &state, policy: &policy };
            let mut facts = collect::at_commit(sources, args.moment, rev, &lineage)?;
            facts.notes.extend(notes);
            place.add_contracts(&policy, &mut facts)?;
            place.add_session_facts(&state, &policy, &place.session.id, &mut facts);
            (policy, state, facts, None)
        }
        None => {
            let here = place.look()?;
            let mut facts = place.facts_here(&here, args.moment, &place.session.id)?;
            facts.notes.extend(protected_push::note(&place, &here.policy));
            (here.policy, here.state, facts, Some(here.look.snapshot))
        }
    };
    let uncommitted = snapshot.as_ref().map(Uncommitted::Work);
    let judgement = place.judge_if(&policy, &state, facts, uncommitted, || args.done);
    let record = judgement.written.as_deref();
    if args.json {
        ui.json(&judgement.verdict)?;
    } else {
        ui.raw(render::verdict::lines(&judgement.verdict, record));
        offer_decision(&judgement.verdict, ui);
    }
    tidy(&place, &policy, ui);
    Ok(judgement.verdict.outcome.exit())
}

fn no_commit(rev: &str) -> Failure {
    Failure::new(Exit::Usage, format!("`{rev}` is not a commit of this repository"))
        .remedy("git rev-parse --verify REV^{commit} shows what git makes of it")
}
