//! The cost of the names of tests: the same suite alone, under `gate run` where nobody knows the names, and under `gate run`
//! where each test is reported by name.
//!
//! `cargo bench --bench test_names`; `-- --rounds=N` sets the number of rounds.

#![allow(
    clippy::print_stdout,
    clippy::expect_used,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "benchmarks are not published"
)]

mod support;

use std::fmt::Write as _;

use support::measure::{Contender, compare};
use support::repository::{GATE, Repository};

/// The suite, as its users start it.
const SUITE: &str = "python3 -m unittest -q test_suite";

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    // Without this word it is a test run, which has nothing to measure.
    if !args.iter().any(|arg| arg == "--bench") {
        return;
    }
    let rounds = args.iter().find_map(|arg| arg.strip_prefix("--rounds=")?.parse().ok()).unwrap_or(15);
    for tests in [20, 2_000, 20_000] {
        let repo = Repository::generate(1_000);
        repo.journal(100);
        repo.write("test_suite.py", &suite(tests));
        repo.write("suite.sh", &format!("{SUITE}\n"));
        repo.write(".gitignore", "__pycache__/\n");
        let line = |program: &'static str, args: &'static [&'static str]| {
            let repo = &repo;
            move || {
                let mut command = repo.command(program);
                command.args(args);
                command
            }
        };
        let alone = Contender::new("the suite alone", line("sh", &["suite.sh"]));
        let nameless = Contender::new("`gate run`, no names", line(GATE, &["run", "--", "sh", "suite.sh"]));
        let named = Contender::new("`gate run`, each test by name", line(GATE, &["run", "--", SUITE]));
        compare(&format!("{tests} tests"), rounds, vec![alone, nameless, named.limit(1.02, 30.0)]);
        println!("\nnames on disk: {} bytes after {} equal runs", repo.size(".git/gate/tests"), rounds + 2);
    }
}

/// A file of so many tests, each of which does next to nothing.
fn suite(tests: usize) -> String {
    let mut text = "import unittest\n\nclass TestSuite(unittest.TestCase):\n".to_owned();
    for number in 0..tests {
        let _ = writeln!(
            text,
            "    def test_the_parser_reads_line_{number:05}(self): self.assertEqual({number} + 1, {})",
            number + 1
        );
    }
    text
}
