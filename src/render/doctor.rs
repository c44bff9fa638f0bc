//! What `gate doctor` found, for people and for programs.

use super::ui::{BAD, DIM, GOOD, Ui, WARN};
use crate::doctor::{DoctorCheck, Health};

/// One line per check, with what to do below it.
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

/// `{"schema_version": 1, "health": …, "checks": […]}`.
pub fn json(checks: &[DoctorCheck], ui: &mut Ui) {
    let value = serde_json::json!({ "schema_version": 1, "health": Health::worst(checks), "checks": checks });
    ui.line(format_args!("{value:#}"));
}
