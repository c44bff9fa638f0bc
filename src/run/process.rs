//! Starts a command, waits for it, and reports its end.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Instant;

use super::head_and_tail::KeptOutput;
use super::output_streams;
use super::start_error::StartError;
use super::tee::Tee;
use crate::event::Ended;
use crate::git::BINDING;

/// The command to run.
#[derive(Clone, Copy, Debug)]
pub enum CommandLine<'a> {
    /// A line for `sh -c`.
    Shell(&'a str),
    /// A program and its arguments, without a shell between.
    Argv(&'a [OsString]),
}

/// A command, and where it runs.
#[derive(Clone, Copy, Debug)]
pub struct Spec<'a> {
    /// The command.
    pub line: CommandLine<'a>,
    /// The directory it runs in. A program named by a relative path is searched for here.
    pub dir: &'a Path,
    /// Variables to set on top of the inherited ones.
    pub env: &'a [(OsString, OsString)],
    /// Inherited variables that it does not get.
    pub without: &'a [String],
    /// `true` if the whole output is to be kept: [`KeptOutput::whole`].
    pub whole: bool,
}

/// A command that ended, or could not be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finished {
    /// The end of the process.
    pub ended: Ended,
    /// From its start to its end, in milliseconds.
    pub millis: u64,
    /// The output, bounded and not redacted.
    pub output: KeptOutput,
    /// The reason why it could not be started.
    pub start_error: Option<StartError>,
    /// The reason why a part of its output could not be passed on (a full disk); a reader that closed the output does
    /// not count.
    pub undelivered: Option<String>,
}

impl Finished {
    /// Returns the exit code as a shell gives it: the child's own, 128 + n for death by signal n, 127 or 126 for a
    /// command that could not be started.
    pub fn exit_code(&self) -> u8 {
        match self.ended {
            // The status of a process has eight bits; what Windows has beyond them is not passed on.
            Ended::Exited(status) => u8::try_from(status & 0xff).unwrap_or(u8::MAX),
            Ended::Signalled(signal) => u8::try_from(128 + (signal & 0x7f)).unwrap_or(u8::MAX),
            Ended::NotStarted => self.start_error.as_ref().map_or(126, |error| error.problem.exit_code()),
        }
    }

    /// Returns the end of a command that was never started.
    pub fn never() -> Self {
        let output = KeptOutput::default();
        Self { ended: Ended::NotStarted, millis: 0, output, start_error: None, undelivered: None }
    }

    fn not_started(error: StartError) -> Self {
        Self { start_error: Some(error), ..Self::never() }
    }
}

/// Runs a command with the terminal handed through, and returns when it has ended.
///
/// Standard output and standard error are passed on as they come. See the module for the child's view.
pub fn run(spec: &Spec<'_>) -> Finished {
    attempt(spec).unwrap_or_else(Finished::not_started)
}

fn attempt(spec: &Spec<'_>) -> Result<Finished, StartError> {
    let shell: [OsString; 3];
    let argv = match spec.line {
        CommandLine::Argv(argv) => argv,
        CommandLine::Shell(line) => {
            shell = ["sh".into(), "-c".into(), line.into()];
            &shell
        }
    };
    let (program, arguments) = argv.split_first().ok_or_else(StartError::no_command)?;
    enterable(spec.dir).map_err(|error| StartError::directory(spec.dir, &error))?;

    let streams = output_streams::open().map_err(|error| StartError::streams(&error))?;
    let tee = Tee::start(streams.channels, spec.whole).map_err(|error| StartError::streams(&error))?;
    #[cfg(unix)]
    let mut watch = super::signals::Watch::start().map_err(|error| StartError::streams(&error))?;

    let began = Instant::now();
    // The expression holds the child's ends of the streams; it goes at the end of this statement, so that the last
    // process that writes to them closes them.
    let child = expression(spec, program, arguments, streams.out, streams.err)
        .start()
        .map_err(|error| StartError::program(program, spec.dir, &error))?;
    let child = Arc::new(child);
    #[cfg(unix)]
    watch.forward(Arc::clone(&child), streams.mirrors);

    let waited = child.wait();
    let millis = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    // Whoever does not want to wait for a stopped pager can end us from here on.
    #[cfg(unix)]
    drop(watch);
    let (output, undelivered) = tee.finish();
    let status = waited.map_err(|error| StartError::program(program, spec.dir, &error))?.status;
    Ok(Finished { ended: ended(status), millis, output, start_error: None, undelivered })
}

/// Builds the command with `duct`, because it signals and waits for a child from two threads without ever meeting a
/// reused process id.
fn expression(spec: &Spec<'_>, program: &OsStr, arguments: &[OsString], out: File, err: File) -> duct::Expression {
    let mut expression = duct::cmd(located(program, spec.dir), arguments)
        .dir(spec.dir)
        .stdout_file(out)
        .stderr_file(err)
        // A status other than 0 is an answer here, not an error.
        .unchecked();
    // What is innermost in an expression wins: the last that the caller sets, whatever its name.
    for (name, value) in spec.env.iter().rev() {
        expression = expression.env(name, value);
    }
    for name in BINDING.iter().copied().chain(spec.without.iter().map(String::as_str)) {
        expression = expression.env_remove(name);
    }
    expression
}

/// Resolves a relative path from the directory of the command, as after `cd`; `duct` would take it from the directory
/// of this process.
fn located(program: &OsStr, dir: &Path) -> OsString {
    let path = Path::new(program);
    if path.is_absolute() || path.components().count() < 2 && !program.as_encoded_bytes().contains(&b'/') {
        return program.to_owned();
    }
    std::path::absolute(dir.join(path)).map_or_else(|_| program.to_owned(), PathBuf::into_os_string)
}

fn enterable(dir: &Path) -> io::Result<()> {
    if dir.metadata()?.is_dir() { Ok(()) } else { Err(io::ErrorKind::NotADirectory.into()) }
}

#[cfg(unix)]
pub(super) fn ended(status: ExitStatus) -> Ended {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => Ended::Exited(code),
        (None, Some(signal)) => Ended::Signalled(signal),
        // Neither: stopped or continued, which is not an end and never waited for.
        (None, None) => Ended::NotStarted,
    }
}

#[cfg(not(unix))]
pub(super) fn ended(status: ExitStatus) -> Ended {
    status.code().map_or(Ended::NotStarted, Ended::Exited)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::StartProblem;

    fn code(ended: Ended) -> u8 {
        let output = KeptOutput::default();
        Finished { ended, millis: 0, output, start_error: None, undelivered: None }.exit_code()
    }

    #[test]
    fn exit_codes_are_those_of_a_shell() {
        for status in [0, 1, 2, 101, 126, 127, 128, 255] {
            assert_eq!(i32::from(code(Ended::Exited(status))), status);
        }
        assert_eq!(code(Ended::Signalled(2)), 130);
        assert_eq!(code(Ended::Signalled(9)), 137);
        assert_eq!(code(Ended::Signalled(15)), 143);
        assert_eq!(code(Ended::NotStarted), 126);
        assert_eq!([StartProblem::NotFound, StartProblem::Refused].map(StartProblem::exit_code), [127, 126]);
    }

    #[test]
    fn only_a_path_is_looked_for_in_the_directory() {
        for (program, found) in
            [("cargo", "cargo"), ("./x", "/d/x"), ("a/b", "/d/a/b"), ("../x", "/d/../x"), ("/bin/x", "/bin/x")]
        {
            assert_eq!(located(OsStr::new(program), Path::new("/d")), OsStr::new(found), "{program}");
        }
    }
}
