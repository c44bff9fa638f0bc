//! The entries of files that git would take byte for byte. Reading them here gives the same ids and is cheaper than
//! starting git. If something may convert a file, git reads it.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::path::Path;

use super::Repo;
use super::attribute_files::folders_above;
use super::config::parse_flag;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The settings under which git takes a file as it is and its mode from the file system, with that value.
const AS_IT_IS: [(&str, bool); 5] = [
    ("core.autocrlf", false),
    ("core.filemode", true),
    ("core.ignorecase", false),
    ("core.symlinks", true),
    ("core.precomposeunicode", false),
];

/// The settings files of a machine that this library does not know: their places depend on the build of git.
const OF_THE_MACHINE: [&str; 3] = ["/usr/local/etc/gitconfig", "/opt/homebrew/etc/gitconfig", "/usr/etc/gitconfig"];

impl Repo {
    /// Returns the files at `paths` as entries; an entry is `None` if the file does not exist. Returns `None` if only
    /// git knows.
    ///
    /// The index holds no `.gitattributes`; this function looks for one next to the files.
    pub(super) fn plain_entries(
        &self,
        root: &Path,
        paths: &[&RepoPath],
    ) -> Option<BTreeMap<RepoPath, Option<SnapshotEntry>>> {
        if cfg!(not(unix)) || self.is_sha256() || self.converts() {
            return None;
        }
        let folders = folders_above(paths.iter().copied());
        // What git would refuse, it says itself.
        if paths.iter().any(|path| path.as_bytes().split(|&byte| byte == b'/').any(is_reserved))
            || folders.iter().any(|folder| is_in_the_way(root, folder))
            || self.attribute_files(root, &folders).iter().any(|file| !is_absent(file))
        {
            return None;
        }
        let mut entries = BTreeMap::new();
        for &path in paths {
            let file = root.join(path.to_os());
            let entry = if is_absent(&file) { None } else { Some(entry(&file)?) };
            entries.insert(path.clone(), entry);
        }
        Some(entries)
    }

    /// Returns `true` if any setting may convert files.
    fn converts(&self) -> bool {
        let Ok(entries) = self.config_entries() else { return true };
        OF_THE_MACHINE.iter().any(|file| !is_absent(Path::new(file)))
            || entries.iter().any(|entry| {
                entry.key == "core.attributesfile"
                    || entry.key == "attr.tree"
                    // Git asks the remotes for these; the library does not.
                    || entry.key.starts_with("includeif.hasconfig")
                    || AS_IT_IS.iter().any(|(key, value)| entry.key == *key && parse_flag(&entry.value) != Some(*value))
            })
    }
}

/// Returns `true` if something other than a folder has the name of the folder.
fn is_in_the_way(root: &Path, folder: &[u8]) -> bool {
    let Some(folder) = folder.strip_suffix(b"/") else { return false };
    fs::symlink_metadata(root.join(RepoPath::new(folder).to_os())).is_ok_and(|meta| !meta.is_dir())
}

fn is_absent(file: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    fs::symlink_metadata(file).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// Returns `true` for a name that git reserves for itself on some file system, and for an invalid name.
fn is_reserved(part: &[u8]) -> bool {
    let begins = |prefix: &[u8]| part.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    part.is_empty()
        || part == b"."
        || part == b".."
        || begins(b".git")
        || begins(b"git~")
        || part.contains(&b'\\')
        || !part.is_ascii()
}

/// Returns the entry of `file`, or `None` if only git knows it.
fn entry(file: &Path) -> Option<SnapshotEntry> {
    let meta = fs::symlink_metadata(file).ok()?;
    let (mode, id) = if meta.is_file() {
        (mode(&meta), git2::Oid::hash_file(git2::ObjectType::Blob, file).ok()?)
    } else if meta.is_symlink() {
        let target = fs::read_link(file).ok()?;
        (0o120_000, git2::Oid::hash_object(git2::ObjectType::Blob, target.as_os_str().as_encoded_bytes()).ok()?)
    } else {
        return None;
    };
    Some(SnapshotEntry { mode, oid: id.to_string().parse::<Oid>().ok()? })
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    if meta.permissions().mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 }
}

/// Returns no mode: on this system the index has the modes.
#[cfg(not(unix))]
const fn mode(_: &Metadata) -> u32 {
    0o100_644
}
