//! Failures in quarantine: they are reported and do not block.

use super::finding_text::list_of;
use crate::fact::{Facts, RunFact};
use crate::gates::finding_text::plain;

/// Returns the failed tests of a run, for a sentence, if nothing else is wrong with it and all of them are in quarantine.
pub(super) fn failures(run: &RunFact, facts: &Facts) -> Option<String> {
    if !run.failed_in_these_alone {
        return None;
    }
    let entry = |test: &String| {
        let entry = facts.quarantined(test)?;
        let (owner, reason) = (plain(&entry.owner), plain(&entry.reason));
        Some(format!("{} (until {}, {owner}: {reason})", plain(test), entry.until))
    };
    let entries: Vec<String> = run.failed_tests.iter().map(entry).collect::<Option<_>>()?;
    (!entries.is_empty()).then(|| list_of(&entries))
}
