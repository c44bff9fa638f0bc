//! A run of a command on a scratch checkout, of which only its end and its tests count.

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::Duration;

use super::report_files::ReportListing;
use super::test_report::{ReportFiles, TestReport};
use super::understood_line::UnderstoodLine;
use crate::event::Ended;
use crate::foreign_text::shortened;
use crate::run::{BoundedCommand, Finished, KeptOutput, Returned, plain_text};
use crate::runner::{Catalogue, NamedTests};
use crate::shell_quote::shell_word;
use crate::virtual_environment::VirtualEnvironment;

/// The largest size of its output, in bytes.
const MAX_OUTPUT: u64 = 256 * 1024 * 1024;
/// The length of the line that explains a failure, in characters.
const MAX_LINE: usize = 200;
/// The part of the output that is read, in bytes.
const MAX_READ: u64 = 16 * 1024 * 1024;

/// The end of a scratch run, and its tests.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScratchRun {
    /// The end of the process.
    pub ended: Ended,
    /// The tests by name.
    pub tests: NamedTests,
    /// The line of its output that most likely explains a failure. Empty if it printed nothing.
    pub says: String,
}

/// Runs `command` after its preparation in `dir` for at most `patience`, in the way in which its runner names its
/// tests. Returns `None` if it did not end.
pub fn scratch_run(
    command: &str,
    prepare: &str,
    runners: &Catalogue,
    dir: &Path,
    output: &Path,
    patience: Duration,
) -> Option<ScratchRun> {
    let reading = UnderstoodLine::of(command, dir, runners);
    let report = TestReport::prepare(command, &reading.runners, runners, &[]);
    let set = |(name, value): (std::ffi::OsString, std::ffi::OsString)| {
        format!("export {}={}; ", name.to_string_lossy(), shell_word(&value.to_string_lossy()))
    };
    let own = VirtualEnvironment::of_checkout(dir, command, runners);
    let environment = own.iter().flat_map(VirtualEnvironment::variables);
    let exports: String = report.environment().iter().cloned().chain(environment).map(set).collect();
    // What prepares the line adds to the variables of the hooks.
    let naming = reading.runners.iter().find_map(|runner| runner.names.as_ref()?.naming_line(&runner.id, command));
    let line = format!("{exports}{prepare}{}", naming.as_deref().unwrap_or(command));
    let bounded = BoundedCommand::new(&line, dir, output, patience, MAX_OUTPUT);
    let Ok(Returned::Ended(ended)) = (BoundedCommand { errors: true, ..bounded }).run() else { return None };
    let output = read_output(output);
    let says = explanation(&plain_text(&output.end()));
    let finished = Finished { ended, millis: 0, output, start_error: None, undelivered: None };
    let globs: Vec<String> = reading.reports().collect();
    let written: Vec<_> = ReportListing::of(dir, &globs).into_paths().collect();
    let tests = report.read(&finished, &ReportFiles { written: &written, others: false, counted: None });
    Some(ScratchRun { ended, tests, says })
}

/// Returns the first line that speaks of an error, or the last one.
fn explanation(text: &str) -> String {
    const WORDS: [&str; 5] = ["error", "fatal", "cannot", "not found", "requires"];
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let last = || lines().next_back();
    let speaks = |line: &&str| WORDS.iter().any(|word| line.to_lowercase().contains(word));
    shortened(lines().find(speaks).or_else(last).unwrap_or_default(), MAX_LINE)
}

fn read_output(path: &Path) -> KeptOutput {
    let mut tail = Vec::new();
    let read = fs::File::open(path).and_then(|file| file.take(MAX_READ + 1).read_to_end(&mut tail));
    let cut = read.is_err() || tail.len() as u64 > MAX_READ;
    KeptOutput { total: tail.len() as u64, tail, cut, ..KeptOutput::default() }
}
