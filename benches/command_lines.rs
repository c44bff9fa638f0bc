//! How fast command lines are judged and outputs of runners are read, beside one plain regular expression that looks
//! for the same things and understands none of them.
//!
//! `cargo bench --bench command_lines` takes about a minute; `-- --quick` takes fewer rounds. The lines and outputs are
//! those of the tests. A shared machine is faster and slower by the minute, so all contenders take turns, and only
//! times of the same round are compared; medians are printed.

#![allow(clippy::print_stdout, clippy::expect_used, missing_docs, reason = "benchmarks are not published")]

use std::fs;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use gate::command_line::{LineRecord, judge};
use gate::embedded;
use gate::runner::{Catalogue, OutputReading, Project, Runner, read_output_of};
use regex::Regex;

/// The size of the output that is read, in bytes.
const LOG: usize = 20 << 20;
/// The argument with which this program measures only itself, once.
const FIRST_USE: &str = "--first-use";
/// What someone writes who wants to know whether a line runs tests.
const TESTS: &str = concat!(
    r"(?-u:\b)(cargo (nextest|test)|(npm|yarn|pnpm|bun)( run)? test|npx (jest|vitest|mocha)|jest|vitest|mocha|pytest|tox|nox",
    r"|go test|rspec|phpunit|(mvn|gradle|gradlew)(?-u:\b).* (test|check|verify)|make (test|check)|dotnet test|ctest|swift test)(?-u:\b)"
);
/// What someone writes who wants to know whether the tests passed. ASCII, which is many times faster here.
const RESULTS: &str = concat!(
    r"(?m)^test result: (ok|FAILED)|(?-u:\b([0-9]+) (passed|failed|passing|failing|examples?|tests?|failures?|errors?)\b)",
    r"|(?-u:^(ok|FAIL|PASS|FAILED|OK)\b|Tests:\s+[0-9]+|BUILD (SUCCESS|FAIL))"
);

struct Contender<'a> {
    name: &'static str,
    work: Box<dyn FnMut() + 'a>,
}

impl<'a> Contender<'a> {
    fn new(name: &'static str, work: impl FnMut() + 'a) -> Self {
        Self { name, work: Box::new(work) }
    }
}

struct Line {
    command: String,
    status: Option<i32>,
    output: Option<String>,
}

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    if args.iter().any(|arg| arg == FIRST_USE) {
        return first_use();
    }
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let rounds = if args.iter().any(|arg| arg == "--quick") { 3 } else { 9 };
    command_lines(rounds);
    outputs(rounds);
    first_uses(rounds);
}

fn command_lines(rounds: usize) {
    let lines = lines();
    let tests = Regex::new(TESTS).expect("a regular expression");
    let repeat = 20;
    let each = |work: &mut dyn FnMut(&Line)| (0..repeat).for_each(|_| lines.iter().for_each(&mut *work));
    let rows = vec![
        Contender::new("one regular expression", || {
            each(&mut |line| {
                black_box(tests.is_match(&line.command));
            });
        }),
        Contender::new("the line alone", || {
            each(&mut |line| {
                black_box(judge(&line.command, &LineRecord::default(), Project::without_runners(&())));
            });
        }),
        Contender::new("line, status and output", || {
            each(&mut |line| {
                let record =
                    LineRecord { status: line.status, output: line.output.as_deref(), background: false, shell: None };
                black_box(judge(&line.command, &record, Project::without_runners(&())));
            });
        }),
    ];
    let count = f64::from(repeat) * f64::from(u32::try_from(lines.len()).expect("few lines"));
    compare("command lines", "lines/s", count, rounds, rows);
}

/// Reads an output of `runner`, or of any runner if that is unknown.
fn read_output(runner: Option<&Runner>, output: &str) -> OutputReading {
    read_output_of(Catalogue::embedded(), runner.as_slice(), output)
}

fn outputs(rounds: usize) {
    let log = log();
    let results = Regex::new(RESULTS).expect("a regular expression");
    let runner = |id| Catalogue::embedded().runner(id).expect("a runner of the catalogue");
    let (cargo, jest) = (runner("cargo test"), runner("jest"));
    let rows = vec![
        Contender::new("one regular expression", || {
            black_box(results.find_iter(&log).count());
        }),
        Contender::new("read as `cargo test`", || {
            black_box(read_output(Some(cargo), &log));
        }),
        Contender::new("read as `jest`", || {
            black_box(read_output(Some(jest), &log));
        }),
        Contender::new("runner not known", || {
            black_box(read_output(None, &log));
        }),
    ];
    let megabytes = f64::from(u32::try_from(log.len()).expect("some megabytes")) / f64::from(1 << 20);
    compare("output of runners", "MB/s", megabytes, rounds, rows);
}

/// Runs all in turn and prints a table. `amount` is what each run of each gets through, in `unit` times seconds.
fn compare(title: &str, unit: &str, amount: f64, rounds: usize, mut contenders: Vec<Contender<'_>>) {
    for one in &mut contenders {
        (one.work)();
    }
    let mut times = vec![Vec::new(); contenders.len()];
    for _ in 0..rounds {
        for (one, times) in contenders.iter_mut().zip(&mut times) {
            let begun = Instant::now();
            (one.work)();
            times.push(begun.elapsed().as_secs_f64());
        }
    }
    println!("\n### {title}\n");
    println!("| {rounds} rounds | {unit} | × time of the first |");
    println!("| --- | --: | --: |");
    for (one, own) in contenders.iter().zip(&times) {
        let ratio = median(own.iter().zip(&times[0]).map(|(own, first)| own / first).collect());
        println!("| {} | {:.0} | {ratio:.1} |", one.name, amount / median(own.clone()));
    }
}

/// What a process pays that judges one line and ends, step after step.
const STEPS: [&str; 4] =
    ["the catalogue is parsed", "first line", "first output, runner known", "first output, runner not known"];

fn first_use() {
    let output = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
    let mut begun = Instant::now();
    let mut step = || {
        let took = begun.elapsed().as_secs_f64() * 1000.0;
        begun = Instant::now();
        took
    };
    let catalogue = Catalogue::embedded();
    let parsed = step();
    black_box(judge(
        "cargo test",
        &LineRecord { status: Some(0), ..LineRecord::default() },
        Project::without_runners(&()),
    ));
    let judged = step();
    black_box(read_output(catalogue.runner("cargo test"), output));
    let known = step();
    black_box(read_output(None, output));
    let unknown = step();
    println!("{parsed} {judged} {known} {unknown}");
}

/// Each step in new processes.
fn first_uses(rounds: usize) {
    let mut times = vec![Vec::new(); STEPS.len()];
    for _ in 0..rounds * 3 {
        let own = std::env::current_exe().expect("the path of this program");
        let output = Command::new(own).arg(FIRST_USE).output().expect("this program starts");
        let text = String::from_utf8(output.stdout).expect("numbers");
        for (times, number) in times.iter_mut().zip(text.split_whitespace()) {
            times.push(number.parse::<f64>().expect("a number"));
        }
    }
    let files = embedded::GATES.iter().filter(|(path, _)| path.starts_with("runners/")).count();
    println!("\n### first use in a process, {files} catalogue files\n");
    println!("| step | median ms | least ms |");
    println!("| --- | --: | --: |");
    for (step, times) in STEPS.iter().zip(times) {
        let least = times.iter().copied().fold(f64::MAX, f64::min);
        println!("| {step} | {:.2} | {least:.2} |", median(times));
    }
}

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

fn lines() -> Vec<Line> {
    let text = fs::read_to_string(data().join("command-lines.jsonl")).expect("the lines of the tests");
    let line = |line: &str| {
        let entry: serde_json::Value = serde_json::from_str(line).expect("a line of JSON");
        let status = entry["exit_code"].as_i64().and_then(|status| i32::try_from(status).ok());
        let output = entry["output"].as_str().map(str::to_owned);
        Line { command: entry["command"].as_str().unwrap_or_default().to_owned(), status, output }
    };
    text.lines().map(line).collect()
}

/// The outputs of all runners, one after the other, again and again.
fn log() -> String {
    let mut once = String::new();
    let mut folders = entries(&data().join("runner-output"));
    while let Some(path) = folders.pop() {
        if path.is_dir() {
            folders.extend(entries(&path));
        } else {
            let text = fs::read_to_string(&path).expect("the outputs of the tests");
            // The first line says what is expected.
            once.push_str(text.split_once('\n').map_or("", |(_, output)| output));
        }
    }
    once.repeat(LOG.div_ceil(once.len()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder).expect("the outputs of the tests").flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}
