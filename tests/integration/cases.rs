//! Recorded sessions are judged as the people who wrote them down expect.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate::replay::{self, AnswerWord, Answers, Case};
use serde_json::Value;

/// The questions for which there is a gate.
const QUESTIONS: [&str; 7] = ["tests", "build", "push", "pr_ci", "atomic", "loop", "integrity"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The cases of a folder; none where it is not there.
fn cases(folder: &Path) -> Vec<(String, Value)> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "json"));
    paths.sort();
    let read = |path: &PathBuf| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    paths.iter().map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), read(path))).collect()
}

fn answers(case: &Value) -> Answers {
    let case = Case::read(case.to_string().as_bytes()).unwrap();
    replay::answer(&case).unwrap()
}

fn expected(case: &Value) -> BTreeMap<&str, &str> {
    let expect = case["expect"].as_object().unwrap().iter();
    let expect = expect.map(|(question, said)| (question.as_str(), said["verdict"].as_str().unwrap()));
    expect.filter(|(question, _)| QUESTIONS.contains(question)).collect()
}

/// What differs from what is expected, as lines.
fn differences(cases: &[(String, Value)]) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, case) in cases {
        let answers = answers(case);
        for (question, verdict) in expected(case) {
            let said = &answers.gates[question];
            if !said.verdict.agrees(verdict) {
                wrong.push(format!("{name}: {question} is {:?}, not {verdict}: {}", said.verdict, said.why));
            }
        }
    }
    wrong
}

/// The case as a recorder would have it that took no snapshots.
fn without_snapshots(case: &Value) -> Value {
    let mut case = case.clone();
    for event in case["events"].as_array_mut().unwrap() {
        event.as_object_mut().unwrap().remove("wt");
    }
    case
}

fn all() -> Vec<(String, Value)> {
    let mut all = cases(&root().join("tests/cases"));
    assert!(!all.is_empty());
    all.extend(cases(&root().join("../shared/corpus/scenarios")));
    all
}

#[test]
fn every_case_is_judged_as_expected() {
    let wrong = differences(&all());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_missing_snapshot_turns_no_block_into_a_pass() {
    for (name, case) in all() {
        let answers = answers(&without_snapshots(&case));
        for (question, verdict) in expected(&case) {
            let said = &answers.gates[question];
            let lost = verdict == "block" && said.verdict != AnswerWord::Block;
            assert!(!lost, "{name}: {question} is {:?} without snapshots: {}", said.verdict, said.why);
        }
    }
}
