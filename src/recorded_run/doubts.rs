//! The reasons why a run with status 0 proves nothing.

use crate::engine::Workplace;
use crate::foreign_text::one_line;
use crate::plural;
use crate::source::head_reflog;
use crate::virtual_environment::DistrustedEnvironment;

/// The maximum number of failed tests in a reason.
const SHOWN: usize = 3;
/// The reason why a run proves nothing if a hook saw a runner and nothing shows a test.
pub(super) const RAN_NO_TEST: &str = "a runner began and ran no test";

/// Returns the reason why a run that shows no test proves nothing if an earlier one of the same command named tests.
pub(super) fn tests_not_shown(before: usize) -> Option<String> {
    let tests = plural::counted(before, "test");
    (before > 0).then(|| format!("its output shows no test, and earlier runs of this command named {tests}"))
}

/// Returns the reason why a run that counts no test proves nothing if the one before it counted tests.
pub(super) fn tests_not_counted(before: u64) -> String {
    let tests = plural::counted(usize::try_from(before).unwrap_or(usize::MAX), "test");
    format!("its output shows no test, and the run of this command before it counted {tests}")
}

/// Returns the reason why a run that used this virtual environment proves nothing.
pub(super) fn untrusted_environment(found: &DistrustedEnvironment) -> String {
    format!("{found}; make the virtual environment again with its installer")
}

/// Returns the reason why tests that loaded this file show nothing about their own working tree.
pub(super) fn loaded_elsewhere(file: &str) -> String {
    format!("it loaded {file}, which is not of this working tree; use an environment that loads the files of this one")
}

/// Returns the reason why a run with status 0 proves nothing: these of its tests failed.
pub(super) fn failed_tests(failed: &[String]) -> String {
    let shown = failed.iter().take(SHOWN).map(|test| one_line(test)).collect::<Vec<_>>().join(", ");
    let more = failed.len().saturating_sub(SHOWN);
    let others = if more == 0 { String::new() } else { format!(" and {more} more") };
    format!("{shown}{others} failed in it, although it ended as if all tests had passed")
}

/// Returns the reason why a run may have read other files than those before and after it: `HEAD` went to another commit
/// since its log was `from` bytes long.
pub(super) fn replaced_files(place: &Workplace, from: u64) -> Option<String> {
    let (moves, _) = head_reflog::moves_since(place.repo.git_dir(), from);
    let went = moves.iter().find(|one| one.replaces_files())?;
    Some(format!("git replaced files while it ran ({}); run it again", one_line(went.message())))
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
