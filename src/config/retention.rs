//! `[retention]`: the limits for kept contents of runs, and for records, that no longer prove anything.

use toml::de::DeTable;

use super::error::Report;
use super::fields::{LocatedValue, TableFields};
use crate::policy::Retention;

pub(super) const KEYS: &[&str] = &["days", "megabytes"];

/// Reads the table.
pub(super) fn retention(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Retention {
    let fields = TableFields::new(report, "in [retention]", said.at, said.value, KEYS);
    let most = Retention::default();
    let mut number = |key: &str, otherwise: u32| {
        let Some(said) = fields.integer(report, key) else { return otherwise };
        u32::try_from(said.value).unwrap_or_else(|_| {
            report.add(&said.at, format!("`{key}` must be a number from 0 to {}", u32::MAX));
            otherwise
        })
    };
    Retention { days: number("days", most.days), megabytes: number("megabytes", most.megabytes) }
}
