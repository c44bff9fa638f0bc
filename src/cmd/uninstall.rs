//! `gate uninstall`: the exact inverse of `gate init`.

use crate::cmd::consent::{Consent, carry_out};
use crate::cmd::install_failure;
use crate::exit::Exit;
use crate::install::{InstallTarget, plan_uninstall};
use crate::render::ui::Ui;

/// Arguments of `gate uninstall`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Delete the journal as well
    #[arg(long)]
    purge: bool,
    #[command(flatten)]
    consent: Consent,
}

/// Removes gate from the repository of the current directory.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let plan = plan_uninstall(&repository, args.purge).map_err(install_failure)?;
    if carry_out(&repository, &plan, args.consent, ui)? {
        ui.say("Done.");
    }
    Ok(Exit::Pass)
}
