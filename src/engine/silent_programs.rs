//! Programs of tests that `ctest` started and that passed without the summary which their framework always prints: they
//! ended before their tests did, with status 0.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use memchr::memmem;

use super::stale_objects::build_folders;
use crate::foreign_text::one_line;
use crate::regular_file;

/// The record of the last run, below a build folder, with all that the programs printed.
const LOG: &str = "Testing/Temporary/LastTest.log";
/// The largest part of a program that is searched, in bytes.
const MAX_PROGRAM: u64 = 64 * 1024 * 1024;
/// The number of programs that are searched.
const MAX_PROGRAMS: usize = 256;
/// The frameworks, the texts of which one is in each program that uses it, and those of which one is in what it prints.
const FRAMEWORKS: [(&str, &[&str], &[&str]); 4] = [
    (
        "GoogleTest",
        &["[  PASSED  ] ", "libgtest.so", "libgtest.dylib", "libgtest."],
        &["[  PASSED  ] ", "[  FAILED  ] "],
    ),
    (
        "Catch2",
        &["No tests ran", "libCatch2"],
        &["All tests passed", "test cases:", "No tests ran", "Passed all", "<Catch"],
    ),
    ("doctest", &["[doctest] "], &["[doctest] test cases:", "<doctest"]),
    ("Boost.Test", &["libboost_unit_test_framework", "No errors detected"], &["No errors detected", "failure"]),
];
/// Options with which a program writes its summary elsewhere, or none.
const OPTIONS: [&str; 12] =
    ["-r", "-o", "-q", "-m", "-l", "--list", "--reporter", "--out", "--quiet", "--minimal", "--report", "--log"];

/// Returns the sentence about a program that passed in the last run of `ctest` without the summary of its framework.
pub(super) fn silent_program(root: &Path, again: &str) -> Option<String> {
    let logs = build_folders(root).into_iter().map(|build| root.join(build).join(LOG));
    let time = |path: &PathBuf| fs::metadata(path).and_then(|meta| meta.modified()).ok();
    let log = logs.filter(|path| path.is_file()).max_by_key(time)?;
    let text = regular_file::read(&log).ok()?;
    let text = String::from_utf8_lossy(&text);
    let (found, framework) =
        tests_in(&text).take(MAX_PROGRAMS).find_map(|test| Some((test.name, silent_framework(&test)?)))?;
    Some(format!(
        "{}, a program with {framework}, ended with status 0 before its tests did, because it printed no summary: \
         find what ends it{again}",
        one_line(found)
    ))
}

/// A test in the record of `ctest`.
struct LoggedTest<'a> {
    name: &'a str,
    /// The program and its arguments, each in quotation marks.
    command: &'a str,
    output: &'a str,
}

/// Returns the tests that passed.
fn tests_in(log: &str) -> impl Iterator<Item = LoggedTest<'_>> {
    log.split("\nCommand: ").zip(log.split("\nCommand: ").skip(1)).filter_map(|(before, text)| {
        let name = before.lines().next_back()?.split_once(" Test: ")?.1;
        let (command, rest) = text.split_once('\n')?;
        let (output, rest) = rest.split_once("\n<end of output>\n")?;
        rest.lines().nth(2).filter(|line| *line == "Test Passed.")?;
        Some(LoggedTest { name, command, output })
    })
}

/// Returns the framework of a test whose program printed no summary.
fn silent_framework(test: &LoggedTest<'_>) -> Option<&'static str> {
    let mut words = test.command.split('"').skip(1).step_by(2);
    let program = words.next()?;
    if words.any(|word| OPTIONS.iter().any(|option| word.starts_with(option))) {
        return None;
    }
    let is_quiet = |says: &[&str]| !says.iter().any(|text| test.output.contains(text));
    if !FRAMEWORKS.iter().all(|(_, _, says)| is_quiet(says)) {
        return None;
    }
    let mut content = Vec::new();
    File::open(program).and_then(|file| file.take(MAX_PROGRAM).read_to_end(&mut content)).ok()?;
    let is_in = |mark: &&str| memmem::find(&content, mark.as_bytes()).is_some();
    FRAMEWORKS.iter().find(|(_, marks, _)| marks.iter().any(is_in)).map(|(name, ..)| *name)
}
