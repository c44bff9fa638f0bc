//! Tracked files that a tool rewrites while it runs something else.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::repo_path::RepoPath;

/// Files that one tool rewrites.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RewrittenFile {
    names: Vec<String>,
    pub tool: String,
    /// `true` if people write it as well: a change may be theirs.
    #[serde(default)]
    pub manifest: bool,
    /// The manifest that commands of the tool change.
    declared_in: Option<String>,
    /// The setting that keeps it from writing the file.
    pub keep: String,
}

impl RewrittenFile {
    fn has_name(&self, name: &[u8]) -> bool {
        self.names.iter().any(|known| known.as_bytes() == name)
    }
}

fn table() -> &'static [RewrittenFile] {
    static TABLE: LazyLock<Vec<RewrittenFile>> = LazyLock::new(|| embedded::part("rewritten-files.toml", "file"));
    &TABLE
}

/// Returns the tool that rewrites a file of this name.
pub fn rewriter(path: &RepoPath) -> Option<&'static RewrittenFile> {
    table().iter().find(|file| file.has_name(base_name(path)))
}

/// Returns `true` if this is a program whose commands change manifests and lock files.
pub fn is_rewriter(program: &str) -> bool {
    table().iter().any(|file| file.tool == program)
}

/// Returns `true` for a manifest or a lock file that commands of a program change.
pub fn may_rewrite(program: &str, path: &RepoPath) -> bool {
    let name = base_name(path);
    let is_declared_in = |file: &RewrittenFile| file.declared_in.as_ref().is_some_and(|one| one.as_bytes() == name);
    table().iter().any(|file| file.tool == program && (file.has_name(name) || is_declared_in(file)))
}

/// Returns the last part of a path.
pub fn base_name(path: &RepoPath) -> &[u8] {
    path.as_bytes().rsplit(|&byte| byte == b'/').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lock_files_are_known_by_their_names_in_any_folder() {
        for (path, tool) in
            [("go.mod", "go"), ("web/package-lock.json", "npm"), ("Cargo.lock", "cargo"), ("a/uv.lock", "uv")]
        {
            assert_eq!(rewriter(&RepoPath::from(path)).unwrap().tool, tool);
        }
        assert!(rewriter(&RepoPath::from("src/go.mod.rs")).is_none());
    }
}
