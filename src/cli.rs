//! The command line: all commands and their dispatch.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::cmd;
use crate::collect::CollectError;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::GitError;
use crate::journal::JournalError;
use crate::render::debug_log;
use crate::render::ui::{BAD, Ui, WARN};

mod help;

/// Stands between a coding agent and the words "it is done"
#[derive(Debug, Parser)]
#[command(name = "gate", version, propagate_version = true, max_term_width = 100)]
pub struct Cli {
    /// Print what gate asks git, which policy it reads and what each gate answers
    #[arg(short, long)]
    pub verbose: bool,
    /// The command to run
    #[command(subcommand)]
    pub command: GateCommand,
}

/// The commands of `gate`.
#[derive(Debug, Subcommand)]
pub enum GateCommand {
    /// Check whether the work here is proven
    Check(cmd::check::Args),
    /// Judge a pull request in CI by its target branch's policy
    Ci(cmd::ci::Args),
    /// Run a command, declared or not, and record what it proves
    Run(cmd::run::Args),
    /// Show that the new tests fail without the change
    Prove(cmd::prove::Args),
    /// Run what a push still needs, then push
    Push(cmd::push::Args),
    /// Show what is proven for the commit and the working tree
    Status(cmd::status::Args),
    /// Split the last commit, or the staged changes, by scope
    Commit(cmd::commit::Args),
    /// Check that each commit makes one change: the one it names
    Commits(cmd::commits::Args),
    /// Show runs, verdicts, commits and pushes in order
    Log(cmd::log::Args),
    /// List recorded decisions: ADRs, @RATIONALE and @REJECTED tags
    Decisions(cmd::decisions::Args),
    /// Compare an agent's report on its work with the record
    Assess(cmd::assess::Args),
    /// Have two other models review the change
    Review(cmd::review::Args),
    /// Sign what was proven here so that it counts in CI
    Attest(cmd::attest::Args),
    /// Judge a recorded session, verdict or case again
    Replay(cmd::replay::Args),
    /// Save a wrong verdict as a case that can be judged anywhere
    Appeal(cmd::appeal::Args),
    /// Measure how often gate is right about labelled cases
    Eval(cmd::eval::Args),
    /// List the sessions of coding agents in this repository
    Sessions(cmd::sessions::Args),
    /// Import a session log from elsewhere
    Import(cmd::import::Args),
    /// Check whether a request is clear before the work begins
    Prompt(cmd::prompt::PromptArgs),
    /// List the tasks in a request
    Scope(cmd::scope::ScopeArgs),
    /// Explain a gate or a verdict
    Explain(cmd::explain::Args),
    /// Show which scope a file belongs to, and why
    ExplainPath(cmd::explain_path::Args),
    /// Map a file's imports before a split, and verify the split
    #[cfg(feature = "symbols")]
    ImportMap(cmd::import_map::Args),
    /// Show which functions a change lost, moved or emptied
    #[cfg(feature = "symbols")]
    Symbols(cmd::symbols::Args),
    /// Leave texts for other agents of the repository
    Board(cmd::board::Args),
    /// Begin a task under a contract and check whether it is met
    Contract(cmd::contract::Args),
    /// Show the outcome of a task, and keep what its agent learned
    Reflect(cmd::reflect::Args),
    /// Show metrics of the recorded tasks
    Metrics(cmd::metrics::Args),
    /// Show the reward of a session, term by term
    Reward(cmd::reward::Args),
    /// Compare sessions by their strategies and propose changes
    Learn(cmd::learn::Args),
    /// Propose edits to the memory file from what the record shows
    Curate(cmd::curate::Args),
    /// Print the escalation payload for what is failing
    Escalate(cmd::escalate::Args),
    /// Print a clean packet for whoever takes over
    Handoff(cmd::handoff::Args),
    /// Read the reply to a handoff
    Unblock(cmd::unblock::Args),
    /// Ask the judges of last resort (called by gate itself)
    #[command(hide = true)]
    JudgeWords(cmd::judge_words::Args),
    /// Let one gate pass for the content of one commit, with a reason (people only)
    #[command(hide = true)]
    Waive(cmd::waive::Args),
    /// Set up gate in this repository
    Init(cmd::init::Args),
    /// Remove everything that gate init installed
    Uninstall(cmd::uninstall::Args),
    /// Check that the installation works
    Doctor(cmd::doctor::Args),
    /// Run a hook (called by git, agent clients and shells)
    Hook(cmd::hook::Args),
    /// Print the shell code that records the tests you run yourself
    Shell(cmd::shell::Args),
    /// Serve gate's commands as tools of the Model Context Protocol
    #[cfg(feature = "mcp")]
    Mcp(cmd::mcp::Args),
    /// Print shell completions
    Completions(cmd::completions::Args),
    /// Print or write man pages
    #[command(hide = true)]
    Man(cmd::man::Args),
    /// Print the JSON Schema of a record
    Schema(cmd::schema::Args),
    /// Show what a command line executes and proves
    ExplainCommand(cmd::explain_command::Args),
}

/// `gate hook` alone.
#[derive(Debug, Parser)]
struct HookCommand {
    #[command(flatten)]
    args: cmd::hook::Args,
}

impl Cli {
    /// Parses the call of an installed hook without building all other commands first, since the caller waits. Returns
    /// `None` if it is another command, or if there is something to print about it.
    pub fn of_hook(mut args: impl Iterator<Item = OsString>) -> Option<Self> {
        args.nth(1).filter(|word| word == "hook")?;
        let hook = HookCommand::try_parse_from([OsString::from("gate hook")].into_iter().chain(args)).ok()?;
        Some(Self { verbose: false, command: GateCommand::Hook(hook.args) })
    }

    /// Reads the command line of this process.
    ///
    /// # Errors
    ///
    /// The message that clap prints for a wrong command line, and for `--help` and `--version`.
    pub fn read() -> Result<Self, clap::Error> {
        Self::from_arg_matches(&help::grouped(Self::command()).try_get_matches()?)
    }

    /// Runs the command and prints what it failed with.
    pub fn run(self, ui: &mut Ui) -> ExitCode {
        if let Err(wrong) = debug_log::start(self.verbose, env::var(debug_log::VARIABLE).ok().as_deref()) {
            ui.say(format_args!("{WARN}gate:{WARN:#} {wrong}"));
        }
        let done: anyhow::Result<ExitCode> = match self.command {
            GateCommand::Check(args) => cmd::check::main(&args, ui).map(Into::into),
            GateCommand::Ci(args) => cmd::ci::main(&args, ui).map(Into::into),
            GateCommand::Run(args) => cmd::run::main(&args, ui),
            GateCommand::Prove(args) => cmd::prove::main(&args, ui).map(Into::into),
            GateCommand::Push(args) => cmd::push::main(&args, ui),
            GateCommand::Status(args) => cmd::status::main(&args, ui).map(Into::into),
            GateCommand::Commit(args) => cmd::commit::main(&args, ui).map(Into::into),
            GateCommand::Commits(args) => cmd::commits::main(&args, ui).map(Into::into),
            GateCommand::Log(args) => cmd::log::main(&args, ui).map(Into::into),
            GateCommand::Decisions(args) => cmd::decisions::main(&args, ui).map(Into::into),
            GateCommand::Assess(args) => cmd::assess::main(&args, ui).map(Into::into),
            GateCommand::Review(args) => cmd::review::main(&args, ui).map(Into::into),
            GateCommand::Attest(args) => cmd::attest::main(&args, ui).map(Into::into),
            GateCommand::Replay(args) => cmd::replay::main(&args, ui).map(Into::into),
            GateCommand::Appeal(args) => cmd::appeal::main(&args, ui).map(Into::into),
            GateCommand::Eval(args) => cmd::eval::main(&args, ui).map(Into::into),
            GateCommand::Sessions(args) => cmd::sessions::main(&args, ui).map(Into::into),
            GateCommand::Import(args) => cmd::import::main(&args, ui).map(Into::into),
            GateCommand::Prompt(args) => cmd::prompt::main(&args, ui).map(Into::into),
            GateCommand::Scope(args) => cmd::scope::main(&args, ui).map(Into::into),
            GateCommand::Explain(args) => cmd::explain::main(&args, ui).map(Into::into),
            GateCommand::ExplainPath(args) => cmd::explain_path::main(&args, ui).map(Into::into),
            #[cfg(feature = "symbols")]
            GateCommand::ImportMap(args) => cmd::import_map::main(&args, ui).map(Into::into),
            #[cfg(feature = "symbols")]
            GateCommand::Symbols(args) => cmd::symbols::main(&args, ui).map(Into::into),
            GateCommand::Board(args) => cmd::board::main(&args, ui).map(Into::into),
            GateCommand::Contract(args) => cmd::contract::main(&args, ui).map(Into::into),
            GateCommand::Reflect(args) => cmd::reflect::main(&args, ui).map(Into::into),
            GateCommand::Reward(args) => cmd::reward::main(&args, ui).map(Into::into),
            GateCommand::Learn(args) => cmd::learn::main(&args, ui).map(Into::into),
            GateCommand::Metrics(args) => cmd::metrics::main(&args, ui).map(Into::into),
            GateCommand::Curate(args) => cmd::curate::main(&args, ui).map(Into::into),
            GateCommand::Escalate(args) => cmd::escalate::main(&args, ui).map(Into::into),
            GateCommand::Handoff(args) => cmd::handoff::main(&args, ui).map(Into::into),
            GateCommand::Unblock(args) => cmd::unblock::main(&args, ui).map(Into::into),
            GateCommand::JudgeWords(args) => cmd::judge_words::main(&args).map(Into::into),
            GateCommand::Waive(args) => cmd::waive::main(&args, ui).map(Into::into),
            GateCommand::Init(args) => cmd::init::main(&args, ui).map(Into::into),
            GateCommand::Uninstall(args) => cmd::uninstall::main(&args, ui).map(Into::into),
            GateCommand::Doctor(args) => cmd::doctor::main(&args, ui).map(Into::into),
            GateCommand::Hook(args) => cmd::hook::main(&args, ui),
            GateCommand::Shell(args) => cmd::shell::main(&args, ui).map(Into::into),
            #[cfg(feature = "mcp")]
            GateCommand::Mcp(args) => cmd::mcp::main(&args).map(Into::into),
            GateCommand::Completions(args) => cmd::completions::main(&args, ui).map(Into::into),
            GateCommand::Man(args) => cmd::man::main(&args, ui).map(Into::into),
            GateCommand::Schema(args) => cmd::schema::main(&args, ui).map(Into::into),
            GateCommand::ExplainCommand(args) => cmd::explain_command::main(&args, ui).map(Into::into),
        };
        done.unwrap_or_else(|error| {
            let (exit, remedy) = match error.downcast_ref::<Failure>() {
                Some(failure) => (failure.exit, failure.remedy.as_str()),
                None if is_outside(&error) => (Exit::CannotJudge, ""),
                None => (Exit::Internal, ""),
            };
            ui.say(format_args!("{BAD}gate:{BAD:#} {}", told(&error)));
            for line in remedy.lines() {
                ui.say(format_args!("      {line}"));
            }
            exit.into()
        })
    }
}

/// Returns an error with its causes, each once: some errors contain their cause.
fn told(error: &anyhow::Error) -> String {
    let mut told = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if told.is_empty() {
            told = cause;
        } else if !told.contains(&cause) {
            told = format!("{told}: {cause}");
        }
    }
    told
}

/// Returns `true` if an error comes from the environment, not from the program.
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
    fn a_cause_that_an_error_tells_itself_is_told_once() {
        let source = std::io::Error::other("no room");
        let journal = JournalError::Read { path: "j".into(), source };
        assert_eq!(told(&anyhow::Error::new(journal)), "cannot read j: no room");
        assert_eq!(told(&anyhow::anyhow!("inner").context("outer")), "outer: inner");
    }

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
