//! The hook that existed before gate's: finds it again and runs it afterwards.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::{fs, io};

use super::init::KEPT;

/// The environment variable in which a shim says which file it is. Only a shim chains: a hook manager that calls
/// `gate hook` runs the other hooks itself.
pub const HOOK_FILE: &str = "GATE_HOOK_FILE";

/// The environment variable that names the running hook for a chained hook's children, so that gate's shim and a hook
/// manager that kept each other do not call each other for ever.
pub const CHAINED: &str = "GATE_CHAINED";

/// The kernel's word for "no program".
const ENOEXEC: i32 = 8;

/// The hook that gate's replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chained {
    /// There was none.
    None,
    /// It runs after gate's.
    Runs(PathBuf),
    /// git would not have run it: it is not executable.
    NotExecutable(PathBuf),
}

/// Returns the hook that was there before the shim `hook_file` of the hook `name`.
pub fn chained(hook_file: &Path, name: &str) -> Chained {
    let kept = hook_file.with_file_name(format!("{name}{KEPT}"));
    match fs::metadata(&kept) {
        Ok(meta) if meta.is_file() && executable(&meta) => Chained::Runs(kept),
        Ok(_) => Chained::NotExecutable(kept),
        // A dangling link is a hook that git would not have run either.
        Err(_) if kept.symlink_metadata().is_ok() => Chained::NotExecutable(kept),
        Err(_) => Chained::None,
    }
}

/// Runs a chained hook as git would have: the same folder, arguments and standard input.
pub fn run_chained(hook: &Path, args: &[OsString], stdin: &[u8], key: &str) -> io::Result<ExitStatus> {
    // A name without a folder would be looked up on the PATH.
    let program = if hook.components().count() == 1 { Path::new(".").join(hook) } else { hook.to_owned() };
    let start =
        |mut command: Command| command.args(args).env_remove(HOOK_FILE).env(CHAINED, key).stdin(Stdio::piped()).spawn();
    let mut child = match start(Command::new(&program)) {
        // Without `#!` a file is not a program for the kernel; git then gives it to the shell.
        Err(error) if error.raw_os_error() == Some(ENOEXEC) => {
            let mut shell = Command::new("sh");
            shell.arg(&program);
            start(shell)?
        }
        started => started?,
    };
    if let Some(mut pipe) = child.stdin.take() {
        // A hook that does not read what it is told closes the pipe early; git lets it, too.
        let _ = pipe.write_all(stdin);
    }
    child.wait()
}

#[cfg(unix)]
pub(super) fn executable(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::PermissionsExt::mode(&meta.permissions()) & 0o111 != 0
}

#[cfg(not(unix))]
pub(super) fn executable(_: &fs::Metadata) -> bool {
    true
}
