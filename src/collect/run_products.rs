//! The untracked files that a declared command itself makes: programs and reports that no `.gitignore` lists.

use crate::event::Run;
use crate::git::{GitError, PathChange, Repo, TreeDiff, WantedFile};
use crate::local_file::is_collected;
use crate::repo_path::RepoPath;

/// The maximum number of files whose content is looked at.
const MAX_READ: usize = 32;
/// The first bytes of what compilers and linkers write: ELF, Mach-O, PE, archives, classes of Java.
const PROGRAMS: [&[u8]; 7] = [
    b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe", b"\xfe\xed\xfa\xcf", b"MZ", b"!<arch>\n",
];

/// Returns the files that a run made, and the programs that were there and that it could build again. `during` leads from its
/// start to its end. The checks may read any other file that they find. Files that a runner finds by name alone never count
/// as made.
pub fn of(repo: &Repo, run: &Run, during: &TreeDiff) -> Result<Vec<RepoPath>, GitError> {
    let TreeDiff::Changes(during) = during else { return Ok(Vec::new()) };
    if !run.verbatim && !run.alone {
        return Ok(Vec::new());
    }
    let may_be_made = |path: &RepoPath| run.end.untracked.contains(path) && !is_collected(path);
    let is_new = |change: &&PathChange| change.before.is_none() && may_be_made(&change.path);
    let mut made: Vec<RepoPath> = during.iter().filter(is_new).map(|change| change.path.clone()).collect();
    let older = run.start.untracked.iter().filter(|path| may_be_made(path));
    made.extend(programs_among(repo, run, older.cloned().collect())?);
    Ok(made)
}

/// Returns those of `paths` that were programs at the start and at the end of a run.
fn programs_among(repo: &Repo, run: &Run, mut paths: Vec<RepoPath>) -> Result<Vec<RepoPath>, GitError> {
    paths.truncate(MAX_READ);
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let at = |path: &RepoPath| [&run.start.tree, &run.end.tree].map(|tree| WantedFile::At(tree.clone(), path.clone()));
    let contents = repo.blobs(&paths.iter().flat_map(at).collect::<Vec<_>>())?;
    let is_program = |bytes: &Option<Vec<u8>>| {
        bytes.as_ref().is_some_and(|bytes| PROGRAMS.iter().any(|start| bytes.starts_with(start)))
    };
    let mut are_programs = contents.chunks(2).map(|sides| sides.iter().all(is_program));
    paths.retain(|_| are_programs.next().unwrap_or_default());
    Ok(paths)
}
