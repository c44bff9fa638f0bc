//! Outputs of real runners, and what they must be read as: `tests/data/runner-output/<runner>/<case>.txt`.
//!
//! The first line of a file is `expect: <passed|failed|nothing|silent> <passed>/<failed>/<skipped>`, with `-` where
//! no counts are shown, and `only-named` where the reading depends on the runner being known.

#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use gate::runner::{Catalogue, OutputOutcome, OutputReading, Runner, read_output_of};
use proptest::prelude::*;

/// Reads an output of `runner`, or of any runner if that is unknown.
fn read_output(runner: Option<&Runner>, output: &str) -> OutputReading {
    read_output_of(Catalogue::embedded(), runner.as_slice(), output)
}

struct Sample {
    name: String,
    runner: &'static Runner,
    says: OutputOutcome,
    counts: Option<(u64, u64, u64)>,
    only_named: bool,
    output: String,
}

fn samples() -> Vec<Sample> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/runner-output");
    let mut samples = Vec::new();
    for folder in entries(&root) {
        let name = folder.file_name().unwrap().to_string_lossy().into_owned();
        let id_matches = |runner: &&Runner| words(&runner.id) == words(&name);
        let runner = Catalogue::embedded().runners().find(id_matches).unwrap_or_else(|| panic!("no runner for {name}"));
        for file in entries(&folder) {
            let text = fs::read_to_string(&file).unwrap();
            let (head, output) = text.split_once('\n').unwrap();
            let mut head = head.strip_prefix("expect: ").unwrap_or_else(|| panic!("{}", file.display())).split(' ');
            let says = match head.next() {
                Some("passed") => OutputOutcome::Passed,
                Some("failed") => OutputOutcome::Failed,
                Some("nothing") => OutputOutcome::NothingRan,
                Some("silent") => OutputOutcome::Silent,
                other => panic!("{}: {other:?}", file.display()),
            };
            let counts = match head.next().unwrap() {
                "-" => None,
                counts => {
                    let counts: Vec<u64> = counts.split('/').map(|count| count.parse().unwrap()).collect();
                    Some((counts[0], counts[1], counts[2]))
                }
            };
            samples.push(Sample {
                name: format!("{name}/{}", file.file_stem().unwrap().to_string_lossy()),
                runner,
                says,
                counts,
                only_named: head.next() == Some("only-named"),
                output: output.to_owned(),
            });
        }
    }
    assert!(samples.len() > 100, "only {} samples", samples.len());
    samples
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

fn words(name: &str) -> Vec<&str> {
    name.split([' ', '-']).filter(|word| !word.is_empty()).collect()
}

fn counts(reading: &OutputReading) -> Option<(u64, u64, u64)> {
    let sum = |count: fn(&gate::event::RunReport) -> u64| reading.reports.iter().map(count).sum();
    let all = (sum(|report| report.passed), sum(|report| report.failed), sum(|report| report.skipped));
    (!reading.reports.is_empty()).then_some(all)
}

#[test]
fn each_sample_reads_as_it_should() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let named = read_output(Some(sample.runner), &sample.output);
        let mut readings = vec![("named", named)];
        if !sample.only_named {
            let unnamed = read_output(None, &sample.output);
            if unnamed.reports.len() > 1 {
                wrong.push(format!("{}: more than one runner sees itself: {:?}", sample.name, unnamed.reports));
            }
            readings.push(("not named", unnamed));
        }
        let windows = sample.output.replace('\n', "\r\n");
        readings.push(("with CRLF", read_output(Some(sample.runner), &windows)));
        for (how, reading) in readings {
            if (reading.says, counts(&reading)) != (sample.says, sample.counts) {
                wrong.push(format!("{} {how}: {reading:?}", sample.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

/// `… | tail -n` of a run that failed, or ran nothing, never shows a pass, whatever n; of one that passed, never a
/// failure.
#[test]
fn no_tail_turns_the_outcome_around() {
    let mut wrong = Vec::new();
    for sample in samples() {
        let lines: Vec<&str> = sample.output.lines().collect();
        for from in 0..lines.len() {
            let reading = read_output(Some(sample.runner), &lines[from..].join("\n"));
            let says = reading.says;
            let turned = match sample.says {
                OutputOutcome::Failed | OutputOutcome::Silent => says == OutputOutcome::Passed,
                // Some runners print no count at their end, only that all is well.
                OutputOutcome::NothingRan => says == OutputOutcome::Passed && !reading.reports.is_empty(),
                OutputOutcome::Passed => matches!(says, OutputOutcome::Failed | OutputOutcome::NothingRan),
            };
            if turned {
                wrong.push(format!("{}: the last {} lines say {says:?}", sample.name, lines.len() - from));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// `… | head -n` of a run that failed shows a pass only with the reservation that the end must be visible.
#[test]
fn a_head_shows_a_pass_only_with_a_reservation() {
    let mut wrong = Vec::new();
    // That a script fails after its tests passed is told by the task runner alone.
    for sample in samples().iter().filter(|sample| sample.says == OutputOutcome::Failed && sample.runner.task.is_none())
    {
        let lines: Vec<&str> = sample.output.lines().collect();
        for to in 0..lines.len() {
            let reading = read_output(Some(sample.runner), &lines[..to].join("\n"));
            if reading.says == OutputOutcome::Passed && !reading.needs_end {
                wrong.push(format!("{}: the first {to} lines", sample.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Lines that a runner prints on failure are read as a failure.
#[test]
fn what_failure_shows_is_a_failure() {
    let mut wrong = Vec::new();
    for runner in Catalogue::embedded().runners() {
        for line in &runner.output.failure_shows {
            let reading = read_output(Some(runner), line);
            if reading.says != OutputOutcome::Failed {
                wrong.push(format!("{}: `{line}` is {reading:?}", runner.id));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn several_runners_in_one_output() {
    let catalogue = Catalogue::embedded();
    let output = "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
                  Test Suites: 1 failed, 1 total\nTests:       1 failed, 4 passed, 5 total\n";
    let reading = read_output(None, output);
    let reports: Vec<_> = reading.reports.iter().map(|r| (r.runner.as_str(), r.passed, r.failed, r.skipped)).collect();
    assert_eq!((reports, reading.says), (vec![("cargo test", 3, 0, 1), ("jest", 4, 1, 0)], OutputOutcome::Failed));
    let cargo = catalogue.runner("cargo test").unwrap();
    assert_eq!(read_output_of(catalogue, &[cargo], output).says, OutputOutcome::Passed);
    let (jest, ruff) = (catalogue.runner("jest").unwrap(), catalogue.runner("ruff").unwrap());
    for (runners, output, says) in [
        (&[cargo, jest][..], "test result: ok. 3 passed; 0 failed; 0 ignored;\n", OutputOutcome::Silent),
        (&[ruff, jest], "All checks passed!\n", OutputOutcome::Silent),
        (&[ruff], "All checks passed!\n", OutputOutcome::Passed),
        (&[jest, jest], "Test Suites: 1 passed, 1 total\nTests:       1 passed, 1 total\n", OutputOutcome::Passed),
    ] {
        let reading = read_output_of(catalogue, runners, output);
        assert_eq!((reading.says, reading.reports.len() < 2), (says, true), "{output}");
    }
    // The start of the first run is cut off, so that its end is not shown; but something was executed.
    let output = "Passed!  - Failed:     0, Passed:     3, Skipped:     0, Total:     3\n\
                  ============ no tests ran in 0.01s ============\n";
    assert_eq!(read_output(None, output.lines().last().unwrap()).says, OutputOutcome::NothingRan);
    assert_eq!(read_output(None, output).says, OutputOutcome::Silent);
}

#[test]
fn hostile_sizes_are_read_in_linear_time() {
    let long_line =
        format!("{}\ntest result: ok. 1 passed; 0 failed; 0 ignored;\n", "test result: ok. ".repeat(600_000));
    let many_lines = "ok  \texample.com/a\t0.01s\n".repeat(200_000) + "FAIL\n";
    let progress = "00:01 +3: x\r".repeat(200_000) + "00:01 +3: All tests passed!\n";
    let escapes = "\u{1b}[".repeat(1_000_000) + "\n3 passed in 0.1s";
    for (output, says) in [
        (long_line, OutputOutcome::Passed),
        (many_lines, OutputOutcome::Failed),
        (progress, OutputOutcome::Passed),
        (escapes, OutputOutcome::Passed),
        ("\n".repeat(5_000_000), OutputOutcome::Silent),
    ] {
        let start = Instant::now();
        assert_eq!(read_output(None, &output).says, says);
        // Far above what linear time needs even unoptimised, far below what quadratic time would.
        assert!(start.elapsed() < Duration::from_mins(1), "{:?} for {} bytes", start.elapsed(), output.len());
    }
}

proptest! {
    #[test]
    fn no_output_makes_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..600)) {
        let _ = read_output(None, &String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn counts_never_overflow(digits in "[0-9]{1,40}") {
        let output = format!("test result: ok. {digits} passed; {digits} failed; {digits} ignored;\n").repeat(3);
        let _ = read_output(None, &output);
    }
}
