//! Turns paths of a log into paths of the repository.

use std::path::{Component, Path, PathBuf};

use crate::repo_path::RepoPath;

/// The working trees that paths are relative to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots(Vec<PathBuf>);

impl Roots {
    /// Returns the roots of a repository here: all its working trees, so that acts in one of them have the same paths
    /// as in the others.
    pub fn new(roots: impl IntoIterator<Item = PathBuf>) -> Self {
        Self(roots.into_iter().map(|root| plain(&root)).collect())
    }

    /// Returns the roots for a log from another place: paths are relative to the directory the session began in.
    pub const fn of_the_log() -> Self {
        Self(Vec::new())
    }

    /// Returns their paths.
    pub(super) fn paths(&self) -> &[PathBuf] {
        &self.0
    }

    /// Returns `true` if the session's own directory is the root.
    pub(super) fn is_of_the_log(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns `true` if a directory lies inside.
    pub fn contain(&self, dir: &Path) -> bool {
        self.inside(&plain(dir)).is_some()
    }

    /// Returns the path below the innermost of the trees that hold it.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let inner = self.0.iter().filter_map(|root| path.strip_prefix(root).ok());
        inner.min_by_key(|inner| inner.components().count()).map(Path::to_path_buf)
    }

    /// Returns a directory; `None` if it lies outside.
    pub(super) fn dir(&self, dir: &str) -> Option<RepoPath> {
        self.inside(&plain(Path::new(dir))).map(|inner| RepoPath::from_os(inner.as_os_str()))
    }

    /// Returns a file that was named in a directory, unchanged if it lies outside.
    pub(super) fn file(&self, dir: Option<&str>, file: &str) -> RepoPath {
        let dir = dir.unwrap_or_default();
        let path = match (is_of_windows(dir), is_of_windows(file)) {
            (_, true) => plain(Path::new(file)),
            (true, false) => plain(Path::new(&format!("{dir}/{file}"))),
            (false, false) => plain(&Path::new(dir).join(file)),
        };
        let inner = self.inside(&path).filter(|inner| !inner.as_os_str().is_empty());
        RepoPath::from_os(inner.as_deref().unwrap_or(&path).as_os_str())
    }
}

/// Whether a path is absolute where it was written, whatever system this is.
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || is_of_windows(path)
}

/// Whether a path begins with a drive or the name of another machine, as on Windows.
fn is_of_windows(path: &str) -> bool {
    let bytes = path.as_bytes();
    let drive = bytes.first().is_some_and(u8::is_ascii_alphabetic) && bytes.get(1) == Some(&b':');
    drive && matches!(bytes.get(2), None | Some(b'/' | b'\\')) || path.starts_with("\\\\")
}

/// The path without `.`, `..` and doubled slashes; links are not followed. A path of Windows is written with slashes, and its
/// drive in upper case, so that it is found again however it was spelt.
fn plain(path: &Path) -> PathBuf {
    if let Some(text) = path.to_str().filter(|text| is_of_windows(text) && text.contains('\\') || is_lower(text)) {
        let (drive, rest) = text.split_at(1);
        return plain(Path::new(&format!("{}{}", drive.to_ascii_uppercase(), rest).replace('\\', "/")));
    }
    let mut plain = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    plain.push("..");
                }
            }
            component => plain.push(component),
        }
    }
    plain
}

/// Whether the drive of a path of Windows is written in lower case.
fn is_lower(path: &str) -> bool {
    is_of_windows(path) && path.starts_with(|c: char| c.is_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_told_as_in_the_innermost_working_tree() {
        let roots = Roots::new(["/w/main", "/w/main/wt/one", "/w/two/.", r"c:\w\shop"].map(PathBuf::from));
        for (dir, file, expected) in [
            (None, "/w/main/src/a.rs", "src/a.rs"),
            (Some("/w/main"), "src/a.rs", "src/a.rs"),
            (Some("/w/main/web"), "../a.rs", "a.rs"),
            (None, "/w/main/wt/one/a.rs", "a.rs"),
            (None, "/w/two/a.rs", "a.rs"),
            (None, "/w/twofold/a.rs", "/w/twofold/a.rs"),
            (Some("/w/main"), "/etc/x", "/etc/x"),
            (None, "a.rs", "a.rs"),
            (None, r"C:\w\shop\src\a.rs", "src/a.rs"),
            (None, "c:/w/shop/src/a.rs", "src/a.rs"),
            (Some(r"C:\w\shop\web"), r"..\a.rs", "a.rs"),
            (
                Some("/w/main"),
                r"C:\Users\me\.claude\projects\x\memory\note.md",
                "C:/Users/me/.claude/projects/x/memory/note.md",
            ),
        ] {
            assert_eq!(roots.file(dir, file).to_string(), expected);
        }
        for (dir, expected) in [("/w/main", Some("")), ("/w/main/web/", Some("web")), ("/w", None), ("", None)] {
            assert_eq!(roots.dir(dir), expected.map(RepoPath::from), "{dir}");
        }
        assert!(roots.contain(Path::new("/w/two/deep")) && !roots.contain(Path::new("/w")));
    }
}
