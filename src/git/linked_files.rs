//! Tracked entries that stand for what lies elsewhere: links to files that no commit holds, and repositories of their own
//! that nobody else can fetch.

use std::fs;
use std::path::{Path, PathBuf};

use super::leftover_files::{is_code, is_made};
use crate::local_file::{LocalCause, LocalFile, is_collected, is_data};
use crate::regular_file;
use crate::repo_path::RepoPath;

/// The links, among these, to folders and to files that look needed, outside of the repository or ignored in it.
/// `ignored`: what git ignores, folders with a slash at their end.
pub(super) fn links_elsewhere(root: &Path, links: &[RepoPath], ignored: &[Vec<u8>]) -> Vec<LocalFile> {
    if links.is_empty() {
        return Vec::new();
    }
    let Ok(root) = root.canonicalize() else { return Vec::new() };
    let is_elsewhere = |path: &&RepoPath| target(&root, path).is_some_and(|target| !is_held(&root, &target, ignored));
    let named = |path: &RepoPath| LocalFile { path: path.clone(), cause: LocalCause::Linked };
    links.iter().filter(is_elsewhere).map(named).collect()
}

/// What a link leads to, if that is there and looks needed.
fn target(root: &Path, link: &RepoPath) -> Option<PathBuf> {
    let link_path = root.join(link.to_os());
    fs::symlink_metadata(&link_path).ok().filter(fs::Metadata::is_symlink)?;
    let target = link_path.canonicalize().ok()?;
    let looks_needed = |path: &RepoPath| is_code(path) || is_collected(path) || is_data(path);
    let own = RepoPath::from_os(target.as_os_str());
    let needed = target.is_dir() || target.is_file() && (looks_needed(link) || looks_needed(&own));
    needed.then_some(target)
}

/// Returns `true` if commits hold a file or folder of the working tree, or a tool makes it.
fn is_held(root: &Path, target: &Path, ignored: &[Vec<u8>]) -> bool {
    let Ok(inner) = target.strip_prefix(root) else { return false };
    let path = RepoPath::from_os(inner.as_os_str());
    let folder = RepoPath::new([path.as_bytes(), b"/"].concat());
    let is_ignored = |rule: &Vec<u8>| {
        rule == path.as_bytes() || rule.ends_with(b"/") && folder.as_bytes().starts_with(rule.as_slice())
    };
    is_made(&folder) || !inner.starts_with(".git") && !ignored.iter().any(is_ignored)
}

/// The repositories, among the commits that the index holds, that are here and that `.gitmodules` does not name.
pub(super) fn unnamed_repositories(root: &Path, submodules: &[RepoPath]) -> Vec<LocalFile> {
    if submodules.is_empty() {
        return Vec::new();
    }
    let modules = regular_file::read_text(&root.join(".gitmodules")).unwrap_or_default();
    let paths = modules.lines().filter_map(|line| line.split_once('=')).filter(|(key, _)| key.trim() == "path");
    let named: Vec<RepoPath> = paths.map(|(_, path)| RepoPath::from(path.trim().trim_matches('"'))).collect();
    let is_here = |path: &&RepoPath| root.join(path.to_os()).join(".git").exists() && !named.contains(path);
    let of = |path: &RepoPath| LocalFile { path: path.clone(), cause: LocalCause::Unnamed };
    submodules.iter().filter(is_here).map(of).collect()
}

/// Returns `true` if names that differ in their case alone are names of different files here.
pub(super) fn tells_cases_apart(root: &Path) -> bool {
    root.join(".git").exists() && !root.join(".GIT").exists()
}
