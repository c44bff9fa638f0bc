//! Carries out a plan.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::install_record::InstallRecord;
use super::{FileState, InstallError, InstallTarget, Plan, PlannedChange};

/// Carries out the plan. The record is on disk before the first hook is moved, so that `gate uninstall` can restore
/// everything after an interruption.
pub fn apply(repository: &InstallTarget, plan: &Plan) -> Result<(), InstallError> {
    let path = InstallRecord::path(repository);
    if !plan.record.is_empty() {
        fs::create_dir_all(repository.gate_dir()).map_err(InstallError::io(&repository.gate_dir()))?;
        write(&path, &plan.record.to_json(), 0o644)?;
    }
    for change in &plan.changes {
        carry_out(change)?;
    }
    if plan.record.is_empty() {
        remove_if_there(&path)?;
        // Nothing else in it: then it was made by the installation. Otherwise it stays, with the journal.
        let _ = fs::remove_dir(repository.gate_dir());
    }
    if plan.purge {
        repository.delete_refs_below("refs/gate/")?;
        repository.forget_journal();
        let dir = repository.gate_dir();
        if fs::symlink_metadata(&dir).is_ok_and(|meta| meta.is_dir()) {
            fs::remove_dir_all(&dir).map_err(InstallError::io(&dir))?;
        }
    }
    Ok(())
}

fn carry_out(change: &PlannedChange) -> Result<(), InstallError> {
    match change {
        PlannedChange::MakeFolder(path) => fs::create_dir_all(path).map_err(InstallError::io(path)),
        PlannedChange::RemoveFolder(path) => {
            let _ = fs::remove_dir(path);
            Ok(())
        }
        PlannedChange::Move { from, to } => fs::rename(from, to).map_err(InstallError::io(from)),
        PlannedChange::Remove { path, before } => {
            unchanged(path, before)?;
            remove_if_there(path)
        }
        PlannedChange::Write { path, before, bytes, mode } => {
            // A hook that was moved away a moment ago leaves its place empty.
            if FileState::read(path).map_err(InstallError::io(path))? != FileState::Missing {
                unchanged(path, before)?;
            }
            write(path, bytes, *mode)
        }
    }
}

/// Checks that the file is still as the user saw it in the plan.
fn unchanged(path: &Path, before: &FileState) -> Result<(), InstallError> {
    let now = FileState::read(path).map_err(InstallError::io(path))?;
    if now == *before { Ok(()) } else { Err(InstallError::Changed { path: path.to_owned() }) }
}

fn remove_if_there(path: &Path) -> Result<(), InstallError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(InstallError::io(path)(error)),
        _ => Ok(()),
    }
}

/// Writes a file as a whole or not at all: git may run a hook at any moment.
fn write(path: &Path, bytes: &[u8], mode: u32) -> Result<(), InstallError> {
    let dir = path.parent().unwrap_or(Path::new("."));
    let written = tempfile::Builder::new().prefix(".gate-").tempfile_in(dir).and_then(|mut file| {
        file.write_all(bytes)?;
        set_mode(file.as_file(), mode)?;
        file.persist(path).map_err(|error| error.error)
    });
    written.map(drop).map_err(InstallError::io(path))
}

#[cfg(unix)]
fn set_mode(file: &fs::File, mode: u32) -> io::Result<()> {
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &fs::File, _: u32) -> io::Result<()> {
    Ok(())
}
