//! Starts git so that nothing in its environment can change its answer.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, JoinHandle};

use super::GitError;
use super::environment::scrubbed;

/// Returns a git that no inherited variable and no monitor can mislead, bound to no repository yet.
///
/// Replacement refs and grafts are off: a push sends the objects themselves. Hooks are off: writing an index of this
/// program's own would run the user's `post-index-change`.
pub(super) fn bare_command() -> Command {
    let mut command = Command::new("git");
    for name in scrubbed() {
        command.env_remove(name);
    }
    command
        .args(["--no-optional-locks", "-c", "core.fsmonitor=false", "-c", "core.splitIndex=false"])
        .args(["-c", "submodule.recurse=false", "-c", "core.hooksPath=/dev/null"])
        .env("LC_ALL", "C")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_GRAFT_FILE", "/dev/null")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Returns git as its user has it, hooks and settings included, in `dir`: for installed hooks and for trials. It
/// inherits no pointer to another repository, asks no questions and speaks English.
pub fn user_command(dir: &Path) -> Command {
    let mut command = Command::new("git");
    for name in scrubbed().chain(["GIT_NAMESPACE"]) {
        command.env_remove(name);
    }
    command.current_dir(dir).env("LC_ALL", "C").env("GIT_TERMINAL_PROMPT", "0").stdin(Stdio::null());
    command
}

/// Returns a list of object directories in the form of `GIT_ALTERNATE_OBJECT_DIRECTORIES`.
pub(super) fn object_directories<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> OsString {
    let mut list = OsString::new();
    for path in paths {
        if !list.is_empty() {
            list.push(if cfg!(windows) { ";" } else { ":" });
        }
        list.push(quote_object_directory(path.as_ref()));
    }
    list
}

/// Quotes a path that begins with a double quote, which git takes as C-style quoted, or that contains a separator.
#[cfg(unix)]
fn quote_object_directory(path: &Path) -> OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let bytes = path.as_os_str().as_bytes();
    if !bytes.contains(&b':') && bytes.first() != Some(&b'"') {
        return path.into();
    }
    let mut quoted = vec![b'"'];
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', byte]),
            b'\n' => quoted.extend(b"\\n"),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'"');
    OsString::from_vec(quoted)
}

#[cfg(not(unix))]
fn quote_object_directory(path: &Path) -> OsString {
    path.into()
}

/// Starts `command`, and says so in the debug log.
pub(super) fn start(command: &mut Command) -> io::Result<Child> {
    log::debug!("git {}", described(command));
    command.spawn()
}

/// Runs `command` to its end and returns its standard output, whatever its size on either side.
pub(super) fn run(command: &mut Command, input: Option<&[u8]>) -> Result<Vec<u8>, GitError> {
    let output = run_any(command, input)?;
    if output.status.success() { Ok(output.stdout) } else { Err(failed(command, &output)) }
}

/// Runs `command` to its end, and leaves its status to the caller.
pub(super) fn run_any(command: &mut Command, input: Option<&[u8]>) -> Result<Output, GitError> {
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = start(command).map_err(|source| GitError::NotStarted { command: described(command), source })?;
    let stdin = child.stdin.take();
    let output = thread::scope(|scope| {
        // Written beside the reading, so that neither side waits for a full pipe.
        let writer = scope.spawn(move || match (stdin, input) {
            (Some(mut pipe), Some(bytes)) => pipe.write_all(bytes),
            _ => Ok(()),
        });
        let output = child.wait_with_output();
        // A git that stops reading says why itself, by its status and words.
        let _ = writer.join();
        output
    });
    output.map_err(|source| GitError::NotStarted { command: described(command), source })
}

/// The end of git's standard error. A thread reads it while the output is read, so that git never waits.
pub(super) struct StderrTail(Option<JoinHandle<Vec<u8>>>);

/// The smallest number of bytes that are kept.
const KEPT: usize = 4096;

impl StderrTail {
    /// Begins to listen to `child`.
    pub(super) fn of(child: &mut Child) -> Self {
        let pipe = child.stderr.take();
        Self(pipe.map(|mut pipe| {
            thread::spawn(move || {
                let (mut said, mut piece) = (Vec::new(), [0; KEPT]);
                while let Ok(read @ 1..) = pipe.read(&mut piece) {
                    said.drain(..said.len().saturating_sub(KEPT));
                    said.extend_from_slice(&piece[..read]);
                }
                said
            })
        }))
    }

    /// Returns the message of git in one line, without hints. Waits until git has ended.
    pub(super) fn words(&mut self) -> String {
        let said = self.0.take().and_then(|listener| listener.join().ok()).unwrap_or_default();
        let said = String::from_utf8_lossy(&said);
        let lines: Vec<&str> =
            said.lines().filter(|line| !line.starts_with("hint:") && !line.trim().is_empty()).collect();
        lines.join("; ")
    }
}

/// Returns the error for a git that failed.
pub(super) fn failed(command: &Command, output: &Output) -> GitError {
    let text = String::from_utf8_lossy(&output.stderr);
    let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("hint:") && !line.trim().is_empty()).collect();
    let last = lines[lines.len().saturating_sub(4)..].join("; ");
    let stderr = if last.is_empty() { output.status.to_string() } else { last };
    trouble_outside(&text, command, &stderr).unwrap_or_else(|| GitError::Failed {
        command: described(command),
        status: output.status.code(),
        stderr,
    })
}

/// Returns the cause if it lies outside of git, by git's words: they are always English here.
fn trouble_outside(text: &str, command: &Command, stderr: &str) -> Option<GitError> {
    let says = |words: &str| text.contains(words);
    let stderr = stderr.to_owned();
    if says("No space left on device") || says("Disk quota exceeded") {
        Some(GitError::NoRoom { command: described(command), stderr })
    } else if says("external filter '") || says("clean filter '") {
        Some(GitError::FilterFailed { stderr })
    } else if says(".lock': File exists") {
        Some(GitError::Locked { stderr })
    } else {
        None
    }
}

/// Returns the arguments of `command` for a message, without the settings that every command gets.
pub(super) fn described(command: &Command) -> String {
    let mut words = Vec::new();
    let mut args = command.get_args();
    while let Some(arg) = args.next() {
        if arg == OsStr::new("-c") {
            args.next();
        } else if arg != OsStr::new("--no-optional-locks") {
            words.push(arg.to_string_lossy());
        }
    }
    let mut text = words.join(" ");
    if let Some((end, _)) = text.char_indices().nth(120) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// Returns an input or output error on a file of this program.
pub(super) fn io_error(action: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> GitError {
    let path = path.into();
    move |source| GitError::Io { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scrubs_everything_git_calls_local() {
        let listed = run(bare_command().args(["rev-parse", "--local-env-vars"]), None).unwrap();
        for name in String::from_utf8(listed).unwrap().lines() {
            assert!(
                scrubbed().any(|scrubbed| scrubbed == name),
                "{name} is local to a repository and would be inherited"
            );
        }
    }

    #[test]
    fn errors_show_the_command_without_its_standing_settings() {
        let error = run(bare_command().args(["rev-parse", "--no-such-thing-at-all", "-x", "--verify"]), None);
        let text = error.unwrap_err().to_string();
        assert!(text.starts_with("`git rev-parse --no-such-thing-at-all"), "{text}");
    }

    #[cfg(unix)]
    #[test]
    fn object_directories_survive_their_separator() {
        assert_eq!(object_directories(["/a", "/b:c", "/d\"e"]), "/a:\"/b:c\":/d\"e");
    }
}
