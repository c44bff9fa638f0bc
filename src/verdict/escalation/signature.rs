//! The few lines of a failing run's output that say how it failed.

use std::sync::LazyLock;

use regex::Regex;

/// How many lines a signature has at most.
pub const LINES: usize = 6;
/// How long one of them is at most, in characters.
const WIDTH: usize = 160;

static SAYS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(error|errors|fail|failed|failure|failing|panicked|assert\w*|exception|traceback|cannot|can't|could not|not found|undefined|unresolved|mismatch\w*|expected|refused|denied|timed out|timeout|abort\w*|fatal)\b",
    )
    .ok()
});

/// What differs between two runs of the same failure.
static VARIES: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"0x[0-9a-fA-F]+|\b\d+(\.\d+)?\s?(ns|µs|us|ms|s|sec|seconds|m)\b|\b\d{2}:\d{2}:\d{2}(\.\d+)?\b|/tmp/[^\s:]+|\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}\b").ok()
});

/// The lines that speak of the failure, in their order; where none does, the last ones.
pub fn of(output: &str) -> Vec<String> {
    let lines = || output.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut met: Vec<String> = Vec::new();
    for line in lines().filter(|line| SAYS.as_ref().is_some_and(|says| says.is_match(line))) {
        let line: String = line.chars().take(WIDTH).collect();
        if met.len() < LINES && !met.contains(&line) {
            met.push(line);
        }
    }
    if met.is_empty() {
        let mut last: Vec<String> = lines().rev().take(3).map(|line| line.chars().take(WIDTH).collect()).collect();
        last.reverse();
        return last;
    }
    met
}

/// The same failure in another run has the same: without times, addresses and temporary paths.
pub fn same(one: &[String], other: &[String]) -> bool {
    let plain = |lines: &[String]| -> Vec<String> { lines.iter().map(|line| without_what_varies(line)).collect() };
    plain(one) == plain(other)
}

fn without_what_varies(line: &str) -> String {
    VARIES.as_ref().map_or_else(|| line.to_owned(), |varies| varies.replace_all(line, "·").into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lines_that_speak_of_the_failure() {
        let output = "compiling\nrunning 3 tests\ntest a ... ok\ntest b ... FAILED\n\nthread 'b' panicked at src/lib.rs:3:1\n\
                      test result: FAILED. 2 passed; 1 failed\n";
        assert_eq!(
            of(output),
            ["test b ... FAILED", "thread 'b' panicked at src/lib.rs:3:1", "test result: FAILED. 2 passed; 1 failed"]
        );
        assert_eq!(of("one\n\ntwo\nthree\nfour\n"), ["two", "three", "four"]);
        assert!(of("").is_empty());
        assert_eq!(of(&"error: again and again\nerror: more\n".repeat(50)).len(), 2);
    }

    #[test]
    fn times_and_addresses_do_not_make_another_failure() {
        let lines = |text: &str| of(text);
        for (one, other, equal) in [
            ("FAILED in 0.31s", "FAILED in 12 s", true),
            ("error at 0x7ffe", "error at 0x1234", true),
            ("error: /tmp/abc/x is missing", "error: /tmp/def/y is missing", true),
            ("1 failed", "2 failed", false),
            ("error: a", "error: b", false),
        ] {
            assert_eq!(same(&lines(one), &lines(other)), equal, "{one} | {other}");
        }
    }
}
