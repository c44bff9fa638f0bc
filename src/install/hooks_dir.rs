//! The folder for the hooks of a repository, the setting that names it, and the permission to write there.

use std::path::{Path, PathBuf};

use super::{InstallError, InstallTarget};

/// The folder that git takes hooks from.
#[derive(Clone, Debug)]
pub struct HooksDir {
    /// The folder; it need not exist.
    pub path: PathBuf,
    /// The `core.hooksPath` that decides, if one is set.
    pub setting: Option<HooksPathSetting>,
    /// The kind of the place.
    pub place: HooksPlace,
}

/// A `core.hooksPath`.
#[derive(Clone, Debug)]
pub struct HooksPathSetting {
    /// `system`, `global`, `local`, `worktree` or `command`.
    pub scope: String,
    /// The file it is in, as git names it.
    pub origin: String,
    /// The value as written.
    pub value: String,
}

/// The kind of place that the folder of the hooks is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HooksPlace {
    /// Inside the git directory: it belongs to this repository alone.
    GitDir,
    /// Inside the working tree: its files are tracked, or can be.
    WorkTree,
    /// Elsewhere, set by this repository: perhaps shared with others that set the same.
    Elsewhere,
    /// Elsewhere, set for all repositories of the user or the machine: never edited.
    Shared,
    /// No folder at all (`/dev/null`): git runs no hook.
    Disabled,
}

impl HooksDir {
    /// Returns the folder that counts in `repository`.
    pub fn of(repository: &InstallTarget) -> Result<Self, InstallError> {
        let path = repository.hooks_path()?;
        let setting =
            repository.hooks_path_setting().map(|(scope, origin, value)| HooksPathSetting { scope, origin, value });
        let foreign = setting.as_ref().is_some_and(|s| matches!(s.scope.as_str(), "system" | "global"));
        let inside = |outer: &Path| real(&path).starts_with(real(outer));
        let place = if path.exists() && !path.is_dir() {
            HooksPlace::Disabled
        } else if inside(&repository.common_dir) || inside(&repository.git_dir) {
            HooksPlace::GitDir
        } else if repository.root.as_deref().is_some_and(inside) {
            HooksPlace::WorkTree
        } else if foreign {
            HooksPlace::Shared
        } else {
            HooksPlace::Elsewhere
        };
        Ok(Self { path, setting, place })
    }

    /// Returns `core.hooksPath = x (global, file:…)`, or the default place of hooks.
    pub fn describe(&self) -> String {
        match &self.setting {
            Some(HooksPathSetting { scope, origin, value }) => format!("core.hooksPath = {value} ({scope}, {origin})"),
            None => format!("{}", self.path.display()),
        }
    }
}

/// Returns the path without symbolic links, as far as it exists.
pub(super) fn real(path: &Path) -> PathBuf {
    if let Ok(real) = path.canonicalize() {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => real(parent).join(name),
        _ => path.to_owned(),
    }
}
