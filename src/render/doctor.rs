//! The results of `gate doctor`, for people and for programs.

use serde::Serialize;

use super::ui::{BAD, DIM, GOOD, Ui, WARN};
use crate::doctor::{DoctorCheck, Health};

/// Prints one line per check, with its remedy below it.
pub fn text(checks: &[DoctorCheck], ui: &mut Ui) {
    for check in checks {
        let (style, word) = match check.health {
            Health::Ok => (GOOD, "ok    "),
            Health::Warn => (WARN, "warn  "),
            Health::Broken => (BAD, "broken"),
        };
        ui.line(format_args!("{style}{word}{style:#} {DIM}{:<14}{DIM:#} {}", check.id, check.what));
        for line in check.remedy.lines() {
            ui.line(format_args!("                      {line}"));
        }
    }
}

/// The checks, for programs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct DoctorReport<'a> {
    schema_version: u32,
    /// That of the worst check.
    health: Health,
    checks: &'a [DoctorCheck],
}

/// Prints one JSON object.
pub fn json(checks: &[DoctorCheck], ui: &mut Ui) -> serde_json::Result<()> {
    let report = DoctorReport { schema_version: 1, health: Health::worst(checks), checks };
    ui.json(&report)?;
    Ok(())
}
