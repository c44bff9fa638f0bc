//! When a file was written.

use std::path::Path;

/// One second, in the unit of the times.
pub(super) const SECOND: i128 = 1_000_000_000;
/// The time by which a file may seem older than it is: file systems take the clock of the last tick.
pub(super) const TICK: i128 = 50_000_000;

/// The times of a file, in nanoseconds since 1970, and its size.
#[derive(Clone, Copy, Debug)]
pub(super) struct FileTimes {
    pub(super) modified: i128,
    /// The time at which its content, its name or its times were changed.
    pub(super) changed: i128,
    pub(super) size: u64,
}

/// Returns the times of a file, or `None` if it is not a regular file.
#[cfg(unix)]
pub(super) fn times(path: &Path) -> Option<FileTimes> {
    use std::os::unix::fs::MetadataExt;
    let meta = std::fs::symlink_metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let at = |seconds: i64, nanos: i64| i128::from(seconds) * SECOND + i128::from(nanos);
    Some(FileTimes {
        modified: at(meta.mtime(), meta.mtime_nsec()),
        changed: at(meta.ctime(), meta.ctime_nsec()),
        size: meta.len(),
    })
}

/// Elsewhere it is not known when a file was put in its place.
#[cfg(not(unix))]
pub(super) fn times(_: &Path) -> Option<FileTimes> {
    None
}
