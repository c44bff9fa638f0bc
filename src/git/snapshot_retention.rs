//! Removes kept contents of runs that no longer prove anything.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use super::Repo;
use super::scratch_index::{LEFT_AFTER, is_older};
use crate::oid::Oid;

/// The largest number of objects that are removed at once, so that no command takes long.
const MAX_REMOVED: usize = 4096;

/// The limits for kept contents that no longer prove anything.
#[derive(Clone, Copy, Debug)]
pub struct RetentionLimits {
    /// The largest age.
    pub age: Duration,
    /// The largest total size, in bytes.
    pub bytes: u64,
}

/// An object in the store.
struct Stored {
    id: String,
    path: PathBuf,
    bytes: u64,
    modified: SystemTime,
}

impl Repo {
    /// Removes contents from the gate's own object store that are older than the limits allow, or exceed the size, the
    /// oldest first. `proving` are trees that stay whatever their age, `newest` those that stay even beyond the size.
    pub fn prune_kept(&self, proving: &[Oid], newest: &[Oid], limits: RetentionLimits) {
        let mut stored = self.stored();
        let total: u64 = stored.iter().map(|one| one.bytes).sum();
        let now = SystemTime::now();
        let is_old = |one: &Stored| now.duration_since(one.modified).is_ok_and(|age| age > limits.age);
        if total <= limits.bytes && !stored.iter().any(is_old) {
            return;
        }
        stored.sort_by_key(|one| one.modified);
        let ids: BTreeSet<String> = stored.iter().map(|one| one.id.clone()).collect();
        let (proving, newest) = (self.below(proving, &ids), self.below(newest, &ids));
        let (mut left, mut removed) = (total, 0);
        for one in stored {
            let goes = is_old(&one) && !proving.contains(&one.id) || left > limits.bytes && !newest.contains(&one.id);
            if removed < MAX_REMOVED && goes && fs::remove_file(&one.path).is_ok() {
                left -= one.bytes;
                removed += 1;
            }
        }
    }

    /// Returns the objects in the store. It removes the leftovers of killed git processes on the way.
    fn stored(&self) -> Vec<Stored> {
        let mut stored = Vec::new();
        for folder in fs::read_dir(self.kept_objects()).into_iter().flatten().flatten() {
            let start = folder.file_name().to_string_lossy().into_owned();
            if start.starts_with("tmp_obj_") && is_older(&folder.path(), LEFT_AFTER) {
                let _ = fs::remove_file(folder.path());
            }
            if start.len() != 2 {
                continue;
            }
            for object in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let (path, name) = (object.path(), object.file_name().to_string_lossy().into_owned());
                if name.starts_with("tmp_obj_") {
                    if is_older(&path, LEFT_AFTER) {
                        let _ = fs::remove_file(&path);
                    }
                    continue;
                }
                let Ok(meta) = object.metadata() else { continue };
                let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                stored.push(Stored { id: format!("{start}{name}"), path, bytes: meta.len(), modified });
            }
        }
        stored
    }

    /// Returns the ids of `trees` and of everything below them in the store.
    fn below(&self, trees: &[Oid], stored: &BTreeSet<String>) -> BTreeSet<String> {
        let mut found = BTreeSet::new();
        let mut open: Vec<String> = trees.iter().map(ToString::to_string).collect();
        while let Some(id) = open.pop() {
            // A tree that is not in the store was committed, and all below it with it.
            if stored.contains(&id) && found.insert(id.clone()) {
                open.extend(self.entries_of(&id));
            }
        }
        found
    }

    /// Returns the ids in a tree; none for anything else.
    fn entries_of(&self, id: &str) -> Vec<String> {
        let listed = self.library(|library| {
            let object = library.find_object(git2::Oid::from_str(id)?, None)?;
            let tree = object.as_tree().map(|tree| tree.iter().map(|entry| entry.id().to_string()).collect());
            Ok(tree.unwrap_or_default())
        });
        listed.unwrap_or_else(|| {
            let printed = self.git(["ls-tree", "--format=%(objectname)", id]).unwrap_or_default();
            String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
        })
    }
}
