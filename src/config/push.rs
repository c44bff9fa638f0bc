//! `[push]`: the commands that the hook of a push may run itself.

use toml::de::DeTable;

use super::error::Report;
use super::fields::{LocatedValue, TableFields};
use crate::policy::PushRuns;

pub(super) const KEYS: &[&str] = &["run"];
const WORDS: &[(&str, PushRuns)] = &[("nothing", PushRuns::Nothing), ("missing", PushRuns::Missing)];

/// Reads the table.
pub(super) fn runs(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> PushRuns {
    let fields = TableFields::new(report, "in [push]", said.at, said.value, KEYS);
    fields.choice(report, "run", WORDS).map(|said| said.value).unwrap_or_default()
}
