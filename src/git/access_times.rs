//! The access times of untracked files at the top of a working tree, which tell whether a command read them.
//!
//! Most file systems write an access time only when a file is read for the first time since it was written (`relatime`). A
//! file whose access time is not later than its last change was therefore not read. Where access times are not written
//! (`noatime`), no file seems to be read.

use std::fs::{self, File, FileTimes, Metadata};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::Repo;
use crate::repo_path::RepoPath;
use crate::snapshot::KeptSnapshot;

/// The largest number of files that are looked at.
const MAX_FILES: usize = 256;

/// The times of some files, before something reads them.
pub(super) struct AccessTimes(Vec<FileAccess>);

/// A file, and what may be read in its place.
struct FileAccess {
    path: RepoPath,
    file: PathBuf,
    modified: SystemTime,
    is_read: bool,
}

impl AccessTimes {
    /// Returns those of the regular files among `paths` that lie at the top of the working tree `root`.
    pub(super) fn of<'p>(root: &Path, paths: impl Iterator<Item = &'p RepoPath>) -> Self {
        let at_top = paths.filter(|path| !path.as_bytes().contains(&b'/')).take(MAX_FILES);
        Self(at_top.filter_map(|path| FileAccess::of(root, path)).collect())
    }

    /// Returns the files that were read since they were written.
    pub(super) fn read(&self) -> Vec<RepoPath> {
        self.0.iter().filter(|one| one.is_read).map(|one| one.path.clone()).collect()
    }

    /// Takes back what reading the files since then did to their access times.
    pub(super) fn restore(&self) {
        let unread = self.0.iter().filter(|one| !one.is_read);
        unread.for_each(|one| forget_read(&one.file, one.modified));
    }
}

impl FileAccess {
    fn of(root: &Path, path: &RepoPath) -> Option<Self> {
        let file = root.join(path.to_os());
        let meta = regular(&file)?;
        let is_read =
            is_read(&meta) || compiled_forms(&file).iter().filter_map(|file| regular(file)).any(|of| is_read(&of));
        Some(Self { path: path.clone(), modified: meta.modified().ok()?, file, is_read })
    }
}

impl Repo {
    /// Returns the present working tree like [`Repo::keep_now`], and begins to notice which of its untracked files at the top
    /// are read: those that the next snapshot names in [`KeptSnapshot::read`]. A second run that starts meanwhile forgets what
    /// the first one read.
    pub fn keep_start(&self) -> Result<KeptSnapshot, super::GitError> {
        let start = self.keep_now()?;
        let root = self.work_tree()?;
        for path in &start.read {
            let file = root.join(path.to_os());
            for file in compiled_forms(&file).into_iter().chain([file]) {
                if let Some(modified) = regular(&file).and_then(|meta| meta.modified().ok()) {
                    forget_read(&file, modified);
                }
            }
        }
        Ok(KeptSnapshot { read: Vec::new(), ..start })
    }

    /// Returns the files that were read since [`Repo::keep_start`] returned `start`.
    pub fn read_since(&self, start: &KeptSnapshot) -> Vec<RepoPath> {
        self.root().map(|root| AccessTimes::of(root, start.untracked.iter()).read()).unwrap_or_default()
    }
}

fn regular(file: &Path) -> Option<Metadata> {
    fs::symlink_metadata(file).ok().filter(Metadata::is_file)
}

fn is_read(meta: &Metadata) -> bool {
    matches!((meta.accessed(), meta.modified()), (Ok(accessed), Ok(modified)) if accessed > modified)
}

/// Returns the compiled forms of a script in Python, one of which is read in its place.
fn compiled_forms(file: &Path) -> Vec<PathBuf> {
    let (Some(stem), Some(folder)) = (file.file_stem(), file.parent()) else { return Vec::new() };
    if file.extension().is_none_or(|extension| extension != "py") {
        return Vec::new();
    }
    let start = format!("{}.", stem.to_string_lossy());
    let entries = fs::read_dir(folder.join("__pycache__")).into_iter().flatten().flatten();
    let of_script =
        |name: &Path| name.to_string_lossy().starts_with(&start) && name.extension().is_some_and(|is| is == "pyc");
    entries.filter(|entry| of_script(Path::new(&entry.file_name()))).map(|entry| entry.path()).take(MAX_FILES).collect()
}

/// Sets the access time of a file that was last changed at `modified` to that time. If that is not possible, the file counts as read.
fn forget_read(file: &Path, modified: SystemTime) {
    let is_same = |meta: &Metadata| meta.modified().is_ok_and(|now| now == modified);
    if !regular(file).is_some_and(|meta| is_same(&meta) && is_read(&meta)) {
        return;
    }
    let set = File::open(file).and_then(|open| open.set_times(FileTimes::new().set_accessed(modified)));
    if let Err(error) = set {
        log::debug!("the access time of {} could not be set: {error}", file.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_was_read_since_it_was_written_is_known() {
        let folder = tempfile::tempdir().unwrap();
        let (path, hidden) = (RepoPath::from("debug.py"), RepoPath::from("lib/debug.py"));
        let (file, compiled) =
            (folder.path().join("debug.py"), folder.path().join("__pycache__/debug.cpython-311.pyc"));
        fs::create_dir(folder.path().join("__pycache__")).unwrap();
        fs::create_dir(folder.path().join("lib")).unwrap();
        for file in [&file, &compiled, &folder.path().join("lib/debug.py")] {
            fs::write(file, "x").unwrap();
        }
        let times = || AccessTimes::of(folder.path(), [&path, &hidden].into_iter());
        let later = SystemTime::now() + std::time::Duration::from_secs(5);
        let read = |file: &Path| File::open(file).unwrap().set_times(FileTimes::new().set_accessed(later)).unwrap();
        let unread = times();
        assert_eq!(unread.read(), []);
        read(&file);
        assert_eq!(times().read(), std::slice::from_ref(&path));
        unread.restore();
        assert_eq!(times().read(), [], "as if nothing had read it");
        read(&compiled);
        assert_eq!(times().read(), std::slice::from_ref(&path));
    }
}
