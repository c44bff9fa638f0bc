//! The changes of functions, for people.

use crate::render::ui::{BAD, DIM, GOOD, STRONG, Ui};
use crate::symbols::{FunctionChange, FunctionDiff, ImportMap, MapVerification, Preservation};

/// The number of new functions that are listed.
const MAX_NEW: usize = 20;

/// Prints the changes of the functions.
pub fn functions(diff: &FunctionDiff, ui: &mut Ui) {
    let head = match diff.verdict {
        Preservation::Preserved => format!("{GOOD}preserved{GOOD:#}: every function is still there"),
        Preservation::Lost => {
            format!("{BAD}lost{BAD:#}: {} gone, {} emptied", diff.lost.len(), diff.emptied.len())
        }
        Preservation::NeedsYes => {
            format!("{STRONG}needs a yes{STRONG:#}: nothing is lost for certain, but look at this")
        }
    };
    ui.line(head);
    for kind in ["lost", "emptied", "renamed", "moved", "new"] {
        let listed: Vec<&FunctionChange> = diff.changes.iter().filter(|change| change.kind == kind).collect();
        for change in listed.iter().take(if kind == "new" { MAX_NEW } else { listed.len() }) {
            let to = change.to.as_ref().map_or_else(String::new, |to| {
                let name = if to.name == change.name { String::new() } else { format!(" {}", to.name) };
                format!(" ->{name} {DIM}{}:{}{DIM:#}", to.file, to.line)
            });
            let note = change.note.map_or_else(String::new, |note| format!(" ({note})"));
            ui.line(format_args!("  {kind:<8}{} {DIM}{}:{}{DIM:#}{to}{note}", change.name, change.file, change.line));
        }
        if kind == "new" && listed.len() > MAX_NEW {
            ui.line(format_args!("  {DIM}… more new functions: {}{DIM:#}", listed.len() - MAX_NEW));
        }
    }
    for file in &diff.unparsed_why {
        let line = file.line.map_or_else(String::new, |line| format!(":{line}"));
        ui.line(format_args!("  unparsed {}{line} {DIM}({}){DIM:#} {}", file.file, file.state, file.why));
    }
}

/// Prints the map of a file.
pub fn map(map: &ImportMap, ui: &mut Ui) {
    ui.line(format_args!("{STRONG}{}{STRONG:#} ({})", map.file, map.language));
    for import in &map.external_imports {
        ui.line(format_args!("  imports  {import}"));
    }
    for function in &map.public_functions {
        ui.line(format_args!("  public   {function}"));
    }
    for (from, to) in &map.cross_references {
        ui.line(format_args!("  uses     {from} -> {}", to.join(", ")));
    }
}

/// Prints the result for the names of a map.
pub fn verification(verification: &MapVerification, ui: &mut Ui) {
    for problem in &verification.problems {
        ui.line(format_args!("{}: {BAD}{}{BAD:#}: {}", problem.file, problem.kind, problem.name));
    }
    for file in &verification.unparsed {
        ui.line(format_args!("{file}: does not parse"));
    }
    if verification.verifies {
        ui.line(format_args!("{GOOD}verified{GOOD:#}: every name of the map is where it is used"));
    }
}
