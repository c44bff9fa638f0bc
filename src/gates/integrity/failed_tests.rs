//! Tests that failed and have not passed under their name since.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::context;

use super::{WeakenedProof, default_subject};
use crate::event::test_results::TestResult;
use crate::fact::Facts;
use crate::fact::failed_test::FailedTest;
use crate::fact::weakening::is_same_test;
use crate::gates::finding::Answer;
use crate::repo_path::RepoPath;

/// The maximum number of names in a sentence.
const MAX_SHOWN: usize = 3;

/// Returns a finding for each group of failed tests with the same fate. `asked_for` is `true` if a person requested a
/// removal.
pub(super) fn notice(facts: &Facts, asked_for: bool) -> Vec<WeakenedProof> {
    let obsolete: BTreeSet<&str> = facts
        .weakening
        .values()
        .flat_map(|weakening| &weakening.changes)
        .flat_map(|change| change.obsolete.iter().map(String::as_str))
        .collect();
    let mut groups: BTreeMap<(&str, bool, &str), Vec<&FailedTest>> = BTreeMap::new();
    for failed in &facts.failed_tests {
        let is_gone_with_its_code = obsolete.iter().any(|name| is_same_test(&failed.test, name));
        if !is_gone_with_its_code && let Some((reason, blocks)) = fate(failed, asked_for) {
            groups.entry((reason, blocks, &failed.command)).or_default().push(failed);
        }
    }
    groups
        .into_iter()
        .map(|((reason, blocks, command), tests)| noticed(facts, reason, blocks, command, &tests))
        .collect()
}

/// Returns the reason code, and `true` if the record shows enough to block.
fn fate(failed: &FailedTest, asked_for: bool) -> Option<(&'static str, bool)> {
    let reason = match failed.since {
        Some(TestResult::Failed) => return None,
        Some(TestResult::Passed) => return Some(("test-changed-only", false)),
        Some(TestResult::Missing) | None if failed.renamed_to.is_some() => return None,
        Some(TestResult::Missing) => "failed-test-missing",
        Some(TestResult::Skipped) => "failed-test-skips",
        Some(TestResult::ExpectedFailure) => "failed-test-expected",
        None => "failed-test-unseen",
    };
    let is_shown = failed.since.is_some() || failed.nameable;
    Some((reason, is_shown && failed.established && !asked_for))
}

fn noticed(facts: &Facts, reason: &'static str, blocks: bool, command: &str, failed: &[&FailedTest]) -> WeakenedProof {
    let paths: BTreeSet<&RepoPath> = failed.iter().filter_map(|test| test.path.as_ref()).collect();
    let paths: Vec<RepoPath> = paths.into_iter().cloned().collect();
    let steps: BTreeSet<&str> = failed.iter().map(|test| test.event.as_str()).collect();
    let nameable = failed.iter().all(|test| test.nameable);
    let dropped = failed.iter().all(|test| test.dropped);
    WeakenedProof {
        subject: default_subject(facts),
        answer: if blocks { Answer::Fail } else { Answer::Unknown },
        reason,
        values: context! { tests => names(failed), count => failed.len(), command, nameable, dropped },
        paths,
        line: None,
        steps: steps.into_iter().map(str::to_owned).collect(),
    }
}

fn names(failed: &[&FailedTest]) -> String {
    let names: BTreeSet<&str> = failed.iter().map(|test| test.test.as_str()).collect();
    let shown: Vec<&str> = names.iter().take(MAX_SHOWN).copied().collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
