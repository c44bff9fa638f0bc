//! Tests that failed and have not passed under their name since.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::context;

use super::{WeakenedProof, default_subject};
use crate::event::test_results::TestResult;
use crate::fact::weakening::is_same_test;
use crate::fact::{CountedTests, Facts, FailedTest, Obstacle, TestDifference};
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
        let fate = fate(failed, asked_for).map(|fate| in_quarantine(facts, failed, fate));
        if !is_gone_with_its_code && let Some((reason, blocks)) = fate {
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
    let (reason, is_shown) = match failed.since {
        Some(TestResult::Failed) => return None,
        Some(TestResult::Passed) => (changed_only(failed)?, false),
        Some(TestResult::Missing) if failed.renamed_to.is_some() => return None,
        Some(TestResult::Missing) if failed.in_place.is_some() => (changed_as(failed.differs_in), false),
        Some(TestResult::Missing) => ("failed-test-missing", true),
        Some(TestResult::Skipped) => ("failed-test-skips", true),
        Some(TestResult::ExpectedFailure) => ("failed-test-expected", true),
        None => unnamed(failed)?,
    };
    Some((reason, is_shown && failed.established && !asked_for))
}

const fn changed_as(difference: TestDifference) -> &'static str {
    match difference {
        TestDifference::Values => "failed-test-changed",
        TestDifference::Loop => "failed-test-looped",
        TestDifference::Code => "failed-test-renamed",
        TestDifference::Within => "failed-test-within",
        TestDifference::Context => "failed-test-context",
        TestDifference::Words => "failed-test-reworded",
    }
}

/// Returns the answer about a test of which the run that passed says nothing. That the name is not there is neither a
/// pass nor a sign that the test is gone.
fn unnamed(failed: &FailedTest) -> Option<(&'static str, bool)> {
    let is_fewer = failed.count == CountedTests::Fewer;
    if failed.renamed_to.is_some() && !is_fewer {
        return None;
    }
    if failed.in_place.is_some() && !is_fewer {
        return Some((changed_as(failed.differs_in), false));
    }
    match failed.suspicion {
        // It blocks only where one command shows what is true.
        Obstacle::Strong => Some(("failed-test-unseen", failed.naming.is_some())),
        Obstacle::Weak => Some(("failed-test-unseen", false)),
        Obstacle::None if is_fewer => Some(("failed-test-fewer", false)),
        // All that the command runs passed, and the test is still part of it.
        Obstacle::None => Some((changed_only(failed)?, false)),
    }
}

/// Returns the answer about a test that may be in quarantine: a later run does not have to show a pass of it.
fn in_quarantine(facts: &Facts, failed: &FailedTest, (reason, blocks): (&'static str, bool)) -> (&'static str, bool) {
    let needs_pass = failed.since != Some(TestResult::Passed);
    if needs_pass && facts.quarantined(&failed.test).is_some() {
        return ("failed-test-quarantined", false);
    }
    (reason, blocks)
}

fn changed_only(failed: &FailedTest) -> Option<&'static str> {
    let rewritten = || failed.rewritten.as_ref().map(|_| "test-surroundings-changed");
    let edited = || failed.edited.as_ref().map(|_| "test-changed-with-code");
    failed.only_tests.as_ref().map(|_| "test-changed-only").or_else(rewritten).or_else(edited)
}

fn noticed(facts: &Facts, reason: &'static str, blocks: bool, command: &str, failed: &[&FailedTest]) -> WeakenedProof {
    let shown = |test: &&FailedTest| match reason {
        "test-changed-only" => test.only_tests.clone(),
        "test-surroundings-changed" => test.rewritten.clone(),
        "test-changed-with-code" => test.edited.clone(),
        _ => test.path.clone(),
    };
    let paths: BTreeSet<RepoPath> = failed.iter().filter_map(shown).collect();
    let steps: BTreeSet<&str> = failed.iter().map(|test| test.event.as_str()).collect();
    let naming = failed.iter().find_map(|test| test.naming.as_deref());
    let dropped = failed.iter().all(|test| test.dropped);
    WeakenedProof {
        subject: default_subject(facts),
        answer: if blocks { Answer::Fail } else { Answer::Unknown },
        reason,
        values: context! { tests => names(failed), count => failed.len(), command, naming, dropped, now => new_names(failed) },
        paths: paths.into_iter().collect(),
        line: None,
        steps: steps.into_iter().map(str::to_owned).collect(),
    }
}

fn names(failed: &[&FailedTest]) -> String {
    some_of(&failed.iter().map(|test| test.test.as_str()).collect())
}

fn new_names(failed: &[&FailedTest]) -> String {
    some_of(&failed.iter().filter_map(|test| test.in_place.as_deref()).collect())
}

fn some_of(names: &BTreeSet<&str>) -> String {
    let shown: Vec<&str> = names.iter().take(MAX_SHOWN).copied().collect();
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::test_results::NamedPart;

    fn failed(since: Option<TestResult>) -> FailedTest {
        FailedTest {
            test: "a".to_owned(),
            command: "test".to_owned(),
            established: true,
            since,
            ..FailedTest::default()
        }
    }

    /// The reason, with a `!` if it blocks.
    fn answer(failed: &FailedTest) -> String {
        fate(failed, false)
            .map_or(String::new(), |(reason, blocks)| format!("{reason}{}", if blocks { "!" } else { "" }))
    }

    #[test]
    fn a_named_result_decides_whatever_else_is_known() {
        for (since, expected) in [
            (TestResult::Passed, ""),
            (TestResult::Failed, ""),
            (TestResult::Skipped, "failed-test-skips!"),
            (TestResult::ExpectedFailure, "failed-test-expected!"),
            (TestResult::Missing, "failed-test-missing!"),
        ] {
            for count in [CountedTests::Unknown, CountedTests::Fewer, CountedTests::AsMany] {
                for suspicion in [Obstacle::None, Obstacle::Weak, Obstacle::Strong] {
                    for naming in [None, Some("gate run test".to_owned())] {
                        let one = FailedTest { count, suspicion, naming, named: NamedPart::All, ..failed(Some(since)) };
                        assert_eq!(answer(&one), expected, "{one:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_run_that_does_not_name_the_test_is_neither_a_pass_nor_a_loss() {
        use CountedTests::{AsMany, Fewer, Unknown};
        use Obstacle::{None as Clear, Strong, Weak};
        let naming = || Some("gate run -- go test -v ./...".to_owned());
        for (count, suspicion, naming, expected) in [
            // The same tests, or as many that are declared as before: the pass of the whole counts.
            (AsMany, Clear, None, ""),
            (AsMany, Clear, naming(), ""),
            (Unknown, Clear, None, ""),
            // Fewer ran: nothing shows that this one did, and nothing that it is gone.
            (Fewer, Clear, None, "failed-test-fewer"),
            (Fewer, Clear, naming(), "failed-test-fewer"),
            // It may be elsewhere.
            (AsMany, Weak, None, "failed-test-unseen"),
            (Unknown, Weak, naming(), "failed-test-unseen"),
            (Fewer, Weak, naming(), "failed-test-unseen"),
            // It may be silenced. It blocks only if a command can settle the question.
            (AsMany, Strong, None, "failed-test-unseen"),
            (Fewer, Strong, None, "failed-test-unseen"),
            (AsMany, Strong, naming(), "failed-test-unseen!"),
            (Unknown, Strong, naming(), "failed-test-unseen!"),
            (Fewer, Strong, naming(), "failed-test-unseen!"),
        ] {
            for named in [NamedPart::None, NamedPart::Failures, NamedPart::Some] {
                let one = FailedTest { named, count, suspicion, naming: naming.clone(), ..failed(None) };
                assert_eq!(answer(&one), expected, "{one:?}");
            }
        }
    }

    #[test]
    fn a_draft_a_request_and_a_new_name_do_not_block() {
        let naming = Some("gate run test".to_owned());
        let silenced = FailedTest { suspicion: Obstacle::Strong, naming, ..failed(None) };
        assert_eq!(fate(&silenced, true), Some(("failed-test-unseen", false)), "a person asked for it");
        assert_eq!(answer(&FailedTest { established: false, ..silenced.clone() }), "failed-test-unseen", "a draft");
        let changed = FailedTest { in_place: Some("b".to_owned()), ..failed(Some(TestResult::Missing)) };
        assert_eq!(answer(&changed), "failed-test-changed");
        let looped = FailedTest { differs_in: TestDifference::Loop, ..changed.clone() };
        assert_eq!(answer(&looped), "failed-test-looped");
        assert_eq!(answer(&FailedTest { since: Some(TestResult::Skipped), ..changed }), "failed-test-skips!");
        let renamed = FailedTest { renamed_to: Some("b".to_owned()), ..silenced };
        assert_eq!(answer(&renamed), "");
        assert_eq!(answer(&FailedTest { count: CountedTests::Fewer, ..renamed.clone() }), "failed-test-unseen!");
        assert_eq!(answer(&FailedTest { since: Some(TestResult::Missing), ..renamed }), "");
    }

    #[test]
    fn a_test_in_quarantine_is_reported() {
        let entry = crate::policy::QuarantinedTest {
            test: "a".to_owned(),
            reason: "the mirror is slow".to_owned(),
            owner: "alice".to_owned(),
            until: jiff::civil::Date::constant(2026, 12, 31),
        };
        let facts = Facts { quarantine: vec![entry], ..Facts::at(crate::moment::Moment::Push) };
        for (test, expected) in [("a", ("failed-test-quarantined", false)), ("b", ("failed-test-skips", true))] {
            let failed = FailedTest { test: test.to_owned(), ..failed(Some(TestResult::Skipped)) };
            assert_eq!(in_quarantine(&facts, &failed, fate(&failed, false).unwrap()), expected);
        }
    }

    #[test]
    fn a_pass_after_the_test_changed_with_the_code_is_reported() {
        let edited = FailedTest { edited: Some(RepoPath::from("tests/a.py")), ..failed(Some(TestResult::Passed)) };
        assert_eq!(answer(&edited), "test-changed-with-code");
        assert_eq!(answer(&failed(Some(TestResult::Passed))), "");
    }

    #[test]
    fn a_pass_after_only_tests_changed_is_reported_with_and_without_names() {
        let only_tests = Some(RepoPath::from("tests/a.rs"));
        for since in [Some(TestResult::Passed), None] {
            let one = FailedTest { only_tests: only_tests.clone(), ..failed(since) };
            assert_eq!(answer(&one), "test-changed-only", "{one:?}");
            let one = FailedTest { rewritten: only_tests.clone(), ..failed(since) };
            assert_eq!(answer(&one), "test-surroundings-changed", "{one:?}");
        }
    }
}
