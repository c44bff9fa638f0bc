//! `[ci]`: the strictness of a job, by the author of the change.

use toml::de::DeTable;

use super::error::Report;
use super::fields::{LocatedValue, TableFields};
use crate::policy::{Mode, Strictness};

pub(super) const KEYS: &[&str] = &["agents", "people"];
/// The words for strictness. `off` is not one of them.
const WORDS: &[(&str, Mode)] = &[("observe", Mode::Observe), ("warn", Mode::Warn), ("block", Mode::Block)];

/// Reads the table.
pub(super) fn strictness(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Strictness {
    let fields = TableFields::new(report, "in [ci]", said.at, said.value, KEYS);
    let mut most = |key: &str| fields.choice(report, key, WORDS).map_or(Mode::Block, |said| said.value);
    Strictness { agents: most("agents"), people: most("people") }
}
