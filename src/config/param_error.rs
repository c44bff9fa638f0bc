//! The place of an error in the parameters of a gate, and the key that may have been meant.

use toml::de::{DeTable, DeValue};

use super::error::{Report, nearest, quoted};
use super::fields::Span;
use super::gate_table::GateTable;
use crate::policy::{Gate, ParamError};

/// Checks the parameters of a kind: given the kind and all parameters in force, those of the binary included. Only
/// evaluators know which keys they take, and this module does not know them.
pub type CheckParams<'a> = &'a dyn Fn(&str, &toml::Table) -> Result<(), ParamError>;

/// Adds `error`, found in the gate that `said` describes, to the report. `list`: the existing gates.
pub(super) fn report(report: &mut Report<'_>, error: &ParamError, said: &GateTable<'_, '_>, list: &[Gate]) {
    let old = list.iter().find(|gate| gate.id == said.id);
    let serde = UnknownField::parse(&error.what);
    let key = error.key.as_deref().or(serde.as_ref().map(|unknown| unknown.field));
    let foreign = said.kind.as_ref().filter(|kind| list.iter().all(|gate| gate.kind != kind.value));
    let table = said.params.as_ref();
    let found = table.zip(key).and_then(|(params, key)| find(params.table, key));
    let at = match (key, &said.kind) {
        (Some("kind"), Some(kind)) if found.is_none() => kind.at.clone(),
        (None, _) if foreign.is_some() => foreign.map_or(0..0, |kind| kind.at.clone()),
        _ => found.clone().or_else(|| Some(table?.at.clone())).unwrap_or_else(|| said.fields.at.clone()),
    };
    let Some(unknown) = serde.filter(|_| found.is_some()) else {
        let kinds = list.iter().map(|gate| gate.kind.as_str());
        let meant = foreign.filter(|kind| at == kind.at).and_then(|kind| nearest(&kind.value, kinds));
        report.add_meant(&at, error.what.as_str(), meant);
        return;
    };
    let known = if unknown.known.is_empty() {
        old.iter().flat_map(|gate| gate.params.keys().map(String::as_str)).collect()
    } else {
        unknown.known
    };
    let meant = nearest(unknown.field, known.iter().copied().filter(|key| *key != unknown.field));
    let mut what = format!("unknown key {} in the params of `{}`", quoted(unknown.field), said.id);
    if meant.is_none() && !known.is_empty() {
        what = format!("{what}, which take {}", known.join(", "));
    }
    report.add_meant(&at, what, meant);
}

/// The message of serde about an unknown field.
struct UnknownField<'w> {
    field: &'w str,
    known: Vec<&'w str>,
}

impl<'w> UnknownField<'w> {
    /// Understands ``unknown field `x`, expected one of `a`, `b` ``.
    fn parse(what: &'w str) -> Option<Self> {
        let (field, rest) = what.strip_prefix("unknown field `")?.split_once('`')?;
        Some(Self { field, known: rest.split('`').skip(1).step_by(2).collect() })
    }
}

/// Returns the place of a key: the whole word, or a path of words; the deepest part that exists.
fn find(table: &DeTable<'_>, path: &str) -> Option<Span> {
    if let Some((key, _)) = table.get_key_value(path) {
        return Some(key.span());
    }
    let (first, rest) = path.split_once('.')?;
    let (key, value) = table.get_key_value(first)?;
    match value.get_ref() {
        DeValue::Table(inner) => find(inner, rest).or_else(|| Some(key.span())),
        _ => Some(key.span()),
    }
}
