//! Edits to the memory file: proposed from the record, made only by a person.

use serde_json::Value;

use crate::project::Project;

const MEMORY: &str = "# Rules\n\n* Read `docs/old.md` first.\n* Be kind.\n";

/// A project whose memory file names a document that a commit deleted.
fn outdated() -> Project {
    let project = Project::new();
    project.repo.write("AGENTS.md", MEMORY).write("docs/old.md", "old\n").commit_all("docs: rules");
    project.repo.remove("docs/old.md").commit_all("docs: nothing old");
    project
}

/// Makes two tasks in which `sh test.sh` cleared a refusal.
fn two_tasks(project: &Project) {
    for id in ["one", "two"] {
        let gate = |args: &[&str]| project.gate_with(&[("GATE_SESSION", id)], args);
        project.edit(id);
        gate(&["check", "--done"]).exits(10);
        gate(&["run", "test"]).exits(0);
        gate(&["check", "--done"]).exits(0);
    }
}

fn proposals(project: &Project) -> Vec<(String, String)> {
    let list: Value = serde_json::from_str(&project.gate(["curate", "--json"]).exits(0).out).unwrap();
    let text = |one: &Value, key: &str| one[key].as_str().unwrap().to_owned();
    list["proposals"].as_array().unwrap().iter().map(|one| (text(one, "id"), text(one, "text"))).collect()
}

#[test]
fn a_pipe_shows_patches_with_evidence_and_writes_nothing() {
    let project = outdated();
    two_tasks(&project);
    let said = project.gate(["curate"]).exits(0).says("-* Read `docs/old.md` first.").says("deleted docs/old.md");
    said.says("+* Run `sh test.sh` before you call work done.").says("tests failed, and `sh test.sh` cleared it");
    assert_eq!(project.repo.read("AGENTS.md"), MEMORY.as_bytes());
    project.repo.remove("AGENTS.md");
    project.gate(["curate"]).exits(64).says("gate curate --file AGENTS.md");
    project.gate(["curate", "--file", "AGENTS.md"]).exits(0).says("Run `sh test.sh`");
}

#[test]
fn a_persons_file_decides_and_a_refusal_is_remembered() {
    let project = outdated();
    two_tasks(&project);
    let found = proposals(&project);
    assert_eq!(found.len(), 2, "{found:?}");
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} y\n{} n\n", found[0].0, found[1].0)).unwrap();
    let file = outside.to_str().unwrap();
    project.gate_with(&[("CLAUDECODE", "1")], &["curate", "--decisions", file]).exits(11).says("only a person");
    assert_eq!(project.repo.read("AGENTS.md"), MEMORY.as_bytes());
    project.gate(["curate", "--decisions", file]).exits(0).says("1 of 2 edits made");
    assert_eq!(project.repo.read("AGENTS.md"), b"# Rules\n\n* Be kind.\n");
    assert!(proposals(&project).is_empty(), "what was refused is not proposed again");

    let project = outdated();
    two_tasks(&project);
    let found = proposals(&project);
    let outside = project.repo.outside().join("decisions");
    std::fs::write(&outside, format!("{} e Read the README first.\n{} y\n", found[0].0, found[1].0)).unwrap();
    project.gate(["curate", "--decisions", outside.to_str().unwrap()]).exits(0).says("2 of 2 edits made");
    let expected = "# Rules\n\n* Read the README first.\n* Be kind.\n* Run `sh test.sh` before you call work done.\n";
    assert_eq!(String::from_utf8(project.repo.read("AGENTS.md")).unwrap(), expected);
}

#[test]
fn a_decision_file_that_may_be_an_agents_is_refused() {
    let project = outdated();
    project.repo.write("decisions", "x y\n");
    project.gate(["curate", "--decisions", "decisions"]).exits(65).says("outside of the working tree");
    let outside = project.repo.outside().join("decisions");
    for (text, says) in [("maybe\n", "line 1 is not"), ("unknown y\n", "no proposal is called `unknown`")] {
        std::fs::write(&outside, text).unwrap();
        project.gate(["curate", "--decisions", outside.to_str().unwrap()]).exits(65).says(says);
    }
    assert_eq!(project.repo.read("AGENTS.md"), MEMORY.as_bytes());
}
