//! The report files of a command, and which of them a run wrote.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::globs::Globs;

/// The maximum size of a report file that is read, in bytes.
const MAX_SIZE: u64 = 32 * 1024 * 1024;

/// The existing report files, with size and time to detect new ones.
#[derive(Debug)]
pub(super) struct ReportListing<'a> {
    dir: &'a Path,
    globs: &'a [String],
    found: BTreeMap<PathBuf, (u64, Option<SystemTime>)>,
}

impl<'a> ReportListing<'a> {
    /// Lists the files in `dir` that globs match.
    pub(super) fn of(dir: &'a Path, globs: &'a [String]) -> Self {
        let mut found = BTreeMap::new();
        let Ok(wanted) = Globs::new(globs) else { return Self { dir, globs, found } };
        // A glob is looked for below its literal beginning, so that a report folder costs what it holds and no more.
        for start in globs.iter().map(|glob| literal_beginning(glob)) {
            let mut folders = vec![dir.join(start)];
            while let Some(folder) = folders.pop() {
                for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                    let path = entry.path();
                    let Ok(meta) = entry.metadata() else { continue };
                    if meta.is_dir() {
                        folders.push(path);
                    } else if meta.len() <= MAX_SIZE && path.strip_prefix(dir).is_ok_and(|inner| wanted.is_match(inner))
                    {
                        found.insert(path, (meta.len(), meta.modified().ok()));
                    }
                }
            }
        }
        Self { dir, globs, found }
    }

    /// Returns their paths.
    pub(super) fn into_paths(self) -> impl Iterator<Item = PathBuf> {
        self.found.into_keys()
    }

    /// Returns the report files that are new or changed since. `true`: there are others.
    pub(super) fn written_since(&self) -> (Vec<PathBuf>, bool) {
        let after = Self::of(self.dir, self.globs).found;
        let all = after.len();
        let changed = after.into_iter().filter(|(path, stamp)| self.found.get(path) != Some(stamp));
        let written: Vec<PathBuf> = changed.map(|(path, _)| path).collect();
        let others = written.len() < all;
        (written, others)
    }
}

fn literal_beginning(glob: &str) -> &str {
    let literal = glob.find(['*', '?', '[', '{']).map_or(glob, |at| &glob[..at]);
    literal.rfind('/').map_or("", |at| &literal[..at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_reports_that_the_run_wrote_count() {
        let dir = tempfile::tempdir().unwrap();
        let globs = ["out/**/TEST-*.xml".to_owned()];
        fs::create_dir_all(dir.path().join("out/a")).unwrap();
        fs::write(dir.path().join("out/a/TEST-old.xml"), "<old/>").unwrap();
        let before = ReportListing::of(dir.path(), &globs);
        fs::write(dir.path().join("out/a/TEST-new.xml"), "<new/>").unwrap();
        fs::write(dir.path().join("out/a/other.xml"), "<other/>").unwrap();
        let written = before.written_since();
        assert_eq!(written, (vec![dir.path().join("out/a/TEST-new.xml")], true));
    }
}
