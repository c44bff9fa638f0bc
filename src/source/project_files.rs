//! The task files of a project: they say what a command line means.

use std::fs;
use std::path::PathBuf;

use crate::runner::ProjectFiles;

/// The largest file that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// The files below a directory on disk.
#[derive(Clone, Debug)]
pub struct DiskDirectory(pub PathBuf);

impl ProjectFiles for DiskDirectory {
    fn read(&self, path: &str) -> Option<String> {
        let path = self.0.join(path);
        let length = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        (length <= LARGEST).then(|| fs::read_to_string(path).ok()).flatten()
    }
}
