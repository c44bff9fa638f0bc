//! `gate man`: prints man pages, made from the same definitions as the help.

use std::fs;
use std::path::PathBuf;

use clap::CommandFactory;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::render::ui::Ui;

/// Arguments of `gate man`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Write a page for each command to this folder, instead of printing the page of `gate`
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

/// Prints or writes the pages.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    match &args.dir {
        Some(dir) => {
            let failed = Failure::of_file(Exit::BadInput, dir);
            fs::create_dir_all(dir).map_err(&failed)?;
            clap_mangen::generate_to(Cli::command(), dir).map_err(&failed)?;
        }
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(Cli::command()).render(&mut page)?;
            ui.raw(String::from_utf8_lossy(&page));
        }
    }
    Ok(Exit::Pass)
}
