//! The files that a person sees in a working tree: tracked ones, and others that are not ignored and in no tool folder.

use std::path::Path;

use super::command::run;
use super::{GitError, Repo};
use crate::repo_path::RepoPath;

impl Repo {
    /// Returns `true` if git tracks a file in a folder of the working tree.
    pub fn has_tracked_files(&self, folder: &Path) -> Result<bool, GitError> {
        let mut command = self.command();
        command.args(["ls-files", "-z", "--"]).arg(folder);
        Ok(!run(&mut command, None)?.is_empty())
    }

    /// Returns the files that are in the index or untracked and not ignored, in order. Deleted files may be among them.
    pub fn work_files(&self) -> Result<Vec<RepoPath>, GitError> {
        let printed = self.git(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"])?;
        let paths = printed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let mut files: Vec<RepoPath> = paths.map(RepoPath::new).collect();
        files.sort();
        files.dedup();
        Ok(files)
    }

    /// Returns the same as text. A path that is not UTF-8 is left out, and so are the files in tool folders at the top,
    /// such as `.venv`.
    pub fn listed_paths(&self) -> Result<Vec<String>, GitError> {
        let files = self.work_files()?;
        let folders = self.untracked_tool_folders(&[]).unwrap_or_default();
        let seen = files.iter().map(RepoPath::as_bytes).filter(|path| !folders.iter().any(|one| one.holds_bytes(path)));
        Ok(seen.filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect())
    }
}
