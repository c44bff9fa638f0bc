//! The tables of a few keys: `[ci]`, `[push]`, `[retention]` and `[[quarantine]]`.

use jiff::civil::Date;
use toml::de::DeTable;

use super::error::{Report, quoted};
use super::fields::{LocatedValue, TableFields};
use crate::policy::{Mode, PushRuns, QuarantinedTest, Retention, Strictness};

pub(super) const CI_KEYS: &[&str] = &["agents", "people"];
/// The words for strictness. `off` is not one of them.
const MODES: &[(&str, Mode)] = &[("observe", Mode::Observe), ("warn", Mode::Warn), ("block", Mode::Block)];

/// Reads `[ci]`: the strictness of a job, by the author of the change.
pub(super) fn strictness(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Strictness {
    let fields = TableFields::new(report, "in [ci]", said.at, said.value, CI_KEYS);
    let mut most = |key: &str| fields.choice(report, key, MODES).map_or(Mode::Block, |said| said.value);
    Strictness { agents: most("agents"), people: most("people") }
}

pub(super) const PUSH_KEYS: &[&str] = &["run"];
const RUNS: &[(&str, PushRuns)] = &[("nothing", PushRuns::Nothing), ("missing", PushRuns::Missing)];

/// Reads `[push]`: the commands that the hook of a push may run itself.
pub(super) fn push_runs(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> PushRuns {
    let fields = TableFields::new(report, "in [push]", said.at, said.value, PUSH_KEYS);
    fields.choice(report, "run", RUNS).map(|said| said.value).unwrap_or_default()
}

pub(super) const RETENTION_KEYS: &[&str] = &["days", "megabytes"];

/// Reads `[retention]`: the limits for kept contents of runs, and for records, that no longer prove anything.
pub(super) fn retention(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Retention {
    let fields = TableFields::new(report, "in [retention]", said.at, said.value, RETENTION_KEYS);
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

pub(super) const QUARANTINE_KEYS: &[&str] = &["test", "reason", "owner", "until"];

/// Reads `[[quarantine]]`: tests whose failure does not block until a day. Each entry needs every key.
pub(super) fn quarantine(report: &mut Report<'_>, tables: Vec<LocatedValue<&DeTable<'_>>>) -> Vec<QuarantinedTest> {
    tables.into_iter().filter_map(|table| entry(report, table)).collect()
}

fn entry(report: &mut Report<'_>, said: LocatedValue<&DeTable<'_>>) -> Option<QuarantinedTest> {
    let fields = TableFields::new(report, "in [[quarantine]]", said.at, said.value, QUARANTINE_KEYS);
    for key in QUARANTINE_KEYS {
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
