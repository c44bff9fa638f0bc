//! The files that the work took out of git and left on disk, ignored. A run finds them, and the commit does not have
//! them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::LazyLock;

use serde::Deserialize;

use super::command::run;
use super::{GitError, Range, Repo};
use crate::commit::change::PathStatus;
use crate::embedded;
use crate::globs::Globs;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::Snapshot;

/// The number of commits that are looked at. The one that took a file out is nearly always among the newest.
const COMMITS: usize = 100;
/// The number of commits that are looked at if no remote has any of them.
const WITHOUT_REMOTE: usize = 20;

/// `gates/left-behind.toml`.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Meant {
    files: Vec<String>,
    made: Vec<String>,
    #[serde(skip)]
    globs: Globs,
}

fn meant() -> &'static Meant {
    static MEANT: LazyLock<Meant> = LazyLock::new(|| {
        let meant: Meant = embedded::table("left-behind.toml");
        Meant { globs: Globs::new(&meant.files).unwrap_or_default(), ..meant }
    });
    &MEANT
}

impl Meant {
    fn has(&self, path: &RepoPath) -> bool {
        let made = |part: &[u8]| self.made.iter().any(|name| name.as_bytes() == part);
        self.globs.is_match(path.to_os()) && !path.as_bytes().split(|&byte| byte == b'/').any(made)
    }
}

/// Returns `true` if a file is code, or a setting that decides what code does, and not in a folder that builds fill.
pub(super) fn is_code(path: &RepoPath) -> bool {
    meant().has(path)
}

/// Returns `true` if a folder above the file has a name that builds and package managers use for folders that they
/// fill.
pub(super) fn is_made(path: &RepoPath) -> bool {
    path.as_bytes().split(|&byte| byte == b'/').any(|part| meant().made.iter().any(|name| name.as_bytes() == part))
}

impl Repo {
    /// Returns the files of code that the commits since the default branch, or the index, took out of git and that are
    /// still there, ignored.
    pub(super) fn left_behind(&self, snapshot: &Snapshot) -> Result<Vec<RepoPath>, GitError> {
        let Some(head) = &snapshot.head else { return Ok(Vec::new()) };
        let mut gone = self.taken_out(head)?;
        let dropped = snapshot.dirty.iter().filter(|one| one.base.is_some() && one.now.is_none());
        gone.extend(dropped.map(|one| one.path.clone()).filter(|path| meant().has(path)));
        let root = self.work_tree()?;
        gone.retain(|path| is_file_here(root, path));
        if gone.is_empty() {
            return Ok(Vec::new());
        }
        // What is not ignored is in the snapshot.
        self.ignored_among(gone.iter())
    }

    /// Returns the paths that git does not ignore; all of them if it cannot tell.
    pub fn not_ignored(&self, mut paths: Vec<RepoPath>) -> Vec<RepoPath> {
        let ignored = if paths.is_empty() { Vec::new() } else { self.ignored_among(paths.iter()).unwrap_or_default() };
        paths.retain(|path| !ignored.contains(path));
        paths
    }

    /// Returns the paths that git ignores.
    fn ignored_among<'p>(&self, paths: impl Iterator<Item = &'p RepoPath>) -> Result<Vec<RepoPath>, GitError> {
        // `./` keeps a name that begins with `:` from being anything else.
        let mut input = Vec::new();
        for path in paths {
            input.extend_from_slice(b"./");
            input.extend_from_slice(path.as_bytes());
            input.push(0);
        }
        let mut command = self.command();
        command.env_remove("GIT_LITERAL_PATHSPECS").args(["check-ignore", "-z", "--stdin"]);
        let told = match run(&mut command, Some(&input)) {
            Ok(told) => told,
            // 1: none of them is ignored.
            Err(GitError::Failed { status: Some(1), .. }) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let ignored = told.split(|&byte| byte == 0).filter(|path| !path.is_empty());
        Ok(ignored.map(|path| RepoPath::new(path.strip_prefix(b"./").unwrap_or(path))).collect())
    }

    /// Returns the code that the newest of the commits up to `head` that no remote has took out.
    fn taken_out(&self, head: &Oid) -> Result<BTreeSet<RepoPath>, GitError> {
        if let Some(known) = self.known_taken_out().get(head) {
            return Ok(known.clone());
        }
        let range = self.new_commits(head)?;
        // Where no remote is known, everything is new.
        let limit = if range.exclude.is_empty() { WITHOUT_REMOTE } else { COMMITS };
        let mut gone = BTreeSet::new();
        for logged in self.log(&Range { limit: Some(limit), ..range })? {
            for change in logged?.commit.files {
                let path = match change.status {
                    PathStatus::Deleted => Some(change.path),
                    PathStatus::Renamed(_) => change.from,
                    _ => None,
                };
                gone.extend(path.filter(|path| meant().has(path)));
            }
        }
        self.known_taken_out().insert(head.clone(), gone.clone());
        Ok(gone)
    }
}

/// Returns `true` if a file, or a link, lies at exactly this path: what is seen through a link to a folder is elsewhere.
fn is_file_here(root: &Path, path: &RepoPath) -> bool {
    let path = path.to_os();
    let is_link = |folder: &Path| fs::symlink_metadata(root.join(folder)).is_ok_and(|meta| meta.is_symlink());
    let is_file = fs::symlink_metadata(root.join(&path)).is_ok_and(|meta| !meta.is_dir());
    is_file && !path.ancestors().skip(1).any(|folder| !folder.as_os_str().is_empty() && is_link(folder))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_meant_and_what_builds_make_is_not() {
        for (path, is) in [
            ("calc.py", true),
            ("src/lib/a.ts", true),
            ("Makefile", true),
            ("lib/util.rb", true),
            (".env", false),
            ("config/local.yml", false),
            ("data/a.sqlite", false),
            ("dist/app.js", false),
            ("web/node_modules/x/index.js", false),
            ("target/debug/build/a/out.rs", false),
            ("notes.md", false),
        ] {
            assert_eq!(meant().has(&RepoPath::from(path)), is, "{path}");
        }
    }
}
