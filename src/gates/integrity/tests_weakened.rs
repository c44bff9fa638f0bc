//! Tests that were removed, skipped or weakened.

use std::collections::{BTreeMap, BTreeSet};

use minijinja::context;

use super::{Params, WeakenedProof, default_subject};
use crate::command_line::CheckOutcome;
use crate::event::agent_work::Speaker;
use crate::event::forwarded_text::own_words;
use crate::fact::weakening::{Weakened, Weakening, WeakeningKind, is_same_test, is_test_file};
use crate::fact::{Deed, Facts, Step};
use crate::gates::finding::Answer;
use crate::repo_path::RepoPath;

/// The maximum number of names in a sentence.
const SHOWN: usize = 3;

/// The ids of the steps in which a test failed, by its name in outputs.
type FailedTestIds<'a> = BTreeMap<&'a str, Vec<String>>;

/// Finds the weakened tests. `steps` are those of the current session, `before` those of others on the same work.
pub(super) fn notice(params: &Params, facts: &Facts, steps: &[Step], before: &[&[Step]]) -> Vec<WeakenedProof> {
    let all = || before.iter().copied().chain([steps]);
    let failed = failed(all().flatten());
    let asked_for = super::asked_for_removal(params, steps, before);
    let mut found = Vec::new();
    let mut said: BTreeSet<(WeakeningKind, &RepoPath)> = BTreeSet::new();
    for (subject, weakening) in &facts.weakening {
        for change in &weakening.changes {
            if said.insert((change.what, &change.path)) {
                found.extend(about(facts, subject, change, &failed, asked_for));
            }
        }
    }
    // What is wrong in one way need not be said in a weaker one.
    let blocked: BTreeSet<RepoPath> =
        found.iter().filter(|one| one.answer == Answer::Fail).flat_map(|one| one.paths.clone()).collect();
    found.retain(|one| one.answer == Answer::Fail || !one.paths.iter().all(|path| blocked.contains(path)));
    if found.iter().all(|one| one.answer != Answer::Fail) {
        found.extend(changed_after_failure(facts, steps));
    }
    found
}

fn failed<'a>(steps: impl Iterator<Item = &'a Step>) -> FailedTestIds<'a> {
    let mut failed = FailedTestIds::new();
    for step in steps {
        if let Deed::Ran(ran) = &step.deed
            && ran.is_test()
            && ran.result == Some(CheckOutcome::Fail)
        {
            for name in &ran.failed_tests {
                failed.entry(name).or_default().push(step.id.clone());
            }
        }
    }
    failed
}

/// Returns `true` if a person requested a removal, which may include the tests. The text of a packet does not count as
/// a person's request.
pub(super) fn asks_for_removal(params: &Params, steps: &[Step]) -> bool {
    steps.iter().any(|step| match &step.deed {
        Deed::Prompted { from: Speaker::Person, text } => params.removal_request.are_in(&own_words(text)),
        _ => false,
    })
}

fn about(
    facts: &Facts,
    subject: &str,
    change: &Weakened,
    failed: &FailedTestIds<'_>,
    asked_for: bool,
) -> Option<WeakenedProof> {
    let blocks = if asked_for { Answer::Unknown } else { Answer::Fail };
    let same = |name: &&String| failed.keys().any(|failed| is_same_test(failed, name));
    let guilty: Vec<&str> = change.names.iter().filter(same).map(String::as_str).collect();
    // A test of code that is gone goes with it, and the runs may show which test took its place.
    let is_needed = |name: &&str| change.obsolete.iter().all(|gone| gone != name) && !passes_elsewhere(facts, name);
    let needed: Vec<&str> = guilty.iter().copied().filter(is_needed).collect();
    let (reason, answer, names) = match change.what {
        WeakeningKind::TestsRemoved if !needed.is_empty() => ("failed-test-removed", blocks, needed),
        WeakeningKind::TestsReplaced if !guilty.is_empty() => ("tests-removed", Answer::Unknown, guilty),
        WeakeningKind::TestsSkipped | WeakeningKind::TestsAddedSkipped if !guilty.is_empty() => {
            ("failed-test-skipped", blocks, guilty)
        }
        WeakeningKind::LeftOut => {
            let named = |failed: &&&str| names_test(&change.after, failed);
            let guilty: Vec<&str> = failed.keys().filter(named).copied().collect();
            if guilty.is_empty() {
                ("left-out", Answer::Unknown, Vec::new())
            } else {
                ("failed-test-excluded", blocks, guilty)
            }
        }
        WeakeningKind::TaskEmptied => ("task-emptied", Answer::Fail, own(change)),
        WeakeningKind::TaskMasked => {
            let answer = if failed.is_empty() { Answer::Unknown } else { Answer::Fail };
            ("task-masked", answer, own(change))
        }
        WeakeningKind::Narrowed => {
            // What failed and is chosen still runs.
            let left_out = |failed: &&&str| !names_test(&change.after, failed);
            let answer = if failed.keys().any(|one| left_out(&one)) { Answer::Fail } else { Answer::Unknown };
            ("narrowed", answer, own(change))
        }
        WeakeningKind::TaskReplaced => ("task-replaced", Answer::Unknown, own(change)),
        WeakeningKind::TestsRemoved => ("tests-removed", Answer::Unknown, own(change)),
        WeakeningKind::TestsSkipped => ("tests-skipped", Answer::Unknown, own(change)),
        WeakeningKind::Focused => ("focused", Answer::Unknown, Vec::new()),
        WeakeningKind::AssertionsRemoved => ("assertions-removed", Answer::Unknown, Vec::new()),
        WeakeningKind::AssertionsEmptied => ("assertions-emptied", Answer::Unknown, Vec::new()),
        WeakeningKind::Forgiven => ("forgiven", Answer::Unknown, Vec::new()),
        WeakeningKind::AsksForTest => ("asks-for-test", Answer::Unknown, Vec::new()),
        WeakeningKind::ForcesResults => ("forces-results", Answer::Unknown, Vec::new()),
        WeakeningKind::ReportWritten => ("report-written", Answer::Fail, Vec::new()),
        WeakeningKind::ThresholdLowered => ("threshold-lowered", Answer::Unknown, own(change)),
        // A test of a new name beside one that is gone, and a new test that waits, are ordinary work.
        WeakeningKind::TestsReplaced | WeakeningKind::TestsAddedSkipped => return None,
    };
    let steps = failed.iter().filter(|(name, _)| names.iter().any(|own| is_same_test(name, own)));
    let steps = steps.filter_map(|(_, steps)| steps.last().cloned()).collect();
    let values = context! {
        tests => listed(&names), count => names.len(), before => change.before.as_str(), after => change.after.as_str(),
    };
    let (subject, paths) = (subject.to_owned(), vec![change.path.clone()]);
    Some(WeakenedProof { subject, answer, reason, values, paths, line: change.line, steps })
}

/// Returns `true` if a test passed, in the run that did not name this one, that is the same or was found in its place.
fn passes_elsewhere(facts: &Facts, name: &str) -> bool {
    let mut known = facts.failed_tests.iter().filter(|failed| is_same_test(&failed.test, name));
    known.any(|failed| failed.renamed_to.is_some() || failed.in_place.is_some())
}

fn own(change: &Weakened) -> Vec<&str> {
    change.names.iter().map(String::as_str).collect()
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(SHOWN).copied().collect::<Vec<_>>().join(", ");
    if names.len() > SHOWN { format!("{shown} and {} more", names.len() - SHOWN) } else { shown }
}

/// Returns `true` if a setting names a test that failed, or its file.
fn names_test(setting: &str, failed: &str) -> bool {
    let words =
        || setting.split(|c: char| c.is_whitespace() || "\"'`,=()[]{}:".contains(c)).filter(|word| word.len() > 3);
    let stem =
        |word: &str| word.rsplit('/').next().unwrap_or(word).trim_matches('*').split('.').next().map(str::to_owned);
    words().any(|word| {
        is_same_test(failed, word)
            || failed.contains(word)
            || stem(word).is_some_and(|stem| stem.len() > 3 && failed.contains(stem.as_str()))
    })
}

/// Finds a failing and a passing run of the tests between which only tests were changed, including tests that are older
/// than this session.
fn changed_after_failure(facts: &Facts, steps: &[Step]) -> Option<WeakenedProof> {
    let known = |weakening: &Weakening, failed: &[String]| {
        weakening.known.iter().any(|test| failed.iter().any(|failed| is_same_test(failed, test)))
    };
    let mut red: Option<(&Step, &[String])> = None;
    let mut paths: BTreeSet<&RepoPath> = BTreeSet::new();
    let mut others = false;
    for step in steps {
        match &step.deed {
            Deed::Edited(touched) => {
                for file in touched {
                    if is_test_file(&file.path) {
                        paths.insert(&file.path);
                    } else {
                        others = true;
                    }
                }
            }
            Deed::Ran(ran) if ran.is_test() && ran.result == Some(CheckOutcome::Fail) => {
                red = Some((step, &ran.failed_tests));
                paths.clear();
                others = false;
            }
            Deed::Ran(ran) if ran.is_test() && ran.result == Some(CheckOutcome::Pass) => {
                let Some((from, failed)) = red.take() else { continue };
                let old = facts.weakening.values().any(|weakening| {
                    let edited = paths.iter().any(|path| weakening.edited.contains(path));
                    edited && (failed.is_empty() || known(weakening, failed))
                });
                if !others && old {
                    return Some(WeakenedProof {
                        subject: default_subject(facts),
                        answer: Answer::Unknown,
                        reason: "changed-after-failure",
                        values: context! {},
                        paths: paths.into_iter().cloned().collect(),
                        line: None,
                        steps: vec![from.id.clone(), step.id.clone()],
                    });
                }
            }
            Deed::Ran(ran) => others |= ran.edits,
            _ => {}
        }
    }
    None
}
