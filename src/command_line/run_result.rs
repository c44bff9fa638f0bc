//! The result of a run of a whole command line.

use super::output_knowledge::OutputKnowledge;
use crate::event::{Ended, RunReport};
use crate::runner::{OutputOutcome, Project, Runner, read_output_of};
use crate::shell_kind::Shell;

use super::{CheckOutcome, ExitDecides, LineRecord, contradiction, judge, unseen_failure};

/// The result of a run: the fields of a [`crate::event::Run`] that its output decides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunResult {
    /// The counts of the runner.
    pub report: Option<RunReport>,
    /// The reason why status 0 proves nothing about the checks, and the output does not prove anything either.
    pub masked: Option<String>,
}

/// Returns the result of a run of `line` with this end and this output. `runners` are those that the line starts.
/// `counted` is the content of report files, which are complete and take precedence over closing lines. A status that
/// is the runner's own wins over any text: its tests may print the closing lines of a runner. If the two contradict
/// each other, neither counts ([`super::contradiction`]).
pub fn said(
    line: &str,
    runners: &[&Runner],
    ended: Ended,
    text: &str,
    known: OutputKnowledge,
    counted: Option<RunReport>,
    project: Project<'_>,
) -> RunResult {
    // "no tests ran" comes without counts, and is one.
    let nothing = || RunReport { runner: String::new(), passed: 0, failed: 0, skipped: 0 };
    let read = || {
        let reading = read_output_of(project.runners, runners, text);
        sum(reading.reports).or_else(|| (reading.says == OutputOutcome::NothingRan).then(nothing))
    };
    let by_report = counted.is_some();
    let report = counted.or_else(read);
    if !ended.success() {
        return RunResult { report, masked: None };
    }
    let shell = match known {
        OutputKnowledge::ToItsEnd => Some(Shell::Sh),
        OutputKnowledge::AsTold(shell) => shell,
    };
    let record = LineRecord { status: Some(0), output: Some(text), background: false, shell };
    let judged = judge(line, &record, project);
    let decides = match judged.exit_decides {
        Some(ExitDecides::NoMasked) => false,
        Some(ExitDecides::Unknown) => !matches!(shell, Some(Shell::Fish | Shell::PowerShell | Shell::Cmd)),
        _ => true,
    };
    if decides && !by_report && judged.result == Some(CheckOutcome::NoTests) {
        return RunResult { report: Some(nothing()), masked: None };
    }
    let masked = !decides && judged.result != Some(CheckOutcome::Pass);
    // Of a script nobody knows whose status it passes on: failures that its runner counts are not outvoted by it.
    let own = decides && !runners.is_empty();
    let report = report.filter(|report| report.failed == 0 || !own);
    let contradicted = || {
        let by_words = own && !by_report;
        by_words.then(|| contradiction::of_success(line, runners, text, known, project)).flatten()
    };
    let unseen = || {
        unseen_failure(line, Some(text).filter(|_| known == OutputKnowledge::ToItsEnd), project)
            .filter(|_| report.is_none())
    };
    let by_status = |_| contradicted();
    let masked = if masked { Some(judged.reason) } else { judged.exit_decides.map_or_else(unseen, by_status) };
    RunResult { report, masked }
}

/// Returns the sum of all reports, or `None` if there are none.
pub fn sum(reports: impl IntoIterator<Item = RunReport>) -> Option<RunReport> {
    reports.into_iter().reduce(|mut total, next| {
        if !total.runner.split('+').any(|runner| runner == next.runner) {
            total.runner = format!("{}+{}", total.runner, next.runner);
        }
        total.passed = total.passed.saturating_add(next.passed);
        total.failed = total.failed.saturating_add(next.failed);
        total.skipped = total.skipped.saturating_add(next.skipped);
        total
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_the_output_contradicts_shows_no_pass() {
        const BAD: &str = "== 1 failed, 1 passed in 0.02s ==\n";
        const GOOD: &str = "== 12 passed in 0.30s ==\n";
        const UNITTEST_BAD: &str = "Ran 2 tests in 0.000s\n\nFAILED (failures=1)\n";
        const UNITTEST_GOOD: &str = "Ran 5 tests in 0.010s\n\nOK\n";
        const CARGO_BAD: &str =
            "test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        const CARGO_GOOD: &str =
            "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s\n";
        let join = |parts: &[&str]| parts.concat();
        let mut wrong = Vec::new();
        for (line, text, contradicted) in [
            ("pytest", join(&[BAD]), true),
            ("pytest -q", join(&[GOOD, BAD]), true),
            ("pytest && echo done", join(&[BAD, "done\n"]), true),
            ("python3 -m unittest discover", join(&[UNITTEST_BAD]), true),
            (
                "python3 -m unittest discover",
                join(&[UNITTEST_BAD, "make: [Makefile:3: test] Error 1 (ignored)\n"]),
                true,
            ),
            ("cargo test", join(&[CARGO_BAD]), true),
            ("node --test", "# tests 3\n# pass 2\n# fail 1\n# cancelled 0\n# skipped 0\n# todo 0\n".to_owned(), true),
            // What its tests run may say so before it.
            ("pytest", join(&[BAD, GOOD]), false),
            ("pytest -s", join(&[GOOD, BAD, UNITTEST_BAD, "all good\n", GOOD]), false),
            ("python3 -m unittest discover", join(&[UNITTEST_BAD, ".....\n", UNITTEST_GOOD]), false),
            ("cargo test", join(&[CARGO_BAD, CARGO_GOOD]), false),
            ("cargo test", join(&[CARGO_BAD, "error: test failed, to rerun pass `--lib`\n", CARGO_GOOD]), false),
            ("go test ./...", "--- FAIL: TestInner\nFAIL\nok  \ta\t0.1s\n".to_owned(), false),
            ("node --test", "# tests 3\n# pass 3\n# fail 0\n# skipped 0\n".to_owned(), false),
            ("node --test", "# pass 1\n# fail 1\nok 1 - nested\nx\ny\nz\n# pass 3\n# fail 0\n".to_owned(), false),
            // What another runner, or a command that nobody knows, says is not its own.
            ("cargo test", join(&[BAD]), false),
            ("cargo test", join(&[CARGO_GOOD, BAD]), false),
            ("pytest && cat old.txt", join(&[GOOD, BAD]), false),
            ("pytest && ./report.sh", join(&[GOOD, BAD]), false),
            ("./ci.sh", join(&[GOOD]), false),
            ("./ci.sh", String::new(), false),
            // A process that ended in the middle: a test that calls `exit(0)`.
            ("cargo test", "running 3 tests\ntest a ... ok\n".to_owned(), true),
            ("cargo test", join(&["running 3 tests\n", CARGO_GOOD, "\nrunning 2 tests\n"]), true),
            ("cargo test -q", join(&["running 3 tests\n...\n", CARGO_GOOD]), false),
            ("cargo test", join(&["running 1 test\nrunning 3 tests\n", CARGO_BAD, CARGO_GOOD]), false),
            ("cargo test", join(&["running 2 tests\nrunning 1 test\n", CARGO_GOOD]), true),
            (
                "cargo test",
                join(&["running 2 tests\n", CARGO_GOOD, "running 9 tests\nrunning 0 tests\n", CARGO_GOOD]),
                true,
            ),
            ("make test", join(&["running 2 tests\nrunning 1 test\n", CARGO_GOOD]), true),
            ("make test", join(&["running 2 tests\n", CARGO_GOOD, "running 1 test\n", CARGO_GOOD]), false),
            ("make test", "running 2 tests\nall good\n".to_owned(), false),
            // A script behind a task, which swallows the status of what it starts.
            ("make test", join(&[BAD, "finished\n"]), true),
            ("npm test", join(&[BAD, "npm notice Changelog: x\nnpm notice\n"]), true),
            ("npm test", join(&[GOOD, "npm notice\n"]), false),
            ("make test", join(&[BAD, GOOD, "finished\n"]), false),
            ("npm test", "# tests 3\n# pass 2\n# fail 1\nDone.\n".to_owned(), true),
            ("tox", join(&[BAD, "  py: OK (0.20 seconds)\n  congratulations :) (0.30 seconds)\n"]), true),
            ("tox", join(&[GOOD, "  py: OK (0.20 seconds)\n"]), false),
            // A test that runs tests itself and shows their words.
            ("cargo test -- --nocapture", join(&["running 2 tests\nrunning 1 test\n", CARGO_GOOD, CARGO_GOOD]), false),
            ("cargo test && ./report.sh", join(&[CARGO_GOOD, "running 9 tests\n"]), false),
            // Silence of those that always speak, where it would be seen.
            ("pytest", String::new(), true),
            ("go test ./...", "\n".to_owned(), true),
            (
                "go test -json ./...",
                "{\"Action\":\"pass\",\"Package\":\"x/m\",\"Test\":\"TestZ\",\"Elapsed\":0}\n".to_owned(),
                false,
            ),
            ("go test -json ./...", "{\"Action\":\"skip\",\"Package\":\"x/m\",\"Elapsed\":0}\n".to_owned(), true),
            ("pytest -qq", "..                                       [100%]\n".to_owned(), false),
            ("pytest -qq", "100%]\n".to_owned(), true),
            ("cd api && python3 -m unittest", String::new(), true),
            ("pytest -p no:terminal", String::new(), false),
            ("pytest > /dev/null", String::new(), false),
            ("python3 -m unittest 2> log", String::new(), false),
            ("mvn -q test", String::new(), false),
            ("npm test", String::new(), false),
        ] {
            let project = Project::without_runners(&());
            let runners: Vec<&Runner> = crate::command_line::understand(line, project)
                .iter()
                .flat_map(|line| &line.purposes)
                .flat_map(crate::command_line::Purpose::runs)
                .filter_map(|id| project.runners.runner(id))
                .collect();
            let found = said(line, &runners, Ended::Exited(0), &text, OutputKnowledge::ToItsEnd, None, project);
            if found.masked.is_some() != contradicted {
                wrong.push(format!("{line} / {text}: {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn reports_of_several_runners_add_up() {
        let report = |runner: &str, passed| RunReport { runner: runner.to_owned(), passed, failed: 1, skipped: 2 };
        let total = sum([report("jest", 1), report("pytest", 2), report("jest", 3)]).unwrap();
        assert_eq!(total, RunReport { runner: "jest+pytest".to_owned(), passed: 6, failed: 3, skipped: 6 });
    }
}
