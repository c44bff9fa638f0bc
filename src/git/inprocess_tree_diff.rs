//! The differences between trees that are nearly equal, read in process. A comparison of two neighbours in a history
//! reads a few trees, and starting git costs more. Git compares trees with more differences, because it reads them
//! faster.

use std::cmp::Ordering;
use std::collections::HashMap;

use git2::{Repository, TreeEntry};

use super::{PathChange, TreeDiff};
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The largest number of tree entries that are read in process. Git reads the rest.
const MAX_ENTRIES: usize = 2_048;
/// The cost of reading a tree, counted in entries.
const READING: usize = 64;

/// Returns the differences of the pairs that are near. Unreadable pairs are left out.
pub(super) fn compare(library: &Repository, pairs: &[(Oid, Oid)]) -> HashMap<(Oid, Oid), TreeDiff> {
    let mut walk = TreeWalk { library, left: MAX_ENTRIES, changes: Vec::new() };
    let mut found = HashMap::new();
    for pair in pairs {
        let trees = [&pair.0, &pair.1].map(|oid| git2::Oid::from_str(oid.as_str()).ok());
        if trees.iter().any(Option::is_none) || walk.below(&mut Vec::new(), trees).is_none() {
            break;
        }
        found.insert(pair.clone(), TreeDiff::Changes(std::mem::take(&mut walk.changes)));
    }
    found
}

struct TreeWalk<'r> {
    library: &'r Repository,
    left: usize,
    changes: Vec<PathChange>,
}

/// The mode of a tree inside a tree.
pub(super) const TREE: u32 = 0o040_000;

/// One entry of a tree.
pub(super) struct TreeItem {
    pub(super) name: Vec<u8>,
    pub(super) mode: u32,
    pub(super) oid: git2::Oid,
}

impl TreeItem {
    /// Returns the entries of a tree, in its order.
    pub(super) fn all(library: &Repository, tree: git2::Oid) -> Option<Vec<Self>> {
        // The empty tree needs not be there.
        if tree.to_string() == Oid::empty_tree(false).as_str() {
            return Some(Vec::new());
        }
        let item = |entry: TreeEntry<'_>| {
            let mode = plain(u32::try_from(entry.filemode_raw()).ok()?);
            Some(Self { name: entry.name_bytes().to_vec(), mode, oid: entry.id() })
        };
        library.find_tree(tree).ok()?.iter().map(item).collect()
    }

    const fn is_tree(&self) -> bool {
        self.mode == TREE
    }

    /// Compares in git's order: a directory is sorted as if its name ended with a slash.
    pub(super) fn order(&self, other: &Self) -> Ordering {
        let length = self.name.len().min(other.name.len());
        let next = |item: &Self| item.name.get(length).copied().unwrap_or(if item.is_tree() { b'/' } else { 0 });
        self.name[..length].cmp(&other.name[..length]).then_with(|| next(self).cmp(&next(other)))
    }
}

impl TreeWalk<'_> {
    /// Compares two trees, or one with nothing. Returns `None` if it is too much, or something is not here.
    fn below(&mut self, folder: &mut Vec<u8>, trees: [Option<git2::Oid>; 2]) -> Option<()> {
        let read =
            |oid: Option<git2::Oid>| oid.map_or_else(|| Some(Vec::new()), |oid| TreeItem::all(self.library, oid));
        let [before, after] = [read(trees[0])?, read(trees[1])?];
        self.left = self.left.checked_sub(2 * READING + before.len() + after.len())?;
        let (mut before, mut after) = (before.iter().peekable(), after.iter().peekable());
        loop {
            let order = match (before.peek(), after.peek()) {
                (None, None) => return Some(()),
                (Some(_), None) => Ordering::Less,
                (None, Some(_)) => Ordering::Greater,
                (Some(a), Some(b)) => a.order(b),
            };
            let old = if order.is_le() { before.next() } else { None };
            let new = if order.is_ge() { after.next() } else { None };
            self.pair(folder, old, new)?;
        }
    }

    /// Compares two entries of one name and kind, or one with nothing.
    fn pair(&mut self, folder: &mut Vec<u8>, old: Option<&TreeItem>, new: Option<&TreeItem>) -> Option<()> {
        let one = old.or(new)?;
        if let (Some(old), Some(new)) = (old, new)
            && (old.mode, old.oid) == (new.mode, new.oid)
        {
            return Some(());
        }
        let length = folder.len();
        folder.extend_from_slice(&one.name);
        if one.is_tree() {
            folder.push(b'/');
            self.below(folder, [old.map(|item| item.oid), new.map(|item| item.oid)])?;
        } else {
            let entry = |item: Option<&TreeItem>| match item {
                Some(item) => Some(Some(SnapshotEntry { mode: item.mode, oid: item.oid.to_string().parse().ok()? })),
                None => Some(None),
            };
            let (before, after) = (entry(old)?, entry(new)?);
            self.changes.push(PathChange { path: RepoPath::new(folder.as_slice()), before, after });
        }
        folder.truncate(length);
        Some(())
    }
}

/// Returns the mode as git takes it: old programs wrote others.
const fn plain(mode: u32) -> u32 {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 == 0 => 0o100_644,
        0o100_000 => 0o100_755,
        kind @ (0o120_000 | 0o040_000) => kind,
        _ => 0o160_000,
    }
}
