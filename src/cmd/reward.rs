//! `gate reward`: shows the reward of a session, term by term.

use std::env;

use anyhow::Result;

use crate::command_line::{self, LineRecord};
use crate::engine::Workplace;
use crate::event::{Ended, Run};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::learn::ledger::Ledger;
use crate::learn::reward_numbers;
use crate::render;
use crate::render::ui::Ui;
use crate::runner::Project;
use crate::source::project_files::DiskDirectory;
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
    Ok(Ledger::read(&place.repo, &place.journal, roots, logs, Box::new(check_reader(place)))?)
}

/// Returns what tells the runs of checks from those of other commands, by the runners of the repository.
fn check_reader(place: &Workplace) -> impl Fn(&Run) -> bool {
    let policy = place.policy(None).ok().map(|(policy, _)| policy);
    let root = place.repo.root().unwrap_or(place.repo.git_dir()).to_owned();
    move |run| {
        let files = DiskDirectory(root.join(run.command.dir.to_os()));
        let project = policy.as_ref().map_or_else(|| Project::without_runners(&files), |policy| policy.project(&files));
        let status = if let Ended::Exited(status) = run.ended { Some(status) } else { None };
        let output = Some(run.tail.as_str()).filter(|tail| !tail.is_empty());
        let record = LineRecord { status, output, ..LineRecord::default() };
        reward_numbers::is_check(run, command_line::judge(&run.command.line, &record, project).proves)
    }
}

/// Computes the reward of one session.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let ledger = ledger(&place)?;
    let all = ledger.sessions();
    let meant: Vec<&String> =
        all.iter().filter(|id| !args.session.is_empty() && id.starts_with(&args.session)).collect();
    let session = match meant.as_slice() {
        _ if all.contains(&args.session) => &args.session,
        [one] => one,
        [] => {
            let failure = format_args!("no session here is called `{}`", args.session.escape_debug());
            return Err(Failure::new(Exit::BadInput, failure).remedy("`gate sessions` lists them").into());
        }
        several => {
            let failure = format!("`{}` is the beginning of {} sessions", args.session, several.len());
            return Err(Failure::new(Exit::BadInput, failure)
                .remedy("type more of it; to list them: gate sessions")
                .into());
        }
    };
    let Some(reward) = ledger.reward(session) else {
        return Err(Failure::new(Exit::CannotJudge, format_args!("nothing is recorded of session {session}")).into());
    };
    ui.show(args.json, &reward, render::learning::reward(&reward))?;
    Ok(Exit::Pass)
}
