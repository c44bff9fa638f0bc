//! The untracked files that a declared command itself makes: programs and reports that no `.gitignore` lists.

use crate::event::Run;
use crate::git::{PathChange, TreeDiff};
use crate::local_file::is_collected;
use crate::repo_path::RepoPath;

/// Returns the files that a run made; `during` leads from its start to its end. The checks may read any other file that they
/// find. Files that a runner finds by name alone never count as made.
pub fn of(run: &Run, during: &TreeDiff) -> Vec<RepoPath> {
    let TreeDiff::Changes(during) = during else { return Vec::new() };
    let may_be_made = |path: &RepoPath| run.end.untracked.contains(path) && !is_collected(path);
    let is_new = |change: &&PathChange| run.verbatim && change.before.is_none() && may_be_made(&change.path);
    let mut made: Vec<RepoPath> = during.iter().filter(is_new).map(|change| change.path.clone()).collect();
    made.extend(run.built.iter().filter(|path| may_be_made(path)).cloned());
    made
}
