//! Any text as the output of any runner, or of one that is not known: the reading does not fail, does not take long,
//! and does not contradict itself.
//!
//! An input is a byte for the runner, then the output.
#![no_main]

use std::fs;

use gate::runner::{Catalogue, OutputOutcome, OutputReading, Runner, read_output_of};
use libfuzzer_sys::fuzz_target;

mod support;

fn runners() -> Vec<&'static Runner> {
    Catalogue::embedded().runners().collect()
}

fuzz_target!(init: support::plant("runner_output", seeds()), |data: &[u8]| {
    let Some((runner, output)) = data.split_first() else { return };
    let output = String::from_utf8_lossy(output);
    let runners = runners();
    let runner = runners[usize::from(*runner) % runners.len()];
    consistent(&output, &read_output_of(Catalogue::embedded(), &[runner], &output));
    consistent(&output, &read_output_of(Catalogue::embedded(), &[], &output));
});

fn consistent(output: &str, reading: &OutputReading) {
    let shown = reading.line.is_some();
    let failed = reading.reports.iter().any(|report| report.failed > 0);
    let executed = reading.reports.iter().any(|report| report.passed > 0);
    let holds = match reading.says {
        OutputOutcome::Passed => shown && !failed,
        OutputOutcome::Failed => shown,
        OutputOutcome::NothingRan => shown && !failed && !executed,
        OutputOutcome::Silent => true,
    };
    assert!(holds, "{reading:?} {output:?}");
    assert!(reading.line.as_ref().is_none_or(|line| line.chars().count() <= 200), "{reading:?}");
}

fn seeds() -> Vec<Vec<u8>> {
    let runners = runners();
    let mut seeds = Vec::new();
    for path in support::files(&support::project().join("tests/data/runner-output")) {
        let folder = path.parent().and_then(|folder| folder.file_name()).unwrap_or_default().to_string_lossy();
        let index = runners.iter().position(|runner| runner.id.replace(' ', "-") == folder).unwrap_or_default();
        let text = fs::read_to_string(&path).expect("the data of the tests is text");
        let output = text.split_once('\n').map_or("", |(_, output)| output);
        // The end of a long output decides; a short input is mutated more often.
        let start = output.ceil_char_boundary(output.len().saturating_sub(2000));
        seeds.push([&[u8::try_from(index).unwrap_or_default()], &output.as_bytes()[start..]].concat());
    }
    seeds
}
