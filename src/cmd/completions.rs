//! `gate completions`: shell completions on standard output.

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::render::ui::Ui;

/// Arguments of `gate completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell to complete for
    shell: clap_complete::Shell,
}

/// Prints the completions.
#[expect(clippy::unnecessary_wraps, reason = "all commands return the same")]
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "gate", &mut script);
    ui.raw(String::from_utf8_lossy(&script));
    Ok(Exit::Pass)
}
