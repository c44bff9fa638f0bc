//! `gate reward`: shows the reward of a session, term by term.

use std::env;

use anyhow::Result;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::learn::ledger::Ledger;
use crate::render;
use crate::render::ui::Ui;
use crate::source::sessions;

/// Arguments of `gate reward`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The session (its id or the start of it)
    #[arg(value_name = "SESSION")]
    session: String,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Reads the record of the repository of a workplace.
pub(super) fn ledger(place: &Workplace) -> Result<Ledger<'_>> {
    let roots = super::sessions::roots(&place.repo);
    let logs = sessions::find(&roots, &|name| env::var_os(name));
    Ok(Ledger::read(&place.repo, &place.journal, roots, logs)?)
}

/// Computes the reward of one session.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let ledger = ledger(&place)?;
    let all = ledger.sessions();
    let meant: Vec<&String> = all.iter().filter(|id| id.starts_with(&args.session)).collect();
    let session = match meant.as_slice() {
        _ if all.contains(&args.session) => &args.session,
        [one] => one,
        [] => {
            let failure = format_args!("no session here is called `{}`", args.session.escape_debug());
            return Err(Failure::new(Exit::BadInput, failure).remedy("`gate sessions` lists them").into());
        }
        several => {
            let failure = format!("`{}` is the beginning of {} sessions", args.session, several.len());
            return Err(Failure::new(Exit::BadInput, failure).remedy("type more of it").into());
        }
    };
    let Some(reward) = ledger.reward(session) else {
        return Err(Failure::new(Exit::CannotJudge, format_args!("nothing is recorded of session {session}")).into());
    };
    if args.json {
        ui.json(&reward)?;
    } else {
        ui.raw(render::learning::reward(&reward));
    }
    Ok(Exit::Pass)
}
