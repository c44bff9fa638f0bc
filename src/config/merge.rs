//! Applies the settings of gates in `gate.toml` to the gates of the binary.

use std::collections::{BTreeMap, BTreeSet};

use toml::de::DeTable;

use super::error::{Report, nearest, quoted};
use super::fields::{LocatedValue, as_table, entries, is_name, texts};
use super::gate_table::{GateTable, check_templates};
use super::param_error::CheckParams;
use super::{EVIDENCE, IGNORE, glob_check, param_error};
use crate::event::Grade;
use crate::policy::{Gate, Mode, ModeFrom, OnUnknown};

/// The gates in force, and the ids of those that could not be read.
pub(super) struct Gates {
    pub(super) list: Vec<Gate>,
    pub(super) broken: BTreeSet<String>,
}

/// Lays the tables of `[gates]` over `list`; `all` is the mode of those that say none.
pub(super) fn gates(
    report: &mut Report<'_>,
    list: Vec<Gate>,
    all: Option<Mode>,
    tables: Option<&DeTable<'_>>,
    check: CheckParams<'_>,
) -> Gates {
    let mut gates = Gates { list, broken: BTreeSet::new() };
    for gate in &mut gates.list {
        set_mode(gate, all);
    }
    for (id, value) in tables.map(entries).unwrap_or_default() {
        let before = report.count();
        let read = as_table(report, &id, value).and_then(|table| entry(report, &gates.list, &id, table, all, check));
        match read {
            Some(gate) if report.count() == before => match gates.list.iter_mut().find(|old| old.id == gate.id) {
                Some(old) => *old = gate,
                None => gates.list.push(gate),
            },
            _ => {
                gates.broken.insert(id.value.to_owned());
            }
        }
    }
    gates
}

/// Applies the `mode` at the top of `gate.toml`. A gate that is milder than this by its own setting keeps it, but
/// `observe` for all means all.
fn set_mode(gate: &mut Gate, all: Option<Mode>) {
    if let Some(mode) = all.filter(|mode| gate.mode_from == ModeFrom::Default || *mode < gate.mode) {
        gate.mode = mode;
        gate.mode_from = ModeFrom::AllGates;
    }
}

/// Reads one `[gates.<id>]`.
fn entry(
    report: &mut Report<'_>,
    list: &[Gate],
    id: &LocatedValue<&str>,
    table: &DeTable<'_>,
    all: Option<Mode>,
    check: CheckParams<'_>,
) -> Option<Gate> {
    let said = GateTable::read(report, id.value, &format!("in [gates.{}]", id.value), id.at.clone(), table);
    let old = list.iter().find(|gate| gate.id == id.value);
    let kind = match old {
        Some(gate) => kind_of_old(report, gate, &said)?,
        None => kind_of_new(report, list, id, &said)?,
    };
    let kin = list.iter().filter(|gate| gate.kind == kind);
    known_codes(report, &said, &kin.flat_map(|gate| gate.messages.keys().map(String::as_str)).collect());
    check_templates(report, &said);
    if kind == EVIDENCE {
        ignored_paths(report, &said);
    }
    let mut gate = match old {
        Some(old) => old.clone(),
        None => {
            let mut gate = complete(report, &said)?;
            gate.mode_from = ModeFrom::Default;
            set_mode(&mut gate, all);
            gate
        }
    };
    change(&mut gate, &said);
    if (old.is_none() || said.params.is_some())
        && let Err(error) = check(&gate.kind, &gate.params)
    {
        param_error::report(report, &error, &said, list);
        return None;
    }
    Some(gate)
}

fn kind_of_old(report: &mut Report<'_>, gate: &Gate, said: &GateTable<'_, '_>) -> Option<String> {
    if let Some(kind) = said.kind.as_ref().filter(|kind| kind.value != gate.kind) {
        let what = format!("`{}` is of kind `{}`; a gate of another kind needs its own id", gate.id, gate.kind);
        report.add(&kind.at, what);
        return None;
    }
    Some(gate.kind.clone())
}

fn kind_of_new(
    report: &mut Report<'_>,
    list: &[Gate],
    id: &LocatedValue<&str>,
    said: &GateTable<'_, '_>,
) -> Option<String> {
    if !said.fields.has("kind") {
        let ids: Vec<&str> = list.iter().map(|gate| gate.id.as_str()).collect();
        let meant = nearest(id.value, ids.iter().copied());
        let mut what = format!("there is no gate {}; a new one needs `kind`", quoted(id.value));
        if meant.is_none() && !ids.is_empty() {
            what = format!("{what}; the gates are {}", ids.join(", "));
        }
        report.add_meant(&id.at, what, meant);
        return None;
    }
    if !is_name(id.value) {
        report.add(&id.at, "the id of a gate is made of lowercase letters, digits, `.`, `_` and `-`");
    }
    said.kind.as_ref().map(|kind| kind.value.clone())
}

/// Checks reason codes: only an evaluator of the kind gives reasons, and the gates of the binary have words for each.
fn known_codes(report: &mut Report<'_>, said: &GateTable<'_, '_>, codes: &BTreeSet<&str>) {
    for (code, _) in said.messages.iter().filter(|(code, _)| !codes.is_empty() && !codes.contains(code.value.as_str()))
    {
        let meant = nearest(&code.value, codes.iter().copied());
        report.add_meant(&code.at, format!("this gate never gives the reason {}", quoted(&code.value)), meant);
    }
}

/// Checks the paths that every kind with commands leaves out of their inputs.
fn ignored_paths(report: &mut Report<'_>, said: &GateTable<'_, '_>) {
    let Some(value) = said.params.as_ref().and_then(|params| params.table.get(IGNORE)) else { return };
    if let Some(list) = texts(report, IGNORE, value) {
        glob_check::check(report, &list.value);
    }
}

/// Reads a gate from a table that must have all keys.
pub(super) fn complete(report: &mut Report<'_>, said: &GateTable<'_, '_>) -> Option<Gate> {
    let before = report.count();
    for key in ["title", "kind", "moments", "severity", "explain"] {
        said.fields.require(report, key);
    }
    if report.count() > before {
        return None;
    }
    let mut gate = Gate {
        id: said.id.clone(),
        title: said.title.clone()?,
        kind: said.kind.clone()?.value,
        moments: said.moments.clone()?,
        severity: said.severity?,
        mode: Mode::Block,
        mode_from: ModeFrom::Default,
        on_unknown: OnUnknown::Warn,
        min_grade: Grade::Hooked,
        params: toml::Table::new(),
        messages: BTreeMap::new(),
        explain: said.explain.clone()?,
    };
    change(&mut gate, said);
    for (code, message) in &said.messages {
        if message.text.is_none() && !message.broken {
            report.add(&code.at, format!("missing key `text` in the message `{}`", code.value));
        }
    }
    Some(gate)
}

/// Replaces the settings of the table; for parameters and messages, key by key.
fn change(gate: &mut Gate, said: &GateTable<'_, '_>) {
    fn set<T: Clone>(old: &mut T, new: Option<&T>) {
        if let Some(new) = new {
            old.clone_from(new);
        }
    }
    set(&mut gate.title, said.title.as_ref());
    set(&mut gate.moments, said.moments.as_ref());
    set(&mut gate.severity, said.severity.as_ref());
    set(&mut gate.on_unknown, said.on_unknown.as_ref());
    set(&mut gate.min_grade, said.min_grade.as_ref());
    set(&mut gate.explain, said.explain.as_ref());
    if let Some(mode) = said.mode {
        gate.mode = mode;
        gate.mode_from = ModeFrom::Entry;
    }
    if let Some(params) = &said.params {
        gate.params.extend(params.values.clone());
    }
    for (code, new) in &said.messages {
        let message = gate.messages.entry(code.value.clone()).or_default();
        set(&mut message.text, new.text.as_ref().map(|said| &said.value));
        set(&mut message.remedy, new.remedy.as_ref().map(|said| &said.value));
        set(&mut message.fix, new.fix.as_ref().map(|said| &said.value));
    }
}
