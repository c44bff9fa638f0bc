//! The virtual environment of Python in a project's own folder, in which its declared commands run.
//!
//! An agent starts `.venv/bin/pytest` or activates the environment in its own shell; a declared `pytest` needs the same
//! programs. An environment that is active already stays the one that counts.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::git::Repo;
use crate::repo_path::RepoPath;
use crate::tool_folder::environment_names;

/// The variables that are set while an environment is active. Conda sets its own for its base environment, too.
const ACTIVE: [&str; 2] = ["VIRTUAL_ENV", "CONDA_DEFAULT_ENV"];
/// The name of that base environment.
const CONDA_BASE: &str = "base";
/// The folder of its programs.
const PROGRAMS: &str = if cfg!(windows) { "Scripts" } else { "bin" };

/// The environment of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VirtualEnvironment {
    /// Its folder.
    pub folder: PathBuf,
}

impl VirtualEnvironment {
    /// Returns the environment in `dir` of a working tree, or at its root, unless one is active. A folder with files that
    /// git tracks is content of the project, and none.
    pub fn of_project(repo: &Repo, root: &Path, dir: &RepoPath) -> Option<Self> {
        let found = Self::in_folders([root.join(dir.to_os()), root.to_owned()])?;
        let is_tracked = repo.has_tracked_files(&found.folder).unwrap_or(true);
        (!is_tracked).then_some(found)
    }

    /// Returns the first environment in these folders, unless one is active.
    pub fn in_folders(folders: impl IntoIterator<Item = PathBuf>) -> Option<Self> {
        let is_active =
            |name: &&str| std::env::var_os(name).is_some_and(|value| !value.is_empty() && value != CONDA_BASE);
        if ACTIVE.iter().any(is_active) {
            return None;
        }
        let is_one = |folder: &PathBuf| folder.join("pyvenv.cfg").is_file() && folder.join(PROGRAMS).is_dir();
        let mut candidates =
            folders.into_iter().flat_map(|dir| environment_names().iter().map(move |name| dir.join(name)));
        candidates.find(is_one).map(|folder| Self { folder })
    }

    /// Returns the variables with which a command runs in it.
    pub fn variables(&self) -> Vec<(OsString, OsString)> {
        let programs = self.folder.join(PROGRAMS);
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let search = std::iter::once(programs).chain(std::env::split_paths(&inherited));
        let search = std::env::join_paths(search).ok();
        let active = (OsString::from(ACTIVE[0]), self.folder.clone().into_os_string());
        search.into_iter().map(|search| (OsString::from("PATH"), search)).chain([active]).collect()
    }
}
