//! The answers of the gates to a case, or to an old verdict: one line for each question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;

use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::replay::rejudge::Again;
use crate::replay::{AnswerWord, Answers, Case, GateAnswer};

/// Returns the answers as a table, with their differences from the expectations of the case.
pub fn lines(case: &Case, answers: &Answers) -> String {
    let mut text = format!("{STRONG}{}{STRONG:#} {}\n", case.id, case.title);
    table(&mut text, &answers.gates, |question, said| {
        let expected = case.expect.get(question).filter(|expected| !said.verdict.agrees(&expected.verdict));
        expected
            .map(|expected| vec![format!("{BAD}expected {}{BAD:#} {}", expected.verdict, expected.why)])
            .unwrap_or_default()
    });
    text
}

/// Returns the answers as a table, with their differences from those of the verdict, and the causes.
pub fn again(again: &Again) -> String {
    let mut text = format!("{STRONG}{}{STRONG:#} judged again\n", again.verdict);
    table(&mut text, &again.gates, |question, _| {
        let differences = again.differs.iter().filter(|difference| difference.question == question);
        differences
            .flat_map(|difference| {
                let then = &difference.then;
                let was = format!("{WARN}was {}{WARN:#} {}", then.verdict.as_str(), then.why);
                std::iter::once(was).chain(difference.because.iter().map(|why| format!("because {why}")))
            })
            .collect()
    });
    text
}

/// Adds one line for each question, with the details of `more` below it.
fn table(text: &mut String, gates: &BTreeMap<String, GateAnswer>, more: impl Fn(&str, &GateAnswer) -> Vec<String>) {
    for (question, said) in gates {
        let style = style(said.verdict);
        let _ = writeln!(text, "  {question:<10} {style}{:<5}{style:#} {}", said.verdict.as_str(), said.why);
        for line in more(question, said) {
            let _ = writeln!(text, "             {line}");
        }
    }
}

const fn style(word: AnswerWord) -> Style {
    match word {
        AnswerWord::Na => DIM,
        AnswerWord::Pass => GOOD,
        AnswerWord::Warn => WARN,
        AnswerWord::Block => BAD,
    }
}
