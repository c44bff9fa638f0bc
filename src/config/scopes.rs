//! `[scopes]`: the parts of the program, by name.
//!
//! `parser = ["src/parser/**"]`, or a table with more keys:
//! `web = { paths = ["web/**"], aliases = ["frontend"], with = ["api"], shared = ["assets/**"] }`.

use toml::de::{DeTable, DeValue};

use super::error::{Report, nearest, quoted};
use super::fields::{LocatedValue, TableFields, check_name, entries, texts, wrong_type};
use super::glob_check;
use crate::policy::Scope;

pub(super) const KEYS: &[&str] = &["paths", "aliases", "with", "shared", "goes_along"];

/// Reads the table of scopes, in the order of the file.
pub(super) fn scopes(report: &mut Report<'_>, table: &DeTable<'_>) -> Vec<Scope> {
    let mut scopes = Vec::new();
    let mut with = Vec::new();
    for (name, value) in entries(table) {
        // A subject must be able to have the name between its parentheses.
        check_name(report, &name, "scope", "/@._+-");
        let scope = match value.get_ref() {
            DeValue::Array(_) => texts(report, name.value, value)
                .map(|said| Scope { paths: paths(report, name.value, &said), ..Scope::default() }),
            DeValue::Table(table) => Some(scope(report, &name, table, &mut with)),
            other => {
                let at = value.span();
                report.add(&at, wrong_type(name.value, "a list of globs or a table", other));
                None
            }
        };
        scopes.extend(scope.map(|scope| Scope { name: name.value.to_owned(), ..scope }));
    }
    for said in with {
        known(report, &said, &scopes);
    }
    scopes
}

fn scope(
    report: &mut Report<'_>,
    name: &LocatedValue<&str>,
    table: &DeTable<'_>,
    with: &mut Vec<LocatedValue<String>>,
) -> Scope {
    let fields = TableFields::new(report, format!("in [scopes.{}]", name.value), name.at.clone(), table, KEYS);
    fields.require(report, "paths");
    let list =
        |report: &mut Report<'_>, key: &str| fields.texts(report, key).map(|said| said.value).unwrap_or_default();
    let paths = fields.texts(report, "paths").map(|said| paths(report, name.value, &said)).unwrap_or_default();
    let aliases = list(report, "aliases");
    let others = list(report, "with");
    let shared = list(report, "shared");
    glob_check::check(report, &shared);
    let plain = |said: Vec<LocatedValue<String>>| said.into_iter().map(|said| said.value).collect::<Vec<_>>();
    let goes_along = fields.flag(report, "goes_along").is_some_and(|said| said.value);
    with.extend(others.iter().cloned());
    Scope {
        name: String::new(),
        paths,
        aliases: plain(aliases),
        with: plain(others),
        shared: plain(shared),
        goes_along,
    }
}

/// Returns the globs of a scope.
fn paths(report: &mut Report<'_>, name: &str, said: &LocatedValue<Vec<LocatedValue<String>>>) -> Vec<String> {
    glob_check::check(report, &said.value);
    if said.value.iter().all(|glob| glob.value.starts_with('!')) {
        report.add(&said.at, format!("the scope {} matches no path", quoted(name)));
    }
    said.value.iter().map(|glob| glob.value.clone()).collect()
}

/// Checks that `with` names scopes of the table.
fn known(report: &mut Report<'_>, said: &LocatedValue<String>, scopes: &[Scope]) {
    if scopes.iter().any(|scope| scope.name == said.value || scope.aliases.contains(&said.value)) {
        return;
    }
    let meant = nearest(&said.value, scopes.iter().map(|scope| scope.name.as_str()));
    report.add_meant(&said.at, format!("there is no scope {}", quoted(&said.value)), meant);
}
