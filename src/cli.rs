//! The command line: every command and where it goes.

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::cmd;
use crate::exit::Exit;
use crate::fact::collect::CollectError;
use crate::failure::Failure;
use crate::git::GitError;
use crate::journal::JournalError;
use crate::render::ui::{BAD, Ui};

/// Stands between a coding agent and the words "it is done"
#[derive(Debug, Parser)]
#[command(name = "gate", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// What to do
    #[command(subcommand)]
    pub command: Command,
}

/// What `gate` can do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Judge what is here before anybody says "done"
    Check(cmd::check::Args),
    /// Judge what a job of a forge was started for, by the policy of the target branch
    Ci(cmd::ci::Args),
    /// Run a declared command, or any, and record what it proves
    Run(cmd::run::Args),
    /// Run what a push is missing, then push: `gate push [git push arguments]`
    Push(cmd::push::Args),
    /// Show what is proven for the commit and for the working tree
    Status(cmd::status::Args),
    /// Split the last commit, or what is staged, by scope
    Commit(cmd::commit::Args),
    /// Judge commits: is each one thing, and the thing it says
    Commits(cmd::commits::Args),
    /// Show what happened, as one timeline
    Log(cmd::log::Args),
    /// List the decisions that were written down: ADRs, @RATIONALE, @REJECTED
    Decisions(cmd::decisions::Args),
    /// Hold what an agent says of its own work against the record
    Assess(cmd::assess::Args),
    /// Sign what was proven here, so that it counts in CI
    Attest(cmd::attest::Args),
    /// Judge again what was recorded
    Replay(cmd::replay::Args),
    /// Write a verdict down as a case that can be kept and judged anywhere
    Appeal(cmd::appeal::Args),
    /// List the sessions that coding agents had here
    Sessions(cmd::sessions::Args),
    /// Take over a session log from elsewhere
    Import(cmd::import::Args),
    /// Say whether a request is clear before the work begins
    Prompt(cmd::prompt::Args),
    /// List the tasks in a request
    Scope(cmd::prompt::Args),
    /// Explain a gate or a verdict
    Explain(cmd::explain::Args),
    /// Say which scope a file belongs to, and why
    ExplainPath(cmd::explain_path::Args),
    /// Map what a file imports, gives and needs before it is split, and verify the split
    #[cfg(feature = "symbols")]
    ImportMap(cmd::import_map::Args),
    /// Say which functions a change lost, moved, renamed or emptied
    #[cfg(feature = "symbols")]
    Symbols(cmd::symbols::Args),
    /// Begin a task under a contract, and check whether it is met
    Contract(cmd::contract::Args),
    /// Print the escalation payload for what is failing now
    Escalate(cmd::escalate::Args),
    /// Make a clean packet for whoever is to find the way out
    Handoff(cmd::handoff::Args),
    /// Take the reply to a handoff
    Unblock(cmd::unblock::Args),
    /// Let one gate pass for one content, with a reason (people only)
    #[command(hide = true)]
    Waive(cmd::waive::Args),
    /// Set up this repository: declare its commands and install the hooks
    Init(cmd::init::Args),
    /// Take out what `gate init` put in
    Uninstall(cmd::uninstall::Args),
    /// Prove that the installation works
    Doctor(cmd::doctor::Args),
    /// What installed hooks call
    Hook(cmd::hook::Args),
    /// Print what your shell runs so that your own runs count: `eval "$(gate shell bash)"`
    Shell(cmd::shell::Args),
    /// Print shell completions
    Completions(cmd::completions::Args),
    /// Print or write man pages
    #[command(hide = true)]
    Man(cmd::man::Args),
    /// Print the JSON Schema of a record
    Schema(cmd::schema::Args),
    /// Show what a command line executes, and what its exit status and output prove
    ExplainCommand(cmd::explain_command::Args),
}

/// `gate hook` alone.
#[derive(Debug, Parser)]
struct Hook {
    #[command(flatten)]
    args: cmd::hook::Args,
}

impl Cli {
    /// The call of an installed hook, read without building every other command first: whoever called waits. `None`: it is
    /// something else, or there is something to say about it.
    pub fn of_hook(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        args.nth(1).filter(|word| word == "hook")?;
        let hook = Hook::try_parse_from([OsString::from("gate hook")].into_iter().chain(args)).ok()?;
        Some(Self { command: Command::Hook(hook.args) })
    }

    /// Runs the command and prints what it failed with.
    pub fn run(self, ui: &mut Ui) -> ExitCode {
        let done: anyhow::Result<ExitCode> = match self.command {
            Command::Check(args) => cmd::check::main(&args, ui).map(Into::into),
            Command::Ci(args) => cmd::ci::main(&args, ui).map(Into::into),
            Command::Run(args) => cmd::run::main(&args, ui),
            Command::Push(args) => cmd::push::main(&args, ui),
            Command::Status(args) => cmd::status::main(&args, ui).map(Into::into),
            Command::Commit(args) => cmd::commit::main(&args, ui).map(Into::into),
            Command::Commits(args) => cmd::commits::main(&args, ui).map(Into::into),
            Command::Log(args) => cmd::log::main(&args, ui).map(Into::into),
            Command::Decisions(args) => cmd::decisions::main(&args, ui).map(Into::into),
            Command::Assess(args) => cmd::assess::main(&args, ui).map(Into::into),
            Command::Attest(args) => cmd::attest::main(&args, ui).map(Into::into),
            Command::Replay(args) => cmd::replay::main(&args, ui).map(Into::into),
            Command::Appeal(args) => cmd::appeal::main(&args, ui).map(Into::into),
            Command::Sessions(args) => cmd::sessions::main(&args, ui).map(Into::into),
            Command::Import(args) => cmd::import::main(&args, ui).map(Into::into),
            Command::Prompt(args) => cmd::prompt::main(&args, ui).map(Into::into),
            Command::Scope(args) => cmd::scope::main(&args, ui).map(Into::into),
            Command::Explain(args) => cmd::explain::main(&args, ui).map(Into::into),
            Command::ExplainPath(args) => cmd::explain_path::main(&args, ui).map(Into::into),
            #[cfg(feature = "symbols")]
            Command::ImportMap(args) => cmd::import_map::main(&args, ui).map(Into::into),
            #[cfg(feature = "symbols")]
            Command::Symbols(args) => cmd::symbols::main(&args, ui).map(Into::into),
            Command::Contract(args) => cmd::contract::main(&args, ui).map(Into::into),
            Command::Escalate(args) => cmd::escalate::main(&args, ui).map(Into::into),
            Command::Handoff(args) => cmd::handoff::main(&args, ui).map(Into::into),
            Command::Unblock(args) => cmd::unblock::main(&args, ui).map(Into::into),
            Command::Waive(args) => cmd::waive::main(&args, ui).map(Into::into),
            Command::Init(args) => cmd::init::main(&args, ui).map(Into::into),
            Command::Uninstall(args) => cmd::uninstall::main(&args, ui).map(Into::into),
            Command::Doctor(args) => cmd::doctor::main(&args, ui).map(Into::into),
            Command::Hook(args) => cmd::hook::main(&args, ui),
            Command::Shell(args) => cmd::shell::main(&args, ui).map(Into::into),
            Command::Completions(args) => cmd::completions::main(&args, ui).map(Into::into),
            Command::Man(args) => cmd::man::main(&args, ui).map(Into::into),
            Command::Schema(args) => cmd::schema::main(&args, ui).map(Into::into),
            Command::ExplainCommand(args) => cmd::explain_command::main(&args, ui).map(Into::into),
        };
        done.unwrap_or_else(|error| {
            let (exit, remedy) = match error.downcast_ref::<Failure>() {
                Some(failure) => (failure.exit, failure.remedy.as_str()),
                None if is_outside(&error) => (Exit::CannotJudge, ""),
                None => (Exit::Internal, ""),
            };
            ui.say(format_args!("{BAD}gate:{BAD:#} {error:#}"));
            for line in remedy.lines() {
                ui.say(format_args!("      {line}"));
            }
            exit.into()
        })
    }
}

/// Whether an error is about what lies around the program, so that it is not its own fault.
fn is_outside(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<GitError>()
            || cause.is::<JournalError>()
            || cause.is::<CollectError>()
            || cause.is::<std::io::Error>()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hook_is_read_alone_as_it_is_among_all_commands() {
        for (line, is_hook) in [
            ("gate hook claude PreToolUse", true),
            ("gate hook git pre-push origin https://example.com/x", true),
            ("gate hook git commit-msg -- --odd", true),
            ("gate hook", false),
            ("gate hook shell begin --shell zsh --dir /work --line=-x", true),
            ("gate hook shell end token 148", true),
            ("gate hook nobody Stop", false),
            ("gate hook claude --help", false),
            ("gate check", false),
            ("gate", false),
        ] {
            let words = || line.split(' ').map(OsString::from);
            let alone = Cli::of_hook(words());
            assert_eq!(alone.is_some(), is_hook, "{line}");
            if let Some(alone) = alone {
                assert_eq!(format!("{alone:?}"), format!("{:?}", Cli::parse_from(words())), "{line}");
            }
        }
    }
}
