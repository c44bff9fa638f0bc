//! The working trees of a repository.

use std::fs;
use std::path::{Path, PathBuf};

use super::Repo;

impl Repo {
    /// Returns the roots of all working trees that git knows of, the current one first, including those that were
    /// deleted.
    pub fn work_trees(&self) -> Vec<PathBuf> {
        let mut roots: Vec<PathBuf> = self.root().map(Path::to_path_buf).into_iter().collect();
        let mut add = |root: Option<&Path>| {
            if let Some(root) = root.filter(|root| !roots.iter().any(|known| known == root)) {
                roots.push(root.to_path_buf());
            }
        };
        let common = self.common_dir();
        // The first one has no entry: it is around the git directory, where that has the usual name.
        add(common.parent().filter(|_| common.ends_with(".git")));
        for entry in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
            let Ok(gitdir) = fs::read_to_string(entry.path().join("gitdir")) else { continue };
            // Relative with `worktree.useRelativePaths`.
            let link = entry.path().join(gitdir.trim_end_matches('\n'));
            let root = link.parent().map(|root| root.canonicalize().unwrap_or_else(|_| root.to_path_buf()));
            add(root.as_deref());
        }
        roots
    }
}
