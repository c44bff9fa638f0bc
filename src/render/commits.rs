//! A table of judged commits: for people a line each, for programs a JSON object each.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::commit::change::Commit;
use crate::commit::judge::{Connection, Judgement, Kind, Outcome};
use crate::commit::rules::Level;
use crate::commit::scopes::Table;
use crate::commit::split::Part;
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};

/// How many paths of one part are shown.
const SHOWN: usize = 12;

/// The head of the table.
pub fn head() -> String {
    format!("{DIM}commit   declared         scopes touched           verdict  why{DIM:#}")
}

/// One commit in one line; `whys`: what its reasons say.
pub fn row(commit: &Commit, judgement: &Judgement, table: &Table, whys: &[String]) -> String {
    let declared: Vec<&str> = judgement.declared.iter().map(|declared| declared.word.as_str()).collect();
    let touched: Vec<&str> = judgement.touched.iter().map(|touched| table.name(touched.scope)).collect();
    let (style, word) = match judgement.outcome() {
        Outcome::Skip => (DIM, "skip"),
        Outcome::Pass => (GOOD, "pass"),
        Outcome::Advise => (WARN, "advice"),
        Outcome::Exempt => (WARN, "exempt"),
        Outcome::Block => (BAD, "block"),
    };
    let why = if whys.is_empty() { why(commit, judgement) } else { whys.join("; ") };
    format!(
        "{:<8} {:<16} {:<24} {style}{word:<8}{style:#} {why}",
        commit.short(),
        cell(&declared, 16),
        cell(&touched, 24),
    )
}

/// Why a commit passes that might not have.
fn why(commit: &Commit, judgement: &Judgement) -> String {
    match judgement.kind {
        Kind::Merge => "a merge".to_owned(),
        Kind::Initial => "the first commit".to_owned(),
        Kind::Revert => "a revert".to_owned(),
        Kind::Ordinary if judgement.touched.len() > 1 => match judgement.connections.first() {
            Some(Connection::Table) => "the table allows these together".to_owned(),
            Some(Connection::Declared) => "the subject declares them".to_owned(),
            Some(Connection::Sweep) => "the same small edit in many places".to_owned(),
            Some(Connection::Name(name)) => format!("all change `{name}`"),
            None => String::new(),
        },
        Kind::Ordinary => commit.agent.as_ref().map(|agent| format!("by {agent}")).unwrap_or_default(),
    }
}

fn cell(words: &[&str], width: usize) -> String {
    if words.is_empty() {
        return "-".to_owned();
    }
    let text: String = words.join(",").chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    match text.char_indices().nth(width - 1) {
        Some((end, _)) if text.chars().count() > width => format!("{}…", &text[..end]),
        _ => text,
    }
}

/// One commit for programs.
pub fn json(commit: &Commit, judgement: &Judgement, table: &Table, whys: &[String]) -> Value {
    let reasons: Vec<Value> = judgement
        .reasons
        .iter()
        .zip(whys)
        .map(|(reason, text)| {
            let level = match reason.level {
                Level::Block => "block",
                Level::Advise => "advise",
                Level::Off => "off",
            };
            json!({ "reason": reason.rule.code(), "level": level, "message": text, "paths": reason.paths })
        })
        .collect();
    let connections: Vec<Value> = judgement
        .connections
        .iter()
        .map(|connection| match connection {
            Connection::Table => json!({ "by": "table" }),
            Connection::Declared => json!({ "by": "subject" }),
            Connection::Sweep => json!({ "by": "sweep" }),
            Connection::Name(name) => json!({ "by": "name", "name": name }),
        })
        .collect();
    let touched: Vec<Value> = judgement
        .touched
        .iter()
        .map(|touched| json!({ "scope": table.name(touched.scope), "paths": touched.paths }))
        .collect();
    json!({
        "commit": commit.id,
        "subject": commit.subject(),
        "agent": commit.agent,
        "kind": match judgement.kind {
            Kind::Ordinary => "ordinary",
            Kind::Merge => "merge",
            Kind::Initial => "initial",
            Kind::Revert => "revert",
        },
        "declared": judgement.declared.iter().map(|declared| declared.word.as_str()).collect::<Vec<_>>(),
        "touched": touched,
        "verdict": match judgement.outcome() {
            Outcome::Skip => "skip",
            Outcome::Pass => "pass",
            Outcome::Advise => "advise",
            Outcome::Exempt => "exempt",
            Outcome::Block => "block",
        },
        "reasons": reasons,
        "connections": connections,
        "exempt": judgement.exempt,
    })
}

/// The commits that a split would make.
pub fn plan(parts: &[Part], table: &Table) -> String {
    let mut text = String::new();
    for (number, part) in parts.iter().enumerate() {
        let subject = part.message.lines().next().unwrap_or_default();
        let scope = part.scope.map_or("no scope", |scope| table.name(scope));
        let _ = writeln!(text, "{}. {STRONG}{subject}{STRONG:#}  {DIM}{scope}{DIM:#}", number + 1);
        for path in part.paths.iter().take(SHOWN) {
            let _ = writeln!(text, "     {path}");
        }
        if part.paths.len() > SHOWN {
            let _ = writeln!(text, "     and {} more", part.paths.len() - SHOWN);
        }
    }
    text
}
