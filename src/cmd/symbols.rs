//! `gate symbols`: compares the functions of two states of the repository.

use anyhow::Result;

use crate::cmd::named_commit;
use crate::collect::changed_files::FilesOf;
use crate::collect::functions;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::oid::Oid;
use crate::render;
use crate::render::ui::Ui;
use crate::symbols::Preservation;

/// Arguments of `gate symbols`.
#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(subcommand)]
    what: SymbolsInput,
}

#[derive(Debug, clap::Subcommand)]
enum SymbolsInput {
    /// Show which functions were lost, moved, renamed or emptied
    Diff(DiffArgs),
}

#[derive(Debug, clap::Args)]
struct DiffArgs {
    /// The commit or tree to start from
    #[arg(value_name = "BASE")]
    base: String,
    /// The commit or tree to compare with it; without it, the working tree
    #[arg(value_name = "HEAD")]
    head: Option<String>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Compares, prints, and blocks if a function is lost.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let SymbolsInput::Diff(args) = &args.what;
    let place = Workplace::here()?;
    let repo = &place.repo;
    let base = revision(repo, &args.base)?;
    let diff = if let Some(head) = &args.head {
        functions::function_diff(repo, &base, FilesOf::Tree(&revision(repo, head)?))?
    } else {
        repo.work_tree().map_err(|error| {
            Failure::new(Exit::Usage, error).remedy("gate symbols diff BASE HEAD compares two revisions anywhere")
        })?;
        functions::function_diff(repo, &base, FilesOf::WorkTree(&repo.snapshot()?))?
    };
    if args.json {
        ui.json(&diff)?;
    } else {
        render::symbols::functions(&diff, ui);
    }
    Ok(match diff.verdict {
        Preservation::Preserved => Exit::Pass,
        Preservation::Lost => Exit::Blocked,
        Preservation::NeedsYes => Exit::NeedsHuman,
    })
}

/// Returns the commit or tree that a word names.
pub(super) fn revision(repo: &Repo, word: &str) -> Result<Oid> {
    if let Some(commit) = named_commit(repo, word)? {
        return Ok(commit);
    }
    let tree = word.parse::<Oid>().ok().and_then(|oid| repo.tree_of(&oid).ok());
    tree.ok_or_else(|| {
        let what = format!("`{}` is not a commit or tree of this repository", word.escape_debug());
        Failure::new(Exit::Usage, what).remedy("git log --oneline shows the commits that are here").into()
    })
}
