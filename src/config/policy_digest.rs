//! The digest of a policy: of its content, not of the way in which the file is written.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::digest::hex_digest;
use crate::policy::{Command, Gate, Policy, Role, Scope, Signers, Strictness};

/// Returns the digest of commands and gates, whatever their order, of scopes, whose order may decide, of the signers,
/// and of the strictness of a job.
pub(super) fn digest(policy: &Policy) -> String {
    let Policy { commands, gates, scopes, roles, signers, ci, .. } = policy;
    let mut commands: Vec<&Command> = commands.iter().collect();
    commands.sort_by(|a, b| a.name.cmp(&b.name));
    let mut gates: Vec<&Gate> = gates.iter().collect();
    gates.sort_by(|a, b| a.id.cmp(&b.id));
    let commands = Value::Array(commands.into_iter().map(command).collect()).to_string();
    let mut written = Vec::with_capacity(1 << 16);
    // Writing texts and numbers into memory cannot fail.
    let _ = serde_json::to_writer(&mut written, &gates.into_iter().map(CanonicalGate::of).collect::<Vec<_>>());
    let mut parts = vec![b"policy 1".to_vec(), commands.into_bytes(), written];
    // What nobody says changes nothing.
    if !scopes.is_empty() {
        parts.push(Value::Array(scopes.iter().map(scope).collect()).to_string().into_bytes());
    }
    if !roles.list.is_empty() || roles.required {
        let list: Vec<Value> = roles.list.iter().map(role).collect();
        parts.push(json!({ "required": roles.required, "roles": list }).to_string().into_bytes());
    }
    match signers {
        Signers::Nobody => {}
        Signers::File(path) => parts.push(json!({ "signers": path.to_string() }).to_string().into_bytes()),
        Signers::Listed(lines) => parts.push(json!({ "signers": lines }).to_string().into_bytes()),
    }
    if *ci != Strictness::default() {
        parts.push(json!({ "agents": ci.agents.as_str(), "people": ci.people.as_str() }).to_string().into_bytes());
    }
    if !policy.quarantine.is_empty() {
        parts.push(json!({ "quarantine": policy.quarantine }).to_string().into_bytes());
    }
    let own = policy.runners.own();
    if !own.is_empty() {
        let runners: BTreeMap<&str, &str> = own.iter().map(|runner| (&*runner.id, &*runner.digest)).collect();
        parts.push(json!({ "runners": runners }).to_string().into_bytes());
    }
    hex_digest(&parts.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn role(role: &Role) -> Value {
    json!({
        "name": role.name,
        "aliases": role.aliases,
        "write": role.write.inputs,
        "run": role.run,
        "board": role.board,
    })
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

/// A gate as it is digested, without a copy of its texts: they are most of a policy.
#[derive(Serialize)]
struct CanonicalGate<'g> {
    explain: &'g str,
    id: &'g str,
    kind: &'g str,
    messages: Vec<[&'g str; 4]>,
    min_grade: &'static str,
    mode: &'static str,
    moments: Vec<&'static str>,
    on_unknown: &'static str,
    params: Canonical<'g>,
    severity: &'static str,
    title: &'g str,
}

impl<'g> CanonicalGate<'g> {
    fn of(gate: &'g Gate) -> Self {
        let messages = gate.messages.iter();
        Self {
            explain: &gate.explain,
            id: &gate.id,
            kind: &gate.kind,
            messages: messages.map(|(code, said)| [&**code, &said.text, &said.remedy, &said.fix]).collect(),
            min_grade: gate.min_grade.as_str(),
            mode: gate.mode.as_str(),
            moments: gate.moments.iter().map(|moment| moment.as_str()).collect(),
            on_unknown: gate.on_unknown.as_str(),
            params: Canonical::Table(gate.params.iter().map(|(key, value)| (&**key, Canonical::of(value))).collect()),
            severity: gate.severity.as_str(),
            title: &gate.title,
        }
    }
}

/// A TOML value, its keys in their order, dates as texts.
#[derive(Serialize)]
#[serde(untagged)]
enum Canonical<'v> {
    Text(&'v str),
    Integer(i64),
    Float(f64),
    Flag(bool),
    Date(String),
    Array(Vec<Self>),
    Table(BTreeMap<&'v str, Self>),
}

impl<'v> Canonical<'v> {
    fn of(value: &'v toml::Value) -> Self {
        match value {
            toml::Value::String(text) => Self::Text(text),
            toml::Value::Integer(number) => Self::Integer(*number),
            toml::Value::Float(number) => Self::Float(*number),
            toml::Value::Boolean(flag) => Self::Flag(*flag),
            toml::Value::Datetime(date) => Self::Date(date.to_string()),
            toml::Value::Array(items) => Self::Array(items.iter().map(Self::of).collect()),
            toml::Value::Table(table) => {
                Self::Table(table.iter().map(|(key, value)| (&**key, Self::of(value))).collect())
            }
        }
    }
}
