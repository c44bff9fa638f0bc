//! What a run of a whole command line says of itself.

use crate::event::{Ended, RunReport};
use crate::runner::{Catalogue, ProjectFiles, Runner, Says, read_output_of};

use super::{ExitDecides, Outcome, Record, judge, unseen_failure};

/// What a run says of itself: the fields of a [`crate::event::Run`] that its words decide.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    /// What was counted.
    pub report: Option<RunReport>,
    /// Why status 0 says nothing about the checks, and the output does not show it either.
    pub masked: Option<String>,
}

/// What a run of `line` says that ended like this, with this text. `runners` are those the line starts, `counted` what
/// report files say, which are complete and come before closing lines. A status that is the runner's own wins over any
/// text: what it ran may itself print the closing lines of a runner.
pub fn said(
    line: &str,
    runners: &[&Runner],
    ended: Ended,
    text: &str,
    counted: Option<RunReport>,
    files: &dyn ProjectFiles,
) -> Said {
    // "no tests ran" comes without counts, and is one.
    let nothing = || RunReport { runner: String::new(), passed: 0, failed: 0, skipped: 0 };
    let read = || {
        let reading = read_output_of(Catalogue::embedded(), runners, text);
        sum(reading.reports).or_else(|| (reading.says == Says::NothingRan).then(nothing))
    };
    let report = counted.or_else(read);
    if !ended.success() {
        return Said { report, masked: None };
    }
    let record = Record { status: Some(0), output: Some(text), background: false };
    let judged = judge(line, &record, files);
    let decides = judged.exit_decides != Some(ExitDecides::NoMasked);
    let masked = !decides && judged.result != Some(Outcome::Pass);
    // Of a script nobody knows whose status it passes on: failures that its runner counts are not outvoted by it.
    let own = decides && !runners.is_empty();
    let report = report.filter(|report| report.failed == 0 || !own);
    let unseen = || unseen_failure(line, files).filter(|_| report.is_none());
    let masked = if masked { Some(judged.reason) } else { judged.exit_decides.map_or_else(unseen, |_| None) };
    Said { report, masked }
}

/// All reports as one; `None` for none.
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
    fn reports_of_several_runners_add_up() {
        let report = |runner: &str, passed| RunReport { runner: runner.to_owned(), passed, failed: 1, skipped: 2 };
        let total = sum([report("jest", 1), report("pytest", 2), report("jest", 3)]).unwrap();
        assert_eq!(total, RunReport { runner: "jest+pytest".to_owned(), passed: 6, failed: 3, skipped: 6 });
    }
}
