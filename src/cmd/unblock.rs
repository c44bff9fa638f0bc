//! `gate unblock`: takes the reply to a handoff, or runs the command that writes one.

use std::path::PathBuf;
use std::time::Duration;

use anyhow::Result;
use minijinja::context;

use super::escalate::trying;
use super::handoff;
use crate::engine::Workplace;
use crate::escalation;
use crate::escalation::handoff::reply::Reply;
use crate::escalation::rescue::{self, Handed, Request, WaitingPacket};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::ui::Ui;
use crate::templates::sentences::say;

/// Arguments of `gate unblock`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The action
    #[command(subcommand)]
    action: UnblockAction,
}

/// The actions.
#[derive(Debug, clap::Subcommand)]
enum UnblockAction {
    /// Check a reply, and accept it if it is one complete output of an allowed kind
    Accept {
        /// The file with the reply; `-` reads standard input
        reply: PathBuf,
        /// The handoff that it answers; by default, the latest one
        #[arg(long, value_name = "ID")]
        handoff: Option<String>,
    },
    /// Pass a packet to the command that `[unblock]` in gate.toml names, and take its reply
    Run {
        /// The file with the task in its original words; `-` reads standard input
        #[arg(long, value_name = "FILE")]
        task: PathBuf,
        /// The session that failed; by default, the one that works here, or the one that was refused last
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// The time limit for the command, in seconds
        #[arg(long, value_name = "SECONDS", default_value_t = 1800)]
        timeout: u64,
    },
}

/// Takes a reply.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    match &args.action {
        UnblockAction::Accept { reply, handoff: id } => {
            let waiting = rescue::waiting(&place, id.as_deref())?;
            let text = handoff::read(reply)?;
            take(&place, &waiting, &text, ui)
        }
        UnblockAction::Run { task, session, timeout } => {
            let patience = Duration::from_secs(*timeout);
            let command = place.look()?.policy.unblock.ok_or_else(|| {
                Failure::new(Exit::Usage, say("handoff", "no_command", &context! {})).remedy(say(
                    "handoff",
                    "no_command_remedy",
                    &context! {},
                ))
            })?;
            let session = rescue::session(&place, &place.state()?, session.as_deref());
            let request =
                Request { session: &session, task: handoff::read(task)?, patience: Some(patience), sends: true };
            match rescue::hand_over(&place, &request, &mut |command| trying(command, ui))? {
                Handed::NothingFails => {
                    ui.say(say("handoff", "nothing_fails", &context! {}));
                    Ok(Exit::NothingFails)
                }
                Handed::Terminal { text, wrong, .. } => {
                    ui.raw(text);
                    if let Some(wrong) = wrong {
                        ui.say(wrong);
                    }
                    ui.say(say("handoff", "used_up", &context! {}));
                    Ok(Exit::NeedsHuman)
                }
                Handed::Packet { packet, text, wrong, .. } => {
                    if let Some(wrong) = wrong {
                        ui.say(wrong);
                    }
                    ui.say(say(
                        "handoff",
                        "handed_over",
                        &context! { id => &packet.id, place => format!("`{command}`") },
                    ));
                    let waiting = WaitingPacket { id: packet.id.clone(), session };
                    let reply = rescue::ask(&place, &waiting, &command, &text, patience)?;
                    take(&place, &waiting, &reply, ui)
                }
            }
        }
    }
}

fn take(place: &Workplace, waiting: &WaitingPacket, text: &str, ui: &mut Ui) -> Result<Exit> {
    let accepted = match rescue::receive(place, waiting, text)? {
        Ok(accepted) => accepted,
        Err(refusals) => {
            ui.say(say("reply", "refused", &context! { id => &waiting.id }));
            for refusal in refusals {
                ui.say(format_args!("      {refusal}"));
            }
            return Ok(Exit::BadInput);
        }
    };
    let (name, id) = (accepted.reply.name(), &waiting.id);
    ui.say(say("reply", "accepted", &context! { name, id }));
    if let Some(wrong) = &accepted.wrong {
        ui.say(wrong);
    }
    if let Some((text, path)) = &accepted.packet {
        ui.raw(text);
        ui.say(say("handoff", "lies", &context! { path => path.display().to_string() }));
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
