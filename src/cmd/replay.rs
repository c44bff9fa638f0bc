//! `gate replay`: judges again what was recorded.

use std::io::Read;
use std::path::PathBuf;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::render;
use crate::render::ui::Ui;
use crate::replay::{Case, CaseError, answer};

/// Arguments of `gate replay`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A case file (docs/cases.md); `-`: standard input
    #[arg(value_name = "CASE")]
    what: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Runs `gate replay`.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let mut bytes = Vec::new();
    let read = if args.what.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut bytes).map(drop)
    } else {
        std::fs::read(&args.what).map(|read| bytes = read)
    };
    read.map_err(|error| Failure::new(Exit::Usage, format!("{}: {error}", args.what.display())))?;
    let wrong = |error: CaseError| Failure::new(Exit::BadInput, format!("{}: {error}", args.what.display()));
    let case = Case::read(&bytes).map_err(wrong)?;
    let answers = answer(&case).map_err(wrong)?;
    if args.json {
        ui.line(serde_json::to_string_pretty(&answers)?);
    } else {
        ui.raw(render::replay::lines(&case, &answers));
    }
    Ok(Exit::Pass)
}
