//! The files of the gate's own object store: loose objects and packs.

use std::cell::OnceCell;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Repo;
use super::scratch_index::{LEFT_AFTER, Scratch, is_older};
use crate::oid::Oid;

/// The beginning of an index of a pack: its magic number and version, and the counts by first byte.
const INDEX_HEAD: usize = 8 + 256 * 4;

/// The store. Its packs are listed once.
pub(super) struct KeptObjects<'r> {
    repo: &'r Repo,
    packs: OnceCell<Vec<KeptPack>>,
}

/// An object in a file of its own.
pub(super) struct LooseObject {
    pub(super) id: Oid,
    path: PathBuf,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
}

/// A pack. Its own time is that of its last use, the time of its index that of its oldest content.
pub(super) struct KeptPack {
    index: PathBuf,
    pack: PathBuf,
    pub(super) ids: Vec<Oid>,
    pub(super) bytes: u64,
    pub(super) modified: SystemTime,
    pub(super) begun: SystemTime,
}

impl<'r> KeptObjects<'r> {
    pub(super) const fn of(repo: &'r Repo) -> Self {
        Self { repo, packs: OnceCell::new() }
    }

    /// Sets the time of an object to now, as if it were written again. Returns `false` if neither this store nor the
    /// repository has it.
    pub(super) fn freshen(&self, id: &Oid) -> bool {
        let loose = |store: &Path| is_touched(&store.join(&id.as_str()[..2]).join(&id.as_str()[2..]));
        let packs = || self.packs.get_or_init(|| self.packs()).iter();
        let exists = |library: &git2::Repository| Ok(library.odb()?.exists(git2::Oid::from_str(id.as_str())?));
        loose(&self.repo.kept_objects())
            || packs().any(|pack| pack.ids.binary_search(id).is_ok() && is_touched(&pack.pack))
            || loose(&self.repo.common_dir().join("objects"))
            || self.repo.library(exists) == Some(true)
    }

    /// Returns the objects that are not in packs. It removes the leftovers of killed git processes on the way.
    pub(super) fn loose(&self) -> Vec<LooseObject> {
        let mut found = Vec::new();
        for (name, folder) in files(&self.repo.kept_objects()) {
            if name.len() != 2 {
                remove_leftover(&name, &folder);
                continue;
            }
            for (rest, path) in files(&folder) {
                let (Ok(id), Ok(meta)) = (format!("{name}{rest}").parse(), fs::metadata(&path)) else {
                    remove_leftover(&rest, &path);
                    continue;
                };
                let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                found.push(LooseObject { id, path, bytes: meta.len(), modified });
            }
        }
        found
    }

    /// Returns the packs that can be read, and removes leftovers in the same way.
    pub(super) fn packs(&self) -> Vec<KeptPack> {
        let mut found = Vec::new();
        let width = self.repo.empty_tree().as_str().len() / 2;
        for (name, path) in files(&self.repo.kept_objects().join("pack")) {
            remove_leftover(&name, &path);
            let is_index = path.extension().is_some_and(|extension| extension == "idx");
            let half = path.with_extension(if is_index { "pack" } else { "idx" });
            if !half.exists() && is_older(&path, LEFT_AFTER) {
                let _ = fs::remove_file(&path);
            } else if is_index {
                found.extend(KeptPack::read(path, width));
            }
        }
        found
    }

    /// Writes objects of the store into one pack, and returns its index. They also stay where they were.
    pub(super) fn pack<'a>(&self, ids: impl Iterator<Item = &'a Oid>) -> Option<PathBuf> {
        let folder = self.repo.kept_objects().join("pack");
        fs::create_dir_all(&folder).ok()?;
        let list: String = ids.flat_map(|id| [id.as_str(), "\n"]).collect();
        let name = Scratch::keeping(self.repo).ok()?.pack_objects(&folder.join("pack"), list.as_bytes()).ok()?;
        let index = folder.join(format!("pack-{name}.idx"));
        // One of the same objects may have been there: it is used now.
        (is_touched(&index.with_extension("pack")) && index.exists()).then_some(index)
    }
}

impl LooseObject {
    /// Removes the object, and its folder with the last one.
    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.path)?;
        let _ = self.path.parent().map(fs::remove_dir);
        Ok(())
    }
}

impl KeptPack {
    /// Reads the ids in an index of version 2, each of `width` bytes.
    fn read(index: PathBuf, width: usize) -> io::Result<Self> {
        let bytes = fs::read(&index)?;
        let unknown = || io::Error::from(io::ErrorKind::InvalidData);
        let head = bytes.get(..INDEX_HEAD).filter(|head| head.starts_with(b"\xfftOc\0\0\0\x02")).ok_or_else(unknown)?;
        let count = head[INDEX_HEAD - 4..].iter().fold(0, |count, &byte| count << 8 | usize::from(byte));
        let listed = bytes[INDEX_HEAD..].chunks_exact(width).take(count);
        let ids: Vec<Oid> = listed.filter_map(|id| hex(id).parse().ok()).collect();
        if ids.len() != count {
            return Err(unknown());
        }
        let (pack, begun) = (index.with_extension("pack"), fs::metadata(&index)?.modified()?);
        let meta = fs::metadata(&pack)?;
        Ok(Self { ids, bytes: meta.len(), modified: meta.modified()?, begun, index, pack })
    }

    /// Removes the pack. What is left of it after a kill half way is not a pack, and removed later.
    pub(super) fn remove(&self) -> io::Result<()> {
        fs::remove_file(&self.pack)?;
        let _ = fs::remove_file(self.pack.with_extension("rev"));
        fs::remove_file(&self.index)
    }

    /// Returns `true` if `index` is its index.
    pub(super) fn has_index(&self, index: &Path) -> bool {
        self.index == index
    }
}

fn hex(bytes: &[u8]) -> String {
    let digit = |value: u8| char::from(b"0123456789abcdef"[usize::from(value)]);
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// Sets the time of a file to now. Returns `false` if there is no such file, or it belongs to somebody else.
fn is_touched(file: &Path) -> bool {
    File::open(file).and_then(|file| file.set_modified(SystemTime::now())).is_ok()
}

fn files(folder: &Path) -> impl Iterator<Item = (String, PathBuf)> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
}

/// Removes a file under a temporary name of git that is no longer being written.
fn remove_leftover(name: &str, path: &Path) {
    if name.starts_with("tmp_") && is_older(path, LEFT_AFTER) {
        let _ = fs::remove_file(path);
    }
}
