//! The reasons why a run with status 0 proves nothing.

use std::path::Path;
use std::time::SystemTime;

use super::RunJob;
use super::test_report::{TestReport, work_trees};
use super::understood_line::UnderstoodLine;
use crate::engine::Workplace;
use crate::foreign_text::one_line;
use crate::linked_packages::{loads_elsewhere, package_elsewhere};
use crate::plural;
use crate::policy::Command;
use crate::run::{Finished, plain_text};
use crate::snapshot::KeptSnapshot;
use crate::source::head_reflog;
use crate::virtual_environment::VirtualEnvironment;

/// The maximum number of failed tests in a reason.
const SHOWN: usize = 3;

/// The tests that a run shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownTests {
    /// It shows none.
    None,
    /// It shows their number, in closing lines or a report file.
    Counted,
    /// It shows their names.
    Named,
}

/// A run with status 0, and what is known about it.
pub(super) struct DoubtsOfRun<'a> {
    pub(super) place: &'a Workplace,
    /// The root of the working tree.
    pub(super) root: &'a Path,
    pub(super) job: &'a RunJob<'a>,
    /// The folder in which it ran.
    pub(super) dir: &'a Path,
    pub(super) reading: &'a UnderstoodLine<'a>,
    pub(super) report: &'a TestReport<'a>,
    pub(super) finished: &'a Finished,
    /// The declared commands that it proves, if it is none of them itself.
    pub(super) proven: &'a [&'a Command],
    /// The time at which it began.
    pub(super) began: SystemTime,
}

impl DoubtsOfRun<'_> {
    /// Returns the first reason why the run proves nothing, if there is one. `start` is the content before it, `head_log` the
    /// length of the log of `HEAD` then, in bytes.
    pub(super) fn first(&self, start: Option<&KeptSnapshot>, head_log: u64, shown: ShownTests) -> Option<String> {
        self.replaced_files(head_log)
            .or_else(|| self.place.edited_meanwhile(self.root, self.began, |path| self.job.reads(path)))
            .or_else(|| self.loaded_elsewhere())
            .or_else(|| self.untrusted_environment())
            .or_else(|| self.report.failed().map(|failed| failed_tests(&failed)))
            .or_else(|| self.report.broken_off())
            .or_else(|| self.no_report().filter(|_| shown == ShownTests::Counted))
            .or_else(|| self.no_test(start.filter(|_| shown == ShownTests::None)?))
            .or_else(|| self.stale_build(start?))
    }

    /// Returns the reason if the run may have read other files than those before and after it: `HEAD` went to another commit
    /// since its log was `from` bytes long.
    fn replaced_files(&self, from: u64) -> Option<String> {
        let (moves, _) = head_reflog::moves_since(self.place.repo.git_dir(), from);
        let went = moves.iter().find(|one| one.replaces_files())?;
        if self.reading.moves_first(self.root, &self.job.command.dir, self.proven, self.finished) {
            return None;
        }
        Some(format!("git replaced files while it ran ({}); run it again", one_line(went.message())))
    }

    /// Returns the reason if the tests loaded a file of another working tree: they show nothing about their own.
    fn loaded_elsewhere(&self) -> Option<String> {
        let Some(file) = self.report.loaded_elsewhere() else {
            let (other, from) = package_elsewhere(self.root, &work_trees(&self.place.repo), self.dir)?;
            return Some(loads_elsewhere(&from, &other));
        };
        Some(format!(
            "it loaded {file}, which is not of this working tree; use an environment that loads the files of this one"
        ))
    }

    /// Returns the reason if it used a virtual environment that no installer made.
    fn untrusted_environment(&self) -> Option<String> {
        let (repo, line) = (&self.place.repo, &self.job.command.line);
        VirtualEnvironment::distrusted(repo, self.root, self.dir, line, self.job.runners).map(|found| found.doubt())
    }

    /// Returns the reason if no test is known, and a hook saw a runner begin or an earlier run of the command had tests.
    fn no_test(&self, start: &KeptSnapshot) -> Option<String> {
        if self.report.has_begun() {
            return Some("a runner began and ran no test".to_owned());
        }
        let (place, command) = (self.place, &self.job.command);
        // A script that nobody knows may have lost what it ran when a test failed.
        let named = if self.report.names_each_time() {
            place.tests_named_before(&command.key)
        } else {
            place.tests_named_at_failure(&command.key)
        };
        if named > 0 {
            let tests = plural::counted(named, "test");
            return Some(format!("its output shows no test, and earlier runs of this command named {tests}"));
        }
        let before = place.counted_before(command, start)?;
        let tests = plural::counted(usize::try_from(before.passed).unwrap_or(usize::MAX), "test");
        (!self.reading.tells_of(&before.runner, self.finished))
            .then(|| format!("its output shows no test, and the run of this command before it counted {tests}"))
    }

    /// Returns the reason if closing lines are all that is known of the tests, and the hook that named them when one failed has
    /// reported nothing: another program may have printed these lines.
    fn no_report(&self) -> Option<String> {
        let named = self.place.tests_named_at_failure(&self.job.command.key);
        let is_silent = named > 0 && self.report.is_silent();
        let tests = plural::counted(named, "test");
        is_silent.then(|| {
            format!(
                "it printed a summary, but the runner reported no test to gate; when a test failed, it reported {tests}"
            )
        })
    }

    /// Returns the reason if the tests may have run an old build.
    fn stale_build(&self, start: &KeptSnapshot) -> Option<String> {
        let output = plain_text(&self.finished.output.end());
        let reads = |path: &_| self.job.reads(path);
        self.place.stale_build(&self.job.command, &self.reading.runners, &reads, start, &output)
    }
}

/// Returns the reason why a run with status 0 proves nothing: these of its tests failed.
fn failed_tests(failed: &[String]) -> String {
    let shown = failed.iter().take(SHOWN).map(|test| one_line(test)).collect::<Vec<_>>().join(", ");
    let more = failed.len().saturating_sub(SHOWN);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{shown}{others} failed in it, although it ended as if all tests had passed")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_the_first_failed_tests() {
        let tests = ["a", "b", "c", "d"].map(str::to_owned);
        assert!(failed_tests(&tests[..1]).starts_with("a failed in it"));
        assert!(failed_tests(&tests).starts_with("a, b, c and 1 more failed in it"));
    }
}
