//! `[commands.<name>]`: the command for each gate, and the rules for its result.

use toml::de::DeTable;

use super::built_in_gates::is_default_ignore;
use super::error::{Report, nearest, quoted};
use super::fields::{LocatedValue, TableFields, as_table, entries, is_name};
use super::merge::Gates;
use super::prose_readers::{is_of_documents, reads_documents};
use super::{EVIDENCE, IGNORE, glob_check};
use crate::policy::{Command, Gate, PathRules};
use crate::repo_path::RepoPath;

pub(super) const KEYS: &[&str] = &["gate", "run", "dir", "inputs", "ignore", "reports", "after_write"];

/// Reads the tables of `[commands]`, in the order of the file.
pub(super) fn commands(report: &mut Report<'_>, table: &DeTable<'_>, gates: &Gates) -> Vec<Command> {
    let mut commands = Vec::new();
    for (name, value) in entries(table) {
        if !is_name(name.value) {
            report.add(
                &name.at,
                format!("{} is not a name: use lowercase letters, digits, `.`, `_` and `-`", quoted(name.value)),
            );
        }
        if let Some(table) = as_table(report, &name, value) {
            commands.extend(command(report, &name, table, gates));
        }
    }
    commands
}

fn command(report: &mut Report<'_>, name: &LocatedValue<&str>, table: &DeTable<'_>, gates: &Gates) -> Option<Command> {
    let before = report.count();
    let place = format!("in [commands.{}]", name.value);
    let fields = TableFields::new(report, place, name.at.clone(), table, KEYS);
    fields.require(report, "gate");
    fields.require(report, "run");
    let gate = fields.text(report, "gate").and_then(|said| gate_of(report, &said, gates));
    let run = fields.words(report, "run");
    let dir =
        if let Some(said) = fields.text(report, "dir") { below_root(report, &said, "dir")? } else { String::new() };
    let inputs = match fields.texts(report, "inputs") {
        Some(said) => inputs(report, &said),
        None if dir.is_empty() => vec!["**".to_owned()],
        None => vec![format!("{}/**", globset::escape(&dir))],
    };
    let own = list(report, &fields, "ignore");
    let reports = list(report, &fields, "reports");
    let after_write = fields.flag(report, "after_write").is_some_and(|said| said.value);
    if report.count() > before {
        return None;
    }
    let (gate, run) = (gate?, run?);
    let (mut defaults, of_gate): (Vec<_>, Vec<_>) =
        ignored_by(gate).into_iter().partition(|glob| is_default_ignore(glob));
    if reads_documents(&run.value) {
        defaults.retain(|glob| !is_of_documents(glob));
    }
    match PathRules::with_defaults(&inputs, &defaults, &[of_gate, own].concat()) {
        Ok(inputs) => Some(Command {
            name: name.value.to_owned(),
            gate: gate.id.clone(),
            run: run.value,
            dir: RepoPath::from(dir.as_str()),
            inputs,
            reports,
            after_write,
        }),
        Err(error) => {
            report.add(&name.at, error.to_string());
            None
        }
    }
}

/// Returns the gate that a command is for, which must be one that takes commands.
fn gate_of<'g>(report: &mut Report<'_>, said: &LocatedValue<String>, gates: &'g Gates) -> Option<&'g Gate> {
    let takers = || gates.list.iter().filter(|gate| gate.kind == EVIDENCE).map(|gate| gate.id.as_str());
    if gates.broken.contains(&said.value) {
        return None;
    }
    let what = match gates.list.iter().find(|gate| gate.id == said.value) {
        Some(gate) if gate.kind == EVIDENCE => return Some(gate),
        Some(gate) => format!("the gate `{}` takes no commands", gate.id),
        None => format!("there is no gate {}", quoted(&said.value)),
    };
    let meant = nearest(&said.value, takers());
    let what = match (meant, takers().collect::<Vec<_>>()) {
        (None, takers) if !takers.is_empty() => format!("{what}; commands are for {}", takers.join(", ")),
        _ => what,
    };
    report.add_meant(&said.at, what, meant);
    None
}

/// Returns a path below the root, in git's spelling; empty for the root. `key` is its key.
pub(super) fn below_root(report: &mut Report<'_>, said: &LocatedValue<String>, key: &str) -> Option<String> {
    let dir = said.value.as_str();
    let drive = dir.as_bytes().get(1) == Some(&b':') && dir.starts_with(|c: char| c.is_ascii_alphabetic());
    let what = if dir.starts_with(['/', '\\', '~']) || drive {
        format!("`{key}` must be relative to the root of the repository, and {} is not", quoted(dir))
    } else if dir.split('/').any(|part| part == "..") {
        format!("`{key}` must stay inside the repository, without `..`, and {} does not", quoted(dir))
    } else {
        return Some(dir.split('/').filter(|part| !matches!(*part, "" | ".")).collect::<Vec<_>>().join("/"));
    };
    report.add(&said.at, what);
    None
}

/// Returns the inputs of a command that names them.
fn inputs(report: &mut Report<'_>, said: &LocatedValue<Vec<LocatedValue<String>>>) -> Vec<String> {
    glob_check::check(report, &said.value);
    if said.value.iter().all(|glob| glob.value.starts_with('!')) {
        report.add(&said.at, "`inputs` matches no path, so no change would require the command; begin with \"**\"");
    }
    said.value.iter().map(|glob| glob.value.clone()).collect()
}

/// Reads a list of globs.
fn list(report: &mut Report<'_>, fields: &TableFields<'_, '_>, key: &str) -> Vec<String> {
    let Some(said) = fields.texts(report, key) else { return Vec::new() };
    glob_check::check(report, &said.value);
    said.value.into_iter().map(|glob| glob.value).collect()
}

/// Returns the paths that the gate leaves out of the inputs of all its commands.
fn ignored_by(gate: &Gate) -> Vec<String> {
    let list = gate.params.get(IGNORE).and_then(toml::Value::as_array);
    list.into_iter().flatten().filter_map(toml::Value::as_str).map(str::to_owned).collect()
}
