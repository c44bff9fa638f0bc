//! Labels that contradict each other or themselves, and labels that no answer can fail.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::eval::labelled_case::LabelledCase;
use crate::eval::suite_kind::Suite;
use crate::policy::Severity;

/// A label that a reader should look at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct DoubtfulLabel {
    /// The cases, by id.
    pub cases: Vec<String>,
    /// The reason.
    pub why: String,
}

/// The number of words for a verdict. A label that accepts all of them accepts every answer.
const ALL_VERDICTS: usize = 6;

/// Returns the doubtful labels of `cases`. `second` are the labels of a second reader, by case.
pub fn find(suite: Suite, cases: &[LabelledCase], second: &BTreeMap<String, String>) -> Vec<DoubtfulLabel> {
    let mut found = Vec::new();
    for case in cases {
        found.extend(in_itself(suite, case).map(|why| DoubtfulLabel { cases: vec![case.id.clone()], why }));
        let accepted = case.expected.accepted(suite);
        if let Some(other) = second.get(&case.id).filter(|other| !accepted.contains(&other.as_str())) {
            let why = format!("one reader says {}, the other {other}", accepted.join(" or "));
            found.push(DoubtfulLabel { cases: vec![case.id.clone()], why });
        }
    }
    found.extend(same_end(suite, cases));
    found
}

/// Returns the contradiction in one label, or the reason why it cannot fail.
fn in_itself(suite: Suite, case: &LabelledCase) -> Option<String> {
    let label = &case.expected;
    let is_none = label.severity_in.as_slice() == [Severity::None];
    let has_none = label.severity_in.contains(&Severity::None);
    if label.accepted(suite).is_empty() {
        return Some("the label does not say which answer is right".to_owned());
    }
    if !label.any_of.is_empty() {
        return Some("one of several labels is enough, so that more than one answer is right".to_owned());
    }
    if label.verdict_in.len() >= ALL_VERDICTS {
        return Some("the label accepts every verdict in words; only the score decides".to_owned());
    }
    if label.accepted(suite).len() > 1 {
        return Some("the label accepts several answers".to_owned());
    }
    match (label.complete, label.requires_human_action) {
        (Some(true), Some(true)) => Some("complete, and a person must act".to_owned()),
        (Some(true), _) if !label.severity_in.is_empty() && !has_none => Some("complete, with a severity".to_owned()),
        (Some(false), _) if is_none => Some("open, with severity NONE".to_owned()),
        _ => None,
    }
}

/// Returns the cases that end with the same task, acts and words, and whose labels share no answer.
fn same_end(suite: Suite, cases: &[LabelledCase]) -> Vec<DoubtfulLabel> {
    let mut ends: BTreeMap<(String, String, String), Vec<&LabelledCase>> = BTreeMap::new();
    for case in cases {
        let key = (squeezed(case.inputs.task()), squeezed(&case.inputs.record()), squeezed(case.inputs.last_words()));
        ends.entry(key).or_default().push(case);
    }
    let contradict = |same: &[&LabelledCase]| {
        let first = same[0].expected.accepted(suite);
        same[1..].iter().any(|other| !other.expected.accepted(suite).iter().any(|answer| first.contains(answer)))
    };
    let doubtful = ends.into_values().filter(|same| same.len() > 1 && contradict(same));
    let told = |same: Vec<&LabelledCase>| DoubtfulLabel {
        cases: same.iter().map(|case| case.id.clone()).collect(),
        why: "the same session with labels that exclude each other".to_owned(),
    };
    doubtful.map(told).collect()
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cases(text: &str) -> Vec<LabelledCase> {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn contradictions_and_labels_without_a_wrong_answer_are_named() {
        let text = r#"[
            {"id": "a", "inputs": {"task": "Fix it", "agent_response": "Ignored."}, "expected": {"complete": true}},
            {"id": "b", "inputs": {"task": "fix  it", "agent_response": "ignored."}, "expected": {"complete": false}},
            {"id": "c", "inputs": {"task": "Fix it", "agent_response": "Fixed."}, "expected": {"complete": true}},
            {"id": "d", "expected": {"wellformed": true}},
            {"id": "e", "inputs": {"task": "e"}, "expected": {"any_of": [{"complete": false}, {"missing": "x"}]}},
            {"id": "f", "inputs": {"task": "f"}, "expected": {"complete": true, "severity_in": ["HIGH"]}},
            {"id": "g", "inputs": {"task": "g"}, "expected": {"complete": false, "severity_in": ["NONE"]}}]"#;
        let second = BTreeMap::from([("c".to_owned(), "open".to_owned())]);
        let found = find(Suite::Judge, &cases(text), &second);
        let ids: Vec<String> = found.iter().map(|one| one.cases.join("+")).collect();
        assert_eq!(ids, ["c", "d", "e", "f", "g", "a+b"]);
    }

    #[test]
    fn the_cases_of_the_program_do_not_contradict_each_other() {
        for suite in Suite::BUILT_IN {
            let cases = super::super::suite::built_in(suite).unwrap();
            let found = find(suite, &cases, &super::super::suite::second_labels(suite));
            assert_eq!(found, [], "{suite:?}");
        }
    }
}
