//! The virtual environment of Python in a project's own folder, in which its declared commands run.
//!
//! An agent starts `.venv/bin/pytest` or activates the environment in its own shell; a declared `pytest` needs the same
//! programs. An environment that is active already stays the one that counts.

mod editable;
mod origin;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

pub use self::editable::other_tree;
pub use self::origin::DistrustedEnvironment;
use crate::git::Repo;
use crate::repo_path::RepoPath;
use crate::runner::Catalogue;
use crate::tool_folder::environment_names;

/// The variables that are set while an environment is active. Conda sets its own for its base environment, too.
const ACTIVE: [&str; 2] = ["VIRTUAL_ENV", "CONDA_DEFAULT_ENV"];
/// The name of that base environment.
const CONDA_BASE: &str = "base";
/// The folder of its programs.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };
/// The file that makes a folder an environment, and says where its interpreter comes from.
const CONFIGURATION: &str = "pyvenv.cfg";

/// The environment of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualEnvironment {
    /// Its folder.
    pub folder: PathBuf,
}

/// Returns the paths in a line, as they are seen from the folder in which it runs.
fn folders_named(line: &str, dir: &Path) -> Vec<PathBuf> {
    let here = ["$(pwd)", "`pwd`", "${PWD}", "$PWD"].iter().fold(line.to_owned(), |line, here| line.replace(here, "."));
    let is_between = |c: char| c.is_whitespace() || "\"'=:;&|()<>".contains(c);
    here.split(is_between).filter(|word| word.contains('/')).map(|word| dir.join(word)).collect()
}

/// Returns the environment below `root` that a path is in.
fn environment_above(path: &Path, root: &Path) -> Option<PathBuf> {
    /// The environment, the folder of its programs, and a program.
    const LEVELS: usize = 3;
    let path = path.components().filter(|part| *part != Component::CurDir).collect::<PathBuf>();
    let mut above = path.ancestors().take(LEVELS);
    let found = above.find(|folder| folder.starts_with(root) && folder.join(CONFIGURATION).is_file())?;
    Some(found.to_owned())
}

impl VirtualEnvironment {
    /// Returns the environment in `dir` of a working tree, or at its root, unless one is active. A folder with files that
    /// git tracks is content of the project, and none.
    ///
    /// # Errors
    ///
    /// An environment is refused if an edit made it, or if its programs are not those that an installer wrote: `line`
    /// would then run anything.
    pub fn of_project(
        repo: &Repo,
        root: &Path,
        dir: &RepoPath,
        line: &str,
        runners: &Catalogue,
    ) -> Result<Option<Self>, DistrustedEnvironment> {
        let Some(found) = Self::in_folders([root.join(dir.to_os()), root.to_owned()]) else { return Ok(None) };
        if repo.has_tracked_files(&found.folder).unwrap_or(true) {
            return Ok(None);
        }
        let configuration = found.folder.join(CONFIGURATION);
        let marker = configuration.strip_prefix(root).ok().map(|path| RepoPath::from_os(path.as_os_str()));
        if marker.is_some_and(|marker| repo.edited_markers().contains(&marker)) {
            return Err(DistrustedEnvironment::EditedConfiguration(configuration));
        }
        found.check(root, line, runners)?;
        Ok(Some(found))
    }

    /// Returns the environment in a folder that is the root of a checkout, unless one is active or its programs are not
    /// those that an installer wrote.
    pub fn of_checkout(root: &Path, line: &str, runners: &Catalogue) -> Option<Self> {
        Self::in_folders([root.to_owned()]).filter(|found| found.check(root, line, runners).is_ok())
    }

    /// Returns the reason why the programs of an environment in the working tree that a line uses are not to be trusted: it
    /// names the environment (a program in it, its `activate`, a part of `PATH`), or the environment is active. `dir` is
    /// the folder in which the line runs.
    pub fn distrusted(
        repo: &Repo,
        root: &Path,
        dir: &Path,
        line: &str,
        runners: &Catalogue,
    ) -> Option<DistrustedEnvironment> {
        let mut folders = folders_named(line, dir);
        folders.extend(ACTIVE.iter().filter_map(std::env::var_os).map(PathBuf::from));
        let search = std::env::var_os("PATH").unwrap_or_default();
        folders.extend(std::env::split_paths(&search).filter(|path| path.starts_with(root)));
        let folders: BTreeSet<PathBuf> = folders.iter().filter_map(|path| environment_above(path, root)).collect();
        let own = folders.into_iter().filter(|folder| !repo.has_tracked_files(folder).unwrap_or(true));
        own.map(|folder| Self { folder }).find_map(|one| one.check(root, line, runners).err())
    }

    /// Returns the first environment in these folders, unless one is active.
    fn in_folders(folders: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let is_active =
            |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != CONDA_BASE);
        if ACTIVE.iter().any(is_active) {
            return None;
        }
        let is_one = |folder: &PathBuf| folder.join(CONFIGURATION).is_file() && folder.join(PROGRAMS).is_dir();
        let mut candidates =
            folders.into_iter().flat_map(|dir| environment_names().iter().map(move |name| dir.join(name)));
        candidates.find(is_one).map(|folder| Self { folder })
    }

    /// Returns the variables with which a command runs in it.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let search = std::iter::once(self.programs()).chain(std::env::split_paths(&inherited));
        let search = std::env::join_paths(search).ok();
        let active = (OsString::from(ACTIVE[0]), self.folder.clone().into_os_string());
        search.into_iter().map(|search| (OsString::from("PATH"), search)).chain([active]).collect()
    }

    /// Returns the folder of its programs.
    fn programs(&self) -> PathBuf {
        self.folder.join(PROGRAMS)
    }
}
