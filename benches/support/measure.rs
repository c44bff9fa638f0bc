//! Comparing commands: interleaved rounds, and ratios within a round.
//!
//! A shared machine is faster and slower by the minute. So every round starts each command once, in the same order,
//! and only times of the same round are compared; the median of those comparisons is printed.

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a command may cost, measured against the first command of its table.
#[derive(Clone, Copy)]
pub struct Limit {
    /// So many times the first command …
    pub times: f64,
    /// … and so many milliseconds more.
    pub plus: f64,
}

/// A command that is compared with others.
pub struct Contender<'a> {
    name: String,
    command: Box<dyn Fn() -> Command + 'a>,
    stdin: Vec<u8>,
    after: Box<dyn Fn() + 'a>,
    limit: Option<Limit>,
    /// Milliseconds, one for each round.
    times: Vec<f64>,
    /// Milliseconds of processor time, of all rounds together.
    cpu: f64,
}

impl<'a> Contender<'a> {
    /// A command, built anew for each round. It must end with status 0.
    pub fn new(name: impl Into<String>, command: impl Fn() -> Command + 'a) -> Self {
        Self {
            name: name.into(),
            command: Box::new(command),
            stdin: Vec::new(),
            after: Box::new(|| {}),
            limit: None,
            times: Vec::new(),
            cpu: 0.0,
        }
    }

    /// What it reads on its standard input.
    pub fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = bytes.into();
        self
    }

    /// What puts everything back after it, outside the measured time.
    pub fn after(mut self, after: impl Fn() + 'a) -> Self {
        self.after = Box::new(after);
        self
    }

    /// What it may cost.
    pub fn limit(mut self, times: f64, plus: f64) -> Self {
        self.limit = Some(Limit { times, plus });
        self
    }

    /// How long it took, and how many milliseconds of processor time.
    fn run(&self, mut command: Command) -> (Duration, f64) {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let cpu = cpu_of_children();
        let begun = Instant::now();
        let mut child = command.spawn().expect("the command starts");
        let mut pipe = child.stdin.take().expect("a pipe");
        // A command that does not read has closed the pipe by then.
        let _ = pipe.write_all(&self.stdin);
        drop(pipe);
        let status = child.wait().expect("the command ends");
        let took = (begun.elapsed(), cpu_of_children() - cpu);
        assert!(status.success(), "{}: {status}: {command:?}", self.name);
        (self.after)();
        took
    }

    /// The largest process of the command, in megabytes; `None` where there is no GNU time.
    fn peak(&self) -> Option<f64> {
        let time = Path::new("/usr/bin/time");
        let plain = (self.command)();
        let report = tempfile::NamedTempFile::new().ok()?;
        let mut command = Command::new(time.is_file().then_some(time)?);
        command.args(["--format=%M", "--output"]).arg(report.path());
        command.arg(plain.get_program()).args(plain.get_args()).env_clear();
        command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
        if let Some(dir) = plain.get_current_dir() {
            command.current_dir(dir);
        }
        self.run(command);
        fs::read_to_string(report.path()).ok()?.trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
    }
}

/// Runs all in `rounds` rounds and prints a table. The first is what the others are compared with.
pub fn compare(title: &str, rounds: usize, mut contenders: Vec<Contender<'_>>) {
    for one in &contenders {
        one.run((one.command)());
    }
    for _ in 0..rounds {
        for one in &mut contenders {
            let took = one.run((one.command)());
            one.times.push(took.0.as_secs_f64() * 1000.0);
            one.cpu += took.1;
        }
    }
    println!("\n### {title}\n");
    println!("| {rounds} rounds | median ms | min–max | × first | + ms | cpu ms | peak MB | aim |");
    println!("| --- | --: | --: | --: | --: | --: | --: | --- |");
    let first = contenders[0].times.clone();
    for one in &contenders {
        let against = |compared: &dyn Fn(f64, f64) -> f64| {
            median(one.times.iter().zip(&first).map(|(&own, &first)| compared(own, first)).collect())
        };
        let (ratio, more) = (against(&|own, first| own / first), against(&|own, first| own - first));
        let (low, high) =
            one.times.iter().fold((f64::MAX, 0.0_f64), |(low, high), &time| (low.min(time), high.max(time)));
        let peak = one.peak().map_or_else(|| "–".to_owned(), |peak| format!("{peak:.1}"));
        let aim = one.limit.map_or_else(String::new, |Limit { times, plus }| {
            let over = against(&|own, first| own - (times * first + plus));
            let said =
                if (times - 1.0).abs() < 0.001 { format!("+{plus} ms") } else { format!("{times} × +{plus} ms") };
            if over <= 0.0 { format!("{said}: met") } else { format!("{said}: missed by {over:.1} ms") }
        });
        println!(
            "| {} | {:.1} | {low:.1}–{high:.1} | {ratio:.2} | {more:.1} | {cpu:.1} | {peak} | {aim} |",
            one.name,
            median(one.times.clone()),
            cpu = one.cpu / f64::from(u32::try_from(rounds).unwrap_or(u32::MAX)),
        );
    }
}

/// The processor time of all children that have ended, in milliseconds; 0 where the system has no such file. It comes in
/// steps of ten, so that only a mean over many rounds says something. On a busy machine it says more than the clock.
fn cpu_of_children() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name of the program stands in parentheses and may hold anything; then `cutime` and `cstime` are 14th and 15th.
    let fields = stat.rsplit_once(')').map_or("", |(_, fields)| fields).split_whitespace();
    fields.skip(13).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() * 10.0
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    if values.len() % 2 == 1 { values[middle] } else { f64::midpoint(values[middle - 1], values[middle]) }
}
