//! `gate import`: imports a session log from elsewhere, and keeps it next to the journal.

use std::path::PathBuf;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::render::ui::Ui;
use crate::source::sessions::{self, Client};

/// Arguments of `gate import`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The log, as its client wrote it
    file: PathBuf,
    /// The client that wrote it: claude, codex, opencode, gemini or copilot; by default, gate recognises it
    #[arg(long, value_name = "NAME")]
    client: Option<Client>,
}

/// Imports a log into the repository of the current directory.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    let shown = args.file.display();
    let cannot = |error: &dyn std::fmt::Display| Failure::new(Exit::BadInput, format_args!("{error}"));
    let client = match args.client {
        Some(client) => client,
        None => {
            let found = sessions::recognise(&args.file)
                .map_err(|error| cannot(&format_args!("cannot read {shown}: {error}")))?;
            found.ok_or_else(|| {
                cannot(&format_args!("{shown} is not a session log of a known client"))
                    .remedy("give the file as its client wrote it; --client NAME names the client")
            })?
        }
    };
    let done = sessions::import(&place.repo.gate_dir(), client, &args.file).map_err(|error| cannot(&error))?;
    if done.is_empty() {
        let failure = cannot(&format_args!("nothing in {shown} is an agent's action as {client} records it"));
        return Err(failure.remedy("check that it is complete, and that this client wrote it").into());
    }
    for import in &done {
        let log = &import.imported;
        let shown = super::sessions::listed(log.client, &log.summary, &log.path);
        ui.line(render::sessions::imported(&shown, import.known));
    }
    Ok(Exit::Pass)
}
