//! The task files of a project, which define the meaning of a command line.

use std::fs;
use std::path::PathBuf;

use crate::runner::ProjectFiles;

/// The largest file that is read, in bytes.
const MAX_FILE_SIZE: u64 = 1 << 20;

/// The files below a directory on disk.
#[derive(Clone, Debug)]
pub struct DiskDirectory(pub PathBuf);

impl ProjectFiles for DiskDirectory {
    fn read(&self, path: &str) -> Option<String> {
        let path = self.0.join(path);
        let length = fs::metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        (length <= MAX_FILE_SIZE).then(|| fs::read_to_string(path).ok()).flatten()
    }

    fn has(&self, path: &str) -> bool {
        self.0.join(path).is_file()
    }

    fn names(&self, folder: &str) -> Option<Vec<String>> {
        let names = fs::read_dir(self.0.join(folder)).ok()?.map(|entry| {
            let entry = entry.ok()?;
            let name = entry.file_name().into_string().ok()?;
            // A link to a folder is looked into by some runners: it is not known.
            match entry.file_type().ok()? {
                kind if kind.is_symlink() => (!entry.path().is_dir()).then_some(name),
                kind if kind.is_dir() => Some(name + "/"),
                _ => Some(name),
            }
        });
        names.collect()
    }
}
