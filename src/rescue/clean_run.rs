//! A command on a clean checkout: where nothing of this working tree plays a part.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::event::Ended;
use crate::fact::outputs;
use crate::git::{BINDING, Repo};
use crate::oid::Oid;
use crate::redact::REDACTED;
use crate::run::{self, Output};
use crate::verdict::escalation::failing::Clean;
use crate::verdict::escalation::history::Failure;

/// How much of the output is read, in bytes from its end.
const READ: u64 = 64 * 1024;
/// How much of it is looked at for the lines that tell of the failure: as much as a recorded run keeps.
const TAIL: usize = 8 * 1024;

/// Runs the command of `failure` on a checkout of `tree` that is removed afterwards, for at most `patience`: how it ended
/// and what it said of its failure. `Err`: it cannot be tried there, or did not end.
pub(super) fn end(
    repo: &Repo,
    tree: &Oid,
    head: Option<&Oid>,
    failure: &Failure,
    patience: Duration,
) -> Result<(Ended, Vec<String>), Clean> {
    if failure.line.contains(REDACTED) {
        return Err(Clean::Impossible);
    }
    let folder = tempfile::Builder::new().prefix("gate-clean-").tempdir().map_err(|_| Clean::Impossible)?;
    let root = folder.path().join("checkout");
    repo.checkout_into(tree, head, &root).map_err(|_| Clean::Impossible)?;
    let output = folder.path().join("output");
    let ended = ran(&root.join(failure.dir.to_os()), &failure.line, &output, patience)?;
    let mut said = run::clean_tail(&end_of(&output).ok_or(Clean::Impossible)?, TAIL);
    // A path says the same here and there.
    if let (Some(here), Ok(there)) = (repo.root(), root.canonicalize()) {
        for there in [&root, &there] {
            said = said.replace(&*there.to_string_lossy(), &here.to_string_lossy());
        }
    }
    Ok((ended, outputs::signature(&said)))
}

fn ran(dir: &Path, line: &str, output: &Path, patience: Duration) -> Result<Ended, Clean> {
    let mut command =
        duct::cmd("sh", ["-c", line]).dir(dir).stdin_null().stderr_to_stdout().stdout_path(output).unchecked();
    for name in BINDING {
        command = command.env_remove(name);
    }
    let running = command.start().map_err(|_| Clean::Impossible)?;
    let ended = running.wait_timeout(patience).map_err(|_| Clean::Impossible)?.map(|done| done.status);
    let Some(status) = ended else {
        // Out of time is no failure of the same kind, whatever was said until then.
        let _ = running.kill();
        return Err(Clean::Unfinished);
    };
    Ok(how(status))
}

fn how(status: std::process::ExitStatus) -> Ended {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ended::Signalled(signal);
    }
    status.code().map_or(Ended::NotStarted, Ended::Exited)
}

fn end_of(path: &Path) -> Option<Output> {
    let length = fs::metadata(path).ok()?.len();
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(READ))).ok()?;
    let mut tail = Vec::new();
    file.read_to_end(&mut tail).ok()?;
    Some(Output { tail, cut: length > READ, ..Output::default() })
}
