//! The folders in which programs of the user keep their files.

use std::env;
use std::path::PathBuf;

/// Returns gate's folder for settings; `None` if the user has no home.
pub fn settings() -> Option<PathBuf> {
    folder("XDG_CONFIG_HOME", ".config")
}

/// Returns gate's folder for what programs remember; `None` if the user has no home.
pub fn state() -> Option<PathBuf> {
    folder("XDG_STATE_HOME", ".local/state")
}

/// Returns a path whose `~` is the home directory.
pub fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), env::home_dir()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(path),
    }
}

fn folder(variable: &str, below_home: &str) -> Option<PathBuf> {
    let set = |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let base = set(variable).filter(|path| path.is_absolute()).or_else(|| Some(set("HOME")?.join(below_home)))?;
    Some(base.join("gate"))
}
