//! What the gates say of a case, one line for each question.

use std::fmt::Write as _;

use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::replay::{Answers, Case, Word};

/// The answers as a table, and where they differ from what the case expects.
pub fn lines(case: &Case, answers: &Answers) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{STRONG}{}{STRONG:#} {}", case.id, case.title);
    for (question, said) in &answers.gates {
        let (style, word) = match said.verdict {
            Word::Na => (DIM, "na"),
            Word::Pass => (GOOD, "pass"),
            Word::Warn => (WARN, "warn"),
            Word::Block => (BAD, "block"),
        };
        let expected = case.expect.get(question).filter(|expected| !said.verdict.agrees(&expected.verdict));
        let expected = expected.map_or_else(String::new, |expected| {
            format!("\n            {BAD}expected {}{BAD:#} {}", expected.verdict, expected.why)
        });
        let _ = writeln!(text, "  {question:<9} {style}{word:<5}{style:#} {}{expected}", said.why);
    }
    text
}
