//! Objects in a build folder that are older than their sources, for a runner that builds nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::file_times::{TICK, times};
use crate::repo_path::RepoPath;
use crate::shell_quote::shell_word;

/// The file at the top of a build folder of `cmake`.
const CACHE: &str = "CMakeCache.txt";
/// The extensions of objects.
const OBJECTS: [&str; 2] = ["o", "obj"];
/// The depth, below the root, at which build folders are looked for: `build`, `build/debug`.
const MAX_DEPTH: usize = 2;
/// The largest number of entries of build folders that are looked at.
const MAX_ENTRIES: usize = 50_000;

/// Returns the sentence about a changed source whose objects in a build folder are all older. `cmake` names an object after its
/// source: `CMakeFiles/t.dir/src/calc.c.o`.
pub(super) fn stale_object(root: &Path, sources: &BTreeSet<&RepoPath>, again: &str) -> Option<String> {
    let mut left = MAX_ENTRIES;
    for build in build_folders(root) {
        let mut objects = BTreeMap::new();
        collect_objects(&root.join(&build), &mut objects, &mut left);
        let is_old = |source: &&&RepoPath| {
            let name = source.to_os().file_name().map(|name| name.to_string_lossy().into_owned());
            let built = name.and_then(|name| objects.get(&name));
            let edited = times(&root.join(source.to_os())).map(|times| times.modified);
            built.zip(edited).is_some_and(|(built, edited)| built + TICK < edited)
        };
        if let Some(source) = sources.iter().find(is_old) {
            let build = build.to_string_lossy();
            return Some(format!(
                "what was built from {source} in {build} is older than that file: cmake --build {}{again}",
                shell_word(&build)
            ));
        }
    }
    None
}

/// Returns the build folders in a working tree, from its root.
pub(super) fn build_folders(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut level = vec![PathBuf::new()];
    for _ in 0..MAX_DEPTH {
        let below: Vec<PathBuf> = level.iter().flat_map(|folder| folders_in(root, folder)).collect();
        found.extend(below.iter().filter(|folder| root.join(folder).join(CACHE).is_file()).cloned());
        level = below;
    }
    found
}

fn folders_in(root: &Path, folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    folders.map(|entry| folder.join(entry.file_name())).filter(|folder| !folder.ends_with(".git")).collect()
}

/// Notes when the newest object of each source was written, by the name of the source.
fn collect_objects(folder: &Path, objects: &mut BTreeMap<String, i128>, left: &mut usize) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let Some(rest) = left.checked_sub(1) else { return };
        *left = rest;
        let path = entry.path();
        let is_object = path.extension().is_some_and(|end| OBJECTS.iter().any(|known| end == *known));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect_objects(&path, objects, left),
            Ok(kind) if kind.is_file() && is_object => {
                let source = path.file_stem().map(|name| name.to_string_lossy().into_owned());
                let built = times(&path).map(|times| times.changed);
                if let Some((source, built)) = source.zip(built) {
                    objects.entry(source).and_modify(|newest| *newest = built.max(*newest)).or_insert(built);
                }
            }
            _ => {}
        }
    }
}
