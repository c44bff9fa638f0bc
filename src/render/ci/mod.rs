//! A verdict for forges and for the programs around them. Titles, names of branches, checks and files, and other text
//! of other people are only text in each of these forms.

pub mod annotations;
pub mod junit;
pub mod sarif;
pub mod summary;

use crate::gates::finding::{Effect, Finding, GateResult};

/// Returns the findings of a gate that a reader of a verdict sees.
fn told(result: &GateResult) -> impl Iterator<Item = &Finding> {
    let silent = result.effect() == Effect::Silent;
    result.findings.iter().filter(move |finding| silent || finding.answer == result.answer)
}

/// Returns a text in one line, without invisible parts.
fn one_line(text: &str) -> String {
    let clean: String = text.chars().map(|c| if c.is_control() || turns(c) { ' ' } else { c }).collect();
    clean.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns `true` for invisible marks, among them those that change the direction of a text, so that it reads as
/// another.
fn turns(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
