//! The changes to the functions of a tree.

use std::thread;

use crate::collect::changed_files::{ChangedFile, FilesOf, changed_files};
use crate::git::{GitError, Repo};
use crate::oid::Oid;
use crate::symbols::{self, FunctionDiff, Outline, Outlines};

/// Compares the functions of a tree and a state.
pub fn function_diff(repo: &Repo, base: &Oid, state: FilesOf<'_>) -> Result<FunctionDiff, GitError> {
    let files = changed_files(repo, base, state, |path| symbols::is_read(&path.to_string()))?;
    let (before, after) = outlines(&files);
    Ok(symbols::compare(&before, &after))
}

/// Reads all files, on all processors.
fn outlines(files: &[ChangedFile]) -> (Outlines, Outlines) {
    let threads = thread::available_parallelism().map_or(1, usize::from);
    let share = files.len().div_ceil(threads).max(1);
    let read = |files: &[ChangedFile]| -> Vec<(String, Option<Outline>, Option<Outline>)> {
        let one = |file: &ChangedFile| {
            let path = file.path.to_string();
            let outline = |bytes: &Option<Vec<u8>>| bytes.as_ref().map(|bytes| symbols::outline(&path, bytes));
            (path.clone(), outline(&file.before), outline(&file.after))
        };
        files.iter().map(one).collect()
    };
    let (mut before, mut after) = (Outlines::new(), Outlines::new());
    thread::scope(|scope| {
        let shares: Vec<_> = files.chunks(share).map(|files| scope.spawn(move || read(files))).collect();
        for (path, old, new) in shares.into_iter().flat_map(|share| share.join().unwrap_or_default()) {
            before.extend(old.map(|outline| (path.clone(), outline)));
            after.extend(new.map(|outline| (path, outline)));
        }
    });
    (before, after)
}
