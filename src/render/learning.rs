//! Rewards, metrics and strategies for people.

use std::fmt::Write as _;

use crate::learn::metrics::{Measure, Metrics};
use crate::learn::reward::Reward;
use crate::render::ui::{DIM, STRONG};

/// Returns a reward for people, one line for each term.
pub fn reward(reward: &Reward) -> String {
    let mut text = String::new();
    for term in &reward.terms {
        let value = term.value.map_or_else(|| "missing".to_owned(), |value| format!("{value:>7.3}"));
        let (name, weight, shown) = (term.name, term.weight, &term.shown);
        let _ = writeln!(text, "{name:<13} {value:>7}  × {weight:.2}  {DIM}{shown}{DIM:#}");
    }
    let (low, high) = (reward.low, reward.high);
    let _ = match reward.reward {
        Some(value) => writeln!(text, "{STRONG}R             {value:>7.3}{STRONG:#}"),
        None => writeln!(text, "{STRONG}R             missing{STRONG:#}: between {low:.3} and {high:.3}"),
    };
    text
}

/// Returns metrics for people: one table for each group, then the mistakes.
pub fn metrics(metrics: &Metrics) -> String {
    let mut text = String::new();
    for group in &metrics.groups {
        let _ = writeln!(text, "{STRONG}{} {}{STRONG:#}", group.by, plain(&group.name));
        group.measures.iter().for_each(|measure| text.push_str(&measured(measure)));
    }
    if !metrics.mistakes.is_empty() {
        let _ = writeln!(text, "{STRONG}recurring mistakes{STRONG:#} (share of tasks)");
    }
    for mistake in &metrics.mistakes {
        text.push_str(&measured(&mistake.all));
        let sides = mistake.before.as_ref().zip(mistake.after.as_ref());
        let shown = sides.map(|(before, after)| format!(" ({:.2} → {:.2})", of(before), of(after))).unwrap_or_default();
        let _ = writeln!(text, "    {DIM}{}{shown}{DIM:#}", mistake.trend);
    }
    for missing in &metrics.missing {
        let _ = writeln!(text, "{DIM}missing: {missing}{DIM:#}");
    }
    text
}

fn of(measure: &Measure) -> f64 {
    measure.value.unwrap_or(0.0)
}

fn measured(measure: &Measure) -> String {
    let value = measure.value.map_or_else(|| "missing".to_owned(), |value| format!("{value:.2}"));
    let interval = measure.interval.map(|interval| format!("  {:.2} … {:.2}", interval.low, interval.high));
    format!("  {:<40} {value:>8}  {DIM}n={}{}{DIM:#}\n", measure.name, measure.count, interval.unwrap_or_default())
}

/// Returns the measures as CSV, with a line of names.
pub fn metrics_csv(metrics: &Metrics) -> String {
    let mut text = "by,name,measure,count,value,low,high\n".to_owned();
    let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let rows = metrics
        .groups
        .iter()
        .flat_map(|group| group.measures.iter().map(move |measure| (group.by, &group.name, measure)));
    for (by, name, measure) in rows {
        let name = format!("\"{}\"", plain(name).replace('"', "\"\""));
        let (low, high) = (measure.interval.map(|one| one.low), measure.interval.map(|one| one.high));
        let (value, low, high) = (number(measure.value), number(low), number(high));
        let _ = writeln!(text, "{by},{name},{},{},{value},{low},{high}", measure.name, measure.count);
    }
    text
}

/// Returns a name without characters that a terminal or a table would read.
fn plain(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}
