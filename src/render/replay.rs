//! The answers of the gates to a case, or to an old verdict: one line for each question.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anstyle::Style;

use crate::foreign_text::plain;
use crate::render::sessions;
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::replay::rejudge::Again;
use crate::replay::{AnswerWord, Answers, Case, GateAnswer, SessionAnswers};

/// Returns the answers as a table, with their differences from the expectations of the case.
pub fn lines(case: &Case, answers: &Answers) -> String {
    let mut text = format!("{STRONG}{}{STRONG:#} {}\n", case.id, case.title);
    table(&mut text, &answers.gates, |question, said| {
        let expected = case.expect.get(question).filter(|expected| !said.verdict.agrees(&expected.verdict));
        expected
            .map(|expected| {
                let line = format!("{BAD}expected {}{BAD:#} {}", expected.verdict, expected.why);
                vec![line.trim_end().to_owned()]
            })
            .unwrap_or_default()
    });
    text
}

/// What is said of each stop of a session: what stops or warns, and of the last one everything.
pub fn session(answers: &SessionAnswers) -> String {
    let mut text = format!("{STRONG}session {}{STRONG:#}\n", answers.session);
    for stop in &answers.stops {
        let is_last = stop.number == answers.stops.len();
        let words = stop.text.lines().next().unwrap_or_default();
        let at = stop.at.strftime("%Y-%m-%d %H:%M:%SZ");
        let _ = writeln!(text, "{STRONG}stop {}{STRONG:#}  {DIM}{at}{DIM:#}  {}", stop.number, plain(words));
        let told = |said: &GateAnswer| is_last || matches!(said.verdict, AnswerWord::Warn | AnswerWord::Block);
        let gates: BTreeMap<String, GateAnswer> =
            stop.gates.iter().filter(|(_, said)| told(said)).map(|(one, said)| (one.clone(), said.clone())).collect();
        if gates.is_empty() {
            text.push_str("  nothing is missing\n");
        }
        table(&mut text, &gates, |_, _| Vec::new());
    }
    if answers.stops.is_empty() {
        text.push_str("no turn has ended: this judges the work so far\n");
        table(&mut text, &answers.gates, |_, _| Vec::new());
    } else if answers.continues {
        text.push_str("the session continues after its last stop; the work after it is not judged\n");
    }
    match answers.interrupted {
        0 => {}
        1 => text.push_str("1 turn was interrupted and is not judged\n"),
        count => {
            let _ = writeln!(text, "{count} turns were interrupted and are not judged");
        }
    }
    for unread in &answers.unread {
        let _ = writeln!(text, "{WARN}{}: {}{WARN:#}", plain(&unread.file), sessions::unread(unread));
    }
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
        let word = if said.verdict == AnswerWord::Na { "n/a" } else { said.verdict.as_str() };
        let why = if said.why.is_empty() { "this gate was not asked" } else { &said.why };
        let _ = writeln!(text, "  {question:<10} {style}{word:<5}{style:#} {why}");
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
