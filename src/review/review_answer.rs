//! Reads a reviewer's answer, and holds its quotes against the change.

use serde::Deserialize;

use crate::fact::review::{ReviewFinding, ReviewRole};
use crate::judge::answer_form::object;
use crate::policy::Severity;
use crate::review::change_parts::ChangePart;

/// The largest number of findings in one answer.
const MAX_FINDINGS: usize = 50;
/// The longest message, in bytes.
const MAX_MESSAGE: usize = 1000;
/// The largest distance of two findings on one problem, in lines.
const MAX_DISTANCE: u32 = 5;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ReviewAnswer {
    ticket: String,
    findings: Vec<AnsweredFinding>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AnsweredFinding {
    file: String,
    line: Option<u32>,
    severity: Severity,
    security: bool,
    quote: String,
    message: String,
}

/// The findings of one answer, and the number of those that were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedFindings {
    /// The findings whose quote is in the change.
    pub findings: Vec<ReviewFinding>,
    /// The number of the others.
    pub dropped: usize,
}

/// Reads the answer to the prompt with this ticket.
pub fn read(
    text: &str,
    ticket: &str,
    part: &ChangePart,
    role: ReviewRole,
    by: &str,
) -> Result<CheckedFindings, String> {
    let answer: ReviewAnswer = object(text)?;
    if answer.ticket != ticket {
        return Err("it does not have the ticket of the question".to_owned());
    }
    if answer.findings.len() > MAX_FINDINGS {
        return Err("it has too many findings".to_owned());
    }
    let mut checked = CheckedFindings::default();
    for finding in answer.findings {
        if finding.message.trim().is_empty() || finding.severity == Severity::None {
            return Err("a finding has no message or no severity".to_owned());
        }
        match part.find(&finding.file, finding.line, &finding.quote) {
            None => checked.dropped += 1,
            Some((path, line)) => checked.findings.push(ReviewFinding {
                role,
                by: by.to_owned(),
                path,
                line,
                severity: finding.severity,
                security: finding.security,
                quote: finding.quote,
                message: finding.message[..finding.message.floor_char_boundary(MAX_MESSAGE)].to_owned(),
                answer: None,
            }),
        }
    }
    Ok(checked)
}

/// Lowers each blocker that only one of the two sees: it needs the other one, or a person.
pub fn confirm(findings: &mut [ReviewFinding]) {
    let all = findings.to_vec();
    for finding in findings.iter_mut().filter(|finding| finding.severity == Severity::Blocker) {
        let is_upheld = finding.answer.as_ref().is_some_and(|answer| answer.stands);
        if !is_upheld && !all.iter().any(|other| is_same(finding, other) && other.severity >= Severity::High) {
            finding.severity = Severity::High;
        }
    }
}

/// Returns `true` if both reviewers report this problem.
pub fn is_same(finding: &ReviewFinding, other: &ReviewFinding) -> bool {
    let near = match (finding.line, other.line) {
        (Some(one), Some(two)) => one.abs_diff(two) <= MAX_DISTANCE,
        _ => finding.quote == other.quote,
    };
    other.role != finding.role && other.path == finding.path && near && other.security == finding.security
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::review::FindingAnswer;

    fn part() -> ChangePart {
        let text = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n a = 1\n+os.system(name)\n";
        ChangePart { text: text.to_owned() }
    }

    fn answer(findings: &str) -> String {
        format!("{{\"ticket\": \"t\", \"findings\": [{findings}]}}")
    }

    const HOLE: &str = r#"{"file": "a.py", "line": 9, "severity": "BLOCKER", "security": true,
        "quote": "os.system(name)", "message": "a name becomes a command"}"#;

    #[test]
    fn a_finding_without_a_quote_from_the_change_is_dropped_and_counted() {
        let other = HOLE.replace("os.system(name)", "eval(name)");
        let read = |text: &str| read(text, "t", &part(), ReviewRole::Auditor, "m");
        let checked = read(&answer(&format!("{HOLE}, {other}"))).unwrap();
        assert_eq!((checked.findings.len(), checked.dropped), (1, 1));
        assert_eq!(checked.findings[0].line, Some(2));
        for bad in [answer("{}"), answer(&HOLE.replace("BLOCKER", "NONE")), answer("").replace("\"t\"", "\"u\"")] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_blocker_needs_both() {
        let of = |role| read(&answer(HOLE), "t", &part(), role, "m").unwrap().findings;
        let mut one = of(ReviewRole::Auditor);
        confirm(&mut one);
        assert_eq!(one[0].severity, Severity::High);
        let mut both = [of(ReviewRole::Auditor), of(ReviewRole::Reviewer)].concat();
        confirm(&mut both);
        assert!(both.iter().all(|finding| finding.severity == Severity::Blocker));
        for (stands, severity) in [(true, Severity::Blocker), (false, Severity::High)] {
            let mut answered = of(ReviewRole::Auditor);
            answered[0].answer =
                Some(FindingAnswer { by: "n".to_owned(), is_person: false, stands, reason: "so".to_owned() });
            confirm(&mut answered);
            assert_eq!(answered[0].severity, severity);
        }
    }
}
