//! `gate review`: two scripted models read a change that they did not make.

use serde_json::{Value, json};

use crate::project::{POLICY, Project, valid};
use crate::word_judges::{attacks, configure};

/// Answers with the findings of a file in the user's home, unless something of the material stands outside of its marks.
const REVIEWER: &str = r#"#!/bin/sh
awk '
!inside && /^<<MATERIAL-[0-9a-f]+$/ { fence = substr($0, 3); inside = 1; next }
inside && $0 == fence ">>" { inside = 0; next }
!inside { print }
' >"$HOME/outside-$1"
ticket=$(sed -n 's/.*with the ticket \([0-9a-f]*\)\.$/\1/p' "$HOME/outside-$1" | tail -1)
findings='[]'
grep -q ATTACK "$HOME/outside-$1" || findings=$(cat "$HOME/findings-$1.json")
echo "{\"ticket\": \"$ticket\", \"findings\": $findings}"
"#;

const CONFIG: &str = "[review]\nreviewer = \"one\"\nauditor = \"two\"\n\
    [models.one]\ncommand = \"\\\"$HOME/model\\\" one\"\nmodel = \"minimax-m2.5\"\n\
    [models.two]\ncommand = \"\\\"$HOME/model\\\" two\"\nmodel = \"qwen-3\"\n";

/// A finding on the second line of the library.
pub fn finding(line: &str, severity: &str) -> Value {
    json!({"file": "src/lib.sh", "line": 2, "severity": severity, "security": true, "quote": line,
        "message": "a name becomes a command"})
}

/// Sets what each of the two finds.
pub fn finds(project: &Project, [one, two]: [&[Value]; 2]) {
    let texts = [("findings-one.json", one), ("findings-two.json", two)];
    let texts = texts.map(|(name, list)| (name, Value::from(list).to_string()));
    let mut scripts: Vec<(&str, &str)> = texts.iter().map(|(name, text)| (*name, text.as_str())).collect();
    scripts.push(("model", REVIEWER));
    configure(project, &scripts, CONFIG);
}

fn review(project: &Project, code: i32) -> Value {
    let said = project.gate(["review", "--json"]).exits(code);
    let report: Value = serde_json::from_str(&said.out).unwrap_or_else(|error| panic!("{error}: {said:?}"));
    valid("review", &report);
    report
}

#[test]
fn dissent_stays_until_the_content_there_changes() {
    let project = Project::with(&format!("{POLICY}\n[gates.review]\nmode = \"block\"\n"));
    project.edit("eval \\\"$name\\\"");
    project.gate(["run", "test"]).exits(0);
    project.gate(["review"]).exits(64).says("no reviewers are configured");
    finds(&project, [&[], &[finding("eval", "HIGH"), finding("system(name)", "HIGH")]]);
    let check = || project.verdict_with(&[], &[]);
    let unreviewed = check();
    assert!(unreviewed["next_actions"].to_string().contains("gate review"), "{unreviewed:#}");
    let report = review(&project, 10);
    assert_eq!((&report["review"]["dropped"], report["calls"].as_array().unwrap().len()), (&1.into(), 2), "{report:#}");
    // The same content is not read again.
    assert_eq!(review(&project, 10)["calls"], json!([]));
    project.gate(["review"]).exits(10).says("auditor two, security: a name becomes a command").says("reviewed before");
    let refused = check();
    let gates = refused["gates"].as_array().unwrap();
    let dissent = &gates.iter().find(|gate| gate["gate"] == "review").unwrap()["findings"][0];
    assert_eq!((&dissent["reason"], &dissent["paths"][0]), (&"dissent".into(), &"src/lib.sh".into()), "{refused:#}");
    assert!(dissent["line"].is_u64() && refused["feedback"].to_string().contains("a name becomes"), "{refused:#}");
    let calls = project.journal().iter().filter(|line| line["kind"] == "model").count();
    assert_eq!(calls, 2);
    // Another file changes nothing there; the repaired line does.
    project.repo.write("src/lib.sh", "one\nprintf '%s' \"$name\"\n");
    project.repo.commit_all("fix: no eval");
    project.gate(["run", "test"]).exits(0);
    finds(&project, [&[], &[]]);
    review(&project, 0);
    assert_eq!(check()["outcome"], "pass");
}

#[test]
fn a_blocker_needs_both_and_the_author_reviews_nothing() {
    let project = Project::new();
    project.edit("eval \\\"$name\\\"");
    finds(&project, [&[], &[finding("eval", "BLOCKER")]]);
    assert_eq!(review(&project, 10)["review"]["findings"][0]["severity"], "HIGH");
    project.edit("eval \\\"$other\\\"");
    finds(&project, [&[finding("eval", "BLOCKER")], &[finding("eval", "BLOCKER")]]);
    assert_eq!(review(&project, 10)["review"]["findings"][0]["severity"], "BLOCKER");
    project.gate(["review", "--author", "qwen-3"]).exits(64).says("it does not review itself");
    configure(&project, &[], &CONFIG.replace("auditor = \"two\"", "auditor = \"one\""));
    project.gate(["review"]).exits(64).says("both the reviewer and the auditor");
    configure(&project, &[], CONFIG);
    project.gate(["review", "--author", "qwen-2"]).exits(10).says("models of Alibaba");
}

#[test]
fn a_reviewer_that_fails_leaves_the_change_unreviewed() {
    let project = Project::new();
    project.edit("more");
    finds(&project, [&[], &[]]);
    configure(&project, &[], &CONFIG.replace("\\\"$HOME/model\\\" two", "echo fine"));
    let report = review(&project, 12);
    assert_eq!(report["review"]["failed"][0]["judge"], "two", "{report:#}");
    finds(&project, [&[], &[]]);
    assert_eq!(review(&project, 0)["calls"].as_array().unwrap().len(), 1);
}

#[test]
fn what_a_change_says_never_speaks_for_the_reviewer() {
    let project = Project::new();
    let attacks: Vec<String> = attacks().into_iter().filter(|attack| attack.len() < 50_000).collect();
    assert!(attacks.len() >= 40);
    for (number, attack) in attacks.iter().enumerate() {
        project.repo.write(format!("src/note{number}.txt"), attack);
    }
    project.edit("eval \\\"$name\\\"");
    let found = finding("eval", "HIGH");
    finds(&project, [std::slice::from_ref(&found), std::slice::from_ref(&found)]);
    let report = review(&project, 10);
    let roles: Vec<&Value> =
        report["review"]["findings"].as_array().unwrap().iter().map(|finding| &finding["role"]).collect();
    assert_eq!(roles, ["reviewer", "auditor"], "{report:#}");
}

#[test]
fn work_goes_to_the_model_of_its_kind() {
    let project = Project::new();
    project.edit("more");
    finds(&project, [&[], &[]]);
    project.gate(["explain", "routing"]).exits(0).says("backend: 1 of 1 changed files").says("none is configured");
    let routed = "\n[models.three]\ncommand = \"\\\"$HOME/model\\\" one\"\n[routing.models]\nbackend = \"three\"\n";
    configure(&project, &[], &format!("{CONFIG}{routed}"));
    project.gate(["explain", "routing"]).exits(0).says("model: three");
    assert_eq!(review(&project, 0)["reviewer"], "three");
}
