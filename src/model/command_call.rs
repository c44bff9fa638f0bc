//! A model that is a command.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use super::{MAX_ANSWER, ModelError, ModelOutput, answer_text, without};
use crate::event::Ended;
use crate::run::{BoundedCommand, Returned};
use crate::shell_quote::shell_word;

/// The beginning of the name of the empty directory that a model works in.
const DIRECTORY_PREFIX: &str = "gate-model-";

/// The variable that names this directory to the model's own client, whose hooks then ask nothing.
const DIRECTORY_VARIABLE: &str = "GATE_MODEL_DIR";

/// The longest part of standard error that a message repeats, in bytes.
const MAX_ERROR: usize = 200;

/// Returns `true` if this process was started by a model that gate asked: the work of a judge is not judged.
pub fn is_in_model_call() -> bool {
    let named = std::env::var_os(DIRECTORY_VARIABLE).map(std::path::PathBuf::from);
    let is_ours = |path: &Path| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(DIRECTORY_PREFIX.as_bytes()))
    };
    let here = std::env::current_dir().and_then(|dir| dir.canonicalize());
    let inside = |path: &Path| here.is_ok_and(|here| path.canonicalize().is_ok_and(|path| here.starts_with(path)));
    // A directory with a repository is nobody's judge.
    named.is_some_and(|path| is_ours(&path) && !path.join(".git").exists() && inside(&path))
}

/// Runs the command in an empty directory. It gets `PATH`, `HOME` and the variables that its entry names.
pub(super) fn call(line: &str, env: &[String], prompt: &str, patience: Duration) -> Result<ModelOutput, ModelError> {
    let failed = |error: io::Error| ModelError::Command(format!("the command could not be run: {error}"));
    let files = tempfile::tempdir().map_err(failed)?;
    let empty = tempfile::Builder::new().prefix(DIRECTORY_PREFIX).tempdir().map_err(failed)?;
    let [input, output, errors] = ["prompt", "answer", "errors"].map(|name| files.path().join(name));
    fs::write(&input, prompt).map_err(failed)?;
    let mut whole: Vec<(String, OsString)> = vec![(DIRECTORY_VARIABLE.to_owned(), empty.path().into())];
    let names = ["PATH", "HOME"].into_iter().chain(env.iter().map(String::as_str));
    whole.extend(names.filter_map(|name| Some((name.to_owned(), std::env::var_os(name)?))));
    // What the entry passes on may be a key. `PATH` and `HOME` are none.
    let passed = whole.iter().filter(|(name, _)| env.contains(name) && name != "PATH" && name != "HOME");
    let secrets: Vec<String> = passed.map(|(_, value)| value.to_string_lossy().into_owned()).collect();
    let line = format!("exec 2>{}\n{line}", shell_word(&errors.to_string_lossy()));
    let bounded = BoundedCommand::new(&line, empty.path(), &output, patience, MAX_ANSWER);
    match (BoundedCommand { only: Some(&whole), input: Some(&input), ..bounded }).run().map_err(failed)? {
        Returned::OutOfTime => return Err(ModelError::TooSlow(patience.as_secs())),
        Returned::TooMuch => return Err(ModelError::TooMuch),
        Returned::Ended(Ended::Exited(0)) => {}
        Returned::Ended(ended) => {
            return Err(ModelError::Command(format!("the command {}", failure(ended, &errors, &secrets))));
        }
    }
    let bytes = fs::read(&output).map_err(failed)?;
    if bytes.len() as u64 > MAX_ANSWER {
        return Err(ModelError::TooMuch);
    }
    Ok(answer_text::of_command(&without(&String::from_utf8_lossy(&bytes), &secrets)))
}

/// Returns what a command of the user prints, such as a key.
#[cfg(feature = "github")]
pub(super) fn printed(line: &str, patience: Duration) -> Result<String, String> {
    let failed = |error: io::Error| format!("`{line}` could not be run: {error}");
    let files = tempfile::tempdir().map_err(failed)?;
    let output = files.path().join("output");
    match BoundedCommand::new(line, files.path(), &output, patience, MAX_ANSWER).run().map_err(failed)? {
        Returned::Ended(Ended::Exited(0)) => {
            fs::read(&output).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).map_err(failed)
        }
        Returned::Ended(_) => Err(format!("`{line}` failed: it must print the key")),
        Returned::OutOfTime | Returned::TooMuch => Err(format!("`{line}` printed no key")),
    }
}

/// Returns the end of the command in words, with the last line of its standard error.
fn failure(ended: Ended, errors: &Path, secrets: &[String]) -> String {
    let said = fs::read(errors).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
    let said = without(&said, secrets);
    let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().trim();
    let last = &last[..last.floor_char_boundary(MAX_ERROR)];
    let status = match ended {
        Ended::Exited(code) => format!("ended with status {code}"),
        Ended::Signalled(signal) => format!("was killed by signal {signal}"),
        Ended::NotStarted => "could not be started".to_owned(),
    };
    if last.is_empty() { status } else { format!("{status}: {last}") }
}
