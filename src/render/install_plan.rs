//! A plan of changes for a terminal: the diff in colour, then the notes.

use std::path::Path;

use super::ui::{BAD, DIM, GOOD, Ui, WARN};
use crate::install::{Plan, diff};

/// Prints the changes as a diff, paths relative to `base`, and the notes.
pub fn print(plan: &Plan, base: &Path, ui: &mut Ui) {
    for line in diff(&plan.changes, base).lines() {
        let style = match line.as_bytes().first() {
            Some(b'+') if !line.starts_with("+++ ") => GOOD,
            Some(b'-') if !line.starts_with("--- ") => BAD,
            Some(b' ' | b'\\') | None => anstyle::Style::new(),
            _ => DIM,
        };
        ui.line(format_args!("{style}{line}{style:#}"));
    }
    for note in &plan.notes {
        ui.line(format_args!("{WARN}note:{WARN:#} {}", note.replace('\n', "\n      ")));
    }
}
