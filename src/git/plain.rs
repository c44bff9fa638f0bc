//! What files would be as entries where git would take them byte for byte: then reading them here gives the same ids, and
//! starting git costs more. Wherever something may convert a file, git is asked.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::Repo;
use super::config::parse_flag;
use crate::oid::Oid;
use crate::repo_path::RepoPath;
use crate::snapshot::Entry;

/// How many files are read here before git is asked, which reads them beside each other.
const MOST: usize = 256;

/// The settings under which git takes a file as it is and its mode from the file system, with that value.
const AS_IT_IS: [(&str, bool); 5] = [
    ("core.autocrlf", false),
    ("core.filemode", true),
    ("core.ignorecase", false),
    ("core.symlinks", true),
    ("core.precomposeunicode", false),
];

/// Where the attributes and settings of a machine may be that this library does not know of: they depend on how git was
/// built.
const OF_THE_MACHINE: [&str; 6] = [
    "/etc/gitattributes",
    "/usr/local/etc/gitattributes",
    "/usr/local/etc/gitconfig",
    "/opt/homebrew/etc/gitattributes",
    "/opt/homebrew/etc/gitconfig",
    "/usr/etc/gitconfig",
];

impl Repo {
    /// What the files at `paths` would be as entries; `None`: nothing is there. No answer: git has to be asked.
    ///
    /// The index holds no `.gitattributes`; whether one lies beside the files is seen here.
    pub(super) fn plain_entries(&self, root: &Path, paths: &[&RepoPath]) -> Option<BTreeMap<RepoPath, Option<Entry>>> {
        if cfg!(not(unix)) || self.is_sha256() || paths.len() > MOST || self.converts() {
            return None;
        }
        let mut folders = BTreeSet::new();
        for path in paths {
            let bytes = path.as_bytes();
            // What git would refuse, it says itself.
            if bytes.split(|&byte| byte == b'/').any(|part| part.is_empty() || is_reserved(part)) {
                return None;
            }
            folders.insert(&b""[..]);
            folders.extend(memchr::memchr_iter(b'/', bytes).map(|at| &bytes[..=at]));
        }
        folders.into_iter().all(|folder| is_plain(root, folder)).then_some(())?;
        let mut entries = BTreeMap::new();
        for &path in paths {
            let file = root.join(path.to_os());
            let entry = if is_absent(&file) { None } else { Some(entry(&file)?) };
            entries.insert(path.clone(), entry);
        }
        Some(entries)
    }

    /// Whether any setting or attributes outside of the working tree may convert files.
    fn converts(&self) -> bool {
        let home = |name: &str, below: &str| std::env::var_os(name).map(|home| Path::new(&home).join(below));
        let attributes = [
            Some(self.common_dir().join("info/attributes")),
            home("XDG_CONFIG_HOME", "git/attributes"),
            home("HOME", ".config/git/attributes"),
        ];
        let mut outside = attributes.into_iter().flatten().chain(OF_THE_MACHINE.into_iter().map(PathBuf::from));
        if outside.any(|file| !is_absent(&file)) {
            return true;
        }
        let Ok(entries) = self.config_entries() else { return true };
        entries.iter().any(|entry| {
            entry.key == "core.attributesfile"
                // Git asks the remotes for these; the library does not.
                || entry.key.starts_with("includeif.hasconfig")
                || AS_IT_IS.iter().any(|(key, value)| entry.key == *key && parse_flag(&entry.value) != Some(*value))
        })
    }
}

/// Whether a folder is one, or nothing, and holds no attributes.
fn is_plain(root: &Path, folder: &[u8]) -> bool {
    let at = root.join(RepoPath::new(folder.strip_suffix(b"/").unwrap_or(folder)).to_os());
    let is_link = !folder.is_empty() && fs::symlink_metadata(&at).is_ok_and(|meta| !meta.is_dir());
    !is_link && is_absent(&at.join(".gitattributes"))
}

fn is_absent(file: &Path) -> bool {
    use std::io::ErrorKind::{NotADirectory, NotFound};
    fs::symlink_metadata(file).is_err_and(|error| matches!(error.kind(), NotFound | NotADirectory))
}

/// A name that git takes for its own, on some file system.
fn is_reserved(part: &[u8]) -> bool {
    let begins = |prefix: &[u8]| part.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix));
    part == b"." || part == b".." || begins(b".git") || begins(b"git~") || part.contains(&b'\\') || !part.is_ascii()
}

/// What lies at `file`. `None`: only git can say.
fn entry(file: &Path) -> Option<Entry> {
    let meta = fs::symlink_metadata(file).ok()?;
    let (mode, id) = if meta.is_file() {
        (mode(&meta), git2::Oid::hash_file(git2::ObjectType::Blob, file).ok()?)
    } else if meta.is_symlink() {
        let target = fs::read_link(file).ok()?;
        (0o120_000, git2::Oid::hash_object(git2::ObjectType::Blob, target.as_os_str().as_encoded_bytes()).ok()?)
    } else {
        return None;
    };
    Some(Entry { mode, oid: id.to_string().parse::<Oid>().ok()? })
}

#[cfg(unix)]
fn mode(meta: &Metadata) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    if meta.permissions().mode() & 0o100 == 0 { 0o100_644 } else { 0o100_755 }
}

/// Not asked: here the index has the modes.
#[cfg(not(unix))]
const fn mode(_: &Metadata) -> u32 {
    0o100_644
}
