//! The files of a working tree, with those that are not in git yet.

use super::{GitError, Repo};
use crate::repo_path::RepoPath;

impl Repo {
    /// Returns the files that are in the index or untracked and not ignored, in order. Deleted files may be among them.
    pub fn work_files(&self) -> Result<Vec<RepoPath>, GitError> {
        let printed = self.git(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"])?;
        let paths = printed.split(|byte| *byte == 0).filter(|path| !path.is_empty());
        let mut files: Vec<RepoPath> = paths.map(RepoPath::new).collect();
        files.sort();
        files.dedup();
        Ok(files)
    }
}
