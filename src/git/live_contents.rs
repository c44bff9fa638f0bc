//! The contents that may still be judged or pushed.

use std::collections::HashSet;

use super::{GitError, Repo};
use crate::oid::Oid;

impl Repo {
    /// Returns the commits that any ref or working tree has and no default branch of a remote, and those that refs point at,
    /// with their trees.
    pub fn live_contents(&self) -> Result<HashSet<Oid>, GitError> {
        let mut live = HashSet::new();
        for which in [
            &["--exclude=refs/gate/*", "--all", "HEAD", "--not", "--glob=refs/remotes/*/HEAD"][..],
            &["--exclude=refs/gate/*", "--all", "HEAD", "--no-walk"],
        ] {
            let args = ["log", "--ignore-missing", "--format=%H%n%T"];
            let printed = self.git(args.iter().chain(which))?;
            live.extend(String::from_utf8_lossy(&printed).lines().filter_map(|id| id.parse::<Oid>().ok()));
        }
        Ok(live)
    }
}
