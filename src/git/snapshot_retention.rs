//! Removes kept contents of runs that no longer prove anything, and packs the others.

use std::collections::BTreeSet;
use std::fs::{File, OpenOptions};
use std::path::Path;
use std::time::{Duration, SystemTime};

use super::Repo;
use super::kept_objects::{KeptObjects, KeptPack, LooseObject};
use crate::oid::Oid;

/// The largest number of objects that are removed or packed at once, so that no command takes long.
const MAX_AT_ONCE: usize = 4096;
/// The number of objects in files of their own from which on they are packed.
const MIN_LOOSE: usize = 64;
/// The largest time between the oldest and the newest content of a pack, which goes as a whole.
const MAX_PACK_SPAN: Duration = Duration::from_hours(7 * 24);

/// The limits for kept contents that no longer prove anything.
#[derive(Clone, Copy, Debug)]
pub struct RetentionLimits {
    /// The largest age.
    pub age: Duration,
    /// The largest total size, in bytes.
    pub bytes: u64,
}

impl RetentionLimits {
    fn is_passed(self, modified: SystemTime) -> bool {
        modified.elapsed().is_ok_and(|age| age > self.age)
    }
}

/// A file of the store.
enum StoredFile {
    Loose(LooseObject),
    Pack(KeptPack),
}

impl StoredFile {
    const fn modified(&self) -> SystemTime {
        match self {
            Self::Loose(LooseObject { modified, .. }) | Self::Pack(KeptPack { modified, .. }) => *modified,
        }
    }

    const fn bytes(&self) -> u64 {
        match self {
            Self::Loose(LooseObject { bytes, .. }) | Self::Pack(KeptPack { bytes, .. }) => *bytes,
        }
    }

    fn ids(&self) -> &[Oid] {
        match self {
            Self::Loose(one) => std::slice::from_ref(&one.id),
            Self::Pack(pack) => &pack.ids,
        }
    }

    /// Removes the file, and packs those of its objects that stay. Returns `true` if it is gone.
    fn is_removed(&self, store: &KeptObjects<'_>, stays: &[&Oid]) -> bool {
        if stays.len() == self.ids().len() || !stays.is_empty() && store.pack(stays.iter().copied()).is_none() {
            return false;
        }
        match self {
            Self::Loose(one) => one.remove().is_ok(),
            Self::Pack(pack) => pack.remove().is_ok(),
        }
    }
}

impl Repo {
    /// Removes contents from the gate's own object store that are older than the limits allow, or exceed the size, the
    /// oldest first, and packs what is left if it is in many files. `proving` are trees that stay whatever their age,
    /// `newest` those that stay even beyond the size.
    pub fn prune_kept(&self, proving: &[Oid], newest: &[Oid], limits: RetentionLimits) {
        if !self.kept_objects().is_dir() {
            return;
        }
        // Of two at once, the second would look for what the first removes.
        let mut options = OpenOptions::new();
        let lock =
            options.read(true).write(true).create(true).truncate(false).open(self.gate_dir().join("objects.lock"));
        if !lock.as_ref().is_ok_and(|lock| lock.try_lock().is_ok()) {
            return;
        }
        let store = KeptObjects::of(self);
        self.remove_beyond(&store, proving, newest, limits);
        if pack_loose(&store).is_some() {
            // Git2 overlooks packs in a folder that was not there when it began.
            self.reload();
        }
    }

    fn remove_beyond(&self, store: &KeptObjects<'_>, proving: &[Oid], newest: &[Oid], limits: RetentionLimits) {
        let loose = store.loose().into_iter().map(StoredFile::Loose);
        let mut stored: Vec<StoredFile> = loose.chain(store.packs().into_iter().map(StoredFile::Pack)).collect();
        let mut left: u64 = stored.iter().map(StoredFile::bytes).sum();
        if left <= limits.bytes && !stored.iter().any(|one| limits.is_passed(one.modified())) {
            return;
        }
        stored.sort_by_key(StoredFile::modified);
        let ids: BTreeSet<Oid> = stored.iter().flat_map(StoredFile::ids).cloned().collect();
        let (proving, newest) = (self.below(proving, &ids), self.below(newest, &ids));
        let mut removed = 0;
        for one in stored {
            let staying = match (left > limits.bytes, limits.is_passed(one.modified())) {
                (true, _) => &newest,
                (false, true) => &proving,
                (false, false) => continue,
            };
            let stays: Vec<&Oid> = one.ids().iter().filter(|id| staying.contains(*id)).collect();
            if removed < MAX_AT_ONCE && one.is_removed(store, &stays) {
                left -= one.bytes();
                removed += one.ids().len();
            }
        }
    }

    /// Returns the ids of `trees` and of everything below them in the store.
    fn below(&self, trees: &[Oid], stored: &BTreeSet<Oid>) -> BTreeSet<Oid> {
        let mut found = BTreeSet::new();
        let mut open = trees.to_vec();
        while let Some(id) = open.pop() {
            // A tree that is not in the store was committed, and all below it with it.
            if stored.contains(&id) && found.insert(id.clone()) {
                open.extend(self.entries_of(&id));
            }
        }
        found
    }

    /// Returns the ids in a tree; none for anything else.
    fn entries_of(&self, id: &Oid) -> Vec<Oid> {
        let listed = self.library(|library| {
            let object = library.find_object(git2::Oid::from_str(id.as_str())?, None)?;
            let tree = object.as_tree().map(|tree| tree.iter().map(|entry| entry.id().to_string()).collect());
            Ok(tree.unwrap_or_default())
        });
        let listed: Vec<String> = listed.unwrap_or_else(|| {
            let printed = self.git(["ls-tree", "--format=%(objectname)", id.as_str()]).unwrap_or_default();
            String::from_utf8_lossy(&printed).lines().map(str::to_owned).collect()
        });
        listed.iter().filter_map(|id| id.parse().ok()).collect()
    }
}

/// Packs objects in files of their own, the oldest first. The newest pack grows until it is large or spans a week.
/// Returns `None` if nothing was packed.
fn pack_loose(store: &KeptObjects<'_>) -> Option<()> {
    let mut loose = store.loose();
    if loose.len() < MIN_LOOSE {
        return None;
    }
    loose.sort_by_key(|one| one.modified);
    loose.truncate(MAX_AT_ONCE);
    let (oldest, newest) = (loose.first()?.modified, loose.last()?.modified);
    let spans_less = |pack: &KeptPack| newest.duration_since(pack.begun).is_ok_and(|span| span < MAX_PACK_SPAN);
    let fits = |pack: &KeptPack| pack.ids.len() < MAX_AT_ONCE && spans_less(pack);
    let grown = store.packs().into_iter().filter(fits).max_by_key(|pack| pack.begun);
    let ids = loose.iter().map(|one| &one.id).chain(grown.iter().flat_map(|pack| &pack.ids));
    let index = store.pack(ids)?;
    let begun = grown.as_ref().map_or(oldest, |pack| pack.begun.min(oldest));
    let _ = set_time(&index, begun);
    for one in &loose {
        let _ = one.remove();
    }
    if let Some(pack) = grown.filter(|pack| !pack.has_index(&index)) {
        let _ = pack.remove();
    }
    Some(())
}

fn set_time(file: &Path, time: SystemTime) -> std::io::Result<()> {
    File::open(file)?.set_modified(time)
}
