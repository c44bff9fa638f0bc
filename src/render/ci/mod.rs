//! A verdict for forges and for the programs around them. Titles, names of branches, checks and files, and other text
//! of other people are only text in each of these forms.

pub(crate) mod annotations;
pub(crate) mod junit;
pub(crate) mod sarif;
pub mod summary;

use crate::gates::finding::{Effect, Finding, GateResult};

/// Returns the findings of a gate that a reader of a verdict sees.
fn told(result: &GateResult) -> impl Iterator<Item = &Finding> {
    let silent = result.effect() == Effect::Silent;
    result.findings.iter().filter(move |finding| silent || finding.answer == result.answer)
}
