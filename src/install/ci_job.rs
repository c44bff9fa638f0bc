//! The file from which a forge starts a job. It is written and recorded like all others, and removed again if nobody
//! changed it.

use std::path::Path;

use super::install_record::{FileRecord, FileRole, InstallRecord, PortablePath};
use super::plan::{FileState, Plan, PlannedChange};
use super::{InstallError, InstallTarget};
use crate::digest::hex_digest;

/// Returns the plan that writes `text` to `path`, in place of `before`.
pub fn plan_job(repository: &InstallTarget, path: &Path, text: &str, before: FileState) -> Result<Plan, InstallError> {
    let mut plan = Plan { record: InstallRecord::load(repository)?, ..Plan::default() };
    if let Some(folder) = path.parent() {
        plan.make_folder(repository, folder);
    }
    let place = PortablePath::new(repository, path);
    let digest = hex_digest(&[text.as_bytes()]);
    plan.record.put_file(FileRecord { place, role: FileRole::Job, digest, before: None });
    let bytes = text.as_bytes().to_vec();
    plan.changes.push(PlannedChange::Write { path: path.to_owned(), before, bytes, mode: 0o644 });
    Ok(plan)
}
