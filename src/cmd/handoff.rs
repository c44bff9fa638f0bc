//! `gate handoff`: makes a clean packet for a helper, or checks one.

use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Result;
use minijinja::context;

use super::escalate::trying;
use crate::engine::Workplace;
use crate::escalation::handoff::handoff_detection::{self, Reception};
use crate::escalation::rescue::{self, Handed, Request};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::ui::Ui;
use crate::templates::sentences::say;

/// Arguments of `gate handoff`.
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Args {
    /// The action, if it is not to make a packet
    #[command(subcommand)]
    action: Option<HandoffAction>,
    /// The file with the task in its original words; `-` reads standard input
    #[arg(long, value_name = "FILE", required = true)]
    task: Option<PathBuf>,
    /// Print the packet as JSON
    #[arg(long)]
    json: bool,
    /// Do not try the failing command on a clean checkout
    #[arg(long)]
    untried: bool,
    /// The time limit for the failing command on a clean checkout, in seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    timeout: u64,
    /// The session that failed; by default, the one that works here, or the one that was refused last
    #[arg(long, value_name = "SESSION")]
    session: Option<String>,
}

/// The other actions.
#[derive(Debug, clap::Subcommand)]
enum HandoffAction {
    /// Check that a file is a clean handoff packet
    Verify {
        /// The file; `-` reads standard input
        file: PathBuf,
    },
}

/// Makes a packet, or judges one.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    if let Some(HandoffAction::Verify { file }) = &args.action {
        return Ok(verify(&read(file)?, ui));
    }
    let place = Workplace::here()?;
    let session = rescue::session(&place, &place.state()?, args.session.as_deref());
    let task = match &args.task {
        Some(file) => read(file)?,
        None => return Err(Failure::new(Exit::Usage, "the task is missing").remedy("name it: --task FILE").into()),
    };
    let patience = (!args.untried).then(|| Duration::from_secs(args.timeout));
    let request = Request { session: &session, task, patience, sends: false };
    match rescue::hand_over(&place, &request, &mut |command| trying(command, ui))? {
        Handed::NothingFails => {
            ui.say(say("handoff", "nothing_fails", &context! {}));
            Ok(Exit::NothingFails)
        }
        Handed::Packet { packet, text, path, wrong } => {
            ui.show(args.json, &packet, text)?;
            if let Some(wrong) = wrong {
                ui.say(wrong);
            }
            ui.say(say("handoff", "handed_over", &context! { id => &packet.id, place => path.display().to_string() }));
            Ok(Exit::Pass)
        }
        Handed::Terminal { payload, text, wrong } => {
            ui.show(args.json, &payload, text)?;
            if let Some(wrong) = wrong {
                ui.say(wrong);
            }
            ui.say(say("handoff", "used_up", &context! {}));
            Ok(Exit::NeedsHuman)
        }
    }
}

fn verify(text: &str, ui: &mut Ui) -> Exit {
    match handoff_detection::receive(text) {
        Reception::Clean(_) => {
            ui.line("ok");
            Exit::Pass
        }
        Reception::NoPayload(why) => {
            ui.line("[NEED_CONTEXT: escalation_payload]");
            ui.say(format_args!("gate: {why}"));
            Exit::BadInput
        }
        Reception::Polluted(found) => {
            ui.line("[NEED_CONTEXT: clean_handoff]");
            for pollution in found {
                ui.say(format_args!("gate: {pollution}"));
            }
            Exit::BadInput
        }
    }
}

/// Reads a text file or standard input. Invalid UTF-8 is replaced.
pub(super) fn read(file: &Path) -> Result<String, Failure> {
    let bytes = if file == Path::new("-") {
        let mut bytes = Vec::new();
        std::io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
    } else {
        fs::read(file)
    };
    let bytes = bytes.map_err(Failure::of_file(Exit::BadInput, file))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
