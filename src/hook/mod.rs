//! The answers to hooks of git, of agent clients and of shells.

pub mod after_write;
mod amend;
pub mod client;
pub mod commit_msg;
mod enclosing_line;
pub mod missing_runs;
pub mod pre_push;
pub mod protected_push;
pub mod running_line;
pub mod typed_line;
mod unix_millis;

use std::ffi::OsString;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// A git hook as git called it.
#[derive(Clone, Copy, Debug)]
pub struct GitHook<'a> {
    pub name: &'a str,
    /// Its arguments.
    pub args: &'a [OsString],
    /// The standard input from git.
    pub stdin: &'a [u8],
}

/// Returns the result of `work`, or `None` if it takes longer than `budget`. It then continues until the process ends.
fn in_time<T: Send + 'static>(budget: Duration, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().spawn(move || {
        // Nobody listens any more once the time is over.
        let _ = sender.send(work());
    });
    worker.ok().and_then(|_| receiver.recv_timeout(budget).ok())
}
