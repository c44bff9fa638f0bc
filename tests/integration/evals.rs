//! `gate eval`: labelled ends of sessions, judged by the facts alone: no model, and no phrase of the suites.
//!
//! Suites of others lie next to the project and are measured where they are; the project's own are part of the program.

use std::path::PathBuf;

use serde_json::Value;

use crate::project::{POLICY, Project};

/// Runs `gate eval` outside of any repository.
fn eval(args: &[&str]) -> Value {
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_gate"))
        .arg("eval")
        .args(args)
        .arg("--json")
        .current_dir(&folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The right answers and all answers of one class in percent and in number; `all` is every class.
fn percent(suite: &Value, class: &str) -> (u64, u64) {
    let classes = suite["classes"].as_array().unwrap();
    let hits = &classes.iter().find(|one| one["class"] == class).unwrap()["hits"];
    let (right, of) = (hits["right"].as_u64().unwrap(), hits["of"].as_u64().unwrap());
    (right * 100 / of, of)
}

#[test]
fn facts_decide_the_suites_of_the_program() {
    let report = eval(&[]);
    let suites = report["suites"].as_array().unwrap();
    let floors = [("judge", 30, 90), ("stuck", 16, 100), ("compaction", 14, 100), ("score", 10, 100)];
    for (name, least, floor) in floors {
        let suite = suites.iter().find(|suite| suite["suite"] == name).unwrap();
        let (right, of) = percent(suite, "all");
        assert!(of >= least && right >= floor, "{name}: {right} % of {of}: {:#}", suite["wrong"]);
        assert_eq!(percent(suite, "T").0, 100, "{name}: the trace decides these: {:#}", suite["wrong"]);
        assert_eq!(suite["doubtful"], Value::Array(Vec::new()), "{name}");
        assert_eq!(suite["cost"]["calls"], 0, "{name}");
    }
}

#[test]
fn suites_of_others_are_measured_where_they_are() {
    let shared = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../shared/evals");
    let floors = [
        ("judge", "judge_accuracy.json", 73),
        ("stuck", "stuck_detection.json", 70),
        ("compaction", "post_compression.json", 70),
        ("score", "agent_evaluation.json", 85),
    ];
    for (name, file, floor) in floors {
        let path = shared.join(file);
        if !path.exists() {
            continue;
        }
        let report = eval(&[name, "--cases", path.to_str().unwrap()]);
        let suite = &report["suites"][0];
        let (right, of) = percent(suite, "all");
        assert!(right >= floor, "{name}: {right} % of {of}: {:#}", suite["wrong"]);
    }
}

#[test]
fn the_output_reads_like_this() {
    let project = Project::with(POLICY);
    project.gate(["eval", "stuck"]).exits(0).says("stuck by facts").says("no model was asked");
    let page = project.gate(["eval", "judge", "--markdown"]).exits(0).out;
    assert!(page.contains("| class | right | 95 % interval |") && page.contains("| all | "), "{page}");
    project.gate(["eval", "judge", "--floor", "100", "--cases", "none.json"]).exits(64).says("none.json");
    project.repo.write("broken.json", "[{");
    project.gate(["eval", "judge", "--cases", "broken.json"]).exits(65).says("not a list of cases");
}

#[test]
fn a_wrong_verdict_becomes_a_case_of_the_project() {
    let project = Project::with(POLICY);
    let remedy = "gate appeal --expect pass --output .gate/cases/NAME.json";
    project.gate(["eval", "project"]).exits(64).says(remedy);
    project.repo.append("src/lib.sh", "# more\n");
    project.gate(["check"]).exits(10);
    let words: Vec<&str> = remedy.split(' ').skip(1).collect();
    project.gate(words).exits(0).says("NAME.json");
    let shown = project.gate(["eval", "project"]).exits(0).says("project by facts").out;
    assert!(shown.contains("NAME (tests): block, not pass"), "{shown}");
    project.gate(["eval", "project", "--floor", "90"]).exits(10);
    // The verdict that stands is the right one after all.
    let path = project.repo.root().join(".gate/cases/NAME.json");
    let case = std::fs::read_to_string(&path).unwrap().replace("\"verdict\": \"pass\"", "\"verdict\": \"block\"");
    std::fs::write(&path, case).unwrap();
    project.gate(["eval", "--floor", "90"]).exits(0).says("project by facts");
    // A case without an answer ends nothing.
    let unlabelled = project.gate(["appeal"]).exits(0).out;
    std::fs::write(path.with_file_name("other.json"), unlabelled).unwrap();
    let shown = project.gate(["eval", "project"]).exits(0).says("other: the case has no `expect`").out;
    assert!(shown.contains("1 of 1"), "{shown}");
}

#[test]
fn a_judge_is_measured_alone_and_together_with_the_facts() {
    let project = Project::with(POLICY);
    let config = "[models.scripted]\ncommand = \"\\\"$HOME/model\\\"\"\n";
    crate::word_judges::configure(&project, &[("model", crate::word_judges::OBEDIENT)], config);
    // Half of the cases are open.
    let floor = |percent: &str| project.gate(["eval", "score", "--judge", "scripted", "--json", "--floor", percent]);
    let said = floor("50").exits(0);
    floor("51").exits(10);
    let report: Value = serde_json::from_str(&said.out).unwrap();
    let [facts, judge, both] = &report["suites"].as_array().unwrap()[..] else { panic!("{report:#}") };
    let ways: Vec<&Value> = [facts, judge, both].iter().map(|suite| &suite["way"]).collect();
    assert_eq!(ways, ["facts", "judge", "both"]);
    assert_eq!(judge["cost"]["calls"], 24, "{:#}", judge["cost"]);
    // This judge calls everything open: together with the facts nothing open passes, and nothing that is done either.
    let all = |suite: &Value| suite["classes"].as_array().unwrap().last().unwrap().clone();
    assert_eq!((&all(both)["false_done"], &all(both)["false_open"]), (&0.into(), &all(both)["done"]));
    project.gate(["eval", "score", "--judge", "nobody"]).exits(64).says("[models.nobody]");
}
