//! `gate schema`.

use std::process::{Command, Output};

use crate::support::TimeLimit;

fn gate(args: &[&str]) -> Output {
    let _limit = TimeLimit::start();
    Command::new(env!("CARGO_BIN_EXE_gate")).args(args).env("NO_COLOR", "1").output().unwrap()
}

#[test]
fn the_schemas_are_listed_by_name_and_title() {
    let output = gate(&["schema"]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success());
    assert!(text.lines().any(|line| line == "policy                  gate.toml, the policy of a repository"), "{text}");
}

#[test]
fn a_schema_is_printed_as_it_is_published() {
    let output = gate(&["schema", "policy"]);
    assert!(output.status.success());
    assert_eq!(String::from_utf8(output.stdout).unwrap(), include_str!("../../templates/schema/policy.json"));
}

#[test]
fn a_schema_is_printed_by_its_id_as_well() {
    let by_name = gate(&["schema", "verdict-summary"]);
    let by_id = gate(&["schema", "urn:gate:schema:verdict-summary:1"]);
    assert!(by_id.status.success());
    assert_eq!(by_id.stdout, by_name.stdout);
    assert_eq!(gate(&["schema", "urn:gate:schema:verdict-summary:2"]).status.code(), Some(64));
}

#[test]
fn an_unknown_schema_is_a_usage_error_that_names_the_known_ones() {
    let output = gate(&["schema", "polcy"]);
    assert_eq!(output.status.code(), Some(64));
    assert!(output.stdout.is_empty());
    let text = String::from_utf8(output.stderr).unwrap();
    assert!(text.starts_with("gate: there is no schema `polcy`\n      the schemas are: "), "{text}");
    assert!(text.contains("policy"), "{text}");
}
