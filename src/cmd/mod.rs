//! One short file for each command of `gate`: it parses its arguments, calls the stages in order, and returns an exit
//! code. The stages do the work.

pub mod appeal;
pub mod assess;
pub mod attest;
pub mod board;
pub mod check;
pub mod ci;
pub mod commit;
pub mod commits;
pub mod completions;
mod consent;
pub mod contract;
pub mod curate;
pub mod decisions;
pub mod doctor;
pub mod escalate;
pub mod eval;
pub mod explain;
pub mod explain_command;
pub mod explain_path;
mod given_line;
pub mod handoff;
pub mod hook;
mod housekeeping;
pub mod import;
#[cfg(feature = "symbols")]
pub mod import_map;
pub mod init;
mod init_ci;
mod init_instructions;
mod init_try;
pub mod judge_words;
pub mod learn;
pub mod log;
pub mod man;
#[cfg(feature = "mcp")]
pub mod mcp;
pub mod metrics;
mod named_tests;
pub mod prompt;
mod prompt_history;
pub mod prove;
pub mod push;
pub mod reflect;
pub mod replay;
pub mod review;
pub mod reward;
pub mod run;
mod run_report;
pub mod schema;
pub mod scope;
mod scopes;
pub mod sessions;
pub mod shell;
pub mod status;
#[cfg(feature = "symbols")]
pub mod symbols;
pub mod unblock;
pub mod uninstall;
pub mod waive;

use std::path::Path;

use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::hook::running_line;
use crate::install::InstallError;
use crate::oid::Oid;
use crate::render;
use crate::render::ui::Ui;
use crate::session::Session;
use crate::verdict::Verdict;

/// The commit that a revision from the command line means; `None` where there is none.
fn named_commit(repo: &Repo, rev: &str) -> Result<Option<Oid>, Failure> {
    repo.named_commit(rev).map_err(Failure::with(Exit::CannotJudge))
}

/// Returns the failure for an error of the installation, with its exit code and remedy.
fn install_failure(error: InstallError) -> Failure {
    let (exit, remedy) = match &error {
        InstallError::NotARepository { .. } => (Exit::Usage, "run it in a git repository, or: git init"),
        InstallError::InsideGitDir { .. } => (Exit::Usage, "run it in the working tree"),
        InstallError::Policy { .. } => (Exit::BadInput, "repair the file and try again"),
        InstallError::Record { .. } => {
            (Exit::BadInput, "remove the file; what it recorded must then be put back by hand")
        }
        InstallError::Changed { .. } => (Exit::CannotJudge, "run the command again"),
        InstallError::Git { .. } | InstallError::Io { .. } => (Exit::CannotJudge, ""),
    };
    Failure::new(exit, error).remedy(remedy)
}

/// Returns the workplace of the current directory, with the session of the agent that started this process.
fn place_of_agent() -> Result<Workplace, Failure> {
    let mut place = Workplace::here()?;
    running_line::link(&mut place);
    Ok(place)
}

/// Prints the command by which a person may decide about what blocks, if a person reads this.
fn offer_decision(verdict: &Verdict, ui: &mut Ui) {
    let is_person = ui.is_read() && Session::current(Path::new(".")).agent.is_none();
    if let Some(offer) = render::verdict::decision_of_person(verdict).filter(|_| is_person) {
        ui.say(offer);
    }
}
