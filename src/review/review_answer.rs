//! Reads a reviewer's answer, and holds its quotes against the change.

use serde::Deserialize;

use crate::fact::review::{ReviewFinding, ReviewRole};
use crate::judge::answer_form::{object, severity};
use crate::policy::Severity;
use crate::review::change_part::ChangePart;

/// The largest number of findings in one answer.
const MAX_FINDINGS: usize = 50;
/// The longest message, in bytes.
const MAX_MESSAGE: usize = 1000;
/// The largest distance of two findings on one problem, in lines.
const MAX_DISTANCE: u32 = 5;

#[derive(Deserialize)]
struct ReviewAnswer {
    #[serde(rename = "ticket")]
    _ticket: String,
    findings: Vec<AnsweredFinding>,
}

/// A finding as a model writes it. Fields that nobody asked for are left out; the place is looked up by the quote.
#[derive(Deserialize)]
struct AnsweredFinding {
    file: String,
    line: Option<serde_json::Value>,
    #[serde(deserialize_with = "severity")]
    severity: Severity,
    security: bool,
    quote: String,
    message: String,
}

/// The findings of one answer, and the number of those that were dropped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckedFindings {
    /// The findings whose quote is in the change, each with the index of its hunk and the digest of its lines.
    pub findings: Vec<(usize, String, ReviewFinding)>,
    /// The number of the others.
    pub dropped: usize,
}

/// Reads the answer to the prompt with this ticket.
pub fn read(
    text: &str,
    ticket: &str,
    part: &ChangePart<'_>,
    role: ReviewRole,
    by: &str,
) -> Result<CheckedFindings, String> {
    let answer: ReviewAnswer = object(text, ticket)?;
    if answer.findings.len() > MAX_FINDINGS {
        return Err("it has too many findings".to_owned());
    }
    let mut checked = CheckedFindings::default();
    for finding in answer.findings {
        if finding.message.trim().is_empty() || finding.severity == Severity::None {
            return Err("a finding has no message or no severity".to_owned());
        }
        let line = finding.line.as_ref().and_then(line_number);
        let Some((hunk, place)) = part.find(&finding.file, line, &finding.quote) else {
            checked.dropped += 1;
            continue;
        };
        let found = ReviewFinding {
            role,
            by: by.to_owned(),
            path: part.hunks[hunk].path.clone(),
            line: place.line,
            severity: finding.severity,
            security: finding.security,
            quote: finding.quote,
            message: finding.message[..finding.message.floor_char_boundary(MAX_MESSAGE)].to_owned(),
            answer: None,
            earlier: false,
        };
        checked.findings.push((hunk, place.lines, found));
    }
    Ok(checked)
}

/// Reads the number of a line, also as a text. What is none is not a reason to lose the finding.
fn line_number(value: &serde_json::Value) -> Option<u32> {
    match value {
        serde_json::Value::String(text) => text.trim().parse().ok(),
        number => number.as_u64().and_then(|number| u32::try_from(number).ok()),
    }
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

/// Returns `true` if one of two quotes has a line of the other, or a part of it.
fn share_a_line(one: &str, other: &str) -> bool {
    let lines = |text: &str| -> Vec<String> {
        let plain = text.lines().map(|line| line.trim_start_matches(['+', '-']).trim().to_owned());
        plain.filter(|line| line.chars().any(char::is_alphanumeric)).collect()
    };
    let others = lines(other);
    let is_shared =
        |line: &String| others.iter().any(|other| other.contains(line.as_str()) || line.contains(other.as_str()));
    lines(one).iter().any(is_shared)
}

/// Returns `true` if both reviewers report this problem.
pub fn is_same(finding: &ReviewFinding, other: &ReviewFinding) -> bool {
    let near = match (finding.line, other.line) {
        (Some(one), Some(two)) => one.abs_diff(two) <= MAX_DISTANCE && share_a_line(&finding.quote, &other.quote),
        _ => finding.quote == other.quote,
    };
    other.role != finding.role && other.path == finding.path && near && other.security == finding.security
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fact::review::FindingAnswer;
    use crate::review::change_hunks::split;

    const DIFF: &[u8] = b"diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1,2 @@\n a = 1\n+os.system(name)\n";

    fn read_as(text: &str, role: ReviewRole) -> Result<CheckedFindings, String> {
        let hunks = split(DIFF);
        read(text, "t", &ChangePart { hunks: hunks.iter().collect() }, role, "m")
    }

    fn answer(findings: &str) -> String {
        format!("{{\"ticket\": \"t\", \"findings\": [{findings}]}}")
    }

    const HOLE: &str = r#"{"file": "a.py", "line": 9, "severity": "BLOCKER", "security": true,
        "quote": "os.system(name)", "message": "a name becomes a command"}"#;

    #[test]
    fn a_finding_without_a_quote_from_the_change_is_dropped_and_counted() {
        let other = HOLE.replace("os.system(name)", "eval(name)");
        let read = |text: &str| read_as(text, ReviewRole::Auditor);
        let checked = read(&answer(&format!("{HOLE}, {other}"))).unwrap();
        assert_eq!((checked.findings.len(), checked.dropped), (1, 1));
        assert_eq!(checked.findings[0].2.line, Some(2));
        // The line is found by the quote, so a wrong one costs nothing, nor does a field that nobody asked for.
        for (from, to) in [
            ("\"line\": 9", "\"line\": \"2\""),
            ("\"line\": 9", "\"line\": -1"),
            ("\"line\": 9", "\"line\": [1, 2], \"confidence\": 0.9"),
            ("\"line\": 9,", ""),
            ("BLOCKER", "high"),
        ] {
            let checked = read(&answer(&HOLE.replace(from, to))).unwrap_or_else(|why| panic!("{to}: {why}"));
            assert_eq!(checked.findings.len(), 1, "{to}");
        }
        for bad in [
            answer("{}"),
            answer(&HOLE.replace("BLOCKER", "NONE")),
            answer(&HOLE.replace("true", "\"x\"")),
            answer("").replace("\"t\"", "\"u\""),
        ] {
            assert!(read(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_blocker_needs_both() {
        let of = |role| -> Vec<ReviewFinding> {
            read_as(&answer(HOLE), role).unwrap().findings.into_iter().map(|(.., finding)| finding).collect()
        };
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
