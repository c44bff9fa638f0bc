//! `[ci]`: how strict a job is, by who wrote the change.

use toml::de::DeTable;

use super::error::Report;
use super::fields::{LocatedValue, TableFields};
use crate::policy::{Mode, Strictness};

pub(super) const KEYS: &[&str] = &["agents", "people"];
/// Switching everything off is no strictness.
const WORDS: &[(&str, Mode)] = &[("observe", Mode::Observe), ("warn", Mode::Warn), ("block", Mode::Block)];

/// Reads the table.
pub(super) fn strictness(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Strictness {
    let fields = TableFields::new(report, "in [ci]", said.at, said.value, KEYS);
    let mut most = |key: &str| fields.choice(report, key, WORDS).map_or(Mode::Block, |said| said.value);
    Strictness { agents: most("agents"), people: most("people") }
}
