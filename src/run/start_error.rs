//! The reasons why a command could not be started, in words that help.

use std::ffi::OsStr;
use std::io::{self, ErrorKind};
use std::path::Path;

/// A command that could not be started.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what}")]
pub struct StartError {
    /// The kind of problem.
    pub problem: StartProblem,
    /// The problem and its place: a fragment.
    pub what: String,
    /// The remedy.
    pub remedy: String,
}

/// The kinds of problem, which decide the exit code as in a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StartProblem {
    /// The program does not exist: 127.
    NotFound,
    /// It is there and cannot be executed: 126.
    NotExecutable,
    /// The directory to run it in cannot be entered: 126.
    BadDirectory,
    /// The system refused: 126.
    Refused,
}

impl StartProblem {
    /// Returns the exit code that shells use for it.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::NotFound => 127,
            Self::NotExecutable | Self::BadDirectory | Self::Refused => 126,
        }
    }
}

impl StartError {
    pub(super) fn no_command() -> Self {
        Self {
            problem: StartProblem::NotFound,
            what: "there is no command to run".to_owned(),
            remedy: "give a command after `--`, or declare one in gate.toml".to_owned(),
        }
    }

    pub(super) fn directory(dir: &Path, error: &io::Error) -> Self {
        Self {
            problem: StartProblem::BadDirectory,
            what: format!("cannot run in the directory {}: {error}", dir.display()),
            remedy: "create the directory, or correct `dir` of the command in gate.toml".to_owned(),
        }
    }

    pub(super) fn streams(error: &io::Error) -> Self {
        Self {
            problem: StartProblem::Refused,
            what: format!("cannot open pipes and threads for the command: {error}"),
            remedy: "close other programs or raise the limit on open files and processes (ulimit -n, ulimit -u)"
                .to_owned(),
        }
    }

    /// Makes the error of starting `program` in `dir`.
    pub(super) fn program(program: &OsStr, dir: &Path, error: &io::Error) -> Self {
        /// "Exec format error" on every Unix.
        const ENOEXEC: i32 = 8;
        let name = program.to_string_lossy();
        let here = dir.join(program);
        let (problem, what, remedy) = match error.kind() {
            ErrorKind::NotFound if name.contains('/') && here.exists() => (
                StartProblem::NotExecutable,
                format!("cannot execute {name}: the interpreter that its first line names is not there"),
                "correct its `#!` line, or install that interpreter".to_owned(),
            ),
            ErrorKind::NotFound if name.contains('/') => (
                StartProblem::NotFound,
                format!("there is no program {name} (looked in {})", dir.display()),
                "correct the path, or build the program first".to_owned(),
            ),
            ErrorKind::NotFound => (
                StartProblem::NotFound,
                format!("there is no program `{name}` in PATH"),
                format!("install `{name}`, correct its name, or start gate with a PATH that has it"),
            ),
            ErrorKind::PermissionDenied => (
                StartProblem::NotExecutable,
                format!("{name} is not executable: {error}"),
                format!("chmod +x {name}, or run it with its interpreter"),
            ),
            _ if error.raw_os_error() == Some(ENOEXEC) => (
                StartProblem::NotExecutable,
                format!("{name} is not a program that this system can execute"),
                "give it a `#!` line, or run it with its interpreter".to_owned(),
            ),
            _ => (
                StartProblem::Refused,
                format!("cannot start {name}: {error}"),
                "run the command without gate; if the error is the same, it comes from the system".to_owned(),
            ),
        };
        Self { problem, what, remedy }
    }
}
