//! Submodules whose own index or settings hide from git what lies in them.

use std::path::Path;

use super::snapshot::Survey;
use super::{GitError, Repo};
use crate::local_file::LocalCause;
use crate::repo_path::RepoPath;

/// The depth to which submodules of submodules are looked at.
const MAX_DEPTH: usize = 8;

impl Repo {
    /// The submodules, among these, that hold what git does not tell of: files behind a bit of the index, files that are
    /// not on disk, files that a rule or a filter of this clone hides. Asks git only about those that are checked out.
    pub(super) fn veiled_submodules(&self, submodules: &[RepoPath]) -> Result<Vec<RepoPath>, GitError> {
        self.veiled_to(submodules, MAX_DEPTH)
    }

    fn veiled_to(&self, submodules: &[RepoPath], depth: usize) -> Result<Vec<RepoPath>, GitError> {
        let root = self.work_tree()?;
        let mut veiled = Vec::new();
        for path in submodules {
            let folder = root.join(path.to_os());
            // What cannot be read is not known.
            if repository_at(&folder).is_some_and(|inner| is_veiled(&inner, depth).unwrap_or(true)) {
                veiled.push(path.clone());
            }
        }
        Ok(veiled)
    }
}

/// The repository of which a folder is the root.
fn repository_at(folder: &Path) -> Option<Repo> {
    let inner = folder.join(".git").exists().then(|| Repo::discover(folder).ok())??;
    let is_its_root = inner.root()?.canonicalize().ok()? == folder.canonicalize().ok()?;
    is_its_root.then_some(inner)
}

fn is_veiled(inner: &Repo, depth: usize) -> Result<bool, GitError> {
    let Some(depth) = depth.checked_sub(1) else { return Ok(true) };
    let survey = inner.survey_itself()?;
    let Survey { marked, local_files, submodules, .. } = &survey;
    let hides = !marked.is_empty()
        || local_files.iter().any(|file| matches!(file.cause, LocalCause::Excluded | LocalCause::Filtered));
    Ok(hides || !inner.veiled_to(submodules, depth)?.is_empty())
}
