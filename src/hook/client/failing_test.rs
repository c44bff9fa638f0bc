//! A task that asks only for a failing test. A failed run is the wanted result then.

use crate::event::agent_work::Speaker;
use crate::fact::session_steps::Deed;
use crate::fact::weakening::is_test_file;
use crate::fact::{Facts, final_message};
use crate::gates;
use crate::gates::finding::{Answer, stopping};
use crate::policy::Policy;

/// Returns what is open, if the person asked only for a failing test, only tests changed, their run failed, and the agent
/// says so and nothing else.
pub(super) fn as_asked(policy: &Policy, facts: &Facts, words: &str) -> Option<Vec<String>> {
    let Some(Deed::Prompted { from: Speaker::Person, text }) = facts.story.turn().first().map(|step| &step.deed) else {
        return None;
    };
    if !final_message::asks_only_for_a_failing_test(text) || !final_message::reports_only_a_failing_test(words) {
        return None;
    }
    let only_tests = |changed: &Vec<_>| changed.iter().all(is_test_file);
    if !facts.subjects.iter().all(|subject| subject.changed.as_ref().is_some_and(only_tests)) {
        return None;
    }
    let results = gates::judge(policy, facts);
    let blocking = stopping(&results);
    let open: Vec<_> =
        blocking.flat_map(|result| &result.findings).filter(|finding| finding.answer == Answer::Fail).collect();
    // Until the test is committed, the run failed beside the commit.
    let failed = open.iter().any(|finding| finding.reason == "failed")
        && open.iter().all(|finding| matches!(finding.reason.as_str(), "failed" | "beside"));
    failed.then(|| open.into_iter().map(|finding| finding.message.clone()).collect())
}
