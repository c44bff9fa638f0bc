//! `gate doctor`: proves that the installation works, or says what does not.

use crate::cmd::install_failure;
use crate::doctor::{Check, Health, Source, examine};
use crate::exit::Exit;
use crate::install::Repository;
use crate::render;
use crate::render::ui::Ui;

/// Arguments of `gate doctor`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Examines the repository of the current directory. Exits with 10 when something is broken.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let repository = Repository::discover(&std::env::current_dir()?).map_err(install_failure)?;
    let checks = examine(&repository, sources(&repository));
    if args.json {
        render::doctor::json(&checks, ui);
    } else {
        render::doctor::text(&checks, ui);
    }
    Ok(if Health::worst(&checks) == Health::Broken { Exit::Blocked } else { Exit::Pass })
}

/// What other parts of the program have checked here.
fn sources(repository: &Repository) -> Vec<Source<'_>> {
    vec![Box::new(|| policy(repository))]
}

fn policy(repository: &Repository) -> Vec<Check> {
    let Some(root) = &repository.root else { return Vec::new() };
    let path = root.join("gate.toml");
    vec![if path.exists() {
        Check::ok("policy", path.display().to_string())
    } else {
        Check::warn("policy", "there is no gate.toml: the defaults apply", "gate init")
    }]
}
