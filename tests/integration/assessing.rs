//! `gate assess`: what an agent says of its own work, held against the record.

use serde_json::Value;

use crate::project::{Project, Said, finish, valid};

fn assess(project: &Project, form: &str, options: &[&str]) -> Said {
    let mut command = project.command("gate", project.repo.root());
    command.arg("assess").args(options);
    finish(command, form.as_bytes())
}

fn verdict(project: &Project, form: &str) -> Value {
    serde_json::from_str(&assess(project, form, &["--json"]).out).unwrap()
}

#[test]
fn the_form_is_printed_read_and_held_against_the_record() {
    let project = Project::new().edited("a change");
    project.gate(["assess", "--prompt"]).exits(0).says("security_issues");
    project.gate(["run", "test"]).exits(0);
    assess(&project, "Here it is: {\"status\": \"complete\"}", &[]).exits(0);
    let said = verdict(&project, r#"{"status": "complete", "remaining_work": ["the docs"]}"#);
    assert_eq!((&said["outcome"], &said["complete"]), (&"pass".into(), &false.into()), "{said:#}");
    assess(&project, "All done.", &[]).exits(65).says("no self-assessment");
}

#[test]
fn a_hole_that_is_left_open_blocks_and_none_known_is_none() {
    let project = Project::new();
    assess(&project, r#"{"status": "complete", "security_issues": ["tokens are logged"]}"#, &[])
        .exits(10)
        .says("tokens");
    assess(&project, r#"{"status": "complete", "security_issues": ["None known"]}"#, &[]).exits(0);
}

#[test]
fn what_only_a_person_can_do_is_told_to_the_person() {
    let project = Project::new();
    let form =
        r#"{"status": "waiting_for_user", "needs_user_action": ["Approve the OAuth consent screen", "run the tests"]}"#;
    let said = verdict(&project, form);
    assert_eq!(said["requires_human_action"], true, "{said:#}");
    assert_eq!(said["human_actions"], serde_json::json!(["Approve the OAuth consent screen"]), "{said:#}");
    valid("verdict", &said);
    let nobody = verdict(&project, r#"{"status": "complete"}"#);
    assert_eq!((&nobody["requires_human_action"], &nobody["human_actions"]), (&false.into(), &serde_json::json!([])));
}
