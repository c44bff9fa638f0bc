//! Whether a command fails on a clean checkout: where nothing of this working tree plays a part.

use std::fs::{self, File};
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::time::Duration;

use crate::event::Ended;
use crate::fact::outputs;
use crate::git::{BINDING, Repo};
use crate::handoff::packet::Clean;
use crate::oid::Oid;
use crate::redact::redact_cut;
use crate::run::plain_text;
use crate::verdict::escalation::history::Failure;

/// How much of the output is read, in bytes from its end.
const TAIL: u64 = 64 * 1024;

/// Runs the command of `failure` on a checkout of `commit` that is removed afterwards, for at most `patience`. Whatever
/// keeps it from being tried is no answer: it was not tried.
pub(super) fn outcome(repo: &Repo, commit: &Oid, failure: &Failure, patience: Duration) -> Clean {
    let tried = tempfile::Builder::new().prefix("gate-clean-").tempdir().ok().and_then(|folder| {
        let root = folder.path().join("checkout");
        repo.checkout_into(commit, &root).ok()?;
        ran(&root.join(failure.dir.to_os()), &failure.line, &folder.path().join("output"), patience)
    });
    match tried {
        None => Clean::NotTried,
        Some((Ended::Exited(0), _)) => Clean::Passes,
        Some((ended, said)) if ended == failure.ended && outputs::is_same(&said, &failure.signature) => {
            Clean::SameFailure
        }
        Some(_) => Clean::OtherFailure,
    }
}

fn ran(dir: &Path, line: &str, output: &Path, patience: Duration) -> Option<(Ended, Vec<String>)> {
    let mut command =
        duct::cmd("sh", ["-c", line]).dir(dir).stdin_null().stderr_to_stdout().stdout_path(output).unchecked();
    for name in BINDING {
        command = command.env_remove(name);
    }
    let running = command.start().ok()?;
    let ended = running.wait_timeout(patience).ok()?.map(|done| done.status);
    let Some(status) = ended else {
        // Out of time is no failure of the same kind, whatever was said until then.
        let _ = running.kill();
        return None;
    };
    Some((how(status), outputs::signature(&redact_cut(&plain_text(&end_of(output)?)))))
}

fn how(status: std::process::ExitStatus) -> Ended {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return Ended::Signalled(signal);
    }
    status.code().map_or(Ended::NotStarted, Ended::Exited)
}

fn end_of(path: &Path) -> Option<Vec<u8>> {
    let length = fs::metadata(path).ok()?.len();
    let mut file = File::open(path).ok()?;
    file.seek(SeekFrom::Start(length.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    Some(bytes)
}
