//! Built files whose time was set forward, so that a tool that compares times does not build them again.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};

use super::Workplace;
use super::file_times::{SECOND, times};
use super::stale_programs::Built;
use crate::shell_quote::shell_word;
use crate::snapshot::KeptSnapshot;

/// The largest number of entries of the working tree that are looked at.
const MAX_ENTRIES: usize = 20_000;
/// The folders that are not looked into: in some, every file keeps the time that its package gave it.
const PASSED_OVER: [&str; 6] = [".git", "node_modules", "site-packages", "vendor", "deps", "incremental"];
/// The time by which a file may seem younger than it is.
const TOLERANCE: i128 = 2 * SECOND;

impl Workplace {
    /// Returns the sentence about a file that git does not track and that is younger than the time at which it was written:
    /// `touch -d`. `again` says how to run the command again.
    pub(super) fn future_build(&self, root: &Path, on: &KeptSnapshot, again: &str) -> Option<String> {
        let found = files_from_the_future(root);
        let built = self.untracked(found.iter().collect(), on);
        let path = built.first()?.path.to_string_lossy();
        Some(format!(
            "the time of {path} was set forward, so that it may not have been built again: rm -- {}{again}",
            shell_word(&path)
        ))
    }
}

/// Returns the files that are younger than the time at which they were written, those nearest to the root first.
fn files_from_the_future(root: &Path) -> Vec<Built> {
    let (mut found, mut left) = (Vec::new(), MAX_ENTRIES);
    let mut folders = VecDeque::from([PathBuf::new()]);
    while let Some(folder) = folders.pop_front() {
        for entry in fs::read_dir(root.join(&folder)).into_iter().flatten().flatten() {
            let Some(rest) = left.checked_sub(1) else { return found };
            left = rest;
            let path = folder.join(entry.file_name());
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && !PASSED_OVER.iter().any(|name| entry.file_name() == *name) => {
                    folders.push_back(path);
                }
                Ok(kind) if kind.is_file() => {
                    let times = times(&root.join(&path)).filter(|it| it.modified > it.changed + TOLERANCE);
                    found.extend(times.map(|it| Built { path, written: it.changed, is_whole: true }));
                }
                _ => {}
            }
        }
    }
    found
}
