//! `gate import-map`: maps the imports, exports and internal needs of a file before it is split, and checks that a tree
//! still has all of them.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Repo;
use crate::regular_file;
use crate::render;
use crate::render::ui::Ui;
use crate::repo_path::RepoPath;
use crate::symbols::{self, ImportMap};

/// Arguments of `gate import-map`.
#[derive(Debug, clap::Args)]
#[command(group(clap::ArgGroup::new("what").required(true).args(["file", "verify"])))]
pub struct Args {
    /// The file to read, in any folder
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
    /// Compare the working tree with this map
    #[arg(long, value_name = "MAP")]
    verify: Option<PathBuf>,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Prints a map, or the result of its check.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let here = std::env::current_dir()?;
    let repo = Repo::discover(&here).ok();
    let root = repo.as_ref().and_then(Repo::root).map_or_else(|| here.clone(), Path::to_owned);
    if let Some(file) = &args.verify {
        let map = read_map(file)?;
        let verification = symbols::verify(&map, &files(repo.as_ref(), &root, &map.file)?);
        if args.json {
            ui.json(&verification)?;
        } else {
            render::symbols::verification(&verification, ui);
        }
        return Ok(if verification.verifies { Exit::Pass } else { Exit::Blocked });
    }
    let Some(file) = &args.file else { return Ok(Exit::Usage) };
    let bytes = regular_file::read(file).map_err(|error| unreadable(file, &error))?;
    let real = file.canonicalize().unwrap_or_else(|_| here.join(file));
    let inside = root.canonicalize().ok().and_then(|root| real.strip_prefix(root).map(Path::to_owned).ok());
    let shown = RepoPath::from_os(inside.as_deref().unwrap_or(file).as_os_str()).to_string();
    let map = symbols::import_map(&shown, &bytes).map_err(|why| {
        let what = format!("{shown} has no map: {why}");
        Failure::new(Exit::BadInput, what)
            .remedy("a map is made of Rust, Python, TypeScript, JavaScript, Go and Java that parses")
    })?;
    if args.json {
        ui.json(&map)?;
    } else {
        render::symbols::map(&map, ui);
    }
    Ok(Exit::Pass)
}

fn unreadable(file: &Path, error: &std::io::Error) -> Failure {
    Failure::new(Exit::BadInput, format!("{}: {error}", file.display())).remedy("name a file that is there")
}

fn read_map(file: &Path) -> Result<ImportMap> {
    let text = regular_file::read(file).map_err(|error| unreadable(file, &error))?;
    let map = serde_json::from_slice(&text).map_err(|error| {
        let what = format!("{}:{}: not an import map: {error}", file.display(), error.line());
        Failure::new(Exit::BadInput, what).remedy("gate import-map FILE --json >MAP makes one before the split")
    })?;
    Ok(map)
}

/// Returns the files of the tree in the languages of `like`, or in any language if it has none.
pub(super) fn files(repo: Option<&Repo>, root: &Path, like: &str) -> Result<Vec<(String, Vec<u8>)>> {
    let paths: Vec<RepoPath> =
        if let Some(repo) = repo.filter(|repo| repo.root().is_some()) { repo.work_files()? } else { walked(root) };
    let read = |path: &RepoPath| {
        let shown = path.to_string();
        let file = root.join(path.to_os());
        let plain =
            symbols::counts_for_map(&shown, like) && fs::symlink_metadata(&file).is_ok_and(|data| data.is_file());
        plain.then(|| fs::read(file).ok()).flatten().map(|bytes| (shown, bytes))
    };
    Ok(paths.iter().filter_map(read).collect())
}

/// Returns the files below a folder that is not a repository, without hidden ones.
fn walked(root: &Path) -> Vec<RepoPath> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !hidden && entry.file_name() != "node_modules" => folders.push(path),
                Ok(kind) if kind.is_file() => {
                    found.extend(path.strip_prefix(root).ok().map(|path| RepoPath::from_os(path.as_os_str())));
                }
                _ => {}
            }
        }
    }
    found.sort();
    found
}
