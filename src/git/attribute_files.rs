//! The places of attribute files, which say how git converts and compares files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::Repo;
use crate::repo_path::RepoPath;

/// The attribute files of the machine, for each place where a build of git looks for them.
const OF_THE_MACHINE: [&str; 3] =
    ["/etc/gitattributes", "/usr/local/etc/gitattributes", "/opt/homebrew/etc/gitattributes"];

/// Returns the folders above `paths`, from the root, each once; that of the root is empty, the others end in `/`.
pub(super) fn folders_above<'p>(paths: impl IntoIterator<Item = &'p RepoPath>) -> BTreeSet<&'p [u8]> {
    let mut folders = BTreeSet::from([&b""[..]]);
    for path in paths {
        let bytes = path.as_bytes();
        folders.extend(memchr::memchr_iter(b'/', bytes).map(|at| &bytes[..=at]));
    }
    folders
}

impl Repo {
    /// Returns the attribute files, existing or not, that may concern the files in `folders` of the working tree at
    /// `root`.
    pub(super) fn attribute_files(&self, root: &Path, folders: &BTreeSet<&[u8]>) -> Vec<PathBuf> {
        let home = |name: &str, below: &str| std::env::var_os(name).map(|home| Path::new(&home).join(below));
        let outside = [
            Some(self.common_dir().join("info/attributes")),
            self.library(|library| library.config()?.get_path("core.attributesFile")),
            home("XDG_CONFIG_HOME", "git/attributes"),
            home("HOME", ".config/git/attributes"),
        ];
        let inside =
            folders.iter().map(|folder| root.join(RepoPath::new([folder, &b".gitattributes"[..]].concat()).to_os()));
        inside.chain(outside.into_iter().flatten()).chain(OF_THE_MACHINE.into_iter().map(PathBuf::from)).collect()
    }
}
