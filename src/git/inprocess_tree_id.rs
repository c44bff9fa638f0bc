//! The id of a snapshot's tree, computed without writing the tree. A snapshot differs from its base in a few files, and
//! only the folders above these files have other ids.

use std::collections::BTreeMap;

use git2::{ObjectType, Repository};

use super::Repo;
use super::inprocess_tree_diff::{TREE, TreeItem};
use crate::oid::Oid;
use crate::snapshot::{Snapshot, SnapshotEntry};

impl Repo {
    /// Returns the id of the tree that keeping `snapshot` would write, or `None` if that is not known without writing
    /// it.
    pub fn tree_id(&self, snapshot: &Snapshot) -> Option<Oid> {
        self.tree_with_folders(snapshot).map(|(tree, _)| tree)
    }

    /// Returns the same with the ids of the trees above the changes, its own among them.
    pub(super) fn tree_with_folders(&self, snapshot: &Snapshot) -> Option<(Oid, Vec<Oid>)> {
        if snapshot.dirty.is_empty() {
            return Some((snapshot.base.clone(), Vec::new()));
        }
        let changes: Vec<TreeEdit<'_>> =
            snapshot.dirty.iter().map(|one| (one.path.as_bytes(), one.now.as_ref())).collect();
        let base = git2::Oid::from_str(snapshot.base.as_str()).ok()?;
        let mut folders = Vec::new();
        let id = self.library(|library| Ok(changed(library, Some(base), &changes, &mut folders)))??;
        let tree = id.map_or_else(|| Some(self.empty_tree()), |id| id.to_string().parse().ok())?;
        Some((tree, folders.iter().map(|id| id.to_string().parse().ok()).collect::<Option<_>>()?))
    }
}

/// A path below some folder, and its present entry.
type TreeEdit<'s> = (&'s [u8], Option<&'s SnapshotEntry>);

/// Returns the id of a tree with other entries, and adds the ids of all trees that it is made of; the inner `None`: nothing
/// is left of it.
#[expect(clippy::option_option, reason = "not known, and known to be nothing, are two answers")]
fn changed(
    library: &Repository,
    base: Option<git2::Oid>,
    changes: &[TreeEdit<'_>],
    made: &mut Vec<git2::Oid>,
) -> Option<Option<git2::Oid>> {
    let items = base.map_or_else(|| Some(Vec::new()), |base| TreeItem::all(library, base))?;
    let mut items: BTreeMap<Vec<u8>, (u32, git2::Oid)> =
        items.into_iter().map(|TreeItem { name, mode, oid }| (name, (mode, oid))).collect();
    let (mut here, mut below) = (Vec::new(), BTreeMap::<&[u8], Vec<TreeEdit<'_>>>::new());
    for &(path, now) in changes {
        match memchr::memchr(b'/', path) {
            Some(at) => below.entry(&path[..at]).or_default().push((&path[at + 1..], now)),
            None => here.push((path, now)),
        }
    }
    // Deletions first: a folder may take the place of a file, and a file that of a folder.
    for (name, _) in here.iter().filter(|(_, now)| now.is_none()) {
        if items.get(*name).is_some_and(|(mode, _)| *mode != TREE) {
            items.remove(*name);
        }
    }
    for (name, changes) in below {
        let old = items.get(name).filter(|(mode, _)| *mode == TREE).map(|(_, oid)| *oid);
        match changed(library, old, &changes, made)? {
            // What git does with both a file and a folder of one name, git says.
            Some(_) if old.is_none() && items.contains_key(name) => return None,
            Some(oid) => drop(items.insert(name.to_vec(), (TREE, oid))),
            None if old.is_some() => drop(items.remove(name)),
            None => {}
        }
    }
    for (name, now) in here {
        let Some(now) = now else { continue };
        if items.get(name).is_some_and(|(mode, _)| *mode == TREE) {
            return None;
        }
        items.insert(name.to_vec(), (now.mode, git2::Oid::from_str(now.oid.as_str()).ok()?));
    }
    if items.is_empty() {
        return Some(None);
    }
    let mut items: Vec<TreeItem> = items.into_iter().map(|(name, (mode, oid))| TreeItem { name, mode, oid }).collect();
    items.sort_by(TreeItem::order);
    let mut bytes = Vec::new();
    for item in items {
        bytes.extend_from_slice(format!("{:o} ", item.mode).as_bytes());
        bytes.extend_from_slice(&item.name);
        bytes.push(0);
        bytes.extend_from_slice(item.oid.as_bytes());
    }
    let id = git2::Oid::hash_object(ObjectType::Tree, &bytes).ok()?;
    made.push(id);
    Some(Some(id))
}
