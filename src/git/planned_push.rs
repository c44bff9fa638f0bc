//! A push before it happens: git itself lists the refs that its arguments and settings name.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::{fs, io};

/// The script that replaces the `pre-push` hook of a dry run: it keeps its input, and refuses.
const RECORDER: &str =
    "#!/bin/sh\nprintf '%s\\n' \"$1\" \"$2\" >\"$GATE_PUSH_PLAN/remote\"\ncat >\"$GATE_PUSH_PLAN/updates\"\nexit 1\n";

/// The input that git would give its `pre-push` hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlannedPush {
    /// The name of the remote, or its URL where it has none.
    pub remote: String,
    /// Its URL.
    pub url: String,
    /// A line for each ref that would change: local ref, new id, remote ref, old id.
    pub updates: Vec<u8>,
}

/// Asks git for the effect of `git push ARGS` in `dir`: a dry run that changes nothing. `None`: git does not reach its
/// hook, because of a problem with the arguments or the remote, which the push itself explains.
pub fn planned_push(dir: &Path, args: &[OsString]) -> io::Result<Option<PlannedPush>> {
    let folder = tempfile::Builder::new().prefix("gate-push-").tempdir()?;
    let hook = folder.path().join("pre-push");
    fs::write(&hook, RECORDER)?;
    #[cfg(unix)]
    fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o700))?;
    let mut setting = OsString::from("core.hooksPath=");
    setting.push(folder.path());
    let mut command = Command::new("git");
    command.current_dir(dir).arg("-c").arg(setting).args(["push", "--dry-run"]).args(args);
    command.env("GATE_PUSH_PLAN", folder.path()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status()?;
    let (Ok(remote), Ok(updates)) =
        (fs::read_to_string(folder.path().join("remote")), fs::read(folder.path().join("updates")))
    else {
        return Ok(None);
    };
    let mut lines = remote.lines().map(str::to_owned);
    let (remote, url) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    Ok(Some(PlannedPush { remote, url, updates }))
}

/// Runs `git push ARGS` in `dir` as its user would: with their terminal, environment and hooks.
pub fn push(dir: &Path, args: &[OsString]) -> io::Result<ExitStatus> {
    Command::new("git").current_dir(dir).arg("push").args(args).status()
}
