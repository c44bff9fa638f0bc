//! `gate decisions`: lists the recorded decisions with their places and dates.

use std::collections::BTreeMap;

use anyhow::Result;
use jiff::Timestamp;
use serde::Serialize;

use crate::cmd::named_commit;
use crate::collect::{self, BaseOf, decisions};
use crate::decision::compare::{self, Overruling};
use crate::decision::rules::{DecisionRules, KIND};
use crate::decision::{Decision, RecordKind};
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::git::Since;
use crate::oid::Oid;
use crate::render::ui::{BAD, DIM, STRONG, Ui};

/// Arguments of `gate decisions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List the records of this commit instead of HEAD
    #[arg(value_name = "REV")]
    rev: Option<String>,
    /// Print the decisions as JSON
    #[arg(long)]
    json: bool,
}

/// Lists the records of a commit. Contradictions between them block.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let repo = &place.repo;
    let rev = args.rev.as_deref().unwrap_or("HEAD");
    let commit = named_commit(repo, rev)?
        .ok_or_else(|| Failure::new(Exit::Usage, format!("`{rev}` is not a commit of this repository")))?;
    let lineage = collect::lineage(repo, &commit, BaseOf::AnyRemote)?;
    let (policy, _) = place.policy(Some(&lineage))?;
    let gate = policy.gates.iter().find(|gate| gate.kind == KIND);
    let gate = gate.ok_or_else(|| Failure::new(Exit::BadInput, "no gate guards decisions"))?;
    let rules = DecisionRules::read(&gate.params).map_err(|error| Failure::new(Exit::BadInput, error.what))?;
    let found = decisions::all(repo, &commit, &rules)?;
    let mut since: Vec<Option<Since>> = Vec::new();
    for part in found.chunk_by(|a, b| a.path == b.path) {
        let lines: Vec<u32> = part.iter().map(|decision| decision.line).collect();
        let mut known: BTreeMap<u32, Since> = repo.since(&commit, &part[0].path, &lines)?;
        since.extend(lines.iter().map(|line| known.remove(line)));
    }
    let tags: Vec<&Decision> = found.iter().collect();
    let mut contradictions = compare::overrulings(&tags, &found);
    contradictions.retain(|pair| !pair.in_doubt);
    if args.json {
        let list = DecisionList {
            schema_version: 1,
            commit: &commit,
            decisions: found.iter().zip(&since).map(|(decision, since)| record(decision, since.as_ref())).collect(),
            contradictions: contradictions.iter().map(OverrulingPair::of).collect(),
        };
        ui.json(&list)?;
    } else {
        list(&found, &since, &contradictions, ui);
    }
    Ok(if contradictions.is_empty() { Exit::Pass } else { Exit::Blocked })
}

/// The decisions of a commit, for programs.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct DecisionList<'a> {
    schema_version: u32,
    commit: &'a Oid,
    decisions: Vec<ListedDecision<'a>>,
    /// Pairs that cannot both hold.
    contradictions: Vec<OverrulingPair<'a>>,
}

/// A decision, its name, and its commit.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedDecision<'a> {
    #[serde(flatten)]
    decision: &'a Decision,
    name: String,
    since: Option<DecisionOrigin<'a>>,
}

/// The commit that added a decision.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct DecisionOrigin<'a> {
    commit: &'a Oid,
    author: &'a str,
    /// The day.
    at: String,
}

/// A decision for one place that overrules one for all.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct OverrulingPair<'a> {
    global: &'a Decision,
    local: &'a Decision,
}

impl<'a> OverrulingPair<'a> {
    const fn of(pair: &'a Overruling) -> Self {
        Self { global: &pair.global, local: &pair.local }
    }
}

fn record<'a>(decision: &'a Decision, since: Option<&'a Since>) -> ListedDecision<'a> {
    let since =
        since.map(|since| DecisionOrigin { commit: &since.commit, author: &since.author, at: date(since.time) });
    ListedDecision { decision, name: decision.name(), since }
}

fn list(found: &[Decision], since: &[Option<Since>], contradictions: &[Overruling], ui: &mut Ui) {
    if found.is_empty() {
        ui.line("no decisions are written down: no ADR, no @RATIONALE, no @REJECTED");
    }
    for (decision, since) in found.iter().zip(since) {
        let status = decision.status.map(|status| format!(" ({status:?})").to_lowercase()).unwrap_or_default();
        let name = if decision.kind == RecordKind::Adr { format!(" {}{status}", decision.id) } else { String::new() };
        ui.line(format_args!("{STRONG}{}{name}{STRONG:#} {}", decision.kind.as_str(), decision.text));
        let since = since.as_ref().map_or_else(String::new, |since| {
            format!(", since {} ({}, {})", date(since.time), since.commit.short(), since.author)
        });
        ui.line(format_args!("  {DIM}{}:{}{since}{DIM:#}", decision.path, decision.line));
        for (word, values) in [("pattern", &decision.patterns), ("path", &decision.paths)] {
            for value in values {
                ui.line(format_args!("  {DIM}{word}: {value}{DIM:#}"));
            }
        }
    }
    for Overruling { local, global, .. } in contradictions {
        ui.line(format_args!(
            "{BAD}[COHERENCE_CHECK_FAILED]{BAD:#} {} ({}:{}) says: {}",
            global.id, global.path, global.line, global.text
        ));
        ui.line(format_args!("  {} ({}:{}) says: {}", local.kind.as_str(), local.path, local.line, local.text));
    }
}

/// Returns the day of a time in seconds since 1970.
fn date(seconds: i64) -> String {
    Timestamp::from_second(seconds).map_or_else(|_| "?".to_owned(), |at| at.strftime("%Y-%m-%d").to_string())
}
