//! Tests of the policy reader.

mod accepted;
mod located;
mod properties;
mod refused;
mod schema;

use toml::de::DeTable;

use super::error::Report;
use super::gate_table::GateTable;
use super::{ConfigError, FILE, merge, parse_over};
use crate::policy::{Gate, ModeFrom, ParamError, Policy, PolicySource, read_params};

const TESTS: &str = r#"
title = "Tests ran"
kind = "evidence"
moments = ["push", "stop"]
severity = "high"
explain = "Runs count."

[params]
counts = true
ignore = ["**/*.md"]

[messages.missing]
text = "no run of {{ command }}"
remedy = "gate run {{ name }}"
"#;

const PROTECTED: &str = r#"
title = "No direct push"
kind = "protected-branch"
moments = ["push"]
severity = "BLOCKER"
mode = "warn"
on_unknown = "block"
explain = "Refs count."

[params]
branches = ["main"]

[messages.protected]
text = "{{ branch }} is protected"
"#;

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Evidence {
    #[serde(default, rename = "counts")]
    _counts: bool,
    #[serde(default, rename = "ignore")]
    _ignore: Vec<String>,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Protected {
    #[serde(rename = "branches")]
    _branches: Vec<String>,
}

pub(super) fn check(kind: &str, params: &toml::Table) -> Result<(), ParamError> {
    match kind {
        "evidence" => read_params::<Evidence>(params).map(drop),
        "protected-branch" => read_params::<Protected>(params).map(drop),
        _ => Err(ParamError { key: Some("kind".to_owned()), what: format!("there is no kind of gate `{kind}`") }),
    }
}

/// Reads one gate file as people write it; its name without `.toml` is the id.
pub(super) fn read(name: &str, text: &str) -> Result<Gate, ConfigError> {
    let mut report = Report::new(name, text);
    let table = match DeTable::parse(text) {
        Ok(table) => table,
        Err(error) => return Err(super::syntax(report, &error)),
    };
    let id = name.strip_suffix(".toml").unwrap_or(name);
    let said = GateTable::read(&mut report, id, "in a gate file", 0..0, table.get_ref());
    match merge::complete(&mut report, &said) {
        Some(mut gate) => {
            gate.mode_from = if said.mode.is_some() { ModeFrom::GateFile } else { ModeFrom::Default };
            report.finish(gate)
        }
        None => Err(report.into()),
    }
}

/// Returns the gates that these tests know, independent of the binary's.
pub(super) fn base() -> Vec<Gate> {
    vec![read("protected-branch.toml", PROTECTED).unwrap(), read("tests.toml", TESTS).unwrap()]
}

pub(super) fn parsed(text: &str) -> Result<Policy, ConfigError> {
    parse_over(base(), FILE, text, PolicySource::WorkingTree, &check)
}

pub(super) fn good(text: &str) -> Policy {
    parsed(text).unwrap_or_else(|error| panic!("{}", error.render()))
}

pub(super) const FULL: &str = r#"
version = 1
mode = "block"

[commands.test]
gate = "tests"
run = "cargo test --workspace"
dir = "./crates//core/"
ignore = ["!README.md", "notes/**"]
reports = ["target/junit/*.xml"]

[commands.web]
gate = "tests"
run = "npm test"
inputs = ["web/**", "!web/dist/**"]

[gates.protected-branch]
mode = "block"
on_unknown = "warn"
min_grade = "observed"
severity = "High"
moments = ["stop", "push", "push"]

[gates.protected-branch.params]
branches = ["main", "release/*"]

[gates.protected-branch.messages.protected]
fix = "open a pull request"

[gates.lint]
title = "Lint ran"
kind = "evidence"
moments = ["push"]
severity = "low"
explain = "The linter."
messages.missing.text = "no lint"
"#;
