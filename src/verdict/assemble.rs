//! Assembles a verdict from the results of the gates.

use std::collections::BTreeSet;

use jiff::Timestamp;
use minijinja::context;

use crate::event::FailingGate;
use crate::fact::{Base, DefaultBranch, Facts, Note};
use crate::gates::finding::{Answer, Effect, Finding, GateResult, stopping};
use crate::gates::{evidence, protected_branch};
use crate::policy::{Command, Mode, Policy, Severity};
use crate::templates::sentences::{self, say};
use crate::verdict::{
    Attempt, EvidenceRecord, Outcome, PolicyRecord, SCHEMA_VERSION, SubjectRecord, UpdateRecord, Verdict, feedback,
    forge_record,
};

/// The attempt from which control goes to a person. Attempts 1 and 2 get feedback, attempt 3 the last warning.
pub const ESCALATES_AT: u32 = 4;

/// The session, time and place of a verdict.
#[derive(Clone, Debug)]
pub struct Occasion {
    /// The id of the verdict.
    pub id: String,
    /// The time.
    pub at: Timestamp,
    /// The name of the repository, for people.
    pub repository: String,
    pub session: String,
    /// The command that runs the checks that a push lacks, and then pushes, or `None` if there is none.
    pub push_again: Option<String>,
}

/// Returns the gates that failed, as the journal counts them: in any mode, so that a gate that only observes can later
/// report what it would have blocked.
pub fn failing(results: &[GateResult]) -> Vec<FailingGate> {
    results
        .iter()
        .filter(|result| result.answer == Answer::Fail || result.effect() == Effect::CannotJudge)
        .map(|result| {
            let mut prints: Vec<_> = result.decisive().map(Finding::fingerprint).collect();
            prints.sort();
            FailingGate { gate: result.gate.clone(), fingerprint: prints.join("+"), blocks: result.mode == Mode::Block }
        })
        .collect()
}

/// Returns the gates that require runs and had nothing to require.
pub fn idle(policy: &Policy, results: &[GateResult]) -> Vec<String> {
    let asks = |id: &str| policy.gates.iter().any(|gate| gate.id == id && gate.kind == evidence::KIND.name);
    let skipped = results.iter().filter(|result| result.answer == Answer::Skip && asks(&result.gate));
    skipped.map(|result| result.gate.clone()).collect()
}

/// Returns `true` if any result blocks the caller.
pub fn blocks(results: &[GateResult]) -> bool {
    stopping(results).next().is_some()
}

/// Returns the declared commands that would clear everything that blocks, or none if something blocks that no command
/// clears.
pub fn clearing_commands<'p>(policy: &'p Policy, results: &[GateResult]) -> Vec<&'p Command> {
    let names: Option<BTreeSet<&str>> =
        stopping(results).flat_map(GateResult::decisive).map(|finding| finding.command.as_deref()).collect();
    let names = names.unwrap_or_default();
    policy.commands.iter().filter(|command| names.contains(command.name.as_str())).collect()
}

/// Assembles the record.
pub fn verdict(
    policy: &Policy,
    facts: Facts,
    results: Vec<GateResult>,
    occasion: Occasion,
    attempt: Attempt,
) -> Verdict {
    let outcome = outcome(&results, attempt);
    let severity = severity(&results);
    let complete = outcome == Outcome::Pass
        && results.iter().all(|result| !matches!(result.answer, Answer::Pending | Answer::Unknown | Answer::Fail));
    let evidence = evidence(&facts, &results);
    let mut next_actions = next_actions(&results);
    let lacks_added = || stopping(&results).flat_map(GateResult::decisive).all(|one| one.reason == evidence::NOT_ADDED);
    let lacks_runs = matches!(next_actions.as_slice(), [run] if run.starts_with(RUN));
    if let Some(push) = occasion.push_again
        && (lacks_runs || lacks_added())
        // gate push makes the runs that a gate lacks, and no other.
        && !clearing_commands(policy, &results).is_empty()
    {
        next_actions = vec![push];
    }
    let over = (outcome == Outcome::NeedsHuman)
        .then(|| say("feedback", "human_action", &context! { attempt => attempt.number }));
    let findings = results.iter().filter(|result| result.mode != Mode::Observe).flat_map(|result| &result.findings);
    let mut human_actions: Vec<String> = over.into_iter().collect();
    human_actions.extend(findings.flat_map(|finding| finding.persons.iter().cloned()));
    let (feedback, wrong) = feedback::text(&results, &next_actions, outcome, attempt);
    let mut notes = facts.notes;
    let words = sentences::fault().filter(|_| outcome != Outcome::Pass);
    let wrong = wrong.map(|error| error.to_string()).into_iter().chain(words);
    notes.extend(wrong.map(|text| Note::new("template", text)));
    let subjects = facts.subjects.iter().map(record).collect();
    let hosting = facts.hosting.as_ref().and_then(forge_record::kept);
    Verdict {
        schema_version: SCHEMA_VERSION,
        id: occasion.id,
        at: occasion.at,
        moment: facts.moment,
        outcome,
        complete,
        severity,
        repository: occasion.repository,
        subjects,
        policy: PolicyRecord { source: policy.source.clone(), digest: policy.digest.clone() },
        session: occasion.session,
        attempt: attempt.number,
        repeated: attempt.repeated,
        gates: results,
        evidence,
        hosting,
        notes,
        requires_human_action: !human_actions.is_empty(),
        human_actions,
        next_actions,
        feedback,
    }
}

/// Returns the worst severity among the gates that failed, or `LOW` if none failed and something is open.
pub fn severity(results: &[GateResult]) -> Severity {
    let shown = || results.iter().filter(|result| result.mode != Mode::Observe);
    let failed = shown().filter(|result| result.answer == Answer::Fail).map(|result| result.severity).max();
    let is_open = shown().any(|result| matches!(result.answer, Answer::Pending | Answer::Unknown));
    failed.unwrap_or(if is_open { Severity::Low } else { Severity::None })
}

fn outcome(results: &[GateResult], attempt: Attempt) -> Outcome {
    match results.iter().map(GateResult::effect).max() {
        Some(Effect::Blocks | Effect::CannotJudge) if attempt.number >= ESCALATES_AT => Outcome::NeedsHuman,
        Some(Effect::Blocks) => Outcome::Blocked,
        Some(Effect::CannotJudge) => Outcome::CannotJudge,
        Some(Effect::Silent | Effect::Said) | None => Outcome::Pass,
    }
}

fn record(subject: &crate::fact::subject::Subject) -> SubjectRecord {
    SubjectRecord {
        name: subject.name.clone(),
        remote_ref: subject.update.as_ref().map(|update| update.remote_ref.clone()),
        commit: subject.commit.clone(),
        draft: None,
        tree: subject.tree.clone(),
        base: match &subject.base {
            Base::MergeBase { commit, .. } => Some(commit.clone()),
            Base::Nothing | Base::Unknown(_) => None,
        },
        update: subject.update.as_ref().map(|update| UpdateRecord {
            local_ref: update.local_ref.clone(),
            old: update.old.clone(),
            remote: update.remote.clone(),
            default_branch: match &update.default_branch {
                DefaultBranch::Known(name) => Some(name.clone()),
                DefaultBranch::EmptyRemote | DefaultBranch::Unborn => Some(String::new()),
                DefaultBranch::Unknown(_) => None,
            },
        }),
    }
}

fn evidence(facts: &Facts, results: &[GateResult]) -> Vec<EvidenceRecord> {
    let mut records: Vec<EvidenceRecord> = Vec::new();
    for id in results.iter().flat_map(|result| &result.findings).flat_map(|finding| &finding.evidence) {
        let runs = facts.subjects.iter().flat_map(|subject| &subject.runs);
        let found =
            runs.flat_map(|(command, runs)| runs.iter().map(move |run| (command, run))).find(|(_, run)| run.id == *id);
        if let Some((command, run)) = found.filter(|_| records.iter().all(|record| record.id != *id)) {
            records.push(EvidenceRecord {
                id: id.clone(),
                grade: run.grade,
                command: command.clone(),
                tree: run.tree.clone(),
            });
        }
    }
    records
}

/// Commands that clear what stops, each once, the working tree's before the commit's: what is tested first can be
/// committed next. Several `gate run` are one. Of a push that no command here clears, nothing else is asked.
fn next_actions(results: &[GateResult]) -> Vec<String> {
    let mut actions: Vec<String> = Vec::new();
    let is_sync = |finding: &&Finding| finding.reason == protected_branch::SYNC;
    let syncs: BTreeSet<&str> = stopping(results)
        .flat_map(GateResult::decisive)
        .filter(is_sync)
        .map(|finding| finding.subject.as_str())
        .collect();
    for result in stopping(results) {
        let clearable = |finding: &&Finding| is_sync(finding) || !syncs.contains(finding.subject.as_str());
        for finding in result.decisive().filter(clearable) {
            let action = finding.remedy.as_ref().or(finding.fix.as_ref());
            let Some(action) = action.filter(|action| !actions.contains(action)) else { continue };
            let before = actions.iter_mut().find(|before| before.starts_with(RUN));
            match (action.strip_prefix(RUN), before) {
                (Some(name), Some(before)) if !before.split(' ').any(|word| word == name) => {
                    before.push(' ');
                    before.push_str(name);
                }
                (Some(_), Some(_)) => {}
                _ => actions.push(action.clone()),
            }
        }
    }
    actions.sort_by_key(|action| !action.starts_with(RUN));
    actions
}

/// The remedy that accepts several names.
const RUN: &str = "gate run ";
