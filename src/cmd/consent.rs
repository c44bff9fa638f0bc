//! The consent to a plan, and carrying it out.

use super::install_failure;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::install::{InstallTarget, Plan, apply};
use crate::render;
use crate::render::ui::Ui;

/// The consent to a plan.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct Consent {
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
    /// Show the plan and change nothing
    #[arg(long)]
    pub(super) dry_run: bool,
}

impl Consent {
    /// Returns `true` if something may be written: a flag allows it, or a person can be asked.
    pub(super) fn asks_to_write(self, ui: &Ui) -> bool {
        !self.dry_run && (self.yes || ui.is_interactive())
    }
}

/// Shows a plan, asks for confirmation unless a flag gives it, and carries it out. Returns `true` if anything was done.
pub(super) fn carry_out(
    repository: &InstallTarget,
    plan: &Plan,
    consent: Consent,
    ui: &mut Ui,
) -> anyhow::Result<bool> {
    render::install_plan::print(plan, repository.base(), ui);
    if plan.is_idle(repository) {
        ui.say("Nothing to do.");
        return Ok(false);
    }
    if consent.dry_run {
        ui.say("Nothing was changed (--dry-run).");
        return Ok(false);
    }
    if !consent.yes && !ui.is_interactive() {
        let what = "nothing was changed, because gate cannot ask for confirmation without a terminal";
        return Err(Failure::new(Exit::Usage, what).remedy("repeat the command with --yes").into());
    }
    if !consent.yes && !ui.confirm("Do this?") {
        ui.say("Nothing was changed.");
        return Ok(false);
    }
    apply(repository, plan).map_err(install_failure)?;
    Ok(true)
}
