//! Checks that need not run again, because the files on disk show that they were done.

use super::ObservedLine;
use super::required_checks::{DirectoryView, RequestedCheck, StartDirectory, asked_of_leaf, only_prepares};
use crate::command_line::understand;

/// Takes from `asked` that a check is done already, where the lines do anything else than these checks: it may have been
/// undone.
pub(super) fn unsettle<'l>(
    asked: &mut [RequestedCheck],
    lines: impl IntoIterator<Item = (&'l ObservedLine<'l>, StartDirectory<'l>)>,
) {
    if asked.iter().any(|check| check.settled) && !lines.into_iter().all(|(told, place)| runs_only(asked, told, place))
    {
        for check in asked {
            check.settled = false;
        }
    }
}

/// Returns `true` if a line only reads, builds with a program that is known, and runs these checks.
fn runs_only(asked: &[RequestedCheck], told: &ObservedLine<'_>, place: StartDirectory<'_>) -> bool {
    let view = DirectoryView(place);
    let Ok(understood) = understand(told.line, place.project.with_files(&view)) else { return false };
    let fine = |(leaf, purpose): (&_, &crate::command_line::Purpose)| {
        let builds = |id: &str| place.project.runners.runner(id).is_some_and(|runner| runner.task.is_none());
        let builds = purpose.kinds == ["build"] && purpose.runs().all(builds);
        let reads = purpose.kinds.iter().all(|kind| matches!(*kind, "read" | "vcs")) && !purpose.is_unknown;
        only_prepares(leaf, purpose) || (reads || builds) && !purpose.edits || {
            let own = asked_of_leaf(leaf, place);
            // What is configured already as this command says stays as it is.
            own.is_some_and(|own| own.settled || asked.iter().any(|check| own.key.covers(&check.key)))
        }
    };
    !understood.program.truncated && understood.steps().all(fine)
}
