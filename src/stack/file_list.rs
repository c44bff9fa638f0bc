//! A listing of the files of a repository, and the content of the few that matter.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::PathBuf;

use crate::repo_path::seen_from;

/// The largest depth of manifests, in folders.
const MAX_DEPTH: usize = 4;

/// No manifest is longer than this, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// Folders whose manifests belong to somebody else, or are data of tests.
const FOREIGN: [&str; 28] = [
    "node_modules", "vendor", "third_party", "third-party", "external", "fixtures", "__fixtures__", "testdata",
    "test-data", "test", "tests", "__tests__", "spec", "e2e", "example", "examples", "samples", "template",
    "templates", "benches", "demo", "demos", "playground", "playgrounds", "sandbox", "tutorial", "tutorials",
    "exercises",
];

/// What an app for several platforms keeps in a folder for each: the app's own tool builds them.
const PLATFORMS: [&str; 6] = ["android", "ios", "linux", "macos", "windows", "web"];

/// The files of a repository: tracked ones, and untracked ones that are not ignored.
pub struct Files {
    paths: BTreeSet<String>,
    source: ListingSource,
}

enum ListingSource {
    Disk(PathBuf),
    Memory(BTreeMap<String, String>),
}

impl Files {
    /// Returns the files `paths` below `root`, relative to it, `/` between components.
    pub fn on_disk(root: PathBuf, paths: impl IntoIterator<Item = String>) -> Self {
        Self { paths: paths.into_iter().collect(), source: ListingSource::Disk(root) }
    }

    /// Returns files with their content, for decisions about a repository that is not on disk.
    pub fn in_memory<'a>(files: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let files: BTreeMap<_, _> = files.into_iter().map(|(path, text)| (path.to_owned(), text.to_owned())).collect();
        Self { paths: files.keys().cloned().collect(), source: ListingSource::Memory(files) }
    }

    /// Returns `true` if the file exists.
    pub(super) fn has(&self, path: &str) -> bool {
        self.paths.contains(path)
    }

    /// Returns the text of a file; empty if it is missing, unreadable or far too long for a manifest.
    pub(super) fn text(&self, path: &str) -> String {
        if !self.has(path) {
            return String::new();
        }
        match &self.source {
            ListingSource::Memory(files) => files.get(path).cloned().unwrap_or_default(),
            ListingSource::Disk(root) => {
                let path = root.join(path);
                let regular = std::fs::metadata(&path).is_ok_and(|meta| meta.is_file() && meta.len() <= MAX_BYTES);
                let mut bytes = Vec::new();
                let read = regular
                    && std::fs::File::open(&path)
                        .is_ok_and(|file| file.take(MAX_BYTES).read_to_end(&mut bytes).is_ok());
                if read { String::from_utf8_lossy(&bytes).into_owned() } else { String::new() }
            }
        }
    }

    /// Returns the files below a folder (all, for the root), relative to the root.
    pub(super) fn below<'a>(&'a self, dir: &str) -> impl Iterator<Item = &'a str> {
        let prefix = prefix(dir);
        self.paths.range(prefix.clone()..).take_while(move |path| path.starts_with(&prefix)).map(String::as_str)
    }

    /// Returns the folders that hold a file of this name (`*.sln`: of this ending), outermost first, without those of
    /// somebody else.
    pub(super) fn folders_with(&self, name: &str) -> Vec<String> {
        let mut folders: Vec<String> = Vec::new();
        for path in &self.paths {
            let (dir, file) = path.rsplit_once('/').unwrap_or(("", path));
            let fits = name.strip_prefix('*').map_or(file == name, |ending| file.ends_with(ending));
            let ours = dir.split('/').count() <= MAX_DEPTH && dir.split('/').all(is_ours) && !self.is_platform(dir);
            if fits && ours && folders.iter().all(|folder| folder != dir) {
                folders.push(dir.to_owned());
            }
        }
        folders.sort_by_key(|dir| (depth(dir), dir.clone()));
        folders
    }

    /// Whether the folder is that of one platform, in an app of Flutter or React Native.
    fn is_platform(&self, dir: &str) -> bool {
        let parts: Vec<&str> = dir.split('/').collect();
        parts.iter().enumerate().filter(|(_, part)| PLATFORMS.contains(part)).any(|(at, _)| {
            let app = parts[..at].join("/");
            self.has(&join(&app, "pubspec.yaml")) || self.text(&join(&app, "package.json")).contains("\"react-native\"")
        })
    }
}

/// Whether a folder of this name may hold a part of the project itself. Tools pass over names with a `.` or a `_` in front.
fn is_ours(name: &str) -> bool {
    !FOREIGN.contains(&name) && (name == "." || !name.starts_with(['.', '_']))
}

/// Returns `dir/`, or nothing for the root.
pub(super) fn prefix(dir: &str) -> String {
    if dir.is_empty() { String::new() } else { format!("{dir}/") }
}

/// Returns `dir/name`, or `name` at the root.
pub(super) fn join(dir: &str, name: &str) -> String {
    format!("{}{name}", prefix(dir))
}

/// Returns `true` if `dir` is `outer` or lies below it.
pub(super) fn within(dir: &str, outer: &str) -> bool {
    outer.is_empty() || dir == outer || dir.starts_with(&prefix(outer))
}

/// Returns the depth of a folder: 0 for the root.
pub(super) fn depth(dir: &str) -> usize {
    if dir.is_empty() { 0 } else { dir.split('/').count() }
}

/// Returns `path`, seen from `dir`, as a path from the root; `None` if it leaves the repository or is absolute.
pub(super) fn resolve(dir: &str, path: &str) -> Option<String> {
    if path.starts_with('/') { None } else { seen_from(dir, path) }
}

/// Returns `to`, as a manifest in `from` would write it.
pub(super) fn relative(from: &str, to: &str) -> String {
    let split = |dir: &str| dir.split('/').filter(|part| !part.is_empty()).map(ToOwned::to_owned).collect::<Vec<_>>();
    let (from, to) = (split(from), split(to));
    let common = from.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..".to_owned(), from.len() - common);
    up.chain(to[common..].iter().cloned()).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_others_and_deep_ones_are_left_out() {
        let names = [
            "go.mod", "b/go.mod", "a/go.mod", "a/vendor/x/go.mod", "tests/p/go.mod", "_examples/p/go.mod",
            "app/pubspec.yaml", "app/linux/go.mod", ".hidden/go.mod", "1/2/3/4/go.mod", "1/2/3/4/5/go.mod",
        ];
        let files = Files::in_memory(names.map(|name| (name, "")));
        assert_eq!(files.folders_with("go.mod"), ["", "a", "b", "1/2/3/4"]);
        assert_eq!(files.folders_with("*.mod").len(), 4);
    }

    #[test]
    fn paths_resolve_inside_the_repository_only() {
        for (dir, path, expected) in [
            ("a/b", "../c", Some("a/c")),
            ("", "./a//b/", Some("a/b")),
            ("a", "..", Some("")),
            ("a", "../../x", None),
            ("a", "/x", None),
        ] {
            assert_eq!(resolve(dir, path).as_deref(), expected, "{dir} {path}");
        }
    }
}
