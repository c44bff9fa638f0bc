//! The debug log on standard error: the calls of git, the policy, and the answer of each gate.

use std::io::Write as _;
use std::time::Instant;

use log::{LevelFilter, Log, Metadata, Record};

use super::ui::DIM;

/// The environment variable that sets the level: `off`, `error`, `warn`, `info`, `debug` or `trace`.
pub const VARIABLE: &str = "GATE_LOG";

/// Writes each record as one dimmed line, with the milliseconds since the start.
struct StandardError {
    begun: Instant,
}

/// Starts the log if `verbose` is set or `value`, that of [`VARIABLE`], names a level. A log that is off costs one
/// comparison per record.
///
/// # Errors
///
/// One sentence where `value` is not a level.
pub fn start(verbose: bool, value: Option<&str>) -> Result<(), String> {
    let Some(level) = level(verbose, value)? else { return Ok(()) };
    // The only way to fail is that a logger was set before, and that one goes on.
    if log::set_boxed_logger(Box::new(StandardError { begun: Instant::now() })).is_ok() {
        log::set_max_level(level);
    }
    Ok(())
}

/// Returns the requested level, or `None` if the log stays off.
fn level(verbose: bool, value: Option<&str>) -> Result<Option<LevelFilter>, String> {
    match value.filter(|value| !value.is_empty()) {
        Some(value) => match value.parse::<LevelFilter>() {
            Ok(LevelFilter::Off) => Ok(verbose.then_some(LevelFilter::Debug)),
            Ok(level) => Ok(Some(level)),
            Err(_) => Err(format!("{VARIABLE} is `{value}`; use off, error, warn, info, debug or trace")),
        },
        None => Ok(verbose.then_some(LevelFilter::Debug)),
    }
}

impl Log for StandardError {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("gate")
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let milliseconds = self.begun.elapsed().as_millis();
        let part = record.target().trim_start_matches("gate::");
        // A closed stream is not an error of the work.
        let _ = writeln!(anstream::stderr(), "{DIM}[{milliseconds:>5} ms] {part}: {}{DIM:#}", record.args());
    }

    fn flush(&self) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_level_is_read_from_the_option_and_the_variable() {
        for (verbose, value, expected) in [
            (false, None, Ok(None)),
            (false, Some(""), Ok(None)),
            (true, None, Ok(Some(LevelFilter::Debug))),
            (true, Some("off"), Ok(Some(LevelFilter::Debug))),
            (true, Some("trace"), Ok(Some(LevelFilter::Trace))),
            (false, Some("info"), Ok(Some(LevelFilter::Info))),
            (false, Some("off"), Ok(None)),
        ] {
            assert_eq!(level(verbose, value), expected, "{verbose} {value:?}");
        }
        assert_eq!(
            level(false, Some("loud")).unwrap_err(),
            "GATE_LOG is `loud`; use off, error, warn, info, debug or trace"
        );
    }
}
