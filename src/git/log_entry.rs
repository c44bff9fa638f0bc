//! The values of a log: the commits that are wanted, and one that was read.

use crate::commit::change::Commit;
use crate::git::Blobs;

/// A range of commits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Range {
    /// The starts of the walk, as git takes revisions: ids, names, `a..b`, `a^!`.
    pub revisions: Vec<String>,
    /// The commits that are known already, with all their ancestors.
    pub exclude: Vec<String>,
    /// At most so many.
    pub limit: Option<usize>,
}

/// One commit of the log.
#[derive(Clone, Debug)]
pub struct Logged {
    /// The commit, without its agent.
    pub commit: Commit,
    /// The contents of its files, before and after.
    pub blobs: Blobs,
    /// `true` if its parent is not in this shallow clone, so that its changes are unknown.
    pub cut_off: bool,
}
