//! `[[quarantine]]`: tests whose failure does not block until a day.

use jiff::civil::Date;
use toml::de::DeTable;

use super::error::{Report, quoted};
use super::fields::{LocatedValue, TableFields};
use crate::policy::QuarantinedTest;

pub(super) const KEYS: &[&str] = &["test", "reason", "owner", "until"];

/// Reads the entries. Each needs every key.
pub(super) fn quarantine(report: &mut Report<'_>, tables: Vec<LocatedValue<&DeTable<'_>>>) -> Vec<QuarantinedTest> {
    tables.into_iter().filter_map(|table| entry(report, table)).collect()
}

fn entry(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Option<QuarantinedTest> {
    let fields = TableFields::new(report, "in [[quarantine]]", said.at, said.value, KEYS);
    for key in KEYS {
        fields.require(report, key);
    }
    let mut words = |key: &str| fields.words(report, key).map(|said| said.value);
    let (test, reason, owner) = (words("test"), words("reason"), words("owner"));
    let until = fields.day(report, "until").and_then(|said| day(report, &said));
    Some(QuarantinedTest { test: test?, reason: reason?, owner: owner?, until: until? })
}

fn day(report: &mut Report<'_>, said: &LocatedValue<String>) -> Option<Date> {
    let day = said.value.parse().ok().filter(|_| said.value.len() == "2026-12-31".len());
    if day.is_none() {
        report.add(&said.at, format!("`until` takes a day such as 2026-12-31, not {}", quoted(&said.value)));
    }
    day
}
