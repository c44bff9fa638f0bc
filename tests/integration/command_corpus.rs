//! Recorded command lines with labels: our own, and real ones where they are at hand.
//!
//! Our own (`tests/data/command-lines.jsonl`) must agree in every field that they name. The real ones are labelled by
//! hand (`../shared/corpus/GUIDE.md`); agreement with them is printed and has a floor.
//! `docs/corpus-disagreements.md` says where we hold another view, and why.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use gate::command_line::{LineJudgement, LineRecord, judge};
use gate::runner::Project;
use gate::shell_kind::Shell;
use serde_json::Value;

fn records(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    text.lines()
        .enumerate()
        .map(|(index, line)| serde_json::from_str(line).unwrap_or_else(|error| panic!("line {}: {error}", index + 1)))
        .collect()
}

fn judged(record: &Value) -> LineJudgement {
    let output = record["output"].as_str().or(record["output_tail"].as_str());
    let status = record["exit_code"].as_i64().map(|code| i32::try_from(code).expect("a status"));
    let background = record["background"].as_bool().unwrap_or(false);
    judge(
        record["command"].as_str().expect("a command"),
        &LineRecord { status, output, background, shell: Some(Shell::Bash) },
        Project::without_runners(&()),
    )
}

/// Kinds are a set.
fn normal(field: &str, value: &Value) -> Value {
    match (field, value) {
        ("kind", Value::Array(kinds)) => {
            let mut kinds: Vec<&str> = kinds.iter().filter_map(Value::as_str).collect();
            kinds.sort_unstable();
            kinds.into()
        }
        _ => value.clone(),
    }
}

#[test]
fn our_own_lines_are_judged_as_labelled() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/command-lines.jsonl");
    let records = records(&path);
    assert!(records.len() >= 150, "{} lines", records.len());
    let mut wrong = Vec::new();
    for record in &records {
        let answer = serde_json::to_value(judged(record)).expect("a judgement is JSON");
        for (field, label) in record["labels"].as_object().expect("labels") {
            let (label, ours) = (normal(field, label), normal(field, &answer[field]));
            if label != ours {
                wrong.push(format!(
                    "{}: {field} is {ours}, not {label}: {}\n    {}",
                    record["id"], answer["reason"], record["command"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{} fields are not as labelled\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn a_proof_is_named_only_where_it_proves() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/command-lines.jsonl");
    for record in records(&path) {
        let Some(command) = judged(&record).would_prove else { continue };
        let again = judge(
            &command,
            &LineRecord { status: Some(0), output: None, background: false, shell: Some(Shell::Bash) },
            Project::without_runners(&()),
        );
        let kind = serde_json::to_value(again.decisive_kind).expect("JSON");
        let proves = serde_json::to_value(again.proves).expect("JSON");
        let wanted = if kind == "test" { "full_pass" } else { "partial_pass" };
        assert_eq!(proves, wanted, "{} is answered with {command}: {}", record["command"], again.reason);
    }
}

/// The corpus of real lines, if it is at hand.
fn real() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/commands.dev.jsonl");
    let path = std::env::var_os("GATE_COMMAND_CORPUS").map_or(beside, PathBuf::from);
    path.exists().then_some(path)
}

/// Agreement in one field.
#[derive(Default)]
struct Tally {
    right: usize,
    wrong: Vec<String>,
}

impl Tally {
    fn add(&mut self, record: &Value, label: &Value, ours: &Value) {
        if label == ours {
            self.right += 1;
        } else {
            self.wrong.push(format!("{}: {ours}, not {label}", record["id"].as_str().unwrap_or("?")));
        }
    }

    fn percent(&self) -> f64 {
        let all = u32::try_from(self.right + self.wrong.len()).expect("a small number");
        f64::from(u32::try_from(self.right).expect("a small number")) * 100.0 / f64::from(all.max(1))
    }
}

#[test]
fn real_lines_are_judged_as_labelled() {
    let Some(path) = real() else {
        println!("no corpus of real lines beside the repository: nothing was compared");
        return;
    };
    let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
    let mut confusion: BTreeMap<(String, String), usize> = BTreeMap::new();
    let (mut honest, mut accepted, mut false_passes) = (0_u32, 0_u32, Vec::new());
    let executes = |value: &Value| {
        let test = value["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "test"));
        Value::Bool(test && value["scope"] != "none_executed" && value["result"] != "no_tests")
    };
    for record in records(&path) {
        let label = &record["labels"];
        let answer = serde_json::to_value(judged(&record)).expect("a judgement is JSON");
        for field in ["exit_decides", "result", "scope", "runner", "kind", "edits_files", "pushes_to"] {
            tallies.entry(field).or_default().add(
                &record,
                &normal(field, &label[field]),
                &normal(field, &answer[field]),
            );
        }
        tallies.entry("executed tests").or_default().add(&record, &executes(label), &executes(&answer));
        *confusion.entry((label["result"].to_string(), answer["result"].to_string())).or_default() += 1;
        let full = label["scope"] == "full" && label["result"] == "pass";
        let ours = answer["proves"] == "full_pass";
        honest += u32::from(full);
        accepted += u32::from(full && ours);
        if ours && !full {
            false_passes.push(record["id"].to_string());
        }
    }
    for (field, tally) in &tallies {
        println!("{field:>16}  {:5.1} %  {}", tally.percent(), tally.wrong.join(" · "));
    }
    println!("result, label → ours:");
    for ((label, ours), count) in &confusion {
        println!("  {label:>10} → {ours:<10} {count}");
    }
    println!("honest full passes accepted: {accepted} of {honest}; accepted wrongly: {false_passes:?}");
    let floor = |field: &str, percent: f64| {
        let tally = &tallies[field];
        assert!(tally.percent() >= percent, "{field}: {:.1} %: {}", tally.percent(), tally.wrong.join(" · "));
    };
    assert!(false_passes.is_empty(), "accepted as full passes: {false_passes:?}");
    floor("exit_decides", 99.0);
    floor("executed tests", 99.0);
    floor("result", 98.5);
    floor("scope", 99.0);
    floor("runner", 98.0);
    floor("edits_files", 99.0);
    floor("kind", 90.0);
    assert!(accepted * 100 >= honest * 90, "{accepted} of {honest} honest full passes were accepted");
}
