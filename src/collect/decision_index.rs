//! The files of a commit that hold records of decisions, and the rejected paths among them that a program can find.
//! Both are cached between judgements.
//!
//! Records may be in any file, so the first search reads the whole tree of a repository. Later searches read only the
//! files that changed since. A cache that cannot be read or written is built again.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;

use serde::{Deserialize, Serialize};

use crate::decision::rules::DecisionRules;
use crate::decision::{self, Decision, RecordKind};
use crate::git::{GitError, Repo, TreeDiff};
use crate::globs::Globs;
use crate::oid::Oid;
use crate::repo_path::RepoPath;

/// The format of the file.
const VERSION: u32 = 2;
/// The name of the file in the folder of gate.
const FILE: &str = "decisions.json";

/// The known records of a commit.
#[derive(Serialize, Deserialize)]
pub(super) struct KnownRecords {
    version: u32,
    commit: Oid,
    /// The patterns of files that are architecture decision records, as the policy gave them.
    adr: Vec<String>,
    /// The files that hold or are records.
    pub(super) files: Vec<RepoPath>,
    /// The records `@REJECTED` that have a pattern or a path.
    pub(super) rejected: Vec<Decision>,
}

/// Returns the known records of a commit. Starts at most three processes, and none if the commit is the last one that
/// was asked for.
pub(super) fn records(repo: &Repo, commit: &Oid, rules: &DecisionRules) -> Result<KnownRecords, GitError> {
    let file = repo.gate_dir().join(FILE);
    let kept = fs::read(&file).ok().and_then(|bytes| serde_json::from_slice::<KnownRecords>(&bytes).ok());
    let kept = match kept.filter(|kept| kept.version == VERSION && kept.adr == rules.globs) {
        Some(kept) if kept.commit == *commit => return Ok(kept),
        Some(kept) => updated(repo, kept, commit, rules),
        None => None,
    };
    let kept = if let Some(kept) = kept { kept } else { found(repo, commit, rules)? };
    // Without it the next judgement finds the same again.
    let _ = write(&repo.gate_dir(), &kept);
    Ok(kept)
}

/// Returns the files of a commit that hold or are records.
pub(super) fn files(repo: &Repo, commit: &Oid, rules: &DecisionRules) -> Result<Vec<RepoPath>, GitError> {
    let mut files = repo.holding(commit, &decision::MARKS)?;
    files.extend(repo.files_of(commit)?.into_iter().filter(|path| rules.adr.is_match(path.to_os())));
    files.sort_unstable();
    files.dedup();
    Ok(files)
}

fn found(repo: &Repo, commit: &Oid, rules: &DecisionRules) -> Result<KnownRecords, GitError> {
    let files = files(repo, commit, rules)?;
    let texts = repo.blobs_at(commit, &files)?;
    let rejected = files.iter().zip(texts).flat_map(|(path, text)| rejected(path, &text.unwrap_or_default())).collect();
    Ok(KnownRecords { version: VERSION, commit: commit.clone(), adr: rules.globs.clone(), files, rejected })
}

/// Returns the cached records of another commit, updated with the files that changed since. Returns `None` if that
/// commit is gone.
fn updated(repo: &Repo, kept: KnownRecords, commit: &Oid, rules: &DecisionRules) -> Option<KnownRecords> {
    let trees = (repo.tree_of(&kept.commit).ok()?, repo.tree_of(commit).ok()?);
    let TreeDiff::Changes(changes) = repo.diff_trees(&[trees]).ok()?.pop()? else { return None };
    let touched: BTreeSet<RepoPath> = changes.into_iter().map(|change| change.path).collect();
    let mut kept = KnownRecords { commit: commit.clone(), ..kept };
    kept.files.retain(|path| !touched.contains(path));
    kept.rejected.retain(|decision| !touched.contains(&decision.path));
    let touched: Vec<RepoPath> = touched.into_iter().collect();
    for (path, text) in touched.iter().zip(repo.blobs_at(commit, &touched).ok()?) {
        let Some(text) = text else { continue };
        if decision::is_marked(&text) || rules.adr.is_match(path.to_os()) {
            kept.rejected.extend(rejected(path, &text));
            kept.files.push(path.clone());
        }
    }
    Some(kept)
}

fn rejected(path: &RepoPath, text: &[u8]) -> Vec<Decision> {
    let mut found = decision::read(path, text, &Globs::default());
    found.retain(|one| one.kind == RecordKind::Rejected && !(one.patterns.is_empty() && one.paths.is_empty()));
    found
}

fn write(folder: &std::path::Path, kept: &KnownRecords) -> std::io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    file.write_all(&serde_json::to_vec(kept)?)?;
    file.persist(folder.join(FILE)).map(drop).map_err(|error| error.error)
}
