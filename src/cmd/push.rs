//! `gate push`: run what a push would be refused for, then push.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::process::{ExitCode, ExitStatus};

use anyhow::Result;

use crate::cmd::run::run_declared;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::gates::finding::{Effect, GateResult};
use crate::git::{PlannedPush, planned_push, push};
use crate::hook::push::{self as judged_push, PushPreview};
use crate::policy::Command;
use crate::render;
use crate::render::ui::{BAD, Ui};
use crate::repo_path::RepoPath;

/// The paths that a message names.
const MAX_PATHS: usize = 3;

/// Arguments of `gate push`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The arguments of `git push`, as they are
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "GIT PUSH ARGUMENTS")]
    args: Vec<OsString>,
}

/// Runs what is missing for this push, and pushes when everything passed. Returns the status of the first command that
/// failed, else that of git.
pub fn main(args: &Args, ui: &mut Ui) -> Result<ExitCode> {
    let args = &args.args;
    if args.iter().any(|arg| arg == "--no-verify") {
        let failure = Failure::new(Exit::Usage, "gate push judges the push, and `--no-verify` would leave that out");
        return Err(failure.remedy("push without it: gate push").into());
    }
    let here = std::env::current_dir()?;
    let place = Workplace::here()?;
    let root = place.work_tree()?.to_owned();
    let Some(planned) = planned_push(&here, args)? else { return Ok(finished(push(&here, args)?)) };
    let Some(preview) = judged_push::preview(&place, &planned)? else { return Ok(finished(push(&here, args)?)) };
    let missing = missing(&place, &preview)?;
    if args.iter().any(|arg| arg == "--dry-run" || arg == "-n") {
        for command in &missing {
            ui.say(format_args!("gate: would run {}: {}", command.name, command.run));
        }
        if !missing.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    for command in &missing {
        let code = run_declared(&place, &root, command, &preview.policy, ui);
        if code != ExitCode::SUCCESS {
            ui.say(format_args!("{BAD}gate:{BAD:#} nothing was pushed, because {} did not pass", command.name));
            return Ok(code);
        }
    }
    // The hook of the push judges the same, where it is installed.
    let after = if missing.is_empty() { None } else { judged_push::preview(&place, &planned)? };
    if refuses(after.as_ref().unwrap_or(&preview)) {
        return refuse(&place, &planned, ui);
    }
    Ok(finished(push(&here, args)?))
}

fn refuses(preview: &PushPreview) -> bool {
    preview.results.iter().any(|result| result.effect() >= Effect::CannotJudge)
}

/// Says why the push is refused, in the words of the hook.
fn refuse(place: &Workplace, planned: &PlannedPush, ui: &mut Ui) -> Result<ExitCode> {
    let Some(judgement) = judged_push::refuse(place, planned)? else { return Ok(Exit::Blocked.into()) };
    let record = judgement.written.as_ref().map(|written| written.record.as_path());
    ui.say(render::verdict::for_push(&judgement.verdict, record).trim_end());
    Ok(judgement.verdict.outcome.exit().into())
}

/// The declared commands that would clear what refuses the push; none where something refuses it that no command clears.
/// Fails where a run would prove something else than what is pushed.
fn missing<'p>(place: &Workplace, preview: &'p PushPreview) -> Result<Vec<&'p Command>> {
    let refusing = preview.results.iter().filter(|result| result.effect() >= Effect::CannotJudge);
    let findings: Vec<_> = refusing.flat_map(GateResult::decisive).collect();
    if findings.iter().any(|finding| finding.command.is_none()) {
        return Ok(Vec::new());
    }
    let names: BTreeSet<&str> = findings.iter().filter_map(|finding| finding.command.as_deref()).collect();
    let commands: Vec<&Command> =
        preview.policy.commands.iter().filter(|command| names.contains(command.name.as_str())).collect();
    let subjects: BTreeSet<&str> = findings.iter().map(|finding| finding.subject.as_str()).collect();
    let head = place.repo.head()?.commit;
    for (name, commit) in preview.commits.iter().filter(|(name, _)| subjects.contains(name.as_str())) {
        if commit.as_ref() != head.as_ref() {
            let what = format!("{name} is not proven and is not what is checked out, so a run here would not prove it");
            return Err(Failure::new(Exit::Blocked, what).remedy("git switch to it, then: gate push").into());
        }
    }
    if !commands.is_empty() {
        refuse_uncommitted(place, &commands)?;
    }
    Ok(commands)
}

/// A run counts for the content it saw: what is not committed would make it prove something else.
fn refuse_uncommitted(place: &Workplace, commands: &[&Command]) -> Result<()> {
    let snapshot = place.repo.look()?.snapshot;
    let counts = |path: &RepoPath| commands.iter().any(|command| command.inputs.matches(path));
    let dirty: Vec<_> = snapshot.dirty.iter().filter(|dirty| counts(&dirty.path)).collect();
    let Some(first) = dirty.first() else { return Ok(()) };
    let shown: Vec<String> = dirty.iter().take(MAX_PATHS).map(|dirty| dirty.path.to_string()).collect();
    let more = if dirty.len() > MAX_PATHS { format!(" and {} more", dirty.len() - MAX_PATHS) } else { String::new() };
    let verb = if dirty.len() == 1 { "is" } else { "are" };
    let shown = shown.join(", ");
    let what = format!("{shown}{more} {verb} not committed, so a run would not prove what is pushed");
    let untracked = dirty.iter().all(|dirty| dirty.presence == crate::snapshot::Presence::Untracked);
    let remedy = if untracked {
        format!("commit what belongs to the push, or list the rest in .gitignore (for example {})", first.path)
    } else {
        "commit what belongs to the push, or put it aside: git stash; then: gate push".to_owned()
    };
    Err(Failure::new(Exit::Blocked, what).remedy(remedy).into())
}

/// The status of git; 1 where a signal ended it.
fn finished(status: ExitStatus) -> ExitCode {
    ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
