//! The difference between two trees as text, with whole functions around each change.

use super::command::run;
use super::{GitError, Repo};
use crate::oid::Oid;

impl Repo {
    /// Returns the difference from `base` to `tree`, both of which may be commits, as git prints it. No setting, filter or
    /// program of the repository changes its form, and no attribute hides a file as binary.
    pub fn function_diff(&self, base: &Oid, tree: &Oid) -> Result<Vec<u8>, GitError> {
        let mut command = self.command();
        command.args(["-c", "core.quotePath=false", "-c", "core.attributesFile=/dev/null", "diff-tree", "-r", "-p"]);
        command.args([
            "--no-color", "--no-ext-diff", "--no-textconv", "--text", "--ignore-submodules=none", "--submodule=short",
            "--no-renames", "--function-context", "--src-prefix=a/", "--dst-prefix=b/",
        ]);
        command.args([base.as_str(), tree.as_str()]);
        run(&mut command, None)
    }
}
