//! Checks that need not run again, because the files on disk show that they were done.

use super::ObservedLine;
use super::required_checks::{CheckSubject, RequestedCheck, asked_of_leaf, only_prepares};
use super::start_directory::{DirectoryView, StartDirectory};
use crate::command_line::{Purpose, understand};
use crate::shell::expanded_program::Leaf;

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
    let fine = |(leaf, purpose): (&Leaf, &Purpose)| {
        let builds = |id: &str| place.project.runners.runner(id).is_some_and(|runner| runner.task.is_none());
        let builds = purpose.kinds == ["build"] && purpose.runs().all(builds);
        let reads = purpose.kinds.iter().all(|kind| matches!(*kind, "read" | "vcs")) && !purpose.is_unknown;
        only_prepares(leaf, purpose)
            || (reads || builds) && !purpose.edits
            || {
                // What is configured already as this command says stays as it is.
                asked_of_leaf(leaf, place).is_some_and(|own| is_one_of(&own, asked))
            }
            || edits_other_files(asked, leaf, purpose, place)
    };
    !understood.program.truncated && understood.steps().all(fine)
}

/// Returns `true` if a check is done already, with the variables that are asked for, is one of those that are asked for, or is a task of these.
fn is_one_of(own: &RequestedCheck, asked: &[RequestedCheck]) -> bool {
    let parts = own.parts.as_deref().unwrap_or_default();
    own.settled && !asked.iter().any(|check| check.settled && own.key.environment != check.key.environment)
        || asked.iter().any(|check| own.key.covers(&check.key))
        || !parts.is_empty() && parts.iter().all(|part| is_one_of(part, asked))
}

/// Returns `true` if a command changes files that it names, and none on which the work that was done already depends.
fn edits_other_files(asked: &[RequestedCheck], leaf: &Leaf, purpose: &Purpose, place: StartDirectory<'_>) -> bool {
    let paths = purpose.changed_paths(leaf);
    let other = |path: &String| {
        asked.iter().filter(|check| check.settled).all(|check| match &check.key.what {
            CheckSubject::Known(identity) => !identity.may_depend_on(place.project.runners, path),
            CheckSubject::Program(_) => false,
        })
    };
    purpose.kinds == ["edit"] && leaf.directory.is_none() && !paths.is_empty() && paths.iter().all(other)
}
