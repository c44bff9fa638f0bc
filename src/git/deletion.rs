//! The commit that deleted a path.

use super::{GitError, Repo};

impl Repo {
    /// Returns the newest commit before `HEAD` that deleted a path, abbreviated, or `None` if none did.
    pub fn deleting_commit(&self, path: &str) -> Result<Option<String>, GitError> {
        let args = ["log", "-1", "--diff-filter=D", "--no-show-signature", "--format=%h", "--", path];
        let printed = self.git(args)?;
        let commit = String::from_utf8_lossy(&printed).trim().to_owned();
        Ok((!commit.is_empty()).then_some(commit))
    }
}
