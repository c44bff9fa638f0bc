//! The answers of the gates to a case, or to an old verdict: one line for each question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;

use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::replay::rejudge::Again;
use crate::replay::{AnswerWord, Answers, Case, GateAnswer};

/// The answers as a table, and where they differ from what the case expects.
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

/// The answers as a table, and where they differ from those of the verdict, and why.
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

/// One line for each question, and what `more` has to say of it below.
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
