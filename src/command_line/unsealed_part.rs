//! Parts of a run whose tests print a last line of their own: without it, their process ended before they did.

use std::collections::BTreeSet;

use crate::foreign_text::beginning;
use crate::lazy_patterns::compiled;
use crate::runner::output_line::output_lines;
use crate::runner::{Runner, SealedPart};
use crate::shell::expanded_program::{Leaf, Program};

/// Returns the line that says that a part passed of which the last line of the tests is missing.
pub(super) fn unsealed_part(program: &Program, runners: &[&Runner], output: &str) -> Option<String> {
    let lines: Vec<_> = output_lines(output).collect();
    let mut sealed = runners.iter().flat_map(|runner| &runner.output.sealed);
    sealed.find_map(|part| {
        let is_shown = part.shown_by.is_empty()
            || program.leaves.iter().any(|leaf| shows(leaf, part))
            || lines.iter().any(|line| part.shown_by.iter().any(|shows| line.starts_with(shows.as_str())));
        is_shown.then(|| first_unsealed(part, lines.iter().map(|line| &**line))).flatten()
    })
}

/// Returns `true` if a command shows the last lines of its tests: it has such an option, or names no package.
fn shows(leaf: &Leaf, part: &SealedPart) -> bool {
    let words = leaf.words();
    let words: Vec<&String> = words.iter().flatten().skip_while(|word| **word != "test").skip(1).collect();
    let names_none = leaf.name() == Some("go") && words.iter().all(|word| word.starts_with('-'));
    names_none || words.iter().any(|word| part.shown_by.contains(word))
}

fn first_unsealed<'a>(part: &SealedPart, lines: impl Iterator<Item = &'a str>) -> Option<String> {
    let (passed, seal) = (compiled(&part.passed)?, compiled(&part.seal)?);
    let mut seals: BTreeSet<&str> = BTreeSet::new();
    for line in lines {
        if let Some(found) = seal.captures(line) {
            seals.insert(found.name("part").map_or("", |part| part.as_str()));
        } else if let Some(found) = passed.captures(line) {
            let name = if seal.captures_len() > 1 { found.name("part").map_or("", |part| part.as_str()) } else { "" };
            if !seals.remove(name) {
                return Some(beginning(line, 80));
            }
        }
    }
    None
}
