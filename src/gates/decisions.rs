//! The gate `decisions`: recorded decisions are not removed or weakened, and rejected ones do not return, unless a
//! revision gives the reason.

use minijinja::context;

use super::GateKind;
use super::finding::{Answer, Finding};
use super::finding_text::{self, FindingText};
use crate::decision::Decision;
use crate::decision::compare::RecordChange;
use crate::decision::rules::{self, DecisionRules};
use crate::fact::{Facts, SubjectDecisions};
use crate::foreign_text::shortened;
use crate::policy::{Gate, ParamError, Policy};
use crate::repo_path::RepoPath;

/// The kind `decisions`.
pub const KIND: GateKind = GateKind { name: rules::KIND, words: "decisions", check, evaluate };

fn check(params: &toml::Table) -> Result<(), ParamError> {
    DecisionRules::read(params).map(drop)
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    facts.decisions.iter().flat_map(|found| answers(gate, found)).collect()
}

fn answers(gate: &Gate, found: &SubjectDecisions) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut add = |answer: Answer, reason: &str, at: (&[&RepoPath], Option<u32>), words: FindingText| {
        findings.push(Finding {
            paths: at.0.iter().map(|&path| path.clone()).collect(),
            line: at.1,
            ..words.finding(&found.subject, answer, reason)
        });
    };
    for change in &found.changes {
        let RecordChange { before, now, revision, overruled } = change;
        let (answer, reason) = match (revision, overruled, now) {
            (Some(_), _, _) => (Answer::Pass, "revised"),
            (None, Some(_), _) => (Answer::Fail, "incoherent"),
            (None, None, Some(_)) => (Answer::Fail, "weakened"),
            (None, None, None) => (Answer::Fail, "removed"),
        };
        let said = match (overruled, now) {
            (Some(local), _) => local.text.clone(),
            (None, Some(now)) => whole(now),
            (None, None) => String::new(),
        };
        let words = finding_text::say(
            gate,
            reason,
            &context! {
                by => revision.as_ref().map(|revision| &revision.place),
                now => cut(&said),
                local => overruled.as_ref().map(|local| format!("the message of {}", local.place)),
                global => format!("ADR {} ({})", before.name(), place(before)),
                ..about(before)
            },
        );
        // What is gone has no line any more.
        let at = now.as_ref().map(|now| (&now.path, now.line));
        add(answer, reason, (&[at.map_or(&before.path, |(path, _)| path)], at.map(|(_, line)| line)), words);
    }
    for back in &found.returns {
        let words = finding_text::say(
            gate,
            "returned",
            &context! { by => &back.by, at => &back.place, ..about(&back.decision) },
        );
        add(Answer::Fail, "returned", (&[&back.decision.path], Some(back.decision.line)), words);
    }
    for pair in &found.overrulings {
        // Whether an ADR is about a place, no word of it tells for certain.
        let (answer, reason) = if pair.in_doubt { (Answer::Unknown, "scope") } else { (Answer::Fail, "incoherent") };
        let words = finding_text::say(
            gate,
            reason,
            &context! {
                global => format!("ADR {} ({})", pair.global.name(), place(&pair.global)),
                local => format!("{} ({})", pair.local.kind.as_str(), place(&pair.local)),
                now => cut(&pair.local.text),
                ..about(&pair.global)
            },
        );
        add(answer, reason, (&[&pair.local.path, &pair.global.path], Some(pair.local.line)), words);
    }
    for pair in &found.contradictions {
        let words = finding_text::say(
            gate,
            "contradictory",
            &context! {
                global => format!("ADR {} ({})", pair.rejecting.name(), place(&pair.rejected)),
                local => format!("ADR {} ({})", pair.deciding.name(), place(&pair.decided)),
                key => cut(&pair.key),
                now => cut(&pair.decided.text),
                ..about(&pair.rejected)
            },
        );
        add(Answer::Fail, "contradictory", (&[&pair.rejecting.path, &pair.deciding.path], None), words);
    }
    findings
}

/// Returns the values of a record for the templates.
fn about(decision: &Decision) -> minijinja::Value {
    context! {
        kind => decision.kind.as_str(),
        name => if decision.id.is_empty() { format!("\"{}\"", cut(&decision.name())) } else { decision.name() },
        bare => cut(&decision.name()),
        place => place(decision),
        before => cut(&whole(decision)),
    }
}

fn place(decision: &Decision) -> String {
    format!("{}:{}", decision.path, decision.line)
}

/// Returns the text of a record, with the pattern that shows its return.
fn whole(decision: &Decision) -> String {
    let patterns = decision.patterns.iter().map(|pattern| format!(" pattern: {pattern}"));
    let paths = decision.paths.iter().map(|path| format!(" path: {path}"));
    let status = decision.status.map(|status| format!(" ({status:?})").to_lowercase());
    let more: String = patterns.chain(paths).chain(status).collect();
    format!("{}{more}", decision.text)
}

/// Shortens a text for a sentence.
fn cut(text: &str) -> String {
    shortened(text, 160)
}
