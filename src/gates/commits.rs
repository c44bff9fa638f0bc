//! The gate `commits`: every new commit makes one change, and its message describes it.

use minijinja::context;

use super::GateKind;
use super::finding::{Answer, Finding};
use super::finding_text::{self, list};
use crate::commit::change::Commit;
use crate::commit::judge::{CommitOutcome, Reason};
use crate::commit::rules::{self, CommitRule, CommitRules, Level};
use crate::fact::{Base, Facts, Subject, UnknownCommits, Yardstick};
use crate::foreign_text::shortened;
use crate::moment::Moment;
use crate::policy::{Gate, ParamError, Policy};
use crate::repo_path::RepoPath;

/// The kind `commits`.
pub const KIND: GateKind = GateKind { name: rules::KIND, words: "atomic", check, evaluate };

fn check(params: &toml::Table) -> Result<(), ParamError> {
    CommitRules::read(params).map(drop)
}

fn evaluate(gate: &Gate, policy: &Policy, facts: &Facts) -> Vec<Finding> {
    let Some(yardstick) = Yardstick::of(policy, gate) else { return Vec::new() };
    facts.subjects.iter().flat_map(|subject| answers(gate, &yardstick, facts.moment, subject)).collect()
}

fn answers(gate: &Gate, yardstick: &Yardstick, moment: Moment, subject: &Subject) -> Vec<Finding> {
    let mut findings = Vec::new();
    let new = &subject.commits;
    if let Some(UnknownCommits { why, fetch }) = &new.unknown {
        let words = finding_text::say(gate, "unknown-range", &context! { why, fetch });
        findings.push(finding(subject, Answer::Unknown, "unknown-range", words, Vec::new(), None));
    }
    let mut judged = 0;
    for commit in &new.commits {
        let judgement = yardstick.judge(commit);
        let outcome = judgement.outcome();
        if outcome == CommitOutcome::Skip {
            continue;
        }
        judged += 1;
        for reason in &judgement.reasons {
            // Where a commit is being made, it is meant to wait for its rebase.
            if reason.rule == CommitRule::AutosquashLeft && moment == Moment::Commit {
                continue;
            }
            let answer = match (reason.level, outcome) {
                (Level::Block, CommitOutcome::Exempt) => Answer::Waived,
                (Level::Block, _) => Answer::Fail,
                (Level::Advise | Level::Off, _) => Answer::Pass,
            };
            let words = reason_words(gate, subject, commit, reason, judgement.exempt.as_deref(), answer);
            let code = reason.rule.as_str();
            findings.push(finding(
                subject,
                answer,
                code,
                words,
                reason.paths.clone(),
                commit.id.as_ref().map(ToString::to_string),
            ));
        }
    }
    if judged > 0 && findings.iter().all(|finding| finding.answer == Answer::Pass) {
        let message = match judged {
            1 => "the new commit makes one change".to_owned(),
            count => format!("each of the {count} new commits makes one change"),
        };
        let words = finding_text::FindingText { message, remedy: None, fix: None };
        findings.insert(0, finding(subject, Answer::Pass, "passed", words, Vec::new(), None));
    }
    findings
}

/// Returns the words about a rule that a commit breaks.
fn reason_words(
    gate: &Gate,
    subject: &Subject,
    commit: &Commit,
    reason: &Reason,
    exempt: Option<&str>,
    answer: Answer,
) -> finding_text::FindingText {
    let name = match &commit.id {
        Some(_) => format!("{} ({})", commit.short(), cut(commit.subject())),
        None => "this commit".to_owned(),
    };
    let base = match &subject.base {
        Base::MergeBase { branch, .. } => branch.as_str(),
        Base::Nothing | Base::Unknown(_) => "",
    };
    let context = context! {
        commit => name,
        subject => cut(commit.subject()),
        paths => list(&reason.paths),
        base,
        ..values(reason)
    };
    let mut words = finding_text::say(gate, reason.rule.as_str(), &context);
    if base.is_empty() && reason.rule == CommitRule::AutosquashLeft {
        words.remedy = None;
    }
    if answer == Answer::Waived {
        let exempt = finding_text::say(gate, "exempt", &context! { exempt => exempt.unwrap_or_default(), ..context });
        words = finding_text::FindingText {
            message: format!("{}; {}", words.message, exempt.message),
            remedy: None,
            fix: None,
        };
    }
    words
}

/// Returns the observed values for the templates.
fn values(reason: &Reason) -> minijinja::Value {
    minijinja::Value::from_pairs(reason.values.iter().map(|(&name, value)| (name, value.as_str())))
}

/// Shortens the subject of a commit for a sentence.
fn cut(subject: &str) -> String {
    shortened(subject, 60)
}

fn finding(
    subject: &Subject,
    answer: Answer,
    reason: &str,
    words: finding_text::FindingText,
    paths: Vec<RepoPath>,
    commit: Option<String>,
) -> Finding {
    Finding { paths, evidence: commit.into_iter().collect(), ..words.finding(&subject.name, answer, reason) }
}

/// Returns one line about a broken rule, for a table of commits.
pub fn line(gate: &Gate, commit: &Commit, reason: &Reason) -> String {
    let context = context! {
        commit => "",
        subject => cut(commit.subject()),
        paths => list(&reason.paths),
        ..values(reason)
    };
    finding_text::say(gate, reason.rule.as_str(), &context).message.trim().to_owned()
}
