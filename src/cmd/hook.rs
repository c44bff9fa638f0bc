//! `gate hook`: the entry point of installed hooks.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use crate::cmd::offer_decision;
use crate::digest::hex_digest;
use crate::doctor::canary_push;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hook::client::{self, Client};
use crate::hook::pre_push::PushAnswer;
use crate::hook::{self, GitHook, typed_line};
use crate::install::{self, Chained};
use crate::model::is_in_model_call;
use crate::render::ui::Ui;
use crate::run::run_itself;
use crate::shell_kind::Shell;
use crate::{check_after_write, render};

/// Arguments of `gate hook`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The caller
    #[command(subcommand)]
    caller: Caller,
}

/// The callers of hooks.
#[derive(Debug, clap::Subcommand)]
enum Caller {
    /// Run a git hook
    Git {
        /// The name of the hook
        name: String,
        /// The arguments of the hook
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<OsString>,
    },
    /// Claude Code
    Claude(ClientHook),
    /// Codex CLI
    Codex(ClientHook),
    /// The plugin for OpenCode
    #[command(name = "opencode")]
    OpenCode(ClientHook),
    /// Gemini CLI
    Gemini(ClientHook),
    /// GitHub Copilot CLI
    Copilot(ClientHook),
    /// Run the checks after a write (started by the hooks of agent clients)
    #[command(hide = true)]
    AfterWrite {
        /// The session
        session: String,
    },
    /// Record a command that was typed in a shell (called by the script from `gate shell`)
    #[command(subcommand)]
    Shell(TypedLineEvent),
}

/// A line that a person typed.
#[derive(Debug, clap::Subcommand)]
enum TypedLineEvent {
    /// A command begins: print the token for its end, or nothing
    Begin {
        /// The shell
        #[arg(long, value_enum)]
        shell: Shell,
        /// The line
        #[arg(long, allow_hyphen_values = true)]
        line: String,
        /// The directory in which it begins, if not the current one
        #[arg(long)]
        dir: Option<PathBuf>,
        /// The process number of the shell
        #[arg(long)]
        process: Option<u32>,
    },
    /// A command ended
    End {
        /// The token that its beginning printed
        token: String,
        /// The exit status
        status: i32,
    },
}

/// A hook of an agent client. The event is on standard input.
#[derive(Debug, clap::Args)]
struct ClientHook {
    /// The client's own name of the event
    event: String,
}

/// Answers a hook.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<ExitCode> {
    match &args.caller {
        Caller::Git { name, args } => hook_git(name, args, ui, judge),
        Caller::Claude(told) => Ok(hook_client(Client::Claude, &told.event, ui)),
        Caller::Codex(told) => Ok(hook_client(Client::Codex, &told.event, ui)),
        Caller::OpenCode(told) => Ok(hook_client(Client::Opencode, &told.event, ui)),
        Caller::Gemini(told) => Ok(hook_client(Client::Gemini, &told.event, ui)),
        Caller::Copilot(told) => Ok(hook_client(Client::Copilot, &told.event, ui)),
        Caller::AfterWrite { session } => {
            check_after_write::main(&std::env::current_dir()?, session)?;
            Ok(ExitCode::SUCCESS)
        }
        Caller::Shell(line) => Ok(hook_shell(line, ui)),
    }
}

/// Answers the shell of a person, whose prompt waits: errors are not printed.
fn hook_shell(line: &TypedLineEvent, ui: &mut Ui) -> ExitCode {
    match line {
        TypedLineEvent::Begin { shell, line, dir, process } => {
            let dir = dir.clone().or_else(|| std::env::current_dir().ok());
            if let Some(token) = dir.and_then(|dir| typed_line::begin(*shell, line.clone(), dir, *process)) {
                ui.line(token);
            }
        }
        TypedLineEvent::End { token, status } => typed_line::end(token.clone(), *status),
    }
    ExitCode::SUCCESS
}

/// Answers an agent client. The client goes on after any error: it takes any other exit code for a refusal, or for
/// noise.
fn hook_client(client: Client, event: &str, ui: &mut Ui) -> ExitCode {
    // The client of a judge: its session is not judged.
    if is_in_model_call() {
        return ExitCode::SUCCESS;
    }
    let mut stdin = Vec::new();
    if !io::stdin().is_terminal()
        && let Err(error) = io::stdin().lock().read_to_end(&mut stdin)
    {
        ui.say(format_args!("gate: the input of the hook cannot be read: {error}"));
        return ExitCode::SUCCESS;
    }
    if let Some(token) = std::env::var_os(canary_push::VARIABLE) {
        ui.line(canary_push::refusal(&token.to_string_lossy()));
        return ExitCode::SUCCESS;
    }
    let reply = client::answer(client, event, &stdin);
    for line in &reply.said {
        ui.say(line);
    }
    if let Some(answer) = reply.answer {
        ui.line(answer);
    }
    ExitCode::SUCCESS
}

/// Reads all of standard input first (git must be able to finish writing), refuses a canary, calls `judge`, and then
/// passes the same arguments and input to the earlier hook, whose refusal counts, too.
pub fn hook_git(
    name: &str,
    args: &[OsString],
    ui: &mut Ui,
    judge: impl FnOnce(&GitHook<'_>, &mut Ui) -> anyhow::Result<Exit>,
) -> anyhow::Result<ExitCode> {
    let mut stdin = Vec::new();
    if !io::stdin().is_terminal() {
        io::stdin().lock().read_to_end(&mut stdin)?;
    }
    if let Some(token) = std::env::var_os(canary_push::VARIABLE) {
        ui.say(canary_push::refusal(&token.to_string_lossy()));
        return Ok(Exit::Blocked.into());
    }
    let exit = judge(&GitHook { name, args, stdin: &stdin }, ui)?;
    if exit != Exit::Pass {
        return Ok(exit.into());
    }
    chain(name, args, &stdin)
}

/// Prints the judgement of a hook on standard error.
fn judge(hook: &GitHook<'_>, ui: &mut Ui) -> anyhow::Result<Exit> {
    match hook.name {
        "pre-push" | "pre-receive" => {
            let mut answer = hook::pre_push::judge(hook, true)?;
            if let PushAnswer::RunFirst(names) = &answer {
                run_first(names, ui)?;
                answer = hook::pre_push::judge(hook, false)?;
            }
            let PushAnswer::Judged(judgement) = answer else { return Ok(Exit::Pass) };
            let record = judgement.written.as_deref();
            ui.say(render::verdict::for_push(&judgement.verdict, record).trim_end());
            offer_decision(&judgement.verdict, ui);
            Ok(judgement.verdict.outcome.exit())
        }
        "commit-msg" => {
            if let Some(refusal) = hook::commit_msg::broken_policy() {
                return Err(refusal.into());
            }
            let judgement = match hook::commit_msg::judge(hook) {
                Ok(Some(judgement)) => judgement,
                Ok(None) => return Ok(Exit::Pass),
                // A commit repairs a policy that cannot be read; what this one misses, its push does not.
                Err(error) => {
                    ui.say(format_args!("gate: this commit could not be judged: {error:#}"));
                    return Ok(Exit::Pass);
                }
            };
            let record = judgement.written.as_deref();
            ui.say(render::verdict::for_push(&judgement.verdict, record).trim_end());
            Ok(judgement.verdict.outcome.exit())
        }
        "post-checkout" => {
            // A working tree that is new is not refused for what gate could not put there.
            if let Err(error) = equip_new_worktree(hook, ui) {
                ui.say(format_args!(
                    "gate: this working tree has no hooks in agent clients: {error:#}; add them: gate init"
                ));
            }
            Ok(Exit::Pass)
        }
        // Installed by hand, or by another version: nothing is asked of them.
        _ => Ok(Exit::Pass),
    }
}

/// Installs the hooks of agent clients in a linked working tree that git has just created: it calls the hook with no
/// commit before.
fn equip_new_worktree(hook: &GitHook<'_>, ui: &mut Ui) -> anyhow::Result<()> {
    let is_new = hook.args.first().is_some_and(|old| old.as_encoded_bytes().iter().all(|byte| *byte == b'0'));
    if !is_new {
        return Ok(());
    }
    let repository = install::InstallTarget::discover(&std::env::current_dir()?)?;
    if repository.git_dir.canonicalize()? == repository.common_dir {
        return Ok(());
    }
    let plan = install::plan_new_worktree(&repository, &std::env::current_exe()?)?;
    install::apply(&repository, &plan)?;
    for note in &plan.notes {
        ui.say(format_args!("gate: {note}"));
    }
    Ok(())
}

/// Runs declared commands while git waits. The judgement that follows decides on their results.
fn run_first(names: &[String], ui: &mut Ui) -> anyhow::Result<()> {
    ui.say(format_args!("gate: the push waits for: gate run {}", names.join(" ")));
    let args: Vec<&str> = std::iter::once("run").chain(names.iter().map(String::as_str)).collect();
    run_itself(&args)
        .map_err(|error| Failure::new(Exit::CannotJudge, format!("gate run could not be started: {error}")))?;
    Ok(())
}

fn chain(name: &str, args: &[OsString], stdin: &[u8]) -> anyhow::Result<ExitCode> {
    let Some(file) = std::env::var_os(install::HOOK_FILE) else { return Ok(ExitCode::SUCCESS) };
    let Chained::Runs(hook) = install::chained(Path::new(&file), name) else { return Ok(ExitCode::SUCCESS) };
    let text = fs::read(&hook).unwrap_or_default();
    if install::is_running(&text, |name| std::env::var_os(name).is_some()) {
        return Ok(ExitCode::SUCCESS);
    }
    let words: Vec<u8> = args.iter().flat_map(|arg| [arg.as_encoded_bytes(), b"\0"].concat()).collect();
    let key = hex_digest(&[name.as_bytes(), &words, stdin]);
    if std::env::var(install::CHAINED).is_ok_and(|running| running == key) {
        return Ok(ExitCode::SUCCESS);
    }
    let status = install::run_chained(&hook, args, stdin, &key).map_err(|error| {
        Failure::new(Exit::CannotJudge, format!("the hook {} could not be run: {error}", hook.display()))
    })?;
    // A hook that died of a signal has no status, and did not agree.
    Ok(status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(u8::try_from(code).unwrap_or(1))))
}
