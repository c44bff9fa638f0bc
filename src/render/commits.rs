//! A table of judged commits: for people a line each, for programs a JSON object each.

use std::fmt::Write as _;

use serde::Serialize;

use crate::commit::change::Commit;
use crate::commit::judge::{CommitJudgement, CommitKind, CommitOutcome, Connection};
use crate::commit::rules::Level;
use crate::commit::scopes::ScopeTable;
use crate::commit::split::SplitPart;
use crate::foreign_text;
use crate::oid::Oid;
use crate::render::ui::{BAD, DIM, GOOD, STRONG, WARN};
use crate::repo_path::RepoPath;

/// The largest number of paths of one part that are shown.
const SHOWN: usize = 12;

/// Returns the head of the table.
pub fn head() -> String {
    format!("{DIM}commit   declared         scopes touched           verdict  why{DIM:#}")
}

/// Returns one commit in one line; `whys` are its reasons.
pub fn row(commit: &Commit, judgement: &CommitJudgement, table: &ScopeTable, whys: &[String]) -> String {
    let declared: Vec<&str> = judgement.declared.iter().map(|declared| declared.word.as_str()).collect();
    let touched: Vec<&str> = judgement.touched.iter().map(|touched| table.name(touched.scope)).collect();
    let (style, word) = match judgement.outcome() {
        CommitOutcome::Skip => (DIM, "skip"),
        CommitOutcome::Pass => (GOOD, "pass"),
        CommitOutcome::Advise => (WARN, "advice"),
        CommitOutcome::Exempt => (WARN, "exempt"),
        CommitOutcome::Block => (BAD, "block"),
    };
    let why = if whys.is_empty() { why(commit, judgement) } else { whys.join("; ") };
    format!(
        "{:<8} {:<16} {:<24} {style}{word:<8}{style:#} {why}",
        commit.short(),
        cell(&declared, 16),
        cell(&touched, 24),
    )
}

/// Returns the reason why a commit passes although it might not have.
fn why(commit: &Commit, judgement: &CommitJudgement) -> String {
    match judgement.kind {
        CommitKind::Merge => "a merge".to_owned(),
        CommitKind::Initial => "the first commit".to_owned(),
        CommitKind::Revert => "a revert".to_owned(),
        CommitKind::Ordinary if judgement.touched.len() > 1 => match judgement.connections.first() {
            Some(Connection::Table) => "the table allows these together".to_owned(),
            Some(Connection::Declared) => "the subject declares them".to_owned(),
            Some(Connection::Sweep) => "the same small edit in many places".to_owned(),
            Some(Connection::Name(name)) => format!("all change `{name}`"),
            None => String::new(),
        },
        CommitKind::Ordinary => commit.agent.as_ref().map(|agent| format!("by {agent}")).unwrap_or_default(),
    }
}

fn cell(words: &[&str], width: usize) -> String {
    if words.is_empty() {
        return "-".to_owned();
    }
    let text: String = foreign_text::plain(&words.join(","));
    match text.char_indices().nth(width - 1) {
        Some((end, _)) if text.chars().count() > width => format!("{}…", &text[..end]),
        _ => text,
    }
}

/// Returns one commit for programs, in JSON.
pub fn json(commit: &Commit, judgement: &CommitJudgement, table: &ScopeTable, whys: &[String]) -> String {
    let connections = judgement.connections.iter().map(|connection| match connection {
        Connection::Table => JoinedCommit { by: "table", name: None },
        Connection::Declared => JoinedCommit { by: "subject", name: None },
        Connection::Sweep => JoinedCommit { by: "sweep", name: None },
        Connection::Name(name) => JoinedCommit { by: "name", name: Some(name) },
    });
    let touched =
        judgement.touched.iter().map(|touched| InScope { scope: table.name(touched.scope), paths: &touched.paths });
    let reasons = judgement.reasons.iter().zip(whys).map(|(reason, message)| BrokenRule {
        reason: reason.rule.as_str(),
        level: match reason.level {
            Level::Block => "block",
            Level::Advise => "advise",
            Level::Off => "off",
        },
        message,
        paths: &reason.paths,
    });
    let record = JudgedCommit {
        commit: commit.id.as_ref(),
        subject: commit.subject(),
        agent: commit.agent.as_deref(),
        kind: match judgement.kind {
            CommitKind::Ordinary => "ordinary",
            CommitKind::Merge => "merge",
            CommitKind::Initial => "initial",
            CommitKind::Revert => "revert",
        },
        declared: judgement.declared.iter().map(|declared| declared.word.as_str()).collect(),
        touched: touched.collect(),
        verdict: match judgement.outcome() {
            CommitOutcome::Skip => "skip",
            CommitOutcome::Pass => "pass",
            CommitOutcome::Advise => "advise",
            CommitOutcome::Exempt => "exempt",
            CommitOutcome::Block => "block",
        },
        reasons: reasons.collect(),
        connections: connections.collect(),
        exempt: judgement.exempt.as_deref(),
    };
    // Nothing in it can fail to be written.
    serde_json::to_string(&record).unwrap_or_default()
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct JudgedCommit<'a> {
    commit: Option<&'a Oid>,
    subject: &'a str,
    agent: Option<&'a str>,
    kind: &'a str,
    declared: Vec<&'a str>,
    touched: Vec<InScope<'a>>,
    verdict: &'a str,
    reasons: Vec<BrokenRule<'a>>,
    connections: Vec<JoinedCommit<'a>>,
    exempt: Option<&'a str>,
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct InScope<'a> {
    scope: &'a str,
    paths: &'a [RepoPath],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct BrokenRule<'a> {
    reason: &'a str,
    level: &'a str,
    message: &'a str,
    paths: &'a [RepoPath],
}

#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct JoinedCommit<'a> {
    by: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
}

/// Returns the commits that a split would make.
pub fn plan(parts: &[SplitPart], table: &ScopeTable) -> String {
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
