//! Files that only their owner can read: the tail of an output may be private.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::path::Path;

/// Creates a directory and those above it that are missing, for the owner alone (0700).
pub(super) fn create_dir(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt;
        builder.mode(0o700);
    }
    builder.create(path)
}

/// Opens with `options`; a file that this creates is for the owner alone (0600).
///
/// Fails at once where something else than a file is in its place: a FIFO would wait for a writer, and a device has no end.
pub(super) fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    let meta = file.metadata()?;
    if meta.is_file() {
        return Ok(file);
    }
    let (kind, what) = if meta.is_dir() {
        (ErrorKind::IsADirectory, "a folder")
    } else {
        (ErrorKind::InvalidInput, "a FIFO or a device")
    };
    Err(io::Error::new(kind, format!("{what} is in place of this file; remove it, and gate makes the file again")))
}

/// Opens a file for reading; see [`open`].
pub(super) fn reader(path: &Path) -> io::Result<File> {
    open(path, OpenOptions::new().read(true))
}

/// Returns the content of a file; see [`open`].
pub(super) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Turns "not found" into `Ok(None)`.
pub(super) fn found<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns `true` if this place cannot be written at all: another may be tried.
pub(super) fn is_refused(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::PermissionDenied
            | ErrorKind::ReadOnlyFilesystem
            | ErrorKind::NotADirectory
            | ErrorKind::AlreadyExists
            | ErrorKind::IsADirectory
    )
}

/// Returns `true` if the disk is full.
pub(super) fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge | ErrorKind::WriteZero
    )
}
