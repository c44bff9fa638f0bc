//! `gate` run by `gate`.

use std::io;
use std::process::{Command, ExitStatus, Stdio};

use crate::git::BINDING;

/// Runs this program with other arguments, outside of what git set for the hook that asks for it. It has no standard input,
/// and all that it prints goes to standard error: what a hook prints on standard output belongs to whoever reads the push.
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
