//! `gate` run by `gate`.

use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};

use crate::git::BINDING;

/// Runs this program with other arguments, without the environment that git set for the calling hook. It has no
/// standard input, and all of its output goes to standard error: the standard output of a hook belongs to the process
/// that reads the push.
///
/// # Errors
///
/// It could not be started or waited for.
pub fn run_itself(args: &[&str]) -> io::Result<ExitStatus> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).stdin(Stdio::null()).stdout(io::stderr());
    for name in BINDING {
        command.env_remove(name);
    }
    command.status()
}

/// Starts this program with other arguments in a directory, on its own: it outlives this process, and has no input and no
/// output.
///
/// # Errors
///
/// It could not be started.
pub fn start_itself(dir: &Path, args: &[&str]) -> io::Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(args).current_dir(dir).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    for name in BINDING {
        command.env_remove(name);
    }
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.spawn()
}
