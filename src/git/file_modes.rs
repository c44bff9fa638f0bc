//! Executable files that git does not see as such: with `core.fileMode=false`, it takes modes from the index.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::config::{ConfigEntry, last, parse_flag};
use crate::local_file::{LocalCause, LocalFile};
use crate::repo_path::RepoPath;
use crate::snapshot::SnapshotEntry;

/// The mode of a file that is not executable.
const PLAIN: u32 = 0o100_644;

/// Returns `true` if git takes modes from the index although files have modes of their own here.
pub(super) fn overlooks_modes(config: &[ConfigEntry], root: &Path) -> bool {
    let off = last(config, "core.filemode").is_some_and(|entry| parse_flag(&entry.value) == Some(false));
    off && tells_modes_apart(root)
}

/// Returns `true` unless the file system shows every file as executable, as it does for disks of Windows: git never
/// makes the file that is looked at here executable.
pub(super) fn tells_modes_apart(root: &Path) -> bool {
    let git = root.join(".git");
    let plain = if git.is_dir() { git.join("HEAD") } else { git };
    cfg!(unix) && !is_executable(&plain)
}

/// Returns the files that can be executed here, and not in a checkout elsewhere. `index` are the entries of the index,
/// and `files` those of the working tree that differ from it.
pub(super) fn executable_here(
    root: &Path,
    index: &[(RepoPath, SnapshotEntry)],
    files: &BTreeMap<RepoPath, Option<SnapshotEntry>>,
) -> Vec<LocalFile> {
    let same = index.iter().filter(|(path, _)| !files.contains_key(path)).map(|(path, entry)| (path, entry));
    let others = files.iter().filter_map(|(path, entry)| Some((path, entry.as_ref()?)));
    let plain: BTreeSet<&RepoPath> =
        same.chain(others).filter(|(_, entry)| entry.mode == PLAIN).map(|(path, _)| path).collect();
    let runs = |path: &&RepoPath| is_executable(&root.join(path.to_os())) && is_program(&root.join(path.to_os()));
    let found = plain.into_iter().filter(runs);
    found.map(|path| LocalFile { path: path.clone(), cause: LocalCause::Executable }).collect()
}

/// Returns `true` if a file is a script or a binary that a system can start.
fn is_program(file: &Path) -> bool {
    use std::io::Read as _;
    const BEGINNINGS: [&[u8]; 6] =
        [b"#!", b"\x7fELF", b"\xfe\xed\xfa\xce", b"\xfe\xed\xfa\xcf", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe"];
    let mut beginning = Vec::new();
    let read = std::fs::File::open(file).and_then(|file| file.take(4).read_to_end(&mut beginning));
    // A shell executes a file without `#!` as well.
    let of_shell = file.extension().is_some_and(|extension| extension == "sh" || extension == "bash");
    read.is_ok() && (of_shell || BEGINNINGS.iter().any(|known| beginning.starts_with(known)))
}

#[cfg(unix)]
fn is_executable(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::symlink_metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o100 != 0)
}

#[cfg(not(unix))]
const fn is_executable(_: &Path) -> bool {
    false
}
