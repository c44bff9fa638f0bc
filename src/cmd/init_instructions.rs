//! `gate init --instructions`: the block for the files that agent clients read first.

use crate::cmd::consent::{Consent, carry_out};
use crate::cmd::install_failure;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::install::{InstallTarget, plan_instructions};
use crate::render::ui::Ui;
use crate::source::sessions::Client;

/// Shows the plan for these clients, or for all of them, and carries it out.
pub(super) fn write(clients: &[Client], consent: Consent, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repository = InstallTarget::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let Some(root) = repository.root.clone() else {
        return Err(Failure::new(Exit::Usage, "this repository has no working tree")
            .remedy("run it in a clone")
            .into());
    };
    let clients = if clients.is_empty() { &Client::ALL[..] } else { clients };
    let plan = plan_instructions(&repository, &root, clients).map_err(install_failure)?;
    if carry_out(&repository, &plan, consent, ui)? {
        ui.say("Done. Commit the files so that every agent reads them; `gate uninstall` takes the block out again.");
    }
    Ok(Exit::Pass)
}
