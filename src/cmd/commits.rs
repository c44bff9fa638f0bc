//! `gate commits`: judges the commits of a range, or reports how the rules would have judged a history.

use std::collections::BTreeMap;
use std::sync::Arc;

use anyhow::Result;

use crate::collect::{self, BaseOf, commits};
use crate::commit::judge::CommitOutcome;
use crate::commit::rules::KIND;
use crate::engine::Workplace;
use crate::exit::Exit;
use crate::fact::commits::Yardstick;
use crate::failure::Failure;
use crate::git::{GitError, Range};
use crate::policy::{Gate, Mode, Policy};
use crate::render::ui::{DIM, STRONG, Ui};
use crate::repo_path::RepoPath;
use crate::{gates, render};

/// Arguments of `gate commits`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The range `a..b`, or one commit; by default, the commits of `HEAD` that are not on the default branch of a
    /// remote
    #[arg(value_name = "RANGE", allow_hyphen_values = false)]
    range: Option<String>,
    /// Show what the rules would report for the last N commits; nothing blocks
    #[arg(long, value_name = "N", conflicts_with = "range")]
    history: Option<usize>,
    /// Print the judgements as JSON
    #[arg(long)]
    json: bool,
}

/// Judges and prints a line for each commit.
pub fn main(args: &Args, ui: &mut Ui) -> Result<Exit> {
    let place = Workplace::here()?;
    let repo = &place.repo;
    let head = repo.head()?;
    let Some(tip) = head.commit.clone() else {
        return Err(Failure::new(Exit::Usage, "there is no commit yet").into());
    };
    let range = match (&args.range, args.history) {
        (_, Some(limit)) => Range { revisions: vec![tip.to_string()], exclude: Vec::new(), limit: Some(limit) },
        (Some(text), None) => repo.named_range(text).map_err(|error| no_range(text, &error))?,
        (None, None) => repo.new_commits(&tip)?,
    };
    let log = if args.history.is_some() { repo.long_log(&range) } else { repo.log(&range) }?.ahead();
    // A history is looked at to find rules that fit, so the rules are those that are being written.
    let lineage = if args.history.is_some() { None } else { Some(collect::lineage(repo, &tip, BaseOf::AnyRemote)?) };
    let (policy, _) = place.policy(lineage.as_ref())?;
    let (gate, yardstick) = gate_and_yardstick(&policy)?;
    let mut tally = CommitTally::default();
    let mut first = true;
    let mut page = Page::new(ui);
    page.line(&if args.json { "{\"schema_version\":1,\"commits\":[".to_owned() } else { render::commits::head() });
    let judge = |commit: &_| {
        let mut judgement = yardstick.judge(commit);
        let wants = std::mem::take(&mut judgement.wants);
        (judgement, wants)
    };
    let counts = |path: &RepoPath| yardstick.counts(path);
    let streamed = commits::stream(repo, log, head.branch.as_deref(), counts, judge, |commit, judgement| {
        let whys: Vec<String> =
            judgement.reasons.iter().map(|reason| gates::commits::line(gate, &commit, reason)).collect();
        tally.add(&judgement);
        if args.json {
            let comma = if std::mem::take(&mut first) { "" } else { "," };
            page.line(&format!("{comma}{}", render::commits::json(&commit, &judgement, &yardstick.table, &whys)));
        } else if args.history.is_none() || judgement.outcome() >= CommitOutcome::Advise {
            page.line(&render::commits::row(&commit, &judgement, &yardstick.table, &whys));
        }
    });
    drop(page);
    let unknown = streamed.map_err(|error| no_range(args.range.as_deref().unwrap_or("HEAD"), &error))?;
    if args.json {
        let missing = unknown.as_ref().map(|unknown| MissingHistory { why: &unknown.why, fetch: &unknown.fetch });
        let (summary, missing) = (serde_json::to_string(&tally.json())?, serde_json::to_string(&missing)?);
        ui.line(format_args!("],\"summary\":{summary},\"unknown\":{missing}}}"));
    } else {
        ui.line(tally.line(yardstick.table.is_empty()));
    }
    if let Some(unknown) = unknown {
        ui.say(format_args!("gate: {}", unknown.why));
        if !unknown.fetch.is_empty() {
            ui.say(format_args!("      {}", unknown.fetch));
        }
        return Ok(Exit::CannotJudge);
    }
    let blocks = tally.count(CommitOutcome::Block) > 0 && args.history.is_none();
    Ok(if blocks { Exit::Blocked } else { Exit::Pass })
}

/// Lines that are printed in groups: one system call per line would be slow.
struct Page<'u> {
    ui: &'u mut Ui,
    text: String,
}

impl<'u> Page<'u> {
    /// The number of bytes that are collected.
    const FULL: usize = 1 << 14;

    fn new(ui: &'u mut Ui) -> Self {
        Self { ui, text: String::with_capacity(2 * Self::FULL) }
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
        if self.text.len() >= Self::FULL {
            self.print();
        }
    }

    fn print(&mut self) {
        self.ui.raw(&self.text);
        self.text.clear();
    }
}

impl Drop for Page<'_> {
    fn drop(&mut self) {
        self.print();
    }
}

/// Returns the gate that judges commits.
pub(super) fn gate(policy: &Policy) -> Result<&Gate, Failure> {
    let mut gates = policy.gates.iter().filter(|gate| gate.kind == KIND);
    let found = gates.clone().find(|gate| gate.mode != Mode::Off).or_else(|| gates.next());
    found.ok_or_else(|| Failure::new(Exit::BadInput, "no gate judges commits"))
}

/// Returns the gate that judges commits, and its yardstick.
pub(super) fn gate_and_yardstick(policy: &Policy) -> Result<(&Gate, Arc<Yardstick>), Failure> {
    let gate = gate(policy)?;
    let malformed = || Failure::new(Exit::BadInput, format!("the parameters of `{}` are malformed", gate.id));
    Ok((gate, Yardstick::of(policy, gate).ok_or_else(malformed)?))
}

fn no_range(text: &str, error: &GitError) -> Failure {
    let what = format!("`{text}` is not a range of commits here: {error}");
    Failure::new(Exit::Usage, what)
        .remedy("to see what git finds: git log --oneline RANGE; if commits are missing: git fetch")
}

/// The counted results.
#[derive(Default)]
struct CommitTally {
    outcomes: BTreeMap<CommitOutcome, usize>,
    rules: BTreeMap<&'static str, usize>,
}

impl CommitTally {
    fn add(&mut self, judgement: &crate::commit::judge::CommitJudgement) {
        *self.outcomes.entry(judgement.outcome()).or_default() += 1;
        for reason in &judgement.reasons {
            *self.rules.entry(reason.rule.as_str()).or_default() += 1;
        }
    }

    fn count(&self, outcome: CommitOutcome) -> usize {
        self.outcomes.get(&outcome).copied().unwrap_or_default()
    }

    fn judged(&self) -> usize {
        self.outcomes.iter().filter(|(outcome, _)| **outcome != CommitOutcome::Skip).map(|(_, count)| count).sum()
    }

    fn line(&self, no_scopes: bool) -> String {
        let judged = self.judged();
        let blocked = self.count(CommitOutcome::Block);
        let mut parts = vec![format!("{STRONG}{judged} judged, {blocked} blocked{STRONG:#}{}", share(blocked, judged))];
        for (outcome, word) in [
            (CommitOutcome::Exempt, "exempt"),
            (CommitOutcome::Advise, "with advice"),
            (CommitOutcome::Skip, "not judged"),
        ] {
            if self.count(outcome) > 0 {
                parts.push(format!("{} {word}", self.count(outcome)));
            }
        }
        let rules: Vec<String> =
            self.rules.iter().map(|(rule, count)| format!("{rule} {count}{}", share(*count, judged))).collect();
        let mut text = parts.join(", ");
        if !rules.is_empty() {
            text = format!("{text}\n{DIM}{}{DIM:#}", rules.join(" · "));
        }
        if no_scopes {
            text = format!(
                "{text}\n{DIM}gate.toml has no [scopes], so no commit is judged by scope (gate init --scopes){DIM:#}"
            );
        }
        text
    }

    fn json(&self) -> CommitCounts<'_> {
        CommitCounts {
            judged: self.judged(),
            blocked: self.count(CommitOutcome::Block),
            exempt: self.count(CommitOutcome::Exempt),
            advised: self.count(CommitOutcome::Advise),
            skipped: self.count(CommitOutcome::Skip),
            reasons: &self.rules,
        }
    }
}

/// The number of commits with each result, for programs.
#[derive(serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct CommitCounts<'a> {
    judged: usize,
    blocked: usize,
    exempt: usize,
    advised: usize,
    skipped: usize,
    /// The number of commits for each reason.
    reasons: &'a BTreeMap<&'static str, usize>,
}

/// The part of the history that is missing.
#[derive(serde::Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct MissingHistory<'a> {
    why: &'a str,
    /// The command that fetches it. Empty if there is none.
    fetch: &'a str,
}

/// Returns a share in percent, in brackets.
fn share(part: usize, whole: usize) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let tenths = (part * 1000 + whole / 2) / whole;
    format!(" ({}.{} %)", tenths / 10, tenths % 10)
}
