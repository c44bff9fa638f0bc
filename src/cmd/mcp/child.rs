//! Runs a command of gate for a tool. The answer of a tool is the answer of the command.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use tokio::sync::mpsc::UnboundedSender;

use super::tool_table::{ArgumentForm, ToolEntry};
use rmcp::model::JsonObject;

/// The most bytes of an answer; the rest is cut.
const MAX_ANSWER: usize = 4 << 20;

/// The call of a command.
pub(super) struct GateCall {
    words: Vec<String>,
    input: String,
    /// Files that the command reads, until it ended.
    kept_files: Vec<tempfile::NamedTempFile>,
}

impl GateCall {
    /// Puts the arguments of a tool in their places, or returns the reason why they do not fit.
    pub(super) fn of(tool: &ToolEntry, given: &JsonObject) -> Result<Self, String> {
        if let Some(unknown) = given.keys().find(|key| !tool.arguments.iter().any(|argument| argument.name == **key)) {
            return Err(format!("`{}` has no argument `{unknown}`", tool.name));
        }
        let mut call = Self { words: tool.command.clone(), input: String::new(), kept_files: Vec::new() };
        for argument in &tool.arguments {
            let Some(value) = argument.value(given)? else { continue };
            match argument.form {
                ArgumentForm::Input => call.input = value,
                ArgumentForm::Name | ArgumentForm::Place => call.words.push(value),
                ArgumentForm::Flag | ArgumentForm::Number => call.words.push(format!("{}={value}", argument.flag)),
                ArgumentForm::File => {
                    let file = kept(&value).map_err(|error| format!("`{}` cannot be kept: {error}", argument.name))?;
                    call.words.push(format!("{}={}", argument.flag, file.path().display()));
                    call.kept_files.push(file);
                }
            }
        }
        Ok(call)
    }
}

fn kept(text: &str) -> std::io::Result<tempfile::NamedTempFile> {
    let mut file = tempfile::NamedTempFile::new()?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}

/// The answer of a command.
#[derive(Debug)]
pub(super) struct ToolOutput {
    pub(super) code: i32,
    pub(super) out: String,
    pub(super) err: String,
}

/// Runs the command to its end. Each line that it prints is sent as progress.
/// `process` is its id while it runs.
pub(super) fn run(
    call: GateCall,
    progress: &UnboundedSender<String>,
    process: &AtomicU32,
) -> std::io::Result<ToolOutput> {
    let GateCall { words, input, kept_files } = call;
    let mut child = Command::new(std::env::current_exe()?)
        .args(&words)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    process.store(child.id(), Ordering::SeqCst);
    let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let writer = thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(input.as_bytes())));
    let errors = thread::spawn(move || {
        let mut text = Vec::new();
        let read = stderr.map(|stderr| stderr.take(MAX_ANSWER as u64).read_to_end(&mut text));
        drop(read);
        String::from_utf8_lossy(&text).into_owned()
    });
    let mut out = String::new();
    for line in stdout.into_iter().flat_map(|stdout| BufReader::new(stdout).split(b'\n').map_while(Result::ok)) {
        let line = String::from_utf8_lossy(&line).into_owned();
        if out.len() + line.len() < MAX_ANSWER {
            out.push_str(&line);
            out.push('\n');
        }
        // Nobody listens any more when the client is gone.
        drop(progress.send(line));
    }
    drop(writer.join());
    let err = errors.join().unwrap_or_default();
    let ended = child.wait();
    process.store(0, Ordering::SeqCst);
    drop(kept_files);
    Ok(ToolOutput { code: ended?.code().unwrap_or(-1), out, err })
}
