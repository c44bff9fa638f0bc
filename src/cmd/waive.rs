//! `gate waive`: a person waives one gate for one content, with a reason that stays in the record.

use anyhow::Result;

use crate::cmd::named_commit;
use crate::collect::{self, BaseOf};
use crate::engine::Workplace;
use crate::event::{EventKind, Origin, Waived};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::journal::NewEvent;
use crate::render::ui::Ui;
use crate::shell_quote::shell_word;

/// Arguments of `gate waive`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The gate
    gate: String,
    /// The reason. gate records it and shows it in every verdict about this content. CI judges the content again
    #[arg(long)]
    reason: String,
    /// The commit whose content may pass
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    rev: String,
}

/// Records the waiver.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    // Not a defence against intent, which is judged where the agent has no rights: a person is asked, at a terminal.
    ui.only_for_a_person(
        place.session.agent.is_some(),
        format_args!("gate waive {} --reason {}", shell_word(&args.gate), shell_word(&args.reason)),
    )?;
    if args.reason.trim().is_empty() {
        return Err(Failure::new(Exit::Usage, "a reason is needed: --reason '…'").into());
    }
    let repo = &place.repo;
    let commit = named_commit(repo, &args.rev)?
        .ok_or_else(|| Failure::new(Exit::Usage, format!("`{}` is not a commit", args.rev)))?;
    let lineage = collect::lineage(repo, &commit, BaseOf::AnyRemote)?;
    let (policy, _) = place.policy(Some(&lineage))?;
    if policy.gates.iter().all(|gate| gate.id != args.gate) {
        let known: Vec<_> = policy.gates.iter().map(|gate| gate.id.as_str()).collect();
        return Err(Failure::new(Exit::Usage, format!("there is no gate `{}`", args.gate))
            .remedy(format!("the gates are {}", known.join(", ")))
            .into());
    }
    let tree = repo.tree_of(&commit)?;
    let by = repo.config("user.name")?.unwrap_or_else(|| "somebody".to_owned());
    if args.rev == "HEAD" && place.look().is_ok_and(|here| !here.look.snapshot.dirty.is_empty()) {
        ui.say("gate: a waiver is for a commit: what is not committed stays refused, so commit it first");
    }
    if !ui.confirm(&format!("Let {} pass for the content of {} ({})?", args.gate, args.rev, commit.short())) {
        return Ok(Exit::Blocked);
    }
    let waived = Waived { gate: args.gate.clone(), tree, reason: args.reason.clone(), by };
    let event = NewEvent {
        session: Some(place.session.id.clone()),
        origin: Origin::observed(),
        kind: EventKind::Waived(waived),
    };
    place.journal.append(event)?;
    ui.say(format_args!("gate: {} is waived for this content, and for nothing else", args.gate));
    Ok(Exit::Pass)
}
