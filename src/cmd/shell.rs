//! `gate shell`: prints the script for a person's own shell.

use crate::exit::Exit;
use crate::install::{SCRIPTED, shell_script};
use crate::render::ui::Ui;
use crate::shell_kind::Shell;

/// Arguments of `gate shell`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell: bash, zsh or fish
    #[arg(value_parser = scripted)]
    shell: Shell,
}

/// Parses the name of a shell that has a script.
pub(super) fn scripted(name: &str) -> Result<Shell, String> {
    let known = SCRIPTED.into_iter().find(|shell| shell.to_string() == name);
    known.ok_or_else(|| "the shells are bash, zsh and fish".to_owned())
}

/// Prints the script.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    ui.raw(shell_script(args.shell, &std::env::current_exe()?).unwrap_or_default());
    Ok(Exit::Pass)
}
