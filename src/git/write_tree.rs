//! Keeps a snapshot: writes its tree into the gate's own object store.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;

use super::access_times::AccessTimes;
use super::kept_objects::KeptObjects;
use super::scratch_index::Scratch;
use super::withheld_files::is_withheld;
use super::{GitError, Repo, TreeDiff};
use crate::commit::change::Commit;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::{DirtyPath, KeptSnapshot, Presence, Snapshot, SnapshotEntry};

/// The largest number of paths of each sort that are recorded.
const LISTED: usize = 256;

/// Returns the untracked files of a snapshot.
fn untracked_files(snapshot: &Snapshot) -> impl Iterator<Item = &RepoPath> {
    let untracked = snapshot.dirty.iter().filter(|one| one.presence == Presence::Untracked && one.now.is_some());
    untracked.map(|one| &one.path)
}

impl Repo {
    /// Keeps the present working tree. Paths that change meanwhile are read again; a tree that never stops changing is
    /// an error.
    pub fn keep_now(&self) -> Result<KeptSnapshot, GitError> {
        const TRIES: usize = 3;
        let mut tries = 1;
        loop {
            let snapshot = self.snapshot()?;
            match self.keep(&snapshot) {
                Err(GitError::ChangedUnderneath { .. }) if tries < TRIES => tries += 1,
                kept => {
                    let mut left_behind = self.left_behind(&snapshot)?;
                    left_behind.truncate(LISTED);
                    return Ok(KeptSnapshot { left_behind, ..kept? });
                }
            }
        }
    }

    /// Returns the paths on which two kept snapshots differ. If they cannot be compared, every path counts as changed.
    pub fn changed_between(&self, start: &KeptSnapshot, end: &KeptSnapshot) -> Result<Vec<RepoPath>, GitError> {
        self.paths_between(&start.tree, &end.tree)
    }

    /// Returns the paths on which two trees differ, in the same way.
    pub fn paths_between(&self, start: &Oid, end: &Oid) -> Result<Vec<RepoPath>, GitError> {
        if start == end {
            return Ok(Vec::new());
        }
        let diff = self.diff_trees(&[(start.clone(), end.clone())])?.pop();
        Ok(match diff {
            Some(TreeDiff::Changes(changes)) => changes.into_iter().map(|change| change.path).collect(),
            Some(TreeDiff::Unreadable) | None => vec![RepoPath::from("**")],
        })
    }

    /// Keeps `snapshot` as a tree with all its contents, so that it can be compared and read later. Without changes,
    /// nothing is written; otherwise only the gate's own object store grows.
    ///
    /// The tree consists of the ids in the snapshot. If a file whose content is not kept yet has changed since, the result
    /// is [`GitError::ChangedUnderneath`].
    pub fn keep(&self, snapshot: &Snapshot) -> Result<KeptSnapshot, GitError> {
        let times = self.root().map(|root| AccessTimes::of(root, untracked_files(snapshot)));
        let tree = match self.kept_already(snapshot) {
            _ if snapshot.dirty.is_empty() => snapshot.base.clone(),
            Some(tree) => tree,
            None => self.write(snapshot)?,
        };
        times.iter().for_each(AccessTimes::restore);
        let marked = |presence: Presence| {
            let dirty = snapshot.dirty.iter().filter(move |one| one.presence == presence && one.now.is_some());
            dirty.map(|one| one.path.clone()).take(LISTED).collect()
        };
        let hidden = snapshot.dirty.iter().filter(|one| one.presence == Presence::Hidden);
        Ok(KeptSnapshot {
            head: snapshot.head.clone(),
            tree,
            untracked: marked(Presence::Untracked),
            hidden: hidden.map(|one| one.path.clone()).take(LISTED).collect(),
            opaque: snapshot.opaque.iter().take(LISTED).cloned().collect(),
            left_behind: Vec::new(),
            tool_folders: snapshot.tool_folders.iter().take(LISTED).cloned().collect(),
            local_files: snapshot.local_files.iter().take(LISTED).cloned().collect(),
            absent: snapshot.absent.clone(),
            read: snapshot.read.clone(),
        })
    }

    /// Returns the untracked files of a snapshot whose content is not stored, since they look like secrets.
    pub fn withheld(&self, snapshot: &Snapshot) -> Result<Vec<RepoPath>, GitError> {
        let root = self.work_tree()?;
        let times = AccessTimes::of(root, untracked_files(snapshot));
        let withheld = untracked_files(snapshot).filter(|path| is_withheld(root, path)).cloned().collect();
        times.restore();
        Ok(withheld)
    }

    /// Keeps a commit that is not made: the content of the index, under its message. Its contents are those that `git
    /// add` wrote; git deletes them once nothing of its own needs them for long enough (`gc.pruneExpire`).
    pub fn keep_draft(&self, index: Option<&Path>, commit: &Commit) -> Result<Oid, GitError> {
        let scratch = Scratch::keeping(self)?;
        match index {
            Some(index) => scratch.start_from(index)?,
            None => scratch.start_from(&self.git_dir().join("index"))?,
        }
        scratch.commit_tree(&scratch.write_tree()?, commit)
    }

    /// Returns the tree of a snapshot of which everything is kept, and makes all of it as young as if it were written now.
    fn kept_already(&self, snapshot: &Snapshot) -> Option<Oid> {
        let root = self.work_tree().ok()?;
        let (tree, folders) = self.tree_with_folders(snapshot)?;
        let store = KeptObjects::of(self);
        let withheld = |one: &DirtyPath| one.presence == Presence::Untracked && is_withheld(root, &one.path);
        let is_kept = |one: &DirtyPath| one.now.as_ref().is_none_or(|now| store.freshen(&now.oid)) || withheld(one);
        let contents = snapshot.dirty.iter().filter(|one| !is_repository(one));
        (contents.into_iter().all(is_kept) && folders.iter().all(|folder| store.freshen(folder))).then_some(tree)
    }

    fn write(&self, snapshot: &Snapshot) -> Result<Oid, GitError> {
        self.work_tree()?;
        let contents = Scratch::keeping(self)?;
        let tree = Scratch::keeping(self)?;
        thread::scope(|scope| {
            // Reading the base takes as long as all the rest in a large repository.
            let base = scope
                .spawn(|| if snapshot.base == self.empty_tree() { Ok(()) } else { tree.read_tree(&snapshot.base) });
            let written = self.write_contents(snapshot, &contents);
            base.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)).and(written)
        })?;
        // Deletions first: a directory may take the place of a file, and a file that of a directory.
        let (gone, there): (Vec<_>, Vec<_>) = snapshot.dirty.iter().partition(|one| one.now.is_none());
        tree.set(gone.into_iter().chain(there).map(|one| (&one.path, one.now.as_ref())))?;
        tree.write_tree()
    }

    /// Writes the contents of the dirty files into the store, and holds them against the ids in the snapshot.
    fn write_contents(&self, snapshot: &Snapshot, contents: &Scratch<'_>) -> Result<(), GitError> {
        // Commits of other repositories are never ours to keep; their ids are.
        let root = self.work_tree()?;
        let files = snapshot.dirty.iter().filter(|one| one.now.is_some() && !is_repository(one));
        let files: Vec<_> =
            files.filter(|one| one.presence != Presence::Untracked || !is_withheld(root, &one.path)).collect();
        let paths: Vec<&RepoPath> = files.iter().map(|one| &one.path).collect();
        if paths.is_empty() {
            return Ok(());
        }
        let wanted: BTreeSet<&[u8]> = paths.iter().map(|path| path.as_bytes()).collect();
        let index = self.index_view(|path| wanted.contains(path))?;
        let known = index.attributes.iter().chain(&index.wanted);
        contents.set(known.map(|(path, entry)| (path, Some(entry))))?;
        if let Some(&path) = contents.add(&paths)?.first() {
            return Err(GitError::ChangedUnderneath { path: path.clone() });
        }
        let found = contents.entries()?;
        for one in files {
            let same = found.binary_search_by(|(path, _)| path.cmp(&one.path)).ok().map(|at| &found[at].1);
            if same != one.now.as_ref() {
                return Err(GitError::ChangedUnderneath { path: one.path.clone() });
            }
        }
        Ok(())
    }
}

/// Returns `true` for a commit of another repository.
fn is_repository(one: &DirtyPath) -> bool {
    one.now.as_ref().is_some_and(SnapshotEntry::is_commit)
}
