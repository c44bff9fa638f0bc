//! The gate `review`: passes on what two models found in a change.

use minijinja::context;
use serde::Deserialize;

use super::finding::{Answer, Finding};
use super::{GateKind, can_be_read, finding_text};
use crate::fact::{Facts, ReviewFinding};
use crate::gates::finding_text::plain;
use crate::policy::{Gate, Policy, Severity, read_params};

/// The kind `review`.
pub const KIND: GateKind = GateKind { name: "review", words: "review", check: can_be_read::<Params>, evaluate };

/// The longest quotation in a message, in bytes.
const MAX_QUOTE: usize = 120;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Params {
    fails_from: FailsFrom,
}

impl Default for Params {
    fn default() -> Self {
        Self { fails_from: FailsFrom::Medium }
    }
}

/// The lowest severity that fails.
#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum FailsFrom {
    Low,
    Medium,
    High,
    Blocker,
}

impl FailsFrom {
    const fn severity(self) -> Severity {
        match self {
            Self::Low => Severity::Low,
            Self::Medium => Severity::Medium,
            Self::High => Severity::High,
            Self::Blocker => Severity::Blocker,
        }
    }
}

/// Returns `true` if a gate of this kind is on at the moment of `facts`.
pub fn is_asked(policy: &Policy, facts: &Facts) -> bool {
    policy.gates_of(KIND.name, facts.moment).next().is_some()
}

fn evaluate(gate: &Gate, _: &Policy, facts: &Facts) -> Vec<Finding> {
    let (Some(review), Some(subject)) = (&facts.review, facts.subjects.last()) else { return Vec::new() };
    let params: Params = read_params(&gate.params).unwrap_or_default();
    let say = |reason: &str, answer: Answer, values: &minijinja::Value| {
        finding_text::say(gate, reason, values).finding(&subject.name, answer, reason)
    };
    if let Some(why) = &review.unreadable {
        return vec![say("unreadable", Answer::Unknown, &context! { why => plain(why) })];
    }
    if review.parts == 0 {
        return Vec::new();
    }
    let mut findings: Vec<Finding> = Vec::new();
    for one in &review.findings {
        let fails = one.severity >= params.fails_from.severity();
        let (reason, answer) = match &one.answer {
            _ if !fails => ("remark", Answer::Pass),
            None => ("dissent", Answer::Fail),
            Some(answer) if answer.stands => ("upheld", Answer::Fail),
            Some(_) => ("refuted", Answer::Pass),
        };
        let mut finding = say(reason, answer, &values(one));
        finding.paths = vec![one.path.clone()];
        finding.line = one.line;
        finding.severity = Some(one.severity);
        findings.push(finding);
    }
    if review.unreviewed > 0 {
        let values = context! { count => review.unreviewed, of => review.parts };
        findings.push(say("unreviewed", Answer::Unknown, &values));
    } else if findings.is_empty() {
        findings.push(say("reviewed", Answer::Pass, &context! { of => review.parts }));
    }
    findings
}

fn values(finding: &ReviewFinding) -> minijinja::Value {
    let quote = finding.quote.split_whitespace().collect::<Vec<_>>().join(" ");
    let quote = &quote[..quote.floor_char_boundary(MAX_QUOTE)];
    let place = finding.line.map_or_else(|| finding.path.to_string(), |line| format!("{}:{line}", finding.path));
    context! {
        place => plain(&place), role => finding.role.as_str(), by => &finding.by, severity => finding.severity.as_str(),
        message => plain(&finding.message), earlier => finding.earlier, quote => plain(quote),
        answered_by => finding.answer.as_ref().map(|answer| &answer.by),
        answer => finding.answer.as_ref().map(|answer| plain(&answer.reason)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::review::{FindingAnswer, ReviewRole, ReviewState};
    use crate::fact::subject::Subject;
    use crate::gates::finding::GateResult;
    use crate::moment::Moment;
    use crate::policy::PolicySource;

    fn result(mode: &str, review: Option<ReviewState>) -> Option<GateResult> {
        let text = format!("[gates.review]\nmode = \"{mode}\"\n");
        let policy =
            crate::config::parse("gate.toml", &text, PolicySource::Defaults, &super::super::check_params).unwrap();
        let facts = Facts { review, subjects: vec![Subject::empty("HEAD")], ..Facts::at(Moment::Stop) };
        super::super::judge(&policy, &facts).into_iter().find(|result| result.gate == "review")
    }

    fn found(severity: Severity) -> ReviewState {
        let finding = ReviewFinding {
            role: ReviewRole::Auditor,
            by: "opus".to_owned(),
            path: "a.py".into(),
            line: Some(2),
            severity,
            security: true,
            quote: "os.system(name)".to_owned(),
            message: "a name becomes a command".to_owned(),
            answer: None,
            earlier: false,
        };
        ReviewState { parts: 1, findings: vec![finding], ..ReviewState::default() }
    }

    #[test]
    fn dissent_fails_with_its_place_and_a_part_that_nobody_saw_is_unknown() {
        assert!(result("off", None).is_none());
        assert_eq!(result("block", None).unwrap().answer, Answer::Skip);
        let dissent = result("block", Some(found(Severity::High))).unwrap();
        assert_eq!((dissent.answer, dissent.findings[0].line), (Answer::Fail, Some(2)));
        assert!(dissent.findings[0].message.contains("os.system(name)"), "{:?}", dissent.findings);
        assert_eq!(result("block", Some(found(Severity::Low))).unwrap().answer, Answer::Pass);
        for (stands, answer, reason) in [(true, Answer::Fail, "upheld"), (false, Answer::Pass, "refuted")] {
            let mut answered = found(Severity::High);
            answered.findings[0].answer = Some(FindingAnswer {
                by: "gpt".to_owned(),
                is_person: false,
                stands,
                reason: "it is quoted".to_owned(),
            });
            let answered = result("block", Some(answered)).unwrap();
            let finding = &answered.findings[0];
            assert_eq!((answered.answer, finding.reason.as_str()), (answer, reason));
            assert!(finding.message.contains("gpt") && finding.message.contains("it is quoted"), "{}", finding.message);
        }
        for parts in [0, 1] {
            let lost = ReviewState { parts, unreadable: Some("it is not stored".to_owned()), ..ReviewState::default() };
            let lost = result("block", Some(lost)).unwrap();
            assert_eq!(lost.answer, Answer::Unknown);
            assert!(lost.findings[0].message.contains("it is not stored"), "{:?}", lost.findings);
        }
        let half = ReviewState { parts: 2, unreviewed: 1, ..ReviewState::default() };
        let half = result("block", Some(half)).unwrap();
        assert_eq!((half.answer, half.findings[0].remedy.as_deref()), (Answer::Unknown, Some("gate review")));
        let whole = ReviewState { parts: 2, ..ReviewState::default() };
        assert_eq!(result("block", Some(whole)).unwrap().answer, Answer::Pass);
    }
}
