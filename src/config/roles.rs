//! `[roles]`: what each role of an agent may write and run.
//!
//! `[roles.tester]` with `write = ["tests/**"]`, and `run = ["cargo test"]` if it may not run everything.

use toml::de::{DeTable, DeValue};

use super::error::{Report, quoted};
use super::fields::{LocatedValue, TableFields, check_name, entries, wrong_type};
use super::glob_check;
use crate::policy::{BOARD_FOLDERS, PathRules, Role, Roles};

const KEYS: &[&str] = &["write", "run", "aliases", "board"];

/// Reads the table of roles, in the order of the file.
pub(super) fn roles(report: &mut Report<'_>, table: &DeTable<'_>) -> Roles {
    let mut found = Roles::default();
    for (name, value) in entries(table) {
        match (name.value, value.get_ref()) {
            ("required", DeValue::Boolean(required)) => found.required = *required,
            ("required", other) => {
                let at = value.span();
                report.add(&at, wrong_type("required", "true or false", other));
            }
            (_, DeValue::Table(table)) => {
                // A branch and a trailer must be able to have the name.
                check_name(report, &name, "role", "._-");
                let known = found.list.iter().any(|role| role.name.eq_ignore_ascii_case(name.value));
                if known {
                    report.add(&name.at, format!("the role {} is there in other letters already", quoted(name.value)));
                }
                found.list.extend(role(report, &name, table));
            }
            (_, other) => {
                let at = value.span();
                report.add(&at, wrong_type(name.value, "a table with `write` and `run`", other));
            }
        }
    }
    found
}

fn role(report: &mut Report<'_>, name: &LocatedValue<&str>, table: &DeTable<'_>) -> Option<Role> {
    let fields = TableFields::new(report, format!("in [roles.{}]", name.value), name.at.clone(), table, KEYS);
    fields.require(report, "write");
    let write = fields.texts(report, "write").map(|said| said.value).unwrap_or_default();
    glob_check::check(report, &write);
    let plain = |said: Vec<LocatedValue<String>>| said.into_iter().map(|said| said.value).collect::<Vec<_>>();
    let run = fields.texts(report, "run").map(|said| plain(said.value));
    let aliases = fields.texts(report, "aliases").map(|said| plain(said.value)).unwrap_or_default();
    let board = fields.texts(report, "board").map(|said| said.value);
    for folder in board.iter().flatten().filter(|folder| !BOARD_FOLDERS.contains(&folder.value.as_str())) {
        let known = BOARD_FOLDERS.join(", ");
        report.add(&folder.at, format!("{} is not a folder of the board: {known}", quoted(&folder.value)));
    }
    // A glob that cannot be read was reported.
    let write = PathRules::new(&plain(write), &[]).ok()?;
    Some(Role { name: name.value.to_owned(), aliases, write, run, board: board.map(plain) })
}
