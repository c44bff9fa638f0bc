//! `gate explain-path`: shows the scope of a file, and the reason.

use std::path::PathBuf;

use crate::cmd::commits::gate_and_yardstick;
use crate::commit::rules::PathRole;
use crate::commit::scopes::ScopeTable;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::render::ui::{DIM, STRONG, Ui};
use crate::repo_path::RepoPath;

/// Arguments of `gate explain-path`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The files; they need not exist
    #[arg(required = true)]
    files: Vec<PathBuf>,
}

/// Prints the scope of each file.
pub fn main(args: &Args, ui: &mut Ui) -> anyhow::Result<Exit> {
    let place = Workplace::here()?;
    // The table that lies here: it is asked about while it is written.
    let (policy, _) = place.policy(None)?;
    let (_, yardstick) = gate_and_yardstick(&policy)?;
    let root = place.repo.root().unwrap_or(place.repo.git_dir()).to_owned();
    let here = std::env::current_dir()?;
    for file in &args.files {
        let whole = here.join(file);
        let inside = whole.strip_prefix(&root).map_or(file.as_path(), |path| path);
        let path = RepoPath::from_os(inside.as_os_str());
        ui.line(explain(&yardstick.table, &yardstick.rules.role(&path), &path));
    }
    Ok(Exit::Pass)
}

fn explain(table: &ScopeTable, role: &PathRole, path: &RepoPath) -> String {
    let mut text = match table.claim(path) {
        Some(claim) => format!("{STRONG}{path}{STRONG:#}: {} (`{}`)", table.name(claim.scope), claim.glob),
        None if table.is_empty() => format!("{STRONG}{path}{STRONG:#}: no scope, because gate.toml has no [scopes]"),
        None => format!("{STRONG}{path}{STRONG:#}: no scope; it goes along with any"),
    };
    let decided = table.claim(path);
    for other in table.all_claims(path).into_iter().filter(|claim| Some(*claim) != decided) {
        let why = if other.glob.starts_with('!') { "leaves it out" } else { "matches as well, less specific or later" };
        text = format!("{text}\n  {DIM}{} (`{}`) {why}{DIM:#}", table.name(other.scope), other.glob);
    }
    let along = match role {
        PathRole::Own if decided.is_some_and(|claim| table.scopes()[claim.scope].goes_along) => {
            Some("its scope goes along with any".to_owned())
        }
        PathRole::Own => None,
        PathRole::Test => Some("a test: it goes along with any scope".to_owned()),
        PathRole::Docs => Some("documentation: it goes along with any scope".to_owned()),
        PathRole::Along(class) => Some(format!("{class}: it goes along with any scope, and its size does not count")),
    };
    for scope in table.shared_with(path) {
        text = format!("{text}\n  goes along with {} (`shared`)", table.name(scope));
    }
    if let Some(along) = along { format!("{text}\n  {along}") } else { text }
}
