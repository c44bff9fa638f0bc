//! `gate unblock`: takes the reply to a handoff, or has one made.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;

use super::handoff;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::handoff::reply::Reply;
use crate::render::ui::Ui;
use crate::rescue::{self, Handed, Request, Waiting};
use crate::verdict::escalation;

/// Arguments of `gate unblock`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do
    #[command(subcommand)]
    action: Action,
}

/// What to do.
#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Take a reply: exactly one allowed output, complete; otherwise say what is wrong with it
    Accept {
        /// The file with the reply; `-` reads standard input
        reply: PathBuf,
        /// The handoff it answers; by default the latest one
        #[arg(long, value_name = "ID")]
        handoff: Option<String>,
    },
    /// Hand a packet to the command that `[unblock]` in gate.toml names, and take its reply
    Run {
        /// The file with the task as it was given; `-` reads standard input
        #[arg(long, value_name = "FILE")]
        task: PathBuf,
        /// The session that failed; by default the one at work here, else the one that was refused last
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// How long the command may take, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
        timeout: u64,
    },
}

/// Takes a reply.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    match &args.action {
        Action::Accept { reply, handoff: id } => {
            let waiting = rescue::waiting(&place, id.as_deref())?;
            let text = handoff::read(reply)?;
            take(&place, &waiting, &text, ui)
        }
        Action::Run { task, session, timeout } => {
            let patience = Duration::from_secs(*timeout);
            let command = place.look()?.policy.unblock.ok_or_else(|| {
                Failure::new(Exit::Usage, "no command is named that would find the way out")
                    .remedy("name one in gate.toml: [unblock] with run = 'claude -p', 'codex exec -', …; it reads the packet on its standard input")
            })?;
            let session = rescue::session(&place, &place.state()?, session.as_deref());
            let request = Request { session: &session, task: handoff::read(task)?, patience: Some(patience) };
            match rescue::hand_over(&place, &request)? {
                Handed::NothingFails => {
                    ui.say("gate: nothing is failing now; there is nothing to hand over");
                    Ok(Exit::Pass)
                }
                Handed::Terminal { text, .. } => {
                    ui.raw(text);
                    ui.say("gate: the rescue is used up as well; this goes to a person");
                    Ok(Exit::NeedsHuman)
                }
                Handed::Packet { packet, text, .. } => {
                    ui.say(format_args!("gate: handed over as {} to `{command}`", packet.id));
                    let reply = rescue::ask(place.work_tree()?, &command, &text, &packet.id, patience)?;
                    take(&place, &Waiting { id: packet.id.clone(), session }, &reply, ui)
                }
            }
        }
    }
}

fn take(place: &Workplace, waiting: &Waiting, text: &str, ui: &mut Ui) -> Result<Exit> {
    let accepted = match rescue::receive(place, waiting, text)? {
        Ok(accepted) => accepted,
        Err(refusals) => {
            ui.say(format_args!("gate: the reply to {} is not accepted", waiting.id));
            for refusal in refusals {
                ui.say(format_args!("      {refusal}"));
            }
            return Ok(Exit::BadInput);
        }
    };
    ui.say(format_args!("gate: {} accepted as the reply to {}", accepted.reply.name(), waiting.id));
    if let Some((text, path)) = &accepted.packet {
        ui.raw(text);
        ui.say(format_args!("gate: it lies in {}", path.display()));
    }
    Ok(match &accepted.reply {
        Reply::Output(_) => Exit::Pass,
        Reply::NeedContext(target) => {
            ui.line(format_args!("[NEED_CONTEXT: {target}]"));
            Exit::Blocked
        }
        Reply::Terminal(payload) => {
            ui.raw(escalation::text(payload)?);
            Exit::NeedsHuman
        }
    })
}
