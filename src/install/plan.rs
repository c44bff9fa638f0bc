//! A plan: the changes on disk, and their display.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use similar::TextDiff;

use super::InstallTarget;
use super::install_record::{FileRecord, FileRole, InstallRecord, PortablePath};
use crate::digest::hex_digest;

/// The changes to make, and the messages about them.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The changes, in their order.
    pub changes: Vec<PlannedChange>,
    /// Other things that the user should know or do: sentences, some of several lines.
    pub notes: Vec<String>,
    /// The record of the installation afterwards; if it is empty, no record is left.
    pub record: InstallRecord,
    /// Delete everything gate keeps in the repository.
    pub purge: bool,
}

impl Plan {
    /// Returns `true` if carrying it out would change nothing.
    pub fn is_idle(&self, repository: &InstallTarget) -> bool {
        let recorded = InstallRecord::path(repository).exists();
        self.changes.is_empty()
            && !(self.record.is_empty() && recorded)
            && !(self.purge && repository.gate_dir().exists())
    }

    /// Adds a file with this text, and the folders above it that are missing. The record has its role, and the text that
    /// was there without gate's.
    pub(super) fn write_text(
        &mut self,
        repository: &InstallTarget,
        path: &Path,
        before: FileState,
        after: String,
        (role, text_before): (FileRole, Option<String>),
    ) {
        if let Some(folder) = path.parent() {
            self.make_folder(repository, folder);
        }
        let place = PortablePath::new(repository, path);
        let digest = hex_digest(&[after.as_bytes()]);
        self.record.put_file(FileRecord { place, role, digest, before: text_before });
        let mode = before.mode_or(0o644);
        self.changes.push(PlannedChange::Write { path: path.to_owned(), before, bytes: after.into_bytes(), mode });
    }

    /// Adds a folder that is missing, and those above it.
    pub(super) fn make_folder(&mut self, repository: &InstallTarget, path: &Path) {
        if path.exists() {
            return;
        }
        if let Some(parent) = path.parent() {
            self.make_folder(repository, parent);
        }
        let place = PortablePath::new(repository, path);
        if !self.record.folders.contains(&place) {
            self.record.folders.push(place);
        }
        // Before the file that goes into it, and before a move within it there is nothing to move.
        let change = PlannedChange::MakeFolder(path.to_owned());
        if !self.changes.contains(&change) {
            self.changes.push(change);
        }
    }
}

/// One change on disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlannedChange {
    /// A folder is made.
    MakeFolder(PathBuf),
    /// A file is written, whole and at once.
    Write {
        path: PathBuf,
        /// The present state.
        before: FileState,
        /// The new content.
        bytes: Vec<u8>,
        /// The permission bits it will have.
        mode: u32,
    },
    /// A file or symbolic link gets another name in the same folder; a file of that name is replaced.
    Move {
        /// The name now.
        from: PathBuf,
        /// The name then.
        to: PathBuf,
    },
    /// A file or symbolic link is removed.
    Remove {
        path: PathBuf,
        /// The present state.
        before: FileState,
    },
    /// A folder is removed, if nothing is in it by then.
    RemoveFolder(PathBuf),
}

/// The state of a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileState {
    /// Nothing.
    Missing,
    /// A regular file.
    File {
        /// Its content.
        bytes: Vec<u8>,
        /// Its permission bits.
        mode: u32,
    },
    /// A symbolic link.
    Link(PathBuf),
    /// A folder or a special file.
    Other,
}

impl FileState {
    /// Looks at `path` without following a link there.
    pub fn read(path: &Path) -> io::Result<Self> {
        let meta = match fs::symlink_metadata(path) {
            Ok(meta) => meta,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                return Ok(Self::Missing);
            }
            Err(error) => return Err(error),
        };
        if meta.is_symlink() {
            Ok(Self::Link(fs::read_link(path)?))
        } else if meta.is_file() {
            Ok(Self::File { bytes: fs::read(path)?, mode: mode(&meta) })
        } else {
            Ok(Self::Other)
        }
    }

    /// Returns SHA-256 of the content, or of the text of the link.
    pub fn digest(&self) -> String {
        match self {
            Self::File { bytes, .. } => hex_digest(&[bytes]),
            Self::Link(target) => hex_digest(&[b"link", target.as_os_str().as_encoded_bytes()]),
            Self::Missing | Self::Other => String::new(),
        }
    }

    /// Returns the content if it is text. Where nothing is, it is empty.
    pub(super) fn text(&self) -> Option<String> {
        match self {
            Self::Missing => Some(String::new()),
            Self::File { bytes, .. } => String::from_utf8(bytes.clone()).ok(),
            Self::Link(_) | Self::Other => None,
        }
    }

    pub(super) fn bytes(&self) -> &[u8] {
        if let Self::File { bytes, .. } = self { bytes } else { &[] }
    }

    pub(super) fn mode(&self) -> u32 {
        if let Self::File { mode, .. } = self { *mode } else { 0 }
    }

    /// Returns the permission bits, or those for a new file where nothing is.
    pub(super) fn mode_or(&self, new: u32) -> u32 {
        if *self == Self::Missing { new } else { self.mode() }
    }
}

/// Returns the permission bits; on systems without them, those of an ordinary file.
#[cfg(unix)]
fn mode(meta: &fs::Metadata) -> u32 {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o7777
}

/// Returns the permission bits; on systems without them, those of an ordinary file.
#[cfg(not(unix))]
fn mode(_: &fs::Metadata) -> u32 {
    0o644
}

/// Returns the changes as a unified diff, with paths relative to `base` if they lie below it.
pub fn diff(changes: &[PlannedChange], base: &Path) -> String {
    let mut out = String::new();
    let shown = |path: &Path| path.strip_prefix(base).unwrap_or(path).display().to_string();
    for change in changes {
        // Writing to a string cannot fail.
        let _ = match change {
            PlannedChange::MakeFolder(path) => writeln!(out, "new folder {}", shown(path)),
            PlannedChange::RemoveFolder(path) => writeln!(out, "remove folder {} if it is empty", shown(path)),
            PlannedChange::Move { from, to } => writeln!(out, "rename from {}\nrename to {}", shown(from), shown(to)),
            PlannedChange::Remove { path, before: FileState::Link(target) } => {
                writeln!(out, "remove link {} -> {}", shown(path), target.display())
            }
            PlannedChange::Remove { path, before } => {
                write!(out, "{}", unified(before.bytes(), b"", &format!("a/{}", shown(path)), "/dev/null"))
            }
            PlannedChange::Write { path, before, bytes, mode } => {
                let (old, new) = (format!("a/{}", shown(path)), format!("b/{}", shown(path)));
                let old = if *before == FileState::Missing { "/dev/null" } else { old.as_str() };
                if *before == FileState::Missing && mode & 0o111 != 0 {
                    let _ = writeln!(out, "new file, executable");
                } else if *before != FileState::Missing && before.mode() != *mode {
                    let _ = writeln!(out, "{}: mode {:o} becomes {mode:o}", shown(path), before.mode());
                }
                write!(out, "{}", unified(before.bytes(), bytes, old, &new))
            }
        };
    }
    out
}

fn unified(before: &[u8], after: &[u8], old: &str, new: &str) -> String {
    let (before, after) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    TextDiff::from_lines(before.as_ref(), after.as_ref()).unified_diff().context_radius(3).header(old, new).to_string()
}
