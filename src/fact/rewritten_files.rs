//! Tracked files that a tool rewrites while it runs something else.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::embedded;
use crate::repo_path::RepoPath;

/// Files that one tool rewrites.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RewrittenFile {
    names: Vec<String>,
    pub tool: String,
    /// `true` if people write it as well: a change may be theirs.
    #[serde(default)]
    pub manifest: bool,
    /// The setting that keeps it from writing the file.
    pub keep: String,
}

/// Returns the tool that rewrites a file of this name.
pub fn rewriter(path: &RepoPath) -> Option<&'static RewrittenFile> {
    static TABLE: LazyLock<Vec<RewrittenFile>> = LazyLock::new(|| embedded::part("rewritten-files.toml", "file"));
    let name = base_name(path);
    TABLE.iter().find(|file| file.names.iter().any(|known| known.as_bytes() == name))
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
