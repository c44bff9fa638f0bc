//! The directory in which a line or a command starts, and the files as seen from it.

use crate::repo_path::seen_from;
use crate::runner::{Project, ProjectFiles};
use crate::shell::expanded_program::Leaf;

/// The directory in which a line starts.
#[derive(Clone, Copy)]
pub(super) struct StartDirectory<'a> {
    /// The absolute path of the root of the working tree, if it is known.
    pub(super) root: Option<&'a str>,
    /// The directory, from the root, or an absolute path outside of it.
    pub(super) start: &'a str,
    /// The project, seen from the root of the working tree.
    pub(super) project: Project<'a>,
}

impl StartDirectory<'_> {
    /// Returns a path of this directory, from the root of the working tree, or `None` if it is outside of it or
    /// unknown.
    pub(super) fn inside(&self, path: &str) -> Option<String> {
        path_inside(self.root, self.start, path)
    }
}

/// Returns a path of the directory `start`, from the root of the working tree, or `None` if it is outside of it or
/// unknown.
pub(super) fn path_inside(root: Option<&str>, start: &str, path: &str) -> Option<String> {
    let absolute = match (path.starts_with('/'), start.starts_with('/')) {
        _ if path.starts_with('~') => return None,
        (true, _) if path.contains("/..") => format!("/{}", seen_from("", path.trim_start_matches('/'))?),
        (true, _) => path.to_owned(),
        (false, true) => format!("/{}", seen_from(start, path)?),
        (false, false) => return seen_from(start, path),
    };
    let inner = absolute.strip_prefix(root?.trim_end_matches('/'))?;
    if inner.is_empty() || inner.starts_with('/') { seen_from("", inner) } else { None }
}

/// Returns the directory of a command, from the root of the working tree, or `None` if it is outside of it or unknown.
pub(super) fn directory(leaf: &Leaf, place: StartDirectory<'_>) -> Option<String> {
    let Some(directory) = &leaf.directory else { return place.inside("") };
    if let Some(below) = &directory.from_top {
        // Where it starts elsewhere, another working tree may be meant. An unquoted path with a blank is split.
        let plain = place.root.is_some_and(|root| !root.contains(|c: char| c.is_whitespace() || "*?[".contains(c)));
        return (plain && !place.start.starts_with('/')).then(|| seen_from("", below)).flatten();
    }
    place.inside(directory.path.as_deref()?)
}

/// The files as seen from one directory.
pub(super) struct DirectoryView<'a>(pub(super) StartDirectory<'a>);

impl ProjectFiles for DirectoryView<'_> {
    fn read(&self, path: &str) -> Option<String> {
        self.0.project.files.read(&self.0.inside(path)?)
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        self.0.project.files.names(&self.0.inside(folder)?)
    }
}
