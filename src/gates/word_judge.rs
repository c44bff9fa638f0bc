//! The gate `judge`: passes on what a judge of last resort read in words.

use minijinja::context;
use serde::Deserialize;

use super::finding::{Answer, Finding, GateResult};
use super::{GateKind, can_be_read, finding_text};
use crate::fact::{Facts, FailedJudge, JudgeReading, WordJudgement};
use crate::gates::finding_text::plain;
use crate::policy::{Gate, Policy, read_params};

/// The kind `judge`.
pub const KIND: GateKind = GateKind { name: "judge", words: "judge", check: can_be_read::<Params>, evaluate };

/// The subject of its findings.
pub const SUBJECT: &str = "words of the agent";

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    reasons: Vec<String>,
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let Some(judgement) = &facts.word_judgement else { return Vec::new() };
    let say = |reason: &str, answer: Answer, values: &minijinja::Value| {
        finding_text::say(gate, reason, values).finding(SUBJECT, answer, reason)
    };
    let late = |read: &JudgeReading| {
        let values = context! { judge => &read.judge, reason => plain(&read.reason) };
        (!read.complete).then(|| say("late", Answer::Pending, &values))
    };
    let pending = || say("pending", Answer::Pending, &context! {});
    let names = |failed: &[FailedJudge]| {
        let failed: Vec<String> = failed.iter().map(|one| format!("{}: {}", one.judge, plain(&one.why))).collect();
        context! { failed => failed.join("; ") }
    };
    vec![match judgement {
        WordJudgement::Late(read) => return late(read).into_iter().collect(),
        WordJudgement::Pending => pending(),
        WordJudgement::PendingAfter(read) => return late(read).into_iter().chain([pending()]).collect(),
        WordJudgement::Failed(failed) => say("failed", Answer::Unknown, &names(failed)),
        WordJudgement::LateFailed(failed) => say("late-failed", Answer::Pending, &names(failed)),
        WordJudgement::Read(read) if read.complete => {
            let mut finding = say("read", Answer::Pass, &context! { judge => &read.judge });
            finding.persons = read.human_actions.iter().map(|item| plain(item)).collect();
            finding
        }
        WordJudgement::Read(read) => {
            let missing: Vec<String> = read.missing.iter().map(|item| plain(item)).collect();
            let values =
                context! { judge => &read.judge, reason => plain(&read.reason), missing => missing.join("; ") };
            let mut finding = say("open", Answer::Fail, &values);
            finding.severity = Some(read.severity.max(gate.severity));
            finding.persons = read.human_actions.iter().map(|item| plain(item)).collect();
            finding
        }
    }]
}

/// Returns the findings that need an understanding of words, if a gate of this kind is on and nobody read them yet.
pub fn to_be_read<'r>(policy: &Policy, facts: &Facts, results: &'r [GateResult]) -> Option<Vec<&'r Finding>> {
    let gate = policy.gates_of(KIND.name, facts.moment).next().filter(|_| facts.word_judgement.is_none())?;
    let params: Params = read_params(&gate.params).ok()?;
    let needs = |finding: &&Finding| finding.answer == Answer::Unknown && params.reasons.contains(&finding.reason);
    let open: Vec<&Finding> = results.iter().flat_map(|result| &result.findings).filter(needs).collect();
    (!open.is_empty() || facts.unread_assessment.is_some()).then_some(open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gates::finding::Effect;
    use crate::moment::Moment;
    use crate::policy::{PolicySource, Severity};

    fn result(judgement: Option<WordJudgement>) -> GateResult {
        let policy =
            crate::config::parse("gate.toml", "", PolicySource::Defaults, &super::super::check_params).unwrap();
        let facts = Facts { word_judgement: judgement, ..Facts::at(Moment::Stop) };
        super::super::judge(&policy, &facts).into_iter().find(|result| result.gate == "judge").unwrap()
    }

    #[test]
    fn a_judge_can_raise_the_severity() {
        for (named, severity) in [(Severity::Blocker, Severity::Blocker), (Severity::Low, Severity::Medium)] {
            let read = JudgeReading {
                judge: "opus".to_owned(),
                complete: false,
                severity: named,
                reason: "A hole is left.".to_owned(),
                missing: Vec::new(),
                human_actions: Vec::new(),
            };
            assert_eq!(result(Some(WordJudgement::Read(read))).severity, severity);
        }
    }

    #[test]
    fn a_judge_can_refuse_and_cannot_prove() {
        let reading = |complete| JudgeReading {
            judge: "opus".to_owned(),
            complete,
            severity: Severity::Low,
            reason: "Two are left.".to_owned(),
            missing: vec!["c.py".to_owned()],
            human_actions: Vec::new(),
        };
        let failed = || vec![FailedJudge { judge: "opus".to_owned(), why: "slow".to_owned() }];
        for (judgement, effect, reason) in [
            (None, Effect::Silent, None),
            (Some(WordJudgement::Read(reading(true))), Effect::Silent, Some("read")),
            (Some(WordJudgement::Read(reading(false))), Effect::Blocks, Some("open")),
            (Some(WordJudgement::Late(reading(false))), Effect::Said, Some("late")),
            (Some(WordJudgement::PendingAfter(reading(false))), Effect::Said, Some("late")),
            (Some(WordJudgement::PendingAfter(reading(true))), Effect::Said, Some("pending")),
            (Some(WordJudgement::LateFailed(failed())), Effect::Said, Some("late-failed")),
            (Some(WordJudgement::Pending), Effect::Said, Some("pending")),
            (Some(WordJudgement::Failed(failed())), Effect::CannotJudge, Some("failed")),
        ] {
            let result = result(judgement);
            assert_eq!(result.effect(), effect, "{reason:?}");
            assert_eq!(result.findings.first().map(|finding| finding.reason.as_str()), reason);
        }
    }
}
