//! A command that runs unattended in the background of this program: bounded in time and output, and everything it
//! started ends with it.

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{fs, io};

use super::head_and_tail::KeptOutput;
use super::process::{Finished, Spec, ended};
use crate::event::Ended;
use crate::git::BINDING;

/// The interval at which its output is measured.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// A command with its limits.
#[derive(Clone, Copy, Debug)]
pub struct BoundedCommand<'a> {
    /// A line for `sh -c`.
    pub line: &'a str,
    /// The directory it runs in.
    pub dir: &'a Path,
    /// Variables to set on top of the inherited ones.
    pub env: &'a [(OsString, OsString)],
    /// Inherited variables that it does not get.
    pub without: &'a [String],
    /// The whole environment, or `None` if it inherits ours.
    pub only: Option<&'a [(String, OsString)]>,
    /// The file that is its standard input, or `None` if it has none.
    pub input: Option<&'a Path>,
    /// The file that gets its standard output.
    pub output: &'a Path,
    /// `true` if standard error goes there as well.
    pub errors: bool,
    /// The largest time that it may take.
    pub timeout: Duration,
    /// The largest size of its output, in bytes.
    pub max_output: u64,
}

/// The end of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returned {
    /// It ended.
    Ended(Ended),
    /// It took too long, and was ended.
    OutOfTime,
    /// It wrote too much, and was ended.
    TooMuch,
}

impl<'a> BoundedCommand<'a> {
    /// Returns a command without input that inherits the environment, and whose standard error is not kept.
    pub fn new(line: &'a str, dir: &'a Path, output: &'a Path, timeout: Duration, max_output: u64) -> Self {
        let (env, without, only, input, errors) = (&[][..], &[][..], None, None, false);
        Self { line, dir, env, without, only, input, output, errors, timeout, max_output }
    }

    /// Runs it. Processes that it leaves in its process group are ended when it ends; signals that would end this
    /// program end it.
    ///
    /// # Errors
    ///
    /// It could not be started or waited for.
    pub fn run(&self) -> io::Result<Returned> {
        let mut command = duct::cmd("sh", ["-c", self.line]).dir(self.dir).unchecked();
        if self.errors {
            command = command.stderr_to_stdout();
        }
        command = command.stdout_path(self.output);
        command = if let Some(input) = self.input { command.stdin_path(input) } else { command.stdin_null() };
        if let Some(whole) = self.only {
            command = command.full_env(whole.iter().map(|(name, value)| (name.as_str(), value)));
        }
        for (name, value) in self.env {
            command = command.env(name, value);
        }
        for name in self.without {
            command = command.env_remove(name);
        }
        for name in BINDING {
            command = command.env_remove(name);
        }
        #[cfg(unix)]
        let mut watch = super::signals::Watch::start()?;
        #[cfg(unix)]
        {
            command = command.before_spawn(|command| {
                std::os::unix::process::CommandExt::process_group(command, 0);
                Ok(())
            });
        }
        let child = Arc::new(command.start()?);
        #[cfg(unix)]
        watch.forward_to_group(Arc::clone(&child));
        let returned = self.wait(&child);
        end(&child);
        returned
    }

    fn wait(&self, child: &duct::Handle) -> io::Result<Returned> {
        let began = Instant::now();
        loop {
            let left = self.timeout.saturating_sub(began.elapsed());
            if let Some(done) = child.wait_timeout(left.min(POLL_INTERVAL))? {
                return Ok(Returned::Ended(ended(done.status)));
            }
            if fs::metadata(self.output).is_ok_and(|file| file.len() > self.max_output) {
                return Ok(Returned::TooMuch);
            }
            if left.is_zero() {
                return Ok(Returned::OutOfTime);
            }
        }
    }
}

/// The largest output of a command that runs without being seen, in bytes.
const MAX_OUTPUT: u64 = 64 << 20;

/// Runs a command without input, and without showing its output. Whatever it started ends with it, at the latest after
/// `timeout`: then its end is the status 124, as that of `timeout`.
///
/// # Errors
///
/// It could not be started, or its output could not be kept.
pub fn run_unseen(line: &str, spec: &Spec<'_>, timeout: Duration) -> io::Result<(Finished, Returned)> {
    let folder = tempfile::tempdir()?;
    let output = folder.path().join("output");
    let began = Instant::now();
    let bounded = BoundedCommand::new(line, spec.dir, &output, timeout, MAX_OUTPUT);
    let returned = BoundedCommand { env: spec.env, without: spec.without, errors: true, ..bounded }.run()?;
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let ended = match returned {
        Returned::Ended(ended) => ended,
        Returned::OutOfTime => Ended::Exited(OVER_TIME),
        Returned::TooMuch => Ended::Signalled(KILLED),
    };
    let output = KeptOutput::of(fs::File::open(&output)?)?;
    Ok((Finished { ended, millis, output, start_error: None, undelivered: None }, returned))
}

/// The signal that ends a command that writes too much.
const KILLED: i32 = 9;

/// The status of `timeout` for a command that took too long.
const OVER_TIME: i32 = 124;

/// Ends the command with everything in its process group.
fn end(child: &duct::Handle) {
    #[cfg(unix)]
    for group in super::signals::groups(child) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn what_it_started_ends_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("output");
        let late = folder.path().join("late");
        let run = |line: &str, seconds, max_output| {
            BoundedCommand::new(line, folder.path(), &output, Duration::from_secs(seconds), max_output).run().unwrap()
        };
        let pipe = "mkfifo p q 2>/dev/null; (echo up >p; read x <q; echo edited >late) &";
        // It is up, and what it waits for comes when it should be gone.
        let line = format!("{pipe} read y <p; echo a reply");
        assert_eq!(run(&line, 60, 100), Returned::Ended(Ended::Exited(0)));
        assert_eq!(fs::read_to_string(&output).unwrap(), "a reply\n");
        let line = format!("{pipe} read y <p; wait");
        assert_eq!(run(&line, 1, 100), Returned::OutOfTime);
        let go = fs::OpenOptions::new().read(true).write(true).open(folder.path().join("q")).unwrap();
        io::Write::write_all(&mut &go, b"go\n").unwrap();
        assert!(!late.exists());
        assert_eq!(run("yes", 60, 100), Returned::TooMuch);
        assert_eq!(run("exit 127", 60, 100), Returned::Ended(Ended::Exited(127)));
        assert_eq!(run("exec cat", 60, 100), Returned::Ended(Ended::Exited(0)));
    }
}
