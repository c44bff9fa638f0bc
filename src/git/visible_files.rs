//! The files that a person sees in a working tree: tracked ones, and others that are not ignored.

use super::command::run;
use super::{GitError, Repo};

impl Repo {
    /// Returns the paths of tracked files and of files that are not ignored, relative to the root, sorted. A path that
    /// is not UTF-8 is left out.
    pub fn listed_paths(&self) -> Result<Vec<String>, GitError> {
        let mut command = self.command();
        command.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard", "--full-name"]);
        let printed = run(&mut command, None)?;
        let paths = printed.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        let mut paths: Vec<String> = paths.filter_map(|path| String::from_utf8(path.to_vec()).ok()).collect();
        paths.sort_unstable();
        paths.dedup();
        Ok(paths)
    }
}
