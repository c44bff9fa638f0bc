//! The files that a person sees in a working tree: tracked ones, and others that are not ignored and in no tool folder.

use std::path::Path;

use super::command::run;
use super::{GitError, Repo};

impl Repo {
    /// Returns `true` if git tracks a file in a folder of the working tree.
    pub fn has_tracked_files(&self, folder: &Path) -> Result<bool, GitError> {
        let mut command = self.command();
        command.args(["ls-files", "-z", "--"]).arg(folder);
        Ok(!run(&mut command, None)?.is_empty())
    }

    /// Returns the paths of tracked files and of files that are not ignored, relative to the root, sorted. A path that
    /// is not UTF-8 is left out, and so are the files in tool folders at the top, such as `.venv`.
    pub fn listed_paths(&self) -> Result<Vec<String>, GitError> {
        let mut command = self.command();
        command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"]);
        let printed = run(&mut command, None)?;
        let paths = printed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let mut paths: Vec<String> = paths.filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect();
        let folders = self.untracked_tool_folders(&[]).unwrap_or_default();
        if !folders.is_empty() {
            paths.retain(|path| !folders.iter().any(|folder| folder.holds_bytes(path.as_bytes())));
        }
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}
