//! The difference between two trees as text, with whole functions around each change.

use super::command::run;
use super::{GitError, Repo};
use crate::oid::Oid;

impl Repo {
    /// Returns the difference from `base` to `tree`, both of which may be commits, as git prints it. No setting, filter or
    /// program of the repository changes its form.
    pub fn function_diff(&self, base: &Oid, tree: &Oid) -> Result<String, GitError> {
        let mut command = self.command();
        command.args(["-c", "core.quotePath=false", "diff-tree", "-r", "-p", "--no-color", "--no-ext-diff"]);
        command.args(["--no-textconv", "--no-renames", "--function-context", "--src-prefix=a/", "--dst-prefix=b/"]);
        command.args([base.as_str(), tree.as_str()]);
        Ok(String::from_utf8_lossy(&run(&mut command, None)?).into_owned())
    }
}
