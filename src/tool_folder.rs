//! Folders that a tool made and fills: environments, installed packages, caches. They are not content.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use crate::embedded;
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_word;

/// A folder that a tool made and fills, such as a virtual environment: untracked, without a tracked file, and not
/// content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ToolFolder {
    /// The path.
    pub path: RepoPath,
    /// The file that identifies it.
    pub marker: RepoPath,
    /// The name for people.
    pub what: String,
    /// `true` if the path is a symbolic link to such a folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub link: bool,
}

impl ToolFolder {
    /// Returns `true` if `path` is in it, or is the link to it.
    pub fn holds(&self, path: &RepoPath) -> bool {
        self.holds_bytes(path.as_bytes())
    }

    /// Returns `true` if a path, as bytes, is in it, or is the link to it.
    pub fn holds_bytes(&self, path: &[u8]) -> bool {
        let rest = path.strip_prefix(self.path.as_bytes());
        rest.is_some_and(|rest| rest.starts_with(b"/") || (self.link || self.is_checkout()) && rest.is_empty())
    }

    /// Returns `true` if it is a submodule or a working tree that git made for this repository.
    pub fn is_checkout(&self) -> bool {
        self.marker.as_bytes().ends_with(b"/.git")
    }

    /// Returns a sentence for people, with the remedy.
    pub fn sentence(&self) -> String {
        let (path, what) = (self.shown(), &self.what);
        if self.is_checkout() {
            return format!("{path} ({what}) is not part of what is judged");
        }
        format!("{path} ({what}) is untracked and not part of what is judged; list it in .gitignore: {}", self.remedy())
    }

    /// Returns the command that makes git ignore it, also if the last line of the file has no end.
    pub fn remedy(&self) -> String {
        format!("printf '\\n%s\\n' {} >> .gitignore", shell_word(&format!("/{}", self.shown())))
    }

    /// Returns the path, with a slash at the end if it is a folder: git's rules with a slash match no links.
    fn shown(&self) -> String {
        if self.link { self.path.to_string() } else { format!("{}/", self.path) }
    }
}

/// The table `gates/tool-folders.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFolderTable {
    dependencies: Vec<String>,
    environments: Vec<String>,
    folder: Vec<ToolFolderKind>,
}

/// One kind of tool folder.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ToolFolderKind {
    pub(crate) name: Option<String>,
    pub(crate) marker: String,
    pub(crate) begins: Option<String>,
    pub(crate) only: Option<String>,
    pub(crate) what: String,
}

impl ToolFolderKind {
    /// Returns `true` if a file at `path` would be the marker of a folder of this kind.
    fn has_marker_at(&self, path: &RepoPath) -> bool {
        let mut parts = path.as_bytes().rsplit(|&byte| byte == b'/');
        let marker_fits = self.marker.rsplit('/').all(|glob| parts.next().is_some_and(|part| fits(glob, part)));
        let folder = parts.next();
        marker_fits && folder.is_some_and(|folder| self.name.as_deref().is_none_or(|name| fits(name, folder)))
    }
}

static TABLE: LazyLock<ToolFolderTable> = LazyLock::new(|| embedded::table("tool-folders.toml"));

/// Returns the kinds of tool folders.
pub(crate) fn shapes() -> &'static [ToolFolderKind] {
    &TABLE.folder
}

/// Returns the names of a project's own virtual environment, the most common first.
pub(crate) fn environment_names() -> &'static [String] {
    &TABLE.environments
}

/// Returns `true` if a file at this path could be the marker of a tool folder.
pub(crate) fn is_marker_path(path: &RepoPath) -> bool {
    shapes().iter().any(|shape| shape.has_marker_at(path))
}

/// Returns `true` if a path lies in a folder of installed packages.
pub(crate) fn is_dependency_path(path: &RepoPath) -> bool {
    let mut folders = path.as_bytes().split(|&byte| byte == b'/');
    folders.next_back();
    folders.any(|folder| TABLE.dependencies.iter().any(|name| name.as_bytes() == folder))
}

/// Returns `true` if `glob`, in which one `*` may stand for any letters, matches `name`.
pub(crate) fn fits(glob: &str, name: &[u8]) -> bool {
    match glob.split_once('*') {
        None => glob.as_bytes() == name,
        Some((start, end)) => {
            name.len() >= start.len() + end.len()
                && name.starts_with(start.as_bytes())
                && name.ends_with(end.as_bytes())
        }
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_marker_lies_at_its_place_in_a_folder_of_its_name() {
        let cases = [
            ("x/pyvenv.cfg", true),
            ("web/node_modules/.package-lock.json", true),
            ("target/surefire-reports/a.xml", true),
            (".gradle/8.5/gc.properties", true),
            ("pyvenv.cfg", false),
            ("README.md", false),
            ("src/a.rs", false),
            ("web/.package-lock.json", false),
            ("target/a.xml", false),
        ];
        for (path, expected) in cases {
            assert_eq!(is_marker_path(&RepoPath::new(path)), expected, "{path}");
        }
    }
}
