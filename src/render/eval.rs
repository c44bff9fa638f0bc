//! The rates of an evaluation: tables for people and for comments on pull requests.

use std::fmt::Write as _;

use crate::eval::eval_report::{EvalReport, SuiteReport};
use crate::eval::rates::{ClassRates, HitRate};
use crate::foreign_text::plain;
use crate::plural::counted;
use crate::render::ui::{DIM, STRONG, WARN};

/// The maximum number of wrong answers that a comment lists for one suite.
const MAX_LISTED: usize = 20;

/// Returns the report for a terminal.
pub fn lines(report: &EvalReport) -> String {
    let mut text = String::new();
    for suite in &report.suites {
        let _ = writeln!(text, "{STRONG}{}{STRONG:#}  {DIM}{}{DIM:#}", title(suite), suite.cases_from);
        let _ = writeln!(
            text,
            "  {:<11} {:>9}  {:<17} {:>16} {:>16}",
            "class", "right", "", "open called done", "done called open"
        );
        for rates in &suite.classes {
            let [right, interval, false_done, false_open] = cells(rates);
            let _ =
                writeln!(text, "  {:<11} {right:>9}  {interval:<17} {false_done:>16} {false_open:>16}", rates.class);
        }
        for (name, rate) in others(suite) {
            let _ = writeln!(text, "  {name}: {}", told(rate));
        }
        for wrong in &suite.wrong {
            let expected = wrong.expected.join(" or ");
            let _ = writeln!(
                text,
                "  {WARN}wrong{WARN:#} {} ({}): {}, not {expected}  {DIM}{}{DIM:#}",
                plain(&wrong.case),
                wrong.class,
                plain(&wrong.said),
                plain(&wrong.why)
            );
        }
        for unjudged in &suite.unjudged {
            let _ = writeln!(text, "  {WARN}not judged{WARN:#} {}: {}", plain(&unjudged.case), plain(&unjudged.why));
        }
        for label in &suite.doubtful {
            let _ = writeln!(text, "  {WARN}label{WARN:#} {}: {}", plain(&label.cases.join(", ")), plain(&label.why));
        }
        let _ = writeln!(text, "  {}", cost(suite));
    }
    text
}

/// Returns the report as tables in Markdown.
pub fn markdown(report: &EvalReport) -> String {
    let mut text = String::from("### gate eval\n");
    for suite in &report.suites {
        let _ = writeln!(text, "\n**{}** ({})\n", title(suite), suite.cases_from);
        text.push_str("| class | right | 95 % interval | open called done | done called open |\n| --- | --- | --- | --- | --- |\n");
        for rates in &suite.classes {
            let [right, interval, false_done, false_open] = cells(rates);
            let _ = writeln!(text, "| {} | {right} | {interval} | {false_done} | {false_open} |", rates.class);
        }
        text.push('\n');
        for (name, rate) in others(suite) {
            let _ = writeln!(text, "- {name}: {}", told(rate));
        }
        for wrong in suite.wrong.iter().take(MAX_LISTED) {
            let _ = writeln!(
                text,
                "- wrong: `{}` ({}): {}, not {}",
                cell(&wrong.case),
                wrong.class,
                cell(&wrong.said),
                wrong.expected.join(" or ")
            );
        }
        if suite.wrong.len() > MAX_LISTED {
            let _ = writeln!(text, "- and {} more wrong answers", suite.wrong.len() - MAX_LISTED);
        }
        let doubtful: Vec<String> = suite.doubtful.iter().map(|label| cell(&label.cases.join(" and "))).collect();
        if !doubtful.is_empty() {
            let _ = writeln!(text, "- doubtful labels: {}", doubtful.join(", "));
        }
        let _ = writeln!(text, "- {}", cost(suite));
    }
    text
}

fn title(suite: &SuiteReport) -> String {
    match &suite.judge {
        Some(judge) => format!("{} by {} ({})", suite.suite.as_str(), suite.way.as_str(), plain(judge)),
        None => format!("{} by {}", suite.suite.as_str(), suite.way.as_str()),
    }
}

fn cells(rates: &ClassRates) -> [String; 4] {
    [
        format!("{} of {}", rates.hits.right, rates.hits.of),
        format!("{:.0} % – {:.0} %", rates.hits.low * 100.0, rates.hits.high * 100.0),
        format!("{} of {}", rates.false_done, rates.open),
        format!("{} of {}", rates.false_open, rates.done),
    ]
}

/// Returns the other rates that were counted.
fn others(suite: &SuiteReport) -> Vec<(&'static str, &HitRate)> {
    let all = [
        ("severity right", &suite.severity),
        ("a person must act", &suite.needs_person),
        ("score right", &suite.score),
    ];
    all.into_iter().filter(|(_, rate)| rate.of > 0).collect()
}

fn told(rate: &HitRate) -> String {
    format!("{} of {} ({:.0} % – {:.0} %)", rate.right, rate.of, rate.low * 100.0, rate.high * 100.0)
}

fn cost(suite: &SuiteReport) -> String {
    let cost = &suite.cost;
    match cost.calls {
        0 => format!("no model was asked; {:.1} s", cost.seconds),
        calls => {
            let (input, output) = (cost.input_tokens, cost.output_tokens);
            format!(
                "{}, {} in, {} out; {:.1} s",
                counted(calls, "call"),
                counted(input, "token"),
                counted(output, "token"),
                cost.seconds
            )
        }
    }
}

fn cell(text: &str) -> String {
    plain(text).replace(['|', '`'], " ")
}
