//! Comparison of two outputs of one command, without the parts that vary from run to run.

use std::collections::BTreeSet;

use crate::command_line::CheckOutcome;
use crate::digest::hex_digest;
use crate::event::Ended;
use crate::fact::output_patterns::{NAME, table};
use crate::foreign_text::shortened_in_bytes;

/// The length of the end of an output that is read, in bytes.
const READ: usize = 32 * 1024;

/// The reading of the end of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct EndingReading {
    /// See [`super::CommandRun::outcome`].
    pub(super) outcome: String,
    /// See [`super::CommandRun::failure`].
    pub(super) failure: Option<String>,
    /// See [`super::CommandRun::failed_tests`].
    pub(super) failed_tests: Vec<String>,
    /// See [`super::CommandRun::says`].
    pub(super) says: String,
}

/// Reads the end of an output.
pub(super) fn read(ended: Option<Ended>, result: Option<CheckOutcome>, tail: &str) -> EndingReading {
    let table = table();
    let from = tail.len().saturating_sub(READ);
    let tail = &tail[tail.ceil_char_boundary(from)..];
    let normal = table.normal(tail);
    // Threads and workers finish in any order.
    let lines: BTreeSet<&str> = normal.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let how = format!("{ended:?} {result:?}");
    let digest = |lines: Vec<&str>| {
        let parts: Vec<&[u8]> = std::iter::once(how.as_str()).chain(lines).map(str::as_bytes).collect();
        hex_digest(&parts)[..16].to_owned()
    };
    let outcome = digest(lines.iter().copied().collect());
    let bad = result == Some(CheckOutcome::Fail) || (result.is_none() && ended.is_some_and(|ended| !ended.success()));
    if !bad {
        return EndingReading { outcome, ..EndingReading::default() };
    }
    let bare = table.bare(tail);
    let failed_tests = table.failed_tests(&bare);
    let told: Vec<&str> = lines.iter().copied().filter(|line| table.tells(line)).collect();
    let failure = if failed_tests.is_empty() {
        digest(if told.is_empty() { lines.into_iter().collect() } else { told })
    } else {
        digest(failed_tests.iter().map(String::as_str).collect())
    };
    let says = bare.lines().map(str::trim).find(|line| table.tells(line)).unwrap_or_default();
    EndingReading { outcome, failure: Some(failure), failed_tests, says: shortened_in_bytes(says.to_owned(), NAME) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fail(tail: &str) -> EndingReading {
        read(Some(Ended::Exited(1)), Some(CheckOutcome::Fail), tail)
    }

    #[test]
    fn times_and_addresses_make_no_other_outcome_and_counts_do() {
        let one = fail(
            "thread 'a' (11) panicked at src/x.rs:1:2:\ntest a ... FAILED\n10 passed; 1 failed; finished in 0.31s\n",
        );
        let again = fail(
            "test a ... FAILED\nthread 'a' (12) panicked at src/x.rs:1:2:\n10 passed; 1 failed; finished in 2.5s\n",
        );
        assert_eq!((&one.outcome, &one.failure), (&again.outcome, &again.failure), "times, threads, order of lines");
        assert_eq!(one.failed_tests, ["a"]);
        let progress = fail(
            "thread 'a' (12) panicked at src/x.rs:1:2:\ntest a ... FAILED\n11 passed; 1 failed; finished in 0.3s\n",
        );
        assert_ne!(one.outcome, progress.outcome);
        assert_eq!(one.failure, progress.failure, "the same test fails");
        assert_ne!(one.failure, fail("test b ... FAILED\n").failure);
    }

    #[test]
    fn what_ended_well_has_no_failure() {
        let good = read(Some(Ended::Exited(0)), Some(CheckOutcome::Pass), "test result: ok. 0 failed\n");
        assert_eq!((good.failure, good.says.as_str()), (None, ""));
        assert_ne!(good.outcome, read(Some(Ended::Exited(0)), Some(CheckOutcome::Pass), "other").outcome);
        assert_ne!(good.outcome, fail("test result: ok. 0 failed\n").outcome, "the status counts");
    }

    #[test]
    fn any_text_is_read_in_bounds() {
        let long = format!("{}\nerror: the end", "x\u{fc}".repeat(READ));
        assert_eq!(fail(&long).says, "error: the end");
        assert_eq!(fail("").failed_tests, Vec::<String>::new());
    }
}
