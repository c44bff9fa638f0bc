//! The digest of a policy: of what it says, not of how the file is written.

use serde_json::{Value, json};

use crate::digest::hex_digest;
use crate::policy::{Command, Gate, Policy, Scope, Signers, Strictness};

/// The digest of commands and gates, whatever their order, of scopes, whose order may decide, of who may sign, and of how
/// strict a job is.
pub(super) fn digest(policy: &Policy) -> String {
    let Policy { commands, gates, scopes, signers, ci, .. } = policy;
    let mut commands: Vec<&Command> = commands.iter().collect();
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    let mut gates: Vec<&Gate> = gates.iter().collect();
    gates.sort_by(|a, b| a.id.cmp(&b.id));
    let commands = Value::Array(commands.into_iter().map(command).collect()).to_string();
    let gates = Value::Array(gates.into_iter().map(gate).collect()).to_string();
    let mut parts = vec![b"policy 1".to_vec(), commands.into_bytes(), gates.into_bytes()];
    // What nobody says changes nothing.
    if !scopes.is_empty() {
        parts.push(Value::Array(scopes.iter().map(scope).collect()).to_string().into_bytes());
    }
    match signers {
        Signers::Nobody => {}
        Signers::File(path) => parts.push(json!({ "signers": path.to_string() }).to_string().into_bytes()),
        Signers::Listed(lines) => parts.push(json!({ "signers": lines }).to_string().into_bytes()),
    }
    if *ci != Strictness::default() {
        parts.push(json!({ "agents": ci.agents.as_str(), "people": ci.people.as_str() }).to_string().into_bytes());
    }
    hex_digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn scope(scope: &Scope) -> Value {
    json!({
        "name": scope.name,
        "paths": scope.paths,
        "aliases": scope.aliases,
        "with": scope.with,
        "shared": scope.shared,
        "goes_along": scope.goes_along,
    })
}

fn command(command: &Command) -> Value {
    json!({
        "name": command.name,
        "gate": command.gate,
        "run": command.run,
        "dir": command.dir.to_string(),
        "inputs": command.inputs.inputs,
        "ignore": command.inputs.ignore,
        "reports": command.reports,
    })
}

fn gate(gate: &Gate) -> Value {
    let messages = gate.messages.iter().map(|(code, message)| json!([code, message.text, message.remedy, message.fix]));
    json!({
        "id": gate.id,
        "title": gate.title,
        "kind": gate.kind,
        "moments": gate.moments.iter().map(|moment| moment.as_str()).collect::<Vec<_>>(),
        "severity": gate.severity.as_str(),
        "mode": gate.mode.as_str(),
        "on_unknown": gate.on_unknown.as_str(),
        "min_grade": gate.min_grade.as_str(),
        "params": to_json(&toml::Value::Table(gate.params.clone())),
        "messages": messages.collect::<Vec<_>>(),
        "explain": gate.explain,
    })
}

/// A TOML value as JSON, dates as texts, keys in their order.
pub(super) fn to_json(value: &toml::Value) -> Value {
    match value {
        toml::Value::String(text) => Value::from(text.as_str()),
        toml::Value::Integer(number) => Value::from(*number),
        toml::Value::Float(number) => Value::from(*number),
        toml::Value::Boolean(flag) => Value::from(*flag),
        toml::Value::Datetime(date) => Value::from(date.to_string()),
        toml::Value::Array(items) => items.iter().map(to_json).collect(),
        toml::Value::Table(table) => {
            Value::Object(table.iter().map(|(key, value)| (key.clone(), to_json(value))).collect())
        }
    }
}
