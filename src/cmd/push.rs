//! `gate push`: runs the checks for which a push would be refused, then pushes.

use std::ffi::OsString;
use std::process::{ExitCode, ExitStatus};

use anyhow::Result;

use crate::cmd::offer_decision;
use crate::cmd::run::run_declared;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::{PlannedPush, PushOptions, planned_push, push};
use crate::hook::pre_push as judged_push;
use crate::render;
use crate::render::ui::{BAD, Ui};
use crate::verdict::assemble;

/// Arguments of `gate push`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The arguments of `git push`, unchanged
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "GIT PUSH ARGUMENTS")]
    args: Vec<OsString>,
}

/// Runs the missing checks of this push, and pushes if all passed. Returns the status of the first command that failed,
/// else that of git.
pub fn main(args: &Args, ui: &mut Ui) -> Result<ExitCode> {
    let args = &args.args;
    let words: Vec<_> = args.iter().map(|arg| arg.to_string_lossy()).collect();
    let options = PushOptions::of(words.iter().map(AsRef::as_ref));
    if options.no_verify {
        let failure = Failure::new(
            Exit::Usage,
            "`--no-verify` would skip the hook, and gate push does not push without the hook",
        );
        return Err(failure.remedy("push without that option: gate push").into());
    }
    let here = std::env::current_dir()?;
    let place = super::place_of_agent()?;
    let root = place.work_tree()?.to_owned();
    let Some(planned) = planned_push(&here, args)? else { return Ok(finished(push(&here, args)?)) };
    let Some(preview) = judged_push::preview(&place, &planned)? else { return Ok(finished(push(&here, args)?)) };
    let missing = preview.missing_runs(&place)?;
    if options.dry_run {
        for command in &missing {
            ui.say(format_args!("gate: would run {}: {}", command.name, command.run));
        }
        if !missing.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    for command in &missing {
        let code = run_declared(&place, &root, command, preview.policy(), ui);
        if code != ExitCode::SUCCESS {
            ui.say(format_args!("{BAD}gate:{BAD:#} nothing was pushed, because {} did not pass", command.name));
            return Ok(code);
        }
    }
    // The hook of the push judges the same, where it is installed.
    let after = if missing.is_empty() { None } else { judged_push::preview(&place, &planned)? };
    if assemble::blocks(&after.as_ref().unwrap_or(&preview).results) {
        return refuse(&place, &planned, ui);
    }
    Ok(finished(push(&here, args)?))
}

/// Prints why the push is refused, in the words of the hook.
fn refuse(place: &Workplace, planned: &PlannedPush, ui: &mut Ui) -> Result<ExitCode> {
    let Some(judgement) = judged_push::judge_planned(place, planned)? else { return Ok(Exit::Blocked.into()) };
    let record = judgement.written.as_deref();
    ui.say(render::verdict::for_push(&judgement.verdict, record).trim_end());
    offer_decision(&judgement.verdict, ui);
    Ok(judgement.verdict.outcome.exit().into())
}

/// Returns the status of git, or 1 if a signal ended it.
fn finished(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
