//! `[push]`: what the hook of a push may run itself.

use toml::de::DeTable;

use super::error::Report;
use super::fields::{Fields, Said};
use crate::policy::PushRuns;

pub(super) const KEYS: &[&str] = &["run"];
const WORDS: &[(&str, PushRuns)] = &[("nothing", PushRuns::Nothing), ("missing", PushRuns::Missing)];

/// Reads the table.
pub(super) fn runs(report: &mut Report<'_>, said: Said<&DeTable<'_>>) -> PushRuns {
    let fields = Fields::new(report, "in [push]", said.at, said.value, KEYS);
    fields.choice(report, "run", WORDS).map(|said| said.value).unwrap_or_default()
}
