//! The command that proves what a line left open.

use super::understanding::would_decide;
use crate::runner::{Project, RunScope, classify};
use crate::shell::expanded_program::Leaf;
use crate::shell_quote::{shell_line, shell_word};

use super::Extent;
use super::purpose::{Purpose, purpose};

/// Returns the command that runs the same check alone, in full, and with its own status, or `None` if none is known.
pub(super) fn would_prove(leaf: &Leaf, purpose: &Purpose, project: Project<'_>) -> Option<String> {
    if leaf.appended || (leaf.remote && !leaf.text.contains(leaf.name()?)) {
        return None;
    }
    let mut argv = Vec::with_capacity(leaf.argv.len());
    for arg in &leaf.argv {
        argv.push(arg.literal()?.to_owned());
    }
    let inner = shell_line(argv.iter().map(String::as_str));
    let whole = match purpose.extent {
        None | Some(Extent::Full) => inner,
        Some(_) => words(&widen(leaf, argv, project)?),
    };
    let mut line = String::new();
    if let Some(directory) = &leaf.directory {
        let path = directory.path.as_deref()?;
        // The directory of another machine is named by the words that go there.
        let named = leaf.remote && leaf.text.contains(path);
        if !path.is_empty() && !named {
            line = format!("cd {} && ", shell_word(path));
        }
    }
    for (name, value) in &leaf.environment {
        if value.as_ref().is_some_and(|value| name == "PATH" && value.contains('$')) {
            return None;
        }
        line.extend([name.as_str(), "=", &shell_word(value.as_deref()?), " "]);
    }
    line += &prefix(leaf);
    line += &whole;
    // A command is named only if its success would prove it.
    would_decide(&line, project).then_some(line)
}

/// Returns the wrappers in front of the command, as they were written.
fn prefix(leaf: &Leaf) -> String {
    let Some(first) = leaf.argv.first().map(|arg| shell_word(&arg.text)) else { return String::new() };
    if leaf.wrappers.is_empty() {
        return String::new();
    }
    let at = leaf.text.find(&format!(" {first}")).map_or(0, |at| at + 1);
    let words = leaf.text[..at].split_inclusive(' ');
    words.skip_while(|word| crate::shell::inner_command::is_assignment(word)).collect()
}

/// Removes the words that narrow a run.
fn widen(leaf: &Leaf, mut argv: Vec<String>, project: Project<'_>) -> Option<Vec<String>> {
    for _ in 0..24 {
        let tried = Leaf {
            argv: argv.iter().map(crate::shell::expanded_program::Arg::new).collect(),
            narrowed_by: None,
            ..leaf.clone()
        };
        let found = purpose(&tried, project);
        let by = match (found.extent, found.narrowed_by.clone()) {
            (Some(Extent::Full), _) => {
                // Without an argument it would be the package here; all of them are asked for.
                argv.extend(found.runs().find_map(|id| project.runners.runner(id)?.arguments.whole.first().cloned()));
                return Some(argv);
            }
            (Some(_), Some(by)) => by,
            _ => break,
        };
        let option = by.split('=').next().unwrap_or(&by);
        let at = argv.iter().skip(1).position(|word| *word == by || word.split('=').next() == Some(option))? + 1;
        let takes_value = argv[at].starts_with('-') && !argv[at].contains('=') && {
            let mut shorter = tried.words();
            shorter.remove(at);
            let left = classify(project.runners, &shorter, &());
            matches!(&left.scope, RunScope::Filtered { by } if argv.get(at + 1) == Some(by))
        };
        argv.remove(at);
        if takes_value {
            argv.remove(at);
        }
    }
    None
}

fn words(argv: &[String]) -> String {
    shell_line(argv.iter().map(String::as_str))
}
