//! Files that were written while a line ran, and that have the same content before and after it.

use super::Workplace;
use super::file_times::times;
use crate::git::GitError;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

const NANOS_PER_MILLI: i128 = 1_000_000;
/// The maximum number of files that are named.
const MAX_REWRITTEN: usize = 8;

impl Workplace {
    /// Returns the files of `kept` that were written after `began` (milliseconds since 1970), of those that `is_input`
    /// accepts. Their content in between is unknown. Returns none where the system does not say when a file changed.
    pub fn rewritten_files(
        &self,
        kept: &KeptSnapshot,
        began: u64,
        is_input: &dyn Fn(&RepoPath) -> bool,
    ) -> Result<Vec<RepoPath>, GitError> {
        let Some(root) = self.repo.root() else { return Ok(Vec::new()) };
        let began = i128::from(began) * NANOS_PER_MILLI;
        let later = |path: &RepoPath| times(&root.join(path.to_os())).is_some_and(|times| times.changed > began);
        let entries = self.repo.tree_entries(&kept.tree)?.into_iter().map(|(path, _)| path);
        Ok(entries.filter(|path| is_input(path) && later(path)).take(MAX_REWRITTEN).collect())
    }
}
