//! Scratch files: untracked notes, logs, pictures and scripts at the top of a working tree, which nothing that is judged holds.
//!
//! They are content like any other untracked file if something that is judged names them. Otherwise a `todo.txt` that
//! was there during a run, or that was made after it, says nothing about the run.

use std::collections::BTreeSet;

use super::NamedTexts;
use super::table::table;
use crate::collect::Sources;
use crate::collect::draft::Draft;
use crate::event::Run;
use crate::git::{GitError, Repo, TreeFile};
use crate::oid::Oid;
use crate::policy::Policy;
use crate::repo_path::RepoPath;
use crate::snapshot::Presence;

/// The number of the newest runs of a command whose untracked files are looked at.
const MAX_RUNS: usize = 32;

/// Returns the scratch files of these working trees and of the recorded runs. No content of `drafts` and none of their
/// bases has any of them in git.
pub(in crate::collect) fn scratch_files(
    sources: Sources<'_>,
    drafts: &[Draft<'_>],
) -> Result<BTreeSet<RepoPath>, GitError> {
    let keys = sources.policy.commands.iter().map(|command| command.reference().key);
    let runs: Vec<Vec<&Run>> = keys.map(|key| newest_runs(sources, &key)).collect();
    let mut kept: Vec<_> = runs.iter().flatten().flat_map(|run| [&run.start, &run.end]).collect();
    kept.dedup_by_key(|kept| (&kept.tree, &kept.untracked));
    let at_runs = kept.iter().flat_map(|kept| &kept.untracked);
    let dirty = || drafts.iter().filter_map(|draft| draft.snapshot).flat_map(|snapshot| &snapshot.dirty);
    let here = dirty().filter(|dirty| dirty.presence == Presence::Untracked).map(|dirty| &dirty.path);
    let mut found: BTreeSet<RepoPath> = at_runs.chain(here).filter(|path| is_scratch(path)).cloned().collect();
    for dirty in dirty().filter(|dirty| dirty.presence != Presence::Untracked || dirty.base.is_some()) {
        found.remove(&dirty.path);
    }
    for tree in drafts.iter().flat_map(|draft| [&draft.tree, &draft.base_tree]).flatten() {
        leave_tracked(sources.repo, tree, &mut found)?;
    }
    for runs in &runs {
        leave_read(runs, &mut found);
    }
    // A run that had it in git saw a file of the project.
    for kept in kept {
        found.retain(|path| kept.untracked.contains(path) || is_nowhere(sources.repo, &kept.tree, path));
    }
    Ok(found)
}

/// Returns the scratch files in the working tree of a run that neither its commit holds nor anything in it names, and that it
/// did not read.
pub fn unread_scratch_files(repo: &Repo, policy: &Policy, run: &Run) -> Result<BTreeSet<RepoPath>, GitError> {
    let kept = &run.end;
    let read: BTreeSet<&RepoPath> = read_files(run).collect();
    let untracked = kept.untracked.iter().filter(|path| !read.contains(path));
    unread(repo, policy, untracked, kept.head.as_ref(), Some(&kept.tree))
}

/// Returns the scratch files among `untracked` that neither the commit `head` holds nor anything in the working tree names.
pub fn unread_scratch_files_here<'p>(
    repo: &Repo,
    policy: &Policy,
    untracked: impl Iterator<Item = &'p RepoPath>,
    head: Option<&Oid>,
) -> Result<BTreeSet<RepoPath>, GitError> {
    unread(repo, policy, untracked, head, None)
}

/// `tree`: the content that is searched; `None` is the working tree.
fn unread<'p>(
    repo: &Repo,
    policy: &Policy,
    untracked: impl Iterator<Item = &'p RepoPath>,
    head: Option<&Oid>,
    tree: Option<&Oid>,
) -> Result<BTreeSet<RepoPath>, GitError> {
    let mut found: BTreeSet<RepoPath> = untracked.filter(|path| is_scratch(path)).cloned().collect();
    if let Some(head) = head.filter(|_| !found.is_empty()) {
        leave_tracked(repo, head, &mut found)?;
    }
    if found.is_empty() {
        return Ok(found);
    }
    let policy = policy.without_scratch(&found);
    let texts = NamedTexts::in_content(repo, &policy, tree.cloned(), tree.is_none());
    texts.ask_of_change(&found.iter().cloned().collect::<Vec<_>>())?;
    let named = texts.found();
    found.retain(|path| !named.contains_key(path));
    Ok(found)
}

/// Returns the newest runs of a command, the last one first.
fn newest_runs<'s>(sources: Sources<'s>, key: &str) -> Vec<&'s Run> {
    sources.state.runs(key).iter().take(MAX_RUNS).map(|recorded| &*recorded.run).collect()
}

/// Removes a file from `files` if the newest of these runs that had it on disk read it.
fn leave_read(runs: &[&Run], files: &mut BTreeSet<RepoPath>) {
    let mut known = BTreeSet::new();
    for run in runs {
        let read: BTreeSet<&RepoPath> = read_files(run).collect();
        for path in run.end.untracked.iter().filter(|path| known.insert(*path)) {
            if read.contains(path) {
                files.remove(path);
            }
        }
    }
}

/// Returns the files that a run read, unless it was of a program that reads all scripts of a project, whatever its tests need.
fn read_files(run: &Run) -> impl Iterator<Item = &RepoPath> {
    let is_index = run.report.as_ref().is_some_and(|report| table().indexers.contains(&report.runner));
    run.read_files().filter(move |_| !is_index)
}

/// Takes the files out of `files` that a commit or tree holds.
fn leave_tracked(repo: &Repo, commit_or_tree: &Oid, files: &mut BTreeSet<RepoPath>) -> Result<(), GitError> {
    for path in files.clone() {
        if !matches!(repo.regular_file_at(commit_or_tree, &path)?, TreeFile::Nothing) {
            files.remove(&path);
        }
    }
    Ok(())
}

/// Returns `true` if a tree is known to have nothing at a path.
fn is_nowhere(repo: &Repo, tree: &Oid, path: &RepoPath) -> bool {
    matches!(repo.regular_file_at(tree, path), Ok(TreeFile::Nothing))
}

fn is_scratch(path: &RepoPath) -> bool {
    let os = path.to_os();
    table().scratch.is_match(&os) && !table().built.is_match(&os)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_notes_logs_pictures_and_scripts_at_the_top_are_scratch_files() {
        for (path, is) in [
            ("todo.txt", true),
            ("nohup.out", true),
            ("TODO", true),
            ("fix.patch", true),
            ("tests/case.txt", false),
            ("requirements.txt", false),
            ("dev-requirements.txt", false),
            ("CMakeLists.txt", false),
            ("scratch.py", true),
            ("check_api.py", true),
            ("debug2.py", true),
            ("seed.js", true),
            ("clean.sh", true),
            ("random.py", false),
            ("checks.py", false),
            ("debug_test.py", false),
            ("test-api.js", false),
            ("a.test.js", false),
            ("babel.config.js", false),
            ("setup.py", false),
            (".mocharc.cjs", false),
            ("data.json", false),
            ("test.log", true),
            ("conftest.py", false),
            ("Makefile", false),
        ] {
            assert_eq!(is_scratch(&RepoPath::from(path)), is, "{path}");
        }
    }
}
